"""Measure the speed and memory of evaltex, as ratios to work that cannot be avoided.

    python benchmarks/run.py [NAME]... [--quick] [--before PYTHON] [--write]

Both sides of a ratio are whole processes that run in turn; the least of several runs counts, in
seconds of the processor (of the clock for two jobs). A ratio beyond its limit gives exit status 1.
--before is a Python with another version of evaltex, --write puts the table into docs/speed.md.
Official programs run if EVALTEX_OFFICIAL_IOU, _DETEVAL and so on hold their commands, with {gt} and
{det} for the files.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import make_data

PAGE = Path(__file__).parents[1] / "docs" / "speed.md"
MARKS = ("<!-- benchmarks/run.py writes from here -->\n", "<!-- to here -->\n")
SHARED = Path(__file__).parents[2] / "shared" / "data"
"""Real data sets, in a folder next to the repository, if they are there."""
OFFICIAL = ("iou", "iou-crw", "tiou", "tedeval", "popeval", "deteval", "icdar2013", "cleval")
COMPARE_TEXTS = ("iou-crw", "popeval")

SPLIT_LINES = r"""
import re, sys
fields = re.compile(r'(?:(\d+),)?(\d+),"(.*)",(?:([tf]),)?([^,]+),([^,]+),([^,]+),([^,]+)$')
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields.match(line)
"""
DECODE = """
import sys
from pathlib import Path
import numpy as np
from PIL import Image
for folder in sys.argv[1:]:
    for path in sorted(Path(folder).iterdir()):
        with Image.open(path) as picture:
            np.asarray(picture)
"""
HOTCOCO = """
import sys
from hotcoco import COCO, COCOeval
gt = COCO(sys.argv[1])
evaluation = COCOeval(gt, gt.load_res(sys.argv[2]), "bbox")
evaluation.evaluate()
evaluation.accumulate()
"""

Command = list[str]


class Ratio(NamedTuple):
    """Two commands, and how many times the second one's seconds the first may take."""

    what: str
    this: Command
    against: str
    other: Command
    limit: float
    clock: bool = False


def evaltex(*arguments: object, python: str = sys.executable) -> Command:
    return [python, "-P", "-m", "evaltex_cli", *map(str, arguments), "--quiet"]


def program(code: str, *arguments: object) -> Command:
    return [sys.executable, "-c", code, *map(str, arguments)]


def boxes(folder: Path, scale: float) -> Iterator[Ratio]:
    images = int(100_000 * scale)
    paths = make_data.make_texts(folder, images)
    what = f"a run on {images:,} images of {make_data.OBJECTS} boxes"
    split = "splitting the lines into fields"
    yield Ratio(what, evaltex(*paths), split, program(SPLIT_LINES, *paths), 5)


def shapes(folder: Path, scale: float) -> Iterator[Ratio]:
    images = int(10_000 * scale)
    kinds = ("boxes", "quads", "polygons")
    paths = {kind: make_data.make_texts(folder / kind, images, kind) for kind in kinds}
    limits = {"evaltex": (8, 12), "iou": (4, 6)}
    for protocol, of_kinds in limits.items():
        runs = {kind: evaltex(*paths[kind], "--protocol", protocol) for kind in kinds}
        for kind, limit in zip(kinds[1:], of_kinds, strict=True):
            what = f"`{protocol}` on {images * make_data.OBJECTS:,} {kind} a side"
            yield Ratio(what, runs[kind], "as many boxes", runs["boxes"], limit)


def coco(folder: Path, scale: float) -> Iterator[Ratio]:
    if find_spec("hotcoco") is None:
        print("coco: not measured, hotcoco is not installed")
        return
    paths = make_data.make_coco(folder, int(40_000 * scale))
    theirs = program(HOTCOCO, *paths)
    what = f"COCO JSON of {int(400_000 * scale):,} boxes a side, `iou`"
    yield Ratio(what, evaltex(*paths, "--protocol", "iou"), "hotcoco", theirs, 2)
    yield Ratio("`sweep` of them", evaltex("sweep", *paths, "--protocol", "iou"), "", theirs, 5)


def masks(folder: Path, scale: float) -> Iterator[Ratio]:
    images = int(500 * scale)
    gt, det, gt_pictures, det_pictures = make_data.make_masks(folder, images)
    this = evaltex(gt, det, folder / "results", gt_pictures, det_pictures)
    decode = program(DECODE, gt_pictures, det_pictures)
    yield Ratio(f"{2 * images:,} label pictures of 960 × 720", this, "decoding them", decode, 2)


def start(folder: Path, scale: float) -> Iterator[Ratio]:
    paths = make_data.make_texts(folder, 10)
    imports = program("import numpy, click")
    yield Ratio("a run on 100 objects", evaltex(*paths), "`import numpy, click`", imports, 1.5)


