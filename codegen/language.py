"""The schema language as rows: every mapping, its keys in their canonical order, what each holds.

The loader refuses what is no row here, the formatter orders keys as they stand here, and editors
get the JSON Schema that is made from here. To build a key that is `later`, give it a row, and give
its reader to the loader.
"""

from collections.abc import Mapping
from enum import Enum, auto
from functools import cached_property
from typing import get_args

from attrs import define

from .declared import ITEMSIZE
from .model import Device, Permission, Placement, Scope, Written

KINDS = ("Value", "LatentBuffer", "FrameRing", "EncodeOnce")
KINDS_LATER = ("FixedState", "WindowKV", "Handle")
# PyTorch's limit.
MAX_DIMENSIONS = 64


class Atom(Enum):
    """A value that has no parts to a formatter or an editor."""

    VERSION = auto()
    TEXT = auto()
    NAME = auto()
    TYPE = auto()
    SIZE = auto()
    CONDITION = auto()
    INTEGER = auto()
    POSITIVE = auto()
    BYTES = auto()
    VALUE = auto()


@define(frozen=True)
class OneOf:
    """One word of a closed set."""

    words: tuple[str, ...]


@define(frozen=True)
class ListOf:
    """A list; of `unique` items none is there twice."""

    item: "Value"
    least: int = 0
    most: int | None = None
    unique: bool = False


@define(frozen=True)
class Named:
    """A mapping whose keys are names that the author chose, in an order that is theirs."""

    value: "Value"
    least: int = 0


@define(frozen=True)
class Either:
    """A value of one of two forms."""

    one: "Value"
    other: "Value"


@define(frozen=True)
class Key:
    """A key that the loader reads, what stands behind it, and what an author reads about it."""

    name: str
    value: "Value"
    doc: str


