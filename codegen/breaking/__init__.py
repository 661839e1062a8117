"""What a running session or its caller would notice between two states of the schemas."""

from collections.abc import Iterable
from decimal import Decimal

from ..expressions.ast import NOWHERE
from ..model import Schema
from ..place import working_on
from .change import Change as Change
from .change import Kind as Kind
from .kinds import KINDS as KINDS
from .pairs import Comparison as Comparison
from .pairs import compared as compared

# Per cent that declared bytes may grow by.
THRESHOLD = Decimal(10)


def changes_between(
    old: Iterable[Schema], new: Iterable[Schema], threshold: Decimal = THRESHOLD
) -> tuple[Change, ...]:
    """Every change from `old` to `new`, by file and place.

    Both are schemas that loaded without errors; `threshold` is the growth of declared bytes, in
    per cent, that is still no change.
    """
    return changes_of(compared(old, new, threshold))


def changes_of(comparison: Comparison) -> tuple[Change, ...]:
    """Every change of a comparison, by file and place."""
    changes = set()
    for kind in KINDS:
        with working_on(f"comparison {kind.code}"):
            for found in kind.compare(comparison):
                changes.add(
                    Change(
                        path=found.schema.path,
                        span=None if found.gone else found.problem.span,
                        code=kind.code,
                        severity=kind.severity,
                        model=found.schema.model,
                        field=found.field,
                        message=found.problem.message,
                        hint=found.problem.hint,
                    )
                )
    return tuple(sorted(changes, key=_place))


def _place(change: Change) -> tuple[object, ...]:
    return (change.path, change.span or NOWHERE, change.code, change.message)
