"""The decision table, as a reviewer reads it."""

import click

from .common import CLEAN, FINDINGS, exits, print_findings, read, schemas_option


@click.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@schemas_option
@exits
def table(models: tuple[str, ...], schemas: str | None) -> int:
    """Show the decision table, of all models or of those named."""
    from shutil import get_terminal_size

    from ..emit.table import section
    from ..emit.terminal import terminal
    from ..settings import UsageError

    project, report, _ = read(schemas, None)
    print_findings(report)
    if report.has_errors:
        return FINDINGS
    known = {schema.model.casefold(): schema.model for schema in project.schemas}
    for model in models:
        if model.casefold() not in known:
            raise UsageError(
                f"no schema is of the model {model!r}; there are {', '.join(known.values())}"
            )
    chosen = {known[model.casefold()] for model in models} or set(known.values())
    pages = [
        "\n".join(terminal(section(schema, path), get_terminal_size().columns))
        for schema, path in ((one.schema, one.path) for one in project.sources)
        if schema.model in chosen
    ]
    click.echo("\n\n\n".join(pages))
    return CLEAN
