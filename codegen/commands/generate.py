"""Write the session classes and the decision table."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..paths import shown
from .common import (
    CLEAN,
    EDITED,
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
    from ..render import Format


@click.command()
@click.option(
    "--watch", "watching", is_flag=True, help="Go on, and generate again when a schema changes."
)
@format_option
@schemas_option
@output_option
@exits
def generate(
    watching: bool, output_format: "Format", schemas: str | None, output: str | None
) -> int:
    """Write the session classes and the decision table."""
    if not watching:
        return _generate(output_format, schemas, output)
    from ..settings import find
    from .watch import watch

    folder = find(Path.cwd(), schemas, output).schemas
    return watch(folder, lambda: _generate(output_format, schemas, output))


def _generate(output_format: "Format", schemas: str | None, output: str | None) -> int:
    from ..output import drift, write

    project, report, settings = read(schemas, output)
    print_findings(report, output_format)
    if report.has_errors:
        say("Nothing was written.", output_format)
        return FINDINGS
    targets = project.targets
    changed = write(settings.output, project.render(), targets)
    for path in changed:
        say(f"{'wrote' if path.exists() else 'removed'} {shown(path)}", output_format)
    for one in drift(settings.output, targets):
        if one.edited:
            say(f"kept {shown(one.path)} ({EDITED})", output_format)
    say(
        f"{count(len(project.schemas))}, {len(targets)} files in {shown(settings.output)}, "
        f"{len(changed)} changed",
        output_format,
    )
    return CLEAN
