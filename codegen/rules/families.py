"""Rules about axes, the families that have them, and the loans of what families keep."""

import keyword
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from ..declared import keys
from ..expressions.sizes import names_in
from ..expressions.types import NAMES, show
from ..model import Axis, Field, Fresh, Handoff, Lent, Param, Plain, Schema
from ..names import is_identifier, spelling
from ..span import Span
from .problem import Problem, did_you_mean, key_of, value_of
from .values import is_param_type

# The kinds of object that are built for families.
_FAMILY_KINDS = frozenset({"EncodeOnce"})
# What is lent, with the field that it is the value of.
Loans = Sequence[tuple[Lent, Field]]
_APPENDED = frozenset({"LatentBuffer", "FrameRing"})


def bad_axes(schema: Schema) -> Iterator[Problem]:
    """Axes whose keys a running session could not know, or not tell apart."""
    params = {param.name: param for param in schema.params}
    dims = {dim.name for dim in schema.dims}
    for axis in schema.axes:
        for name, at in zip(axis.names, axis.name_spans, strict=True):
            yield from _bad_key(name, at)
        if axis.param in params:
            yield from _bad_names_param(axis, params[axis.param])
        if axis.kind == "range":
            for used in names_in(keys(axis)):
                if used.name in dims:
                    message = f"`{used.name}` is a dim, and the keys of a session follow params."
                    yield Problem(used.at, message, f"make `{used.name}` a param")


def _bad_key(name: str, at: Span) -> Iterator[Problem]:
    if not name.strip() or "/" in name:
        message = (
            f"The name `{name}` has a `/` in it, which separates keys."
            if name.strip()
            else "A key without a name cannot be told from none."
        )
        yield Problem(at, message, "use letters, digits and underscores")


def _bad_names_param(axis: Axis, param: Param) -> Iterator[Problem]:
    if not is_param_type(param.type):
        return
    if param.type != NAMES:
        message = (
            f"An axis has its names from a tuple of str; `{param.name}` is {show(param.type)}."
        )
        hint = f'write `type: "{show(NAMES)}"` there, or list the names here'
        yield Problem(axis.value_at, message, hint)
        return
    for key, value in (("default", param.default), ("shipped", param.shipped)):
        if isinstance(value, tuple):
            yield from _bad_names(axis, value, param.keys[key][1])


def _bad_names(axis: Axis, names: tuple[Plain, ...], at: Span) -> Iterator[Problem]:
    texts = [name for name in names if isinstance(name, str)]
    if not names:
        message = f"The axis `{axis.name}` takes its names from here, and there is none."
        yield Problem(at, message, "give one name at least")
    elif len(set(texts)) < len(texts):
        yield Problem(at, f"The axis `{axis.name}` would have a name twice.", "give each name once")
    for name in texts:
        yield from _bad_key(name, at)


def bad_families(schema: Schema) -> Iterator[Problem]:
    """Families with their axes in an order that a captured one cannot have."""
    captured = {axis.name for axis in schema.axes if axis.kind == "captured"}
    for field in schema.fields:
        spans = field.name_spans["per"]
        for index, (name, at) in enumerate(zip(field.per, spans, strict=True)):
            if name not in captured:
                continue
            if len(field.per) == 1:
                message = f"`{name}` is counted when a key before it is written, and there is none."
                yield Problem(at, message, "put another axis before it, or write `range:`")
            elif index < len(field.per) - 1:
                message = f"`{name}` is captured, and only the last axis can be."
                yield Problem(at, message, f"move `{name}` to the end of `per`")


def unknown_axes(schema: Schema) -> Iterator[Problem]:
    """Axes that are named and not declared."""
    if not schema.axes and not schema.complete:
        return
    axes = {axis.name for axis in schema.axes}
    listed = f"the axes are {', '.join(sorted(axes))}" if axes else "declare it in `axes`"
    used = [
        pair for f in schema.fields for pair in zip(f.per, f.name_spans["per"], strict=True)
    ] + [(handoff.by, handoff.by_at) for handoff in schema.handoffs if handoff.by is not None]
    for name, at in used:
        if name not in axes | schema.broken:
            yield Problem(at, f"There is no axis `{name}`.", did_you_mean(name, axes, listed))


def unused_axes(schema: Schema) -> Iterator[Problem]:
    """Axes that no field is kept per; what was refused or misspelt may have meant them."""
    if not schema.complete or any(unknown_axes(schema)):
        return
    used = {name for field in schema.fields for name in field.per}
    for axis in schema.axes:
        if axis.name not in used and is_identifier(axis.name):
            message = f"No field is kept per `{axis.name}`."
            yield Problem(axis.at, message, "delete it, or name it in the `per` of a field")


def unbuilt_families(schema: Schema) -> Iterator[Problem]:
    """Families of a kind that the runtime does not keep per key yet."""
    for field in schema.fields:
        if field.per and field.kind is not None and field.kind not in _FAMILY_KINDS:
            message = f"A family of {field.kind} is part of the schema language, and not built yet."
            yield Problem(key_of(field, "per"), message, "declare a field for each key for now")


def bad_partners(schema: Schema) -> Iterator[Problem]:
    """Fields that cannot be complete together."""
    fields = {field.name: field for field in schema.fields}
    claimed: dict[str, str] = {}
    for field in schema.fields:
        if field.complete_with not in fields:
            continue
        partner = fields[field.complete_with]
        at = value_of(field, "complete_with")
        yield from _bad_pair(field, partner, at)
        for one, other in ((field.name, partner.name), (partner.name, field.name)):
            known = claimed.setdefault(one, other)
            if known != other:
                message = f"`{one}` is complete with `{known}` already, and with no third."
                yield Problem(at, message, f"keep `{known}` or `{other}`")
                break


