"""Sizes: whole-number formulas over dims and params.

sum     = product {("+" | "-") product}
product = unary {("*" | "//" | "%") unary}
unary   = "-" unary | atom
atom    = number | name | function "(" sum {"," sum} ")" | "(" sum ")"
"""

import keyword
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from .ast import (
    Binary,
    Both,
    Call,
    Compare,
    Condition,
    Either,
    Equal,
    IsNone,
    Length,
    Members,
    Name,
    Negative,
    Not,
    Number,
    Size,
    Text,
    Truth,
)
from .tokens import Cursor, ExpressionError, Locate, Refused, Token, on_one_line

MAX_SIZE = 2**63 - 1

Part = Size | Text | Condition

_FUNCTIONS: Mapping[str, Literal["ceil_div", "min", "max"]] = {
    "ceil_div": "ceil_div",
    "min": "min",
    "max": "max",
}
REFUSED: Refused = {
    "/": ("`/` gives a fraction, and bytes are whole.", "use `//`, or `ceil_div(a, b)`"),
    "**": ("`**` is not allowed: it can take for ever.", "write the product out"),
    "<<": ("`<<` is not allowed.", "write the product out"),
    ">>": ("`>>` is not allowed.", "use `//`"),
    ".": ("Attributes are not allowed.", "declare a dim or a param for the value"),
    "[": ("Subscripts are not allowed.", "declare a dim or a param for the value"),
    "=": ("`=` is not allowed.", None),
}


def parse_size(text: str, locate: Locate = on_one_line) -> Size:
    """The formula that `text` writes.

    Raises:
        ExpressionError: it is not of the grammar.
    """
    return SizeGrammar(Cursor(text, locate, REFUSED)).whole()


class SizeGrammar:
    """A precedence parser; the conditions' parser extends it where the two differ."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor

    def whole(self) -> Size:
        """The formula, and nothing after it."""
        first = self.cursor.token
        size = self.size(self.sum(), first)
        self.end()
        return size

    def end(self) -> None:
        """Insist that nothing follows."""
        if not self.cursor.at_end:
            raise self.cursor.unexpected()

    def size(self, part: Part, start: Token) -> Size:
        """Insist that `part` is a number."""
        if isinstance(part, Size):
            return part
        raise ExpressionError("Only numbers can be calculated with.", self.cursor.span(start))

    def sum(self) -> Part:
        start = self.cursor.token
        left = self.product()
        while operator := self.cursor.take("+", "-"):
            left = self._binary(operator, left, self.product(), start)
        return left

    def product(self) -> Part:
        start = self.cursor.token
        left = self.unary()
        while operator := self.cursor.take("*", "//", "%"):
            left = self._binary(operator, left, self.unary(), start)
        return left

    def _binary(self, operator: Token, left: Part, right: Part, start: Token) -> Size:
        numbers = self.size(left, start), self.size(right, operator)
        for known in ("+", "-", "*", "//", "%"):
            if operator.text == known:
                return Binary(known, *numbers, self.cursor.span(start))
        raise AssertionError(operator)

    def unary(self) -> Part:
        start = self.cursor.token
        if not self.cursor.take("-"):
            return self.atom()
        with self.cursor.nested():
            operand = self.size(self.unary(), start)
        return Negative(operand, self.cursor.span(start))

    def atom(self) -> Part:
        token = self.cursor.token
        if opened := self.cursor.take("("):
            with self.cursor.nested():
                part = self.group()
            self.cursor.expect(")", opened)
            return part
        if token.kind == "number":
            return self._number(self.cursor.next())
        if token.kind == "name" and not keyword.iskeyword(token.text):
            self.cursor.next()
            opened = self.cursor.take("(")
            return self.call(token, opened) if opened else self._name(token)
        self.refuse()
        raise self.cursor.unexpected()

    def group(self) -> Part:
        """What brackets may hold."""
        return self.sum()

    def refuse(self) -> None:
        """Raise what is known about a token that starts no value."""
        if self.cursor.token.kind == "string":
            raise self.cursor.error("A text is not a size.", self.cursor.token)

    def call(self, name: Token, opened: Token) -> Part:
        function = _FUNCTIONS.get(name.text)
        if function is None:
            message = f"`{name.text}` cannot be called here."
            raise self.cursor.error(message, name, "the functions are ceil_div, max and min")
        with self.cursor.nested():
            start = self.cursor.token
            arguments = [self.size(self.sum(), start)]
            while self.cursor.take(","):
                start = self.cursor.token
                arguments.append(self.size(self.sum(), start))
        self.cursor.expect(")", opened)
        if len(arguments) < 2 or (function == "ceil_div" and len(arguments) > 2):
            wanted = "two" if function == "ceil_div" else "two or more"
            raise self.cursor.error(f"`{function}` takes {wanted} sizes.", name)
        return Call(function, tuple(arguments), self.cursor.span(name))

    def _name(self, token: Token) -> Name:
        if token.text in _FUNCTIONS:
            message = f"`{token.text}` is a function."
            raise self.cursor.error(message, token, f"write `{token.text}(a, b)`")
        return Name(token.text, self.cursor.span(token, token))

    def _number(self, token: Token) -> Number:
        if not re.fullmatch(r"0|[1-9][0-9]*", token.text):
            message = f"`{token.text}` is not a whole number in plain decimal digits."
            raise self.cursor.error(message, token, _plain_digits(token.text))
        if len(token.text) > len(str(MAX_SIZE)) or int(token.text) > MAX_SIZE:
            raise self.cursor.error("This is more than 2**63 - 1.", token)
        return Number(int(token.text), self.cursor.span(token, token))


def _plain_digits(text: str) -> str | None:
    digits = text.replace("_", "").lstrip("0")
    return f"write {digits}" if digits.isdecimal() and len(digits) < 20 else None


def parts_of(part: Part) -> Iterator[Part]:
    """A size or condition and everything in it, in the order of the text."""
    yield part
    match part:
        case Length(param=param, at=at):
            yield Name(param, at)
        case Members(axis=axis, size=size, condition=condition):
            inner_parts = (*parts_of(size), *parts_of(condition))
            yield from (one for one in inner_parts if not _is_named(one, axis))
        case Negative(operand=inner) | Not(operand=inner):
            yield from parts_of(inner)
        case IsNone(name=inner) | Truth(name=inner):
            yield inner
        case Call(arguments=arguments):
            for argument in arguments:
                yield from parts_of(argument)
        case (
            Binary(left=left, right=right)
            | Compare(left=left, right=right)
            | Equal(left=left, right=right)
            | Both(left=left, right=right)
            | Either(left=left, right=right)
        ):
            yield from parts_of(left)
            yield from parts_of(right)


def _is_named(part: Part, name: str) -> bool:
    return isinstance(part, Name) and part.name == name


def names_in(part: Part) -> list[Name]:
    """The names that a part needs a value of, in the order of the text, repeated as written."""
    return [inner for inner in parts_of(part) if isinstance(inner, Name)]
