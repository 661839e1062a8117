"""What changed of a field that both sides have, and which fields came and went."""

from collections.abc import Callable, Iterable, Iterator

from ..declared import declarations
from ..emit.python import plain_text, size_text
from ..expressions.types import members, show
from ..model import Default, Described, Field, Grows, Joined, Schema, Unset
from ..rules.problem import Problem, key_of, value_of
from ..rules.reasons import words
from ..span import Span
from .change import CompareFields, Found
from .meaning import meaning
from .pairs import Comparison, Kept, Models, Pair

Text = str | None


def changed(
    key: str,
    what: str,
    text: Callable[[Schema, Field], Text],
    where: Callable[[Kept], bool] = lambda kept: True,
) -> CompareFields:
    """Whether what `text` says of a field is another; None where the field says nothing.

    `where` picks the fields that can say it on both sides. For the others it comes and goes with
    their placement or kind, which is told once.
    """

    def compare(models: Models, kept: Kept) -> Iterator[Problem]:
        old, new = text(models.old, kept.old), text(models.new, kept.new)
        if old != new and where(kept):
            yield replaced(kept, key, what, old, new)

    return compare


def replaced(pair: Pair, key: str, what: str, old: Text, new: Text) -> Problem:
    """The problem of a value that is another now."""
    was, is_ = (f"`{text}`" if text is not None else "not given" for text in (old, new))
    return Problem(value_of(pair.new, key), f"The {what} of `{pair.name}` was {was}, and is {is_}.")


def changed_dtypes(models: Models, pair: Pair) -> Iterator[Problem]:
    """Elements of another dtype; those of a record's members are the record's."""
    old, new = _dtype(models.old, pair.old), _dtype(models.new, pair.new)
    if old != new:
        yield replaced(pair, "dtype", "dtype", old, new)


def _dtype(schema: Schema, one: Described) -> Text:
    has_elements = one.shape or one.retains or one.entries
    return (one.dtype or schema.default_dtype) if has_elements else None


def device_of(schema: Schema, field: Field) -> Text:
    return field.device if declarations(schema, field) else None


def kind_of(schema: Schema, field: Field) -> Text:
    return field.kind


def written_of(schema: Schema, field: Field) -> Text:
    return field.written


def partner_of(schema: Schema, field: Field) -> Text:
    return field.complete_with


def axes_of(schema: Schema, field: Field) -> Text:
    return ", ".join(field.per) or None


def default_of(schema: Schema, field: Field) -> Text:
    return default_text(field.default)


def default_text(default: Default | Unset) -> Text:
    if isinstance(default, tuple):
        return f"[{', '.join(map(plain_text, default))}]"
    return None if isinstance(default, Unset) else plain_text(default)


def view_of(schema: Schema, field: Field) -> Text:
    return _view_text(field.view) if field.view else None


def _view_text(view: Joined) -> str:
    return f"{view.how}: {view.dim}"


def growth_of(schema: Schema, field: Field) -> Text:
    return _growth_text(field.grows) if field.grows else None


def _growth_text(grows: Grows) -> str:
    return f"{grows.items} every {grows.every}"


def changed_types(models: Models, pair: Pair) -> Iterator[Problem]:
    """Values of another type; only what is assigned has None where there is no value yet."""
    old, new = (_types(one, pair.alike) for one in (pair.old, pair.new))
    if old != new:
        was, is_ = (show(one.type) if one.type else None for one in (pair.old, pair.new))
        yield replaced(pair, "type", "type", was, is_)


def _types(one: Described, with_none: bool) -> list[str]:
    types = map(show, members(one.type)) if one.type else ()
    return sorted(text for text in types if with_none or text != "None")


def flipped_placements(models: Models, kept: Kept) -> Iterator[Problem]:
    """Fields that the manager could act on and cannot any more, or the other way round."""
    if not kept.flipped:
        return
    if kept.new.placement == "object":
        what = f"was an attr, and is an object: the manager may now {_and(kept.new.manager_may)} it"
    else:
        what = (
            "was an object, and is an attr: the manager may no longer "
            f"{_or(kept.old.manager_may)} it"
        )
    yield Problem(value_of(kept.new, "placement"), f"`{kept.name}` {what}.")


def _and(names: Iterable[str]) -> str:
    return " and ".join(names) or "act on"


def _or(names: Iterable[str]) -> str:
    return " or ".join(names) or "act on"


def stale_reasons(models: Models, kept: Kept) -> Iterator[Problem]:
    """Reasons of a placement that was given up."""
    if kept.flipped and words(kept.old.reason) == words(kept.new.reason):
        message = (
            f"`{kept.name}` is {_article(kept.new)} now, and this is still the reason why it was "
            f"{_article(kept.old)}."
        )
        hint = f"say why `{kept.name}` is {_article(kept.new)}"
        yield Problem(value_of(kept.new, "reason"), message, hint)


def _article(field: Field) -> str:
    return "an object" if field.placement == "object" else "an attr"


