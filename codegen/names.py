"""Names that a schema cannot give to its own parts, since something else answers to them."""

import keyword
import re
import unicodedata
from collections.abc import Iterator, Mapping

from .model import Schema

KEYWORDS = frozenset(keyword.kwlist)

# What model code calls on a session, its objects and its manager; all of it is public, and a field
# of one of these names would hide it now or when the rest of it is built.
_SURFACE = """
    AbstractContextManager allocate along Any append attrs audit byte_budget Callable check
    close close_all commit Concatenate Cosmos3Session device_bytes discard DreamZeroSession drop_session
    evictions expect extend Family FieldFrozen FieldUnset FrameRing generation Generic get
    get_or_create get_or_create_session hits Item Iterator last LatentBuffer lend Literal
    ManagerMayNot Mapping max_sessions misses MutableSet names nbytes nbytes_by_device NDArray
    NothingCaptured np object P ParamSpec peek Protocol put rebuild reclaim register_rebuild release reset
    RingTooShort session session_id SessionBusy SessionClassMismatch SessionClosed
    SessionExists SessionFailed SessionNotFound SessionParamsDiffer sessions SessionState
    SessionStateError SessionStateManager SessionView size stats sweep Tensor transaction
    TypeVar unaccounted UndKV UnknownKey V Value_co view wait Walk walk
"""
SURFACE = frozenset(_SURFACE.split())

# What the templates write into a module, a class or a method.
_WRITTEN = """
    AbstractContextManager accelerator add Any append as_bool as_float as_int as_names as_str
    Attr AttrFamily attrs Axis bool CapturedAxis ceil_div check_sizes classmethod cls contextlib
    declared declared_nbytes DeclaredBytes dict dtype EncodeOnce equal float FrameRing
    frozen int item
    LatentBuffer len list Literal manager max min module NDArray np numpy object ObjectFamily
    ObjectField optional Param range reset_reason self session session_id session_state
    SessionStateManager SessionView set steps str sum Tensor torch tuple typing
    ValueField ViewField
"""
WRITTEN = frozenset(_WRITTEN.split())

# What annotations and decorators are written with, whether or not the emitter writes it today.
ANNOTATIONS = frozenset(["Any", "bytes", "frozenset", "property", "staticmethod", "super", "type"])
EMITTED = WRITTEN | ANNOTATIONS

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_identifier(name: str) -> bool:
    """Whether Python takes `name` for a name as it is spelled: ASCII, so that it reads as it is."""
    return _IDENTIFIER.fullmatch(name) is not None


def spelling(name: str) -> str | None:
    """A name that is one, and close to `name`; None where nothing of it is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    words = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")
    if not words:
        return None
    return words if words[0].isalpha() else f"n{words}"


def generated_names(schema: Schema) -> Mapping[str, str]:
    """The methods that this schema's class gets, and for each what it is made for."""
    return dict(_generated(schema))


def _generated(schema: Schema) -> Iterator[tuple[str, str]]:
    for reset in schema.resets:
        yield f"reset_{reset.name}", f"the reset `{reset.name}`"
    for group in schema.groups:
        yield f"reset_{group.name}", f"the group `{group.name}`"
    for handoff in schema.handoffs:
        yield f"lend_{handoff.name}", f"the handoff `{handoff.name}`"
    for field in schema.fields:
        if "accumulate" in field.manager_may:
            yield f"append_{field.name}", f"the field `{field.name}`"
