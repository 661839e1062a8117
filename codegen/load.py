"""From YAML nodes to the model, with every finding in one run."""

from collections.abc import Callable

from . import language
from .findings import Report
from .load_defaults import read_default
from .load_families import load_axis, load_handoff
from .load_fields import as_device, as_positive, load_field, load_record, read_reason
from .load_keys import Keys, KeySpans, named_entries, one_of
from .model import (
    Argument,
    Axis,
    Device,
    Dim,
    Elsewhere,
    Field,
    Group,
    Handoff,
    Param,
    Record,
    Reset,
    ResetRule,
    Schema,
    Scope,
)
from .nodes import Entry, Mapping, Node
from .place import working_on
from .scalars import (
    Reading,
    T,
    as_condition,
    as_filled_text,
    as_integer,
    as_list,
    as_size,
    as_type,
    as_word,
    as_words,
    is_empty,
)
from .source import Source, parse
from .span import Span

SCOPES: dict[str, Scope] = {"session": "session", "generation": "generation"}
DEFAULT_DEVICE: Device = "accelerator"


def load(source: Source, report: Report) -> Schema | None:
    """The schema that `source` holds, or None where there is none to speak of.

    What was not understood is reported and left neutral, so that the rules can run on the rest.
    """
    root = parse(source, report)
    return None if root is None else _Loader(root, Reading(source, report)).schema()


class _Loader:
    """Loads one schema; `_broken` collects what was declared and refused."""

    def __init__(self, root: Mapping, reading: Reading) -> None:
        self._root = root
        self._reading = reading
        self._broken: set[str] = set()
        self._default_spans: KeySpans = {}
        reading.records.update(dict.fromkeys(_names_under(root, "records")))

    def schema(self) -> Schema:
        reading = self._reading
        keys = Keys(self._root, language.SCHEMA, reading, Span(1, 1, 1, 1))
        keys.read("schema", _as_version)
        # Records first: all that has a type may name them.
        records = keys.read_or("records", self._records, ())
        defaults = keys.read_or("defaults", self._defaults, (DEFAULT_DEVICE, None))
        params = keys.read_or("params", self._params, ())
        dims = keys.read_or("dims", self._dims, ())
        axes = keys.read_or("axes", self._axes, ())
        fields = self._fields(keys, defaults[0])
        # Conditions last: they see all that has a name.
        when = keys.read_or("reset_when", self._reset_when, ((), ()))
        return Schema(
            path=reading.source.path,
            model=keys.read_or("model", as_filled_text, ""),
            class_name=keys.read_or("class", as_filled_text, ""),
            doc=keys.read_or("doc", as_filled_text, ""),
            scope=keys.read_or("scope", one_of(SCOPES, written="scope"), "session"),
            horizon=keys.read("horizon", as_positive),
            params=params,
            dims=dims,
            axes=axes,
            default_device=defaults[0],
            default_dtype=defaults[1],
            resets=keys.read_or("resets", self._resets, ()),
            arguments=when[0],
            reset_rules=when[1],
            groups=keys.read_or("groups", self._groups, ()),
            handoffs=keys.read_or("handoff", self._handoffs, ()),
            elsewhere=keys.read_or("elsewhere", self._elsewhere, ()),
            records=records,
            fields=fields,
            sha256=reading.source.sha256,
            broken=frozenset(self._broken),
            complete=not (reading.unread or reading.report.has_errors_in(reading.source.path)),
            keys={**keys.spans, **self._default_spans},
        )

    def _each(
        self,
        node: Node,
        what: str,
        load_one: Callable[[Entry, Reading], T | None],
        *,
        texts: bool = False,
    ) -> tuple[T, ...]:
        """What the entries of a mapping of names load to; the names of the others are broken."""
        loaded = {
            entry.key.value: load_one(entry, self._reading)
            for entry in named_entries(node, self._reading, what, node.span, texts=texts)
        }
        kept = {name: value for name, value in loaded.items() if value is not None}
        self._broken.update(_names(node) - kept.keys())
        self._reading.declare(kept)
        return tuple(kept.values())

    def _fields(self, keys: Keys, device: Device) -> tuple[Field, ...]:
        at = keys.spans.get("fields", (Span(1, 1, 1, 1),))[0]

        def read(node: Node, reading: Reading) -> tuple[Field, ...]:
            entries = named_entries(node, reading, "`fields`", at)
            if isinstance(node, Mapping) and not node.entries:
                message = "A schema declares at least one field."
                reading.error("missing-key", at, message)
            fields = []
            for entry in entries:
                with working_on(f"field {entry.key.value}"):
                    fields.append(load_field(entry, reading, device))
            reading.declare(field.name for field in fields)
            return tuple(fields)

        return keys.read_or("fields", read, ())

    def _defaults(self, node: Node, reading: Reading) -> tuple[Device, str | None]:
        keys = Keys(node, language.DEFAULTS, reading, node.span)
        device = keys.read("device", as_device)
        self._default_spans = {f"defaults.{key}": spans for key, spans in keys.spans.items()}
        return device or DEFAULT_DEVICE, keys.read("dtype", as_filled_text)

    def _records(self, node: Node, reading: Reading) -> tuple[Record, ...]:
        return self._each(node, "`records`", load_record)

    def _params(self, node: Node, reading: Reading) -> tuple[Param, ...]:
        return self._each(node, "`params`", _as_param)

    def _dims(self, node: Node, reading: Reading) -> tuple[Dim, ...]:
        return self._each(node, "`dims`", _as_dim)

    def _axes(self, node: Node, reading: Reading) -> tuple[Axis, ...]:
        return self._each(node, "`axes`", load_axis)

    def _resets(self, node: Node, reading: Reading) -> tuple[Reset, ...]:
        return self._each(node, "`resets`", _as_reset, texts=True)

    def _reset_when(
        self, node: Node, reading: Reading
    ) -> tuple[tuple[Argument, ...], tuple[ResetRule, ...]]:
        keys = Keys(node, language.RESET_WHEN, reading, node.span)
        if keys.read("rules", is_empty):
            message = "`rules` is empty: nothing would ever be reset by it."
            reading.error("missing-key", keys.spans["rules"][1], message, "take `reset_when` out")
        arguments = keys.read_or("arguments", self._arguments, ())
        return arguments, keys.read_or("rules", as_list(_as_reset_rule), ())

    def _arguments(self, node: Node, reading: Reading) -> tuple[Argument, ...]:
        return self._each(node, "`arguments`", _as_argument)

    def _groups(self, node: Node, reading: Reading) -> tuple[Group, ...]:
        groups = []
        for entry in named_entries(node, reading, "`groups`", node.span):
            words = as_words(entry.value, reading)
            if words == ():
                message = f"The group `{entry.key.value}` has no field to clear."
                reading.error("missing-key", entry.value.span, message, "list its fields")
            elif words is not None:
                names = tuple(word.text for word in words)
                spans = tuple(word.at for word in words)
                groups.append(Group(entry.key.value, names, entry.key.span, spans))
        return tuple(groups)

    def _handoffs(self, node: Node, reading: Reading) -> tuple[Handoff, ...]:
        entries = named_entries(node, reading, "`handoff`", node.span)
        handoffs = (load_handoff(entry, reading) for entry in entries)
        return tuple(handoff for handoff in handoffs if handoff is not None)

    def _elsewhere(self, node: Node, reading: Reading) -> tuple[Elsewhere, ...]:
        values = []
        for entry in named_entries(node, reading, "`elsewhere`", node.span):
            name, at = entry.key.value, entry.key.span
            keys = Keys(entry.value, language.ELSEWHERE, reading, at)
            closes_with = keys.read("closes_with", as_word)
            values.append(
                Elsewhere(
                    name=name,
                    owner=keys.read_or("owner", as_filled_text, ""),
                    reason=read_reason(keys, entry.key, reading),
                    closes_with=closes_with.text if closes_with else None,
                    at=at,
                    keys=keys.spans,
                )
            )
        return tuple(values)


