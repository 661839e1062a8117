"""Which fields end with which."""

from collections.abc import Mapping

from .axes import shared_axes
from .fields import Field


def dependents(fields: Mapping[str, Field]) -> dict[str, dict[str, int]]:
    """For each field those that are cleared with it, directly or through others.

    The numbers say how many leading keys of the source narrow down what is cleared: of a family
    that shares axes with its source, only what lies under the same keys. Raises TypeError for an
    `invalidated_by` that is no field.
    """
    for name, field in fields.items():
        for source in field.invalidated_by:
            if source not in fields:
                raise TypeError(f"{name!r} is invalidated by {source!r}, which is no field")
    return {source: _ended_with(source, fields) for source in fields}


def _ended_with(source: str, fields: Mapping[str, Field]) -> dict[str, int]:
    ended: dict[str, int] = {}
    pending = [(source, len(fields[source].axes))]
    while pending:
        name, keys = pending.pop()
        for other, field in fields.items():
            if name not in field.invalidated_by or other == source:
                continue
            shared = min(keys, shared_axes(fields[name], field))
            # Again, when another way there clears more.
            if shared < ended.get(other, shared + 1):
                ended[other] = shared
                pending.append((other, shared))
    return ended
