"""The schema language, for editors."""

import click

from .common import CLEAN, exits


@click.command()
@exits
def jsonschema() -> int:
    """Print the JSON Schema of the language, for editors."""
    from ..jsonschema import document

    click.echo(document(), nl=False)
    return CLEAN
