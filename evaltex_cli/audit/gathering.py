"""The evidence of all images: some images at a time, in columns that grow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.audit.agreement import Agreeing, Copies, Independent, Places, independent
from evaltex_cli.audit.evidence import AtPlaces, Evidence
from evaltex_cli.audit.measuring import Found, copies, found
from evaltex_cli.audit.scenes import Scene, Task, task
from evaltex_cli.errors import InputError, quote
from evaltex_cli.evaluation.batches import cut
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.records import Bools, Ints, Objects, Outlines, Texts, offsets_of, stretches
from evaltex_cli.records.rows import packed
from evaltex_cli.runtime import OrderedMap

MOST_SAME = 20_000
"""Most pairs of objects in one place beyond one for each object of their image: each is a suspect,
and takes 200 bytes.
"""
_FEW_IMAGES = 16
_COLUMNS = (
    "per image",
    "ids",
    "boxes",
    "vertices",
    "corners",
    "dont_care",
    "letters",
    "lengths",
    "confidences",
)


def read(inputs: Sequence[Inputs], ordered_map: OrderedMap = map) -> tuple[Evidence, Independent]:
    """Return the evidence of all images, and which detectors count.

    Parameters
    ----------
    inputs : sequence of Inputs
        One for each detector, of the same ground truth; without faults (an evaluation finds them).
    ordered_map : callable
        What does the work (`workers`).

    Raises
    ------
    InputError
        For pairs of objects in one place beyond `MOST_SAME`.
    """
    images = [np.arange(*batch) for batch in cut(*inputs)]
    # Places depend on which detectors count, and this on all images: nearly always a few of them
    # say it already, else all are read again.
    few = [some[:_FEW_IMAGES] for some in images[:1] if len(inputs[0].gt.names) > _FEW_IMAGES]
    counting = independent(_sum(len(inputs), _each(ordered_map(copies, _tasks(inputs, few)))))
    while True:
        whole = _Whole()
        parts = _each(ordered_map(partial(found, counting), _tasks(inputs, images)))
        actual = independent(_sum(len(inputs), map(whole.add, parts)))
        if np.array_equal(actual, counting):
            return whole.evidence(counting), counting
        counting = actual


_each = chain.from_iterable


def _tasks(inputs: Sequence[Inputs], images: Sequence[Ints]) -> Iterator[Task]:
    return (task(inputs, some) for some in images)


def _sum(detectors: int, parts: Iterable[Copies]) -> Copies:
    total = Copies(*(np.zeros((detectors,) * sides, np.int64) for sides in (1, 2, 2)))
    for part in parts:
        total = Copies(*map(np.add, total, part))
    return total


def with_detections(first: Ints, detector: Ints) -> Bools:
    """(n,) which of the detectors that count have any detection; all, if none has."""
    some = np.bincount(detector, minlength=len(first)) > 0
    return np.isin(np.unique(first), first[some]) | ~some.any()


class _Whole:
    """Evidence to which that of more images is added."""

    def __init__(self) -> None:
        self._columns: dict[str, _Column] = defaultdict(_Column)
        self._names: list[str] = []
        self._rows = dict.fromkeys(("gt", "det", "place"), 0)
        self._same = 0

    def add(self, part: Found) -> Copies:
        """Add some images; return how many detections have copies in them."""
        evidence = part.evidence
        scene, places = evidence.scene, evidence.places
        for name, column in _values(evidence).items():
            self._columns[name].add(column)
        for name, (side, rows) in _indices(evidence).items():
            moved = np.where(rows < 0, -1, rows + self._rows[side])
            self._columns[name].add(moved.astype(np.int32))
        self._names += scene.names
        counts = scene.gt.count, scene.det.count, len(places.centre)
        for side, count in zip(self._rows, counts, strict=True):
            self._rows[side] += count
        of_image = scene.gt.image[evidence.same.one]
        more = np.bincount(of_image, minlength=len(scene.names)) - np.diff(scene.gt.offsets)
        self._same += int(np.maximum(more, 0).sum())
        if self._same > MOST_SAME:
            raise InputError(
                f"image {quote(scene.names[int(more.argmax())])}: more than {MOST_SAME} pairs of"
                " objects of the ground truth, and one for each object, are in one place, some of"
                " them in this image; expected fewer: remove duplicates"
            )
        return part.copies

    def evidence(self, counting: Independent) -> Evidence:
        """Return all that was added, and forget it."""
        whole: dict[str, Any] = {}
        while self._columns:
            name, column = self._columns.popitem()
            whole[name] = column.array()
        gt, det = (_objects_of(whole, side) for side in ("gt", "det"))
        scene = Scene(self._names, gt, det, whole["detector"])
        outlines, texts = (with_detections(first, scene.detector) for first in counting)
        at = _chosen(whole["at"], outlines)
        places = Places(
            whole["centre"],
            whole["count"],
            whole["iou"],
            at,
            _chosen(whole["read"], texts) if "read" in whole else at,
        )
        best, hidden = (
            AtPlaces(*(whole[f"{of} {name}"] for name in ("gt", "place", "iou")))
            for of in ("best", "hidden")
        )
        return Evidence(
            scene,
            places,
            _chosen(whole["found"], outlines),
            whole["near"],
            whole["covered"],
            whole["confirmed"],
            (best, hidden),
            (whole["part of"], whole["part"]),
            (whole["whole"], whole["part of whole"]),
            Agreeing(whole["same one"], whole["same other"], whole["same iou"]),
        )


def _chosen(table: NDArray[Any], columns: Bools) -> NDArray[Any]:
    return table if columns.all() else table[:, columns]


def _values(evidence: Evidence) -> dict[str, NDArray[Any]]:
    """Return what no row is moved in."""
    best, hidden = evidence.best
    values: dict[str, NDArray[Any]] = {
        "detector": evidence.scene.detector,
        "count": evidence.places.count.astype(np.int32),
        "iou": evidence.places.iou,
        "found": evidence.found,
        "near": evidence.near.astype(np.int32),
        "covered": evidence.covered,
        "confirmed": evidence.confirmed,
        "best iou": best.iou,
        "hidden iou": hidden.iou,
        "same iou": evidence.same.iou,
    }
    for side in ("gt", "det"):
        of_side = _columns_of(getattr(evidence.scene, side)).items()
        values |= {f"{side} {name}": column for name, column in of_side}
    return values


def _indices(evidence: Evidence) -> dict[str, tuple[str, Ints]]:
    """Return rows of objects, detections and places, with which of these they are."""
    places, (best, hidden) = evidence.places, evidence.best
    indices = {
        "centre": ("det", places.centre),
        "at": ("det", places.at),
        "best gt": ("gt", best.gt),
        "best place": ("place", best.place),
        "hidden gt": ("gt", hidden.gt),
        "hidden place": ("place", hidden.place),
        "part of": ("gt", evidence.parts[0]),
        "part": ("place", evidence.parts[1]),
        "whole": ("place", evidence.wholes[0]),
        "part of whole": ("gt", evidence.wholes[1]),
        "same one": ("gt", evidence.same.one),
        "same other": ("gt", evidence.same.other),
    }
    return indices if places.read is places.at else indices | {"read": ("det", places.read)}


class _Column:
    """An array that grows in its place, so that no part of it is in memory twice."""

    def __init__(self) -> None:
        self._values = bytearray()

    def add(self, part: NDArray[Any]) -> None:
        self._like = part[:0]
        self._values.extend(np.ascontiguousarray(part).data.cast("B") if part.size else b"")

    def array(self) -> NDArray[Any]:
        shape = self._like.shape[1:]
        return np.frombuffer(self._values, self._like.dtype).reshape(-1, *shape)


def _columns_of(objects: Objects) -> dict[str, NDArray[Any]]:
    """Return what an audit asks objects for, each in a column that grows."""
    texts, confidences = packed(objects.texts), objects.confidences
    lengths = texts.stop - texts.start
    return {
        "per image": np.diff(objects.offsets),
        "ids": objects.ids,
        "boxes": objects.boxes,
        "vertices": objects.outlines.vertices,
        "corners": objects.outlines.counts,
        "dont_care": objects.dont_care,
        "letters": np.frombuffer(texts.buffer, np.uint8)[stretches(texts.start, lengths)],
        "lengths": lengths,
        "confidences": np.full(objects.count, np.nan) if confidences is None else confidences,
    }


def _objects_of(whole: dict[str, Any], side: str) -> Objects:
    """Return the objects of a side, whose columns are taken away."""
    column = {name: whole.pop(f"{side} {name}") for name in _COLUMNS}
    ids, ends, confidences = column["ids"], offsets_of(column["lengths"]), column["confidences"]
    outlines = Outlines(column["boxes"], column["vertices"], offsets_of(column["corners"]))
    return Objects(
        offsets_of(column["per image"]),
        ids,
        Outlines.of_boxes(outlines.boxes) if outlines.all_boxes else outlines,
        ids,
        column["dont_care"],
        Texts(column["letters"].tobytes(), ends[:-1], ends[1:]),
        None if np.isnan(confidences).all() else confidences,
    )