def _as_version(node: Node, reading: Reading) -> int | None:
    version = as_integer(node, reading)
    if version not in (None, 1):
        message = f"This generator reads version 1 of the schema language, not {version}."
        reading.error("bad-choice", node.span, message, "write `schema: 1`")
    return version


def _as_param(entry: Entry, reading: Reading) -> Param | None:
    keys = Keys(entry.value, language.PARAM, reading, entry.key.span)
    type_ = keys.read("type", as_type)
    default, shipped = (read_default(keys, key, type_) for key in ("default", "shipped"))
    doc = keys.read_or("doc", as_filled_text, "")
    if type_ is None:
        return None
    return Param(
        name=entry.key.value,
        type=type_,
        default=default,
        minimum=keys.read("min", as_integer),
        maximum=keys.read("max", as_integer),
        shipped=shipped,
        doc=doc,
        at=entry.key.span,
        keys=keys.spans,
    )


def _as_dim(entry: Entry, reading: Reading) -> Dim | None:
    size = as_size(entry.value, reading)
    return None if size is None else Dim(entry.key.value, size, entry.key.span)


def _as_reset(entry: Entry, reading: Reading) -> Reset:
    return Reset(entry.key.value, as_filled_text(entry.value, reading) or "", entry.key.span)


def _as_argument(entry: Entry, reading: Reading) -> Argument | None:
    type_ = as_type(entry.value, reading)
    return None if type_ is None else Argument(entry.key.value, type_, entry.key.span)


def _as_reset_rule(node: Node, reading: Reading) -> ResetRule | None:
    keys = Keys(node, language.RESET_RULE, reading, node.span)
    reset, condition = keys.read("reset", as_word), keys.read("if", as_condition)
    if reset is None or condition is None:
        return None
    return ResetRule(reset.text, condition, node.span, reset.at)


def _names(node: Node) -> set[str]:
    entries = node.entries if isinstance(node, Mapping) else ()
    return {entry.key.value for entry in entries}


def _names_under(root: Mapping, key: str) -> set[str]:
    found = (entry.value for entry in root.entries if entry.key.value == key)
    return {name for node in found for name in _names(node)}
