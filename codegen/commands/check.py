"""The one line of CI: rules and drift."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .common import (
    CLEAN,
    FINDINGS,
    count,
    exits,
    format_option,
    output_option,
    print_findings,
    read,
    say,
    schemas_option,
)

if TYPE_CHECKING:
    from ..findings import Report
    from ..render import Format


@click.command()
@click.option("--strict", is_flag=True, help="Let warnings fail, too.")
@format_option
@schemas_option
@output_option
@exits
def check(strict: bool, output_format: "Format", schemas: str | None, output: str | None) -> int:
    """Check the schemas, and that the generated files are theirs."""
    from ..findings import Report
    from ..fresh import is_fresh
    from ..settings import find

    checked, report = is_fresh(find(Path.cwd(), schemas, output)), Report()
    if checked is None:
        checked, report = _look(schemas, output)
    print_findings(report, output_format)
    if report.fails(strict):
        return FINDINGS
    say(f"{count(checked)} and the generated files agree", output_format)
    return CLEAN


def _look(schemas: str | None, output: str | None) -> "tuple[int, Report]":
    from ..output import drift
    from ..rules.drift import add_drift

    project, report, settings = read(schemas, output)
    if not report.has_errors:
        add_drift(drift(settings.output, project.targets), report)
    return len(project.schemas), report
