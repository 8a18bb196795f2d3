"""Measures the speed of evaltex, as ratios to what cannot be avoided, so that figures of two machines compare.

    python benchmarks/run.py [--quick]

Both sides of a ratio are run in turn, several times, and the fastest runs are compared: what is slower than them was
something else on the machine. Exit status 1 when a ratio is beyond its limit; with --quick, where sizes are small, none
is judged.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import make_data

from evaltex_cli import evaluate
from evaltex_cli.jobs import cores

READ_FIELDS = r"""
import re, sys
fields = re.compile(r'(?:(\d+),)?(\d+),"(.*)",(?:([tf]),)?([^,]+),([^,]+),([^,]+),([^,]+)$')
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            fields.match(line)
"""
FIND_ALL = r"""
import re, sys, zipfile
numbers = int(sys.argv[2])
line = re.compile("^" + "([^,]+)," * numbers + "(.*)$", re.MULTILINE)
with zipfile.ZipFile(sys.argv[1]) as archive:
    found = sum(len(line.findall(archive.read(entry).decode())) for entry in archive.infolist())
assert found, "no line was found"
"""
READ_ARCHIVE = """
import sys
from pathlib import Path
import numpy as np
from evaltex_cli import formats
from evaltex_cli.errors import FaultLog
faults = FaultLog()
source = formats.open_source(Path(sys.argv[1]), "gt", faults)
for start in range(0, len(source.names), 4096):
    source.read(np.arange(start, min(start + 4096, len(source.names))), faults)
faults.raise_if_any()
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

Work = Callable[[], object]


@dataclass(frozen=True)
class Sizes:
    """How much is measured, and how often."""

    images: int
    scaling: tuple[int, int, int]
    polygon_images: int
    mask_images: int
    runs: int


FULL = Sizes(images=100_000, scaling=(1_000, 10_000, 100_000), polygon_images=10_000, mask_images=300, runs=5)
QUICK = Sizes(images=100, scaling=(10, 30, 100), polygon_images=20, mask_images=3, runs=1)
OBJECTS, MASK_OBJECTS = 10, 20  # of an image


@dataclass(frozen=True)
class Measured:
    """Seconds of one side of a ratio, run by run; divided by `share`, where the sides differ in size."""

    name: str
    seconds: list[float]
    share: float = 1

    def row(self, indent: str = "") -> str:
        return f"{indent + self.name:<56} {min(self.seconds):8.3f} {statistics.median(self.seconds):8.3f}"


@dataclass(frozen=True)
class Ratio:
    """The fastest run of one side over that of the other."""

    this: Measured
    other: Measured
    limit: float | None

    @property
    def value(self) -> float:
        return min(self.this.seconds) / self.this.share / (min(self.other.seconds) / self.other.share)

    @property
    def within_limit(self) -> bool:
        return self.limit is None or self.value <= self.limit


