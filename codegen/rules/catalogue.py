"""Every code that any command can report."""

from .drift import DRIFT
from .registry import RULES
from .rule import Rule

CATALOGUE: tuple[Rule, ...] = (*RULES, *DRIFT)
