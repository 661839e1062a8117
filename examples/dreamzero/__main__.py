"""Stream a real VAE encoder through a hand-written state and the generated one, side by side."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import attrs
import torch
from torch import Tensor

from session_state.accounting import walk
from session_state.manager import SessionState, SessionStateManager

from .bespoke import BespokeState
from .compare import differences
from .rollout import BLOCK, step
from .state import DreamZeroState
from .stream import EncoderStream, small_vae

SESSION = "robot-7"
FRAMES = 60
NEW_INSTRUCTION = 27
"""The frame at which the client asks for something else, which resets the session."""

BREAK_AT = 40
BROKEN_SLOT = 1
HEIGHT, WIDTH = 96, 160
BASE_CHANNELS, LATENT_CHANNELS = 8, 4

DECISIONS = Path(__file__).parents[2] / "generated" / "DECISIONS.md"


@attrs.frozen
class Outcome:
    """What one frame did: the reset it began with, and the fields that differ after it."""

    frame: int
    reset: str | None
    differing: list[str]


def stream(manager: SessionStateManager, *, drop_a_slot: bool) -> Iterator[Outcome]:
    """Feed every frame to both states; a view is made anew for each, as the pipeline does."""
    encoder = EncoderStream(small_vae(BASE_CHANNELS, LATENT_CHANNELS))
    bespoke = BespokeState()
    for frame, image in enumerate(camera(), start=1):
        state = DreamZeroState(SESSION, manager, vae_encoder_window=BLOCK)
        feature_map = state.vae_enc_feat_map
        if drop_a_slot and frame == BREAK_AT and feature_map is not None:
            feature_map[BROKEN_SLOT] = None
        instruction = int(frame >= NEW_INSTRUCTION)
        reset = step(encoder, bespoke, image, instruction)
        step(encoder, state, image, instruction)
        yield Outcome(frame, reset, differences(bespoke, state))


def camera() -> Iterator[Tensor]:
    """Noise with a bright bar that wanders: images (H, W, 3) in uint8, always the same."""
    noise = torch.Generator().manual_seed(0)
    for frame in range(FRAMES):
        image = torch.randint(0, 128, (HEIGHT, WIDTH, 3), dtype=torch.uint8, generator=noise)
        image[:, 2 * frame : 2 * frame + 16] += 127
        yield image


def report_progress(outcome: Outcome) -> None:
    """Rewrite one line in a terminal; in a pipe, one line for every ten frames and event."""
    event = f"{outcome.reset} reset" if outcome.reset else ""
    verdict = f"differs in {', '.join(outcome.differing)}" if outcome.differing else "equal"
    line = f"  frame {outcome.frame:2} of {FRAMES}   {verdict:8} {event}".rstrip()
    if sys.stdout.isatty():
        print(
            f"\r\x1b[K{line[:79]}", end="\n" if event or outcome.frame == FRAMES else "", flush=True
        )
    elif event or outcome.frame % 10 == 0:
        print(line, flush=True)


def bytes_table(session: SessionState) -> Iterator[str]:
    """Held beside declared bytes of each field that holds any, per device."""
    declared = DreamZeroState.declared_nbytes(
        steps=FRAMES,
        accelerator="cpu",
        dtype="float32",
        vae_encoder_window=BLOCK,
        H=HEIGHT,
        W=WIDTH,
        z=LATENT_CHANNELS,
        c=BASE_CHANNELS,
    ).by_field
    rows = [
        (field, device, held(session, field).get(device, 0), most)
        for field, devices in declared.items()
        for device, most in devices.items()
        if most
    ]
    totals = (sum(row[2] for row in rows), sum(row[3] for row in rows))
    yield f"  {'field':24} {'device':6} {'held':>12} {'declared':>12}"
    for row in rows:
        yield "  {:24} {:6} {:12,} {:12,}".format(*row)
    yield "  {:31} {:12,} {:12,}".format("total", *totals)


def held(session: SessionState, field: str) -> dict[str, int]:
    """The bytes that one field holds now, per device."""
    value = session.get(field) if field in session.names() else session.attrs.get(field)
    return dict(walk(value, set()).nbytes)


def main() -> int:
    """Run the comparison; 0 when it came out as it should, else 1."""
    parser = argparse.ArgumentParser(prog="examples.dreamzero", description=__doc__)
    parser.add_argument(
        "--break",
        dest="drop_a_slot",
        action="store_true",
        help=f"drop slot {BROKEN_SLOT} of the generated state's encoder map at frame {BREAK_AT}",
    )
    options = parser.parse_args()

    print(f"Streaming {FRAMES} frames of {HEIGHT}x{WIDTH} through AutoencoderKLWan, twice:")
    print("a hand-written state with full history, and the generated DreamZeroSession.\n")
    manager = SessionStateManager()
    outcomes = []
    for outcome in stream(manager, drop_a_slot=options.drop_a_slot):
        report_progress(outcome)
        outcomes.append(outcome)

    differing = [outcome for outcome in outcomes if outcome.differing]
    resets = Counter(outcome.reset for outcome in outcomes if outcome.reset)
    print(f"\n{FRAMES - len(differing)} of {FRAMES} steps equal bit for bit", end=" ")
    print(f"({resets['session']} session resets, {resets['inference']} window resets).")
    if differing:
        first = differing[0]
        print(f"First difference at frame {first.frame}: {', '.join(first.differing)}.")
    print(f"\nBytes that {SESSION} holds, and the most that its schema declares:\n")
    print(*bytes_table(manager.get_or_create_session(SESSION)), sep="\n")
    print(f"\nWhy each value lies where it lies: {DECISIONS}")
    return int(bool(differing) != options.drop_a_slot)


if __name__ == "__main__":
    sys.exit(main())