def process(*arguments: object, folder: Path | None = None) -> None:
    """Run this Python with some arguments to its end."""
    subprocess.run([sys.executable, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, cwd=folder)


def time_in_turn(works: Sequence[Work], runs: int) -> list[list[float]]:
    """Seconds of every work, run by run, after a run that is not counted."""
    seconds: list[list[float]] = [[] for _ in works]
    for run in range(runs + 1):
        for work, found in zip(works, seconds, strict=True):
            began = time.perf_counter()
            work()
            if run:
                found.append(time.perf_counter() - began)
    return seconds


def text_ratio(folder: Path, sizes: Sizes) -> list[Ratio]:
    """A whole run on boxes, against splitting the same lines into fields."""
    gt, det = make_data.make_texts(folder, sizes.images, OBJECTS, "boxes")
    command = partial(process, "-m", "evaltex_cli", gt, det, folder / "results", "--quiet")
    baseline = partial(process, "-c", READ_FIELDS, gt, det)
    ours, theirs = time_in_turn([command, baseline], sizes.runs)
    count = f"{sizes.images * OBJECTS:,}"
    this = Measured(f"evaltex, {count} objects, as many detections", ours)
    return [Ratio(this, Measured("splitting their lines into fields", theirs), 3.0)]


def archive_ratios(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Reading an archive of ICDAR-style lines, against finding them by one regular expression."""
    ratios = []
    for kind, numbers, limit in (("boxes", 4, 2.0), ("quadrilaterals", 8, 2.0)):
        path = make_data.make_archive(folder, sizes.images, OBJECTS, kind)
        reading = partial(process, "-c", READ_ARCHIVE, path)
        finding = partial(process, "-c", FIND_ALL, path, numbers)
        ours, theirs = time_in_turn([reading, finding], sizes.runs)
        this = Measured(f"reading {sizes.images * OBJECTS:,} ICDAR-style {kind} of a .zip", ours)
        ratios.append(Ratio(this, Measured("finding them by a regular expression", theirs), limit))
    return ratios


def scaling_ratios(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Time per object: with few and with many, against that in between."""
    texts = [make_data.make_texts(folder / str(n), n, OBJECTS, "boxes") for n in sizes.scaling]
    seconds = time_in_turn([partial(evaluate, *paths) for paths in texts], sizes.runs)
    small, middle, large = (
        Measured(f"evaluate(), {n * OBJECTS:,} objects, for each", found, n)
        for n, found in zip(sizes.scaling, seconds, strict=True)
    )
    return [Ratio(small, middle, 1.5), Ratio(large, middle, 1.25)]


def mask_ratio(folder: Path, sizes: Sizes) -> list[Ratio]:
    """A whole run on label pictures, against decoding them."""
    gt, det, gt_folder, det_folder = make_data.make_masks(folder, sizes.mask_images, MASK_OBJECTS)
    command = partial(process, "-m", "evaltex_cli", gt, det, folder / "results", gt_folder, det_folder, "--quiet")
    baseline = partial(process, "-c", DECODE, gt_folder, det_folder)
    ours, theirs = time_in_turn([command, baseline], sizes.runs)
    height, width = make_data.image_size(MASK_OBJECTS)
    this = Measured(f"evaltex, {2 * sizes.mask_images:,} label pictures of {width} x {height}", ours)
    return [Ratio(this, Measured("decoding them", theirs), 1.5)]


def jobs_ratios(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Two processes against one, where there are two processors: boxes, and label pictures."""
    if cores() < 2:
        return []
    gt, det = make_data.make_texts(folder, sizes.images, OBJECTS, "boxes")
    mask_images = 3 * sizes.mask_images  # some seconds of work, which workers are for
    masks = make_data.make_masks(folder / "masks", mask_images, MASK_OBJECTS)
    ratios = []
    for what, given, limit in (
        (f"{sizes.images:,} images of boxes", (gt, det, folder / "results"), 0.75),
        (f"{2 * mask_images:,} label pictures", (*masks[:2], folder / "results", *masks[2:]), 1 / 1.7),
    ):
        two, one = (partial(process, "-m", "evaltex_cli", *given, "--quiet", "--jobs", jobs) for jobs in ("2", "1"))
        twofold, alone = time_in_turn([two, one], sizes.runs)
        ratios.append(Ratio(Measured(f"--jobs 2, {what}", twofold), Measured("--jobs 1", alone), limit))
    return ratios


def start_ratio(folder: Path, sizes: Sizes) -> list[Ratio]:
    """A run on a few words, against importing what it cannot do without."""
    gt, det = make_data.make_texts(folder, 10, OBJECTS, "boxes")
    command = partial(process, "-m", "evaltex_cli", gt, det, folder / "results", "--quiet", folder=folder)
    ours, theirs = time_in_turn([command, partial(process, "-c", "import numpy, click")], 2 * sizes.runs)
    return [Ratio(Measured("evaltex, 100 objects", ours), Measured("import numpy, click", theirs), 1.5)]


def polygon_ratio(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Polygons of eight vertices, against boxes."""
    polygons, boxes = (
        make_data.make_texts(folder / kind, sizes.polygon_images, OBJECTS, kind) for kind in ("polygons", "boxes")
    )
    ours, theirs = time_in_turn([partial(evaluate, *polygons), partial(evaluate, *boxes)], sizes.runs)
    count = f"{sizes.polygon_images * OBJECTS:,}"
    return [Ratio(Measured(f"evaluate(), {count} polygons", ours), Measured("as many boxes", theirs), None)]


MEASUREMENTS = (text_ratio, archive_ratios, scaling_ratios, mask_ratio, jobs_ratios, start_ratio, polygon_ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, one run, no limits: does it work at all?")
    sizes = QUICK if parser.parse_args().quick else FULL
    ratios: list[Ratio] = []
    print(f"Python {sys.version.split()[0]}, seconds of {sizes.runs} runs\n")
    print(f"{'':<56} {'min':>8} {'median':>8} {'ratio':>6} {'limit':>6}")
    for measure in MEASUREMENTS:
        with tempfile.TemporaryDirectory() as folder:
            for ratio in measure(Path(folder), sizes):
                limit = "-" if ratio.limit is None else f"{ratio.limit:.2f}"
                verdict = "" if sizes is QUICK or ratio.within_limit else "  beyond its limit"
                print(f"{ratio.this.row()} {ratio.value:6.2f} {limit:>6}{verdict}\n{ratio.other.row('  ')}", flush=True)
                ratios.append(ratio)
    if sizes is not QUICK and not all(ratio.within_limit for ratio in ratios):
        sys.exit(1)


if __name__ == "__main__":
    main()
