"""What an audit finds: suspects, places where the ground truth may be wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.audit import patches
from evaltex_cli.audit.kinds import Finding
from evaltex_cli.audit.patches import AuditedObject, Entry, Kind
from evaltex_cli.audit.places import SAME, Evidence, Place
from evaltex_cli.formats.base import DONT_CARE
from evaltex_cli.tables.record import plain

Box: TypeAlias = tuple[float, float, float, float]
"""x0, y0, x1, y1, continuous, in pixels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect(Entry):
    """A place where the ground truth may be wrong, and what should be there."""

    box: Box
    """Around the objects as they are and as proposed."""
    detectors: tuple[str, ...]
    """Labels of the detectors that agree on it; none for `unfound`."""
    iou: float = 0.0
    """Mean IoU of the detectors' outlines that agree with what is proposed; 0 without any."""
    agreeing: frozenset[int] = field(default=frozenset(), compare=False, repr=False)
    """Rows of the scene's detections that agree."""

    def to_dict(self) -> dict[str, Any]:
        """Return the suspect in JSON."""
        names = ("kind", "image", "objects", "suspicion", "box", "detectors")
        return {name: plain(getattr(self, name)) for name in (*names, "current", "proposed")}


def suspects_of(
    findings: Sequence[Finding], evidence: Evidence, labels: Sequence[str]
) -> list[Suspect]:
    """Return findings as suspects, by falling suspicion; labels are those of all detectors."""
    scene, gt, det = evidence.scene, evidence.scene.gt, evidence.scene.det
    images = [gt.image.tolist(), det.image.tolist()]
    places_on: dict[int, list[Place]] = defaultdict(list)
    for overlap in evidence.overlaps:
        if overlap.iou >= SAME:
            places_on[overlap.row].append(overlap.place)
    suspects = []
    for one in findings:
        rows, is_text = one.rows, one.kind == "text"
        centres, ious = [place.centre for place in one.places], [place.iou for place in one.places]
        boxes = np.concatenate([gt.boxes[rows], det.boxes[centres]])
        (x0, y0), (x1, y1) = boxes[:, :2].min(axis=0).tolist(), boxes[:, 2:].max(axis=0).tolist()
        current = tuple(patches.audited(gt, row) for row in rows)
        detected = [patches.audited(det, row) for row in centres]
        text = "" if one.read is None else det.texts[one.read]
        counting = evidence.readers if is_text else evidence.detectors
        # Duplicates are no matter of one place: what agrees is on any of the objects.
        places = one.places or [place for row in rows for place in places_on[row]]
        agreeing = [place.read if is_text else place.at for place in places]
        suspects.append(
            Suspect(
                kind=one.kind,
                image=scene.names[images[0][rows[0]] if rows else images[1][centres[0]]],
                objects=tuple(gt.ids[rows].tolist()),
                suspicion=one.suspicion,
                current=current,
                proposed=_proposed(one.kind, current, detected, text),
                box=(x0, y0, x1, y1),
                detectors=tuple(labels[counting[k]] for k in sorted(one.agree)),
                iou=sum(ious) / len(ious) if ious else 0.0,
                agreeing=frozenset(at[k] for at in agreeing for k in one.agree if k in at),
            )
        )
    return sorted(
        suspects, key=lambda one: (-one.suspicion, one.image, one.box, one.kind, one.objects)
    )


def _proposed(
    kind: Kind, current: Sequence[AuditedObject], detected: Sequence[AuditedObject], text: str
) -> tuple[AuditedObject, ...]:
    """Return what should be in the place of a suspect's objects; `text` is what detectors read."""
    if kind == "unfound":
        return (replace(current[0], dont_care=True),)
    if kind == "duplicate":
        return (current[0],)
    if kind == "text":
        return (replace(current[0], text=text),)
    if kind == "dont-care":
        one = current[0]
        # What was read takes the place of the mark of what does not count.
        is_marked = one.dont_care and one.text in ("", DONT_CARE)
        text = text if is_marked else one.text
        return (replace(one, dont_care=not one.dont_care, text=text),)
    drawn = _in_order([replace(one, dont_care=False) for one in detected])
    words = " ".join(one.text for one in _in_order(current)).split()
    if kind in ("misplaced", "split"):
        return (replace(drawn[0], text=" ".join(words)),)
    if len(words) == len(drawn):
        return tuple(replace(one, text=word) for one, word in zip(drawn, words, strict=True))
    return tuple(drawn)


def _in_order(objects: Sequence[AuditedObject]) -> Sequence[AuditedObject]:
    """Return parts of a text as it is read: left to right, or down if it is higher than wide."""
    if len(objects) < 2:
        return objects
    centres = np.array([np.mean(one.vertices, axis=0) for one in objects])
    extent = np.ptp(centres, axis=0)
    axis = int(extent[1] > extent[0])
    return [objects[k] for k in np.argsort(centres[:, axis], kind="stable").tolist()]
