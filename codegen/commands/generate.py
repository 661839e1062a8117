"""Write the session classes and the decision table."""

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
from .remedies import EDITED


@click.command()
@schemas_option
@output_option
@exits
def generate(schemas: str | None, output: str | None) -> int:
    """Write the session classes and the decision table."""
    from ..output import drift, write

    project, report, settings = read(schemas, output)
    print_findings(report)
    if report.has_errors:
        click.echo("Nothing was written.")
        return FINDINGS
    targets = project.targets
    changed = write(settings.output, project.render(), targets)
    for path in changed:
        click.echo(f"{'wrote' if path.exists() else 'removed'} {shown(path)}")
    for one in drift(settings.output, targets):
        if one.edited:
            click.echo(f"kept {shown(one.path)} ({EDITED})")
    click.echo(
        f"{count(len(project.schemas))}, {len(targets)} files in {shown(settings.output)}, "
        f"{len(changed)} changed"
    )
    return CLEAN
