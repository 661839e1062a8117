"""Which model and which field of one side is which of the other."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Protocol

from attrs import frozen

from ..declared import declared, shipped_values
from ..expressions.evaluate import FormulaError
from ..model import Described, Device, Field, Member, Schema
from .meaning import Meaning, likeness, with_names

DEVICES: tuple[Device, ...] = ("accelerator", "host")

Bytes = Mapping[str, tuple[Device, int | None]]


class Pair(Protocol):
    """What has a type and shapes on both sides: a field, or a member of a record.

    `name` is for messages; `field` is the field's name, and None of a member. `alike` says whether
    both sides read as what was assigned, and have a default before that, or neither does.
    """

    @property
    def old(self) -> Described: ...
    @property
    def new(self) -> Described: ...
    @property
    def name(self) -> str: ...
    @property
    def field(self) -> str | None: ...
    @property
    def alike(self) -> bool: ...


@frozen
class KeptMember:
    """A member that a record has on both sides."""

    record: str
    old: Member
    new: Member

    alike = True
    field = None

    @property
    def name(self) -> str:
        return f"{self.record}.{self.new.name}"


@frozen
class Kept:
    """A field of both sides; the bytes that it declares, None where a formula has no value."""

    old: Field
    new: Field
    old_bytes: int | None
    new_bytes: int | None

    @property
    def name(self) -> str:
        return self.new.name

    @property
    def field(self) -> str:
        return self.new.name

    @property
    def alike(self) -> bool:
        return self.old.is_assigned == self.new.is_assigned

    @property
    def renamed(self) -> bool:
        return self.old.name != self.new.name

    @property
    def declared_renamed(self) -> bool:
        return self.new.renamed_from == self.old.name

    @property
    def flipped(self) -> bool:
        return self.old.placement != self.new.placement


@frozen
class Models:
    """A model of both sides; in `old`, renamed fields are mentioned by their new names.

    The bytes are those of each field and its device; None where a formula has no value.
    """

    old: Schema
    new: Schema
    kept: tuple[Kept, ...]
    members: tuple[KeptMember, ...]
    removed: tuple[Field, ...]
    added: tuple[Field, ...]
    old_bytes: Bytes
    new_bytes: Bytes


@frozen
class Comparison:
    """Every model of two sides; bytes may grow by `threshold` per cent before it is a change."""

    models: tuple[Models, ...]
    removed: tuple[Schema, ...]
    added: tuple[Schema, ...]
    threshold: Decimal


def compared(old: Iterable[Schema], new: Iterable[Schema], threshold: Decimal) -> Comparison:
    """The models of both sides, matched by name; those left over by file or class."""
    before, after = list(old), list(new)
    models: list[Models] = []
    for same in (_model, _class, _path):
        for one, other in _matched(before, after, same):
            before.remove(one)
            after.remove(other)
            if one.sha256 != other.sha256:
                models.append(paired(one, other))
    return Comparison(tuple(models), tuple(before), tuple(after), threshold)


def _model(schema: Schema) -> str:
    return schema.module


def _class(schema: Schema) -> str:
    return schema.class_name


def _path(schema: Schema) -> str:
    return schema.path.replace("\\", "/").rpartition("/")[2]


def _matched(
    old: Iterable[Schema], new: Iterable[Schema], key: Callable[[Schema], str]
) -> list[tuple[Schema, Schema]]:
    by_key = {key(schema): schema for schema in old}
    return [(by_key[key(schema)], schema) for schema in new if key(schema) in by_key]


def paired(old: Schema, new: Schema) -> Models:
    """One model's fields, matched by name, by `renamed_from`, then by what they mean."""
    names = _renames(old, new)
    before = {names.get(field.name, field.name): field for field in with_names(old, names).fields}
    old_bytes, new_bytes = _bytes(old), _bytes(new)
    kept = tuple(
        Kept(was, field, old_bytes[was.name][1], new_bytes[field.name][1])
        for field in new.fields
        if (was := before.get(field.name))
    )
    still = {field.name for field in new.fields}
    return Models(
        old=with_names(old, names),
        new=new,
        kept=kept,
        members=tuple(_members(old, new)),
        removed=tuple(field for name, field in before.items() if name not in still),
        added=tuple(field for field in new.fields if field.name not in before),
        old_bytes=old_bytes,
        new_bytes=new_bytes,
    )


def _members(old: Schema, new: Schema) -> Iterator[KeptMember]:
    before = {
        (record.name, member.name): member for record in old.records for member in record.members
    }
    for record in new.records:
        for member in record.members:
            if was := before.get((record.name, member.name)):
                yield KeptMember(record.name, was, member)


def _renames(old: Schema, new: Schema) -> dict[str, str]:
    """The new name of each field that has another one."""
    before = {field.name: field for field in old.fields}
    after = {field.name: field for field in new.fields}
    lost = before.keys() - after.keys()
    names = {
        field.renamed_from: field.name
        for field in new.fields
        if field.renamed_from in lost and field.renamed_from and field.name not in before
    }
    gone = [
        field
        for field in with_names(old, names).fields
        if field.name not in after and field.name not in names
    ]
    come = [
        field
        for name, field in after.items()
        if name not in before and name not in names.values() and field.renamed_from is None
    ]
    return {**names, **dict(_guessed(gone, come))}


def _guessed(gone: Iterable[Field], come: Iterable[Field]) -> Iterator[tuple[str, str]]:
    """Fields that mean the same under another name, where there is one such pair only."""
    before, after = _unlike(gone), _unlike(come)
    for like, field in after.items():
        if like in before:
            yield before[like].name, field.name


def _unlike(fields: Iterable[Field]) -> dict[Meaning, Field]:
    found = [(likeness(field), field) for field in fields]
    count = Counter(like for like, _ in found)
    return {like: field for like, field in found if count[like] == 1}


def _bytes(schema: Schema) -> Bytes:
    """The declared bytes of each field at the shipped config, also where no rule was run."""
    try:
        values = shipped_values(schema)
    except (FormulaError, KeyError):
        return {field.name: (field.device, None) for field in schema.fields}
    return {field.name: (field.device, _declared(schema, field, values)) for field in schema.fields}


def _declared(schema: Schema, field: Field, values: Mapping[str, int]) -> int | None:
    try:
        return declared(schema, field, values)
    except (FormulaError, KeyError):
        return None


def total(sizes: Bytes, device: Device) -> int | None:
    """What the fields of one device declare together."""
    counts = [count for where, count in sizes.values() if where == device]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
