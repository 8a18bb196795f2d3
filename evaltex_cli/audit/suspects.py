"""What an audit finds: suspects, places where the ground truth may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from evaltex_cli.audit import patches
from evaltex_cli.audit.evidence import Evidence
from evaltex_cli.audit.findings import Findings, Lists, joined
from evaltex_cli.audit.patches import AuditedObject, Entry, Kind
from evaltex_cli.formats.base import DONT_CARE
from evaltex_cli.records import Bools, Floats, Ints, offsets_of

Box: TypeAlias = tuple[float, float, float, float]
"""x0, y0, x1, y1, continuous, in pixels."""
DECIMALS = 6
"""Of suspicions: what rounding may change does not change their order."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A place where the ground truth may be wrong, and what should be there."""

    kind: Kind
    image: str
    """Its name in the ground truth."""
    objects: tuple[int, ...]
    """IDs, unique in the image, of the objects it is about: none for `missing`, two or more for
    `split` and `duplicate`, one for all others."""
    suspicion: float
    """In [0, 1]: estimate of the probability that an annotator would change it."""
    box: Box
    """Around the objects as they are and as proposed."""
    detectors: tuple[str, ...]
    """Labels of the detectors that agree on it; none for `unfound`."""
    current: tuple[AuditedObject, ...]
    """The objects as they are, in the order of `objects`."""
    proposed: tuple[AuditedObject, ...]
    """What should be in their place: none to remove them; for `unfound`, the object as don't care.
    """

    @property
    def entry(self) -> Entry:
        """The entry of a patch that makes the change, not accepted."""
        return Entry(
            self.kind, self.image, self.objects, self.suspicion, self.current, self.proposed
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Columns:
    """Suspects in columns."""

    evidence: Evidence
    kind: Sequence[Kind]
    suspicion: Floats
    """(n,) float64."""
    objects: Lists
    places: Lists
    by: Bools
    """(n, detectors) bool. Which detectors agree."""
    read: Ints
    """(n,) int64. A detection with the text that is proposed; -1 for none."""

    def suspect(self, k: int, suspicion: float, labels: Sequence[str]) -> Suspect:
        """Return a suspect."""
        scene = self.evidence.scene
        gt, det = scene.gt, scene.det
        rows, centres = self.objects.row(k), self.evidence.places.centre[self.places.row(k)]
        side, first = (gt, rows[0]) if rows else (det, centres[0])
        current = tuple(patches.audited(gt, row) for row in rows)
        x0, y0, x1, y1 = np.concatenate([gt.boxes[rows], det.boxes[centres]]).T.tolist()
        return Suspect(
            self.kind[k],
            scene.names[int(np.searchsorted(side.offsets, first, side="right")) - 1],
            tuple(gt.ids[rows].tolist()),
            suspicion,
            (min(x0), min(y0), max(x1), max(y1)),
            tuple(labels[one] for one in np.flatnonzero(self.by[k]).tolist()),
            current,
            self._proposed(k, current, [patches.audited(det, row) for row in centres.tolist()]),
        )

    def _proposed(
        self, k: int, current: Sequence[AuditedObject], detected: Sequence[AuditedObject]
    ) -> tuple[AuditedObject, ...]:
        """Return what should be in the place of a suspect's objects."""
        kind, read = self.kind[k], int(self.read[k])
        text = self.evidence.scene.det.texts[read] if read >= 0 else ""
        if kind == "unfound":
            return (replace(current[0], dont_care=True),)
        if kind == "duplicate":
            return (current[0],)
        if kind == "text":
            return (replace(current[0], text=text),)
        if kind == "dont-care":
            return (_other_way(current[0], text),)
        drawn = _in_order([replace(one, dont_care=False) for one in detected])
        words = " ".join(one.text for one in _in_order(current)).split()
        if kind in ("misplaced", "split"):
            return (replace(drawn[0], text=" ".join(words)),)
        if len(words) == len(drawn):
            return tuple(replace(one, text=word) for one, word in zip(drawn, words, strict=True))
        return tuple(drawn)


def _other_way(one: AuditedObject, text: str) -> AuditedObject:
    """Return an object that counts as don't care, and one that is don't care as one that counts,
    with the text that was read instead of the mark of what does not count.
    """
    marked = one.dont_care and one.text in ("", DONT_CARE)
    return replace(one, dont_care=not one.dont_care, text=text if marked else one.text)


def _in_order(objects: Sequence[AuditedObject]) -> Sequence[AuditedObject]:
    """Return parts of a text as it is read: left to right, or down if it is higher than wide."""
    if len(objects) < 2:
        return objects
    centres = np.array([np.mean(one.vertices, axis=0) for one in objects])
    extent = np.ptp(centres, axis=0)
    axis = int(extent[1] > extent[0])
    return [objects[k] for k in np.argsort(centres[:, axis], kind="stable").tolist()]


def suspects_of(
    found: Sequence[Findings], evidence: Evidence, labels: Sequence[str], counting: Sequence[Ints]
) -> list[Suspect]:
    """Return all that was found, by falling suspicion, without what other suspects explain.

    Parameters
    ----------
    found : sequence of Findings
    evidence : Evidence
    labels : sequence of str
        Of all detectors.
    counting : two (n,) int64
        The detectors, and the readers, that count.
    """
    counts = [len(one.suspicion) for one in found]
    by = np.zeros((sum(counts), len(labels)), bool)
    for one, (start, stop) in zip(found, pairwise(offsets_of(counts).tolist()), strict=True):
        by[start:stop, counting[one.kind == "text"]] = one.agree
    columns = _Columns(
        evidence,
        [one.kind for one in found for _ in one.suspicion],
        np.concatenate([one.suspicion for one in found]).round(DECIMALS),
        joined([one.objects for one in found]),
        joined([one.places for one in found]),
        by,
        np.concatenate([one.read for one in found]),
    )
    values = [round(one, DECIMALS) for one in _explained(columns).tolist()]
    suspects = [columns.suspect(k, value, labels) for k, value in enumerate(values) if value > 0]
    return sorted(
        suspects, key=lambda one: (-one.suspicion, one.image, one.box, one.kind, one.objects)
    )


def _explained(suspects: _Columns) -> Floats:
    """(n,) suspicions that say once what is wrong with an object.

    What is merged, split or there twice is misplaced, too: the suspicion of both is the higher one.
    As for the parts, the annotator counts as one of those who say. Parts have other texts: so much
    less suspicious is the object's own.
    """
    objects, owner, values = suspects.objects, suspects.objects.owner, suspects.suspicion.copy()
    kind = np.array(suspects.kind)
    is_misplaced, is_text = kind == "misplaced", kind == "text"
    is_other = (kind == "merged") | (kind == "split")
    detectors = suspects.by.sum(axis=1)

    def highest(of: Floats, which: Bools) -> Floats:
        """(G,) the highest value of the suspects that an object is of; -1 if there is none."""
        found = np.full(suspects.evidence.scene.gt.count, -1.0)
        rows = which[owner]
        np.maximum.at(found, objects.rows[rows], of[owner[rows]])
        return found

    off = highest(values * detectors / (detectors + 1), is_misplaced)
    rows = is_other[owner]
    np.maximum.at(values, owner[rows], off[objects.rows[rows]])
    known = highest(values, is_other | (kind == "duplicate"))
    first = objects.rows[objects.offsets[:-1][is_text]]
    values[is_text] *= 1 - np.maximum(known[first], 0)
    first = objects.rows[objects.offsets[:-1][is_misplaced]]
    values[np.flatnonzero(is_misplaced)[known[first] >= 0]] = 0
    return values
