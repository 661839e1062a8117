"""One error class per mistake, each also a child of the builtin that fits it."""

from collections.abc import Sequence


class SessionStateError(Exception):
    """Something that this package refuses to do."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, which would quote a whole sentence.
        return Exception.__str__(self)


class SessionExists(SessionStateError, KeyError):
    """A new session was asked for under an id that is in the table."""


class SessionNotFound(SessionStateError, KeyError):
    """An existing session was asked for under an id that is not in the table."""


class SessionBusy(SessionStateError, RuntimeError):
    """The session is leased by somebody else, or every session of a full table is leased."""


class SessionClosed(SessionStateError, RuntimeError):
    """A write reached a session that was dropped, or whose generation ended."""


class SessionFailed(SessionStateError, RuntimeError):
    """A field of the session may be half written, so that the session refuses use."""


class SessionParamsDiffer(SessionStateError, ValueError):
    """A later view of a session gave another value for a param that shapes its objects."""


class SessionClassMismatch(SessionStateError, TypeError):
    """The session is open under another class or another version of its schema."""


class FieldUnset(SessionStateError, LookupError):
    """A value was read that was never written."""


class UnknownKey(SessionStateError, KeyError):
    """A key lies outside the axis of its family."""


class FieldFrozen(SessionStateError, ValueError):
    """A field that is written once was written a second time before a reset."""


class RingTooShort(SessionStateError, ValueError):
    """More frames were asked for than the ring can hold."""


class NothingCaptured(SessionStateError, RuntimeError):
    """A loan ended cleanly and its borrower had produced nothing."""


class BorrowerBusy(SessionStateError, RuntimeError):
    """An attribute was to be lent that is lent already, by another thread or task, or crosswise."""


class ManagerMayNot(SessionStateError, PermissionError):
    """The manager was asked to act on a field in a way that its schema does not permit."""


class NoRebuild(SessionStateError, LookupError):
    """A field is to be rebuilt, and no callable is registered that does it."""


def raise_all(message: str, errors: Sequence[BaseException]) -> None:
    """Raise what was collected: one error as itself, several as an ExceptionGroup, none not at all.

    A KeyboardInterrupt among several makes it a BaseExceptionGroup.
    """
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise BaseExceptionGroup(message, errors)
