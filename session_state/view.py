"""The typed object that model code holds: what every generated class extends."""

from abc import ABCMeta
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final

from .dependents import dependents
from .errors import SessionClassMismatch, SessionClosed, SessionParamsDiffer, raise_all
from .families import AttrFamily, ObjectFamily
from .fields import Attr, Field, Param, Stored
from .loans import Loan, parts_by_key, parts_by_name
from .local import StaysInProcess
from .reading import KeepsBooks
from .session import Opening
from .show import fields_html
from .staging import Transaction, commit, discard

if TYPE_CHECKING:
    from typing import Self

    from .manager import SessionStateManager
    from .session import SessionState
    from .status import Status


_MISSING: Final = object()


class _Slotted(ABCMeta):
    """Gives every class without slots of its own empty ones, so that unknown names cannot be set."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> "_Slotted":
        namespace.setdefault("__slots__", ())
        for base in bases:
            if getattr(base, "__dictoffset__", 0):
                raise TypeError(
                    f"{name}: its base {base.__name__} gives instances a __dict__, so that a "
                    f"mistyped name would be kept and not refused; declare __slots__ = () in it"
                )
        return super().__new__(mcs, name, bases, namespace, **options)


class SessionView(KeepsBooks, StaysInProcess, metaclass=_Slotted):
    """One session of a manager, seen through the fields that a subclass declares.

    Views are cheap: make one per call. All views of a session see the same data, and a view keeps
    its session alive after the manager let go of it.
    """

    __slots__ = ("_session", "_status", "_params", "_carried", "_touched", "__weakref__")

    _schema: ClassVar[str] = ""
    _declared: ClassVar[dict[str, Field]] = {}
    _dependents: ClassVar[dict[str, dict[str, int]]] = {}
    _params_declared: ClassVar[dict[str, Param[Any]]] = {}
    _shaping: ClassVar[tuple[str, ...]] = ()
    _accepted: ClassVar[dict[str, Any]] = {}
    _has_own_state: ClassVar[bool] = True
    _staged: ClassVar[tuple[Stored[Any], ...]] = ()

    _session: "SessionState"
    _status: "Status"
    _params: dict[str, Any]
    _carried: dict[str, object]
    _touched: set[str]

    def __init_subclass__(cls, *, schema: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if schema is not None:
            cls._schema = schema
        cls._declared = {
            name: value
            for base in reversed(cls.__mro__)
            for name, value in vars(base).items()
            if isinstance(value, Field)
        }
        cls._dependents = dependents(cls._declared)
        for name, ended in cls._dependents.items():
            if ended:
                cls._declared[name].watch()
        cls._params_declared = {
            name: field for name, field in cls._declared.items() if isinstance(field, Param)
        }
        cls._accepted = {}
        added = vars(cls)
        # A generated class only opens a session; what extends it may do and keep more.
        cls._has_own_state = schema is None and bool(
            cls._has_own_state or "__init__" in added or "__new__" in added or added["__slots__"]
        )
        cls._shaping = tuple(
            name for name, param in cls._params_declared.items() if param.shapes_objects
        )
        cls._staged = tuple(
            field for field in cls._declared.values() if isinstance(field, Stored) and field.staged
        )

    def __init__(self, session_id: str | None, manager: "SessionStateManager") -> None:
        """Open `session_id` in `manager`, or join it where it is open; None means "default"."""
        self._open(session_id, manager)

    def _open(self, session_id: str | None, manager: "SessionStateManager", **params: Any) -> None:
        """Check `params`, join the session and make its objects, in that order."""
        accepted = self._accepted
        for name, value in params.items():
            if accepted.get(name, _MISSING) is not value:
                accepted = self._checked(session_id, params)
                break
        self._params = accepted
        session = manager._session_for_view(session_id)
        self._see(session)
        if self._schema:
            self._join(session)

    def _see(self, session: "SessionState") -> None:
        self._session = session
        self._status = session.status
        self._carried = session._carried
        self._touched = session.status.touched

    @classmethod
    def _over(cls, session: "SessionState", params: Mapping[str, Any]) -> "Self":
        """A view of a session whoever has its id, made by no `__init__` of a subclass."""
        view = cls.__new__(cls)
        view._params = dict(params)
        view._see(session)
        return view

    def _checked(self, session_id: str | None, params: dict[str, Any]) -> dict[str, Any]:
        """The params coerced, for this view and for the next ones that pass the same objects."""
        declared = self._params_declared
        try:
            checked = {name: declared[name].check(value) for name, value in params.items()}
        except (TypeError, ValueError) as error:
            raise type(error)(f"session {session_id!r}, {error}") from None
        if all(checked[name] is value for name, value in params.items()):
            # Two in a row mostly pass the same, and what is no mutable value needs no second look.
            type(self)._accepted = checked
        return checked

    def _join(self, session: "SessionState") -> None:
        opening = session._opening.get(None) or self._first(session)
        if opening.params is self._params and opening.cls is type(self):
            return
        if opening.schema != self._schema:
            raise SessionClassMismatch(
                f"session {self.session_id!r} is open as {opening.schema!r} and "
                f"{type(self).__name__} is {self._schema!r}; drop the session first, or use "
                "another id"
            )
        for name in self._shaping:
            recorded, given = opening.params[name], self._params[name]
            if recorded is not given and recorded != given:
                raise SessionParamsDiffer(
                    f"session {self.session_id!r} was opened with {name}={recorded!r}, got "
                    f"{given!r}; pass the same value, or drop the session first"
                )

    def _first(self, session: "SessionState") -> Opening:
        """Record how the session was opened, unless another thread did, and make its objects."""
        mine = Opening(type(self), self._params)
        opening = session.opened_as(mine)
        if opening is mine and not self._status.closed:
            try:
                self._make_objects()
            except SessionClosed:
                # Dropped meanwhile: this is a view of a closed session, as a moment later.
                pass
            except BaseException:
                session.forget_opening(mine)
                raise
        return opening

    def _make_objects(self) -> None:
        """Make the objects that are not there, and allocate those that are not resident."""
        for field in self._declared.values():
            field.open(self)

    @property
    def session_id(self) -> str:
        """The id under which the session was opened."""
        return self._status.session_id

    def object(self, name: str) -> Any:
        """The state object behind the field `name`, also behind one that reads as one value.

        Raises AttributeError for a carried value and for an unknown name.
        """
        family, _, keys = name.partition("/")
        field = self._declared.get(family)
        if isinstance(field, Stored) and not keys:
            return field.object_of(self)
        if isinstance(field, ObjectFamily):
            return field.object_at(self, name)
        carried = isinstance(field, (Attr, AttrFamily))
        what = "is carried and has no object" if carried else "is no field"
        raise AttributeError(
            f"session {self.session_id!r}: {name!r} {what} of {type(self).__name__}"
        )

    def lend(self, module: Any, /, **attribute_to_field: str) -> AbstractContextManager[None]:
        """Lend fields to attributes of `module` for the time of a call.

        A field of the session is named as it is, one branch of a family `field/key`. On entry each
        attribute has the value, or None where it is absent; a clean exit takes all of them back, or
        nothing; on every exit the attributes are what they were. Entering raises BorrowerBusy where
        another thread or task has one of them; a clean exit raises NothingCaptured where one holds
        nothing, and then nothing is taken.
        """
        return Loan(self, module, parts_by_name(self, attribute_to_field), {})

    def transaction(self) -> AbstractContextManager[None]:
        """What is staged inside is committed at the end, or the staged fields are as on entry.

        On an exception of any kind, what was staged before the entry is staged again. Inside another
        transaction it is a savepoint. Every other write stands. Raises SessionClosed.
        """
        return Transaction(self)

    def commit(self) -> None:
        """Make everything that is staged permanent, or nothing of it. Raises SessionClosed."""
        commit(self)

    def discard(self) -> None:
        """Drop everything that is staged; what was committed reads again. Raises SessionClosed."""
        discard(self)

    def _lend(
        self,
        module: Any,
        key: Any,
        *,
        lent: Mapping[str, str],
        fresh: Mapping[str, Any] = MappingProxyType({}),
    ) -> AbstractContextManager[None]:
        """Lend fields, or one key of families, to attributes of `module`; see `Loan`."""
        return Loan(self, module, parts_by_key(self, key, lent), fresh)

    def nbytes_by_device(self) -> dict[str, int]:
        """Bytes that the session holds, per device, each storage once. Never raises."""
        return self._session.nbytes_by_device()

    def _clear(self, *names: str) -> None:
        """Return the named fields to their defaults; objects stay the same and are empty.

        A field that raises stops none of the others. Raises SessionClosed.
        """
        errors: list[Exception] = []
        status = self._status
        ended = (other for name in names for other in self._dependents[name])
        ending = dict.fromkeys((*names, *ended))
        status.require_open(*ending)
        half_written = (status.failed or "").partition("/")[0]
        # First what is half written, since until then a failed session refuses the others.
        for name in sorted(ending, key=lambda name: name != half_written):
            status.require_open(name)
            try:
                self._declared[name].clear(self)
                status.renew(name)
            except Exception as error:
                errors.append(error)
        raise_all(f"session {self.session_id!r}: several fields failed to reset", errors)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._session._described()}>"

    def _repr_html_(self) -> str:
        return fields_html(repr(self).strip("<>"), self._session.account)
