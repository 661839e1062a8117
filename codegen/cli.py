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
from .commands.plan import plan
from .commands.table import table


class Ordered(click.Group):
    """A group whose help lists its commands as they were added: in the order of the work."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=Ordered, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="session-state")
def main() -> None:
    """One YAML schema per model: session classes, resets, byte accounting, decision table."""


_WRITING = (new, draft, format_, check, explain, jsonschema)
_BUILDING = (diff, generate)
_REVIEWING = (table, breaking, plan)
for command in (*_WRITING, *_BUILDING, *_REVIEWING):
    main.add_command(command)


if __name__ == "__main__":
    main()
