"""Rules about reasons that are there, and still say nothing of their field."""

import re
from collections.abc import Iterator

from ..model import Schema
from ..span import Span
from .problem import Problem, value_of


def repeated_reasons(schema: Schema) -> Iterator[Problem]:
    """The same words for several values: what holds for one was copied to the others."""
    first: dict[str, str] = {}
    for name, reason, at in _reasons(schema):
        other = first.setdefault(words(reason), name)
        if other != name and words(reason):
            message = f"This is the reason of `{other}`, word for word."
            yield Problem(at, message, f"say what is true of `{name}`")


def _reasons(schema: Schema) -> Iterator[tuple[str, str, Span]]:
    for field in schema.fields:
        yield field.name, field.reason, value_of(field, "reason")
    for one in schema.elsewhere:
        yield one.name, one.reason, value_of(one, "reason")


def words(text: str) -> str:
    """The text as it is heard: without case, punctuation and spacing."""
    return " ".join(re.findall(r"\w+", text.lower()))
