"""The keyword arguments of a generated class."""

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from ..coercions import UNCHANGED, Coerce, checked
from .base import Field

if TYPE_CHECKING:
    from typing import Self

    from ..view import SessionView

T = TypeVar("T")


class Param(Field, Generic[T]):
    """A keyword argument of a generated class, read as an attribute and never assigned.

    One that shapes objects has one value per session, the first view's; any other is the view's own.
    """

    def __init__(
        self,
        coerce: Coerce[T],
        *,
        minimum: int | float | None = None,
        maximum: int | float | None = None,
        shapes_objects: bool = False,
        doc: str = "",
    ) -> None:
        super().__init__(doc)
        self.coerce = coerce
        self._exact = UNCHANGED.get(coerce)
        self.minimum = minimum
        self.maximum = maximum
        self.shapes_objects = shapes_objects

    @overload
    def __get__(self, view: None, cls: type | None = None) -> "Self": ...
    @overload
    def __get__(self, view: "SessionView", cls: type | None = None) -> T: ...
    def __get__(self, view: "SessionView | None", cls: type | None = None) -> "Self | T":
        return self if view is None else cast("T", view._params[self.name])

    def __set__(self, view: "SessionView", value: T) -> None:
        raise AttributeError(
            f"session {view.session_id!r}: param {self.name!r} is fixed when a view is made; "
            f"pass {self.name}= to {type(view).__name__}"
        )

    def check(self, value: object) -> T:
        """`value` coerced. Raises TypeError, and ValueError outside the bounds or beyond 64 bits."""
        found: Any = value
        if type(value) is not self._exact:
            found = checked(self.coerce, value, f"param {self.name!r}")
        low, high = self.minimum, self.maximum
        # Written so that a NaN is outside of any bound.
        if (low is not None and not found >= low) or (high is not None and not found <= high):
            bounds = " and ".join(
                f"at {word} {bound}"
                for word, bound in (("least", low), ("most", high))
                if bound is not None
            )
            raise ValueError(f"param {self.name!r}: expected {bounds}, got {found!r}")
        if type(found) is int and found.bit_length() > 63:
            raise ValueError(f"param {self.name!r}: expected at most 2**63 - 1")
        return cast("T", found)
