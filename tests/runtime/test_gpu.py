"""On a CUDA device: its keys, its bytes beside the allocator's own, and pinned host memory."""

from collections.abc import Iterator

import pytest
import torch
from session_state import FrameRing, LatentBuffer, SessionStateManager

from generated.dreamzero import DreamZeroSession

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]

# The caching allocator hands out multiples of this.
BLOCK = 512


@pytest.fixture(autouse=True)
def clean_device() -> Iterator[None]:
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    yield
    torch.cuda.empty_cache()


def on_device(blocks: int, index: int = 0) -> torch.Tensor:
    return torch.zeros(blocks * BLOCK, dtype=torch.uint8, device=f"cuda:{index}")


def test_each_device_has_its_key() -> None:
    """Named as torch names it, with its index, beside the host."""
    manager = SessionStateManager()
    view = DreamZeroSession("a", manager)
    expected = {"cpu": 24}
    view.language = torch.zeros(3, dtype=torch.int64)
    view.vae_enc_feat_map = []
    for index in range(torch.cuda.device_count()):
        view.vae_enc_feat_map += [on_device(index + 1, index), None]
        expected[f"cuda:{index}"] = BLOCK * (index + 1)
    assert expected == manager.nbytes_by_device()
    assert expected == view.nbytes_by_device()
    assert [] == manager.audit()


def test_held_bytes_are_the_allocator_s() -> None:
    """What a session adds and what a drop frees is what `torch.cuda.memory_allocated` says."""
    manager = SessionStateManager()
    before = torch.cuda.memory_allocated()
    view = DreamZeroSession("a", manager)
    view.vae_enc_feat_map = [on_device(4), None, on_device(2)[BLOCK:]]
    view.ys = view.vae_enc_feat_map[0]
    view.vae_encoder_out = torch.zeros(1, 32, 2, 44, 80, dtype=torch.bfloat16, device="cuda")
    held = torch.cuda.memory_allocated() - before
    assert held == manager.stats()["nbytes:cuda:0"]
    manager.drop_session("a")
    assert before == torch.cuda.memory_allocated()
    assert not [key for key in manager.stats() if key.startswith(("nbytes:cuda", "lingering"))]


@pytest.mark.parametrize("aliased", [False, True])
def test_evict_frees_what_the_allocator_gets_back(aliased: bool) -> None:
    """An alias elsewhere frees nothing, and is not counted as freed."""
    buffer: LatentBuffer[torch.Tensor] = LatentBuffer()
    buffer.allocate()
    buffer.append(on_device(8))
    alias = buffer.view()[0] if aliased else None
    before = torch.cuda.memory_allocated()
    assert buffer.evict() == before - torch.cuda.memory_allocated()
    assert (alias is None) == (before > torch.cuda.memory_allocated())


def test_a_ring_never_exceeds_its_frames() -> None:
    """Held bytes on the device stay those of the newest frames while chunks go by."""
    ring = FrameRing()
    ring.allocate(size=2, along=1)
    before = torch.cuda.memory_allocated()
    for _ in range(5):
        ring.append(torch.zeros(1, 3, BLOCK, dtype=torch.uint8, device="cuda"))
        assert 2 * BLOCK == ring.nbytes
        assert 2 * BLOCK == torch.cuda.memory_allocated() - before


def test_pinned_host_memory_is_told_from_pageable() -> None:
    """Both are bytes of the host; `pinned:cpu` says how many of them are page-locked."""
    manager = SessionStateManager()
    view = DreamZeroSession("a", manager)
    view.append_video_latents(torch.zeros(1, 1, 64))
    view.append_video_latents(torch.zeros(1, 1, 4096).pin_memory())
    stats = manager.stats()
    assert (256 + 16384, 16384) == (stats["nbytes:cpu"], stats["pinned:cpu"])
    view.reset_session()
    assert "pinned:cpu" not in manager.stats()
