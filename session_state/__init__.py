"""What a world model keeps between calls: typed sessions, their resets, their bytes."""

from .accounting import SeenStorages, Walk, device_bytes, merge_bytes, walk
from .attrs import SessionAttr
from .audit import Drift
from .axes import Family
from .base import StateObject
from .errors import (
    BorrowerBusy,
    FieldFrozen,
    FieldUnset,
    ManagerMayNot,
    NoRebuild,
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
from .leaks import Leak, leaks
from .leases import Lease
from .manager import (
    DEFAULT_MAX_SESSIONS,
    SessionState,
    SessionStateManager,
    resolve_session_state_config,
)
from .objects import EncodeOnce, FrameRing, LatentBuffer
from .rows import SessionRow
from .values import Value
from .view import SessionView

__all__ = [
    "BorrowerBusy",
    "DEFAULT_MAX_SESSIONS",
    "Drift",
    "EncodeOnce",
    "Family",
    "FieldFrozen",
    "FieldUnset",
    "FrameRing",
    "LatentBuffer",
    "Leak",
    "Lease",
    "ManagerMayNot",
    "NoRebuild",
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
    "SessionRow",
    "SessionState",
    "SessionStateError",
    "SessionStateManager",
    "SessionView",
    "StateObject",
    "UnknownKey",
    "Value",
    "Walk",
    "device_bytes",
    "leaks",
    "merge_bytes",
    "resolve_session_state_config",
    "walk",
]
