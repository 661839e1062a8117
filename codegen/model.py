"""The schema as frozen classes: what a YAML file means, with the place where each part was written.

The loader constructs these only from values that it understood; a part that it did not understand
is a finding and leaves its neutral value here, so that nothing after it reports the same mistake
again.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from attrs import field, frozen

from .expressions.ast import Condition, Size, Type
from .span import Span as Span

Placement = Literal["object", "attr"]
Device = Literal["accelerator", "host"]
Permission = Literal["release", "accumulate", "stage", "rebuild"]
Written = Literal["assign", "in_place", "once"]
Scope = Literal["session", "generation"]

# A default as the schema gives it; a list stands for a value that is made anew for each session.
Plain = None | bool | int | float | str
Default = Plain | tuple[Plain, ...]


@frozen
class Unset:
    """No default was given, which differs from a default of null."""


UNSET = Unset()


@frozen
class Param:
    """A keyword argument of the generated class."""

    name: str
    type: Type
    default: Default | Unset
    minimum: int | None
    maximum: int | None
    shipped: Default | Unset
    doc: str
    at: Span
    # Where each key of the param was written, and its value.
    keys: Mapping[str, tuple[Span, Span]] = field(factory=dict, eq=False, repr=False)


@frozen
class Dim:
    """A symbol of shapes, at the shipped deploy config."""

    name: str
    size: Size
    at: Span


@frozen
class Reset:
    """A named event that clears fields."""

    name: str
    doc: str
    at: Span


@frozen
class Argument:
    """A value that `reset_reason` is called with."""

    name: str
    type: Type
    at: Span


@frozen
class ResetRule:
    """The reset that happens when the condition holds and none before it did."""

    reset: str
    condition: Condition
    at: Span
    reset_span: Span


@frozen
class Group:
    """Fields that `reset_<name>()` clears together."""

    name: str
    fields: tuple[str, ...]
    at: Span
    field_spans: tuple[Span, ...]


@frozen
class Elsewhere:
    """A value that another component owns; `closes_with` is the event that also ends it there."""

    name: str
    owner: str
    reason: str
    closes_with: str | None
    at: Span
    # Where each of its keys was written, and the key's value.
    keys: Mapping[str, tuple[Span, Span]] = field(factory=dict, eq=False, repr=False)


@frozen
class Axis:
    """The keys of one dimension of a family.

    Of the kind `names`, `names` lists them or `param` gives them; of `range`, they are those of
    `range(size)` for which `where` holds; of `captured`, the first write fixes how many there
    are, and `size` is what is declared.
    """

    name: str
    kind: Literal["names", "range", "captured"]
    names: tuple[str, ...]
    name_spans: tuple[Span, ...]
    param: str | None
    size: Size | None
    where: Condition | None
    at: Span
    value_at: Span


@frozen
class Lent:
    """An attribute of the borrower, and the field whose value it has during the loan."""

    attribute: str
    field: str
    at: Span
    field_at: Span


@frozen
class Fresh:
    """An attribute of the borrower that has a new value in each loan; a list is made anew."""

    attribute: str
    value: Default
    at: Span


@frozen
class Handoff:
    """Fields lent together; `by` is the axis of which a loan names one key."""

    name: str
    by: str | None
    lend: tuple[Lent, ...]
    fresh: tuple[Fresh, ...]
    at: Span
    by_at: Span


@frozen
class Dimension:
    """One dimension of a shape: exactly `size`, or at most."""

    size: Size
    at_most: bool


@frozen
class Shape:
    dimensions: tuple[Dimension, ...]
    at: Span


@frozen
class Entry:
    """`count` tensors of one shape in a list."""

    shape: Shape
    count: Size


@frozen
class Ring:
    """The newest `size` items, or frames along a dimension."""

    size: Size
    along: int | None
    at: Span


@frozen
class Grows:
    """`items` items in every `every` steps."""

    items: int
    every: int
    at: Span


@frozen
class Joined:
    """A field of items that reads as one value: `torch.cat` or `torch.stack` along `dim`."""

    how: Literal["concat", "stack"]
    dim: int
    at: Span


@frozen
class Member:
    """One value of a record."""

    name: str
    type: Type | None
    shape: Shape | None
    retains: Shape | None
    entries: tuple[Entry, ...]
    dtype: str | None
    at: Span
    # Where each key of the member was written, and its value.
    keys: Mapping[str, tuple[Span, Span]] = field(factory=dict, eq=False, repr=False)


@frozen
class Record:
    """A typed class of its own, which fields may hold."""

    name: str
    members: tuple[Member, ...]
    at: Span


@frozen
class Recompute:
    """What a field is rebuilt from, and what that costs."""

    sources: tuple[str, ...]
    cost: Size
    doc: str
    at: Span
    source_spans: tuple[Span, ...]


@frozen
class Measured:
    """Bytes that somebody measured: as the schema wrote them, and as a number."""

    text: str
    nbytes: Decimal
    where: str


@frozen
class Field:
    """One named value of a session."""

    name: str
    placement: Placement | None
    kind: str | None
    type: Type | None
    reason: str
    default: Default | Unset
    shape: Shape | None
    retains: Shape | None
    entries: tuple[Entry, ...]
    dtype: str | None
    device: Device
    written: Written
    survives: tuple[str, ...]
    per: tuple[str, ...]
    complete_with: str | None
    invalidated_by: tuple[str, ...]
    derived_from: tuple[str, ...]
    recompute: Recompute | None
    ring: Ring | None
    grows: Grows | None
    bounded_by: str | None
    view: Joined | None
    manager_may: tuple[Permission, ...]
    revisit: str | None
    measured: tuple[Measured, ...]
    renamed_from: str | None
    at: Span
    # Where each key of the field was written, and its value: {"ring": (key span, value span)}.
    keys: Mapping[str, tuple[Span, Span]] = field(factory=dict, eq=False, repr=False)
    # Where each name was written of a key that lists names: {"survives": (span, ...)}.
    name_spans: Mapping[str, tuple[Span, ...]] = field(factory=dict, eq=False, repr=False)

    @property
    def is_assigned(self) -> bool:
        """Whether it reads as what was assigned, and as its default before."""
        return self.placement == "attr" or self.kind == "Value"

    @property
    def is_staged(self) -> bool:
        """Whether what is written to it waits for a commit."""
        return "stage" in self.manager_may


Described = Field | Member
"""What has a type and, where that holds tensors or arrays, says their shapes."""


@frozen
class Schema:
    """One schema file."""

    path: str
    model: str
    class_name: str
    doc: str
    scope: Scope
    horizon: int | None
    params: tuple[Param, ...]
    dims: tuple[Dim, ...]
    axes: tuple[Axis, ...]
    default_device: Device
    default_dtype: str | None
    resets: tuple[Reset, ...]
    arguments: tuple[Argument, ...]
    reset_rules: tuple[ResetRule, ...]
    groups: tuple[Group, ...]
    handoffs: tuple[Handoff, ...]
    elsewhere: tuple[Elsewhere, ...]
    records: tuple[Record, ...]
    fields: tuple[Field, ...]
    sha256: str
    # Names that the schema declares and that did not load: rules take them as known.
    broken: frozenset[str] = frozenset()
    # Whether nothing was refused, so that what is absent here is absent in the file.
    complete: bool = True
    # Where each top-level key was written, and its value.
    keys: Mapping[str, tuple[Span, Span]] = field(factory=dict, eq=False, repr=False)

    @property
    def described(self) -> tuple[Described, ...]:
        """The members of records and the fields."""
        return (*(member for record in self.records for member in record.members), *self.fields)

    @property
    def module(self) -> str:
        """The name of the generated module: the model's, in lower case and underscores."""
        return "".join(c if c.isascii() and c.isalnum() else "_" for c in self.model).lower()