def _bad_pair(field: Field, partner: Field, at: Span) -> Iterator[Problem]:
    if field is partner:
        message = f"`{field.name}` would be complete with itself, which it is."
        yield Problem(at, message, "take it out, or name the other half")
    elif "per" not in field.keys or "per" not in partner.keys:
        plain = field if "per" not in field.keys else partner
        message = f"Keys are complete together, and `{plain.name}` has none: it has no `per`."
        yield Problem(at, message, "take it out, or keep both per the same axis")
    elif field.per and partner.per and field.per[0] != partner.per[0]:
        message = (
            f"`{field.name}` is kept per `{field.per[0]}` first, and `{partner.name}` "
            f"per `{partner.per[0]}`."
        )
        yield Problem(at, message, "two fields are complete under keys of one first axis")


def unknown_partners(schema: Schema) -> Iterator[Problem]:
    """Fields that are named as a partner or lent, and that the schema does not have."""
    fields = {field.name for field in schema.fields}
    used = [
        (field.complete_with, value_of(field, "complete_with"))
        for field in schema.fields
        if field.complete_with is not None
    ]
    used += [(lent.field, lent.field_at) for handoff in schema.handoffs for lent in handoff.lend]
    for name, at in used:
        if name not in fields:
            hint = did_you_mean(name, fields, "name a field of this schema")
            yield Problem(at, f"There is no field `{name}`.", hint)


def bad_handoffs(schema: Schema) -> Iterator[Problem]:
    """Loans of what has no one value to lend, or none to take back."""
    fields = {field.name: field for field in schema.fields}
    captured = {axis.name for axis in schema.axes if axis.kind == "captured"} | schema.broken
    axes = {None, *(axis.name for axis in schema.axes)}
    for handoff in schema.handoffs:
        first: dict[str, Lent] = {}
        for lent in handoff.lend:
            other = first.setdefault(lent.field, lent)
            if other is not lent:
                message = f"`{lent.field}` is lent as `{other.attribute}` already."
                yield Problem(lent.field_at, message, "one attribute is taken back, so keep one")
        yield from _bad_fresh(handoff)
        loans = [(lent, fields[name]) for name, lent in first.items() if name in fields]
        # Of what the schema does not say, nothing is known to be wrong.
        loans = [(lent, field) for lent, field in loans if field.per or "per" not in field.keys]
        if handoff.by in axes:
            yield from _bad_keys(handoff, loans)
            yield from _bad_loans(handoff, loans, captured)


def _bad_fresh(handoff: Handoff) -> Iterator[Problem]:
    fields = {lent.attribute: lent.field for lent in handoff.lend}
    for fresh in handoff.fresh:
        if fresh.attribute in fields:
            message = f"`{fresh.attribute}` is lent the field `{fields[fresh.attribute]}` already."
            hint = "what a session keeps is lent, anything else is fresh: keep one of the two"
            yield Problem(fresh.at, message, hint)


def _bad_keys(handoff: Handoff, loans: Loans) -> Iterator[Problem]:
    """A loan under a key of another axis than that of the fields; where all agree, said once."""
    kept = {_first_axis(field) for _, field in loans}
    asked = f"by `{handoff.by}`" if handoff.by else "without `by`"
    if len(kept) == 1 and (axis := kept.pop()) != handoff.by:
        how = f"is kept per `{axis}`" if axis else "has one value"
        message = f"What `{handoff.name}` lends {how}, and is lent {asked}."
        yield Problem(handoff.by_at, message, _lend_by(axis))
        return
    for lent, field in loans:
        axis = _first_axis(field)
        if axis != handoff.by:
            how = f"is kept per `{axis}`" if axis else "has one value"
            message = f"`{field.name}` {how}, and is lent {asked}."
            yield Problem(lent.field_at, message, _lend_by(axis))


def _first_axis(field: Field) -> str | None:
    return field.per[0] if field.per else None


def _lend_by(axis: str | None) -> str:
    return f"lend it `by: {axis}`" if axis else "lend it without `by`"


def _bad_loans(handoff: Handoff, loans: Loans, captured: AbstractSet[str]) -> Iterator[Problem]:
    for lent, field in loans:
        if _first_axis(field) != handoff.by:
            continue
        if not set(field.per[1:]) <= captured:
            message = f"Under one `{handoff.by}` the field `{field.name}` has many values."
            hint = "only a captured axis may follow, whose values are lent as a list"
            yield Problem(lent.field_at, message, hint)
        elif field.placement == "object" and field.kind in _APPENDED and not field.view:
            message = f"`{field.name}` is an object that is appended to, and cannot be taken back."
            yield Problem(lent.field_at, message, "give it a `view:`, or lend an attr")


def bad_attributes(schema: Schema) -> Iterator[Problem]:
    """Attributes of a borrower that no Python object has."""
    for handoff in schema.handoffs:
        attributes: tuple[Lent | Fresh, ...] = (*handoff.lend, *handoff.fresh)
        for one in attributes:
            if not is_identifier(one.attribute) or keyword.iskeyword(one.attribute):
                close = spelling(one.attribute)
                message = f"`{one.attribute}` is not a name that an attribute can have."
                known = close is None or keyword.iskeyword(close)
                hint = "write what stands behind the dot" if known else f"call it `{close}`"
                yield Problem(one.at, message, hint)
