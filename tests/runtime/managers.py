"""What tests of the manager share."""

from session_state import SessionStateManager


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def closed(manager: SessionStateManager) -> dict[str, int]:
    """How many sessions ended for which reason."""
    return {
        key.removeprefix("closed:"): count
        for key, count in manager.stats().items()
        if key.startswith("closed:")
    }
