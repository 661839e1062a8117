"""What changed of a model besides its fields: its names, params, resets, groups and loans."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from ..emit.python import condition_text
from ..expressions.ast import Number
from ..expressions.types import show
from ..model import Axis, Fresh, Handoff, Lent, Param, Schema, Unset
from ..rules.problem import Problem, value_in, value_of
from ..span import Span
from .change import CompareModels, Found
from .fields import default_text
from .meaning import meaning
from .pairs import Comparison, Models


class Named(Protocol):
    """A part of a schema that has a name."""

    @property
    def name(self) -> str: ...

    @property
    def at(self) -> Span: ...


N = TypeVar("N", bound=Named)

Parts = Callable[[Schema], Iterable[N]]


def removed(key: str, what: str, parts: Parts[Named]) -> CompareModels:
    """Whether a part of the old side is gone, where `key` lists the parts."""

    def compare(models: Models) -> Iterator[Problem]:
        after = by_name(parts(models.new))
        for one in parts(models.old):
            if one.name not in after:
                yield Problem(_list_in(models.new, key), f"The {what} `{one.name}` is gone.")

    return compare


def added(what: str, parts: Parts[Named]) -> CompareModels:
    """Whether a part of the new side was not there before."""

    def compare(models: Models) -> Iterator[Problem]:
        before = by_name(parts(models.old))
        for one in parts(models.new):
            if one.name not in before:
                yield Problem(one.at, f"The {what} `{one.name}` is new.")

    return compare


def _list_in(schema: Schema, key: str) -> Span:
    """Where a list of parts was written, or the class that has none."""
    return schema.keys[key][0] if key in schema.keys else value_in(schema, "class")


def by_name(parts: Iterable[N]) -> Mapping[str, N]:
    return {one.name: one for one in parts}


def both(models: Models, parts: Parts[N]) -> Iterator[tuple[N, N]]:
    """The parts that both sides have, before and after."""
    before = by_name(parts(models.old))
    for one in parts(models.new):
        if one.name in before:
            yield before[one.name], one


def removed_models(comparison: Comparison) -> Iterator[Found]:
    """Models that have no schema any more."""
    for schema in comparison.removed:
        message = f"The model `{schema.model}` is gone, with its class `{schema.class_name}`."
        yield Found(schema, Problem(value_in(schema, "model"), message), gone=True)


def added_models(comparison: Comparison) -> Iterator[Found]:
    """Models that had no schema."""
    for schema in comparison.added:
        message = f"`{schema.model}` is a new model."
        yield Found(schema, Problem(value_in(schema, "model"), message))


def renamed_models(models: Models) -> Iterator[Problem]:
    """Models whose generated module has another name."""
    if models.old.module != models.new.module:
        message = (
            f"`{models.old.model}` is called `{models.new.model}` now: its class is in "
            f"`{models.new.module}.py`, and was in `{models.old.module}.py`."
        )
        yield Problem(value_in(models.new, "model"), message)


def renamed_classes(models: Models) -> Iterator[Problem]:
    """Classes of another name."""
    old, new = models.old.class_name, models.new.class_name
    if old != new:
        yield Problem(value_in(models.new, "class"), f"The class was `{old}`, and is `{new}`.")


def changed_scopes(models: Models) -> Iterator[Problem]:
    """Models whose state ends with something else than before."""
    old, new = models.old.scope, models.new.scope
    if old != new:
        message = f"What ended with its {old} ends with its {new} now."
        yield Problem(value_in(models.new, "scope"), message)


def params(schema: Schema) -> tuple[Param, ...]:
    return schema.params


def required_params(models: Models) -> Iterator[Problem]:
    """Params that every caller must give now."""
    before = by_name(models.old.params)
    for param in models.new.params:
        was = before.get(param.name)
        if isinstance(param.default, Unset) and not (was and isinstance(was.default, Unset)):
            had = "has no default any more" if was else "is new and has no default"
            message = f"`{param.name}` {had}: every caller must give it."
            yield Problem(param.at, message, "give it the default that fits existing callers")


def changed_param_types(models: Models) -> Iterator[Problem]:
    """Params that take other values."""
    for old, new in both(models, params):
        if old.type != new.type:
            message = f"The type of `{new.name}` was `{show(old.type)}`, and is `{show(new.type)}`."
            yield Problem(_param_value(new, "type"), message)


def changed_param_defaults(models: Models) -> Iterator[Problem]:
    """Params that mean something else where a caller leaves them out."""
    for old, new in both(models, params):
        before, after = default_text(old.default), default_text(new.default)
        if None not in (before, after) and before != after:
            message = f"The default of `{new.name}` was `{before}`, and is `{after}`."
            yield Problem(_param_value(new, "default"), message)


def narrowed_params(models: Models) -> Iterator[Problem]:
    """Params that refuse values which they took."""
    for old, new in both(models, params):
        if new.minimum is not None and (old.minimum is None or old.minimum < new.minimum):
            message = f"`{new.name}` is {new.minimum} or more now, and could be less."
            yield Problem(_param_value(new, "min"), message)
        if new.maximum is not None and (old.maximum is None or old.maximum > new.maximum):
            message = f"`{new.name}` is {new.maximum} or less now, and could be more."
            yield Problem(_param_value(new, "max"), message)


def widened_params(models: Models) -> Iterator[Problem]:
    """Params that take values which they refused, or need not be given any more."""
    for old, new in both(models, params):
        if old.minimum is not None and (new.minimum is None or new.minimum < old.minimum):
            yield Problem(new.at, f"`{new.name}` may be less than {old.minimum} now.")
        if old.maximum is not None and (new.maximum is None or new.maximum > old.maximum):
            yield Problem(new.at, f"`{new.name}` may be more than {old.maximum} now.")
        if isinstance(old.default, Unset) and not isinstance(new.default, Unset):
            yield Problem(_param_value(new, "default"), f"`{new.name}` may be left out now.")


def added_params(models: Models) -> Iterator[Problem]:
    """Params that a caller may leave out."""
    before = by_name(models.old.params)
    for param in models.new.params:
        if param.name not in before and not isinstance(param.default, Unset):
            yield Problem(param.at, f"The param `{param.name}` is new, and may be left out.")


def _param_value(param: Param, key: str) -> Span:
    return param.keys[key][1] if key in param.keys else param.at


def changed_configs(models: Models) -> Iterator[Problem]:
    """What declared bytes are quoted at: shipped values, dims and the horizon."""
    for old, new in both(models, params):
        if meaning(old.shipped) != meaning(new.shipped):
            message = f"`{new.name}` ships with another value."
            yield Problem(_param_value(new, "shipped"), message)
    for was, dim in both(models, lambda schema: schema.dims):
        if was.size != dim.size:
            given = isinstance(dim.size, Number) and isinstance(was.size, Number)
            what = "ships with another value" if given else "is worked out in another way"
            yield Problem(dim.at, f"`{dim.name}` {what}.")
    if models.old.horizon != models.new.horizon:
        message = f"What grows is quoted at {models.new.horizon or 'no'} steps."
        yield Problem(value_in(models.new, "horizon"), message)


def changed_rules(models: Models) -> Iterator[Problem]:
    """Reset rules of other order, reset or condition: the first place that differs."""
    old, new = (
        [(rule.reset, condition_text(rule.condition)) for rule in schema.reset_rules]
        for schema in (models.old, models.new)
    )
    for place, (was, is_) in enumerate(zip(old, new, strict=False)):
        if was != is_:
            message = (
                f"`reset_reason` answers `{is_[0]}` when `{is_[1]}`; here it answered "
                f"`{was[0]}` when `{was[1]}`."
            )
            yield Problem(models.new.reset_rules[place].at, message)
            return
    if len(new) > len(old):
        reset, condition = new[len(old)]
        message = f"`reset_reason` answers `{reset}` when `{condition}`, which it did not before."
        yield Problem(models.new.reset_rules[len(old)].at, message)
    elif len(new) < len(old):
        reset, condition = old[len(new)]
        message = f"`reset_reason` does not answer `{reset}` when `{condition}` any more."
        yield Problem(_list_in(models.new, "reset_when"), message)


def changed_arguments(models: Models) -> Iterator[Problem]:
    """Arguments of `reset_reason` that a caller gives and should not, or must give now."""
    yield from removed("reset_when", "argument of `reset_reason`", _arguments)(models)
    yield from added("argument of `reset_reason`", _arguments)(models)
    for old, new in both(models, lambda schema: schema.arguments):
        if old.type != new.type:
            message = (
                f"The argument `{new.name}` of `reset_reason` was `{show(old.type)}`, and is "
                f"`{show(new.type)}`."
            )
            yield Problem(new.at, message)


def _arguments(schema: Schema) -> Iterable[Named]:
    return schema.arguments


def changed_groups(models: Models) -> Iterator[Problem]:
    """Groups that clear other fields."""
    for old, new in both(models, lambda schema: schema.groups):
        more = sorted(set(new.fields) - set(old.fields))
        less = sorted(set(old.fields) - set(new.fields))
        if more:
            yield Problem(new.at, f"`reset_{new.name}` clears {_listed(more)} now, too.")
        if less:
            yield Problem(new.at, f"`reset_{new.name}` does not clear {_listed(less)} any more.")


def changed_handoffs(models: Models) -> Iterator[Problem]:
    """Loans that set other attributes, to other values, or by another axis."""
    for old, new in both(models, lambda schema: schema.handoffs):
        before, after = _lent(old), _lent(new)
        if old.by != new.by:
            was, is_ = (f"by `{by}`" if by else "whole" for by in (old.by, new.by))
            message = f"`lend_{new.name}` lends {is_}, and lent {was}."
            yield Problem(new.by_at, message)
        for attribute in sorted(before.keys() | after.keys()):
            was, is_ = (side.get(attribute, "nothing") for side in (before, after))
            if was != is_:
                message = f"`lend_{new.name}` lends {is_} as `{attribute}`, and lent {was}."
                parts: tuple[Lent | Fresh, ...] = (*new.lend, *new.fresh)
                at = {one.attribute: one.at for one in parts}
                yield Problem(at.get(attribute, new.at), message)


def _lent(handoff: Handoff) -> dict[str, str]:
    """What a loan sets each attribute to."""
    fields = {one.attribute: f"`{one.field}`" for one in handoff.lend}
    fresh = {one.attribute: f"a fresh `{default_text(one.value)}`" for one in handoff.fresh}
    return {**fields, **fresh}


def changed_axes(models: Models) -> Iterator[Problem]:
    """Axes whose keys are others."""
    for old, new in both(models, lambda schema: schema.axes):
        if meaning(old) != meaning(new) and not _extends(old, new):
            yield Problem(new.value_at, f"The axis `{new.name}` has other keys.")


def extended_axes(models: Models) -> Iterator[Problem]:
    """Axes with more keys than before."""
    for old, new in both(models, lambda schema: schema.axes):
        if _extends(old, new):
            more = [name for name in new.names if name not in old.names]
            yield Problem(new.value_at, f"The axis `{new.name}` has {_listed(more)} now, too.")


def _extends(old: Axis, new: Axis) -> bool:
    named = bool(old.names) and bool(new.names)
    return named and set(old.names) < set(new.names)


def changed_lifetimes(models: Models) -> Iterator[Problem]:
    """Values of others that end with another event."""
    for old, new in both(models, lambda schema: schema.elsewhere):
        if old.closes_with != new.closes_with:
            was, is_ = (
                f"`{name}`" if name else "no event" for name in (old.closes_with, new.closes_with)
            )
            message = f"`{new.name}` ends with {is_}, and ended with {was}."
            yield Problem(value_of(new, "closes_with"), message)


def changed_owners(models: Models) -> Iterator[Problem]:
    """Values of others that came, went, or have another owner."""
    yield from removed("elsewhere", "value of `elsewhere`", lambda schema: schema.elsewhere)(models)
    yield from added("value of `elsewhere`", lambda schema: schema.elsewhere)(models)
    for old, new in both(models, lambda schema: schema.elsewhere):
        if old.owner != new.owner:
            yield Problem(value_of(new, "owner"), f"`{new.name}` has another owner.")


def edited_reasons(models: Models) -> Iterator[Problem]:
    """Reasons of what others keep, in other words."""
    for old, new in both(models, lambda schema: schema.elsewhere):
        if old.reason != new.reason:
            message = f"The reason of `{new.name}` is in other words."
            yield Problem(value_of(new, "reason"), message)


def edited_docs(models: Models) -> Iterator[Problem]:
    """Docs of the model, its params and its resets."""
    if models.old.doc != models.new.doc:
        yield Problem(value_in(models.new, "doc"), "The model's `doc` says something else.")
    for old, new in both(models, params):
        if old.doc != new.doc:
            message = f"The doc of `{new.name}` says something else."
            yield Problem(_param_value(new, "doc"), message)
    for was, reset in both(models, lambda schema: schema.resets):
        if was.doc != reset.doc:
            yield Problem(reset.at, f"The doc of `{reset.name}` says something else.")


def _listed(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)
