"""Keys in their canonical order."""

from pathlib import Path

import click

from .common import CLEAN, FINDINGS, count, exits, print_findings, schemas_option


@click.command("format")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Write nothing; name the files that would change.")
@schemas_option
@exits
def format_(files: tuple[Path, ...], check: bool, schemas: str | None) -> int:
    """Put the keys of schemas in their canonical order.

    Of all schemas, or of those named.

    Comments move with what they belong to. A file that has findings is left as it is.
    """
    from ..files import read, replace
    from ..findings import Report
    from ..layout import formatted
    from ..outputs import schema_files
    from ..paths import shown
    from ..settings import find

    report = Report()
    changed: list[tuple[Path, bytes]] = []
    paths = files or tuple(schema_files(find(Path.cwd(), schemas, None).schemas))
    for path in paths:
        before = read(path)
        after = formatted(before, shown(path), report)
        if after is not None and after != before:
            changed.append((path, after))
    print_findings(report)
    for path, content in changed:
        if not check:
            replace(path, content)
        click.echo(f"{'would format' if check else 'formatted'} {shown(path)}")
    if not changed and not report.has_errors:
        click.echo(f"{count(len(paths))} in canonical order")
    return FINDINGS if report.has_errors or (check and changed) else CLEAN
