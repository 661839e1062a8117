"""The `session-state` command. Its help imports click alone; each command imports what it needs."""

import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

import click

from .paths import shown

if TYPE_CHECKING:
    from .build import Project
    from .findings import Report
    from .output import Drift
    from .settings import Settings

P = ParamSpec("P")

CLEAN, FINDINGS, USAGE = 0, 1, 2
_SHOWN_FINDINGS = 20
_DEBUG = "SESSION_STATE_DEBUG"

_REMEDY = {
    "missing": "run `session-state generate`",
    "changed": "run `session-state generate`; edits belong in the schema",
    "orphaned": "no schema makes it any more; run `session-state generate`, or delete it",
    "foreign": "not written by session-state, left alone",
}


_EDITED = "no schema makes it any more, and it was edited by hand: delete it when nothing is lost"
_IN_PLACE = "not written by session-state, and in the place of what is; move it away"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="session-state")
def main() -> None:
    """One YAML schema per model: session classes, resets, byte accounting, decision table."""


def _command(run: Callable[P, int]) -> Callable[P, None]:
    """Give a command its exit codes: its own, or 2 with one line where it cannot do its work."""

    @wraps(run)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        from .settings import UsageError

        try:
            code = run(*args, **kwargs)
        except UsageError as error:
            click.echo(f"session-state: {error}", err=True)
            code = USAGE
        except BrokenPipeError:
            # Whoever read the output has seen enough; Python would complain once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = FINDINGS
        except OSError as error:
            click.echo(f"session-state: {error}", err=True)
            code = USAGE
        except Exception as error:
            if os.environ.get(_DEBUG):
                raise
            notes = list(reversed(getattr(error, "__notes__", [])))
            where = f" at {', '.join(notes)}" if notes else ""
            click.echo(
                f"session-state: internal error{where}: {type(error).__name__}: {error} "
                f"(set {_DEBUG}=1 for the traceback, and please report it)",
                err=True,
            )
            code = USAGE
        sys.exit(code)

    return wrapped


_schemas = click.option("--schemas", metavar="DIR", help="Folder of the schemas.")
_output = click.option("--output", metavar="DIR", help="Folder of the generated files.")


@main.command()
@_schemas
@_output
@_command
def generate(schemas: str | None, output: str | None) -> int:
    """Write the session classes and the decision table."""
    from .output import drift, write

    project, report, settings = _read(schemas, output)
    _print_findings(report)
    if report.has_errors:
        click.echo("Nothing was written.")
        return FINDINGS
    targets = project.targets
    changed = write(settings.output, project.render(), targets)
    for path in changed:
        click.echo(f"{'wrote' if path.exists() else 'removed'} {shown(path)}")
    for one in drift(settings.output, targets):
        if one.edited:
            click.echo(f"kept {shown(one.path)} ({_EDITED})")
    click.echo(
        f"{_count(len(project.schemas))}, {len(targets)} files in {shown(settings.output)}, "
        f"{len(changed)} changed"
    )
    return CLEAN


@main.command()
@click.option("--strict", is_flag=True, help="Let warnings fail, too.")
@_schemas
@_output
@_command
def check(strict: bool, schemas: str | None, output: str | None) -> int:
    """Check the schemas, and that the generated files are theirs."""
    from .fresh import is_fresh
    from .settings import find

    found = is_fresh(find(Path.cwd(), schemas, output))
    if found is not None:
        click.echo(f"{_count(found)} and the generated files agree")
        return CLEAN

    from .output import drift

    project, report, settings = _read(schemas, output)
    _print_findings(report)
    drifted: list[Drift] = []
    if not report.has_errors:
        drifted = drift(settings.output, project.targets)
        for one in drifted:
            remedy = _EDITED if one.edited else _IN_PLACE if one.blocks else _REMEDY[one.state]
            click.echo(f"{one.state}: {shown(one.path)} ({remedy})")
    failed = report.has_errors or any(one.fails for one in drifted)
    warned = bool(report.findings or drifted)
    if failed or (strict and warned):
        return FINDINGS
    click.echo(f"{_count(len(project.schemas))} and the generated files agree")
    return CLEAN


@main.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@_schemas
@_command
def table(models: tuple[str, ...], schemas: str | None) -> int:
    """Show the decision table, of all models or of those named."""
    from shutil import get_terminal_size

    from .emit.table import section
    from .emit.terminal import terminal
    from .settings import UsageError

    project, report, _ = _read(schemas, None)
    _print_findings(report)
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


def _read(schemas: str | None, output: str | None) -> "tuple[Project, Report, Settings]":
    from .build import read_project
    from .findings import Report
    from .settings import find

    settings = find(Path.cwd(), schemas, output)
    report = Report()
    return read_project(settings, report), report, settings


def _count(models: int) -> str:
    return f"{models} schema{'s' * (models != 1)}"


def _print_findings(report: "Report") -> None:
    from .findings import render

    findings = report.findings
    for finding in findings[:_SHOWN_FINDINGS]:
        click.echo(render(finding) + "\n")
    if len(findings) > _SHOWN_FINDINGS:
        click.echo(f"... and {len(findings) - _SHOWN_FINDINGS} more findings")


if __name__ == "__main__":
    main()
