"""Reading scalars by the rules of YAML 1.2's core schema, and refusing what 1.1 reads otherwise.

Editors follow 1.2 and PyYAML follows 1.1; a value that the two read differently is a finding. A
reader takes a node and returns its value, or None after it reported why there is none.
"""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import TypeVar

from attrs import Factory, define, frozen

from .expressions.ast import Condition, Name, RecordType, Size, Type
from .expressions.conditions import parse_condition
from .expressions.sizes import MAX_SIZE, parse_size
from .expressions.tokens import ExpressionError, Locate
from .expressions.types import parse_type
from .findings import Report
from .nodes import Mapping, Node, Scalar, Sequence
from .passage import locator
from .source import Source
from .span import Span

T = TypeVar("T")

NULL = re.compile(r"null|Null|NULL|~|")
BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)")
FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
OLD_BOOL = re.compile(r"yes|no|on|off", re.IGNORECASE)
# Numbers to one of the two versions only, or different ones: octal, binary, base 60, grouped,
# and exponents without a point or a sign.
AMBIGUOUS = re.compile(
    r"[-+]?(?:0[0-9]+|0o[0-7]+|0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*_[0-9_]*(?:\.[0-9_]*)?"
    r"|[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?"
    r"|[0-9]+[eE][-+]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)[eE][0-9]+)"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?")
BYTES = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(KiB|MiB|GiB)")
_UNITS = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


@define
class Reading:
    """What the readers of one schema share: its source, the report, its records."""

    source: Source
    report: Report
    # By name; None where it was not read yet.
    records: dict[str, RecordType | None] = Factory(dict)
    # Names of what loaded that no expression can spell; a rule reports each where it is given.
    unusable: set[str] = Factory(set)
    # Whether an expression was left unread since such a name is in it.
    unread: bool = False

    def declare(self, names: Iterable[str]) -> None:
        """Take note of the names of what loaded."""
        self.unusable.update(name for name in names if not _is_spelled(name))

    def error(self, code: str, span: Span, message: str, hint: str | None = None) -> None:
        """Report an error in this schema."""
        self.report.error(self.source.path, code, span, message, hint)


# T includes None, for what was refused.
Reader = Callable[[Node, Reading], T]


@frozen
class Word:
    """A name that a schema refers to, and where."""

    text: str
    at: Span


def is_null(node: Node) -> bool:
    """Whether nothing was written, or null."""
    return (
        isinstance(node, Scalar)
        and node.style == "plain"
        and NULL.fullmatch(node.value) is not None
    )


def is_empty(node: Node, reading: Reading) -> bool:
    """Whether this is a list without an item."""
    return isinstance(node, Sequence) and not node.items


def as_text(node: Node, reading: Reading) -> str | None:
    """A text: quoted, or plain words that both versions of YAML read as text."""
    if not isinstance(node, Scalar):
        kind = "a list" if isinstance(node, Sequence) else "a mapping"
        reading.error("not-a-string", node.span, f"This is {kind}, where a text is expected.")
        return None
    reason = _not_text(node.value) if node.style == "plain" else None
    if reason is None:
        # The line break that ends a block is YAML's, not the author's.
        return node.value if node.style == "plain" else node.value.removesuffix("\n")
    hint = f"""quote it: "{node.value}\"""" if node.value else "write the text behind the colon"
    reading.error("not-a-string", node.span, reason, hint)
    return None


def as_filled_text(node: Node, reading: Reading) -> str | None:
    """A text that says something."""
    text = as_text(node, reading)
    if text is None or text.strip():
        return text
    reading.error("not-a-string", node.span, "This text is empty.", "write it, or leave it out")
    return None


def _not_text(value: str) -> str | None:
    """What a plain value is instead of text, or None."""
    if value == "":
        return "There is no value here, where a text is expected."
    if OLD_BOOL.fullmatch(value):
        return f"`{value}` is a boolean in YAML 1.1 and text in 1.2."
    if AMBIGUOUS.fullmatch(value):
        return (
            f"`{value}` is a number in one version of YAML and text or another number in the other."
        )
    if _DATE.fullmatch(value):
        return f"`{value}` is a date in YAML 1.1 and text in 1.2."
    for pattern, kind in ((NULL, "null"), (BOOL, "a boolean"), (FLOAT, "a number")):
        if pattern.fullmatch(value):
            return f"`{value}` is {kind}, where a text is expected."
    return None


def as_integer(node: Node, reading: Reading) -> int | None:
    """A whole number in decimal digits, within 64 bits."""
    if isinstance(node, Scalar) and node.style == "plain":
        if DECIMAL.fullmatch(node.value) and len(node.value) <= 20:
            number = int(node.value)
            if abs(number) <= MAX_SIZE:
                return number
        elif AMBIGUOUS.fullmatch(node.value):
            report_ambiguous(node, reading)
            return None
    message, hint = _not_integer(node)
    reading.error("not-an-integer", node.span, message, hint)
    return None


def report_ambiguous(node: Scalar, reading: Reading) -> None:
    """Report a number that the versions of YAML read differently."""
    value = node.value
    digits = value.replace("_", "").lstrip("+0") or "0"
    message = f"`{value}` is not in plain decimal digits, and the versions of YAML differ in such spellings."
    plain = digits.isdecimal() and len(digits) < 20
    hint = f"write {digits}" if plain else "write the number in plain decimal digits"
    if plain and re.fullmatch(r"\+?0[0-7]+", value):
        octal = int(value, 8)
        if octal == int(digits):
            message = f"`{value}` is octal in YAML 1.1 and decimal in 1.2."
        else:
            message = f"`{value}` is {octal} in YAML 1.1 and {digits} in 1.2."
            hint = f"write {digits} or {octal}"
    elif FLOAT.fullmatch(value) and not plain:
        message = f"`{value}` is a text in YAML 1.1 and a number in 1.2."
        written = repr(float(value))
        short = written.replace(".", "").lstrip("-").isdecimal()
        hint = f"write {written}" if short else "write a point and a sign, as in 1.0e+3"
    reading.error("ambiguous-integer", node.span, message, hint)


def _not_integer(node: Node) -> tuple[str, str | None]:
    expected = "where a whole number is expected."
    if isinstance(node, Sequence | Mapping):
        kind = "a list" if isinstance(node, Sequence) else "a mapping"
        return f"This is {kind}, {expected}", None
    if node.style != "plain":
        hint = "take the quotes off" if DECIMAL.fullmatch(node.value) else None
        return f"This is a text, {expected}", hint
    value = node.value
    if DECIMAL.fullmatch(value):
        return "This does not fit into 64 bits.", None
    if is_null(node):
        return f"There is no value here, {expected}", None
    if BOOL.fullmatch(value) or OLD_BOOL.fullmatch(value):
        return f"`{value}` is a boolean, {expected}", "write 1 or 0 if you mean a number"
    if re.fullmatch(r"\+[1-9][0-9]*", value):
        return f"`{value}` is not in plain decimal digits.", f"write {value[1:]}"
    kind = "a fraction or has an exponent" if FLOAT.fullmatch(value) else "a text"
    return f"`{value}` is {kind}, {expected}", None


def as_boolean(node: Node, reading: Reading) -> bool | None:
    """`true` or `false`."""
    if isinstance(node, Scalar) and node.style == "plain" and BOOL.fullmatch(node.value):
        return node.value.lower() == "true"
    said = "This is not a boolean."
    if isinstance(node, Scalar) and node.style == "plain" and OLD_BOOL.fullmatch(node.value):
        said = f"`{node.value}` is a boolean in YAML 1.1 and text in 1.2."
    reading.error("not-a-boolean", node.span, said, "write true or false")
    return None


def as_bytes(node: Node, reading: Reading) -> tuple[str, Decimal] | None:
    """Bytes as written, and as a number: a whole number, or a decimal with KiB, MiB or GiB."""
    if isinstance(node, Scalar) and (nbytes := bytes_in(node.value)) is not None:
        return node.value, nbytes
    if isinstance(node, Scalar) and node.style == "plain" and DECIMAL.fullmatch(node.value):
        number = as_integer(node, reading)
        if number is None:
            return None
        if number >= 0:
            return node.value, Decimal(number)
    message = "Bytes are a whole number, or a decimal with KiB, MiB or GiB."
    reading.error("bad-bytes", node.span, message, "write 603 MiB, say")
    return None


def bytes_in(text: str) -> Decimal | None:
    """The bytes that a decimal with KiB, MiB or GiB says; None for any other text."""
    match = BYTES.fullmatch(text)
    return Decimal(match[1]) * _UNITS[match[2]] if match else None


def as_word(node: Node, reading: Reading) -> Word | None:
    """A name that refers to something of the schema."""
    text = as_text(node, reading)
    return None if text is None else Word(text, node.span)


def as_list(item: Callable[[Node, Reading], T | None]) -> Reader[tuple[T, ...] | None]:
    """A reader of lists whose items `item` reads; items that it refuses are left out."""

    def read(node: Node, reading: Reading) -> tuple[T, ...] | None:
        if not isinstance(node, Sequence):
            hint = f"write [{node.value}]" if isinstance(node, Scalar) and node.value else None
            reading.error("not-a-sequence", node.span, "A list is expected here.", hint)
            return None
        values = [item(entry, reading) for entry in node.items]
        return tuple(value for value in values if value is not None)

    return read


def as_words(node: Node, reading: Reading) -> tuple[Word, ...] | None:
    """A list of names, each once."""
    words = as_list(as_word)(node, reading)
    kept: dict[str, Word] = {}
    for word in words or ():
        if word.text in kept:
            message = f"`{word.text}` is listed a second time."
            reading.error("duplicate-name", word.at, message, "list it once")
        kept.setdefault(word.text, word)
    return None if words is None else tuple(kept.values())


def _is_spelled(name: str) -> bool:
    """Whether an expression can refer to `name`."""
    try:
        return parse_size(name) == Name(name)
    except ExpressionError:
        return False


def as_size(node: Node, reading: Reading) -> Size | None:
    """A formula over dims and params, or a whole number."""
    if isinstance(node, Scalar) and node.style == "plain" and AMBIGUOUS.fullmatch(node.value):
        report_ambiguous(node, reading)
        return None
    return _expression(node, reading, "bad-formula", parse_size)


def as_condition(node: Node, reading: Reading) -> Condition | None:
    """A condition over fields, arguments and params."""
    return _expression(node, reading, "bad-condition", parse_condition)


def as_type(node: Node, reading: Reading) -> Type | None:
    """A type in Python's notation."""

    def parse(text: str, locate: Locate) -> Type:
        return parse_type(text, locate, reading.records)

    return _expression(node, reading, "bad-type", parse)


def _expression(
    node: Node, reading: Reading, code: str, parse: Callable[[str, Locate], T]
) -> T | None:
    if not isinstance(node, Scalar):
        kind = "a list" if isinstance(node, Sequence) else "a mapping"
        hint = "quote it" if isinstance(node, Sequence) else None
        reading.error(code, node.span, f"This is {kind}, where an expression is expected.", hint)
        return None
    # The mistake is the name, and is reported where it was given.
    if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", node.value) for name in reading.unusable):
        reading.unread = True
        return None
    try:
        return parse(node.value, locator(node, reading.source))
    except ExpressionError as error:
        reading.error(error.code or code, error.span, error.message, error.hint)
        return None
