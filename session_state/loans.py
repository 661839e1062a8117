"""Loans: a session's values in another object's attributes for the time of a call."""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .borrowed import Borrowed
from .errors import FieldFrozen, NothingCaptured, raise_all
from .fields import Field, ObjectField
from .keyed import FamilyField
from .objects import EncodeOnce, is_same
from .parts import Part, parts_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .view import SessionView


class Loan(AbstractContextManager[None]):
    """Lends parts of a session to attributes of a borrower, and sets others to `fresh` values.

    On entry each attribute has the value, or None where it is absent. A clean exit takes all the
    attributes back, or nothing, in place of what was incomplete. Where all values are there, by now
    or from the start, those that are written once stay as they are, whatever the borrower has. On
    every exit each attribute is again what it was, the fresh ones too, which nothing takes back.

    A value that is written in place is half written from the start of the loan to its clean end:
    any other end makes the session failed, unless the value was replaced meanwhile.
    """

    def __init__(
        self,
        view: "SessionView",
        module: Any,
        lent: "Mapping[str, Part]",
        fresh: "Mapping[str, Any]",
    ) -> None:
        for part in lent.values():
            _require_lendable(part)
        self._view = view
        self._module = module
        self._lent = lent
        self._fresh = fresh
        self._borrowed: dict[str, Borrowed] = {}
        self._half_written: dict[Part, tuple[object, ...]] = {}
        self._complete = False

    def __enter__(self) -> None:
        values = {name: part.read() for name, part in self._lent.items()}
        self._complete = all(value is not None for value in values.values())
        try:
            for name, value in (values | dict(self._fresh)).items():
                borrowed = Borrowed(self._module, name)
                borrowed.lay()
                self._borrowed[name] = borrowed
                borrowed.put(value)
        except BaseException:
            self._restore()
            raise
        written = (part for name, part in self._lent.items() if values[name] is not None)
        self._half_written = {part: part.kept() for part in written if part.field.in_place}

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._capture()
                self._half_written.clear()
        finally:
            self._fail()
            self._restore()

    def _capture(self) -> None:
        """Take everything back, or nothing: all of it is looked at before any of it is written."""
        for borrowed in self._borrowed.values():
            borrowed.require_innermost()
        if self._complete and all(part.stays for part in self._lent.values()):
            return
        held = {name: part.read() for name, part in self._lent.items()}
        whole = self._complete or all(value is not None for value in held.values())
        due = {name: part for name, part in self._lent.items() if not (whole and part.stays)}
        produced = {name: self._borrowed[name].read() for name in due}
        for name, part in due.items():
            self._look_at(name, part, held[name], produced[name])
        absent = [part for name, part in due.items() if held[name] is None]
        # Before any is written, since one of two that complete each other would be there by then.
        for part in absent:
            part.forget()
        try:
            # Sources come before what depends on them, which writing a source clears.
            for name in sorted(due, key=lambda name: _sources(due[name], due.values())):
                due[name].write(produced[name])
        except BaseException:
            for part in absent:
                part.forget()
            raise

    def _look_at(self, name: str, part: Part, held: Any, produced: Any) -> None:
        """Raise what writing would raise."""
        self._view._status.require_open(part.field.name)
        borrowed = self._borrowed[name]
        is_empty = part.captures and isinstance(produced, (list, tuple)) and not produced
        if produced is None or is_empty:
            raise NothingCaptured(
                f"{part.place}: the loan ended and {borrowed.place} holds nothing; nothing was taken"
            )
        part.vet(produced)
        if part.stays and held is not None and not is_same(held, produced):
            raise FieldFrozen(
                f"{part.place}: it is written once, and the loan ended with another value in "
                f"{borrowed.place}; clear the field before the loan"
            )

    def _fail(self) -> None:
        """Note what is half written still; a value that was replaced or cleared is not."""
        for part, lent in self._half_written.items():
            kept = part.kept()
            if len(kept) == len(lent) and all(map(lambda a, b: a is b, kept, lent)):
                self._view._status.fail(part.path)
        self._half_written.clear()

    def _restore(self) -> None:
        errors: list[Exception] = []
        for borrowed in reversed(self._borrowed.values()):
            try:
                borrowed.restore()
            except Exception as error:
                errors.append(error)
        self._borrowed.clear()
        raise_all(f"several attributes of {type(self._module).__name__} were not restored", errors)


def parts_by_key(view: "SessionView", key: Any, fields: "Mapping[str, str]") -> dict[str, Part]:
    """For each attribute its field, in a family the branch under `key`. Raises UnknownKey."""
    return {name: _under(view, view._declared[field], key) for name, field in fields.items()}


def parts_by_name(view: "SessionView", names: "Mapping[str, str]") -> dict[str, Part]:
    """For each attribute the part that its name means.

    Raises AttributeError for no field, UnknownKey, and TypeError where there is nothing to lend,
    where an attribute would have many values, or a value two attributes.
    """
    if not names:
        raise TypeError(
            f"session {view.session_id!r}: name what to lend: session.lend(module, attribute='field')"
        )
    parts: dict[str, Part] = {}
    attributes: dict[str, str] = {}
    for attribute, name in names.items():
        found = parts_named(view, name)
        part = found[0] if len(found) == 1 else None
        if part is None:
            axes = view._declared[name.partition("/")[0]].axes
            spelling = "/".join((name.partition("/")[0], *(f"<{axis.name}>" for axis in axes)))
            raise TypeError(
                f"session {view.session_id!r}, field {name!r}: it has a value per key; lend one of "
                f"them, {spelling}"
            )
        other = attributes.setdefault(part.path, attribute)
        if other != attribute:
            raise TypeError(
                f"{part.place}: it is lent as {other!r} already, and one attribute is taken back"
            )
        parts[attribute] = part
    return parts


def _under(view: "SessionView", field: Field, key: Any) -> Part:
    if not isinstance(field, FamilyField):
        return Part(view, field)
    return Part(view, field, field.resolve(view, key, len(field.axes), len(field.axes)))


def _require_lendable(part: Part) -> None:
    """Raise TypeError for what is no single value."""
    field = part.field
    if isinstance(field, ObjectField) and not issubclass(field.kind, EncodeOnce):
        raise TypeError(
            f"{part.place}: a {field.kind.__name__} holds many values and cannot be lent as one"
        )


def _sources(part: Part, others: "Iterable[Part]") -> int:
    """How many of `others` clear this one when they change."""
    return sum(part.field.name in part.view._dependents[other.field.name] for other in others)
