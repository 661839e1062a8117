"""What a pull request changes of what the schemas mean."""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import click

from .common import CLEAN, FINDINGS, coloured, exits, print_findings, read, say, schemas_option

if TYPE_CHECKING:
    from ..breaking import Change
    from ..findings import Report
    from ..render import Format


def _per_cent(context: click.Context, param: click.Parameter, value: str) -> Decimal:
    """A number of per cent, with or without its sign."""
    try:
        number = Decimal(value.removesuffix("%"))
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or number < 0:
        raise click.BadParameter(f"{value!r} is no number of per cent, such as 10%")
    return number


@click.command()
@click.option(
    "--against",
    metavar="REF",
    required=True,
    help="A git ref (origin/main, v1.2, HEAD~1), or a folder.",
)
@click.option(
    "--threshold",
    metavar="PERCENT",
    callback=_per_cent,
    default="10%",
    show_default=True,
    help="How much declared bytes may grow.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "github", "markdown"]),
    default="text",
    show_default=True,
    help="How changes are printed; markdown is a comment for a pull request.",
)
@schemas_option
@exits
def breaking(against: str, threshold: Decimal, output_format: str, schemas: str | None) -> int:
    """Show what changed since REF that somebody would notice.

    What the schemas mean is compared, not how they are written.
    """
    from ..breaking import changes_of, compared
    from ..breaking.baseline import read_baseline

    project, report, settings = read(schemas, None)
    findings_format = _findings_format(output_format)
    if report.has_errors:
        print_findings(report, findings_format, err=output_format == "markdown")
        return FINDINGS
    baseline = read_baseline(against, settings, project.schemas)
    comparison = compared(baseline.schemas, project.schemas, threshold)
    changes = changes_of(comparison)
    summary = f"{_summary(changes)} against {baseline.name}"
    if output_format == "markdown":
        from ..breaking.comment import comment

        click.echo(comment(comparison, changes, summary), nl=False)
    else:
        _print(changes, report.emptied(), findings_format)
        say(summary, findings_format)
    if not baseline.schemas:
        click.echo(f"{baseline.name} has no schemas: every model is new", err=True)
    return FINDINGS if any(change.breaking for change in changes) else CLEAN


def _findings_format(output_format: str) -> "Format":
    match output_format:
        case "json" | "github":
            return output_format
        case _:
            return "text"


def _print(changes: Sequence["Change"], report: "Report", output_format: "Format") -> None:
    """Print the changes, those that break first."""
    from ..render import render

    for change in changes:
        report.add(
            change.path, change.code, change.severity, change.span, change.message, change.hint
        )
    findings = sorted(report.findings, key=lambda finding: finding.severity != "error")
    page = render(findings, output_format, colour=coloured())
    if page:
        click.echo(f"{page}\n" if output_format == "text" else page)


def _summary(changes: Sequence["Change"]) -> str:
    breaking = sum(change.breaking for change in changes)
    others = len(changes) - breaking
    told = f"{breaking or 'no'} breaking change{'s' * (breaking != 1)}"
    return f"{told}, {others} other{'s' * (others != 1)}," if others else told
