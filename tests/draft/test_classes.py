"""What a draft reads off a class: its fields, their types, defaults, writes and resets."""

from pathlib import Path

import pytest

from .measure import codes
from .source import draft_of, fields_of, schema_of

WRITTEN_STYLES = {
    "plain": """
        class State:
            def __init__(self) -> None:
                self.step_count = 0
                self.prompt: Tensor | None = None
                self.tokens: list[int] = []
        """,
    "dataclass": """
        @dataclass(slots=True)
        class State:
            step_count: int = 0
            prompt: Tensor | None = None
            tokens: list[int] = field(default_factory=list)
        """,
    "attrs": """
        @attrs.define
        class State:
            step_count: int = 0
            prompt: Optional[torch.Tensor] = None
            tokens: list[int] = attrs.Factory(list)
        """,
    "old attrs": """
        @attr.s
        class State:
            step_count = attr.ib(default=0, type=int)
            prompt = attr.ib(default=None, type=Optional[Tensor])
            tokens = attr.ib(factory=list, type="list[int]")
        """,
    "slots": """
        class State:
            __slots__ = ("step_count", "prompt", "tokens")

            def __init__(self):
                self.reset()

            def reset(self):
                self.step_count, again = 0, True
                self.prompt: Union[Tensor, None] = None
                self.tokens: list[int] = []
        """,
    "reset from the constructor": """
        class State:
            def __init__(self):
                self.reset()

            def reset(self):
                self.step_count = 0
                self.prompt: "torch.Tensor | None" = None
                self.tokens: "list[int]" = []
        """,
}


@pytest.mark.parametrize("style", WRITTEN_STYLES)
def test_one_state_is_one_draft_however_its_class_is_written(style: str, tmp_path: Path) -> None:
    """Plain classes, dataclasses, attrs, slots and `reset()` give the same fields."""
    assert {
        "step_count": {"type": "int", "default": 0},
        "prompt": {"type": "Tensor | None"},
        "tokens": {"type": "list[int]", "default": []},
    } == fields_of(tmp_path, WRITTEN_STYLES[style])


def test_properties_methods_and_constants_are_no_fields(tmp_path: Path) -> None:
    """What is computed, called or the same for every object is not kept by a session."""
    source = """
        @dataclass
        class State:
            LIMIT: ClassVar[int] = 4
            step_count: int = 0

            @property
            def is_new(self) -> bool:
                return self.step_count == 0

            def advance(self) -> None:
                self.step_count += 1
        """
    assert ["step_count"] == list(fields_of(tmp_path, source))


def test_a_scalar_of_the_constructor_that_nothing_writes_is_a_param(tmp_path: Path) -> None:
    """A size that shapes the session is given to it, with the constructor's default."""
    source = """
        WINDOW = 2

        class State:
            def __init__(self, session_id: str, *, window: int = WINDOW, layers: int) -> None:
                self._session_id = session_id
                self._window = window
                self.layers = layers
                self.recent = deque(maxlen=window)
                self.step_count = 0

            def push(self, frame: np.ndarray) -> None:
                self.recent.append(frame)
        """
    schema = schema_of(tmp_path, source)
    assert {"window": 2, "layers": None} == {
        name: param.get("default") for name, param in schema["params"].items()
    }
    assert {"size": "window"} == schema["fields"]["recent"]["ring"]


@pytest.mark.parametrize(
    ("write", "ring"),
    [
        ("self.frames = self.frames[-5:]", {"size": 5}),
        ("self.frames = (self.frames + [frame])[-KEPT:]", {"size": 3}),
        ("del self.frames[:-7]", {"size": 7}),
        ("if len(self.frames) > KEPT: self.frames.pop(0)", {"size": 3}),
    ],
)
def test_a_bound_kept_by_hand_is_a_ring(write: str, ring: dict[str, int], tmp_path: Path) -> None:
    """A slice of the newest, or dropping the oldest, says how many items are kept."""
    source = f"""
        KEPT = 3

        class State:
            def __init__(self) -> None:
                self.frames: list[Tensor] = []

            def push(self, frame: Tensor) -> None:
                self.frames.append(frame)
                {write}
        """
    assert {
        "kind": "LatentBuffer",
        "type": "Tensor",
        "ring": ring,
        "manager_may": ["accumulate"],
    } == (fields_of(tmp_path, source)["frames"])


def test_a_tensor_cut_along_a_dimension_is_a_ring_of_frames(tmp_path: Path) -> None:
    """The slice names the dimension that frames are counted along."""
    source = """
        class State:
            def __init__(self) -> None:
                self.latents: Tensor | None = None

            def push(self, chunk: Tensor) -> None:
                self.latents = torch.cat([self.latents, chunk], dim=2)[:, :, -19:]
        """
    assert {
        "kind": "FrameRing",
        "type": "Tensor",
        "ring": {"size": 19, "along": 2},
        "manager_may": ["accumulate"],
    } == fields_of(tmp_path, source)["latents"]


