"""What changed of how much a field holds: shapes, rings and declared bytes."""

from collections.abc import Iterator
from decimal import Decimal

from ..declared import shipped_params
from ..emit.python import shape_text, size_text
from ..emit.table import nbytes
from ..expressions.evaluate import FormulaError, evaluate
from ..model import Described, Field, Ring, Schema, Shape
from ..rules.problem import Problem, value_in, value_of
from ..span import Span
from .change import Found
from .fields import replaced
from .meaning import written_out
from .pairs import DEVICES, Comparison, Kept, Models, Pair, total


def changed_shapes(models: Models, pair: Pair) -> Iterator[Problem]:
    """Shapes that a reader sees or that stand behind what it sees."""
    for key, old, new in (
        ("shape", pair.old.shape, pair.new.shape),
        ("retains", pair.old.retains, pair.new.retains),
    ):
        before, after = _whole(old, models.old), _whole(new, models.new)
        if before != after:
            what = "shape" if key == "shape" else "storage"
            # The formulas as they were written, unless a dim in them is what changed.
            was, is_ = (shape_text(one) if one else None for one in (old, new))
            if was == is_:
                was, is_ = before, after
            yield replaced(pair, key, what, was, is_)
    if _entries(models.old, pair.old) != _entries(models.new, pair.new):
        message = f"The entries of `{pair.name}` have other shapes or counts."
        yield Problem(value_of(pair.new, "entries"), message)


def _entries(schema: Schema, one: Described) -> list[tuple[str | None, str]]:
    return [(_whole(entry.shape, schema), size_text(entry.count)) for entry in one.entries]


def _whole(shape: Shape | None, schema: Schema) -> str | None:
    return shape_text(written_out(shape, schema)) if shape else None


def shrunk_rings(models: Models, kept: Kept) -> Iterator[Problem]:
    """Rings that drop what they kept, at the params that ship."""
    if kept.flipped or not _shrunk(models, kept) or kept.new.ring is None:
        return
    size = _size(models.new, kept.new.ring)
    was = "no bound"
    if kept.old.ring is not None:
        was = f"{_size(models.old, kept.old.ring)}"
    message = f"The ring of `{kept.name}` keeps {size}, and kept {was} before."
    if kept.old.ring is None:
        message = f"`{kept.name}` keeps its newest {size}, and kept all before."
    yield Problem(value_of(kept.new, "ring"), message)


def changed_rings(models: Models, kept: Kept) -> Iterator[Problem]:
    """Rings that keep more, or something else, or are none any more."""
    old, new = (_ring_text(field.ring) for field in (kept.old, kept.new))
    if not kept.flipped and old != new and not _shrunk(models, kept):
        yield replaced(kept, "ring", "ring", old, new)


def _shrunk(models: Models, kept: Kept) -> bool:
    if kept.new.ring is None:
        return False
    if kept.old.ring is None:
        return kept.new.kind == kept.old.kind
    before, after = _size(models.old, kept.old.ring), _size(models.new, kept.new.ring)
    return before is not None and after is not None and after < before


def _size(schema: Schema, ring: Ring) -> int | None:
    try:
        return evaluate(ring.size, shipped_params(schema))
    except (FormulaError, KeyError):
        return None


def _ring_text(ring: Ring | None) -> str | None:
    if ring is None:
        return None
    along = "" if ring.along is None else f", along: {ring.along}"
    return f"size: {size_text(ring.size)}{along}"


def grown_bytes(comparison: Comparison) -> Iterator[Found]:
    """Fields that declare more than the threshold lets pass, at the config that ships."""
    for models in comparison.models:
        for kept in _grown(models, comparison.threshold):
            message = f"`{kept.name}` declares {_more(kept.old_bytes, kept.new_bytes)}."
            yield Found(models.new, Problem(_formula(kept.new), message), kept.name)


def grown_totals(comparison: Comparison) -> Iterator[Found]:
    """Devices of a model where no field alone declares that much more, and all together do."""
    for models in comparison.models:
        told = {kept.new.device for kept in _grown(models, comparison.threshold)}
        for device in DEVICES:
            old, new = total(models.old_bytes, device), total(models.new_bytes, device)
            if device not in told and _grew(old, new, comparison.threshold):
                message = f"A {models.new.scope} declares {_more(old, new)}, on the {device}."
                yield Found(models.new, Problem(value_in(models.new, "class"), message))


def _grown(models: Models, threshold: Decimal) -> list[Kept]:
    return [kept for kept in models.kept if _grew(kept.old_bytes, kept.new_bytes, threshold)]


def _grew(old: int | None, new: int | None, threshold: Decimal) -> bool:
    return old is not None and new is not None and 100 * new > old * (100 + threshold)


def _more(old: int | None, new: int | None) -> str:
    if not old:
        return f"{nbytes(new or 0)}, and declared nothing before"
    more = Decimal(100 * ((new or 0) - old)) / old
    return f"{nbytes(new or 0)}, and declared {nbytes(old)} before: {more:,.0f} % more"


def _formula(field: Field) -> Span:
    """Where the bytes of a field come from."""
    keys = (key for key in ("retains", "shape", "entries") if key in field.keys)
    return value_of(field, next(keys, ""))
