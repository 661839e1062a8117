"""Why there is a rule, and what keeps it."""

from typing import TYPE_CHECKING, Literal

import click

from .common import CLEAN, coloured, exits

if TYPE_CHECKING:
    from ..rules import Rule


@click.command()
@click.argument("code", required=False)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "markdown"]),
    default="text",
    show_default=True,
    help="For the terminal, or as docs/rules.md.",
)
@exits
def explain(code: str | None, output_format: Literal["text", "markdown"]) -> int:
    """Say why there is a finding, with a wrong and a right schema.

    Without CODE, list all that can be found.
    """
    from shutil import get_terminal_size

    from ..explain import CHANGES_HEAD, explanation, listing, markdown_page, markdown_section
    from ..rules.catalogue import CATALOGUE, CHANGES

    if code is None:
        if output_format == "markdown":
            click.echo(markdown_page(CATALOGUE))
        else:
            columns = get_terminal_size().columns
            click.echo(listing(CATALOGUE, columns))
            click.echo(f"\n{CHANGES_HEAD}\n\n{listing(CHANGES, columns)}")
        return CLEAN
    rule = _named(code)
    if output_format == "markdown":
        click.echo(markdown_section(rule))
    else:
        click.echo(explanation(rule, coloured()))
    return CLEAN


def _named(code: str) -> "Rule":
    from ..rules.catalogue import CATALOGUE, CHANGES
    from ..rules.problem import did_you_mean
    from ..settings import UsageError

    rules = {rule.code: rule for rule in (*CATALOGUE, *CHANGES)}
    if code not in rules:
        hint = did_you_mean(code, rules, "`session-state explain` lists all")
        raise UsageError(f"no finding has the code `{code}`; {hint}")
    return rules[code]
