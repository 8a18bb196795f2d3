"""What is near the suspects of an audit: other objects, and every detector's detections."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evaltex_cli.audit.patches import AuditedObject, audited
from evaltex_cli.audit.scenes import Scene
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.records import Objects
from evaltex_cli.report.crops import region

Vertices: TypeAlias = tuple[tuple[float, float], ...]
"""Of a polygon, or the two corners of a box, as in `AuditedObject`."""
MOST = 200
"""Objects, and detections, around one suspect; the first in the input's order."""


@dataclass(frozen=True, slots=True)
class Detection:
    """A detection of one of the audit's detectors."""

    detector: str
    vertices: Vertices
    text: str = ""
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The objects around a suspect other than its own, and the detections there."""

    objects: tuple[AuditedObject, ...] = ()
    detections: tuple[Detection, ...] = ()


def around(
    suspects: Sequence[Suspect], scene: Scene, labels: Sequence[str]
) -> Iterator[Surroundings]:
    """Yield what is in the region of each suspect's crop.

    Parameters
    ----------
    suspects : sequence of Suspect
    scene : Scene
        All images.
    labels : sequence of str
        Of the scene's detectors.
    """
    image = {name: k for k, name in enumerate(scene.names)}
    for suspect in suspects:
        k, box = image[suspect.image], region(suspect.box)
        objects = [
            audited(scene.gt, row)
            for row in _touching(scene.gt, k, box)
            if scene.gt.ids[row] not in suspect.objects
        ]
        rows = _touching(scene.det, k, box)[:MOST]
        detections = [_detection(scene, row, labels[scene.detector[row]]) for row in rows]
        yield Surroundings(tuple(objects[:MOST]), tuple(detections))


def _touching(objects: Objects, image: int, box: tuple[float, float, float, float]) -> list[int]:
    """Return the rows of an image's objects that share some of a box."""
    start, stop = objects.offsets[image : image + 2].tolist()
    x0, y0, x1, y1 = objects.boxes[start:stop].T
    meets = (x0 < box[2]) & (x1 > box[0]) & (y0 < box[3]) & (y1 > box[1])
    rows: list[int] = (start + np.flatnonzero(meets)).tolist()
    return rows


def _detection(scene: Scene, row: int, label: str) -> Detection:
    found = audited(scene.det, row)
    values = scene.det.confidences
    confidence = math.nan if values is None else float(values[row])
    known = confidence if math.isfinite(confidence) else None
    return Detection(label, found.vertices, found.text, known)
