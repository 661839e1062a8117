"""How long the generator keeps a person waiting: whole commands, in turn, as medians and ratios.

Run as `python -m benchmarks.tool_speed`, or with the rest by `make bench`. Absolute times are the
machine's; what counts is each command beside the one that it is paired with, in the same run. Where
other programs run beside it, the processor time is what to compare.
"""

import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import attrs

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
RUNS = 9
SCHEMAS = 10
COMPARED = 50
FIELDS = 2000

COMPARE = ("breaking", "--against", "before", "--schemas")
LARGE = ("--schemas", "large", "--output", "large_generated")

# The dim that nothing uses is a warning, for which a check has to read the schema every time.
LARGE_HEAD = """\
schema: 1
model: Large
class: LargeSession
doc: A model with many fields.
params: {window: {type: int, default: 3, min: 1, doc: Frames that are reread.}}
dims: {B: 1, H: 44, W: 80, unused: 1}
defaults: {device: accelerator, dtype: bfloat16}
resets: {session: The client starts again., scene: The scene changes.}
fields:
"""
LARGE_FIELDS = (
    "  count_{n}: {{placement: attr, type: int, default: 0, reason: Counts the {n}th.}}\n",
    "  latent_{n}: {{placement: attr, type: Tensor | None, shape: [B, 16, 'ceil_div(H, 2)', W], "
    "survives: [scene], reason: The model denoises the {n}th.}}\n",
    "  mask_{n}: {{placement: attr, type: Tensor | None, shape: [B, H * W], derived_from: "
    "[latent_{before}], survives: [scene], reason: It follows latent {before}.}}\n",
    "  frames_{n}: {{placement: object, kind: FrameRing, type: Tensor, shape: [B, 16, 1, H, W], "
    "ring: {{size: window, along: 2}}, manager_may: [accumulate], reason: Rereads the {n}th.}}\n",
)

BARE_CLICK = "import click\n@click.group()\ndef main(): pass\nmain(['--help'], prog_name='bare')"


@attrs.frozen
class Pair:
    """A command beside the one it is measured against."""

    what: str
    command: Sequence[str]
    beside: Sequence[str]
    target: str
    # That of a command that finds something.
    exit_code: int = 0


@attrs.frozen
class Time:
    """Of a whole process, what it imports and what it waits for included."""

    seconds: float
    processor_seconds: float


