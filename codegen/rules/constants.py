"""Parts of conditions that no session can make come out otherwise, or come out at all."""

from collections.abc import Iterator

from ..expressions.ast import Both, Compare, Condition, Either, IsNone, Not
from ..expressions.evaluate import FormulaError, Values, divisors, signed
from ..expressions.sizes import names_in, parts_of
from .problem import Problem


def bad_divisions(condition: Condition, values: Values) -> Iterator[Problem]:
    """Divisions by zero at the shipped values of the params."""
    for division, divisor in divisors(condition):
        if any(name.name not in values for name in names_in(divisor)):
            continue
        try:
            zero = signed(divisor, values) == 0
        except FormulaError:
            continue
        if zero:
            used = ", ".join(
                dict.fromkeys(f"{n.name} = {values[n.name]}" for n in names_in(divisor))
            )
            message = f"This divides by zero{f' at {used}' if used else ''}."
            yield Problem(division.at, message, "divide by what is never zero")


def constant_parts(condition: Condition) -> Iterator[Problem]:
    """Comparisons of two constants or of a value with itself, and tests beside their opposite."""
    hint = "compare it with what may differ, or take it out"
    for part in parts_of(condition):
        if isinstance(part, Compare) and not names_in(part):
            yield Problem(part.at, "Both sides are constants, so this decides nothing.", hint)
        elif isinstance(part, Compare) and part.left == part.right:
            yield Problem(part.at, "Both sides are the same, so this decides nothing.", hint)
    yield from _contradictions(condition)


def _contradictions(condition: Condition) -> Iterator[Problem]:
    """Chains of `or` that are always true, and of `and` that are always false."""
    match condition:
        case Not(operand=operand):
            yield from _contradictions(operand)
        case Both() | Either():
            links = list(_links(condition, type(condition)))
            for index, link in enumerate(links):
                if _opposite(link) in links[:index]:
                    outcome = "true" if isinstance(condition, Either) else "false"
                    message = (
                        f"This and its opposite stand in one chain, which is always {outcome}."
                    )
                    yield Problem(link.at, message, "take one of the two out")
                    break
            for link in links:
                yield from _contradictions(link)


def _links(condition: Condition, chain: type[Both | Either]) -> Iterator[Condition]:
    """The operands of nested `and`s, or of nested `or`s, in a row."""
    if isinstance(condition, Both | Either) and isinstance(condition, chain):
        yield from _links(condition.left, chain)
        yield from _links(condition.right, chain)
    else:
        yield condition


def _opposite(condition: Condition) -> Condition:
    match condition:
        case Not(operand=operand):
            return operand
        case IsNone(name=name, negated=negated):
            return IsNone(name, not negated)
        case Compare(operator="==" | "!=", left=left, right=right):
            return Compare("==" if condition.operator == "!=" else "!=", left, right)
    return Not(condition)
