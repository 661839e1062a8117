"""A model author's use of a generated class. It runs nowhere: it only has to type-check.

Each `type: ignore` marks a mistake that the checker must find; one that it no longer finds is an
unused ignore, which is an error too.
"""

from typing import Literal, assert_type

import numpy as np
import torch
from numpy.typing import NDArray
from session_state.errors import SessionClosed, SessionStateError
from session_state.manager import SessionStateManager
from session_state.objects import LatentBuffer
from torch import Tensor

from generated.dreamzero import DreamZeroSession


class Stacking(DreamZeroSession):
    """A model's own part: methods over the fields, and none of its own storage."""

    def newest(self) -> NDArray[np.uint8]:
        return np.stack(self.stitched_buffer.view())


def reads(session: DreamZeroSession) -> None:
    assert_type(session.session_id, str)
    assert_type(session.frames_per_chunk, int)
    assert_type(session.stitched_buffer, LatentBuffer[NDArray[np.uint8]])
    assert_type(session.video_latents, Tensor | None)
    assert_type(session.vae_encoder_out, Tensor | None)
    assert_type(session.vae_enc_feat_map, list[Tensor | None] | None)
    assert_type(session.vae_stream_initialized, bool)
    assert_type(session.call_count, int)
    assert_type(session.language, Tensor | None)
    assert_type(session.nbytes_by_device(), dict[str, int])
    _ = session.language.shape  # type: ignore[union-attr]
    _ = session.langauge  # type: ignore[attr-defined]


def writes(session: DreamZeroSession, latents: Tensor) -> None:
    session.append_stitched_buffer(np.zeros((352, 640, 3), np.uint8))
    session.append_video_latents(latents)
    session.vae_encoder_out = latents
    session.vae_encoder_out = None
    session.vae_enc_feat_map = [latents, None]
    session.call_count += 1
    session.call_count = "1"  # type: ignore[assignment]
    session.append_video_latents([latents])  # type: ignore[arg-type]
    session.append_stitched_buffer(latents)  # type: ignore[arg-type]
    session.vae_enc_feat_map = latents  # type: ignore[assignment]


def resets(session: DreamZeroSession, tokens: Tensor) -> None:
    reason = session.reset_reason(tokens, num_video_frames=4, local_attn_size=-1)
    assert_type(reason, Literal["session", "inference"] | None)
    if reason == "session":
        session.reset_session()
    elif reason == "inference":
        session.reset_inference()
    session.reset_vae_encoder_stream()
    session.reset_reason(tokens, 4)  # type: ignore[call-arg]
    session.reset_everything()  # type: ignore[attr-defined]


def opens(manager: SessionStateManager) -> None:
    DreamZeroSession(None, manager)
    DreamZeroSession("robot-7", manager, frames_per_chunk=4, vae_encoder_window=3)
    DreamZeroSession("robot-7", manager, 3)  # type: ignore[call-arg]
    DreamZeroSession("robot-7", manager, window=3)  # type: ignore[call-arg]
    DreamZeroSession(7, manager)  # type: ignore[arg-type]
    with manager.generation(Stacking, "request-1", vae_encoder_window=3) as session:
        assert_type(session, Stacking)
        session.newest()
    manager.generation(Stacking, "request-1", vae_encoder_window="3")  # type: ignore[arg-type]
    manager.generation(Stacking, "request-1", window=3)  # type: ignore[call-arg]


def leases(manager: SessionStateManager) -> None:
    with manager.session(Stacking, "robot-7", vae_encoder_window=3) as session:
        assert_type(session, Stacking)
        session.newest()
    with manager.session(DreamZeroSession, None, expect="existing", wait=2.0) as again:
        assert_type(again, DreamZeroSession)
    manager.session(Stacking, "robot-7", expect="old")  # type: ignore[arg-type]
    manager.session(Stacking, "robot-7", window=3)  # type: ignore[call-arg]
    manager.session(Stacking, "robot-7", vae_encoder_window="3")  # type: ignore[arg-type]
    assert_type(manager.close("robot-7", "failed"), bool)
    manager.close("robot-7", "lru")  # type: ignore[arg-type]
    assert_type(manager.sweep(600), int)
    session_or_none = manager.peek("robot-7")
    session_or_none.on_close(print)  # type: ignore[union-attr]


async def asynchronous_leases(manager: SessionStateManager) -> None:
    async with manager.session(DreamZeroSession, "robot-7", wait=2.0) as session:
        assert_type(session, DreamZeroSession)


def counts() -> None:
    declared = DreamZeroSession.declared_nbytes(H=480, W=832, dtype="float32")
    assert_type(declared["cuda:0"], int)
    assert_type(declared.by_field["vae_enc_feat_map"]["cuda:0"], int)
    DreamZeroSession.declared_nbytes(height=480)  # type: ignore[call-arg]


def handles(session: DreamZeroSession) -> None:
    try:
        session.language = torch.zeros(1, 512, dtype=torch.int64)
    except SessionClosed as error:
        assert isinstance(error, SessionStateError)
