"""Values for tests of the walk, and what it finds in them."""

import dataclasses
from typing import Any

import attrs
import torch
from session_state.accounting import walk


def T(nbytes: int) -> torch.Tensor:
    return torch.zeros(nbytes, dtype=torch.uint8)


def held(value: object) -> dict[str, int]:
    found = walk(value, set())
    assert found.unaccounted == ()
    return dict(found.nbytes)


@attrs.define
class Slotted:
    first: object
    second: object = None


@dataclasses.dataclass
class Plain:
    first: object


def closure(value: object) -> Any:
    return lambda: value
