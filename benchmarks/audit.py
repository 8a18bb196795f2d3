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

from evaltex_cli.audit import gathering
from evaltex_cli.audit.agreement import SAME
from evaltex_cli.audit.audit import audited
from evaltex_cli.audit.evidence import Evidence
from evaltex_cli.audit.suspects import AuditedObject, Box, Suspect
from evaltex_cli.conversion.faults import FAULTS, inject
from evaltex_cli.conversion.patches import Entry
from evaltex_cli.conversion.patching import audited as audited_object
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
SEEN = "merged, parts found"


@dataclass(frozen=True)
class DataSet:
    """A ground truth, files of detections, and how many more detectors are simulated."""

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


def simulated(names: Sequence[str], objects: Objects, seed: int) -> Source:
    """Return the detections of a detector: of each object that counts as it is drawn, with vertices
    off by a normal deviate of 6 % of its height; it misses 10 % of them, reads one character of 20
    wrong, and has one false detection per 10 objects.

    Which objects are missed is independent of other detectors.
    """
    generator = np.random.default_rng((seed, 1500))
    images: dict[str, Objects] = {}
    for name, start, stop in zip(names, objects.offsets, objects.offsets[1:], strict=False):
        rows = [row for row in range(start, stop) if not objects.dont_care[row]]
        rows = [row for row in rows if generator.random() > 0.1]
        found = [_detected(objects, row, generator) for row in rows]
        texts = [_read(objects.texts[row], generator) for row in rows]
        for _ in range(generator.poisson(0.1 * (stop - start))):
            low = generator.uniform(0, 600, 2)
            found.append(_rectangle(*low, *(low + generator.uniform((40, 12), (150, 40)))))
            texts.append("".join(generator.choice(list("abcdefgh"), 5)))
        images[name] = image_objects(polygons=found, texts=texts)
    return memory.source("det", images, {})


def _detected(objects: Objects, row: int, generator: np.random.Generator) -> Floats:
    ring, box = objects.outlines.ring(row), objects.boxes[row]
    ring = ring if len(ring) else _rectangle(*box)
    height = (box[2:] - box[:2]).min()
    return np.asarray(ring + generator.normal(0, 0.06 * height, ring.shape))


def _rectangle(x0: float, y0: float, x1: float, y1: float) -> Floats:
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])


def _read(text: str, generator: np.random.Generator) -> str:
    letters = [
        chr(generator.integers(97, 123)) if generator.random() < 0.05 else one for one in text
    ]
    return "".join(letters)


# What is judged -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figures:
    """What an audit has made of the injected faults.

    Attributes
    ----------
    auc : dict
        Fault -> area under the ROC curve of the suspicions of objects and places with the fault,
        against those without any; `SEEN` is of merged objects of which two detectors or more find
        each part where it was.
    first : int
        How many of the first suspects are injected.
    unseen : int
        Dropped objects on which no two detectors agree, which are no agreed places.
    """

    auc: Mapping[str, float]
    first: int
    unseen: int


@dataclass(frozen=True)
class Injected:
    """A ground truth with faults, and what undoes them."""

    names: Sequence[str]
    objects: Objects
    entries: Sequence[Entry]
    seen: frozenset[tuple[str, int]]


def figures(data: DataSet, shared: Path, seed: int) -> Figures:
    """Inject faults into a ground truth, audit it, and compare."""
    options = InputOptions()
    gt = open_source(shared / "data" / data.gt, "gt", FaultLog(), None, options)
    read = gt.read(np.arange(len(gt.names)))
    detectors: dict[str, Path | Source] = {
        Path(name).stem: shared / "data" / name for name in data.files
    }
    for k in range(data.simulated):
        detectors[f"simulated {k}"] = simulated(gt.names, read.objects, k)
    faulty, entries = inject(gt.names, read.objects, seed)
    clean, _ = gathering.read([open_inputs(gt, det, options) for det in detectors.values()])
    side = in_memory(gt.names, faulty)
    found = audited({name: open_inputs(side, det, options) for name, det in detectors.items()})
    injected = Injected(gt.names, faulty, entries, seen_apart(clean, entries))
    return judged(injected, found.suspects, data.simulated > 0)