def jobs(folder: Path, scale: float) -> Iterator[Ratio]:
    paths = make_data.make_texts(folder, int(50_000 * scale), "quads")
    two, one = evaltex(*paths, "--jobs", 2), evaltex(*paths, "--jobs", 1)
    yield Ratio("`--jobs 2` on quads, seconds of the clock", two, "one job", one, 0.8, clock=True)


def official(folder: Path, scale: float) -> Iterator[Ratio]:
    gt, pixellink = SHARED / "icdar2015" / "gt.zip", SHARED / "icdar2015" / "pixellink.zip"
    for protocol in OFFICIAL:
        variable = f"EVALTEX_OFFICIAL_{protocol.replace('-', '_').upper()}"
        if variable not in os.environ or not gt.exists():
            print(f"official: {protocol} not measured, {variable} or {gt} is missing")
            continue
        det = SHARED / "icdar2015/overlap/e2e_rand1.zip" if protocol in COMPARE_TEXTS else pixellink
        theirs = [part.format(gt=gt, det=det) for part in shlex.split(os.environ[variable])]
        limit = 1 / 6 if protocol == "cleval" else 1 / 2
        ours = evaltex(gt, det, "--protocol", protocol)
        yield Ratio(f"ICDAR 2015, `{protocol}`", ours, "the official program", theirs, limit)


def before(python: str) -> Iterator[Ratio]:
    """Real data sets against another version."""
    sets = {
        "ICDAR 2015": ("icdar2015/gt.zip", "icdar2015/pixellink.zip"),
        "Total-Text": ("totaltext/gt.zip", "totaltext/baseline.zip"),
        "CTW1500": ("ctw1500/gt.zip", "ctw1500/DRRG.zip"),
    }
    for name, files in sets.items():
        paths = [SHARED / file for file in files]
        for protocol, limit in (("evaltex", 2), ("iou", 2), ("all", 4)):
            these, those = (
                evaltex(*paths, "--protocol", protocol, python=which)
                for which in (sys.executable, python)
            )
            yield Ratio(f"{name}, `{protocol}`", these, "the version before", those, limit)


MEASUREMENTS: dict[str, Callable[[Path, float], Iterator[Ratio]]] = {
    "boxes": boxes,
    "shapes": shapes,
    "coco": coco,
    "masks": masks,
    "start": start,
    "jobs": jobs,
    "official": official,
}


def seconds(command: Command, clock: bool) -> float:
    """Run a command; return its seconds of the processor, or of the clock."""
    used, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    if clock:
        return time.perf_counter() - began
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def peak(command: Command) -> int:
    """Run a command; return its peak memory in MB."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True,"
        " stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
    )
    done = subprocess.run(program(code, *command), check=True, capture_output=True, text=True)
    return int(done.stdout)


def measure(ratio: Ratio, runs: int) -> tuple[str, bool]:
    """Return a row of the table, and whether the ratio is within its limit."""
    this, other = [], []
    for _ in range(runs):
        this.append(seconds(ratio.this, ratio.clock))
        other.append(seconds(ratio.other, ratio.clock))
    value = min(this) / min(other)
    cells = [ratio.what, f"{min(this):.2f} s", ratio.against, f"{min(other):.2f} s"]
    return f"| {' | '.join(cells)} | {value:.2f} | {ratio.limit:.2g} |\n", value <= ratio.limit


def memory(folder: Path, scale: float) -> str:
    images = int(1_000_000 * scale)
    paths = make_data.make_texts(folder, images)
    return f"| a run on {images:,} images | {peak(evaltex(*paths))} MB | | | | |\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", choices=[*MEASUREMENTS, "memory", []])
    parser.add_argument("--quick", action="store_true", help="small sizes, one run, no limits")
    parser.add_argument("--before", help="a Python with another version of evaltex")
    parser.add_argument("--write", action="store_true", help="put the table into docs/speed.md")
    given = parser.parse_args()
    scale, runs = (0.01, 1) if given.quick else (1.0, 5)
    names = given.names or [*MEASUREMENTS, "memory"]
    rows, beyond = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name != "memory":
                for ratio in MEASUREMENTS[name](Path(folder) / name, scale):
                    row, is_within = measure(ratio, runs)
                    rows.append(row)
                    beyond += not is_within
                    print(row, end="", flush=True)
        for ratio in before(given.before) if given.before else ():
            row, is_within = measure(ratio, runs)
            beyond += not is_within
            print(row, end="", flush=True)
        if "memory" in names:
            rows.append(memory(Path(folder) / "memory", scale))
            print(rows[-1], end="")
    if given.write:
        head = "| what | | against | | ratio | limit |\n| --- | --- | --- | --- | --- | --- |\n"
        start_of, rest = PAGE.read_text().split(MARKS[0])
        table = head + "".join(rows)
        PAGE.write_text(start_of + MARKS[0] + table + MARKS[1] + rest.split(MARKS[1])[1])
    return 1 if beyond and not given.quick else 0


if __name__ == "__main__":
    sys.exit(main())
