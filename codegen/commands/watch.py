"""`generate` again whenever a schema changes."""

from collections.abc import Callable, Iterator
from pathlib import Path

import click

# How long the watcher waits, in milliseconds, before it says that nothing happened.
_TICK_MS = 200


def watch(folder: Path, run: Callable[[], int]) -> int:
    """Call `run` now and whenever a schema of `folder` changed, until the user interrupts.

    What is wrong with a schema, or with where its files go, is printed, and the next change is
    waited for.

    Raises:
        UsageError: watchfiles is not installed, or there is no such folder.
    """
    from ..paths import shown
    from ..settings import UsageError
    from .common import CLEAN

    try:
        for names in _changes(folder):
            if names:
                click.echo(f"\n{', '.join(names)} changed")
            try:
                run()
            except (UsageError, OSError) as error:
                click.echo(f"session-state: {error}", err=True)
            click.echo(f"watching {shown(folder)}; Ctrl-C ends it")
    except KeyboardInterrupt:
        click.echo()
    return CLEAN


def _changes(folder: Path) -> Iterator[list[str]]:
    """The names of the schemas that changed together; nothing, first, once changes are seen."""
    from ..outputs import SUFFIXES
    from ..paths import shown
    from ..settings import UsageError

    try:
        import watchfiles
    except ModuleNotFoundError:
        raise UsageError(
            "generate --watch needs watchfiles: python -m pip install 'session-state[watch]'"
        ) from None
    if not folder.is_dir():
        raise UsageError(f"{shown(folder)}: is not a folder of schemas")
    batches = watchfiles.watch(
        folder,
        watch_filter=lambda change, path: Path(path).suffix in SUFFIXES,
        rust_timeout=_TICK_MS,
        yield_on_timeout=True,
        recursive=False,
    )
    # The first batch, empty or not, says that no change from here on is missed.
    started = False
    for batch in batches:
        if batch or not started:
            yield sorted({Path(path).name for _, path in batch})
        started = True
