"""The decision table, as a reviewer reads it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .common import CLEAN, FINDINGS, chosen, exits, print_findings, read, schemas_option

if TYPE_CHECKING:
    from ..build import Project, Source
    from ..page.changes import Changes
    from ..settings import Settings


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
@click.option(
    "--against",
    metavar="REF",
    help="Say in json and html what changed since a git ref, or since a folder.",
)
@schemas_option
@exits
def table(
    models: tuple[str, ...], form: str, to: Path | None, against: str | None, schemas: str | None
) -> int:
    """Show the decision table, of all models or of those named."""
    from ..settings import UsageError

    compares = form in ("json", "html")
    if against is not None and not compares:
        raise UsageError(
            f"--against goes with --format json or html, not with {form}; "
            "`session-state breaking` prints changes as text and as Markdown"
        )
    project, report, settings = read(schemas, None)
    # What is asked for stands alone on standard output, so that it can be sent on.
    print_findings(report, err=form != "terminal")
    if report.has_errors:
        return FINDINGS
    shown = chosen(project, models)
    if compares:
        text = _document(shown, form, _changes(against, settings, project, shown))
    else:
        text = _terminal(shown) if form == "terminal" else _markdown(shown)
    text = f"{text.rstrip()}\n"
    if to is None:
        click.echo(text, nl=False)
    else:
        from ..output import Change, replace

        replace([Change(to, None, text.encode())])
    return CLEAN


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


def _document(sources: "Sequence[Source]", form: str, changes: "Changes | None") -> str:
    from ..page.document import document

    data = document([one.schema for one in sources], [one.path for one in sources], changes)
    if form == "json":
        import json

        return json.dumps(data, indent=2)
    from ..page.html import page

    return page(data)


def _changes(
    against: str | None, settings: "Settings", project: "Project", chosen: "Sequence[Source]"
) -> "Changes | None":
    """What changed of the chosen models, and which others are gone."""
    if against is None:
        return None
    from ..breaking import changes_between
    from ..breaking.baseline import read_baseline
    from ..page.changes import Changes

    baseline = read_baseline(against, settings, project.schemas)
    left_out = {one.model for one in project.schemas} - {one.schema.model for one in chosen}
    rows = changes_between(baseline.schemas, project.schemas)
    return Changes(baseline.name, [one for one in rows if one.model not in left_out])
