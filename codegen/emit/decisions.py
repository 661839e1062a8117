"""DECISIONS.md: for every value where it lives, what it costs, and why."""

from collections.abc import Sequence

from ..model import Schema
from .table import section
from .templates import render


def decisions(schemas: Sequence[Schema], paths: Sequence[str]) -> str:
    """The text of DECISIONS.md, below its head; `paths` says where each schema lies."""
    sections = (section(schema, path) for schema, path in zip(schemas, paths, strict=True))
    return render("decisions.md.j2", tuple(sections))