@attrs.frozen
class Result:
    what: str
    seconds: float
    processor_seconds: float
    beside_seconds: float
    ratio: float
    target: str

    @property
    def over_ms(self) -> float:
        return (self.seconds - self.beside_seconds) * 1000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = ten_schemas(Path(folder))
        large_schema(project)
        compared_schemas(project)
        results = [measure(pair, project) for pair in pairs()]
        imported = import_seconds(project)
    print("| what | median ms | of the processor | beside it | ratio | over it, ms | to reach |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for one in results:
        print(
            f"| {one.what} | {one.seconds * 1000:.0f} | {one.processor_seconds * 1000:.0f} | "
            f"{one.beside_seconds * 1000:.0f} | "
            f"{one.ratio:.2f} | {one.over_ms:.0f} | {one.target} |"
        )
    print(f"\nA generated module takes {imported * 1000:.0f} ms to import once torch and numpy are")
    print("there (to reach: 60 ms).")
    if len(sys.argv) > 1:
        rows = [attrs.asdict(one) for one in results]
        document = {
            "python": sys.version.split()[0],
            "runs": RUNS,
            "results": rows,
            "import_seconds": imported,
        }
        Path(sys.argv[1]).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def pairs() -> list[Pair]:
    tool = [sys.executable, "-m", "codegen"]
    python = [sys.executable, "-c"]
    return [
        Pair(
            "--help, beside a bare click command", [*tool, "--help"], [*python, BARE_CLICK], "1.4x"
        ),
        Pair(f"check of {SCHEMAS} schemas", [*tool, "check"], [*python, "pass"], "300 ms over"),
        Pair(
            f"check of {FIELDS} fields, all rules",
            [*tool, "check", *LARGE],
            [*python, "pass"],
            "3000 ms in all",
        ),
        Pair(
            "generate of the shipped schemas",
            [*tool, "generate", "--schemas", str(ROOT / "schemas"), "--output", "shipped"],
            [*python, "pass"],
            "600 ms over",
        ),
        Pair(
            f"breaking of {COMPARED} schemas, one changed",
            [*tool, *COMPARE, "one"],
            [*python, "pass"],
            "2000 ms in all",
            exit_code=1,
        ),
        Pair(
            f"breaking of {COMPARED} schemas, all changed",
            [*tool, *COMPARE, "all"],
            [*python, "pass"],
            "2000 ms in all",
            exit_code=1,
        ),
    ]


def ten_schemas(folder: Path) -> Path:
    """A project of copies of DreamZero, generated."""
    (folder / "schemas").mkdir()
    text = (ROOT / "schemas" / "dreamzero.yaml").read_text(encoding="utf-8")
    for index in range(SCHEMAS):
        name = f"Model{index}"
        changed = text.replace("model: DreamZero", f"model: {name}")
        (folder / "schemas" / f"{name.lower()}.yaml").write_text(changed, encoding="utf-8")
    run([sys.executable, "-m", "codegen", "generate"], folder)
    return folder


def large_schema(folder: Path) -> None:
    """A schema of many fields of four kinds beside the others, generated."""
    fields = (LARGE_FIELDS[n % len(LARGE_FIELDS)].format(n=n, before=n - 1) for n in range(FIELDS))
    (folder / "large").mkdir()
    text = LARGE_HEAD + "".join(fields)
    (folder / "large" / "large.yaml").write_text(text, encoding="utf-8")
    run([sys.executable, "-m", "codegen", "generate", *LARGE], folder)


def compared_schemas(folder: Path) -> None:
    """The schemas before a change, after a change of one of them, and after one of all."""
    text = (ROOT / "schemas" / "dreamzero.yaml").read_text(encoding="utf-8")
    for side, changed in (("before", 0), ("one", 1), ("all", COMPARED)):
        (folder / side).mkdir()
        for index in range(COMPARED):
            model = text.replace("DreamZero", f"Model{index}")
            if index < changed:
                model = model.replace("H: 352", "H: 480")
            (folder / side / f"model{index}.yaml").write_text(model, encoding="utf-8")


def measure(pair: Pair, folder: Path) -> Result:
    times: list[tuple[Time, Time]] = []
    for _ in range(RUNS + 1):
        shutil.rmtree(folder / "shipped", ignore_errors=True)
        mine = run(pair.command, folder, pair.exit_code)
        times.append((mine, run(pair.beside, folder)))
    times = times[1:]  # the first run warms the file cache
    return Result(
        what=pair.what,
        seconds=statistics.median(mine.seconds for mine, _ in times),
        processor_seconds=statistics.median(mine.processor_seconds for mine, _ in times),
        beside_seconds=statistics.median(theirs.seconds for _, theirs in times),
        ratio=statistics.median(mine.seconds / theirs.seconds for mine, theirs in times),
        target=pair.target,
    )


def import_seconds(folder: Path) -> float:
    """What a generated module adds to a process that has torch and numpy, told from within it."""
    code = (
        "import torch, numpy, time; start = time.perf_counter(); import generated.model0; "
        "print(time.perf_counter() - start)"
    )
    times = []
    for _ in range(RUNS):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env=ENVIRONMENT,
            check=True,
            capture_output=True,
            text=True,
        )
        times.append(float(done.stdout))
    return statistics.median(times)


def run(command: Sequence[str], folder: Path, exit_code: int = 0) -> Time:
    start, before = time.perf_counter(), _processor_seconds()
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    seconds, used = time.perf_counter() - start, _processor_seconds() - before
    if done.returncode != exit_code:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return Time(seconds, used)


def _processor_seconds() -> float:
    """What all processes took so far that this one started and waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
