"""A first schema to start from."""

from pathlib import Path

import click

from .common import CLEAN, exits, schemas_option


@click.command()
@click.argument("model", metavar="MODEL")
@schemas_option
@exits
def new(model: str, schemas: str | None) -> int:
    """Write a first schema of MODEL, with every key explained."""
    from ..files import create
    from ..new import JSON_SCHEMA, loaded, new_schema
    from ..paths import shown
    from ..settings import find

    folder = find(Path.cwd(), schemas, None).schemas
    made = new_schema(model, loaded(folder), (folder / JSON_SCHEMA).is_file())
    path = folder / made.name
    create(path, made.text.encode())
    click.echo(f"wrote {shown(path)}; `session-state check` says what is left to write in it")
    return CLEAN