@define(frozen=True, slots=False)
class Table:
    """The keys of one kind of mapping.

    Attributes:
        what: the mapping's name, with its article, for messages.
        keys: what the loader reads, in the canonical order.
        required: those that must be there; `a|b` asks for one of the two.
        later: keys of the language that are not built yet.
    """

    what: str
    keys: tuple[Key, ...]
    required: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> Mapping[str, Key]:
        """The keys by their names."""
        return {key.name: key for key in self.keys}

    @cached_property
    def known(self) -> tuple[str, ...]:
        return tuple(self.rows)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Free texts and conditions, which YAML may have cut short."""
        cut = (Atom.TEXT, Atom.CONDITION)
        return tuple(key.name for key in self.keys if key.value in cut)


Value = Atom | OneOf | ListOf | Named | Either | Table

_NAMES = ListOf(Atom.NAME, unique=True)
_SOME_NAMES = ListOf(Atom.NAME, least=1, unique=True)
_SHAPE = ListOf(Atom.SIZE, most=MAX_DIMENSIONS)
_DTYPE = OneOf(tuple(ITEMSIZE))
_DEVICE = OneOf(get_args(Device))

PARAM = Table(
    "a param",
    (
        Key("type", Atom.TYPE, "int, float, bool or str, each also with None, or tuple[str, ...]."),
        Key("default", Atom.VALUE, "What a caller need not give."),
        Key("min", Atom.INTEGER, "The smallest value that is accepted."),
        Key("max", Atom.INTEGER, "The largest value that is accepted."),
        Key("shipped", Atom.VALUE, "The value at the shipped deploy config, without a default."),
        Key("doc", Atom.TEXT, "What it is, with its unit."),
    ),
    required=("type", "doc"),
)
AXIS = Table(
    "an axis",
    (
        Key("names", Either(Atom.NAME, _SOME_NAMES), "The keys, or the param that gives them."),
        Key("range", Atom.SIZE, "The keys are whole numbers from 0 up to this size."),
        Key("where", Atom.CONDITION, "Which numbers of the range: `layer % 4 == 3`, say."),
        Key("captured", Atom.SIZE, "The first write fixes how many; this size is declared."),
    ),
    required=("names|range|captured",),
)
DEFAULTS = Table(
    "`defaults`",
    (
        Key("device", _DEVICE, "Where the bytes lie of fields that name no device."),
        Key("dtype", _DTYPE, "The elements of fields that name no dtype."),
    ),
)
RESET_RULE = Table(
    "a reset rule",
    (
        Key("reset", Atom.NAME, "The reset that happens when the condition holds."),
        Key("if", Atom.CONDITION, "A condition over fields, arguments and params."),
    ),
    required=("reset", "if"),
)
RESET_WHEN = Table(
    "`reset_when`",
    (
        Key("arguments", Named(Atom.TYPE), "What `reset_reason` is called with, and its type."),
        Key("rules", ListOf(RESET_RULE, least=1), "In order: the first that holds wins."),
    ),
    required=("rules",),
)
HANDOFF = Table(
    "a handoff",
    (
        Key("by", Atom.NAME, "The axis of which a loan names one key."),
        Key("lend", Named(Atom.NAME, least=1), "Attributes of the borrower, and their fields."),
        Key(
            "fresh",
            Named(Either(Atom.VALUE, ListOf(Atom.VALUE))),
            "Attributes that get a new value for each call and are not taken back.",
        ),
    ),
    required=("lend",),
)
ELSEWHERE = Table(
    "a value of `elsewhere`",
    (
        Key("owner", Atom.TEXT, "Who keeps it."),
        Key("reason", Atom.TEXT, "Why it is not a field of the session."),
        Key("closes_with", Atom.NAME, "The reset, or `session`, that also ends it there."),
    ),
    required=("owner",),
)
ENTRY = Table(
    "an entry",
    (
        Key("shape", _SHAPE, "The sizes of each of these tensors."),
        Key("count", Atom.SIZE, "How many there are of this shape; 1 where it is left out."),
    ),
    required=("shape",),
)
_SHAPES = (
    Key("shape", _SHAPE, "Sizes, or bounds as in `<=3`: of one item, or of one frame."),
    Key("retains", _SHAPE, "The shape of the storage behind it, where a slice keeps more alive."),
    Key("entries", ListOf(ENTRY), "The tensors of a list, by their shapes."),
    Key("dtype", _DTYPE, "The type of one element, where it is not that of `defaults`."),
)
_TYPE = Key("type", Atom.TYPE, "What it is, in Python notation: `list[Tensor] | None`, say.")
MEMBER = Table("a member of a record", (_TYPE, *_SHAPES), required=("type",))
RING = Table(
    "a ring",
    (
        Key("size", Atom.SIZE, "How many of the newest items or frames are kept."),
        Key("along", Atom.INTEGER, "The dimension of a FrameRing's tensors that counts frames."),
    ),
    required=("size",),
)
GROWS = Table(
    "`grows`",
    (
        Key("items", Atom.POSITIVE, "How many items are added."),
        Key("every", Atom.POSITIVE, "In how many steps."),
    ),
    required=("items", "every"),
)
VIEW = Table(
    "a view",
    (
        Key("concat", Atom.INTEGER, "Read as one tensor, concatenated along this dimension."),
        Key("stack", Atom.INTEGER, "Read as one tensor, stacked along this new dimension."),
    ),
    required=("concat|stack",),
)
RECOMPUTE = Table(
    "`recompute`",
    (
        Key("from", _SOME_NAMES, "Fields, or values of `elsewhere`, that it is rebuilt from."),
        Key("cost", Atom.SIZE, "What a rebuild costs, in the model's own unit."),
        Key("doc", Atom.TEXT, "How it is rebuilt, and what the unit of its cost is."),
    ),
    required=("from", "cost", "doc"),
)
MEASURED = Table(
    "a measurement",
    (
        Key("bytes", Atom.BYTES, "A whole number, or a decimal with KiB, MiB or GiB."),
        Key("where", Atom.TEXT, "On what device, after how many steps."),
    ),
    required=("bytes", "where"),
)
FIELD = Table(
    "a field",
    (
        Key(
            "placement",
            OneOf(get_args(Placement)),
            "object: the manager may act on the value. attr: it only carries it.",
        ),
        Key(
            "kind",
            OneOf(KINDS),
            "What an object is. Value: assigned whole. LatentBuffer: items in order. FrameRing: "
            "tensors along a dimension, counted in frames. EncodeOnce: written once and rebuilt.",
        ),
        Key("per", _SOME_NAMES, "Axes: the field is a family, with one value for each key."),
        _TYPE,
        Key(
            "default",
            Atom.VALUE,
            "What it reads as before it is assigned; with None in its type, None.",
        ),
        *_SHAPES,
        Key("device", _DEVICE, "Where its bytes lie: on the accelerator, or in host memory."),
        Key(
            "written",
            OneOf(get_args(Written)),
            "assign: replaced whole. in_place: the model writes into the value. once: a second "
            "assignment before a reset is refused.",
        ),
        Key("ring", RING, "The newest items of a LatentBuffer, or frames of a FrameRing."),
        Key("grows", GROWS, "How fast a LatentBuffer without a ring grows."),
        Key("bounded_by", Atom.TEXT, "What ends the growth of a buffer without a ring."),
        Key("view", VIEW, "Read as one tensor, and as None when there is no item."),
        Key(
            "manager_may",
            ListOf(OneOf(get_args(Permission)), least=1, unique=True),
            "What the manager may do with an object: without one of these, it is an attr.",
        ),
        Key("recompute", RECOMPUTE, "What an object is rebuilt from after its release."),
        Key("complete_with", Atom.NAME, "The field without which a key reads as absent."),
        Key("invalidated_by", _NAMES, "Fields whose end or replacement clears it."),
        Key("derived_from", _NAMES, "The same, for a view or an index of another field."),
        Key("survives", _NAMES, "The resets that do not clear it: every other does."),
        Key("reason", Atom.TEXT, "Why it is placed there: reviewers agree or disagree with this."),
        Key("revisit", Atom.TEXT, "What would change the placement."),
        Key("measured", ListOf(MEASURED), "The bytes that somebody saw, and where."),
        Key("renamed_from", Atom.NAME, "The name that the field had before."),
    ),
    required=("placement", "type|parts"),
    later=("parts", "at_most", "init", "window", "ranks", "on_close"),
)
SCHEMA = Table(
    "a schema",
    (
        Key("schema", Atom.VERSION, "The version of this language."),
        Key("model", Atom.NAME, "The model's name; in lower case it names the generated module."),
        Key("class", Atom.NAME, "The name of the generated class."),
        Key(
            "scope",
            OneOf(get_args(Scope)),
            "session: what one client's rollout keeps. generation: it ends with its request.",
        ),
        Key("horizon", Atom.POSITIVE, "The steps at which tables quote the bytes of what grows."),
        Key("doc", Atom.TEXT, "The docstring of the class: what a session keeps."),
        Key("params", Named(PARAM), "Keyword arguments of the generated class."),
        Key("axes", Named(AXIS), "The keys of families: of fields with `per`."),
        Key("dims", Named(Atom.SIZE), "Symbols of shapes, at the shipped deploy config."),
        Key("defaults", DEFAULTS, "The device and the dtype of fields that name none."),
        Key("resets", Named(Atom.TEXT), "The events that clear fields, and when each happens."),
        Key("reset_when", RESET_WHEN, "When which reset is due: makes `reset_reason(...)`."),
        Key("records", Named(Named(MEMBER, least=1)), "Plain classes that a field may hold."),
        Key("fields", Named(FIELD, least=1), "What a session keeps between forward() calls."),
        Key("groups", Named(_SOME_NAMES), "Sets of fields that `reset_<group>()` clears together."),
        Key("handoff", Named(HANDOFF), "Fields lent to another object for the time of a call."),
        Key("elsewhere", Named(ELSEWHERE), "Values that other components own, for the table."),
    ),
    required=("schema", "model", "class", "doc", "fields"),
    later=("key",),
)
