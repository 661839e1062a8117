"""What a rule finds; the registry's row adds its code and severity."""

import difflib
from collections.abc import Iterable

from attrs import frozen

from ..model import Described, Elsewhere, Schema
from ..span import Span

START = Span(1, 1, 1, 1)


@frozen
class Problem:
    """A place, what is wrong there, and what to do about it."""

    span: Span
    message: str
    hint: str | None = None


def did_you_mean(name: str, known: Iterable[str], otherwise: str | None = None) -> str | None:
    """The hint that names what was probably meant."""
    lower = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), list(lower), 1)
    return f"did you mean `{lower[close[0]]}`?" if close else otherwise


def key_of(owner: Described, key: str) -> Span:
    """Where a field's key was written, or the field where it was not."""
    return owner.keys[key][0] if key in owner.keys else owner.at


def value_of(owner: Described | Elsewhere, key: str) -> Span:
    """Where the value of a key was written, or its owner where it was not."""
    return owner.keys[key][1] if key in owner.keys else owner.at


def value_in(schema: Schema, key: str) -> Span:
    """Where a schema's value of `key` was written."""
    return schema.keys[key][1] if key in schema.keys else START
