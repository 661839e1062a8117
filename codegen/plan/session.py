"""What one session holds as it steps: per field, per device, and over each reset.

A ring is taken to gain one item or frame per step; how many it gains is for its model to know. So
what is held at a step is what to expect, and what is declared is what to admit by.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property

from attrs import evolve, frozen

from ..declared import STEPS, declared, items, keys
from ..expressions.ast import Number
from ..expressions.evaluate import FormulaError, evaluate
from ..expressions.sizes import names_in
from ..model import Device, Field, Grows, Schema
from ..settings import UsageError
from .setting import At, values_of

DEVICES: tuple[Device, ...] = ("accelerator", "host")
# Their writes join what is kept and what is new into a tensor of its own.
_JOINING = ("FrameRing", "WindowKV")


@frozen
class FieldBytes:
    """One field that holds bytes; numbers are bytes, families and staged contents included.

    `item` is one item or frame of the `capacity` that a ring has, or one of those that a buffer
    gains by `grows`. `copy` exists for a moment, while one value of the field is written or read.
    """

    name: str
    device: Device
    declared: int
    first_step: int
    steady: int
    at_step: int
    copy: int
    item: int
    capacity: int | None
    grows: Grows | None
    survives: tuple[str, ...]


@frozen
class DeviceBytes:
    """The sums of the fields on one device; `copy` is the largest, since writes take turns."""

    device: Device
    declared: int
    first_step: int
    steady: int
    at_step: int
    copy: int

    @property
    def peak(self) -> int:
        """The most that a session holds while it steps."""
        return self.declared + self.copy


@frozen(slots=False)
class SessionBytes:
    """The bytes of one session of a schema; whatever is asked raises UsageError without a value."""

    schema: Schema
    at: At

    @cached_property
    def steady_after(self) -> int:
        """The step at which every ring is full; what grows goes on growing."""
        rings = (field for field in self.schema.fields if _is_ring(field))
        return max((self._capacity(field) for field in rings), default=1)

    @property
    def steps(self) -> int:
        """The step that the bytes are asked for at."""
        return self.steady_after if self.at.steps is None else self.at.steps

    @cached_property
    def fields(self) -> tuple[FieldBytes, ...]:
        """The fields that hold bytes, in the order of the schema."""
        found = map(self._field, self.schema.fields)
        return tuple(one for one in found if one.item)

    @cached_property
    def devices(self) -> tuple[DeviceBytes, ...]:
        """Every device that bytes are declared on."""
        return tuple(
            _device(device, on)
            for device in DEVICES
            if (on := [one for one in self.fields if one.device == device])
        )

    def resized(self, **sizes: int) -> "SessionBytes":
        """The same session at other sizes, and at what follows from them."""
        given = {**self.at.given, **sizes}
        return evolve(self, at=evolve(self.at, given=given, values=values_of(self.schema, given)))

    def on(self, device: Device) -> DeviceBytes:
        """The sums on a device, zero where nothing is declared."""
        found = {one.device: one for one in self.devices}
        return found.get(device) or DeviceBytes(device, 0, 0, 0, 0, 0)

    def staying(self, reset: str) -> Mapping[Device, int]:
        """The declared bytes that a reset leaves, per device."""
        stay = [one for one in self.fields if reset in one.survives]
        return {
            one.device: sum(field.declared for field in stay if field.device == one.device)
            for one in self.devices
        }

    def held(self, field: FieldBytes, step: int) -> int:
        """What a field holds after so many steps."""
        return field.item * _items_at(field, step) if _counts(field) else field.declared

    def _field(self, field: Field) -> FieldBytes:
        nbytes = self._declared(field, self.steps)
        capacity = self._capacity(field) if _is_ring(field) else None
        found = FieldBytes(
            name=field.name,
            device=field.device,
            declared=nbytes,
            first_step=nbytes,
            steady=nbytes,
            at_step=nbytes,
            copy=0,
            item=self._item(field),
            capacity=capacity,
            grows=field.grows,
            survives=field.survives,
        )
        return evolve(
            found,
            first_step=self.held(found, 1),
            steady=self.held(found, self.steady_after),
            at_step=self.held(found, self.steps),
            copy=self._copy(field, found),
        )

    def _declared(self, field: Field, steps: int) -> int:
        with self._naming(field):
            return declared(self.schema, field, {**self.at.values, STEPS: steps}, self.at.dtype)

    def _capacity(self, field: Field) -> int:
        """How many items or frames a field has after one step, or at most."""
        with self._naming(field):
            return evaluate(items(field), {**self.at.values, STEPS: 1})

    def _item(self, field: Field) -> int:
        """One item or frame under every key; of a field that has none, its whole value."""
        count = self._capacity(field)
        return self._declared(field, 1) // count if count else 0

    @contextmanager
    def _naming(self, field: Field) -> Iterator[None]:
        """Say which field it is whose formula has no value."""
        try:
            yield
        except FormulaError as error:
            raise UsageError(f"{self.schema.model}.{field.name}: {error.message}") from error

    def _copy(self, field: Field, found: FieldBytes) -> int:
        """The bytes of a second value beside the one that is there; keys are written in turn."""
        contents = 2 if field.is_staged else 1
        for axis in self.schema.axes:
            if axis.name in field.per:
                contents *= evaluate(keys(axis), self.at.values)
        if not contents:
            return 0
        whole = found.declared // contents
        match field.kind:
            case None:
                return 0 if field.written == "once" else whole
            case "Value":
                return whole
            case kind if kind in _JOINING:
                return whole
            case "LatentBuffer" if field.view:
                return whole
            case "LatentBuffer" if found.capacity:
                # The newest item is there before the oldest is let go of.
                return found.item // contents
        return 0


def is_resizable(schema: Schema, names: tuple[str, ...]) -> bool:
    """Whether these are dims of the schema that follow from no other."""
    free = {dim.name for dim in schema.dims if not names_in(dim.size)}
    return free.issuperset(names)


def _is_ring(field: Field) -> bool:
    return not field.grows and items(field) != Number(1)


def _counts(field: FieldBytes) -> bool:
    return field.capacity is not None or field.grows is not None


def _items_at(field: FieldBytes, step: int) -> int:
    if field.grows:
        return field.grows.items * -(-step // field.grows.every)
    assert field.capacity is not None
    return min(step, field.capacity)


def _device(device: Device, on: list[FieldBytes]) -> DeviceBytes:
    return DeviceBytes(
        device,
        declared=sum(one.declared for one in on),
        first_step=sum(one.first_step for one in on),
        steady=sum(one.steady for one in on),
        at_step=sum(one.at_step for one in on),
        copy=max(one.copy for one in on),
    )
