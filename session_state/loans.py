"""Loans: a session's values in another object's attributes for the time of a call."""

from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from .axes import Keys
from .coercions import checked
from .errors import FieldFrozen, NothingCaptured, raise_all
from .fields import Attr, Field, ObjectField, ViewField
from .keyed import FamilyField
from .objects import EncodeOnce, is_same

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .view import SessionView

_MISSING: Final = object()


class Loan(AbstractContextManager[None]):
    """Lends one key of families, or whole fields, to attributes of a borrower.

    On entry each attribute has the value, or None where it is absent. A clean exit takes all the
    attributes back, or nothing, in place of what was incomplete. Where all values are there, by now
    or from the start, those that are written once stay as they are, whatever the borrower has. On
    every exit each attribute is again what it was.
    """

    def __init__(
        self, view: "SessionView", module: Any, key: Any, lent: "Mapping[str, str]"
    ) -> None:
        self._view = view
        self._module = module
        self._lent = {name: _Lent(view, view._declared[field], key) for name, field in lent.items()}
        self._before: dict[str, object] = {}
        self._complete = False

    def __enter__(self) -> None:
        values = {name: lent.read() for name, lent in self._lent.items()}
        self._complete = all(value is not None for value in values.values())
        try:
            for name, value in values.items():
                # Noted first: an attribute may be set and refuse all the same.
                self._before[name] = _own(self._module, name)
                setattr(self._module, name, value)
        except BaseException:
            self._restore()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._capture()
        finally:
            self._restore()

    def _capture(self) -> None:
        """Take everything back, or nothing: all of it is looked at before any of it is written."""
        if self._complete and all(lent.stays for lent in self._lent.values()):
            return
        held = {name: lent.read() for name, lent in self._lent.items()}
        whole = self._complete or all(value is not None for value in held.values())
        due = {name: lent for name, lent in self._lent.items() if not (whole and lent.stays)}
        produced = {name: getattr(self._module, name, None) for name in due}
        for name, lent in due.items():
            self._look_at(name, lent, held[name], produced[name])
        absent = [lent for name, lent in due.items() if held[name] is None]
        # Before any is written, since one of two that complete each other would be there by then.
        for lent in absent:
            lent.forget()
        try:
            # Sources come before what depends on them, which writing a source clears.
            for name in sorted(due, key=lambda name: due[name].sources(due.values())):
                due[name].write(produced[name])
        except BaseException:
            for lent in absent:
                lent.forget()
            raise

    def _look_at(self, name: str, lent: "_Lent", held: Any, produced: Any) -> None:
        """Raise what writing would raise."""
        self._view._status.require_open(lent.field)
        if produced is None or (isinstance(produced, (list, tuple)) and not produced):
            raise NothingCaptured(
                f"{lent.place}: the loan ended and {name!r} of {type(self._module).__name__} holds "
                "nothing; the session is as it was"
            )
        lent.vet(produced)
        if lent.stays and held is not None and not is_same(held, produced):
            raise FieldFrozen(
                f"{lent.place}: it is written once, and the loan ended with another value in "
                f"{name!r} of {type(self._module).__name__}; clear the field before the loan"
            )

    def _restore(self) -> None:
        errors: list[Exception] = []
        for name, before in reversed(self._before.items()):
            try:
                if before is _MISSING:
                    if _own(self._module, name) is not _MISSING:
                        delattr(self._module, name)
                elif _own(self._module, name) is not before:
                    setattr(self._module, name, before)
            except Exception as error:
                errors.append(error)
        self._before.clear()
        raise_all(f"several attributes of {type(self._module).__name__} were not restored", errors)


class _Lent:
    """One lent field: of a family the branch under a key, otherwise the field itself."""

    def __init__(self, view: "SessionView", field: Field, key: Any) -> None:
        self._view = view
        self.field = field.name
        self._field = field
        self._branch: Keys = ()
        if isinstance(field, FamilyField):
            self._branch = field.resolve(view, key, len(field.axes), len(field.axes))
        elif isinstance(field, ObjectField) and not issubclass(field.kind, EncodeOnce):
            raise TypeError(
                f"{self.place}: a {field.kind.__name__} holds many values and cannot be lent as one"
            )

    @property
    def place(self) -> str:
        """How messages name it."""
        return f"session {self._view.session_id!r}, field {self._field.name!r}"

    @property
    def stays(self) -> bool:
        """Whether a value that is there is not taken again."""
        if isinstance(self._field, FamilyField):
            return self._field.is_frozen
        return isinstance(self._field, ObjectField) or getattr(self._field, "once", False)

    def read(self) -> Any:
        """The value, or None."""
        if isinstance(self._field, FamilyField):
            return self._field.read(self._view, self._branch)
        value = getattr(self._view, self._field.name)
        return value.view() if isinstance(self._field, ObjectField) else value

    def vet(self, value: Any) -> None:
        """Raise what writing the value would raise because of what it is."""
        field, view = self._field, self._view
        if isinstance(field, FamilyField):
            field.vet(view, self._branch, value)
        elif isinstance(field, Attr) and field.coerce is not None:
            checked(field.coerce, value, self.place)
        elif isinstance(field, ViewField):
            field.vet(view, value)

    def sources(self, others: "Iterable[_Lent]") -> int:
        """How many of `others` clear this one when they change."""
        return sum(self.field in self._view._dependents[other.field] for other in others)

    def write(self, value: Any) -> None:
        """Keep the value."""
        if isinstance(self._field, FamilyField):
            self._field.write(self._view, self._branch, value)
        elif isinstance(self._field, ObjectField):
            self._field.object_of(self._view).commit(value)
        else:
            setattr(self._view, self._field.name, value)

    def forget(self) -> None:
        """Let go of what is incomplete, or of what a broken capture wrote."""
        if isinstance(self._field, FamilyField):
            self._field.forget(self._view, self._branch)
        else:
            self._field.clear(self._view)


def _own(module: Any, name: str) -> object:
    """What the module itself has under a name; a default of its class is not its own."""
    own = getattr(module, "__dict__", None)
    if own is not None and name not in own and hasattr(type(module), name):
        found = getattr(type(module), name)
        if not hasattr(type(found), "__set__"):
            return _MISSING
    return getattr(module, name, _MISSING)
