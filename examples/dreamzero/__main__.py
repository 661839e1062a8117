"""Stream a real VAE encoder through a hand-written state and the generated one, side by side."""

import argparse
import sys
from collections.abc import Iterator

import torch
from session_state.manager import SessionStateManager
from torch import Tensor

from ..report import bytes_by_field, bytes_table, total
from .bespoke import BespokeState
from .compare import differences
from .report import Outcome, show_progress, summary
from .rollout import BLOCK, step
from .state import DreamZeroState
from .stream import EncoderStream, small_vae

SESSION = "robot-7"
FRAMES = 60
NEW_INSTRUCTION = 27
"""The frame at which the client asks for something else, which resets the session."""

BREAK_AT = 40
BROKEN_SLOT = 1

DIMS = {"H": 64, "W": 96, "z": 4, "c": 8}
"""The small configuration, in the symbols of the schema."""


def camera() -> Iterator[Tensor]:
    """Noise with a bright bar that wanders: images (H, W, 3) in uint8, always the same."""
    noise = torch.Generator().manual_seed(0)
    shape = (DIMS["H"], DIMS["W"], 3)
    for frame in range(FRAMES):
        image = torch.randint(0, 128, shape, dtype=torch.uint8, generator=noise)
        image[:, frame : frame + 16] += 127
        yield image


def stream(manager: SessionStateManager, *, drop_a_slot: bool) -> Iterator[Outcome]:
    """Feed every frame to both states; a view is made anew for each, as the pipeline does."""
    encoder = EncoderStream(small_vae(base_dim=DIMS["c"], z_dim=DIMS["z"]))
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


def main() -> int:
    """Run the comparison; 0 when it came out as it should, else 1."""
    parser = argparse.ArgumentParser(prog="examples.dreamzero", description=__doc__)
    parser.add_argument(
        "--break",
        dest="drop_a_slot",
        action="store_true",
        help=f"drop slot {BROKEN_SLOT} of the generated state's encoder map at frame {BREAK_AT}",
    )
    drop_a_slot = parser.parse_args().drop_a_slot

    # Convolutions this small cost more to share between threads than to compute.
    torch.set_num_threads(1)
    print(f"Streaming {FRAMES} frames of {DIMS['H']}x{DIMS['W']} through AutoencoderKLWan, twice:")
    print("a hand-written state with full history, and the generated DreamZeroSession.\n")
    manager = SessionStateManager()
    outcomes = []
    for outcome in stream(manager, drop_a_slot=drop_a_slot):
        show_progress(outcome, FRAMES)
        outcomes.append(outcome)

    declared = DreamZeroState.declared_nbytes(
        steps=FRAMES, accelerator="cpu", dtype="float32", vae_encoder_window=BLOCK, **DIMS
    )
    differs = any(outcome.differing for outcome in outcomes)
    print("", *summary(outcomes), sep="\n")
    if drop_a_slot:
        noticed = "this comparison noticed" if differs else "nothing noticed"
        print(
            f"Slot {BROKEN_SLOT} of the generated state's map was dropped at frame {BREAK_AT}: {noticed}."
        )
    print(f"\nBytes the session holds, and the most its schema declares for {FRAMES} steps:\n")
    session = manager.get_or_create_session(SESSION)
    rows = [*bytes_by_field(session, declared.by_field)]
    print(*bytes_table([*rows, total(rows)]), sep="\n")
    print("\nWhy each value lies where it lies: generated/DECISIONS.md")
    return int(differs != drop_a_slot)


if __name__ == "__main__":
    sys.exit(main())
