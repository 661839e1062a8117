"""A first schema, from a state class that was written by hand."""

import click

from .common import CLEAN, exits


@click.command()
@click.argument("where", metavar="FILE.py:CLASS")
@exits
def draft(where: str) -> int:
    """Print a first schema of a hand-written state class.

    The class is read by its source alone; nothing is imported.
    """
    from ..draft import drafted

    made = drafted(where)
    click.echo(made.text, nl=False)
    click.echo(made.summary, err=True)
    return CLEAN
