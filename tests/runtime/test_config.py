"""Whether the manager is used, by config and environment; and what importing the runtime costs."""

import logging
import subprocess
import sys

import pytest
from session_state.manager import (
    DEFAULT_MAX_SESSIONS,
    resolve_session_state_config,
)

ENABLE = "OMNI_DIFFUSION_SESSION_STATE_MANAGER"


@pytest.mark.parametrize(
    ("environment", "arguments", "expected", "warnings"),
    [
        ({}, (None, None), (False, DEFAULT_MAX_SESSIONS), 0),
        ({}, (True, 5), (True, 5), 0),
        ({ENABLE: "1"}, (False, 5), (True, 5), 0),
        ({ENABLE: " No "}, (True, None), (False, 64), 0),
        ({ENABLE: "on", f"{ENABLE}_MAX_SESSIONS": "7"}, (False, 5), (True, 7), 0),
        ({ENABLE: "maybe"}, (True, 5), (True, 5), 1),
        ({ENABLE: ""}, (True, 5), (True, 5), 1),
        ({f"{ENABLE}_MAX_SESSIONS": "0"}, (True, 5), (True, 5), 1),
        ({f"{ENABLE}_MAX_SESSIONS": "-3"}, (True, 5), (True, 5), 1),
        ({f"{ENABLE}_MAX_SESSIONS": "1_0"}, (True, 5), (True, 5), 1),
        ({f"{ENABLE}_MAX_SESSIONS": "many", ENABLE: "2"}, (True, 5), (True, 5), 2),
    ],
)
def test_the_environment_wins_over_the_config(
    environment: dict[str, str],
    arguments: tuple[bool | None, int | None],
    expected: tuple[bool, int],
    warnings: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In both directions; what cannot be read is named in a warning, and the config stands."""
    for variable in (ENABLE, f"{ENABLE}_MAX_SESSIONS"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    with caplog.at_level(logging.WARNING):
        assert expected == resolve_session_state_config(*arguments)
    assert warnings == len(caplog.messages)
    for message in caplog.messages:
        assert any(f"{name}={value!r}" in message for name, value in environment.items())


def test_the_runtime_imports_nothing_of_the_generator() -> None:
    """A serving process loads neither YAML nor templates nor the command line."""
    code = (
        "import sys, torch, numpy, attrs; before = set(sys.modules); import session_state; "
        "print({'yaml', 'jinja2', 'click', 'codegen', 'generated'} & (set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
