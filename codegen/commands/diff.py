"""What generate would change, before it does."""

from collections.abc import Iterable
from typing import TypedDict

import click

from ..paths import shown
from .common import (
    CLEAN,
    EDITED,
    FINDINGS,
    coloured,
    exits,
    output_option,
    print_findings,
    read,
    schemas_option,
)


class Style(TypedDict, total=False):
    """What `click.style` takes."""

    fg: str
    bold: bool


# The first lines of a file's patch name it.
_HEADS = 2
_HEAD: Style = {"bold": True}
_STYLES: dict[str, Style] = {"@": {"fg": "cyan"}, "-": {"fg": "red"}, "+": {"fg": "green"}}


@click.command()
@schemas_option
@output_option
@exits
def diff(schemas: str | None, output: str | None) -> int:
    """Show what generate would change, as a patch.

    It exits with 1 when there is something. Findings and files that stay go to standard error, so that standard output is a patch.
    """
    from ..output import drift, plan
    from ..patch import unified

    project, report, settings = read(schemas, output)
    print_findings(report, err=True)
    if report.has_errors:
        return FINDINGS
    targets = project.targets
    changes = plan(settings.output, project.render(), targets)
    patches = [patch for change in changes if (patch := list(unified(change)))]
    _print(patches)
    for one in drift(settings.output, targets):
        if one.state == "orphaned" and one.edited:
            click.echo(f"keeps {shown(one.path)} ({EDITED})", err=True)
    return FINDINGS if patches else CLEAN


def _print(patches: Iterable[list[str]]) -> None:
    """In colours and without control characters for a person, to the byte for a program."""
    from ..visible import visible

    if not coloured():
        text = "".join(line for patch in patches for line in patch)
        click.echo(text.encode(errors="surrogateescape"), nl=False)
        return
    for patch in patches:
        for number, line in enumerate(patch):
            style = _HEAD if number < _HEADS else _STYLES.get(line[0], {})
            click.echo(click.style(visible(line.removesuffix("\n"), keep="\t\n"), **style))
