"""How many bytes a session holds, and how many sessions a device has room for."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .common import CLEAN, FINDINGS, chosen, exits, print_findings, read, schemas_option

if TYPE_CHECKING:
    from ..build import Source
    from ..plan.document import Plan
    from ..plan.fit import Room


@click.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A dim, a param or dtype, instead of the shipped value; may be given again.",
)
@click.option(
    "--sessions", type=click.IntRange(min=0), help="Sessions to have room for; 64 are quoted."
)
@click.option(
    "--steps", type=click.IntRange(min=0), help="Steps taken, instead of the schema's horizon."
)
@click.option("--device-memory", metavar="BYTES", help="Of one accelerator, such as 80GiB.")
@click.option("--reserve", metavar="BYTES", help="What of it sessions may not have.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="json is for an engine's admission; html is one file with the charts.",
)
@click.option(
    "--plot", metavar="FILE.svg", type=click.Path(path_type=Path), help="Draw the charts as SVG."
)
@click.option(
    "--output", "to", metavar="FILE", type=click.Path(path_type=Path), help="Write to FILE instead."
)
@schemas_option
@exits
def plan(
    models: tuple[str, ...],
    settings: tuple[str, ...],
    sessions: int | None,
    steps: int | None,
    device_memory: str | None,
    reserve: str | None,
    form: str,
    plot: Path | None,
    to: Path | None,
    schemas: str | None,
) -> int:
    """Say what a session holds as it steps, and how many fit.

    The exit code is 1 where --sessions do not fit into --device-memory.
    """
    from ..output import Change, replace
    from ..plan.fit import room_of

    _refuse(models, plot)
    room = room_of(device_memory, reserve)
    project, report, _ = read(schemas, None)
    print_findings(report, err=True)
    if report.has_errors:
        return FINDINGS
    plans = _plans(chosen(project, models), settings, sessions, steps, room)
    files = [Change(plot, None, _svg(plans).encode())] if plot else []
    text = f"{_text(plans, form).rstrip()}\n"
    if to is not None:
        files.append(Change(to, None, text.encode()))
    replace(files)
    if to is None:
        click.echo(text, nl=False)
    asked = sessions is not None
    return FINDINGS if asked and any(one.is_too_much for one in plans) else CLEAN


def _refuse(models: Sequence[str], plot: Path | None) -> None:
    """What is likely to be meant otherwise than it was written."""
    from ..settings import UsageError

    for model in models:
        if "=" in model:
            raise UsageError(f"{model!r} is no model; write --set before each: --set {model}")
    if plot is not None and plot.suffix != ".svg":
        raise UsageError(
            f"--plot draws SVG alone, not {plot.name!r}; write {plot.with_suffix('.svg').name!r}, "
            "which browsers open, and convert it with a tool such as rsvg-convert"
        )


def _plans(
    sources: "Sequence[Source]",
    settings: Sequence[str],
    sessions: int | None,
    steps: int | None,
    room: "Room | None",
) -> "Sequence[Plan]":
    from ..emit.table import SESSIONS
    from ..plan.document import Plan
    from ..plan.session import SessionBytes
    from ..plan.setting import settings_of

    at = settings_of([one.schema for one in sources], settings, steps)
    many = SESSIONS if sessions is None else sessions
    return [
        Plan(SessionBytes(one.schema, at[one.schema.model]), one.path, many, room)
        for one in sources
    ]


def _text(plans: "Sequence[Plan]", form: str) -> str:
    if form == "json":
        import json

        from ..plan.document import document

        return json.dumps(document(plans), indent=2)
    if form == "html":
        from ..plan.html import page

        return page(plans)
    from ..plan.text import text

    return "\n\n\n".join("\n".join(text(plan)) for plan in plans)


def _svg(plans: "Sequence[Plan]") -> str:
    from ..plan.charts import picture

    return picture(plans)
