"""How many sessions fit on a device, and what decides it."""

from attrs import frozen

from ..settings import UsageError
from .session import FieldBytes, SessionBytes
from .setting import as_bytes


@frozen
class Room:
    """The memory of one accelerator, and what of it is for weights, activations and the rest."""

    memory: int
    reserve: int

    @property
    def free(self) -> int:
        return self.memory - self.reserve


def room_of(memory: str | None, reserve: str | None) -> Room | None:
    """The room that two texts describe; None where the memory is not given.

    Raises:
        UsageError: a text says no bytes, or the reserve has no memory to be of.
    """
    if memory is None:
        if reserve is not None:
            raise UsageError("--reserve is of --device-memory; give that too, such as 80GiB")
        return None
    room = Room(as_bytes(memory), as_bytes(reserve or "0"))
    if room.reserve >= room.memory:
        raise UsageError(f"a reserve of {reserve} leaves nothing of {memory} for sessions")
    return room


@frozen
class Fit:
    """`sessions` None: there is no limit, since no bytes are declared on the accelerator."""

    room: Room
    sessions: int | None
    decides: FieldBytes | None
    share: float


def fit(one: SessionBytes, room: Room) -> Fit:
    """The sessions that a device has room for, one of them stepping at a time."""
    held = one.on("accelerator")
    if not held.declared:
        return Fit(room, None, None, 0.0)
    sessions = max(0, room.free - held.copy) // held.declared
    on_device = [field for field in one.fields if field.device == "accelerator"]
    decides = max(on_device, key=lambda field: field.declared)
    return Fit(room, sessions, decides, decides.declared / held.declared)
