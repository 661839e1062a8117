"""A model author's use of a class with families and loans. It only has to type-check.

Each `type: ignore` marks a mistake that the checker must find; one that it no longer finds is an
unused ignore, which is an error too.
"""

from typing import assert_type

from session_state.errors import FieldUnset, NothingCaptured, SessionStateError, UnknownKey
from session_state.manager import SessionStateManager
from torch import Tensor, nn

from generated.cosmos3 import Cosmos3Session


class Conditioned(Cosmos3Session):
    """A model's own part: methods over the fields, and none of its own storage."""

    def text_tokens(self, branch: str) -> int:
        key, _ = self.und_kv[branch, 0]
        return key.shape[1]


def reads(session: Cosmos3Session) -> None:
    assert_type(session.branches, tuple[str, ...])
    assert_type(session.num_layers, int)
    assert_type(session.und_kv["cond", 3], tuple[Tensor, Tensor])
    assert_type(session.freqs_gen["cond"], tuple[Tensor, Tensor])
    assert_type("cond" in session.und_kv, bool)
    for branch in session.und_kv:
        _ = session.freqs_gen[branch]
    session.und_kv["cond", 3].shape  # type: ignore[attr-defined]
    session.und_vk["cond", 3]  # type: ignore[attr-defined]


def writes(session: Cosmos3Session, layers: list[tuple[Tensor, Tensor]], table: Tensor) -> None:
    session.und_kv["cond"] = layers
    session.freqs_gen["cond"] = (table, table)
    del session.und_kv["cond"]
    session.und_kv["cond"] = table  # type: ignore[assignment]
    session.freqs_gen["cond"] = table  # type: ignore[assignment]


def lends(session: Cosmos3Session, transformer: nn.Module) -> None:
    with session.lend_transformer(transformer, branch="cond"):
        transformer()
    session.lend_transformer(transformer)  # type: ignore[call-arg]
    session.lend_transformer(transformer, branch=0)  # type: ignore[arg-type]
    session.lend_transformer(transformer, "cond")  # type: ignore[call-arg]


def generates(manager: SessionStateManager) -> None:
    with manager.generation(Conditioned, "request-1", num_layers=36) as session:
        assert_type(session, Conditioned)
        assert_type(session.text_tokens("cond"), int)
        session.reset_generation()
    branches = ("cond_full", "cond_no_control", "uncond_full")
    manager.generation(Cosmos3Session, "request-1", branches=branches, num_layers=36)
    manager.generation(Cosmos3Session, "request-1")  # type: ignore[call-arg]
    manager.generation(Cosmos3Session, "request-1", branches=2, num_layers=36)  # type: ignore[arg-type]
    Cosmos3Session("request-1", manager, layers=36)  # type: ignore[call-arg]


def counts() -> None:
    declared = Cosmos3Session.declared_nbytes(branches=("cond",), S=256)
    assert_type(declared["cuda:0"], int)
    assert_type(declared.by_field["und_kv"]["cuda:0"], int)
    Cosmos3Session.declared_nbytes(text_tokens=256)  # type: ignore[call-arg]


def handles(session: Cosmos3Session) -> None:
    try:
        session.und_kv["cond", 3]
    except (FieldUnset, UnknownKey, NothingCaptured) as error:
        assert isinstance(error, SessionStateError)