def seen_apart(evidence: Evidence, entries: Sequence[Entry]) -> frozenset[tuple[str, int]]:
    """Return the merged objects of which two detectors or more find each part in the original."""
    scene, finders = evidence.scene, evidence.finders
    number = {name: k for k, name in enumerate(scene.names)}
    seen = set()
    for one in entries:
        rows = range(*scene.gt.offsets[number[one.image] :][:2])
        parts = {part.vertices for part in one.proposed}
        found = [finders[row] for row in rows if audited_object(scene.gt, row).vertices in parts]
        if one.fault == "merged" and min(found, default=0) >= 2:
            seen.add((one.image, one.objects[0]))
    return frozenset(seen)


def in_memory(names: Sequence[str], objects: Objects) -> Source:
    """Return the ground truth of some images as an input."""
    stops = zip(names, objects.offsets, objects.offsets[1:], strict=False)
    images = {
        name: take(objects, np.arange(start, stop), np.array([0, stop - start]))
        for name, start, stop in stops
    }
    return memory.source("gt", images, {})


def judged(injected: Injected, suspects: Sequence[Suspect], has_texts: bool) -> Figures:
    """Compare suspects with what was injected."""
    names, objects = injected.names, injected.objects
    keys = [
        (names[image], number)
        for image, number in zip(objects.image.tolist(), objects.ids.tolist(), strict=True)
    ]
    suspicion = dict.fromkeys(keys, 0.0)
    faults = {(one.image, number): one.fault for one in injected.entries for number in one.objects}
    dropped: dict[str, list[Box]] = {}
    for one in injected.entries:
        if one.fault == "dropped":
            dropped.setdefault(one.image, []).append(around(one.proposed))
    scored, hits = [], []
    for suspect in suspects:
        about = [(suspect.image, number) for number in suspect.objects]
        for key in about:
            suspicion[key] = max(suspicion[key], suspect.suspicion)
        left = dropped.get(suspect.image, [])
        near = [box for box in left if not about and iou(box, suspect.box) >= SAME]
        dropped[suspect.image] = [box for box in left if box not in near]
        if not about:
            scored.append((suspect.suspicion, "dropped" if near else "", False))
        hits.append(bool(near) or any(key in faults for key in about))
    scored += [
        (value, faults.get(key, ""), key in injected.seen) for key, value in suspicion.items()
    ]
    values = np.array([value for value, _, _ in scored])
    fault = np.array([fault for _, fault, _ in scored])
    seen = np.array([seen for _, _, seen in scored])
    wanted = {name: fault == name for name in FAULTS if name != "text" or has_texts}
    wanted[SEEN] = seen
    areas = {name: auc(values[rows], values[fault == ""]) for name, rows in wanted.items()}
    return Figures(areas, sum(hits[:FIRST]), sum(map(len, dropped.values())))


def auc(positive: Floats, negative: Floats) -> float:
    """Area under the ROC curve: how often one of the first is above one of the second; a tie
    counts half.
    """
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, side="left")
    upto = np.searchsorted(ordered, positive, side="right")
    return float((below + upto).sum() / (2 * len(positive) * len(negative)))


def around(objects: Sequence[AuditedObject]) -> Box:
    """Return the box around objects."""
    points = np.array([point for one in objects for point in one.vertices])
    return (*points.min(axis=0).tolist(), *points.max(axis=0).tolist())  # type: ignore[return-value]


def iou(one: Box, other: Box) -> float:
    """Return the IoU of two boxes."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    common = max(width, 0) * max(height, 0)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return common / (areas - common)


def main() -> None:
    """Print the table."""
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "shared"
    columns = ("dropped", "moved", "merged", SEEN, "text")
    head = ["data set", *columns, f"injected of the first {FIRST}", "dropped, no place"]
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for data in DATA_SETS:
        runs = [figures(data, shared, seed) for seed in SEEDS]
        cells = [data.name]
        for name in columns:
            values = [run.auc[name] for run in runs if name in run.auc]
            cells.append(f"{min(values):.3f} to {max(values):.3f}" if values else "–")
        cells.append(", ".join(str(run.first) for run in runs))
        cells.append(", ".join(str(run.unseen) for run in runs))
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
