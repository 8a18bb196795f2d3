"""How well `evaltex audit` finds faults that were injected into a ground truth.

python benchmarks/audit.py [SHARED]

Prints the tables of docs/audit.md: for three data sets and five seeds, the ROC AUC of suspicions
over all objects and places on which detectors agree, and how many of the first 50 suspects are
injected. SHARED is the folder with the data, ../shared by default.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaltex_cli.audit.audit import audited
from evaltex_cli.audit.suspects import AuditedObject, Box, Suspect
from evaltex_cli.conversion.faults import inject
from evaltex_cli.errors import FaultLog
from evaltex_cli.evaluation.arrays import image_objects
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats import memory, open_source
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.records import Floats, Objects
from evaltex_cli.records.rows import take

SEEDS = range(5)
FIRST = 50
FAULTS = ("dropped", "moved", "merged", "text")
"""The kinds of faults, as `conversion.faults` names them."""


@dataclass(frozen=True)
class DataSet:
    """A ground truth, files of detections, and how many detectors are simulated besides."""

    name: str
    gt: str
    files: Sequence[str]
    simulated: int


DATA_SETS = (
    DataSet(
        "ICDAR 2013",
        "icdar2013/gt.zip",
        [f"icdar2013/overlap/{name}.zip" for name in ("cropL80", "over20", "split2")],
        4,
    ),
    DataSet("ICDAR 2015", "icdar2015/gt.zip", ["icdar2015/pixellink.zip"], 4),
    DataSet(
        "CTW1500",
        "ctw1500/gt.zip",
        [
            f"ctw1500/{name}.zip"
            for name in ("CTD", "DRRG", "TextBPN", "TextBPN-Plus-Plus", "TextPMs")
        ],
        0,
    ),
)


# Simulated detectors ------------------------------------------------------------------------------


def simulated(objects: Objects, seed: int) -> dict[int, Objects]:
    """Return the detections of a detector by image: of each object that counts as it is drawn, with
    corners off by a normal deviate of 6 % of its height; it misses 10 % of them, reads one
    character of 20 wrong, and has one false detection per 10 objects.

    Texts are of objects that have one. Which objects are missed is independent of other detectors.
    """
    generator = np.random.default_rng((seed, 1500))
    images = {}
    for k, (start, stop) in enumerate(zip(objects.offsets, objects.offsets[1:], strict=False)):
        rows = [row for row in range(start, stop) if not objects.dont_care[row]]
        rows = [row for row in rows if generator.random() > 0.1]
        found = [_detected(objects, row, generator) for row in rows]
        texts = [_read(objects.texts[row], generator) for row in rows]
        for _ in range(generator.poisson(0.1 * (stop - start))):
            x, y = generator.uniform(0, 600, 2)
            width, height = generator.uniform(40, 150), generator.uniform(12, 40)
            found.append(
                np.array([[x, y], [x + width, y], [x + width, y + height], [x, y + height]])
            )
            texts.append("".join(generator.choice(list("abcdefgh"), 5)))
        images[k] = image_objects(polygons=found, texts=texts)
    return images


def _detected(objects: Objects, row: int, generator: np.random.Generator) -> Floats:
    ring = objects.outlines.ring(row)
    x0, y0, x1, y1 = objects.boxes[row]
    if not len(ring):
        ring = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    height = min(x1 - x0, y1 - y0)
    return np.asarray(ring + generator.normal(0, 0.06 * height, ring.shape))


def _read(text: str, generator: np.random.Generator) -> str:
    letters = [
        chr(generator.integers(97, 123)) if generator.random() < 0.05 else one for one in text
    ]
    return "".join(letters)


# What is judged -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figures:
    """AUC of each fault, and how many of the first suspects are injected."""

    auc: Mapping[str, float]
    first: int


def figures(data: DataSet, shared: Path, seed: int) -> Figures:
    """Inject faults into a ground truth, audit it, and compare."""
    gt = open_source(shared / "data" / data.gt, "gt", FaultLog(), None, InputOptions())
    read = gt.read(np.arange(len(gt.names)))
    faulty, entries = inject(gt.names, read.objects, seed)
    side = in_memory("gt", gt.names, faulty)
    detectors: dict[str, Path | Source] = {
        Path(name).stem: shared / "data" / name for name in data.files
    }
    for k in range(data.simulated):
        images = simulated(read.objects, k)
        detectors[f"simulated {k}"] = memory.source(
            "det", {gt.names[i]: one for i, one in images.items()}, {}
        )
    inputs = {label: open_inputs(side, det, InputOptions()) for label, det in detectors.items()}
    suspects = audited(inputs).suspects
    return judged(gt.names, faulty, entries, suspects)


def in_memory(side: str, names: Sequence[str], objects: Objects) -> Source:
    """Return objects of some images as an input."""
    images = {}
    for k, name in enumerate(names):
        rows = np.arange(*objects.offsets[k : k + 2])
        images[name] = take(objects, rows, np.array([0, len(rows)]))
    return memory.source("gt" if side == "gt" else "det", images, {})


def judged(names, objects, entries, suspects: Sequence[Suspect]) -> Figures:
    """Compare suspects with what was injected."""
    image = objects.image
    keys = [(names[i], n) for i, n in zip(image.tolist(), objects.ids.tolist(), strict=True)]
    suspicion = dict.fromkeys(keys, 0.0)
    places: list[tuple[float, str]] = []  # suspicion and fault of places without an object
    fault_of = {(one.image, n): one.fault for one in entries for n in one.objects}
    dropped: dict[str, list[Box]] = {}
    for one in entries:
        if one.fault == "dropped":
            dropped.setdefault(one.image, []).append(around(one.proposed))
    hits = []
    found_dropped = 0
    for one in suspects:
        if one.kind == "missing":
            near = [box for box in dropped.get(one.image, []) if iou(box, one.box) >= 0.5]
            fault = "dropped" if near else ""
            for box in near:
                dropped[one.image].remove(box)
                found_dropped += 1
            places.append((one.suspicion, fault))
            hits.append(bool(near))
            continue
        for n in one.objects:
            suspicion[one.image, n] = max(suspicion[one.image, n], one.suspicion)
        hits.append(any((one.image, n) in fault_of for n in one.objects))
    scored = [(value, fault_of.get(key, "")) for key, value in suspicion.items()]
    scored += places
    values = np.array([value for value, _ in scored])
    faults = np.array([fault for _, fault in scored])
    found = {
        fault: auc(values[faults == fault], values[faults == ""])
        for fault in FAULTS
        if (faults == fault).any()
    }
    return Figures(found, sum(hits[:FIRST]))


def auc(positive: Floats, negative: Floats) -> float:
    """Area under the ROC curve: how often one of the first is above one of the second; a tie
    counts half.
    """
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, side="left")
    upto = np.searchsorted(ordered, positive, side="right")
    return float((below + upto).sum() / (2 * len(positive) * len(negative)))


def around(objects: Sequence[AuditedObject]) -> Box:
    points = np.array([point for one in objects for point in one.vertices])
    return (*points.min(axis=0).tolist(), *points.max(axis=0).tolist())  # type: ignore[return-value]


def iou(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    common = max(width, 0) * max(height, 0)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return common / (areas - common)


def main() -> None:
    """Print the table."""
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "shared"
    head = ["data set", *FAULTS, f"first {FIRST}"]
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for data in DATA_SETS:
        runs = [figures(data, shared, seed) for seed in SEEDS]
        cells = [data.name]
        for fault in FAULTS:
            values = [run.auc[fault] for run in runs if fault in run.auc]
            cells.append(f"{min(values):.3f} to {max(values):.3f}" if values else "–")
        cells.append(", ".join(str(run.first) for run in runs))
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
