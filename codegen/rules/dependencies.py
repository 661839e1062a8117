"""Rules about what a field is derived from and rebuilt from."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from attrs import frozen

from ..model import Field, Schema
from ..span import Span
from .problem import Problem, did_you_mean, key_of


@frozen
class Source:
    """A name that a field depends on, and how."""

    key: str
    name: str
    at: Span


def ending_sources(field: Field) -> Iterator[Source]:
    """The fields with which this one is cleared."""
    for key, names in (
        ("derived_from", field.derived_from),
        ("invalidated_by", field.invalidated_by),
    ):
        for name, at in zip(names, field.name_spans[key], strict=True):
            yield Source(key, name, at)


def rebuilding_sources(field: Field) -> Iterator[Source]:
    """What this field is rebuilt from."""
    if field.recompute:
        for name, at in zip(field.recompute.sources, field.recompute.source_spans, strict=True):
            yield Source("recompute", name, at)


def unknown_sources(schema: Schema) -> Iterator[Problem]:
    """Sources that the schema does not have."""
    fields = {field.name for field in schema.fields}
    elsewhere = {one.name for one in schema.elsewhere}
    for field in schema.fields:
        for source in rebuilding_sources(field):
            if source.name not in fields | elsewhere:
                message = f"There is no field or value of `elsewhere` called `{source.name}`."
                hint = "declare it under `elsewhere`, with its owner, if others keep it"
                yield Problem(
                    source.at, message, did_you_mean(source.name, fields | elsewhere, hint)
                )
        for source in ending_sources(field):
            if source.name in elsewhere:
                message = (
                    f"`{source.name}` is kept elsewhere, and nobody tells the session when it ends."
                )
                hint = f"reset `{field.name}` when it changes, or keep `{source.name}` as a field"
                yield Problem(source.at, message, hint)
            elif source.name not in fields:
                message = f"There is no field `{source.name}`."
                hint = f"`{source.key}` lists fields of this schema"
                yield Problem(source.at, message, did_you_mean(source.name, fields, hint))


def missing_permissions(schema: Schema) -> Iterator[Problem]:
    """Keys that ask the manager to do what `manager_may` does not allow."""
    asked = {"ring": "accumulate", "grows": "accumulate", "recompute": "rebuild"}
    for field in schema.fields:
        if not _permissions_are_known(field):
            continue
        for key, permission in asked.items():
            if key in field.keys and permission not in field.manager_may:
                message = (
                    f"`{key}` asks the manager to {permission}, which `manager_may` does not list."
                )
                hint = f"add `{permission}` to `manager_may`, or take `{key}` out"
                yield Problem(key_of(field, key), message, hint)


def missing_recomputes(schema: Schema) -> Iterator[Problem]:
    """Permissions to let go of a value, or to rebuild it, that say no way back."""
    for field in schema.fields:
        if not _permissions_are_known(field):
            continue
        spans = dict(zip(field.manager_may, field.name_spans["manager_may"], strict=True))
        if "release" in spans and field.is_staged:
            message = f"`{field.name}` may be released, and what is staged could not be rebuilt."
            yield Problem(spans["release"], message, "take `release` or `stage` out")
        elif "recompute" in field.keys:
            continue
        elif "rebuild" in spans:
            message = f"`{field.name}` may be rebuilt, and nothing says from what."
            hint = "add `recompute: {from: [...], cost: ..., doc: ...}`"
            yield Problem(spans["rebuild"], message, hint)
        elif "release" in spans:
            message = f"`{field.name}` may be released, and nothing would bring it back."
            hint = "add `rebuild` and `recompute:`, or take `release` out; resets clear it anyway"
            yield Problem(spans["release"], message, hint)


def _permissions_are_known(field: Field) -> bool:
    """Whether all that `manager_may` lists was read; one that was refused may be the missing."""
    written = field.name_spans["manager_may"]
    return field.placement == "object" and 0 < len(field.manager_may) == len(written)


Graph = dict[str, dict[str, Source]]


def cycles(schema: Schema) -> Iterator[Problem]:
    """Fields that are rebuilt from themselves, or whose end is their own condition."""
    rebuilt = _graph(schema, rebuilding_sources)
    ended = _graph(schema, ending_sources)
    yield from _cycles(rebuilt, "is rebuilt from itself", "name a source that others keep")
    yield from _cycles(ended, "is cleared by itself", "take out the arrow that leads back")
    # What is left has none of its own kind; letting go of one field would take its source along.
    both = {name: ended[name] | rebuilt[name] for name in ended}
    hint = "rebuild it from something that outlives it"
    yield from _cycles(both, "is rebuilt from what ends with it", hint)


def _graph(schema: Schema, sources: Callable[[Field], Iterable[Source]]) -> Graph:
    """For each field those of its sources that are fields."""
    names = {field.name for field in schema.fields}
    return {
        field.name: {source.name: source for source in sources(field) if source.name in names}
        for field in schema.fields
    }


def _cycles(graph: Graph, said: str, hint: str) -> Iterator[Problem]:
    """One problem for each cycle, at its first field in the schema; the graph has none afterwards."""
    order = {name: index for index, name in enumerate(graph)}
    while path := _cycle(graph):
        first = min(range(len(path)), key=lambda index: order[path[index]])
        path = path[first:] + path[:first]
        arrows = " -> ".join([*path, path[0]])
        entry = graph[path[0]].pop(path[1 % len(path)])
        yield Problem(entry.at, f"`{path[0]}` {said}: {arrows}.", hint)


def _cycle(graph: Mapping[str, Mapping[str, Source]]) -> list[str]:
    """The names around one cycle, each naming the next; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # Each predecessor precedes in the error what names it.
        path: list[str] = error.args[1]
        return path[:0:-1]
    return []


