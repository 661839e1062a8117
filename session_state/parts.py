"""A part of a session: one field, or of a family one branch. It is what is lent, released, rebuilt."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .axes import Keys
from .base import StateObject
from .coercions import checked
from .fields import Attr, Field, ObjectField, Param, Stored, ValueField, ViewField
from .keyed import FamilyField
from .objects import LatentBuffer

if TYPE_CHECKING:
    from .view import SessionView


class Part:
    """One value of a session under its field's name and, in a family, the keys of its branch."""

    __slots__ = ("view", "field", "branch")

    def __init__(self, view: "SessionView", field: Field, branch: Keys = ()) -> None:
        self.view = view
        self.field = field
        self.branch = branch

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Part):
            return NotImplemented
        return self.view._session is other.view._session and self.path == other.path

    def __hash__(self) -> int:
        return hash((self.view.session_id, self.path))

    @property
    def path(self) -> str:
        """Its name in the session: `field`, or `field/key`."""
        return "/".join((self.field.name, *map(str, self.branch)))

    @property
    def place(self) -> str:
        """How messages name it."""
        return f"session {self.view.session_id!r}, field {self.path!r}"

    @property
    def stays(self) -> bool:
        """Whether a value that is there is not replaced by another."""
        if isinstance(self.field, FamilyField):
            return self.field.is_frozen
        return isinstance(self.field, ObjectField) or getattr(self.field, "once", False)

    @property
    def captures(self) -> bool:
        """Whether it is a list of values, as many as the first write gives."""
        return isinstance(self.field, FamilyField) and self.field.captures

    def read(self) -> Any:
        """The value, or None where there is none. Raises SessionFailed."""
        if isinstance(self.field, FamilyField):
            return self.field.read(self.view, self.branch)
        value = getattr(self.view, self.field.name)
        return value.view() if isinstance(self.field, ObjectField) else value

    @property
    def is_absent(self) -> bool:
        """Whether it holds nothing, or not all of it, whatever its partner has."""
        field, view = self.field, self.view
        if isinstance(field, FamilyField):
            return field.values(view, self.branch) is None
        if isinstance(field, Stored):
            # Not as it reads: joining the items of a buffer would copy them.
            held = field.object_of(view).view(include_staged=False)
            return held is None or (isinstance(held, list) and not held)
        return self.read() is None

    def kept(self) -> tuple[object, ...]:
        """The very objects that the session keeps of it, whatever its partner has."""
        view, field = self.view, self.field
        if isinstance(field, FamilyField):
            return tuple(field.values(view, self.branch) or ())
        if isinstance(field, Attr):
            carried = view._carried
            return (carried[field.name],) if field.name in carried else ()
        return tuple(self.objects())

    def objects(self) -> list[StateObject[Any, Any]]:
        """The objects that hold it; none for a carried value."""
        field, names = self.field, [self.field.name]
        if isinstance(field, FamilyField):
            names = field.stored(self.view, self.branch)
        found = map(self.view._session.get, names)
        return [one for one in found if one is not None]

    @property
    def is_staged(self) -> bool:
        """Whether one of its objects holds what is not committed yet."""
        contents = (one._contents() for one in self.objects())
        return any(found is not None and found[1] is not None for found in contents)

    def vet(self, value: Any) -> None:
        """Raise what writing the value would raise because of what it is."""
        field, view = self.field, self.view
        if isinstance(field, FamilyField):
            field.vet(view, self.branch, value)
        elif isinstance(field, Attr) and field.coerce is not None:
            checked(field.coerce, value, self.place)
        elif isinstance(field, (ValueField, ViewField)):
            field.vet(view, value)

    def write(self, value: Any) -> None:
        """Keep the value, and clear what depends on it."""
        if isinstance(self.field, FamilyField):
            self.field.write(self.view, self.branch, value)
        elif isinstance(self.field, ObjectField):
            self.keep(value)
        else:
            setattr(self.view, self.field.name, value)

    def keep(self, value: Any) -> None:
        """Keep the value of an object field, and leave alone what depends on it."""
        field, view = self.field, self.view
        if isinstance(field, FamilyField):
            field.keep(view, self.branch, value)
        elif isinstance(field, (ValueField, ViewField)):
            field.keep(view, value)
        elif isinstance(field, ObjectField):
            held = field.object_of(view)
            if isinstance(held, LatentBuffer):
                held.extend(value)
            else:
                held.commit(value)

    def forget(self) -> None:
        """Let go of the value, and leave alone what depends on it."""
        if isinstance(self.field, FamilyField):
            self.field.forget(self.view, self.branch)
        else:
            self.field.clear(self.view)


def parts_of(view: "SessionView") -> list[Part]:
    """Every field of a session, and of families every branch."""
    fields = (field for field in view._declared.values() if not isinstance(field, Param))
    return [Part(view, field, branch) for field in fields for branch in _branches(view, field, [])]


def parts_named(view: "SessionView", name: str) -> list[Part]:
    """The part that `name` means: a field, or `field/key`; of a family without keys, every branch.

    Raises AttributeError for no field of the class, and UnknownKey for a key outside its axis.
    """
    family, *spelled = name.split("/")
    field = view._declared.get(family)
    if field is None or isinstance(field, Param) or (spelled and not field.axes):
        raise AttributeError(
            f"session {view.session_id!r}: {name!r} is no field of {type(view).__name__}"
        )
    return [Part(view, field, branch) for branch in _branches(view, field, spelled)]


def _branches(view: "SessionView", field: Field, spelled: list[str]) -> Iterable[Keys]:
    if not isinstance(field, FamilyField):
        return [()]
    # A number is spelled as a text here; what is left over is refused with the rest of the key.
    numbers = [{str(key): key for key in axis.keys(view)} for axis in field.axes]
    keys = [known.get(part, part) for known, part in zip(numbers, spelled, strict=False)]
    keys += spelled[len(keys) :]
    return field.branches(view, field.resolve(view, tuple(keys), 0, len(field.axes)))
