"""What a manager does to the fields of a session that nobody uses: release, rebuild, reclaim."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any, TypeAlias

from .axes import shared_axes
from .errors import FieldUnset, ManagerMayNot, NoRebuild
from .freed import freed_by
from .keyed import FamilyField
from .parts import Part, parts_named

if TYPE_CHECKING:
    from .session import SessionState
    from .view import SessionView

Rebuild: TypeAlias = Callable[..., Any]
"""`function(view, *keys)` returns the value of a field, in a family of the branch under `keys`."""


class Acting:
    """Acts on the fields of sessions as their schema permits, each session held for that long.

    `hold` gives the session of an id to nobody else until it is left; it raises SessionNotFound and
    SessionBusy.
    """

    def __init__(self, hold: "Callable[[str], AbstractContextManager[SessionState]]") -> None:
        self.hold = hold
        self._rebuilds: dict[tuple[str, str], Rebuild] = {}

    def register(self, cls: "type[SessionView]", field: str, function: Rebuild) -> None:
        """Rebuild a field of the sessions of a class by `function`, in place of one before it.

        Raises AttributeError for no field of the class, and ManagerMayNot.
        """
        declared = cls._declared.get(field)
        if declared is None:
            raise AttributeError(f"{field!r} is no field of {cls.__name__}")
        if "rebuild" not in declared.manager_may:
            raise ManagerMayNot(f"{cls.__name__}, field {field!r}: {_refusal(declared, 'rebuild')}")
        self._rebuilds[cls._schema, field] = function

    def release(self, key: str, name: str) -> dict[str, int]:
        """Let go of a part and return the bytes that this freed, per device."""
        with self.hold(key) as session:
            return released(_permitted_parts(session, name, "release"))

    def rebuild(self, key: str, name: str) -> None:
        """Rebuild what is absent of a part, its sources first."""
        with self.hold(key) as session:
            parts = _permitted_parts(session, name, "rebuild")
            for part in self.plan(part for part in parts if part.is_absent):
                value = self._rebuild_of(part)(part.view, *part.branch)
                if value is None:
                    raise TypeError(
                        f"{part.place}: the callable registered for it returned None, which is no value"
                    )
                # What is left of a value that is not whole would stand in its way.
                part.vet(value)
                part.forget()
                part.keep(value)

    def plan(self, parts: Iterable[Part]) -> list[Part]:
        """`parts` and what is absent of their sources, each behind what it is rebuilt from.

        Raises NoRebuild, ManagerMayNot where a source has something staged, and FieldUnset for one
        that nothing brings back.
        """
        sorter: TopologicalSorter[Part] = TopologicalSorter()
        pending = list(parts)
        planned = set(pending)
        while pending:
            part = pending.pop()
            self._rebuild_of(part)
            sources = [*sources_of(part)]
            for source in sources:
                require_settled(source)
            absent = [source for source in sources if source.is_absent]
            for source in absent:
                if "rebuild" not in source.field.manager_may:
                    raise FieldUnset(
                        f"{part.place}: it is rebuilt from {source.path!r}, which holds nothing and "
                        "which the manager may not rebuild; write that first"
                    )
            sorter.add(part, *absent)
            pending += [source for source in absent if source not in planned]
            planned.update(absent)
        return list(sorter.static_order())

    def _rebuild_of(self, part: Part) -> Rebuild:
        cls = type(part.view)
        found = self._rebuilds.get((cls._schema, part.field.name))
        if found is None:
            arguments = ", ".join(("view", *(axis.name for axis in part.field.axes)))
            raise NoRebuild(
                f"{part.place}: nothing is registered that rebuilds it; call "
                f"manager.register_rebuild({cls.__name__}, {part.field.name!r}, function), where "
                f"function({arguments}) returns its value"
            )
        return found


def view_of(session: "SessionState") -> "SessionView":
    """A view as the first one of the session was made. Raises ManagerMayNot where none was."""
    opening = session.opening
    if opening is None:
        raise ManagerMayNot(
            f"session {session.status.session_id!r}: no generated class opened it, so that nothing "
            "says what the manager may do"
        )
    session.status.require_whole()
    return opening.cls._over(session, opening.params)


def _permitted_parts(session: "SessionState", name: str, action: str) -> list[Part]:
    """The parts that `name` means. Raises ManagerMayNot unless the schema permits `action`."""
    view = view_of(session)
    parts = parts_named(view, name)
    for part in parts:
        if action not in part.field.manager_may:
            place = f"session {view.session_id!r}, field {name!r}"
            raise ManagerMayNot(f"{place}: {_refusal(part.field, action)}")
        require_settled(part)
    return parts


def require_settled(part: Part) -> None:
    """Raise ManagerMayNot where something is staged: it would be lost, or be taken for committed."""
    if part.is_staged:
        raise ManagerMayNot(
            f"{part.place}: something is staged in it, which nothing could bring back; commit or "
            "discard that first"
        )


def _refusal(field: Any, action: str) -> str:
    permitted = " and ".join(field.manager_may)
    what = f"its schema lets it {permitted}" if permitted else "it only carries the value"
    return f"the manager may not {action} it; {what}"


def released(parts: list[Part]) -> dict[str, int]:
    """Let go of `parts`, but not of what ends with them: their value is away, not another.

    Returns the bytes that this freed, per device.
    """

    def let_go() -> None:
        for part in parts:
            part.forget()

    return freed_by(let_go, [obj for part in parts for obj in part.objects()])


def sources_of(part: Part) -> Iterator[Part]:
    """The parts of the session that `part` is rebuilt from; what others keep is not among them."""
    view, field = part.view, part.field
    for name in field.recompute_from:
        source = view._declared.get(name)
        if isinstance(source, FamilyField):
            shared = part.branch[: shared_axes(source, field)]
            yield from (Part(view, source, branch) for branch in source.branches(view, shared))
        elif source is not None:
            yield Part(view, source)
