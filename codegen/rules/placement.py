"""Rules about what goes with which placement, kind and type."""

from collections.abc import Iterator, Mapping

from ..expressions.ast import Atom, Number
from ..expressions.types import arrays_in, holds_bytes, may_be_none, mentions_record, show
from ..model import Described, Field, Joined, Schema
from .problem import Problem, key_of, value_of

_OF_OBJECTS = ("kind", "manager_may", "ring", "grows", "bounded_by", "view", "recompute")
_OF_ATTRS = ("default", "written", "entries")
# A Value is assigned wholesale, as an attr is.
_OF_VALUES = ("default", "entries")
# Keys that only some kinds have.
_OF_KINDS: Mapping[str, tuple[str, ...]] = {
    "ring": ("LatentBuffer", "FrameRing"),
    "view": ("LatentBuffer", "FrameRing"),
    "grows": ("LatentBuffer",),
    "bounded_by": ("LatentBuffer",),
}


def _objects(schema: Schema) -> Iterator[Field]:
    """Objects of a kind that is known."""
    return (f for f in schema.fields if f.placement == "object" and f.kind is not None)


def wrong_kinds(schema: Schema) -> Iterator[Problem]:
    """Keys that a field of this placement, kind or type does not have."""
    for field in schema.fields:
        # A kind that was refused may have had these keys.
        if field.placement == "attr" or (field.placement and field.kind):
            yield from _misplaced(field)
    for one in schema.described:
        yield from _bytes_of_nothing(one)
        yield from _two_sizes(one)
    for field in _objects(schema):
        yield from _wrong_for_kind(field)
    for param in schema.params:
        bounds = [key for key in ("min", "max") if key in param.keys]
        if bounds and param.type != Atom("int"):
            message = f"`{bounds[0]}` bounds an int; `{param.name}` is {show(param.type)}."
            yield Problem(param.keys[bounds[0]][0], message, "take it out")


def misplaced_keys(field: Field) -> list[str]:
    """The keys of a field that belong to the other placement."""
    others = {"object": _OF_ATTRS, "attr": _OF_OBJECTS, None: ()}[field.placement]
    own = _OF_VALUES if field.kind == "Value" and field.placement == "object" else ()
    return [key for key in field.keys if key in others and key not in own]


def _misplaced(field: Field) -> Iterator[Problem]:
    keys = misplaced_keys(field)
    if not keys:
        return
    what, other = ("an object", "attr") if field.placement == "object" else ("an attr", "object")
    owners = "attrs" if other == "attr" else "object fields"
    listed = " and ".join(
        filter(None, [", ".join(f"`{key}`" for key in keys[:-1]), f"`{keys[-1]}`"])
    )
    message = (
        f"{listed} {'belongs' if len(keys) == 1 else 'belong'} to {owners}, and `{field.name}`"
    )
    hint = f"take {'it' if len(keys) == 1 else 'them'} out, or write `placement: {other}`"
    yield Problem(key_of(field, keys[0]), f"{message} is placed as {what}.", hint)


def _bytes_of_nothing(field: Described) -> Iterator[Problem]:
    if field.type is None or holds_bytes(field.type):
        return
    for key in ("shape", "retains", "entries", "dtype"):
        if key in field.keys:
            message = f"`{key}` describes tensors and arrays; `{field.name}` is {show(field.type)}."
            of_record = mentions_record(field.type)
            hint = "take it out; a record says its own" if of_record else "take it out"
            yield Problem(key_of(field, key), message, hint)


def _two_sizes(field: Described) -> Iterator[Problem]:
    if "entries" in field.keys:
        for key in ("shape", "retains"):
            if key in field.keys:
                message = f"`{field.name}` has `entries`, which say all of its shapes."
                yield Problem(key_of(field, key), message, f"keep `{key}` or `entries`")
        # Without a shape a list of tensors has only its entries to say how many there are.
        if field.type and holds_bytes(field.type) and arrays_in(field.type) is not None:
            message = f"`entries` list what a list holds; `{field.name}` is {show(field.type)}."
            yield Problem(key_of(field, "entries"), message, "write its `shape`")


def _wrong_for_kind(field: Field) -> Iterator[Problem]:
    for key, kinds in _OF_KINDS.items():
        if key in field.keys and field.kind not in kinds:
            message = f"`{key}` belongs to {' and '.join(kinds)}; this is {_a(field.kind)}."
            yield Problem(key_of(field, key), message, "take it out")
    if field.kind == "LatentBuffer" and "ring" in field.keys:
        for key in ("grows", "bounded_by"):
            if key in field.keys:
                message = f"`{field.name}` has a ring, which bounds it; `{key}` says it grows."
                yield Problem(key_of(field, key), message, f"keep `ring` or `{key}`")
        if field.ring and field.ring.along is not None:
            message = "The ring of a LatentBuffer counts items, and has no dimension."
            hint = "take `along` out, or write `kind: FrameRing` to count frames"
            yield Problem(field.ring.at, message, hint)
    yield from _wrong_permissions(field)
    if (
        "view" in field.keys
        and field.kind in _OF_KINDS["view"]
        and field.type not in (None, Atom("Tensor"))
    ):
        message = f"A view joins tensors; the items of `{field.name}` are no plain Tensor."
        yield Problem(key_of(field, "view"), message, "take it out and read the items")


