"""Measures speed and memory of evaltex, as ratios to what cannot be avoided, so that figures of two
machines compare.

    python benchmarks/run.py [--quick] [--only NAME]...

Both sides of a ratio are run in turn, several times, and the least of each are compared: what is
above was something else on the machine. Seconds are of the processor; of several jobs they are
of the clock. A whole run writes the table of docs/performance.md. Exit
status 1 when a ratio is beyond its limit; with --quick, where sizes are small, none is judged.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

import rows
import rows_official
import rows_shapes
import rows_work
from measure import Measured, Ratio, Skipped
from sizes import FULL, QUICK, Sizes

__all__ = ["Measured", "Ratio"]

TABLE_FILE = Path(__file__).parents[1] / "docs" / "performance.md"
TABLE_MARKS = ("<!-- benchmarks/run.py writes from here -->\n", "<!-- to here -->\n")
MEASUREMENTS: dict[str, Callable[[Path, Sizes], Sequence[Ratio | Skipped]]] = {
    "text": rows.text_ratio,
    "archive": rows.archive_ratios,
    "json": rows.json_ratio,
    "coco": rows_official.coco_ratio,
    "shapes": rows_shapes.shape_ratios,
    "curves": rows_shapes.curve_ratios,
    "official": rows_official.official_ratios,
    "analysis": rows_work.analysis_ratios,
    "masks": rows.mask_ratios,
    "jobs": rows_work.jobs_ratios,
    "start": rows.start_ratio,
    "memory": rows.memory_ratios,
    "shape-memory": rows_shapes.shape_memory_ratios,
    "scaling": rows.scaling_ratios,
}


def table(ratios: list[Ratio | Skipped]) -> str:
    """Return the Markdown table of the ratios, under what they were measured with."""
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("numpy", "shapely", "pillow", "tifffile")
    )
    machine = f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}"
    lines = [
        f"Python {platform.python_version()}, {packages}; {machine}.",
        "",
        "| what | | against | | ratio | limit |",
        "| --- | --- | --- | --- | --- | --- |",
        *(ratio.row() for ratio in ratios),
    ]
    return "\n".join(lines) + "\n"


def write_table(path: Path, ratios: list[Ratio | Skipped]) -> None:
    """Put the table between the marks of a file."""
    before, _, rest = path.read_text(encoding="utf-8").partition(TABLE_MARKS[0])
    _, _, after = rest.partition(TABLE_MARKS[1])
    path.write_text(
        f"{before}{TABLE_MARKS[0]}{table(ratios)}{TABLE_MARKS[1]}{after}", encoding="utf-8"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, one run, no limits: does it work at all?"
    )
    parser.add_argument(
        "--only", action="append", choices=MEASUREMENTS, help="measure this alone; repeatable"
    )
    given = parser.parse_args()
    sizes = QUICK if given.quick else FULL
    ratios: list[Ratio | Skipped] = []
    print(f"{'':<76} {'least':>10} {'median':>10} {'ratio':>6} {'limit':>6}")
    for name in given.only or MEASUREMENTS:
        with tempfile.TemporaryDirectory() as folder:
            for ratio in MEASUREMENTS[name](Path(folder), sizes):
                ratios.append(ratio)
                print(ratio.shown(is_judged=not given.quick), flush=True)
    if given.quick:
        return
    if not given.only:
        write_table(TABLE_FILE, ratios)
    if not all(ratio.within_limit for ratio in ratios):
        sys.exit(1)


if __name__ == "__main__":
    main()
