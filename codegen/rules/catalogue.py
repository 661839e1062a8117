"""Every code that any command can report."""

from ..breaking import KINDS
from .drift import DRIFT
from .registry import RULES
from .rule import Rule

CATALOGUE: tuple[Rule, ...] = (*RULES, *DRIFT)
"""What `check` reports of one state of the project; docs/rules.md is made of it."""

CHANGES = tuple(Rule(kind.code, kind.severity, kind.purpose) for kind in KINDS)
"""What `breaking` reports of two; docs/breaking.md lists them."""
