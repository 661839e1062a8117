"""Bytes of staged fields: twice while both contents are there, once after."""

import pytest
import torch
from session_state import SessionStateManager, device_bytes
from torch import Tensor

from codegen.declared import declared, shipped_values
from tests.cases.generated.staged.expected import StagedSession
from tests.codegen.schemas import CASES, examine

from .chunks import STAGED, chunk, opened, tail, thumbnail, write_all

ONE_CHUNK = {
    "generator_state": 16,
    "encoder_cache": 2 * 4 * (1 * 2 * 4 * 6) + 4 * 4,
    "camera_tail": 4 * 16 + 4 * 2 + 8 * 2,
    "frames": 3 * 4 * 6 * 4,
    "thumbnails": 6 * 4 * 6 * 3,
}
"""Bytes of what fills each field at the sizes of the schema, counted by hand."""


def fill(session: StagedSession, seed: int) -> None:
    """Write as much as the schema declares to every staged field that holds bytes."""
    session.generator_state = torch.full((16,), seed, dtype=torch.uint8)
    cache: list[Tensor | None] = [torch.full((1, 2, 4, 6), float(seed)) for _ in range(2)]
    session.encoder_cache = [*cache, torch.full((1, 4), float(seed))]
    session.camera_tail = tail(seed)
    session.frames = chunk(seed, 3)
    session.thumbnails.extend([thumbnail(seed) for _ in range(6)])


def test_bytes_count_twice_while_staged_and_once_after() -> None:
    """The session, its objects and the manager agree with what was allocated."""
    manager = SessionStateManager()
    session = StagedSession("robot-7", manager)
    one = sum(ONE_CHUNK.values())
    fill(session, 1)
    assert {"cpu": one} == session.nbytes_by_device()
    session.commit()
    assert {"cpu": one} == session.nbytes_by_device()
    fill(session, 2)
    assert {"cpu": 2 * one} == session.nbytes_by_device()
    for name, nbytes in ONE_CHUNK.items():
        assert {"cpu": 2 * nbytes} == session.object(name).nbytes_by_device(set())
    assert 2 * one == manager.nbytes_by_device()["cpu"]
    session.commit()
    assert {"cpu": one} == session.nbytes_by_device()
    fill(session, 3)
    stats = manager.stats()
    assert (2 * one, one) == (stats["nbytes:cpu"], stats["staged:cpu"])
    session.discard()
    assert {"cpu": one} == session.nbytes_by_device()
    stats = manager.stats()
    assert (one, 0) == (stats["nbytes:cpu"], stats.get("staged:cpu", 0))


def test_an_object_says_apart_what_is_committed_and_what_is_staged() -> None:
    """The two parts are what the walk counts together."""
    session = opened()
    fill(session, 1)
    session.commit()
    fill(session, 2)
    for name, nbytes in ONE_CHUNK.items():
        for part in session.object(name)._contents():
            assert {"cpu": nbytes} == device_bytes(part, set())
    session.commit()
    assert all(session.object(name)._contents()[1] is None for name in STAGED)


def test_a_failed_chunk_frees_what_it_staged() -> None:
    """After the exception nothing of it is alive but what the caller holds."""
    session = opened()
    write_all(session, 1)
    session.commit()
    before = session.nbytes_by_device()
    with pytest.raises(MemoryError), session.transaction():
        write_all(session, 2)
        raise MemoryError
    assert before == session.nbytes_by_device()


def test_staged_fields_and_only_those_declare_their_bytes_twice() -> None:
    """At the sizes of the schema, as the generated class and as the decision table say."""
    expected = {
        **{name: 2 * nbytes for name, nbytes in ONE_CHUNK.items()},
        "frame_index": 8 * 8,
        "poses_seen": 8 * 4 * 16 + 8 * 4 * 4,
        "anchor": 4 * 4,
    }
    by_field = StagedSession.declared_nbytes().by_field
    assert expected == {name: sum(found.values()) for name, found in by_field.items()}
    schema, _ = examine((CASES / "generated" / "staged" / "schema.yaml").read_bytes())
    assert schema is not None
    values = shipped_values(schema)
    found = {field.name: declared(schema, field, values) for field in schema.fields}
    assert expected == {name: nbytes for name, nbytes in found.items() if nbytes}
