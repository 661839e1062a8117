"""`session-state plan`, as a person or an engine runs it."""

import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from generated.dreamzero import DreamZeroSession

from ..codegen.project import REPOSITORY, SMALL, Project

MiB, GiB = 2**20, 2**30


@pytest.fixture
def shipped(tmp_path: Path) -> Project:
    """The schemas of two models, in a project of their own."""
    names = ("dreamzero", "cosmos3")
    texts = {name: (REPOSITORY / f"schemas/{name}.yaml").read_text("utf-8") for name in names}
    return Project.at(tmp_path / "project", **texts)


def test_admission_reads_the_numbers_of_declared_nbytes(shipped: Project) -> None:
    """Bytes per field and device, the peak, and how many fit, at what was set."""
    done = shipped.run(
        *("plan", "dreamzero", "--set", "H=480", "--set", "W=832", "--steps", "50"),
        *("--device-memory", "80GiB", "--reserve", "40GiB", "--format", "json"),
    )
    assert (0, "") == (done.code, done.err)
    found = json.loads(done.out)
    (model,) = found["models"]
    expected = DreamZeroSession.declared_nbytes(H=480, W=832, steps=50)
    assert (1, "DreamZero", 60) == (found["version"], model["model"], model["at"]["h"])
    assert {"accelerator": expected["cuda:0"], "host": expected["cpu"]} == {
        device: held["declared"] for device, held in model["devices"].items()
    }
    encoder_map = expected.by_field["vae_enc_feat_map"]["cuda:0"]
    assert expected["cuda:0"] + encoder_map == model["devices"]["accelerator"]["peak"]
    assert {
        "device_memory": 80 * GiB,
        "reserve": 40 * GiB,
        "sessions": (40 * GiB - encoder_map) // expected["cuda:0"],
        "decides": "vae_enc_feat_map",
    } == model["fit"]
    assert [] == model["resets"]["session"]["fields"]
    assert 50 * 16 * 2 * 60 * 104 * 2 == model["resets"]["inference"]["stays"]["host"]


def test_bytes_that_hang_on_nothing_are_at_nothing(tmp_path: Path) -> None:
    """A model without dims and params has no line that would say at which."""
    project = Project.at(tmp_path / "project", demo=SMALL)
    lines = project.run("plan").out.splitlines()
    assert ["DemoSession, schemas/demo.yaml)", ""] == [lines[0].partition("(")[2], lines[1]]
    assert ">at " not in project.run("plan", "--format", "html").out


def test_a_person_reads_what_decides(shipped: Project) -> None:
    """The table, what rings save, what grows, what stays, and the verdict."""
    done = shipped.run("plan", "DreamZero", "--device-memory", "80GiB", "--reserve", "40GiB")
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    expected = [
        "vae_enc_feat_map accelerator 603.28 MiB 603.28 MiB 603.28 MiB 603.28 MiB",
        "vae_encoder_out: 2 × 220.00 KiB; without its bound 85.94 MiB after 400 steps",
        "video_latents: 220.00 KiB more per step",
        "session 0 B 0 B –",
        "80.00 GiB less 40.00 GiB reserved: 65 sessions fit; vae_enc_feat_map decides it, with "
        "98% of each",
    ]
    assert expected == [line for line in lines if line in expected]


@pytest.mark.parametrize(("sessions", "code"), [("65", 0), ("66", 1)])
def test_sessions_asked_for_that_do_not_fit_fail(
    shipped: Project, sessions: str, code: int
) -> None:
    """A build can hold a deployment to its device; 64, which are only quoted, fail nothing."""
    room = ("--device-memory", "80GiB", "--reserve", "40GiB")
    assert code == shipped.run("plan", "DreamZero", "--sessions", sessions, *room).code
    assert 0 == shipped.run("plan", "DreamZero", "--device-memory", "8GiB").code


