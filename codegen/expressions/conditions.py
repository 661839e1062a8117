"""Conditions: when a reset happens, over fields, arguments and params.

either  = both {"or" both}
both    = negated {"and" negated}
negated = "not" negated | compare
compare = sum ["is" ["not"] "None" | ("==" | "!=" | "<" | "<=" | ">" | ">=") sum]
atom    = ... | "equal" "(" name "," name ")" | text | "(" either ")"
"""

from typing import Literal

from .ast import Both, Compare, Condition, Either, Equal, IsNone, Name, Not, Size, Text, Truth
from .sizes import REFUSED, Part, SizeGrammar
from .tokens import Cursor, ExpressionError, Locate, Token, on_one_line

Comparison = Literal["==", "!=", "<", "<=", ">", ">="]
_COMPARISONS: tuple[Comparison, ...] = ("==", "!=", "<", "<=", ">", ">=")

_REFUSED = {**REFUSED, "=": ("`=` does not compare.", "write `==`")}


def parse_condition(text: str, locate: Locate = on_one_line) -> Condition:
    """The condition that `text` writes.

    Raises:
        ExpressionError: it is not of the grammar.
    """
    grammar = ConditionGrammar(Cursor(text, locate, _REFUSED))
    start = grammar.cursor.token
    condition = grammar.condition(grammar.either(), start)
    grammar.end()
    return condition


class ConditionGrammar(SizeGrammar):
    """The sizes' parser with comparisons, tests and words around it."""

    def condition(self, part: Part, start: Token) -> Condition:
        """Insist that `part` is true or false; a name on its own may be."""
        if isinstance(part, Name):
            return Truth(part, part.at)
        if isinstance(part, Condition):
            return part
        raise ExpressionError("This is neither true nor false.", self.cursor.span(start))

    def either(self) -> Part:
        start = self.cursor.token
        left = self.both()
        while self.cursor.take("or"):
            right_start = self.cursor.token
            right = self.condition(self.both(), right_start)
            left = Either(self.condition(left, start), right, self.cursor.span(start))
        return left

    def both(self) -> Part:
        start = self.cursor.token
        left = self.negated()
        while self.cursor.take("and"):
            right_start = self.cursor.token
            right = self.condition(self.negated(), right_start)
            left = Both(self.condition(left, start), right, self.cursor.span(start))
        return left

    def negated(self) -> Part:
        start = self.cursor.token
        if not self.cursor.take("not"):
            return self.compare()
        with self.cursor.nested():
            operand = self.condition(self.negated(), start)
        return Not(operand, self.cursor.span(start))

    def compare(self) -> Part:
        start = self.cursor.token
        left = self.sum()
        if self.cursor.take("is"):
            return self._is_none(left, start)
        operator = self.cursor.token
        for comparison in _COMPARISONS:
            if self.cursor.take(comparison):
                right_start = self.cursor.token
                self._refuse_constants(comparison)
                right = self.sum()
                self._refuse_chain()
                operands = self._operand(left, start), self._operand(right, right_start)
                return Compare(comparison, *operands, self.cursor.span(start))
        if operator.text == "in" or (operator.text == "not" and not self.cursor.at_end):
            raise self.cursor.unexpected("compare with `==`, and join comparisons with `or`")
        return left

    def _is_none(self, left: Part, start: Token) -> Condition:
        negated = self.cursor.take("not") is not None
        if not self.cursor.take("None"):
            raise self.cursor.unexpected("`is` tests for None only; compare with `==`")
        if not isinstance(left, Name):
            raise ExpressionError("Only a name can be None.", self.cursor.span(start))
        return IsNone(left, negated, self.cursor.span(start))

    def _refuse_constants(self, comparison: Comparison) -> None:
        token = self.cursor.token
        if token.text == "None" and token.kind == "name":
            test = "is not None" if comparison == "!=" else "is None"
            raise self.cursor.error("None is tested with `is`.", token, f"write `{test}`")
        if token.text in ("True", "False"):
            hint = "write the name alone, or `not` before it"
            raise self.cursor.error("A bool is true or false on its own.", token, hint)

    def _refuse_chain(self) -> None:
        if self.cursor.token.text in _COMPARISONS or self.cursor.token.text == "is":
            hint = "write `a < b and b < c`"
            message = "Comparisons cannot be chained."
            raise self.cursor.error(message, self.cursor.token, hint)

    def _operand(self, part: Part, start: Token) -> Size | Text:
        if isinstance(part, Size | Text):
            return part
        message = "Only numbers, texts and names can be compared."
        raise ExpressionError(message, self.cursor.span(start))

    def group(self) -> Part:
        return self.either()

    def atom(self) -> Part:
        if self.cursor.token.kind == "string":
            token = self.cursor.next()
            return Text(token.text[1:-1], self.cursor.span(token, token))
        return super().atom()

    def refuse(self) -> None:
        token = self.cursor.token
        if token.text in ("True", "False"):
            raise self.cursor.error("A condition that never changes decides nothing.", token)
        if token.text == "!":
            raise self.cursor.error("`!` is not allowed.", token, "write `not`")

    def call(self, name: Token, opened: Token) -> Part:
        if name.text != "equal":
            return super().call(name, opened)
        left = self._tensor()
        if not self.cursor.take(","):
            raise self.cursor.unexpected("write `equal(a, b)` with two names")
        right = self._tensor()
        self.cursor.expect(")", opened)
        return Equal(left, right, self.cursor.span(name))

    def _tensor(self) -> Name:
        start = self.cursor.token
        part = self.sum()
        if isinstance(part, Name):
            return part
        raise ExpressionError("`equal` compares two names.", self.cursor.span(start))
