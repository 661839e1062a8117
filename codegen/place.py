"""What the generator was working on when it broke, as notes on the exception."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def working_on(what: str) -> Iterator[None]:
    """Name a schema or a field; an exception from within carries the name as a note."""
    try:
        yield
    except Exception as error:
        error.add_note(what)
        raise
