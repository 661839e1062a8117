"""The classes of a schema's records."""

from ..model import Record, Schema
from . import python
from .literals import docstring


def record_class(schema: Schema, record: Record) -> str:
    """A frozen class, so that what was staged or committed is replaced and never changed.

    It is compared by identity, since two tensors have no one truth of being equal, and made with
    keywords, since the order of a schema's keys is no contract.
    """
    said = f"What `{schema.class_name}` holds as one value; replaced as a whole."
    members = "\n".join(
        f"    {member.name}: {python.type_text(member.type, member.dtype)}"
        for member in record.members
        if member.type is not None
    )
    return (
        f"@frozen(eq=False, kw_only=True)\nclass {record.name}:\n"
        f"    {docstring(said, 4)}\n\n{members}"
    )