def added_permissions(models: Models, kept: Kept) -> Iterator[Problem]:
    """What the manager may do now and could not before."""
    for permission in kept.new.manager_may:
        if permission not in kept.old.manager_may and not kept.flipped:
            at = _listed_at(kept.new, "manager_may", permission)
            yield Problem(at, f"The manager may now {permission} `{kept.name}`.")


def removed_permissions(models: Models, kept: Kept) -> Iterator[Problem]:
    """What the manager could do and may not any more."""
    for permission in kept.old.manager_may:
        if permission not in kept.new.manager_may and not kept.flipped:
            message = f"The manager may no longer {permission} `{kept.name}`."
            yield Problem(key_of(kept.new, "manager_may"), message)


def changed_survivors(models: Models, kept: Kept) -> Iterator[Problem]:
    """Resets of both sides that clear a field on one of them and spare it on the other."""
    resets = {reset.name for reset in models.old.resets}
    for reset in models.new.resets:
        before, after = (reset.name in one.survives for one in (kept.old, kept.new))
        if reset.name not in resets or before == after:
            continue
        what = "survives" if after else "is cleared by"
        did = "cleared it" if after else "it survived"
        message = f"`{kept.name}` {what} `{reset.name}`, which {did} before."
        yield Problem(_listed_at(kept.new, "survives", reset.name), message)


def changed_recomputes(models: Models, kept: Kept) -> Iterator[Problem]:
    """Fields that are rebuilt from something else, at another cost, or not at all."""
    if kept.flipped:
        return
    old, new = (_recompute(field) for field in (kept.old, kept.new))
    if old == new:
        return
    before, after = old or "not rebuilt", new or "not rebuilt"
    message = f"`{kept.name}` was {before}, and is {after}."
    yield Problem(value_of(kept.new, "recompute"), message)


def _recompute(field: Field) -> str | None:
    if field.recompute is None:
        return None
    sources = _and(f"`{source}`" for source in sorted(field.recompute.sources))
    return f"rebuilt from {sources} at `{size_text(field.recompute.cost)}`"


def changed_invalidations(models: Models, kept: Kept) -> Iterator[Problem]:
    """Fields that another field now takes along, or no longer takes along."""
    old, new = ({*field.invalidated_by, *field.derived_from} for field in (kept.old, kept.new))
    for source in sorted(old ^ new):
        key = "derived_from" if source in kept.new.derived_from else "invalidated_by"
        message = f"`{kept.name}` is cleared with `{source}` now, and was kept before."
        if source in old:
            message = f"`{kept.name}` is kept when `{source}` is cleared, and was cleared with it."
        yield Problem(_listed_at(kept.new, key, source), message)


def _listed_at(field: Field, key: str, name: str) -> Span:
    """Where a key lists a name, or the key where it does not."""
    names: tuple[str, ...] = getattr(field, key)
    spans = field.name_spans.get(key, ())
    return dict(zip(names, spans, strict=False)).get(name, key_of(field, key))


def renamed_fields(models: Models, kept: Kept) -> Iterator[Problem]:
    """Fields under another name, which `renamed_from` says or their meaning gives away."""
    if kept.declared_renamed:
        message = f"`{kept.old.name}` is called `{kept.name}` now."
        yield Problem(value_of(kept.new, "renamed_from"), message)
    elif kept.renamed:
        message = f"`{kept.old.name}` is gone, and `{kept.name}` is just like it."
        hint = f"if it is the same, write `renamed_from: {kept.old.name}`"
        yield Problem(kept.new.at, message, hint)


def removed_fields(comparison: Comparison) -> Iterator[Found]:
    """Fields that no session has any more."""
    for models in comparison.models:
        at = models.new.keys["fields"][0] if "fields" in models.new.keys else Span(1, 1, 1, 1)
        for field in models.removed:
            message = f"The field `{field.name}` of `{models.new.class_name}` is gone."
            hint = f"if it has another name now, write `renamed_from: {field.name}` there"
            yield Found(models.new, Problem(at, message, hint), field.name)


def added_fields(comparison: Comparison) -> Iterator[Found]:
    """Fields that no session had."""
    for models in comparison.models:
        for field in models.added:
            message = f"`{field.name}` is a new field: {_article(field)}."
            yield Found(models.new, Problem(field.at, message), field.name)


def edited_reasons(models: Models, kept: Kept) -> Iterator[Problem]:
    """Reasons in other words, for the placement that it was."""
    if kept.old.reason != kept.new.reason:
        message = f"The reason of `{kept.name}` is in other words."
        yield Problem(value_of(kept.new, "reason"), message)


def edited_notes(models: Models, kept: Kept) -> Iterator[Problem]:
    """What else is said about a field."""
    for key, old, new in (
        ("revisit", kept.old.revisit, kept.new.revisit),
        ("bounded_by", kept.old.bounded_by, kept.new.bounded_by),
        ("measured", meaning(kept.old.measured), meaning(kept.new.measured)),
        ("recompute", _doc(kept.old), _doc(kept.new)),
    ):
        if old != new and not (key == "recompute" and None in (old, new)):
            message = f"`{key}` of `{kept.name}` says something else."
            yield Problem(value_of(kept.new, key), message)


def _doc(field: Field) -> str | None:
    return field.recompute.doc if field.recompute else None
