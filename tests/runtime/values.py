"""Values for tests of the walk, and what it finds in them."""

import dataclasses
from typing import Any

import attrs
import torch
from session_state.accounting import walk
from session_state.manager import SessionState
from session_state.objects import LatentBuffer


def T(nbytes: int) -> torch.Tensor:
    return torch.zeros(nbytes, dtype=torch.uint8)


def held(value: object) -> dict[str, int]:
    found = walk(value, set())
    assert found.unaccounted == ()
    return dict(found.nbytes)


def carried(value: object) -> SessionState:
    """A session that carries `value` in an attr."""
    session = SessionState()
    session.attrs["field"] = value
    return session


def owned(value: object) -> SessionState:
    """A session that keeps `value` in an object."""
    session = SessionState()
    buffer = session.put("field", LatentBuffer[object]())
    buffer.allocate()
    buffer.append(value)
    return session


@attrs.define
class Slotted:
    first: object
    second: object = None


@dataclasses.dataclass
class Plain:
    first: object


def closure(value: object) -> Any:
    return lambda: value