def _wrong_permissions(field: Field) -> Iterator[Problem]:
    at = dict(zip(field.manager_may, field.name_spans["manager_may"], strict=False))
    if field.kind in ("EncodeOnce", "Value") and "accumulate" in at:
        how = "written once" if field.kind == "EncodeOnce" else "assigned wholesale"
        message = f"`{field.name}` is {how}, and there is nothing to accumulate."
        hint = "take `accumulate` out, or choose a kind that is appended to"
        yield Problem(at["accumulate"], message, hint)
    if field.kind == "EncodeOnce" and "stage" in at:
        message = "An EncodeOnce is written once, and has no earlier value to go back to."
        yield Problem(at["stage"], message, "take `stage` out, or write `kind: Value`")


def _a(kind: str | None) -> str:
    return f"an {kind}" if kind in ("EncodeOnce",) else f"a {kind}"


def missing_keys(schema: Schema) -> Iterator[Problem]:
    """What an object needs, by its kind."""
    for field in schema.fields:
        if field.placement == "object":
            for key in ("kind", "manager_may"):
                if key not in field.keys:
                    message = f"An object needs `{key}`: `{field.name}` does not have it."
                    hint = "or write `placement: attr`, if the manager only carries it"
                    yield Problem(field.at, message, hint)
    for field in _objects(schema):
        if field.kind == "FrameRing" and "ring" not in field.keys:
            message = f"A FrameRing needs `ring`: `{field.name}` does not have it."
            hint = "write `ring: {size: ..., along: ...}`"
            yield Problem(field.at, message, hint)
        elif field.kind == "FrameRing" and field.ring and field.ring.along is None:
            message = "A FrameRing counts frames along a dimension, which its ring must name."
            yield Problem(field.ring.at, message, "add `along:` with the dimension of time")


def missing_bounds(schema: Schema) -> Iterator[Problem]:
    """Buffers without a ring that do not say how they grow and what ends it."""
    for field in _objects(schema):
        if field.kind != "LatentBuffer" or "ring" in field.keys:
            continue
        if "grows" not in field.keys:
            message = f"`{field.name}` has no ring and does not say how fast it grows."
            hint = "add `ring: {size: ...}`, or `grows: {items: 1, every: 1}` and `bounded_by`"
            yield Problem(field.at, message, hint)
        elif "bounded_by" not in field.keys:
            message = f"`{field.name}` grows, and nothing is named that ends its growth."
            yield Problem(key_of(field, "grows"), message, "add `bounded_by: ...`")


def missing_horizons(schema: Schema) -> Iterator[Problem]:
    """Fields that grow in a schema that names no number of steps to quote them at."""
    for field in schema.fields:
        if field.grows and "horizon" not in schema.keys:
            message = f"`{field.name}` grows, so its bytes can only be quoted at some step."
            hint = "add `horizon: <steps>` at the top of the schema"
            yield Problem(key_of(field, "grows"), message, hint)


def bad_dimensions(schema: Schema) -> Iterator[Problem]:
    """Dimensions that a shape does not have, or that disagree."""
    for field in _objects(schema):
        rank = len(field.shape.dimensions) if field.shape else None
        along = field.ring.along if field.ring and field.kind == "FrameRing" else None
        if along is not None and rank is not None and field.ring and field.shape:
            if not 0 <= along < rank:
                message = f"`along: {along}` is no dimension of a shape of {rank}."
                yield Problem(field.ring.at, message, _dimensions(rank - 1))
                continue
            if field.shape.dimensions[along].size != Number(1):
                message = (
                    f"The shape of a FrameRing is of one frame, so its dimension {along} is 1."
                )
                yield Problem(field.shape.at, message, "write 1 there; `ring` gives the number")
        if field.view:
            yield from _bad_view(field, field.view, rank, along)


def _bad_view(field: Field, view: Joined, rank: int | None, along: int | None) -> Iterator[Problem]:
    if field.kind == "FrameRing" and along is not None and view != Joined("concat", along, view.at):
        message = f"A FrameRing reads as its frames along dimension {along}."
        yield Problem(view.at, message, f"write `view: {{concat: {along}}}`")
    elif rank is not None:
        last = rank if view.how == "stack" else rank - 1
        if not 0 <= view.dim <= last:
            message = f"`{view.how}: {view.dim}` is no dimension for items of {rank} dimensions."
            yield Problem(view.at, message, _dimensions(last))


def _dimensions(last: int) -> str:
    return f"dimensions are counted 0 to {last}" if last >= 0 else "write the sizes of the shape"


def missing_shapes(schema: Schema) -> Iterator[Problem]:
    """Values that can hold bytes that nothing declares."""
    for field in schema.described:
        sized = {"shape", "entries", "parts"} & field.keys.keys()
        if field.type is None or not holds_bytes(field.type):
            continue
        if arrays_in(field.type) is None and not sized & {"entries", "parts"}:
            message = f"`{show(field.type)}` does not say how many tensors `{field.name}` holds."
            hint = "list them: `entries: [{shape: [...], count: 2}]`"
            yield Problem(key_of(field, "shape"), message, hint)
        elif not sized:
            message = f"`{field.name}` can hold bytes, and no shape says how many."
            yield Problem(field.at, message, "add `shape: [...]`")


def bad_types(schema: Schema) -> Iterator[Problem]:
    """Types that a param, or the items of an object, cannot have."""
    for field in _objects(schema):
        if field.type is None:
            continue
        if may_be_none(field.type) and not field.is_assigned:
            held = "the value" if field.kind == "EncodeOnce" else "one item"
            message = f"The type of {_a(field.kind)} is that of {held}, which is there."
            hint = "take `None` out; an empty object reads as empty by itself"
            yield Problem(value_of(field, "type"), message, hint)
        elif field.kind == "FrameRing" and field.type != Atom("Tensor"):
            message = f"A FrameRing holds frames of a Tensor, not of {show(field.type)}."
            yield Problem(value_of(field, "type"), message, "write `type: Tensor`")
