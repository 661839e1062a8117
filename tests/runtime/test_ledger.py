"""The ledger: what it says after a touch is what a walk of everything finds."""

import contextlib
import threading
import warnings
from typing import Any

import attrs
import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule
from session_state import SessionStateManager, walk
from session_state.session import SessionState

from generated.dreamzero import DreamZeroSession
from tests.cases.generated.staged.expected import StagedSession

ATTRS = ("clip_feas", "ys", "language", "prompt_embeds", "vae_pending_body_frames")
SIZES = st.integers(1, 40)


def walked(sessions: list[SessionState], *, staged: bool = True) -> dict[str, int]:
    """Bytes per device of all sessions together, by one walk of everything they hold."""
    held = [
        (
            list(session._carried.values()),
            [(obj._contents() or ())[: 2 if staged else 1] for obj in session._objects.values()],
        )
        for session in sessions
    ]
    return {device: nbytes for device, nbytes in walk(held, set()).nbytes.items() if nbytes}


class Ledger(RuleBasedStateMachine):
    """Sessions that share, alias, mutate and let go; after each step they are touched."""

    tensors = Bundle("tensors")

    def __init__(self) -> None:
        super().__init__()
        self.manager = SessionStateManager(max_sessions=3)
        self.views: dict[str, DreamZeroSession] = {}

    def view(self, key: str) -> DreamZeroSession:
        if key not in self.views or self.views[key]._status.closed:
            self.views[key] = DreamZeroSession(key, self.manager)
        return self.views[key]

    @rule(target=tensors, size=SIZES, kind=st.sampled_from(["plain", "view", "numpy", "shared"]))
    def make(self, size: int, kind: str) -> Any:
        whole = torch.zeros(size * 8)
        if kind == "view":
            return whole[size:]
        if kind == "numpy":
            return torch.from_numpy(np.zeros(size * 8, np.float32)[size:])
        if kind == "shared":
            return torch.from_numpy(whole.numpy())
        return whole

    @rule(target=tensors, size=SIZES)
    def make_of_another_kind(self, size: int) -> Any:
        dense = torch.eye(size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nested = torch.nested.nested_tensor([torch.ones(size), torch.ones(size + 1)])
            quantised = torch.quantize_per_tensor(dense, 0.1, 0, torch.qint8)
        return multiple(
            dense.to_sparse(),
            quantised,
            nested,
            torch.empty(size, device="meta"),
        )

    @rule(key=st.sampled_from("abcde"), name=st.sampled_from(ATTRS), tensor=tensors)
    def assign(self, key: str, name: str, tensor: Any) -> None:
        setattr(self.view(key), name, tensor)

    @rule(key=st.sampled_from("abcde"), some=st.lists(tensors, max_size=4))
    def assign_a_list(self, key: str, some: list[Any]) -> None:
        self.view(key).vae_enc_feat_map = list(some)

    @rule(key=st.sampled_from("abcde"), tensor=tensors)
    def mutate_a_list(self, key: str, tensor: Any) -> None:
        held = self.view(key).vae_enc_feat_map
        if held:
            held[len(held) // 2] = tensor

    @rule(key=st.sampled_from("abcde"), size=SIZES)
    def append(self, key: str, size: int) -> None:
        view = self.view(key)
        view.append_video_latents(torch.zeros(1, 1, size))
        view.append_vae_encoder_out(torch.zeros(1, 1, size % 3 + 1, 2))
        view.append_stitched_buffer(np.zeros((size, 2, 3), np.uint8))

    @rule(tensor=tensors, size=SIZES)
    def resize(self, tensor: Any, size: int) -> None:
        try:
            tensor.untyped_storage().resize_(size * 64)
        except (RuntimeError, NotImplementedError):
            return

    @rule(tensor=tensors, size=SIZES)
    def resize_unseen(self, tensor: Any, size: int) -> None:
        """Where nobody touched a session since, the audit says what changed, to the byte."""
        before = self.by_field()
        self.resize(tensor, size)
        after = self.by_field()
        changed = [(*at, held, after[at]) for at, held in before.items() if held != after[at]]
        assert sorted(changed) == [attrs.astuple(drift) for drift in self.manager.audit()]

    def by_field(self) -> dict[tuple[str, str, str], int]:
        """Bytes of every field of every session on the CPU, by walks that touch none."""
        return {
            (account.session_id, name, "cpu"): walk(
                (session._carried.get(name), contents(session, name)), set()
            ).nbytes.get("cpu", 0)
            for account, session in self.manager.ledger.sessions()
            for name in session.field_names()
        }

    @rule(tensor=tensors, size=SIZES)
    def swap_data(self, tensor: Any, size: int) -> None:
        is_plain = tensor.layout is torch.strided and not tensor.is_nested
        if is_plain and not tensor.is_quantized and tensor.device.type == "cpu":
            tensor.data = torch.ones(size)

    @rule(key=st.sampled_from("abcde"))
    def reset(self, key: str) -> None:
        self.view(key).reset_session()

    @rule(key=st.sampled_from("abcde"))
    def drop(self, key: str) -> None:
        self.manager.drop_session(key)

    @rule(key=st.sampled_from("abcde"), reason=st.sampled_from(["client", "idle", "failed"]))
    def close(self, key: str, reason: Any) -> None:
        self.manager.close(key, reason)

    @rule(key=st.sampled_from("xy"), tensor=tensors, size=SIZES, outcome=st.sampled_from("cdk"))
    def stage(self, key: str, tensor: Any, size: int, outcome: str) -> None:
        """Staged values are committed, discarded, or kept for a later step."""
        with self.manager.session(StagedSession, key, window=3) as view:
            view.generator_state = tensor
            view.encoder_cache = [torch.zeros(size), None]
            view.append_frames(torch.zeros(1, size % 3 + 1, 4, 6))
            if outcome == "c":
                view.commit()
            elif outcome == "d":
                view.discard()

    @rule(key=st.sampled_from("xy"), tensor=tensors)
    def fail_in_a_transaction(self, key: str, tensor: Any) -> None:
        with (
            self.manager.session(StagedSession, key, window=3) as view,
            contextlib.suppress(ZeroDivisionError),
            view.transaction(),
        ):
            view.generator_state = tensor
            raise ZeroDivisionError

    @rule(key=st.sampled_from("abcde"))
    def let_go(self, key: str) -> None:
        gone = [self.views.pop(key, None)]
        thread = threading.Thread(target=gone.clear)
        thread.start()
        thread.join()

    @invariant()
    def the_books_agree_with_a_walk(self) -> None:
        """Totals, each session's share, and the audit."""
        table = [record.session for record in self.manager._table.snapshot()]
        alive = [session for _, session in self.manager.ledger.sessions()]
        for session in alive:
            for name in session.field_names():
                session.get(name)
            session.attrs  # noqa: B018
        stats = self.manager.stats()
        in_table = walked(table)
        assert in_table == devices(stats, "nbytes")
        committed = walked(table, staged=False)
        staged = {device: n - committed.get(device, 0) for device, n in in_table.items()}
        assert {d: n for d, n in staged.items() if n} == devices(stats, "staged")
        everywhere = walked([*table, *(one for one in alive if one not in table)])
        detached = {
            device: nbytes - in_table.get(device, 0) for device, nbytes in everywhere.items()
        }
        assert {d: n for d, n in detached.items() if n} == devices(stats, "detached")
        for account, session in self.manager.ledger.sessions():
            assert walked([session]) == {d: n for d, n in account.held.items() if n}
            others = walked([one for one in alive if one is not session])
            own = {d: n - others.get(d, 0) for d, n in everywhere.items()}
            assert {d: n for d, n in own.items() if n} == {
                d: n for d, n in account.exclusive.items() if n
            }
        assert self.manager.audit() == []


def contents(session: SessionState, name: str) -> Any:
    """What the object of that name holds, committed and staged."""
    obj = session._objects.get(name)
    return None if obj is None else (obj._contents() or ())[:2]


def devices(stats: dict[str, int], kind: str) -> dict[str, int]:
    """The bytes per device of one kind of total."""
    return {
        key.partition(":")[2]: nbytes for key, nbytes in stats.items() if key.startswith(f"{kind}:")
    }


TestLedger = Ledger.TestCase
TestLedger.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
