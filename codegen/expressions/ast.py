"""What sizes, conditions and types parse to.

`at` is where the part was written, in the file; it takes no part in equality.
"""

from typing import Literal

from attrs import field, frozen

from ..span import Span

# The place of a part that no schema wrote.
NOWHERE = Span(1, 1, 1, 1)

# ---------------------------------------------------------------- sizes: ints and names


@frozen
class Number:
    value: int
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Name:
    """A dim or param in a size; a field, argument or param in a condition."""

    name: str
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Binary:
    operator: Literal["+", "-", "*", "//", "%"]
    left: "Size"
    right: "Size"
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Negative:
    operand: "Size"
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Call:
    function: Literal["ceil_div", "min", "max"]
    arguments: "tuple[Size, ...]"
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Length:
    """How many names a `tuple[str, ...]` param gives. No schema writes this; an axis has it."""

    param: str
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Members:
    """How many of `range(size)` a condition over `axis` and params lets through."""

    axis: str
    size: "Size"
    condition: "Condition"
    at: Span = field(default=NOWHERE, eq=False)


Size = Number | Name | Binary | Negative | Call | Length | Members

# ---------------------------------------------------------------- conditions


@frozen
class Text:
    """A quoted string in a comparison."""

    value: str
    at: Span = field(default=NOWHERE, eq=False)


Operand = Size | Text


@frozen
class IsNone:
    name: Name
    negated: bool
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Compare:
    operator: Literal["==", "!=", "<", "<=", ">", ">="]
    left: Operand
    right: Operand
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Equal:
    """`equal(a, b)`: torch.equal of two tensors."""

    left: Name
    right: Name
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Truth:
    """A bool on its own."""

    name: Name
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Not:
    operand: "Condition"
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Both:
    """`left and right`."""

    left: "Condition"
    right: "Condition"
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Either:
    """`left or right`."""

    left: "Condition"
    right: "Condition"
    at: Span = field(default=NOWHERE, eq=False)


Condition = IsNone | Compare | Equal | Truth | Not | Both | Either

# ---------------------------------------------------------------- types


@frozen
class Atom:
    name: Literal["int", "float", "bool", "str", "None", "Tensor", "ndarray"]
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Generic:
    """`list[...]`, `set[...]`, `dict[..., ...]`, `tuple[...]`; `variadic` is `tuple[X, ...]`."""

    origin: Literal["list", "tuple", "dict", "set"]
    arguments: "tuple[Type, ...]"
    variadic: bool = False
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Choice:
    """`Literal["a", "b"]`."""

    values: tuple[str, ...]
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class Union:
    members: "tuple[Type, ...]"
    at: Span = field(default=NOWHERE, eq=False)


@frozen
class RecordType:
    """A record of the schema, with the types of its members."""

    name: str
    members: "tuple[Type, ...]"
    at: Span = field(default=NOWHERE, eq=False)


Type = Atom | Generic | Choice | Union | RecordType
