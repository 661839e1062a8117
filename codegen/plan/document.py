"""A plan as JSON: what an engine's admission reads. docs/plan.md describes it key by key."""

from collections.abc import Sequence

from attrs import asdict, frozen

from ..model import Grows
from ..page.formula import Json
from .fit import Fit, Room, fit
from .session import DEVICES, DeviceBytes, FieldBytes, SessionBytes

VERSION = 1

Object = dict[str, Json]


@frozen
class Plan:
    """One model's session, where its schema lies, and how many of them are asked for."""

    session: SessionBytes
    path: str
    sessions: int
    room: Room | None

    @property
    def fit(self) -> Fit | None:
        """How many sessions fit, where the memory of a device is known."""
        return fit(self.session, self.room) if self.room else None

    @property
    def is_too_much(self) -> bool:
        """Whether the sessions that are asked for do not fit."""
        found = self.fit
        return found is not None and found.sessions is not None and found.sessions < self.sessions

    @property
    def unit(self) -> str:
        """What a table calls one session."""
        return "session" if self.session.schema.scope == "session" else "live generation"


def document(plans: Sequence[Plan]) -> Object:
    """The plans of all models, in bytes."""
    return {"version": VERSION, "models": [_model(plan) for plan in plans]}


def _model(plan: Plan) -> Object:
    one = plan.session
    schema = one.schema
    found = plan.fit
    return {
        "model": schema.model,
        "module": schema.module,
        "class": schema.class_name,
        "path": plan.path,
        "scope": schema.scope,
        "at": {**one.at.values, "steps": one.steps},
        "dtype": one.at.dtype,
        "sessions": plan.sessions,
        "steady_after": one.steady_after,
        "fields": [_field(field) for field in one.fields],
        "devices": {held.device: _device(held, plan.sessions) for held in one.devices},
        "resets": {
            reset.name: {
                "stays": {device: one.staying(reset.name).get(device, 0) for device in DEVICES},
                "fields": [field.name for field in one.fields if reset.name in field.survives],
            }
            for reset in schema.resets
        },
        "fit": _fit(found) if found else None,
    }


def _field(field: FieldBytes) -> Object:
    found: Object = asdict(field, filter=lambda attribute, _: attribute.name != "grows")
    return {**found, "grows": _grows(field.grows) if field.grows else None}


def _grows(grows: Grows) -> Object:
    return {"items": grows.items, "every": grows.every}


def _device(held: DeviceBytes, sessions: int) -> Object:
    found: Object = asdict(held, filter=lambda attribute, _: attribute.name != "device")
    # One session steps at a time, and makes its copy then.
    return {**found, "peak": held.peak, "all_sessions": sessions * held.declared + held.copy}


def _fit(found: Fit) -> Object:
    return {
        "device_memory": found.room.memory,
        "reserve": found.room.reserve,
        "sessions": found.sessions,
        "decides": found.decides.name if found.decides else None,
    }
