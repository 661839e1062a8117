"""Findings as people and machines read them: one small function per format over one type."""

from collections.abc import Sequence
from typing import Literal, get_args

from ..findings import Finding
from . import github, json, text

Format = Literal["text", "json", "github"]
FORMATS: tuple[Format, ...] = get_args(Format)


def render(findings: Sequence[Finding], output_format: Format, *, colour: bool = False) -> str:
    """The findings as one text, without a line end behind it; empty where there is nothing."""
    match output_format:
        case "text":
            return text.page(findings, colour)
        case "json":
            return json.document(findings)
        case "github":
            return "\n".join(map(github.annotation, findings))
