"""Detections as they would be, were some kinds of mistakes repaired, and nothing else changed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from evaltex_cli.diagnosis.drawn import Drawn, Side, joined, overlaid, replaced, united
from evaltex_cli.diagnosis.error_types import ERROR_TYPES, OF_OBJECTS, Mistakes
from evaltex_cli.diagnosis.selection import Repaired
from evaltex_cli.geometry import outlines
from evaltex_cli.records import (
    Bools,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Texts,
    concatenate_texts,
    offsets_of,
)
from evaltex_cli.records.rows import concatenate, joined_texts, packed, take

ALL_TYPES = "all"
SURE = 1.0
"""Confidence of an added detection."""


class _Made(NamedTuple):
    """Detections made by repairs, each in the place of another: columns of n."""

    image: Ints
    place: Ints
    drawn: Drawn
    texts: Texts
    confidences: Floats


class Sides(NamedTuple):
    """The outlines of both sides of a batch, which all repairs of it need."""

    gt: Side
    det: Side

    @classmethod
    def of(cls, batch: ImageBatch, as_boxes: bool = False) -> Sides:
        """Return those of a batch, polygons as they are or as their bounding boxes."""
        return cls(Side(batch.gt, as_boxes), Side(batch.det, as_boxes))


def repairs(batch: ImageBatch, mistakes: Mistakes, as_boxes: bool) -> dict[str, Repaired]:
    """Repair each kind of mistakes alone, and all of them (`ALL_TYPES`).

    Each repair has only the images that it changes; that of all kinds those with several kinds, as
    in the others it is the repair of the one kind that they have.
    """
    sides = Sides.of(batch, as_boxes)
    each = {
        kind: _repaired(batch, mistakes, (kind,), sides).of_changed_images() for kind in ERROR_TYPES
    }
    has_several = np.sum([repair.changed for repair in each.values()], axis=0) > 1
    of_all = _repaired(batch, mistakes.of_images(batch, has_several), ERROR_TYPES, sides)
    return each | {ALL_TYPES: of_all._replace(changed=has_several).of_changed_images()}


def repaired(
    batch: ImageBatch, mistakes: Mistakes, kinds: Collection[str], as_boxes: bool = False
) -> Repaired:
    """Repair some kinds of mistakes.

    Parameters
    ----------
    batch : ImageBatch
        Boxes and polygons.
    mistakes : Mistakes
    kinds : collection of str
        Of `error_types.ERROR_TYPES`.
    as_boxes : bool
        Whether polygons are repaired as their bounding boxes, for a protocol that takes them so.

    Notes
    -----
    - missed: a detection with the object's outline and transcription is added.
    - split: the pieces become one: boxes their bounding box; polygons their union and what of the
      object lies in the union's convex hull. Pieces of several objects that hang together become
      one, still merged, unless merged is repaired too.
    - merged: the detection becomes one for each of its objects: its intersection with the object.
    - loose: the detection is cut to its intersection with the object.
    - tight: the detection is joined with the object: boxes the bounding box of both; polygons the
      union.
    - false and duplicate: the detection is removed.

    Where loose and tight are both repaired, a detection that is both becomes its object. Pieces of
    a cut detection have one word each, in reading order, where it has as many words; else its whole
    text. United pieces have their texts in reading order, with blanks between where the object's
    own text has any.
    """
    return _repaired(batch, mistakes, kinds, Sides.of(batch, as_boxes))


def _repaired(
    batch: ImageBatch, mistakes: Mistakes, kinds: Collection[str], sides: Sides
) -> Repaired:
    repair = _Repair(batch, mistakes, kinds, sides)
    of_relations, related = _of_relations(repair)
    of_outlines, reshaped = _of_outlines(repair)
    made, is_gone = [*of_relations, *of_outlines], related | reshaped
    for kind in {"false", "duplicate"} & set(kinds):
        is_gone |= getattr(mistakes, kind)
    if "missed" in kinds:
        made.append(_of_missed(batch, np.flatnonzero(mistakes.missed), sides.gt))
    changed = np.zeros(len(batch.names), dtype=bool)
    changed[batch.det.image[is_gone]] = True
    for part in made:
        changed[part.image] = True
    in_detections = None if batch.in_detections is None else batch.in_detections | changed
    detections, rows = _assembled(batch.det, np.flatnonzero(~is_gone), made)
    return Repaired(replace(batch, det=detections, in_detections=in_detections), changed, rows)


class _Repair(NamedTuple):
    """What is to be repaired."""

    batch: ImageBatch
    mistakes: Mistakes
    kinds: Collection[str]
    sides: Sides

    def linked(self, kind: str) -> Bools:
        """(p,) which links are of objects or detections of a kind, if it is to be repaired."""
        mistakes = self.mistakes
        if kind not in self.kinds:
            return np.zeros(len(mistakes.gt), dtype=bool)
        of_link = mistakes.gt if kind in OF_OBJECTS else mistakes.det
        linked: Bools = getattr(mistakes, kind)[of_link]
        return linked

    def made(self, place: Ints, drawn: Drawn, texts: Texts, confidences: Floats) -> _Made:
        """Return detections in the places of these of the batch."""
        return _Made(self.batch.det.image[place], place, drawn, texts, confidences)


def _of_missed(batch: ImageBatch, missed: Ints, gt: Side) -> _Made:
    return _Made(
        batch.gt.image[missed],
        batch.det.count + missed,
        gt.drawn.rows(missed),
        packed(batch.gt.texts)[missed],
        np.full(len(missed), SURE),
    )


def _of_relations(repair: _Repair) -> tuple[list[_Made], Bools]:
    """Repair split and merged; return what is made, and which detections gave way."""
    batch, mistakes, (gt, det) = repair.batch, repair.mistakes, repair.sides
    is_cut, is_united = repair.linked("merged"), repair.linked("split")
    gone = np.zeros(batch.det.count, dtype=bool)
    links = np.flatnonzero(is_cut | is_united)
    if not len(links):
        return [], gone
    i, j = mistakes.gt[links], mistakes.det[links]
    gone[j] = True
    cut = np.flatnonzero(is_cut[links])
    drawn = replaced(det.drawn.rows(j), cut, _cut(det, j[cut], gt, i[cut]))
    texts = [batch.det.texts[k] for k in j.tolist()]
    for k, text in zip(cut.tolist(), _words(batch, i[cut], j[cut]), strict=True):
        texts[k] = text
    alone = np.flatnonzero((is_cut & ~is_united)[links])
    of_cut = repair.made(
        j[alone],
        drawn.rows(alone),
        concatenate_texts([texts[k] for k in alone.tolist()]),
        confidences_of(batch.det)[j[alone]],
    )
    together = np.flatnonzero(is_united[links])
    if not len(together):
        return [of_cut], gone
    key = (mistakes.gt if "merged" in repair.kinds else _components(mistakes, is_united))[links]
    together = together[np.argsort(key[together], kind="stable")]
    group = np.cumsum(np.diff(key[together], prepend=-1) != 0) - 1
    pieces = _Pieces(drawn, texts, together)
    return [of_cut, _of_groups(repair, links[together], group, pieces)], gone


class _Pieces(NamedTuple):
    """Outlines and texts of links, and which of them are of interest."""

    drawn: Drawn
    texts: list[str]
    rows: Ints


def _of_groups(repair: _Repair, links: Ints, group: Ints, pieces: _Pieces) -> _Made:
    """Unite the pieces of each group of links, sorted by their (p,) group from 0."""
    batch, mistakes = repair.batch, repair.mistakes
    # The first link of each detection, and of each object, of a group.
    part, whole = (_first_of_each(group, side[links]) for side in (mistakes.det, mistakes.gt))
    parts, objects = pieces.drawn.rows(pieces.rows[part]), mistakes.gt[links[whole]]
    outlines = united(parts, group[part], repair.sides.gt.drawn.rows(objects), group[whole])
    texts = [pieces.texts[k] for k in pieces.rows[part].tolist()]
    starts, object_starts = (np.flatnonzero(np.diff(group[of], prepend=-1)) for of in (part, whole))
    ends, object_ends = (
        [*some[1:].tolist(), len(of)] for some, of in ((starts, part), (object_starts, whole))
    )
    bounds = parts.bounds()
    joined_by_group = [
        _joined(bounds[a:b], texts[a:b], batch.gt, objects[c:d])
        for a, b, c, d in zip(
            starts.tolist(), ends, object_starts.tolist(), object_ends, strict=True
        )
    ]
    detections = mistakes.det[links[part]]
    known = confidences_of(batch.det)[detections]
    most = np.maximum.reduceat(known, starts)
    return repair.made(detections[starts], outlines, concatenate_texts(joined_by_group), most)


def _first_of_each(group: Ints, member: Ints) -> Ints:
    """Return the first place of each member in each group, sorted by group and member."""
    order = np.lexsort((np.arange(len(group)), member, group))
    is_new = (np.diff(group[order], prepend=-1) != 0) | (np.diff(member[order], prepend=-1) != 0)
    first: Ints = order[is_new]
    return first


def _of_outlines(repair: _Repair) -> tuple[list[_Made], Bools]:
    """Repair loose and tight; return what is made, and which detections gave way."""
    batch, mistakes, (gt, det) = repair.batch, repair.mistakes, repair.sides
    cut, grown = repair.linked("loose"), repair.linked("tight")
    made = []
    for which, reshaped in ((cut & ~grown, _cut), (grown & ~cut, _grown), (cut & grown, _replaced)):
        i, j = mistakes.gt[which], mistakes.det[which]
        if len(i):
            drawn, texts = reshaped(det, j, gt, i), packed(batch.det.texts)[j]
            made.append(repair.made(j, drawn, texts, confidences_of(batch.det)[j]))
    gone = np.zeros(batch.det.count, dtype=bool)
    gone[mistakes.det[cut | grown]] = True
    return made, gone


def confidences_of(det: Objects) -> Floats:
    """(n,) confidences; NaN for a detection without."""
    return np.full(det.count, np.nan) if det.confidences is None else det.confidences


def _cut(det: Side, j: Ints, gt: Side, i: Ints) -> Drawn:
    """Outlines of the intersections of detections and objects."""
    low, high = (
        np.maximum(det.boxes[j, :2], gt.boxes[i, :2]),
        np.minimum(det.boxes[j, 2:], gt.boxes[i, 2:]),
    )
    return overlaid("intersection", np.concatenate([low, high], axis=1), det, j, gt, i)


def _grown(det: Side, j: Ints, gt: Side, i: Ints) -> Drawn:
    """Outlines of detections joined with objects."""
    low, high = (
        np.minimum(det.boxes[j, :2], gt.boxes[i, :2]),
        np.maximum(det.boxes[j, 2:], gt.boxes[i, 2:]),
    )
    return overlaid("union", np.concatenate([low, high], axis=1), det, j, gt, i)


def _replaced(det: Side, j: Ints, gt: Side, i: Ints) -> Drawn:
    return gt.drawn.rows(i)


def _components(mistakes: Mistakes, united: Bools) -> Ints:
    """(p,) a number for each link, the same for links that hang together by split objects."""
    gt, det = mistakes.gt[united], mistakes.det[united]
    label = np.arange(len(mistakes.split), dtype=np.int64)
    lowest = np.full(len(mistakes.merged), len(label), np.int64)
    while True:
        before = label.copy()
        # The lowest label spreads along links, from objects to detections and back, until nothing
        # changes.
        np.minimum.at(lowest, det, label[gt])
        np.minimum.at(label, gt, lowest[det])
        if (label == before).all():
            return label[mistakes.gt]


def _words(batch: ImageBatch, gt: Ints, det: Ints) -> list[str]:
    """The text of each piece of a cut detection: one word in reading order if
    there are as many, else all of it.
    """
    result = [batch.det.texts[j] for j in det.tolist()]
    groups: dict[int, list[int]] = {}
    for k, j in enumerate(det.tolist()):
        groups.setdefault(j, []).append(k)
    for j, members in groups.items():
        words = result[members[0]].split()
        if len(words) == len(members):
            boxes = batch.gt.boxes[gt[members]]
            for word, at in zip(words, _reading_order(boxes, batch.det.boxes[[j]]), strict=True):
                result[members[at]] = word
    return result


def _joined(boxes: Floats, texts: list[str], gt: Objects, objects: Ints) -> str:
    """The texts of pieces, (n, 4) boxes, in reading order."""
    several_words = len(objects) > 1 or len(gt.texts[objects[0]].split()) > 1
    order = _reading_order(boxes, gt.boxes[objects])
    return (" " if several_words else "").join(texts[k] for k in order)


def _reading_order(boxes: Floats, around: Floats) -> list[int]:
    """Order of boxes along the longer side of what is around them: from the
    left, or from the top.
    """
    width, height = around[:, 2:].max(axis=0) - around[:, :2].min(axis=0)
    axis = 0 if width >= height else 1
    order: list[int] = np.lexsort(
        (boxes[:, 1 - axis], boxes[:, axis] + boxes[:, axis + 2])
    ).tolist()
    return order


def _assembled(det: Objects, unchanged: Ints, made: list[_Made]) -> tuple[Objects, Ints]:
    """Join detections that stay and those made, each in its place; return
    their rows too (`Repaired`).
    """
    count = sum(len(part.image) for part in made)
    if not count:
        stays = np.zeros(det.count, dtype=bool)
        stays[unchanged] = True
        return (det if stays.all() else take(det, stays)), unchanged
    image = np.concatenate([det.image[unchanged], *(part.image for part in made)])
    place = np.concatenate([unchanged, *(part.place for part in made)])
    drawn, _ = outlines.from_numbers(*joined([part.drawn for part in made]))
    highest = int(det.ids.max(initial=0))
    ids = np.arange(highest + 1, highest + 1 + count)
    has_confidences = det.confidences is not None or not det.count
    new = Objects(
        offsets=np.array([0, count]),
        ids=ids,
        outlines=drawn,
        regions=ids,
        dont_care=np.zeros(count, dtype=bool),
        texts=joined_texts([part.texts for part in made]),
        confidences=np.concatenate([part.confidences for part in made])
        if has_confidences
        else None,
    )
    # By image; in it, what was made takes the place of what it was made of.
    order = np.lexsort((place, image))
    rows = np.concatenate([unchanged, det.count + np.arange(count)])[order]
    return take(
        concatenate([det, new]),
        rows,
        offsets_of(np.bincount(image, minlength=len(det.offsets) - 1)),
    ), rows
