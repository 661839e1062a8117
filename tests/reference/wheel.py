"""The reference system's own classes, imported from its wheel without its dependencies."""

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Literal

WHEEL = Path(__file__).parents[2] / ".reference" / "vllm_omni-0.30.0-py3-none-any.whl"
ROOT = "vllm_omni"
WORLD_MODELS = f"{ROOT}.experimental.world_models"
RUNTIME = f"{WORLD_MODELS}.session_state"
RUNTIME_MODULES = ("accounting", "attrs", "base", "manager", "objects")

STUBBED = (
    ROOT,
    f"{ROOT}.diffusion",
    f"{ROOT}.diffusion.models",
    f"{ROOT}.diffusion.models.dreamzero",
)
"""Packages whose `__init__` would import the whole serving stack."""


@cache
def reference(runtime: Literal["its own", "ours"]) -> SimpleNamespace:
    """Its state class and adapters, the adapters bound to its own runtime or to ours."""
    replaced = dict(_stubs()) | (dict(_our_runtime()) if runtime == "ours" else {})
    with _modules(replaced):
        state = importlib.import_module(f"{ROOT}.diffusion.models.dreamzero.state_dreamzero")
        adapters = f"{WORLD_MODELS}.adapters"
        dreamzero = importlib.import_module(f"{adapters}.state_dreamzero_adapter")
        cosmos3 = importlib.import_module(f"{adapters}.state_cosmos3_adapter")
        manager = importlib.import_module(f"{RUNTIME}.manager")
    return SimpleNamespace(
        DreamZeroState=state.DreamZeroState,
        DreamZeroStateAdapter=dreamzero.DreamZeroStateAdapter,
        Cosmos3StateAdapter=cosmos3.Cosmos3StateAdapter,
        SessionStateManager=manager.SessionStateManager,
    )


def why_missing() -> str | None:
    """Why the tests that use the reference cannot run here, or None."""
    if WHEEL.exists():
        return None
    return f"the reference is not there: `make test` fetches it into {WHEEL.parent.name}/"


def is_required() -> bool:
    """Whether a missing reference is a failure rather than a skip."""
    return os.environ.get("REQUIRE_REFERENCE") == "1"


def _stubs() -> Iterator[tuple[str, ModuleType]]:
    for name in STUBBED:
        module = ModuleType(name)
        module.__path__ = [str(WHEEL.joinpath(*name.split(".")))]
        yield name, module


def _our_runtime() -> Iterator[tuple[str, ModuleType]]:
    yield RUNTIME, importlib.import_module("session_state")
    for name in RUNTIME_MODULES:
        yield f"{RUNTIME}.{name}", importlib.import_module(f"session_state.{name}")


@contextmanager
def _modules(replaced: Mapping[str, ModuleType]) -> Iterator[None]:
    # Each runtime needs its own copy of the adapters, so nothing imported here stays behind.
    assert not any(name.partition(".")[0] == ROOT for name in sys.modules)
    sys.modules.update(replaced)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == ROOT]:
            del sys.modules[name]
