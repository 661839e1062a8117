"""One sequence of writes, chosen by Hypothesis, for two stores of states that must agree."""

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from numpy.typing import NDArray
from session_state.manager import SessionStateManager
from torch import Tensor

from examples.dreamzero.compare import differences, same

SESSIONS = 3
HELD_VIEWS = 4

session_ids = st.sampled_from(["a", "b", "c", "d", "e"])
held_views = st.integers(0, HELD_VIEWS - 1)
latent_frames = st.integers(1, 5)


class Store(Protocol):
    """Sessions by id, the least recently opened leaving first."""

    def open(self, session_id: str) -> Any: ...
    def drop(self, session_id: str) -> Any: ...
    def __contains__(self, session_id: str) -> bool: ...


class Handwritten:
    """States held in a table that is capped by count."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._states: OrderedDict[str, Any] = OrderedDict()

    def open(self, session_id: str) -> Any:
        if session_id not in self._states:
            self._states[session_id] = self._make()
        self._states.move_to_end(session_id)
        if len(self._states) > SESSIONS:
            self._states.popitem(last=False)
        return self._states[session_id]

    def drop(self, session_id: str) -> Any:
        return self._states.pop(session_id, None)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._states


class Managed:
    """Views over one manager, made anew each time."""

    def __init__(self, manager: Any, view: Callable[[str, Any], Any]) -> None:
        self.manager = manager
        self._view = view

    def open(self, session_id: str) -> Any:
        return self._view(session_id, self.manager)

    def drop(self, session_id: str) -> Any:
        self.manager.drop_session(session_id)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self.manager


class SameWrites(RuleBasedStateMachine):
    """Two stores see the same calls; `differing` says where two of their states disagree.

    Views are held while their session leaves the table, and others are opened beside them.
    """

    left: Store
    right: Store
    window: int

    def __init__(self) -> None:
        super().__init__()
        self.views: list[tuple[Any, Any]] = []
        self.written = 0

    @abstractmethod
    def stores(self, window: int) -> tuple[Store, Store]:
        """The two stores, whose views keep `window` latent frames."""

    def differing(self, left: Any, right: Any) -> list[str]:
        return differences(left, right)

    @initialize(session_id=session_ids, window=st.integers(1, 4))
    def begin(self, session_id: str, window: int) -> None:
        self.window = window
        self.left, self.right = self.stores(window)
        self.open(session_id)

    @rule(session_id=session_ids)
    def open(self, session_id: str) -> None:
        self.views.append((self.left.open(session_id), self.right.open(session_id)))
        del self.views[:-HELD_VIEWS]

    @precondition(lambda self: self.views)
    @rule(session_id=session_ids)
    def drop(self, session_id: str) -> None:
        ended = self.left.drop(session_id)
        self.right.drop(session_id)
        self.views = [view for view in self.views if ended is None or view[0] is not ended]

    @precondition(lambda self: self.views)
    @rule(view=held_views, shape=st.sampled_from([(2, 3, 3), (1, 2, 3, 3), (5, 2, 3, 3), (2, 3)]))
    def accumulate_frames(self, view: int, shape: tuple[int, ...]) -> None:
        frames = self._pixels(shape)
        self._both(view, lambda state: state.accumulate_frames(frames))

    @precondition(lambda self: self.views)
    @rule(view=held_views, frames=latent_frames)
    def seed_the_encoder(self, view: int, frames: int) -> None:
        first = self._latents(frames)

        def seed(state: Any) -> None:
            state.reset_vae_encoder_stream()
            state.vae_encoder_out = first
            state.vae_stream_initialized = True

        self._both(view, seed)

    @precondition(lambda self: self.views)
    @rule(view=held_views, frames=latent_frames)
    def append_to_the_encoder(self, view: int, frames: int) -> None:
        chunk = self._latents(frames)
        self._both(view, lambda state: state.append_vae_encoder_chunk(chunk))

    @precondition(lambda self: self.views)
    @rule(view=held_views, slots=st.lists(st.booleans(), min_size=1, max_size=4))
    def replace_the_feature_map(self, view: int, slots: list[bool]) -> None:
        entries = [self._latents(2) if full else None for full in slots]
        self._both(view, lambda state: setattr(state, "vae_enc_feat_map", list(entries)))

    @precondition(lambda self: self.views)
    @rule(view=held_views)
    def write_a_slot_in_place(self, view: int) -> None:
        entry = self._latents(2)

        def write(state: Any) -> None:
            if state.vae_enc_feat_map is not None:
                state.vae_enc_feat_map[0] = entry

        self._both(view, write)

    @precondition(lambda self: self.views)
    @rule(
        view=held_views,
        name=st.sampled_from(["vae_pending_body_frames", "clip_feas", "ys", "prompt_embeds"]),
        present=st.booleans(),
    )
    def assign(self, view: int, name: str, present: bool) -> None:
        value = self._latents(1) if present else None
        self._both(view, lambda state: setattr(state, name, value))

    @precondition(lambda self: self.views)
    @rule(view=held_views, frames=latent_frames)
    def append_video_latents(self, view: int, frames: int) -> None:
        chunk = self._latents(frames).transpose(1, 2)
        self._both(view, lambda state: state.append_video_latents(chunk))

    @precondition(lambda self: self.views)
    @rule(view=held_views)
    def clear_video_latents(self, view: int) -> None:
        self._both(view, lambda state: state.clear_video_latents())

    @precondition(lambda self: self.views)
    @rule(view=held_views, frames=st.integers(0, 4))
    def advance(self, view: int, frames: int) -> None:
        def advance(state: Any) -> None:
            state.current_start_frame += frames

        self._both(view, advance)

    @precondition(lambda self: self.views)
    @rule(
        view=held_views,
        instruction=st.sampled_from([0, 0, 0, 1, None]),
        num_video_frames=st.sampled_from([0, 1, 4]),
        local_attn_size=st.sampled_from([-1, 3]),
    )
    def begin_a_forward(
        self, view: int, instruction: int | None, num_video_frames: int, local_attn_size: int
    ) -> None:
        tokens = None if instruction is None else torch.tensor([[instruction]])

        def begin(state: Any) -> tuple[str | None, bool]:
            arguments = (tokens, num_video_frames, local_attn_size)
            reason, resets = state.reset_reason(*arguments), state.should_reset(*arguments)
            if reason is not None:
                state.reset(clear_video_latents=reason == "session")
            state.language = tokens
            return reason, resets

        self._both(view, begin)

    @precondition(lambda self: self.views)
    @rule(
        view=held_views,
        name=st.sampled_from(["reset", "reset_inference_state", "reset_vae_encoder_stream"]),
    )
    def reset(self, view: int, name: str) -> None:
        self._both(view, lambda state: getattr(state, name)())

    @precondition(lambda self: self.views)
    @rule(view=held_views, clear_video_latents=st.booleans())
    def reset_by_argument(self, view: int, clear_video_latents: bool) -> None:
        self._both(view, lambda state: state.reset(clear_video_latents=clear_video_latents))

    @invariant()
    def every_view_agrees(self) -> None:
        for left, right in self.views:
            assert [] == self.differing(left, right)

    @invariant()
    def the_same_sessions_are_in_the_table(self) -> None:
        if self.views:
            for session_id in "abcde":
                assert (session_id in self.left) == (session_id in self.right)

    def _both(self, view: int, call: Callable[[Any], Any]) -> None:
        left, right = (_outcome(call, state) for state in self.views[view % len(self.views)])
        assert same(left, right), (left, right)

    def _latents(self, frames: int) -> Tensor:
        self.written += 1
        return torch.arange(1.0, 1 + 4 * frames).reshape(1, 2, frames, 1, 2) + 100 * self.written

    def _pixels(self, shape: tuple[int, ...]) -> NDArray[np.uint8]:
        self.written += 1
        return np.arange(np.prod(shape), dtype=np.uint8).reshape(shape) + np.uint8(self.written)


def manager() -> SessionStateManager:
    """A manager with the cap of the tests."""
    return SessionStateManager(max_sessions=SESSIONS)


def _outcome(call: Callable[[Any], Any], state: Any) -> object:
    try:
        return call(state)
    except (RuntimeError, ValueError) as error:
        return next(base for base in (RuntimeError, ValueError) if isinstance(error, base))