def test_a_bound_that_the_source_does_not_show_is_asked_for(tmp_path: Path) -> None:
    """No number is made up: the checker asks for the ring."""
    source = """
        from elsewhere import KEPT

        class State:
            def __init__(self) -> None:
                self.frames: deque[np.ndarray] = deque(maxlen=KEPT)
        """
    draft = draft_of(tmp_path, source)
    assert {"todo-reason", "missing-shape", "missing-bound"} == codes(draft.text)
    assert "a ring of `KEPT`, which has no value in the source" in draft.text


def test_a_constant_is_followed_into_the_file_it_comes_from(tmp_path: Path) -> None:
    """The file is parsed, and not imported."""
    tmp_path.joinpath("sizes.py").write_text("raise SystemExit\nKEPT = 2 * 4\n", "utf-8")
    source = """
        from .sizes import KEPT

        class State:
            def __init__(self) -> None:
                self.frames: deque[np.ndarray] = deque(maxlen=KEPT)
        """
    assert {"size": 8} == fields_of(tmp_path, source)["frames"]["ring"]


def test_what_is_appended_on_the_host_lies_there(tmp_path: Path) -> None:
    """`.cpu()` on the way in is where the items are, and no bound is made up for them."""
    source = """
        class State:
            def __init__(self) -> None:
                self.video = []

            def push(self, out: Tensor) -> None:
                chunk = out.transpose(1, 2).detach().cpu()
                self.video.append(chunk)
        """
    assert {
        "kind": "LatentBuffer",
        "type": "Tensor",
        "device": "host",
        "manager_may": ["accumulate"],
    } == fields_of(tmp_path, source)["video"]


@pytest.mark.parametrize(
    "write",
    [
        "self.cache[0] = x",
        "self.cache[0][1] = x",
        "self.cache.clear_()",
        "torch.add(x, x, out=self.cache)",
        "self.cache[0].copy_(x)",
    ],
)
def test_a_write_into_a_value_is_in_place(write: str, tmp_path: Path) -> None:
    """Items, torch's methods with an underscore, and `out=` write into what is there."""
    source = f"""
        class State:
            def __init__(self) -> None:
                self.cache: list[Tensor | None] | None = None

            def write(self, x: Tensor) -> None:
                {write}
        """
    wanted = {"type": "list[Tensor | None] | None", "written": "in_place"}
    if write.startswith("self.cache[0].copy_"):
        # A tensor of the list is written, and not what the list holds.
        wanted.pop("written")
    assert wanted == fields_of(tmp_path, source)["cache"]


def test_code_beside_the_class_writes_its_objects_too(tmp_path: Path) -> None:
    """A dataclass is written by the functions that are given one, under any name."""
    source = """
        @dataclass
        class State:
            codes: Any = None
            seen: set[str] = field(default_factory=set)

        class Runtime:
            def __init__(self) -> None:
                self._states: dict[str, State] = {}

            def step(self, session_id: str, frame: Tensor) -> None:
                one = self._states[session_id]
                row = frame.detach().cpu()
                one.codes = row if one.codes is None else torch.cat([one.codes, row], 1)

        def note(state: "State | None", event: str) -> None:
            state.seen.add(event)
        """
    assert {
        "codes": {
            "kind": "LatentBuffer",
            "type": "Tensor",
            "device": "host",
            "view": {"concat": 1},
            "manager_may": ["accumulate"],
        },
        "seen": {"type": "set[str]", "default": [], "written": "in_place"},
    } == fields_of(tmp_path, source)


def test_an_adapter_over_a_session_is_drafted_by_its_keys(tmp_path: Path) -> None:
    """Values that a class keeps in a session behind it are fields by their names there."""
    source = """
        FRAMES = "frames"

        class State:
            step_count = SessionAttr[int](default=0)

            def __init__(self, session_id: str | None, manager, *, window: int = 2) -> None:
                self.window = window
                self._session = manager.get_or_create_session(session_id)

            def _new(self) -> LatentBuffer[Tensor]:
                buffer: LatentBuffer[Tensor] = LatentBuffer()
                buffer.allocate(maxlen=self.window)
                return buffer

            @property
            def frames(self) -> LatentBuffer[Tensor]:
                return self._session.get_or_create(FRAMES, self._new, LatentBuffer)

            def push(self, frame: Tensor) -> None:
                self.frames.append(frame)

            def reset(self) -> None:
                self._session.reset()
        """
    assert {
        "step_count": {"type": "int", "default": 0},
        "frames": {
            "kind": "LatentBuffer",
            "type": "Tensor",
            "ring": {"size": "window"},
            "manager_may": ["accumulate"],
        },
    } == fields_of(tmp_path, source)


def test_bases_of_the_same_file_are_read_and_others_are_named(tmp_path: Path) -> None:
    """What is inherited from elsewhere is said to be missing."""
    source = """
        @dataclass
        class Base(Far):
            step_count: int = 0

        @dataclass
        class State(Base):
            prompt: str = ""
        """
    draft = draft_of(tmp_path, source)
    assert {"prompt", "step_count"} == {field.name for field in draft.fields}
    assert "# `Far` is a base in another file, and was not read.\n" in draft.text
