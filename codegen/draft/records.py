"""Records: the frozen classes whose objects a state class holds."""

from collections.abc import Iterable, Iterator

from attrs import frozen

from .members import Declaration, members_of
from .python import ValueClass
from .text import one_line, type_text
from .types import Type, dtype_of, show


@frozen
class DraftedMember:
    """One member of a record; `keys` are YAML inside braces."""

    name: str
    keys: str
    line: int


@frozen
class DraftedRecord:
    name: str
    source: str
    members: tuple[DraftedMember, ...]


def records_in(types: Iterable[Type]) -> tuple[DraftedRecord, ...]:
    """The records that values of these types hold, each after those that it holds itself."""
    found: dict[str, DraftedRecord] = {}
    for name, held in _classes(types, ()):
        found.setdefault(name, _record(name, held))
    return tuple(found.values())


def _classes(types: Iterable[Type], around: tuple[str, ...]) -> Iterator[tuple[str, ValueClass]]:
    for member in (member for type_ in types for member in type_):
        yield from _classes(member.items, around)
        # A class that holds itself is refused as a record, and asked for once.
        if member.record is not None and member.name not in around:
            inner = [one.type for one in _declared(member.record)]
            yield from _classes(inner, (*around, member.name))
            yield member.name, member.record


def _declared(held: ValueClass) -> Iterable[Declaration]:
    return members_of(held.module, held.node).declarations.values()


def _record(name: str, held: ValueClass) -> DraftedRecord:
    source = one_line(f"{held.module.path.name}, line {held.node.lineno}")
    return DraftedRecord(name, source, tuple(map(_member, _declared(held))))


def _member(one: Declaration) -> DraftedMember:
    dtype = dtype_of(one.annotation)
    # Inside braces a comma ends a plain text.
    type_ = type_text(show(one.type), inside_braces=True)
    return DraftedMember(
        one.name, f"type: {type_}" + (f", dtype: {dtype}" if dtype else ""), one.line
    )
