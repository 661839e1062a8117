"""Whether the manager is used, and for how many sessions: the config, and what overrides it."""

import logging
import os
import re

DEFAULT_MAX_SESSIONS = 64
"""The cap of the caches that the manager replaces, so that it evicts as they do."""

_ENABLE = "OMNI_DIFFUSION_SESSION_STATE_MANAGER"
_MAX_SESSIONS = f"{_ENABLE}_MAX_SESSIONS"
_SWITCH = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}

logger = logging.getLogger(__name__)


def resolve_session_state_config(
    enable: bool | None = None, max_sessions: int | None = None
) -> tuple[bool, int]:
    """Whether the manager is enabled, and its cap on sessions.

    A set OMNI_DIFFUSION_SESSION_STATE_MANAGER (1/0, true/false, yes/no, on/off) wins over `enable`
    in both directions, and ..._MAX_SESSIONS (an int of 1 or more) over `max_sessions`. A value that
    cannot be read leaves the argument in force, with a warning that names variable and value.
    """
    switch = os.environ.get(_ENABLE)
    if switch is not None:
        chosen = _SWITCH.get(switch.strip().lower())
        if chosen is None:
            _ignored(_ENABLE, switch, "one of " + ", ".join(_SWITCH))
        else:
            enable = chosen
    cap = os.environ.get(_MAX_SESSIONS)
    if cap is not None:
        if re.fullmatch(r"\+?0*[1-9][0-9]{0,17}", cap.strip(), re.ASCII):
            max_sessions = int(cap)
        else:
            _ignored(_MAX_SESSIONS, cap, "an int of 1 or more")
    return bool(enable), int(max_sessions or DEFAULT_MAX_SESSIONS)


def _ignored(variable: str, value: str, expected: str) -> None:
    logger.warning("%s=%r is ignored: expected %s; the config applies", variable, value, expected)
