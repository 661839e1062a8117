"""What all descriptors of a generated class share."""

from typing import TYPE_CHECKING, TypedDict

from ..axes import Axis

if TYPE_CHECKING:
    from ..view import SessionView


class Acting(TypedDict, total=False):
    """What the manager may do to an object, and what its value is rebuilt from, at which cost."""

    manager_may: tuple[str, ...]
    recompute_from: tuple[str, ...]
    recompute_cost: int


class Field:
    """What all descriptors share: their name in a class, their reason, and what ends them.

    A field is cleared when one of `invalidated_by` is cleared or replaced. Which fields end with
    this one is a matter of the class, since a subclass may add some.
    """

    name = ""
    axes: tuple[Axis, ...] = ()
    in_place = False
    manager_may: tuple[str, ...] = ()
    recompute_from: tuple[str, ...] = ()
    recompute_cost = 0

    def __init__(
        self,
        reason: str,
        invalidated_by: tuple[str, ...] = (),
        *,
        manager_may: tuple[str, ...] = (),
        recompute_from: tuple[str, ...] = (),
        recompute_cost: int = 0,
    ) -> None:
        self.manager_may = manager_may
        self.recompute_from = recompute_from
        self.recompute_cost = recompute_cost
        self.reason = reason
        self.invalidated_by = invalidated_by
        self.__doc__ = reason

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def staged(self) -> bool:
        """Whether what is written waits for a commit."""
        return "stage" in self.manager_may

    def watch(self) -> None:
        """Look out for changes from now on: a class has fields that end with this one."""

    def open(self, view: "SessionView") -> None:
        """Make what the first view of a session makes."""

    def clear(self, view: "SessionView") -> None:
        """Go back to what a new session has."""

    def _invalidate(self, view: "SessionView") -> None:
        for name in view._dependents[self.name]:
            view._declared[name].clear(view)
