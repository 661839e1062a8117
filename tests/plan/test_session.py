"""What a session holds at each step, and the copies that it makes on the way."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from session_state import SessionStateManager
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from generated.dreamzero import DreamZeroSession

from .shipped import everything, field_of, loaded, planned, schema_of

SMALL = {"H": 16, "W": 24, "z": 2, "c": 1}
AT_SMALL = [f"{name}={value}" for name, value in SMALL.items()]


class Allocations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The most bytes that storages made meanwhile took at any one time."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live = self.peak = 0
        self.refs: list[object] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = [one.untyped_storage() for one in tree_leaves(args) if isinstance(one, Tensor)]
        made = func(*args, **(kwargs or {}))
        if isinstance(made, Tensor) and not any(made.untyped_storage() is one for one in given):
            self._note(made.untyped_storage())
        return made

    def _note(self, storage: torch.UntypedStorage) -> None:
        nbytes = storage.nbytes()
        self.refs.append(weakref.ref(storage, lambda _: self._end(nbytes)))
        self.live += nbytes
        self.peak = max(self.peak, self.live)

    def _end(self, nbytes: int) -> None:
        self.live -= nbytes


@given(window=st.integers(1, 5), frames=st.integers(1, 6), steps=st.integers(1, 12))
def test_rings_and_buffers_hold_at_each_step_what_is_planned(
    window: int, frames: int, steps: int
) -> None:
    """One item or frame per step, in a session of the generated class with real values."""
    params = {"vae_encoder_window": window, "frames_per_chunk": frames}
    session = DreamZeroSession("a", SessionStateManager(), **params)
    texts = [*AT_SMALL, *(f"{name}={value}" for name, value in params.items())]
    one = planned(schema_of("DreamZero"), *texts, steps=steps)
    for _ in range(steps):
        session.append_stitched_buffer(np.zeros((16, 24, 3), np.uint8))
        session.append_video_latents(torch.zeros(1, 2, 2, 2, 3, dtype=torch.bfloat16))
        session.append_vae_encoder_out(torch.zeros(1, 4, 1, 2, 3, dtype=torch.bfloat16))
    for name in ("stitched_buffer", "video_latents", "vae_encoder_out"):
        held = session.object(name).nbytes_by_device(set())
        assert sum(held.values()) == field_of(one, name).at_step


def test_a_ring_and_a_joined_buffer_copy_what_is_planned() -> None:
    """Appending to a full ring, and reading a buffer as one value, make the copy that is named."""
    session = DreamZeroSession("a", SessionStateManager(), vae_encoder_window=3)
    one = planned(schema_of("DreamZero"), *AT_SMALL, "vae_encoder_window=3", steps=5)
    for _ in range(5):
        session.append_video_latents(torch.zeros(1, 2, 2, 2, 3, dtype=torch.bfloat16))
        session.append_vae_encoder_out(torch.zeros(1, 4, 1, 2, 3, dtype=torch.bfloat16))
    chunk = torch.zeros(1, 4, 1, 2, 3, dtype=torch.bfloat16)
    gc.collect()
    with Allocations() as ring:
        session.append_vae_encoder_out(chunk)
    with Allocations() as buffer:
        assert session.video_latents is not None
    assert ring.peak == field_of(one, "vae_encoder_out").copy
    assert buffer.peak == field_of(one, "video_latents").copy


SCHEMA = """\
schema: 1
model: Demo
class: DemoSession
scope: session
doc: A demo.
horizon: 10
axes: {branch: {names: [cond, uncond, neg]}}
defaults: {device: accelerator, dtype: float32}
resets: {session: Ends., soft: "Keeps some."}
fields:
  assigned: {placement: attr, type: Tensor | None, shape: [4], survives: [soft], reason: One.}
  once: {placement: attr, type: Tensor | None, shape: [8], written: once, reason: Two.}
  per_branch: {placement: attr, per: [branch], type: Tensor | None, shape: [2], survives: [soft], reason: Three.}
  staged: {placement: object, kind: Value, type: Tensor | None, shape: [3], manager_may: [stage], reason: Four.}
  ring: {placement: object, kind: FrameRing, type: Tensor, shape: [1, 5], ring: {size: 3, along: 0}, manager_may: [accumulate, stage], reason: Five.}
  newest: {placement: object, kind: LatentBuffer, type: Tensor, shape: [6], ring: {size: 7}, manager_may: [accumulate], reason: Six.}
  log: {placement: object, kind: LatentBuffer, type: ndarray, shape: [10], dtype: uint8, device: host, grows: {items: 2, every: 4}, bounded_by: the end, manager_may: [accumulate], reason: Seven.}
