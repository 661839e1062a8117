"""The rules of the language: one row each, run over schemas that loaded."""

from collections.abc import Iterable

from ..findings import Report, Severity
from ..model import Schema
from ..place import working_on
from .names import duplicate_modules
from .problem import Problem
from .registry import RULES as RULES
from .rule import Rule as Rule


def check(schema: Schema, report: Report) -> None:
    """Run every rule over one schema."""
    for rule in RULES:
        with working_on(f"rule {rule.code}"):
            for problem in rule.check(schema) if rule.check else ():
                _add(schema, rule.code, rule.severity, problem, report)


def check_all(schemas: Iterable[Schema], report: Report) -> None:
    """Run the rules that compare schemas with each other."""
    for schema, problem in duplicate_modules(schemas):
        _add(schema, "duplicate-name", Severity.ERROR, problem, report)


def _add(schema: Schema, code: str, severity: Severity, problem: Problem, report: Report) -> None:
    report.add(schema.path, code, severity, problem.span, problem.message, problem.hint)
