"""What sizes, conditions and types parse to.

`at` is the (start, end) offset inside the expression's own text, counted in characters.
"""

from typing import Literal

from attrs import field, frozen

Offsets = tuple[int, int]

# ---------------------------------------------------------------- sizes: ints and names


@frozen
class Number:
    value: int
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Name:
    """A dim or param in a size; a field, argument or param in a condition."""

    name: str
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Binary:
    operator: Literal["+", "-", "*", "//", "%"]
    left: "Size"
    right: "Size"
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Negative:
    operand: "Size"
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Call:
    function: Literal["ceil_div", "min", "max"]
    arguments: "tuple[Size, ...]"
    at: Offsets = field(default=(0, 0), eq=False)


Size = Number | Name | Binary | Negative | Call

# ---------------------------------------------------------------- conditions


@frozen
class Text:
    """A quoted string in a comparison."""

    value: str
    at: Offsets = field(default=(0, 0), eq=False)


Operand = Size | Text


@frozen
class IsNone:
    name: Name
    negated: bool
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Compare:
    operator: Literal["==", "!=", "<", "<=", ">", ">="]
    left: Operand
    right: Operand
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Equal:
    """`equal(a, b)`: torch.equal of two tensors."""

    left: Name
    right: Name
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Truth:
    """A bool on its own."""

    name: Name
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Not:
    operand: "Condition"
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Both:
    """`left and right`."""

    left: "Condition"
    right: "Condition"
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Either:
    """`left or right`."""

    left: "Condition"
    right: "Condition"
    at: Offsets = field(default=(0, 0), eq=False)


Condition = IsNone | Compare | Equal | Truth | Not | Both | Either

# ---------------------------------------------------------------- types


@frozen
class Atom:
    name: Literal["int", "float", "bool", "str", "None", "Tensor", "ndarray"]
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Generic:
    """`list[...]`, `set[...]`, `dict[..., ...]`, `tuple[...]`; `variadic` is `tuple[X, ...]`."""

    origin: Literal["list", "tuple", "dict", "set"]
    arguments: "tuple[Type, ...]"
    variadic: bool = False
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Choice:
    """`Literal["a", "b"]`."""

    values: tuple[str, ...]
    at: Offsets = field(default=(0, 0), eq=False)


@frozen
class Union:
    members: "tuple[Type, ...]"
    at: Offsets = field(default=(0, 0), eq=False)


Type = Atom | Generic | Choice | Union
