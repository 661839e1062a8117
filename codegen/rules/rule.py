"""What a row of the registry is."""

from collections.abc import Callable, Iterator

from attrs import frozen

from ..findings import Severity
from ..model import Schema
from .problem import Problem

Check = Callable[[Schema], Iterator[Problem]]


@frozen
class Rule:
    """One code: how bad it is, why anyone should care, and how a schema that loaded is checked.

    The first sentence of `purpose` says what holds where nothing is found.
    """

    code: str
    severity: Severity
    purpose: str
    check: Check | None = None

    @property
    def summary(self) -> str:
        """The first sentence of the purpose."""
        first, stop, _ = self.purpose.partition(". ")
        return first + stop.rstrip()
