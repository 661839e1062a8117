"""`python -m codegen` is `session-state`."""

from .cli import main

main(prog_name="session-state")
