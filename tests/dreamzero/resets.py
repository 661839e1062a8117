"""Every case that the reset rules tell apart."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import torch

INSTRUCTIONS = (None, 0, 1)


def reset_reasons(state: Any) -> Iterator[tuple[str | None, bool]]:
    """What `state` answers in each case, always in the same order."""
    for instruction, tokens, frames, calls, start, window in product(
        INSTRUCTIONS, INSTRUCTIONS, (0, 1, 4), range(4), range(5), (-1, 0, 3)
    ):
        state.language = None if instruction is None else torch.tensor([instruction])
        state.call_count, state.current_start_frame = calls, start
        arguments = (None if tokens is None else torch.tensor([tokens]), frames, window)
        yield state.reset_reason(*arguments), state.should_reset(*arguments)
