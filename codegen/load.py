"""From YAML nodes to the model, with every finding in one run."""

from . import load_keys as tables
from .findings import Report
from .load_defaults import read_default
from .load_families import load_axis, load_handoff
from .load_fields import DEVICES, as_positive, load_field, read_reason
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
        reading.records = frozenset(_names_under(root, "records"))

    def schema(self) -> Schema:
        reading = self._reading
        keys = Keys(self._root, tables.SCHEMA, reading, Span(1, 1, 1, 1))
        keys.read("schema", _as_version)
        defaults = keys.read_or("defaults", self._defaults, (DEFAULT_DEVICE, None))
        when = keys.read_or("reset_when", self._reset_when, ((), ()))
        return Schema(
            path=reading.source.path,
            model=keys.read_or("model", as_filled_text, ""),
            class_name=keys.read_or("class", as_filled_text, ""),
            doc=keys.read_or("doc", as_filled_text, ""),
            scope=keys.read_or("scope", one_of(SCOPES, written="scope"), "session"),
            horizon=keys.read("horizon", as_positive),
            params=keys.read_or("params", self._params, ()),
            dims=keys.read_or("dims", self._dims, ()),
            axes=keys.read_or("axes", self._axes, ()),
            default_device=defaults[0],
            default_dtype=defaults[1],
            resets=keys.read_or("resets", self._resets, ()),
            arguments=when[0],
            reset_rules=when[1],
            groups=keys.read_or("groups", self._groups, ()),
            handoffs=keys.read_or("handoff", self._handoffs, ()),
            elsewhere=keys.read_or("elsewhere", self._elsewhere, ()),
            fields=self._fields(keys, defaults[0]),
            sha256=reading.source.sha256,
            broken=frozenset(self._broken),
            complete=not reading.report.has_errors_in(reading.source.path),
            keys={**keys.spans, **self._default_spans},
        )

    def _known(self, name: str, value: T) -> T:
        if value is None:
            self._broken.add(name)
        return value

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
            return tuple(fields)

        return keys.read_or("fields", read, ())

    def _defaults(self, node: Node, reading: Reading) -> tuple[Device, str | None]:
        keys = Keys(node, tables.DEFAULTS, reading, node.span)
        device = keys.read("device", one_of(DEVICES, written="device"))
        self._default_spans = {f"defaults.{key}": spans for key, spans in keys.spans.items()}
        return device or DEFAULT_DEVICE, keys.read("dtype", as_filled_text)

    def _params(self, node: Node, reading: Reading) -> tuple[Param, ...]:
        entries = named_entries(node, reading, "`params`", node.span)
        params = (self._known(entry.key.value, _as_param(entry, reading)) for entry in entries)
        return tuple(param for param in params if param is not None)

    def _dims(self, node: Node, reading: Reading) -> tuple[Dim, ...]:
        dims = []
        for entry in named_entries(node, reading, "`dims`", node.span):
            size = self._known(entry.key.value, as_size(entry.value, reading))
            if size is not None:
                dims.append(Dim(entry.key.value, size, entry.key.span))
        return tuple(dims)

    def _axes(self, node: Node, reading: Reading) -> tuple[Axis, ...]:
        entries = named_entries(node, reading, "`axes`", node.span)
        axes = (self._known(entry.key.value, load_axis(entry, reading)) for entry in entries)
        return tuple(axis for axis in axes if axis is not None)

    def _resets(self, node: Node, reading: Reading) -> tuple[Reset, ...]:
        resets = []
        for entry in named_entries(node, reading, "`resets`", node.span, texts=True):
            doc = as_filled_text(entry.value, reading) or ""
            resets.append(Reset(entry.key.value, doc, entry.key.span))
        self._broken.update(_names(node) - {reset.name for reset in resets})
        return tuple(resets)

    def _reset_when(
        self, node: Node, reading: Reading
    ) -> tuple[tuple[Argument, ...], tuple[ResetRule, ...]]:
        keys = Keys(node, tables.RESET_WHEN, reading, node.span)
        arguments = keys.read_or("arguments", self._arguments, ())
        return arguments, keys.read_or("rules", as_list(_as_reset_rule), ())

    def _arguments(self, node: Node, reading: Reading) -> tuple[Argument, ...]:
        arguments = []
        for entry in named_entries(node, reading, "`arguments`", node.span):
            type_ = self._known(entry.key.value, as_type(entry.value, reading))
            if type_ is not None:
                arguments.append(Argument(entry.key.value, type_, entry.key.span))
        return tuple(arguments)

    def _groups(self, node: Node, reading: Reading) -> tuple[Group, ...]:
        groups = []
        for entry in named_entries(node, reading, "`groups`", node.span):
            words = as_words(entry.value, reading)
            if words is not None:
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
            keys = Keys(entry.value, tables.ELSEWHERE, reading, at)
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
    keys = Keys(entry.value, tables.PARAM, reading, entry.key.span)
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


def _as_reset_rule(node: Node, reading: Reading) -> ResetRule | None:
    keys = Keys(node, tables.RESET_RULE, reading, node.span)
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
