"""Formulas as JSON: what `evaluate` computes here, the page computes there."""

from collections.abc import Mapping, Sequence

from ..expressions.ast import (
    Binary,
    Both,
    Call,
    Compare,
    Condition,
    Either,
    Length,
    Members,
    Name,
    Negative,
    Not,
    Number,
    Operand,
)

Json = None | bool | int | str | Sequence["Json"] | Mapping[str, "Json"]


def formula(size: Operand) -> Json:
    """A number, a name, or a list of the operation and what it is applied to.

    `["neg", a]` is `-a`; `["count", key, n, condition]` is how many keys of `range(n)` the
    condition lets through. A name of a `tuple[str, ...]` param stands for how many it gives.
    """
    match size:
        case Number(value=value):
            return value
        case Name(name=name) | Length(param=name):
            return name
        case Negative(operand=operand):
            return ["neg", formula(operand)]
        case Binary(operator=operator, left=left, right=right):
            return [operator, formula(left), formula(right)]
        case Call(function=function, arguments=arguments):
            return [function, *map(formula, arguments)]
        case Members(axis=axis, size=keys, condition=where):
            return ["count", axis, formula(keys), condition(where)]
    raise TypeError(f"{size} is no formula over whole numbers")


def condition(part: Condition) -> Json:
    """A comparison, or `not`, `and`, `or` of such."""
    match part:
        case Compare(operator=operator, left=left, right=right):
            return [operator, formula(left), formula(right)]
        case Not(operand=operand):
            return ["not", condition(operand)]
        case Both(left=left, right=right):
            return ["and", condition(left), condition(right)]
        case Either(left=left, right=right):
            return ["or", condition(left), condition(right)]
    raise TypeError(f"{part} does not compare whole numbers")
