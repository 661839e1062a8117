"""Names that a schema cannot give to its own parts, since something else answers to them."""

import keyword
import re
import unicodedata
from collections.abc import Iterator, Mapping

from .model import Schema

KEYWORDS = frozenset(keyword.kwlist)

# What model code calls on a session, its objects and its manager; all of it is public, and a field
# of one of these names would hide it now or when the rest of it is built.
SURFACE = frozenset(
    [
        "AbstractContextManager",
        "Any",
        "Callable",
        "Concatenate",
        "Cosmos3Session",
        "DreamZeroSession",
        "Family",
        "FieldFrozen",
        "FieldUnset",
        "FrameRing",
        "Generic",
        "Item",
        "Iterator",
        "LatentBuffer",
        "Literal",
        "ManagerMayNot",
        "Mapping",
        "MutableSet",
        "NDArray",
        "NothingCaptured",
        "P",
        "ParamSpec",
        "Protocol",
        "RingTooShort",
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
        "Tensor",
        "TypeVar",
        "UndKV",
        "UnknownKey",
        "V",
        "Value_co",
        "Walk",
        "allocate",
        "along",
        "append",
        "attrs",
        "audit",
        "byte_budget",
        "check",
        "close",
        "commit",
        "device_bytes",
        "discard",
        "drop_session",
        "evictions",
        "extend",
        "generation",
        "get_or_create_session",
        "hits",
        "last",
        "lend",
        "max_sessions",
        "misses",
        "nbytes",
        "nbytes_by_device",
        "np",
        "object",
        "peek",
        "rebuild",
        "reclaim",
        "release",
        "reset",
        "session",
        "session_id",
        "sessions",
        "size",
        "stats",
        "sweep",
        "transaction",
        "unaccounted",
        "view",
        "walk",
    ]
)

# What the templates write into a module, a class or a method.
EMITTED = frozenset(
    [
        "Any",
        "Attr",
        "DeclaredBytes",
        "FrameRing",
        "LatentBuffer",
        "Literal",
        "NDArray",
        "ObjectField",
        "Param",
        "SessionStateManager",
        "SessionView",
        "Tensor",
        "ViewField",
        "accelerator",
        "add",
        "append",
        "as_bool",
        "as_float",
        "as_int",
        "as_is",
        "as_str",
        "bool",
        "ceil_div",
        "check_sizes",
        "classmethod",
        "cls",
        "declared",
        "declared_nbytes",
        "dict",
        "dtype",
        "equal",
        "float",
        "int",
        "item",
        "itemsize",
        "list",
        "manager",
        "max",
        "min",
        "np",
        "numpy",
        "object",
        "optional",
        "property",
        "reset_reason",
        "self",
        "session",
        "session_id",
        "session_state",
        "set",
        "steps",
        "str",
        "torch",
        "tuple",
        "typing",
    ]
)

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
    for field in schema.fields:
        if field.placement == "object":
            yield f"append_{field.name}", f"the field `{field.name}`"
