"""What every command shares: its exit codes, its options, how it reads the schemas."""

import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

import click

if TYPE_CHECKING:
    from ..build import Project, Source
    from ..findings import Report
    from ..render import Format
    from ..settings import Settings

P = ParamSpec("P")

CLEAN, FINDINGS, USAGE = 0, 1, 2
# Of a file that generate neither makes nor deletes.
EDITED = "edited by hand; no schema makes it any more"
_DEBUG = "SESSION_STATE_DEBUG"


def exits(run: Callable[P, int]) -> Callable[P, None]:
    """Give a command its exit codes: its own, or 2 with one line where it cannot do its work."""

    @wraps(run)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        from ..settings import UsageError

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


schemas_option = click.option("--schemas", metavar="DIR", help="Folder of the schemas.")
output_option = click.option("--output", metavar="DIR", help="Folder of the generated files.")
format_option = click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    show_default=True,
    help="How findings are printed; json and github print nothing else.",
)


def read(schemas: str | None, output: str | None) -> "tuple[Project, Report, Settings]":
    from ..build import read_project
    from ..findings import Report
    from ..settings import find

    settings = find(Path.cwd(), schemas, output)
    report = Report()
    return read_project(settings, report), report, settings


def chosen(project: "Project", models: Sequence[str]) -> "Sequence[Source]":
    """The models that are named, or all. Raises UsageError for one that there is not."""
    from ..settings import UsageError

    known = {schema.model.casefold(): schema.model for schema in project.schemas}
    for model in models:
        if model.casefold() not in known:
            raise UsageError(
                f"no schema is of the model {model!r}; there are {', '.join(known.values())}"
            )
    wanted = {known[model.casefold()] for model in models} or set(known.values())
    return [one for one in project.sources if one.schema.model in wanted]


def count(models: int) -> str:
    return f"{models} schema{'s' * (models != 1)}"


def print_findings(
    report: "Report", output_format: "Format" = "text", *, err: bool = False
) -> None:
    """Print what was found; in json and github this is all that stands on standard output."""
    from ..render import render

    page = render(report.findings, output_format, colour=coloured(err))
    if page:
        click.echo(f"{page}\n" if output_format == "text" else page, err=err)


def say(line: str, output_format: "Format") -> None:
    """A word on how it went, beside findings that a program reads."""
    click.echo(line, err=output_format != "text")


def coloured(err: bool = False) -> bool:
    """Whether a person with a terminal that takes colours reads along; see no-color.org."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    stream = sys.stderr if err else sys.stdout
    # Python has none where the shell closed it: `>&-`.
    return not plain and stream is not None and stream.isatty()
