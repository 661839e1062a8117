"""Attributes of a borrower that have another value for a while, each a layer over what was there."""

import os
import sys
import threading
from typing import Any, Final

from .errors import BorrowerBusy

_MISSING: Final = object()

_layers: dict[tuple[int, str], list["Borrowed"]] = {}
"""What lies over each attribute, the innermost last; modules are known by id while they are lent to,
since they may be neither hashable nor weakly referable."""

_lock = threading.Lock()


def _renew_lock() -> None:
    """A thread that held the lock when the process forked does not exist in the child."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


class Borrowed:
    """One attribute of one module with a value that is not its own.

    Layers lie over each other within one thread and task, and come off in the opposite order.
    """

    __slots__ = ("module", "name", "crossed", "_flow", "_before")

    def __init__(self, module: Any, name: str) -> None:
        self.module = module
        self.name = name
        self.crossed = False
        self._flow = _flow()
        self._before: object = _MISSING

    def lay(self) -> None:
        """Begin the layer. Raises BorrowerBusy where another thread or task has the attribute."""
        with _lock:
            layers = _layers.setdefault((id(self.module), self.name), [])
            if layers and layers[-1]._flow != self._flow:
                raise BorrowerBusy(
                    f"{self.place} is lent to another thread or task, and one value would be taken "
                    "for the other; run the calls one after the other, or give each its own module"
                )
            layers.append(self)

    def put(self, value: object) -> None:
        """Set the attribute; `restore` is due on any error, since a module may set it and refuse."""
        self._before = _own(self.module, self.name)
        setattr(self.module, self.name, value)

    @property
    def place(self) -> str:
        """How messages name it."""
        return f"{self.name!r} of {type(self.module).__name__}"

    def read(self) -> Any:
        """What the attribute holds, or None."""
        return getattr(self.module, self.name, None)

    def require_innermost(self) -> None:
        """Raise BorrowerBusy where loans of the attribute do not end in the order of their nesting."""
        with _lock:
            crossed = self.crossed or _layers[id(self.module), self.name][-1] is not self
        if crossed:
            raise BorrowerBusy(
                f"{self.place} was lent twice and the loans end crosswise, so that one value may "
                "have been taken for the other; end the inner loan first"
            )

    def restore(self) -> None:
        """Give the attribute back what it held before this layer, and take the layer off."""
        with _lock:
            layers = _layers.get((id(self.module), self.name), [])
            at = layers.index(self)
            above = layers[at + 1 :]
            del layers[at]
            if not layers:
                del _layers[id(self.module), self.name]
            for layer in above:
                layer.crossed = True
        if above:
            # What is below comes to light when the layer above comes off.
            above[0]._before = self._before
        elif self._before is not _MISSING:
            if _own(self.module, self.name) is not self._before:
                setattr(self.module, self.name, self._before)
        elif _own(self.module, self.name) is not _MISSING:
            delattr(self.module, self.name)


def _flow() -> tuple[int, object]:
    """The thread, and within it the task, that statements run in one after the other."""
    asyncio = sys.modules.get("asyncio")
    task = None
    if asyncio is not None and asyncio._get_running_loop() is not None:
        task = asyncio.current_task()
    return threading.get_ident(), task


def _own(module: Any, name: str) -> object:
    """What the module itself has under a name; a default of its class is not its own."""
    own = getattr(module, "__dict__", None)
    if own is not None and name not in own and hasattr(type(module), name):
        found = getattr(type(module), name)
        if not hasattr(type(found), "__set__"):
            return _MISSING
    return getattr(module, name, _MISSING)
