"""Schema text in Markdown: whatever it holds, it stays text and stays in its cell."""

import re

_SPECIAL = re.compile(r"[\\`*\[\]|~#$]|(?<!\w)_|_(?!\w)")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BREAK = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def cell(text: str) -> str:
    """`text` as one table cell: one line, with nothing that Markdown or HTML would read."""
    text = _BREAK.sub("\n", text.strip())
    text = "".join(_visible(char) for char in text)
    text = _SPECIAL.sub(lambda match: "\\" + match.group(), text)
    text = re.sub("[&<>]", lambda match: _HTML[match.group()], text)
    return text.replace("\n", "<br>")


def comment_cell(text: str) -> str:
    """`cell` for a comment of GitHub, where a name behind an `@` would be told of it."""
    return cell(text).replace("@", "@<!-- -->")


def _visible(char: str) -> str:
    return char if char.isprintable() or char in "\n\t " else f"U+{ord(char):04X}"
