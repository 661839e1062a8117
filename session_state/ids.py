"""What names a session."""


def session_key(session_id: str | None) -> str:
    """The id as a plain str; None means "default". Raises TypeError and ValueError."""
    if session_id is None:
        return "default"
    if not isinstance(session_id, str):
        raise TypeError(
            f"a session id is a str or None, got {session_id!r} ({type(session_id).__name__})"
        )
    if not session_id:
        raise ValueError("a session id must not be empty; None means 'default'")
    # A subclass may compare and hash by code of its own, which must not run under a lock.
    return str.__str__(session_id)
