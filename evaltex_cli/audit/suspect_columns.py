"""All suspects of an audit in columns; the record of one is made when it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np

from evaltex_cli.audit import patches
from evaltex_cli.audit.findings import Findings, Lists, joined
from evaltex_cli.audit.patches import KINDS, Kind
from evaltex_cli.audit.scenes import Scene
from evaltex_cli.audit.suspects import AuditedObject, Suspect
from evaltex_cli.formats.base import DONT_CARE
from evaltex_cli.records import Bools, Floats, Ints, offsets_of

DECIMALS = 6
"""Of suspicions: what rounding may change does not change their order."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Suspects(Sequence[Suspect]):
    """Suspects of some images."""

    scene: Scene
    labels: Sequence[str]
    """Of the detectors."""
    kind: Ints
    """(n,) int8. Indices into `KINDS`."""
    suspicion: Floats
    """(n,) float64."""
    objects: Lists
    """Of the ground truth."""
    centres: Lists
    """The detections at the centres of the places that say so."""
    by: Bools
    """(n, detectors) bool. Which detectors agree."""
    read: Ints
    """(n,) int64. A detection with the text that is proposed; -1 for none."""

    def __len__(self) -> int:
        return len(self.kind)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Suspect]:
        return map(self.__getitem__, range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Suspect: ...
    @overload
    def __getitem__(self, index: slice) -> Suspects: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.of(np.arange(len(self))[index])
        k = range(len(self))[index]
        rows, centres = (
            one.rows[one.offsets[k] : one.offsets[k + 1]].tolist()
            for one in (self.objects, self.centres)
        )
        gt, det = self.scene.gt, self.scene.det
        side, first = (gt, rows) if rows else (det, centres)
        image = int(np.searchsorted(side.offsets, first[0], side="right")) - 1
        current = tuple(patches.audited(gt, row) for row in rows)
        boxes = [*gt.boxes[rows].tolist(), *det.boxes[centres].tolist()]
        x0, y0, x1, y1 = zip(*boxes, strict=True)
        return Suspect(
            self.kind_of(k),
            self.scene.names[image],
            tuple(gt.ids[rows].tolist()),
            float(self.suspicion[k]),
            (min(x0), min(y0), max(x1), max(y1)),
            tuple(self.labels[one] for one in np.flatnonzero(self.by[k]).tolist()),
            current,
            self._proposed(k, current, centres),
        )

    def kind_of(self, k: int) -> Kind:
        """Return the kind of a suspect."""
        return KINDS[int(self.kind[k])]

    def of(self, which: Ints) -> Suspects:
        """Return some of the suspects, in this order."""
        return replace(
            self,
            kind=self.kind[which],
            suspicion=self.suspicion[which],
            objects=self.objects.of(which),
            centres=self.centres.of(which),
            by=self.by[which],
            read=self.read[which],
        )

    def are(self, *kinds: Kind) -> Bools:
        """(n,) which suspects are of some kinds."""
        return np.isin(self.kind, [KINDS.index(one) for one in kinds])

    def boxes(self) -> Floats:
        """(n, 4) the boxes around all that each suspect is about."""
        around = np.full((4, len(self)), np.inf)
        for boxes, lists in (
            (self.scene.gt.boxes, self.objects),
            (self.scene.det.boxes, self.centres),
        ):
            owner = lists.owner
            for column, sign in enumerate((1, 1, -1, -1)):
                np.minimum.at(around[column], owner, sign * boxes[lists.rows, column])
        around[2:] *= -1
        return around.T

    def _proposed(
        self, k: int, current: Sequence[AuditedObject], centres: Sequence[int]
    ) -> tuple[AuditedObject, ...]:
        """Return what should be in the place of a suspect's objects."""
        kind, det, read = self.kind_of(k), self.scene.det, int(self.read[k])
        if kind == "unfound":
            return (replace(current[0], dont_care=True),)
        if kind == "duplicate":
            return (current[0],)
        if kind == "text":
            return (replace(current[0], text=det.texts[read]),)
        if kind == "dont-care":
            return (_other_way(current[0], det.texts[read] if read >= 0 else ""),)
        detected = _in_order(
            [replace(patches.audited(det, row), dont_care=False) for row in centres]
        )
        words = " ".join(one.text for one in _in_order(current)).split()
        if kind in ("misplaced", "split"):
            return (replace(detected[0], text=" ".join(words)),)
        if len(words) == len(detected):
            return tuple(replace(one, text=word) for one, word in zip(detected, words, strict=True))
        return tuple(detected)


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


class Found(NamedTuple):
    """Suspects of one kind, with the detections at the centres of the places that say so, and the
    labels of the detectors that may agree.
    """

    findings: Findings
    centres: Lists
    labels: Sequence[str]


def columns(found: Sequence[Found], scene: Scene, labels: Sequence[str]) -> Suspects:
    """Return suspects of several kinds together; `labels` are of all detectors."""
    counts = [len(one.findings.suspicion) for one in found]
    by = np.zeros((sum(counts), len(labels)), bool)
    for one, (start, stop) in zip(found, pairwise(offsets_of(counts).tolist()), strict=True):
        by[start:stop, [labels.index(label) for label in one.labels]] = one.findings.agree
    kinds = [KINDS.index(one.findings.kind) for one in found]
    read = [
        np.full(count, -1) if one.findings.read is None else one.findings.read
        for one, count in zip(found, counts, strict=True)
    ]
    return Suspects(
        scene,
        labels,
        np.repeat(kinds, counts).astype(np.int8),
        np.concatenate([one.findings.suspicion for one in found]).round(DECIMALS),
        joined([one.findings.objects for one in found]),
        joined([one.centres for one in found]),
        by,
        np.concatenate(read),
    )


def explained(suspects: Suspects) -> Suspects:
    """Return suspects by falling suspicion, without those that others explain."""
    suspects = replace(suspects, suspicion=_explained(suspects))
    order = _order(suspects)
    return suspects.of(order[suspects.suspicion[order] > 0])


def _explained(suspects: Suspects) -> Floats:
    """(n,) suspicions that say once what is wrong with an object.

    What is merged, split or there twice is misplaced, too: the suspicion of both is the higher one.
    As for the parts, the annotator counts as one of those who say. Parts have other texts: so much
    less suspicious is the object's own.
    """
    objects, owner, values = suspects.objects, suspects.objects.owner, suspects.suspicion.copy()
    is_misplaced, is_text = suspects.are("misplaced"), suspects.are("text")
    detectors = suspects.by.sum(axis=1)

    def highest(of: Floats, which: Bools) -> Floats:
        """(G,) the highest value of the suspects that an object is of; -1 if there is none."""
        found = np.full(suspects.scene.gt.count, -1.0)
        rows = which[owner]
        np.maximum.at(found, objects.rows[rows], of[owner[rows]])
        return found

    off = highest(values * detectors / (detectors + 1), is_misplaced)
    rows = suspects.are("merged", "split")[owner]
    np.maximum.at(values, owner[rows], off[objects.rows[rows]])
    known = highest(values, suspects.are("merged", "split", "duplicate"))
    first = objects.rows[objects.offsets[:-1][is_text]]
    values[is_text] *= 1 - np.maximum(known[first], 0)
    first = objects.rows[objects.offsets[:-1][is_misplaced]]
    values[np.flatnonzero(is_misplaced)[known[first] >= 0]] = 0
    return np.fromiter((round(one, DECIMALS) for one in values.tolist()), np.float64, len(values))


def _order(suspects: Suspects) -> Ints:
    """(n,) the suspects by falling suspicion; equal ones by image, box, kind and objects."""
    scene, objects = suspects.scene, suspects.objects
    image = np.zeros(len(suspects), np.int64)
    for side, lists in ((scene.det, suspects.centres), (scene.gt, objects)):
        some = lists.counts > 0
        first = lists.rows[lists.offsets[:-1][some]]
        image[some] = np.searchsorted(side.offsets, first, side="right") - 1
    keys = [
        -suspects.suspicion,
        _ranks(scene.names)[image],
        *suspects.boxes().T,
        _ranks(KINDS)[suspects.kind],
    ]
    order = np.lexsort(keys[::-1])
    equal = np.ones(max(len(order) - 1, 0), bool)
    for key in keys:
        ordered = key[order]
        equal &= ordered[1:] == ordered[:-1]
    starts = np.flatnonzero(np.concatenate([[True], ~equal, [True]]))
    for start, stop in pairwise(starts[: len(order) + 1].tolist()):
        if stop - start > 1:
            rows = order[start:stop].tolist()
            parts = [objects.rows[objects.offsets[k] : objects.offsets[k + 1]] for k in rows]
            ids = {k: scene.gt.ids[of].tolist() for k, of in zip(rows, parts, strict=True)}
            order[start:stop] = sorted(rows, key=ids.__getitem__)
    return order


def _ranks(names: Sequence[str]) -> Ints:
    """(n,) the place of each name among all, sorted."""
    ranks = np.empty(len(names), np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks
