"""Without the reference its tests skip, and fail where it is required."""

import pytest

from .wheel import is_required, why_missing


@pytest.fixture(autouse=True)
def _reference_is_there() -> None:
    reason = why_missing()
    if reason is not None:
        (pytest.fail if is_required() else pytest.skip)(reason)
