"""A family as model code reads and writes it: `session.und_kv["cond", 3]`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .errors import FieldUnset, UnknownKey

if TYPE_CHECKING:
    from .keyed import FamilyField
    from .view import SessionView

Value = TypeVar("Value")


class Branches(Generic[Value]):
    """A family of one session: what reading the field gives."""

    __slots__ = ("_field", "_view")

    def __init__(self, field: "FamilyField[Value]", view: "SessionView") -> None:
        self._field = field
        self._view = view

    def __getitem__(self, key: Any) -> Value:
        field, view = self._field, self._view
        keys = field.resolve(view, key, len(field.per), len(field.per))
        branch = keys[: len(field.axes)]
        size = field.size(view, branch)
        at = keys[-1] if field.captures else 0
        if size is not None and (type(at) is not int or not 0 <= at < size):
            raise UnknownKey(
                f"{field.place(view, branch)}: {field.per[-1].name} has no key {at!r}, it has "
                f"0 to {size - 1}"
            )
        values = field.complete(view, branch)
        if values is None:
            missing = field.complete_with if field.values(view, branch) else field.name
            if view._status.closed:
                raise FieldUnset(f"{field.place(view, keys)}: the session is closed")
            raise FieldUnset(
                f"{field.place(view, keys)}: reads as absent until {missing}[{branch[0]!r}] is written"
            )
        return values[int(at)]

    def __setitem__(self, key: Any, value: Value | Sequence[Value]) -> None:
        field = self._field
        branch = field.resolve(self._view, key, len(field.axes), len(field.axes))
        field.write(self._view, branch, value)

    def __delitem__(self, key: Any) -> None:
        field, view = self._field, self._view
        branches = [*field.branches(view, field.resolve(view, key, 1, len(field.axes)))]
        view._status.require_open(*map(field.path, branches))
        for branch in branches:
            field.forget(view, branch)
            view._status.renew(field.path(branch))
            field.invalidate(view, branch)

    def __contains__(self, key: object) -> bool:
        field, view = self._field, self._view
        try:
            keys = field.resolve(view, key, 1, len(field.per))
            if len(keys) > len(field.axes):
                self[keys]
                return True
        except (UnknownKey, FieldUnset):
            return False
        return all(
            field.complete(view, branch) is not None for branch in field.branches(view, keys)
        )

    def __iter__(self) -> Iterator[Any]:
        return (key for key in self._field.axes[0].keys(self._view) if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<{self._field.name} of {self._view!r}: {', '.join(map(repr, self)) or 'empty'}>"
