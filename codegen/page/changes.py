"""What changed since another state of the schemas, as the page needs it told."""

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from .formula import Json


class Change(Protocol):
    """One change of meaning; `field` is None where it is of the model as a whole."""

    @property
    def code(self) -> str: ...
    @property
    def breaking(self) -> bool: ...
    @property
    def model(self) -> str: ...
    @property
    def field(self) -> str | None: ...
    @property
    def message(self) -> str: ...
    @property
    def hint(self) -> str | None: ...


@frozen
class Changes:
    """Every change since `against`, which is named as a person gave it."""

    against: str
    rows: Sequence[Change]


def as_json(changes: Changes) -> dict[str, Json]:
    return {
        "against": changes.against,
        "rows": [
            {
                "code": one.code,
                "breaking": one.breaking,
                "model": one.model,
                "field": one.field,
                "message": one.message,
                "hint": one.hint,
            }
            for one in changes.rows
        ],
    }
