"""The one line of CI: rules and drift."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..paths import shown
from .common import (
    CLEAN,
    FINDINGS,
    count,
    exits,
    output_option,
    print_findings,
    read,
    schemas_option,
)
from .remedies import remedy

if TYPE_CHECKING:
    from ..output import Drift


@click.command()
@click.option("--strict", is_flag=True, help="Let warnings fail, too.")
@schemas_option
@output_option
@exits
def check(strict: bool, schemas: str | None, output: str | None) -> int:
    """Check the schemas, and that the generated files are theirs."""
    from ..fresh import is_fresh
    from ..settings import find

    found = is_fresh(find(Path.cwd(), schemas, output))
    if found is not None:
        click.echo(f"{count(found)} and the generated files agree")
        return CLEAN

    from ..output import drift

    project, report, settings = read(schemas, output)
    print_findings(report)
    drifted: list[Drift] = []
    if not report.has_errors:
        drifted = drift(settings.output, project.targets)
        for one in drifted:
            click.echo(f"{one.state}: {shown(one.path)} ({remedy(one)})")
    failed = report.has_errors or any(one.fails for one in drifted)
    warned = bool(report.findings or drifted)
    if failed or (strict and warned):
        return FINDINGS
    click.echo(f"{count(len(project.schemas))} and the generated files agree")
    return CLEAN
