"""What is staged in a session, as a whole: committed, discarded or brought back, all or none of it."""

import weakref
from contextlib import AbstractContextManager
from operator import is_
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .stageable import Stageable

if TYPE_CHECKING:
    from .view import SessionView


class Savepoint(AbstractContextManager[None]):
    """What the staged fields hold, committed and staged; an exception brings it back.

    Values are kept by reference: what the model changed inside of one stays changed.
    """

    def __init__(self, view: "SessionView") -> None:
        self._view = view
        self._saved = [(name, obj, obj._saved()) for name, obj in _staged_objects(view)]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.restore()

    def restore(self) -> None:
        """Bring everything back, and clear what was derived from something later.

        Nothing comes back to a session that was closed.
        """
        changed: set[str] = set()
        try:
            self._bring_back(changed)
        except BaseException:
            # A second Ctrl-C may arrive here, and a session restored by half helps nobody.
            self._bring_back(changed)
            raise

    def _bring_back(self, changed: set[str]) -> None:
        session = self._view._session
        if session.status.closed:
            return
        for name, obj, saved in self._saved:
            if session._objects.get(name) is not obj or not all(map(is_, obj._saved(), saved)):
                changed.add(name)
                obj._put_back(saved)
                session._objects[name] = obj
                session.status.touch(name)
        _clear_derived(self._view, changed)


class Transaction(AbstractContextManager[None]):
    """Everything that is staged is committed at the end, or the staged fields are as on entry.

    Inside another one it is a savepoint: what it leaves staged waits for the end of the outer.
    """

    def __init__(self, view: "SessionView") -> None:
        self._view = view

    def __enter__(self) -> None:
        session = self._view._session
        self._stands = False
        self._savepoint = Savepoint(self._view)
        self._enclosing = session.transaction
        # By a weak reference, so that one that was let go of without its end is over.
        session.transaction = weakref.ref(self)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._view._session.transaction = self._enclosing
            if kind is None:
                if self._enclosing() is None:
                    _commit_each(self._view)
                self._stands = True
        finally:
            if not self._stands:
                self._savepoint.restore()


def commit(view: "SessionView") -> None:
    """Make what is staged permanent. Raises SessionClosed; on any exception all stays staged."""
    with Savepoint(view):
        _commit_each(view)


def discard(view: "SessionView") -> None:
    """Drop what is staged, and clear what was derived from it. Raises SessionClosed."""
    with Savepoint(view):
        dropped = {name for name, obj in _staged_objects(view) if obj._pending is not None}
        for _, obj in _staged_objects(view):
            obj.discard()
        _clear_derived(view, dropped)


def _commit_each(view: "SessionView") -> None:
    for _, obj in _staged_objects(view):
        obj.commit()


def _staged_objects(view: "SessionView") -> list[tuple[str, Stageable[Any, Any, Any]]]:
    """The objects of the staged fields. Raises SessionClosed when there are any."""
    for field in view._staged[:1]:
        view._status.require_open(field.name)
    return [(field.name, field.stageable_of(view)) for field in view._staged]


def _clear_derived(view: "SessionView", changed: set[str]) -> None:
    """Clear what depends on a staged field that reads otherwise now; staged ones came back too."""
    ended = {name for source in changed for name in view._dependents[source]}
    for name in ended.difference(field.name for field in view._staged):
        view._declared[name].clear(view)
