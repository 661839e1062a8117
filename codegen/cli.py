"""The `session-state` command. Its help imports click alone; each command imports what it needs."""

import click

from .commands.breaking import breaking
from .commands.check import check
from .commands.diff import diff
from .commands.draft import draft
from .commands.explain import explain
from .commands.format import format_
from .commands.generate import generate
from .commands.jsonschema import jsonschema
from .commands.new import new
from .commands.table import table


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="session-state")
def main() -> None:
    """One YAML schema per model: session classes, resets, byte accounting, decision table."""


for command in (breaking, check, diff, draft, explain, format_, generate, jsonschema, new, table):
    main.add_command(command)


if __name__ == "__main__":
    main()
