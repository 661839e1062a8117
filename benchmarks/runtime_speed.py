"""How fast the runtime is, beside the reference system in the same process.

`python -m benchmarks.runtime_speed` prints the table; `--write PAGE.md` puts it into a page too, and
what was measured into PAGE.json. Whatever has a counterpart is measured in turn with it. Absolute
times are the machine's, so that they are judged beside the reference's own walk of one session.
"""

import argparse
import json
import platform
import sys
from datetime import date
from pathlib import Path

import attrs
import torch

from tests.reference.wheel import why_missing

from . import calls, memory, publishing, totals
from .rows import Row, markdown, put_table
from .sizes import FULL, QUICK, Sizes


def main() -> None:
    arguments = _arguments()
    missing = why_missing()
    if missing is not None:
        print(missing)
        return
    rows = measured(QUICK if arguments.quick else FULL)
    print(markdown(rows))
    if arguments.write is not None:
        put_table(arguments.write, markdown(rows))
        text = json.dumps(document(rows), indent=2, ensure_ascii=False)
        arguments.write.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few runs: only to see every row")
    parser.add_argument("--write", type=Path, metavar="PAGE.md", help="put the table into a page")
    return parser.parse_args()


def measured(sizes: Sizes) -> list[Row]:
    """Every row, in the order of the table. Memory first, while the process is young."""
    empty = list(memory.rows(sizes))
    return [*totals.rows(sizes), *publishing.rows(sizes), *calls.rows(sizes), *empty]


def document(rows: list[Row]) -> dict[str, object]:
    """What was measured, where, and when."""
    return {
        "date": date.today().isoformat(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": f"{sys.platform} {platform.machine()}",
        "rows": [attrs.asdict(row) | {"reached": row.reached} for row in rows],
    }


if __name__ == "__main__":
    main()
