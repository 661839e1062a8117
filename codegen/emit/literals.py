"""Python literals and calls, laid out as the formatter would leave them.

Every text of a schema passes through here on its way into generated code: what comes out is one
literal that reads back as exactly that text. Nothing else may carry schema text into a module.
"""

import re
import unicodedata
from collections.abc import Sequence
from inspect import cleandoc

# A statement is on one line where it fits the formatters' default; what is longer has an argument
# a line, which stays so at any longer limit. A text is cut only where no usual limit would fit it,
# since formatters join the pieces of one that does.
LINE = 88
_LONGEST_TEXT = 100
_NAMED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def width(text: str) -> int:
    """Columns that `text` takes: wide characters two, combining ones none."""
    return sum(
        0
        if unicodedata.category(char) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(char) in ("W", "F"))
        for char in text
    )


def _escaped(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    if char.isprintable():
        return char
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def string(text: str) -> str:
    """A one-line literal of `text`, in the quotes that need fewer escapes, double when even."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    body = "".join("\\" + char if char == quote else _escaped(char) for char in text)
    return f"{quote}{body}{quote}"


def _pieces(text: str, room: int) -> list[str]:
    """`text` cut behind its spaces into runs whose literals fit `room` columns, where words do."""
    pieces = [""]
    for word in re.findall(r"[^ ]* +|[^ ]+$", text):
        if pieces[-1] and width(string(pieces[-1] + word)) > room:
            pieces.append(word)
        else:
            pieces[-1] += word
    return pieces


def keyword_string(name: str, text: str, indent: int) -> str:
    """`name="text"` as an argument on its own line, in parentheses over several where it is long."""
    flat = f"{name}={string(text)}"
    pieces = _pieces(text, LINE - indent - 4)
    if indent + 4 + width(string(text)) <= _LONGEST_TEXT or len(pieces) == 1:
        return flat
    inner = " " * (indent + 4)
    lines = "\n".join(inner + string(piece) for piece in pieces)
    return f"{name}=(\n{lines}\n{' ' * indent})"


def docstring(text: str, indent: int) -> str:
    """A docstring that `inspect.getdoc` reads back as `text`."""
    lines = text.split("\n")
    if len(lines) > 1 and _plain_lines(lines, indent):
        body = "\n".join([lines[0], *(" " * indent + line if line else "" for line in lines[1:])])
        return f'"""{body}\n{" " * indent}"""'
    last = len(text) - 1
    body = "".join(
        _in_docstring(char, text[max(0, at - 1) : at + 2], at in (0, last))
        for at, char in enumerate(text)
    )
    return f'"""{body}"""'


def _in_docstring(char: str, around: str, at_edge: bool) -> str:
    """One character: a quote is escaped where it might close the docstring, a space at an edge."""
    if char == " " and at_edge:
        return "\\x20"
    if char == '"' and (at_edge or '""' in around):
        return '\\"'
    return _escaped(char)


def _plain_lines(lines: Sequence[str], indent: int) -> bool:
    """Whether the lines survive being indented and cleaned, with nothing in them to escape."""
    if not lines[0] or any(line != line.strip() and line != line.rstrip() for line in lines):
        return False
    if '"' in "".join(lines) or any(_escaped(char) != char for line in lines for char in line):
        return False
    indented = "\n".join([lines[0], *(" " * indent + line for line in lines[1:]), " " * indent])
    return cleandoc(indented) == "\n".join(lines)


def call(head: str, arguments: Sequence[str], indent: int, tail: str = "") -> str:
    """`head(arguments)tail` on one line where it fits, else one argument a line.

    `arguments` are laid out for a depth of `indent + 4` already.
    """
    flat = f"{head}({', '.join(arguments)}){tail}"
    if "\n" not in flat and indent + width(flat) <= LINE:
        return flat
    inner = " " * (indent + 4)
    lines = "".join(f"{inner}{argument},\n" for argument in arguments)
    return f"{head}(\n{lines}{' ' * indent}){tail}"
