"""From a state class to the text of a schema that loads.

The language is asked, not remembered: every field is loaded as it is drafted, and the first wording
that the checker takes is printed. What no wording says is printed as a comment, with the checker's
own reason.
"""

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import count

from attrs import define, evolve, frozen

from .. import rules
from ..emit.templates import render
from ..findings import Report, Severity
from ..load import load
from ..names import EMITTED, KEYWORDS, SURFACE, is_identifier, spelling
from ..source import decode
from .clears import Clear
from .fields import Key, Spoken, bound_unknown, wordings
from .pipelines import Store
from .records import DraftedRecord, records_in
from .state import Attribute, State, default_of_argument
from .text import first_sentence, literal, one_line, quoted, word
from .types import show, without_none

# A field of which nothing can be wrong, for schemas that ask about something else.
_PROBE_KEYS = (Key("placement", "attr"), Key("type", "int | None"), Key("reason", "TODO"))

# What only a person can say, and the checker asks for: a draft leaves it out and invents nothing.
ASKED = frozenset(("todo-reason", "missing-shape", "missing-bound"))

_UNTYPED = "Nothing in the source says its type."
_SUFFIX = re.compile(r"(?:Session|State|Adapter|Request)+$")
_METHODS = ("append_", "reset_", "lend_")


@frozen
class DraftedField:
    """One field of the attribute `kept`.

    `refused` is why the language cannot say it, and it is printed as a comment.
    """

    kept: str
    name: str
    keys: tuple[Key, ...]
    remark: str = ""
    refused: str = ""


@frozen
class DraftedParam:
    name: str
    type: str
    default: str | None
    doc: str


@frozen
class Named:
    """A reset with its doc, or a group with its fields, as YAML."""

    name: str
    value: str


@frozen
class View:
    """What the template shows."""

    source: str
    notes: tuple[str, ...]
    model: str
    class_name: str
    doc: str
    params: tuple[DraftedParam, ...] = ()
    resets: tuple[Named, ...] = ()
    groups: tuple[Named, ...] = ()
    records: tuple[DraftedRecord, ...] = ()
    fields: tuple[DraftedField, ...] = ()


