"""The keys of families, and a family as model code sees it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias, TypeVar

Key: TypeAlias = str | int
Keys: TypeAlias = tuple[Key, ...]

Value_co = TypeVar("Value_co", covariant=True)


class Axis:
    """One dimension of a family whose keys a view knows: names, or numbers."""

    def __init__(self, name: str, keys: Callable[[Any], Iterable[Key]]) -> None:
        self.name = name
        self.keys = keys


class CapturedAxis:
    """The last dimension of a family, whose size the first write of a branch fixes."""

    def __init__(self, name: str) -> None:
        self.name = name


class HasAxes(Protocol):
    """A field, and the axes whose keys it has values by: none unless it is a family."""

    axes: tuple[Axis, ...]


def shared_axes(one: HasAxes, other: HasAxes) -> int:
    """How many axes both begin with."""
    count = 0
    for mine, theirs in zip(one.axes, other.axes, strict=False):
        if mine.name != theirs.name:
            break
        count += 1
    return count


class Family(Protocol[Value_co]):
    """A field with `per`: one value per key. Iterating gives the complete keys of the first axis."""

    def __getitem__(self, key: Any, /) -> Value_co:
        """The value under a key. Raises FieldUnset and UnknownKey."""

    def __contains__(self, key: object, /) -> bool:
        """Whether all there is below the key is there, and its `complete_with` partner too."""

    def __iter__(self) -> Iterator[Any]:
        """The complete keys of the first axis, in axis order."""

    def __delitem__(self, key: Any, /) -> None:
        """Clear what is below the key; a branch forgets its captured size."""
