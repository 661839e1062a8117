"""Text and values of Python source as YAML that reads back as the same: data, and nothing else."""

import ast
import math
import re

from ..source import hidden_characters
from .python import Module

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_WORDS = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n"))
_LONGEST = 100
_DEPTH = 8


def one_line(text: str, longest: int | None = _LONGEST) -> str:
    """The text on one line, without what does not show, and cut where it is too long."""
    joined = " ".join(text.split())
    hidden = set(hidden_characters(joined))
    shown = "".join(char for at, char in enumerate(joined) if at not in hidden)
    # A half of a surrogate pair cannot be written to a file.
    shown = shown.encode("utf-8", "ignore").decode()
    if longest is not None and len(shown) > longest:
        return shown[: longest - 3].rstrip() + "..."
    return shown


def quoted(text: str) -> str:
    """A double-quoted scalar."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def word(text: str) -> str:
    """A name, quoted where YAML would read something else."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if plain else quoted(text)


def type_text(text: str, *, inside_braces: bool = False) -> str:
    """A type, quoted where texts or, inside braces, brackets in it would end a plain scalar."""
    ends = '"' in text or (inside_braces and "[" in text)
    return "'" + text.replace("'", "''") + "'" if ends else text


def first_sentence(text: str) -> str:
    """The first sentence of a docstring."""
    paragraph = re.split(r"\n\s*\n", text.strip(), maxsplit=1)[0]
    line = one_line(paragraph, None)
    end = re.search(r"[.!?](?=\s|$)", line)
    return one_line(line[: end.end()] if end else line, 300)


def literal(node: ast.expr | None, module: Module, depth: int = 0) -> str | None:
    """The value that an expression has, as a schema writes it; None where it is no plain value."""
    if node is None or depth > _DEPTH:
        return None
    match node:
        case ast.Constant(value=value):
            return _constant(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return None if isinstance(value, bool) else _constant(-value)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            inner = [literal(item, module, depth + 1) for item in items]
            return None if None in inner else f"[{', '.join(one for one in inner if one)}]"
        case ast.Dict(keys=[]):
            return "{}"
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]):
            return _empty(name)
        case ast.Name(id=name):
            return literal(module.constant(name), module, depth + 1)
        case ast.BinOp():
            number = module.integer(node)
            return None if number is None else str(number)
    return None


def _empty(name: str) -> str | None:
    empty = {"list": "[]", "tuple": "[]", "set": "[]", "deque": "[]"}
    empty |= {"dict": "{}", "OrderedDict": "{}"}
    numbers = {"int": "0", "float": "0.0", "bool": "false", "str": '""'}
    return (empty | numbers).get(name)


def _constant(value: object) -> str | None:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value) if abs(value) < 2**63 else None
    if isinstance(value, float):
        return _float(value)
    # A text that would not come back as it was is no default.
    same = isinstance(value, str) and value == one_line(value, None) and value.isprintable()
    return quoted(str(value)) if same else None


def _float(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    mantissa, e, exponent = repr(value).partition("e")
    if not e:
        return mantissa
    pointed = mantissa if "." in mantissa else f"{mantissa}.0"
    return f"{pointed}e{exponent if exponent[0] in '+-' else '+' + exponent}"