@define(slots=False, eq=False)
class Draft:
    """A schema in the making. `source` is how the class is named on the command line."""

    state: State
    source: str
    stores: tuple[Store, ...] = ()

    @cached_property
    def summary(self) -> str:
        """One line on what was drafted."""
        refused = sum(bool(field.refused) for field in self.fields)
        params = len(self.params)
        said = _counted(len(self.fields), "field")
        said += f" and {_counted(params, 'param')}" if params else ""
        said += f", {refused} of them in comments, since the language cannot say them" * bool(
            refused
        )
        return f"{self.source}: {said}; `session-state check` asks for the rest"

    @cached_property
    def text(self) -> str:
        """The schema."""
        said = {field.kept for field in self.fields if not field.refused}
        held = (one.type for one in self.state.attributes if one.name in said)
        view = evolve(self._head, groups=self._groups, records=records_in(held), fields=self.fields)
        return render("draft.yaml.j2", view)

    @cached_property
    def fields(self) -> tuple[DraftedField, ...]:
        """Every attribute as a field, in the order of the source."""
        return tuple(map(self._field, self.state.attributes))

    @cached_property
    def params(self) -> tuple[DraftedParam, ...]:
        return tuple(map(self._param, self.state.params))

    @cached_property
    def _names(self) -> dict[str, str]:
        """The names that the schema gives to attributes."""
        taken = set(KEYWORDS | SURFACE | EMITTED)
        chosen: dict[str, str] = {}
        for one in (*self.state.params, *self.state.attributes):
            chosen[one.name] = _free(one.name, taken, f"field_{one.line}", _METHODS)
            taken.add(chosen[one.name])
        return chosen

    @cached_property
    def _clears(self) -> dict[Clear, str]:
        """The names of resets and groups; `reset_<name>` is the method of each."""
        prefix = "reset_"
        taken = {name.removeprefix(prefix) for name in SURFACE | EMITTED if name.startswith(prefix)}
        chosen: dict[Clear, str] = {}
        for one in (*self.state.clears.resets, *self.state.clears.groups):
            chosen[one] = _free(one.name, taken | KEYWORDS, "session", ())
            taken.add(chosen[one])
        return chosen

    @cached_property
    def _head(self) -> View:
        node = self.state.members.node
        model = _SUFFIX.sub("", node.name.strip("_")) or node.name.strip("_")
        model = spelling(model) or "Model"
        model = model[0].upper() + model[1:]
        if model.lower() in KEYWORDS or not is_identifier(model):
            model = f"{model}Model"
        documented = first_sentence(_docstring(self.state))
        return View(
            source=one_line(self.source, None),
            notes=self._notes,
            model=word(model),
            class_name=f"{model}Session",
            doc=quoted(documented or f"What {one_line(node.name)} keeps between calls."),
            params=self.params,
            resets=tuple(self._reset(one) for one in self.state.clears.resets),
        )

    @cached_property
    def _notes(self) -> tuple[str, ...]:
        return tuple(map(one_line, self._said()))

    def _said(self) -> Iterator[str]:
        state = self.state
        for name in state.identity:
            yield f"`{name}` is no field: every session has its `session_id`."
        for name in state.handles:
            yield f"`{name}` is no field: it is the session itself."
        for store in self.stores:
            yield f"`{store.name}` (line {store.line}) keeps these by id: the manager takes its place."
        for name in state.clears.ends:
            yield f"`{name}()` is no reset: the end of a session clears everything."
        for name in state.members.unread_bases:
            yield f"`{name}` is a base in another file, and was not read."

    @cached_property
    def _groups(self) -> tuple[Named, ...]:
        said = {field.kept: field.name for field in self.fields if not field.refused}
        groups = []
        for one in self.state.clears.groups:
            names = [name for attribute, name in said.items() if attribute in one.cleared]
            if names:
                groups.append(Named(self._clears[one], f"[{', '.join(names)}]"))
        return tuple(groups)

    def _reset(self, clear: Clear) -> Named:
        doc = first_sentence(clear.doc) or f"What `{clear.source}` clears."
        return Named(self._clears[clear], quoted(doc))

    def _param(self, attribute: Attribute) -> DraftedParam:
        module = self.state.members.module
        default = literal(default_of_argument(self.state, attribute), module)
        type_ = show(attribute.type)
        param = DraftedParam(
            name=self._names[attribute.name],
            type=type_,
            default=None if default == "null" else default,
            doc=quoted(f"The constructor's `{one_line(attribute.name)}`."),
        )
        probe = View(
            source="",
            notes=(),
            model="Probe",
            class_name="ProbeSession",
            doc=quoted("Asks."),
            params=(param,),
            fields=(DraftedField("", f"{param.name}_", _PROBE_KEYS),),
        )
        return evolve(param, default=None) if _refusal(probe) else param

    def _field(self, attribute: Attribute) -> DraftedField:
        spoken = Spoken(self.state.members.module, dict(self._sizes()))
        name = self._names[attribute.name]
        remark = "; ".join(self._remarks(attribute, spoken))
        survives = tuple(
            self._clears[one]
            for one in self.state.clears.resets
            if attribute.name not in one.cleared
        )
        records = records_in([attribute.type])
        refused: list[DraftedField] = []
        for keys in wordings(attribute, survives, spoken):
            drafted = DraftedField(attribute.name, name, tuple(keys), remark)
            why = _refusal(
                evolve(self._head, notes=(), source="", records=records, fields=(drafted,))
            )
            if not why:
                return drafted
            refused.append(evolve(drafted, refused=_UNTYPED if _is_untyped(attribute) else why))
        # The closest to the source is what to make true by hand.
        return refused[0]

    def _sizes(self) -> Iterator[tuple[str, str]]:
        """The params that a size can name, by their attribute and by the constructor's argument."""
        for one in self.state.params:
            yield one.name, self._names[one.name]
            if isinstance(one.start, ast.Name):
                yield one.start.id, self._names[one.name]

    def _remarks(self, attribute: Attribute, spoken: Spoken) -> Iterator[str]:
        yield f"line {attribute.line}"
        if attribute.name != self._names[attribute.name]:
            yield f"`{one_line(attribute.name)}` in the source"
        if attribute.is_family:
            yield "a family: name its axes, and `per`"
        if said := bound_unknown(attribute, spoken):
            yield f"a ring of `{said}`, which has no value in the source"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _is_untyped(attribute: Attribute) -> bool:
    return not without_none(attribute.type)


def _refusal(view: View) -> str:
    """Why the checker takes a schema for more than unfinished; empty where it does not."""
    report = Report()
    schema = load(decode(render("draft.yaml.j2", view).encode(), "draft"), report)
    if schema is not None:
        rules.check(schema, report)
    errors = (
        one.message
        for one in report.findings
        if one.severity is Severity.ERROR and one.code not in ASKED
    )
    return next(errors, "")


def _docstring(state: State) -> str:
    return ast.get_docstring(state.members.node) or ""


def _free(name: str, taken: set[str], otherwise: str, prefixes: tuple[str, ...]) -> str:
    """A name that the schema can give: the attribute's own, or close to it."""
    plain = spelling(name.strip("_")) or otherwise
    if plain in taken or plain in ("l", "O", "I") or plain.startswith(prefixes or ("\0",)):
        plain = f"{plain}_"
    if plain not in taken:
        return plain
    return next(f"{plain}{n}" for n in count(2) if f"{plain}{n}" not in taken)