def unstaged_sources(schema: Schema) -> Iterator[Problem]:
    """Staged fields that a discard would bring back after what ended them was replaced for good."""
    fields = {field.name: field for field in schema.fields}
    for field in schema.fields:
        for source in ending_sources(field) if field.is_staged else ():
            kept = fields.get(source.name)
            if kept is not None and not kept.is_staged and _is_read(kept):
                message = (
                    f"`{field.name}` is staged and `{source.name}` is not: a discard would bring "
                    f"`{field.name}` back, and leave `{source.name}` replaced."
                )
                hint = f"stage `{source.name}` too, or clear `{field.name}` by a reset"
                yield Problem(source.at, message, hint)


def _is_read(field: Field) -> bool:
    """Whether placement and permissions were understood, so that what is absent is not there."""
    return field.placement == "attr" or _permissions_are_known(field)


def outliving(schema: Schema) -> Iterator[Problem]:
    """Fields that a reset leaves without what they are derived from or would be rebuilt from."""
    fields = {field.name: field for field in schema.fields}
    closing = {one.name: one.closes_with for one in schema.elsewhere}
    declared = {reset.name for reset in schema.resets}
    for field in schema.fields:
        found: dict[str, Source] = {}
        for source in (*ending_sources(field), *rebuilding_sources(field)):
            found.setdefault(source.name, source)
        for source in found.values():
            kept = fields.get(source.name)
            for reset in field.survives:
                ends = reset not in kept.survives if kept else closing.get(source.name) == reset
                if ends and reset in declared:
                    yield _outlives(field, source, reset)
    yield from _outliving_groups(schema, fields)


def _outlives(field: Field, source: Source, reset: str) -> Problem:
    needed = {
        "recompute": "from which it would be rebuilt",
        "derived_from": "from which it is derived",
        "invalidated_by": "which invalidates it",
    }[source.key]
    message = f"`{field.name}` survives `{reset}`; `{source.name}`, {needed}, does not."
    at = field.name_spans["survives"][field.survives.index(reset)]
    return Problem(at, message, f"let both survive `{reset}`, or neither")


def _outliving_groups(schema: Schema, fields: Mapping[str, Field]) -> Iterator[Problem]:
    """Groups that clear a source and leave what could no longer be rebuilt."""
    for group in schema.groups:
        for field in schema.fields:
            if field.name in group.fields:
                continue
            ended = {source.name for source in ending_sources(field)}
            for source in rebuilding_sources(field):
                if source.name in group.fields and source.name not in ended:
                    message = (
                        f"`reset_{group.name}()` clears `{source.name}`, and leaves "
                        f"`{field.name}`, which could not be rebuilt without it."
                    )
                    hint = f"add `{field.name}` to the group, or `invalidated_by: [{source.name}]`"
                    yield Problem(group.field_spans[group.fields.index(source.name)], message, hint)