REFUSED = {
    ("--set", "h"): "--set takes NAME=VALUE, not 'h'; write --set H=480",
    ("--set", "HH=480"): "Cosmos3, DreamZero: no dim or param is named 'HH'; did you mean `H`?",
    ("--set", "framesperchunk=4"): "did you mean `frames_per_chunk`?",
    ("--set", "H=4"): "DreamZero: h = H // 8 comes out as 0; it is at least 1",
    ("--set", "H=0"): "DreamZero: H is at least 1, not 0",
    ("--set", "frames_per_chunk=0"): "DreamZero: frames_per_chunk is at least 1, not 0",
    ("--set", "H=0x10"): "DreamZero: H takes a whole number, not '0x10'",
    ("--set", "H=99999999999999"): "DreamZero.video_latents: This is more than 2**63 - 1",
    ("--set", "dtype=bf16"): "no dtype is named 'bf16'; did you mean `bfloat16`?",
    ("--set", "steps=3"): "write --steps 3",
    ("H=480",): "'H=480' is no model; write --set before each: --set H=480",
    ("Foo",): "no schema is of the model 'Foo'; there are Cosmos3, DreamZero",
    ("--device-memory", "80GB"): "'80GB' is no number of bytes; write 80GiB, 512MiB or a whole",
    ("--device-memory", "-1"): "'-1' is no number of bytes",
    ("--reserve", "1GiB"): "--reserve is of --device-memory; give that too",
    ("--device-memory", "1GiB", "--reserve", "1GiB"): "leaves nothing of 1GiB for sessions",
    ("--plot", "chart.png"): "--plot draws SVG alone, not 'chart.png'; write 'chart.svg'",
    ("--steps", "-1"): "-1 is not in the range x>=0",
}


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_what_cannot_be_planned_is_refused(shipped: Project, arguments: tuple[str, ...]) -> None:
    """With what to do instead, exit code 2 and no output."""
    done = shipped.run("plan", *arguments)
    assert (2, "") == (done.code, done.out)
    assert REFUSED[arguments] in done.err
    assert "internal error" not in done.err


def test_a_schema_with_an_error_is_not_planned(tmp_path: Path) -> None:
    """Its findings are printed, and the exit code is 1."""
    done = Project.at(tmp_path, demo=SMALL.replace("reason:", "raison:")).run("plan")
    assert (1, "") == (done.code, done.out)
    assert "unknown-key" in done.err


def test_a_model_without_bytes_says_so(tmp_path: Path) -> None:
    """In every format, and any number of its sessions fits."""
    project = Project.at(tmp_path, demo=SMALL)
    for form in ("text", "html"):
        assert "It declares no bytes." in project.run("plan", "--format", form).out
    room = ("--device-memory", "1GiB", "--sessions", "1000")
    done = project.run("plan", "--format", "json", *room)
    assert (0, None) == (done.code, json.loads(done.out)["models"][0]["fit"]["sessions"])


def test_charts_are_drawn_the_same_each_time(shipped: Project) -> None:
    """One SVG file: per model a chart of each device, and one of resolutions where it has some."""
    for name in ("one.svg", "two.svg"):
        assert 0 == shipped.run("plan", "--plot", name).code
    one, two = ((shipped.root / name).read_bytes() for name in ("one.svg", "two.svg"))
    assert one == two
    texts = [found.text for found in ElementTree.fromstring(one).iter() if found.tag[-4:] == "text"]
    headings = [text for text in texts if text and text.startswith(("Bytes of", "Sessions"))]
    assert [
        "Bytes of one live generation: accelerator",
        "Bytes of one session: accelerator",
        "Bytes of one session: host",
        "Sessions that fit",
    ] == headings
    assert "132 at 352×640" in texts


class Elements(HTMLParser):
    """The names of the elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.add(tag)


def test_the_page_runs_nothing_and_text_of_a_schema_stays_text(shipped: Project) -> None:
    """No script at all, the very style by its hash, and markup in a doc is shown as it is."""
    path = shipped.root / "schemas" / "dreamzero.yaml"
    text = path.read_text("utf-8").replace("A new session, or", "<script>x</script><b>A & B</b>")
    path.write_text(text, encoding="utf-8")
    done = shipped.run("plan", "--format", "html", "--output", "plan.html")
    assert (0, "") == (done.code, done.out)
    page = (shipped.root / "plan.html").read_text("utf-8")
    assert "&lt;script&gt;x&lt;/script&gt;" in page
    assert "default-src &#39;none&#39;; style-src &#39;sha256-" in page
    elements = Elements()
    elements.feed(page)
    assert {"script", "b"}.isdisjoint(elements.names)
    assert {"svg", "table"} <= elements.names
