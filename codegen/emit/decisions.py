"""DECISIONS.md: for every value where it lives, what it costs, and why."""

from collections.abc import Sequence

from ..model import Schema
from .header import schemas_sha256, with_header
from .table import section
from .templates import render


def decisions(schemas: Sequence[Schema], made_from: str, paths: Sequence[str]) -> str:
    """The text of DECISIONS.md; `paths` says where each schema lies, relative to the project."""
    sections = tuple(section(schema, path) for schema, path in zip(schemas, paths, strict=True))
    body = render("decisions.md.j2", sections)
    return with_header(body, made_from, schemas_sha256(schemas), "<!--")
