"""For each rule a schema that it refuses, and the same one mended, both run through the rules.

They are files in `snippets`, of what matters alone: the keys that an example leaves out are those
of `base.yaml`, which is put below it, so that its lines keep their numbers.
"""

import re
from importlib.resources import files

from attrs import frozen

from ..findings import Finding, Report
from ..load import load
from ..source import decode
from . import check

_FOLDER = files(__package__) / "snippets"
_KEY = re.compile(rb"^(\w+):", re.MULTILINE)
# A file as people and findings name it.
_PATH = "demo.yaml"


@frozen
class Example:
    """A part of a schema, and what the rules find in it."""

    text: bytes
    findings: tuple[Finding, ...]


def wrong(code: str) -> Example:
    """A schema in which the rule of this code finds something."""
    return _example(f"{code}.wrong.yaml")


def right(code: str) -> Example:
    """The same schema with nothing to find."""
    return _example(f"{code}.right.yaml")


def _example(name: str) -> Example:
    text = (_FOLDER / name).read_bytes()
    report = Report()
    schema = load(decode(_completed(text), _PATH), report)
    if schema is not None:
        check(schema, report)
    return Example(text, report.findings)


def _completed(text: bytes) -> bytes:
    """The example above the keys of the base that it does not give itself.

    One without any key is a whole file.
    """
    given = set(_KEY.findall(text))
    if not given:
        return text
    base = (_FOLDER / "base.yaml").read_bytes()
    starts = [found.start() for found in _KEY.finditer(base)]
    blocks = (base[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True))
    return text + b"".join(block for block in blocks if _KEY.findall(block)[0] not in given)
