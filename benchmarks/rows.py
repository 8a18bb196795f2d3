"""Boxes, archives, JSON, label pictures and start-up, against what cannot be avoided; and what
grows with the input: time for each object, and memory.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import make_data
from measure import Measured, Ratio, can_measure_memory, peak_memory, process, time_in_turn
from sizes import OBJECTS, Sizes

from evaltex_cli import evaluate
from evaltex_cli.protocols import PROTOCOLS

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
    faults.extend(source.read(np.arange(start, min(start + 4096, len(source.names)))).faults)
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


LABEL_PICTURES: tuple[tuple[str, make_data.MaskKind, float], ...] = (
    ("PNG, 8 bits", make_data.MaskKind(), 1.5),
    ("PNG, palette", make_data.MaskKind(mode="P"), 1.5),
    ("PNG, RGB", make_data.MaskKind(mode="RGB"), 1.5),
    ("TIFF, 8 bits", make_data.MaskKind(".tif"), 1.5),
    ("TIFF, 16 bits", make_data.MaskKind(".tif", "I;16"), 1.5),
    ("TIFF, 16 bits, LZW", make_data.MaskKind(".tif", "I;16", compression="tiff_lzw"), 1.5),
    (
        "TIFF, 16 bits, deflated",
        make_data.MaskKind(".tif", "I;16", compression="tiff_adobe_deflate"),
        1.5,
    ),
    ("PNG, 8 bits, full of strokes", make_data.MaskKind(objects=70), 1.5),
    ("PNG, 8 bits, full of thin strokes", make_data.MaskKind(objects=70, stroke=3), 1.5),
)


def text_ratio(folder: Path, sizes: Sizes) -> list[Ratio]:
    """A whole run on boxes, against splitting the same lines into fields."""
    gt, det = make_data.make_texts(folder, sizes.images, OBJECTS, "boxes")
    command = partial(process, "-m", "evaltex_cli", gt, det, folder / "results", "--quiet")
    baseline = partial(process, "-c", READ_FIELDS, gt, det)
    ours, theirs = time_in_turn([command, baseline], sizes.runs)
    count = f"{sizes.images * OBJECTS:,}"
    this = Measured(f"boxes: a run on {count} objects, as many detections", ours)
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


def json_ratio(folder: Path, sizes: Sizes) -> list[Ratio]:
    """A whole run on quadrilaterals in COCO JSON, against one on the same in EvaLTex text."""
    texts, documents = make_data.make_coco(folder, sizes.images * 2 // 5, OBJECTS)
    commands = [
        partial(process, "-m", "evaltex_cli", *paths, folder / "results", "--quiet")
        for paths in (documents, texts)
    ]
    ours, theirs = time_in_turn(commands, sizes.runs // 2)
    count = f"{sizes.images * 2 // 5 * OBJECTS * 2:,}"
    this = Measured(f"COCO JSON: a run on {count} quadrilaterals of both sides", ours)
    return [Ratio(this, Measured("the same in EvaLTex text", theirs), 1.5)]


def scaling_ratios(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Time per object by every protocol: with many objects against that with few."""
    few, many = sizes.scaling
    few_paths, many_paths = (
        make_data.make_texts(folder / str(n), n, OBJECTS, "boxes") for n in sizes.scaling
    )
    ratios = []
    for name in PROTOCOLS:
        of_many, of_few = time_in_turn(
            [partial(evaluate, *many_paths, name), partial(evaluate, *few_paths, name)],
            sizes.runs // 2,
        )
        this = Measured(f"`{name}`, each of {many * OBJECTS:,} objects", of_many, many * OBJECTS)
        ratios.append(
            Ratio(this, Measured(f"each of {few * OBJECTS:,}", of_few, few * OBJECTS), 1.2)
        )
    return ratios


def mask_ratios(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Whole runs on label pictures, against decoding them."""
    ratios = []
    for k, (name, kind, limit) in enumerate(LABEL_PICTURES):
        images = sizes.mask_images if k else 2 * sizes.mask_images
        gt, det, gt_folder, det_folder = make_data.make_masks(folder / str(k), images, kind)
        command = partial(
            process,
            "-m",
            "evaltex_cli",
            gt,
            det,
            folder / "results",
            gt_folder,
            det_folder,
            "--quiet",
        )
        ours, theirs = time_in_turn(
            [command, partial(process, "-c", DECODE, gt_folder, det_folder)], sizes.runs
        )
        height, width = make_data.image_size(kind.objects)
        this = Measured(f"{2 * images:,} label pictures of {width} × {height}: {name}", ours)
        ratios.append(Ratio(this, Measured("decoding them", theirs), limit))
    return ratios


def start_ratio(folder: Path, sizes: Sizes) -> list[Ratio]:
    """A run on a few words, against importing what it cannot do without."""
    gt, det = make_data.make_texts(folder, 10, OBJECTS, "boxes")
    command = partial(
        process, "-m", "evaltex_cli", gt, det, folder / "results", "--quiet", folder=folder
    )
    ours, theirs = time_in_turn(
        [command, partial(process, "-c", "import numpy, click")], 3 * sizes.runs
    )
    return [
        Ratio(
            Measured("a run on 100 objects", ours), Measured("`import numpy, click`", theirs), 1.25
        )
    ]


def memory_ratios(folder: Path, sizes: Sizes) -> list[Ratio]:
    """Peak memory with ten times the images; of the process that holds the
    index, and of all with two jobs.
    """
    if not can_measure_memory():
        return []
    ratios = []
    for objects in (OBJECTS, 2):
        few, many = (
            make_data.make_texts(folder / f"{images}-{objects}", images, objects, "boxes")
            for images in sizes.memory
        )
        for jobs in (1, 2):
            of_many, of_few = (
                peak_memory(
                    "-m", "evaltex_cli", *paths, folder / "results", "--quiet", "--jobs", jobs
                )
                for paths in (many, few)
            )
            parts = (
                ("one job",)
                if jobs == 1
                else ("two jobs, the process that was started", "two jobs, all processes")
            )
            for part, large, small in zip(parts, of_many, of_few, strict=False):
                name = f"memory, {sizes.memory[1]:,} images of {objects} objects, {part}"
                this = Measured(name, [large], unit="MB")
                ratios.append(
                    Ratio(this, Measured(f"{sizes.memory[0]:,}", [small], unit="MB"), 2.0)
                )
    return ratios
