"""Tokens of the three grammars, and the cursor that their parsers share.

A schema is input like any other: length and nesting are bounded, so that no text of it can make
the parsers, or what walks their trees, run long or deep.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

from attrs import frozen

from ..span import Span

MAX_TOKENS = 256
MAX_DEPTH = 32

# Where the characters from one offset up to another of an expression's text stand in the file.
Locate = Callable[[int, int], Span]
# What is said about operators that a grammar knowingly leaves out: message and hint.
Refused = Mapping[str, tuple[str, str | None]]

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>\d[\w.]*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<string>'[^'\\]*'|"[^"\\]*")
    |(?P<operator>\.\.\.|//|\*\*|<<|>>|==|!=|<=|>=|[-+*/%()<>,|\[\]=&^~.:@!])""",
    re.VERBOSE | re.ASCII,
)

Kind = Literal["number", "name", "string", "operator", "end"]


def on_one_line(start: int, end: int) -> Span:
    """The place of a text that stands by itself."""
    return Span(1, start + 1, 1, end + 1)


class ExpressionError(ValueError):
    """An expression is not of its grammar. `code` names the finding where it is not the grammar's.

    Attributes:
        message: what is wrong, in the author's words.
        span: where, in the file.
        hint: what to write instead, where that is known.
        code: the finding's code, or None for that of the grammar.
    """

    def __init__(
        self, message: str, span: Span, hint: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint = hint
        self.code = code


@frozen
class Token:
    kind: Kind
    text: str
    start: int
    end: int


def tokenize(text: str, locate: Locate) -> list[Token]:
    """The tokens of `text`, an end token last.

    Raises:
        ExpressionError: a character belongs to no grammar, or there are too many tokens.
    """
    tokens: list[Token] = []
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            quote = text[offset] in "'\""
            raise ExpressionError(
                "The quote that opens here is never closed, or has a backslash in it."
                if quote
                else f"`{text[offset]}` has no meaning here.",
                locate(offset, offset + 1),
            )
        kind: Kind
        for kind in ("number", "name", "string", "operator"):
            if match.lastgroup == kind:
                tokens.append(Token(kind, match.group(), match.start(), match.end()))
        offset = match.end()
        if len(tokens) > MAX_TOKENS:
            message = f"This has more than {MAX_TOKENS} parts."
            raise ExpressionError(message, locate(0, offset), "split it up")
    tokens.append(Token("end", "", len(text), len(text)))
    return tokens


class Cursor:
    """A place among the tokens of one expression."""

    def __init__(self, text: str, locate: Locate, refused: Refused | None = None) -> None:
        self._locate = locate
        self._refused = refused or {}
        self._tokens = tokenize(text, locate)
        self._index = 0
        self._depth = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._index]

    @property
    def at_end(self) -> bool:
        """Whether every token was taken."""
        return self.token.kind == "end"

    def next(self) -> Token:
        """Take the next token."""
        token = self.token
        self._index = min(self._index + 1, len(self._tokens) - 1)
        return token

    def take(self, *texts: str) -> Token | None:
        """Take the next token where it is an operator or a word of `texts`."""
        if self.token.kind in ("operator", "name") and self.token.text in texts:
            return self.next()
        return None

    def expect(self, text: str, opened: Token) -> Token:
        """Take `text`, which closes the bracket `opened`."""
        if token := self.take(text):
            return token
        if self.at_end:
            raise self.error(f"The `{opened.text}` that opens here is never closed.", opened)
        raise self.unexpected()

    def span(self, start: Token, end: Token | None = None) -> Span:
        """The place from `start` to `end`, or to the token that was taken last."""
        last = end or self._tokens[max(0, self._index - 1)]
        return self._locate(start.start, max(start.end, last.end))

    def error(self, message: str, token: Token, hint: str | None = None) -> ExpressionError:
        """An error at `token`."""
        return ExpressionError(message, self.span(token, token), hint)

    def unexpected(self, hint: str | None = None) -> ExpressionError:
        """An error at the next token, which the grammar has no use for."""
        if self.at_end:
            ending = self._tokens[max(0, self._index - 1)]
            return self.error("Something is missing at the end.", ending, hint)
        if refused := self._refused.get(self.token.text):
            return self.error(refused[0], self.token, refused[1])
        return self.error(f"`{self.token.text}` is not expected here.", self.token, hint)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """One level deeper, as far as the grammars go."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            message = f"This is nested more than {MAX_DEPTH} levels deep."
            raise self.error(message, self.token, "take out what is not needed")
        yield
        self._depth -= 1
