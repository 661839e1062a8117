"""What a world model keeps between calls: typed sessions, their resets, their bytes."""

from .accounting import SeenStorages, Walk, device_bytes, merge_bytes, walk
from .attrs import SessionAttr
from .axes import Family
from .base import StateObject
from .errors import (
    FieldFrozen,
    FieldUnset,
    ManagerMayNot,
    NothingCaptured,
    RingTooShort,
    SessionBusy,
    SessionClassMismatch,
    SessionClosed,
    SessionExists,
    SessionFailed,
    SessionNotFound,
    SessionParamsDiffer,
    SessionStateError,
    UnknownKey,
)
from .leases import Lease
from .manager import (
    DEFAULT_MAX_SESSIONS,
    SessionState,
    SessionStateManager,
    resolve_session_state_config,
)
from .objects import EncodeOnce, FrameRing, LatentBuffer
from .values import Value
from .view import SessionView

__all__ = [
    "DEFAULT_MAX_SESSIONS",
    "EncodeOnce",
    "Family",
    "FieldFrozen",
    "FieldUnset",
    "FrameRing",
    "LatentBuffer",
    "Lease",
    "ManagerMayNot",
    "NothingCaptured",
    "RingTooShort",
    "SeenStorages",
    "SessionAttr",
    "SessionBusy",
    "SessionClassMismatch",
    "SessionClosed",
    "SessionExists",
    "SessionFailed",
    "SessionNotFound",
    "SessionParamsDiffer",
    "SessionState",
    "SessionStateError",
    "SessionStateManager",
    "SessionView",
    "StateObject",
    "UnknownKey",
    "Value",
    "Walk",
    "device_bytes",
    "merge_bytes",
    "resolve_session_state_config",
    "walk",
]
