"""The `session-state` command. Its help imports click alone; each command imports what it needs."""

import click

from .commands.breaking import breaking
from .commands.check import check
from .commands.diff import diff
from .commands.draft import draft
from .commands.explain import explain
from .commands.generate import generate
from .commands.plan import plan
from .commands.table import table


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="session-state")
def main() -> None:
    """One YAML schema per model: session classes, resets, byte accounting, decision table."""


for command in (breaking, check, diff, draft, explain, generate, plan, table):
    main.add_command(command)


if __name__ == "__main__":
    main()
