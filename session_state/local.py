"""What belongs to one process: it is neither pickled nor copied, and made usable after a fork."""

import os
import weakref
from typing import NoReturn, Protocol, SupportsIndex


class StaysInProcess:
    """Refuses to be pickled or copied: a copy would share neither the lock nor the memory."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} belongs to its process and is neither pickled nor copied; "
            "hand over the session id, and open it with the other process's own manager"
        )


class Renewable(Protocol):
    """What has locks that a fork may copy while another thread holds them."""

    def after_fork(self) -> None:
        """Make it usable in the child, which has only the thread that forked."""


_renewables: "weakref.WeakSet[Renewable]" = weakref.WeakSet()


def renew_after_forks(renewable: Renewable) -> None:
    """Call its `after_fork` in every child, for as long as it lives."""
    _renewables.add(renewable)


def _after_fork() -> None:
    for renewable in list(_renewables):
        renewable.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
