"""Why places of a ground truth are suspect, in a sentence or two each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import shapely

from evaltex_cli.audit.patches import AuditedObject
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.errors import counted
from evaltex_cli.geometry.outlines import drawn, valid_polygons
from evaltex_cli.records import Floats, Ints
from evaltex_cli.report.surroundings import Surroundings, Vertices

AGREES = 0.25
"""Least IoU of a detection with what it is evidence of."""


@dataclass(frozen=True, slots=True)
class Detectors:
    """The labels of all detectors, and of how many the outlines and the texts count: those of
    others are copies.
    """

    labels: tuple[str, ...]
    outlines: int
    texts: int


def reasons(
    suspects: Sequence[Suspect], nearby: Sequence[Surroundings], detectors: Detectors
) -> Iterator[tuple[str, list[int]]]:
    """Yield why each is suspect, and which of the detections nearby are evidence of it.

    The reason is how many of the detectors agree on what, and how well if detections are nearby.
    """
    proposed, agreeing = _overlaps(suspects, nearby, [one.proposed for one in suspects])
    current, _ = _overlaps(suspects, nearby, [one.current for one in suspects])
    for k, suspect in enumerate(suspects):
        sentence = _sentence(suspect, detectors)
        if suspect.kind in ("unfound", "duplicate") or np.isnan(proposed[k]):
            yield sentence, agreeing[k]
            continue
        sentence += f" What they find overlaps the proposal by {proposed[k]:.2f} (mean IoU)"
        if suspect.kind == "misplaced":
            sentence += f", the object as it is by {current[k]:.2f}"
        yield f"{sentence}.", agreeing[k]


def _sentence(suspect: Suspect, detectors: Detectors) -> str:
    counting = detectors.texts if suspect.kind == "text" else detectors.outlines
    who = f"{len(suspect.detectors)} of {counted(counting, '{count} detector[s]')}"
    objects = counted(len(suspect.current), "{count} object[s]")
    texts = counted(len(suspect.proposed), "{count} text[s]")
    cares = not all(one.dont_care for one in suspect.current)
    return {
        "missing": f"{who} agree on text where the ground truth has no object.",
        "unfound": "No detector finds this object, while they find objects like it.",
        "misplaced": f"{who} agree with each other better than with this object.",
        "merged": f"{who} agree on {texts} where the ground truth has {objects}.",
        "split": f"{who} agree on {texts} where the ground truth has {objects}.",
        "dont-care": "This object counts, but it is like those that are don't care."
        if cares
        else f"{who} agree on this object, which is don't care.",
        "text": f"{who} agree on another transcription.",
        "duplicate": f"The ground truth has {objects} on one place.",
    }[suspect.kind]


def _overlaps(
    suspects: Sequence[Suspect],
    nearby: Sequence[Surroundings],
    targets: Sequence[Sequence[AuditedObject]],
) -> tuple[Floats, list[list[int]]]:
    """Return for each suspect the mean over the agreeing detectors and the targets of the best IoU
    of a detector's detection with a target, NaN without any; and which detections nearby have an
    IoU of `AGREES` with a target.
    """
    shapes: list[Vertices] = []
    pairs: list[tuple[int, int, int]] = []  # detection, target and their case
    owners: list[int] = []  # the suspect of each case: a detector and a target
    rows_of: list[list[tuple[int, int]]] = []  # position nearby and row of detections
    for k, (suspect, around, wanted) in enumerate(zip(suspects, nearby, targets, strict=True)):
        agreeing: dict[str, list[int]] = {}
        rows_of.append([])
        for at, one in enumerate(around.detections):
            if one.detector in suspect.detectors:
                rows_of[-1].append((at, len(shapes)))
                agreeing.setdefault(one.detector, []).append(len(shapes))
                shapes.append(one.vertices)
        for each in wanted:
            for rows in agreeing.values():
                pairs += [(row, len(shapes), len(owners)) for row in rows]
                owners.append(k)
            shapes.append(each.vertices)
    detection, target, case = np.array(pairs, np.int64).reshape(-1, 3).T
    iou = _ious(shapes, detection, target)
    of_case, of_shape = np.zeros(len(owners)), np.zeros(len(shapes))
    np.maximum.at(of_case, case, iou)
    np.maximum.at(of_shape, detection, iou)
    cases = np.bincount(owners, minlength=len(suspects))
    totals = np.bincount(owners, of_case, len(suspects))
    means = np.divide(totals, cases, out=np.full(len(suspects), np.nan), where=cases > 0)
    return means, [[at for at, row in rows if of_shape[row] >= AGREES] for rows in rows_of]


def _ious(shapes: Sequence[Vertices], a: Ints, b: Ints) -> Floats:
    """(p,) IoU of pairs of shapes; 0 without any area."""
    rings = [_corners(one) for one in shapes]
    vertices = np.array([*chain.from_iterable(rings)], np.float64).reshape(-1, 2)
    counts = 2 * np.array([*map(len, rings)], np.int64)
    polygons = valid_polygons(drawn(vertices.ravel(), counts, np.zeros(len(counts), bool)))
    areas = shapely.area(polygons)
    shared = shapely.area(shapely.intersection(polygons[a], polygons[b]))
    union = areas[a] + areas[b] - shared
    iou: Floats = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return iou


def _corners(vertices: Vertices) -> Vertices:
    if len(vertices) > 2:
        return vertices
    (x0, y0), (x1, y1) = vertices
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))