"""

# By hand: float32 takes 4 bytes; first step, full, step 10, declared, copy.
BYTES = {
    "assigned": (16, 16, 16, 16, 16),
    "once": (32, 32, 32, 32, 0),
    # Three keys; one of them is written at a time.
    "per_branch": (24, 24, 24, 24, 8),
    # Twice: committed and staged; a third while it is staged anew.
    "staged": (24, 24, 24, 24, 12),
    "ring": (40, 120, 120, 120, 60),
    "newest": (24, 168, 168, 168, 24),
    # Two items of ten bytes in every four steps begun.
    "log": (20, 40, 60, 60, 0),
}


@pytest.mark.parametrize("name", BYTES)
def test_each_kind_of_field_has_the_bytes_worked_out_by_hand(name: str) -> None:
    """Rings fill, buffers grow, staged contents are two, and one key is written at a time."""
    found = field_of(planned(loaded(SCHEMA)), name)
    held = (found.first_step, found.steady, found.at_step, found.declared, found.copy)
    assert BYTES[name] == held


def test_a_young_ring_holds_less_than_is_declared() -> None:
    """At step 2 a ring of 7 has two items; admission counts on all 7."""
    found = field_of(planned(loaded(SCHEMA), steps=2), "newest")
    assert (48, 168) == (found.at_step, found.declared)


def test_a_device_copies_one_value_at_a_time() -> None:
    """Its peak is all that is declared and the largest copy."""
    accelerator, host = planned(loaded(SCHEMA)).devices
    declared = 16 + 32 + 24 + 24 + 120 + 168
    assert (declared, 60, declared + 60) == (
        accelerator.declared,
        accelerator.copy,
        accelerator.peak,
    )
    assert (60, 60) == (host.declared, host.peak)


def test_a_reset_keeps_what_survives_it() -> None:
    """In bytes, on every device."""
    one = planned(loaded(SCHEMA))
    assert {"accelerator": 0, "host": 0} == one.staying("session")
    assert {"accelerator": 16 + 24, "host": 0} == one.staying("soft")


def test_every_construct_of_the_language_can_be_planned() -> None:
    """Conditions of axes, captured sizes, records and all."""
    one = planned(everything())
    # 2 x 3 frames of 48 x 64 x 3 bytes.
    assert 2 * 3 * 48 * 64 * 3 == field_of(one, "frames").declared
    # Layers 1, 3 and 5 of 7 have a key, in each of two streams; 12 float16 in each.
    assert 3 * 2 * 12 * 2 == field_of(one, "state").declared
    assert sum(field.declared for field in one.fields) == sum(held.declared for held in one.devices)


def test_a_resized_session_is_what_it_would_be_at_those_sizes() -> None:
    """What follows from a size follows again, and what was given stays."""
    schema = schema_of("DreamZero")
    other = planned(schema, "H=480", "W=832", "z=48", steps=7)
    assert planned(schema, "z=48", steps=7).fields == other.resized(H=352, W=640).fields
    latent = planned(schema, "h=99", "z=48", steps=7).resized(H=480, W=832)
    assert (99, 832 // 8) == (latent.at.values["h"], latent.at.values["w"])
