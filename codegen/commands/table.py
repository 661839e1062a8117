"""The decision table, as a reviewer reads it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .common import CLEAN, FINDINGS, exits, print_findings, read, schemas_option

if TYPE_CHECKING:
    from ..build import Project, Source


@click.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "markdown", "json", "html"]),
    default="terminal",
    show_default=True,
    help="html is one file with all that it needs, to search, print and recompute.",
)
@click.option(
    "--output", "to", metavar="FILE", type=click.Path(path_type=Path), help="Write to FILE instead."
)
@schemas_option
@exits
def table(models: tuple[str, ...], form: str, to: Path | None, schemas: str | None) -> int:
    """Show the decision table, of all models or of those named."""
    project, report, _ = read(schemas, None)
    if report.has_errors or form == "terminal":
        print_findings(report)
    if report.has_errors:
        return FINDINGS
    text = _FORMS[form](_chosen(project, models))
    if to is None:
        click.echo(text, nl=not text.endswith("\n"))
    else:
        from ..output import replace

        replace(to.parent, {to.name: text if text.endswith("\n") else text + "\n"})
    return CLEAN


def _chosen(project: "Project", models: Sequence[str]) -> "Sequence[Source]":
    from ..settings import UsageError

    known = {schema.model.casefold(): schema.model for schema in project.schemas}
    for model in models:
        if model.casefold() not in known:
            raise UsageError(
                f"no schema is of the model {model!r}; there are {', '.join(known.values())}"
            )
    chosen = {known[model.casefold()] for model in models} or set(known.values())
    return [one for one in project.sources if one.schema.model in chosen]


def _terminal(sources: "Sequence[Source]") -> str:
    from shutil import get_terminal_size

    from ..emit.table import section
    from ..emit.terminal import terminal

    columns = get_terminal_size().columns
    pages = ("\n".join(terminal(section(one.schema, one.path), columns)) for one in sources)
    return "\n\n\n".join(pages)


def _markdown(sources: "Sequence[Source]") -> str:
    from ..emit.decisions import decisions

    return decisions([one.schema for one in sources], [one.path for one in sources])


def _json(sources: "Sequence[Source]") -> str:
    import json

    from ..page.document import document

    data = document([one.schema for one in sources], [one.path for one in sources])
    return json.dumps(data, indent=2)


def _html(sources: "Sequence[Source]") -> str:
    from ..page.document import document
    from ..page.html import page

    return page(document([one.schema for one in sources], [one.path for one in sources]))


_FORMS: "Mapping[str, Callable[[Sequence[Source]], str]]" = {
    "terminal": _terminal,
    "markdown": _markdown,
    "json": _json,
    "html": _html,
}
