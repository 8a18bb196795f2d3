"""Detections as they would be, were some kinds of mistakes repaired, and nothing else changed."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from evaltex_cli.diagnosis.changes import ALL_TYPES, Change, Made, stacked
from evaltex_cli.diagnosis.components import spread
from evaltex_cli.diagnosis.drawn import Drawn, Side, overlaid, replaced, united
from evaltex_cli.diagnosis.error_types import ERROR_TYPES, OF_LINKS, OF_OBJECTS, Mistakes
from evaltex_cli.diagnosis.stacks import Stack
from evaltex_cli.geometry import overlaps
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Texts,
    blocks,
    concatenate_texts,
)
from evaltex_cli.records.rows import packed

STACKED_OBJECTS = 1 << 17
"""Objects of the images of several repairs that become one batch."""
SURE = 1.0
"""Confidence of an added detection."""


class _Overlays(NamedTuple):
    """Outlines of the detection and the object of some links."""

    drawn: Drawn
    row: Ints
    """(p,) which of the outlines each link has."""

    def of(self, links: Ints) -> Drawn:
        """Return those of some links."""
        return self.drawn.rows(self.row[links])


class _Sides(NamedTuple):
    """What all repairs of a batch need: the outlines of both sides, and what links become."""

    gt: Side
    det: Side
    cut: _Overlays
    """Of links of merged and of loose detections: the intersection."""
    grown: _Overlays
    """Of links of tight objects: detection and object joined."""

    @classmethod
    def of(cls, batch: ImageBatch, mistakes: Mistakes, as_boxes: bool) -> _Sides:
        """Take polygons as they are or as their bounding boxes."""
        gt_shapes, det_shapes = overlaps.shapes_of(batch, Convention(as_boxes=as_boxes))
        gt, det = Side(batch.gt, gt_shapes), Side(batch.det, det_shapes)
        is_cut = (mistakes.merged | mistakes.loose)[mistakes.det]
        is_grown = mistakes.tight[mistakes.gt]
        cut, grown = (
            _Overlays(overlay(det, mistakes.det[which], gt, mistakes.gt[which]), which.cumsum() - 1)
            for overlay, which in ((_cut, is_cut), (_grown, is_grown))
        )
        return cls(gt, det, cut, grown)


def repairs(batch: ImageBatch, mistakes: Mistakes, as_boxes: bool) -> list[Stack]:
    """Repair each kind of mistakes alone, and all of them (`ALL_TYPES`).

    The repair of all kinds has only the images with several kinds, as in the others it is the
    repair of the one kind that they have.
    """
    repair = _Repair(
        batch,
        mistakes,
        ERROR_TYPES,
        _Sides.of(batch, mistakes, as_boxes),
        np.ones(batch.det.count, dtype=bool),
    )
    changes = {kind: _change(repair._replace(kinds=(kind,))) for kind in ERROR_TYPES}
    images = np.sum([change.images for change in changes.values()], axis=0)
    gone = np.any([change.gone for change in changes.values()], axis=0)
    mixed = _mixed(mistakes)
    made = _change(repair._replace(kinds=OF_LINKS, detections=mixed)).made
    changes[ALL_TYPES] = Change(images > 1, gone & (images > 1)[batch.det.image], made)
    objects = np.diff(batch.gt.offsets) + np.diff(batch.det.offsets)
    return [
        stacked(
            batch,
            {kind: change.within(batch, start, stop) for kind, change in changes.items()},
            mixed,
        )
        for start, stop in blocks(objects * (images + (images > 1)), STACKED_OBJECTS)
    ]


def _mixed(mistakes: Mistakes) -> Bools:
    """(D,) whether a detection hangs together, by links, with mistakes of several kinds: these are
    repaired otherwise together than each alone.
    """
    objects = np.arange(len(mistakes.split))
    _, label = spread(objects, mistakes.gt, mistakes.det, len(mistakes.merged))
    kinds = np.zeros(len(objects) + 1, np.int64)
    for kind in OF_LINKS:
        has_kind = np.zeros(len(kinds), dtype=bool)
        has_kind[label[mistakes.det[_links(mistakes, kind)]]] = True
        kinds += has_kind
    return kinds[label] > 1


def repaired(
    batch: ImageBatch, mistakes: Mistakes, kinds: Collection[str], as_boxes: bool = False
) -> Stack:
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
    everything = np.ones(batch.det.count, dtype=bool)
    sides = _Sides.of(batch, mistakes, as_boxes)
    change = _change(_Repair(batch, mistakes, kinds, sides, everything))
    return stacked(batch, {ALL_TYPES: change}, everything)


def _change(repair: _Repair) -> Change:
    batch = repair.batch
    of_relations, related = _of_relations(repair)
    of_outlines, reshaped = _of_outlines(repair)
    made, gone = [*of_relations, *of_outlines], related | reshaped
    for kind in {"false", "duplicate"} & set(repair.kinds):
        gone |= getattr(repair.mistakes, kind)
    if "missed" in repair.kinds:
        made.append(_of_missed(batch, np.flatnonzero(repair.mistakes.missed), repair.sides.gt))
    images = np.zeros(len(batch.names), dtype=bool)
    images[batch.det.image[gone]] = True
    for part in made:
        images[part.image] = True
    return Change(images, gone, made)


class _Repair(NamedTuple):
    """What is to be repaired."""

    batch: ImageBatch
    mistakes: Mistakes
    kinds: Collection[str]
    sides: _Sides
    detections: Bools
    """(D,) bool. Those whose links are to be repaired."""

    def linked(self, kind: str) -> Bools:
        """(p,) which links are of objects or detections of a kind, if it is to be repaired."""
        if kind not in self.kinds:
            return np.zeros(len(self.mistakes.gt), dtype=bool)
        return _links(self.mistakes, kind) & self.detections[self.mistakes.det]

    def made(self, place: Ints, drawn: Drawn, texts: Texts, confidences: Floats) -> Made:
        """Return detections in the places of these of the batch."""
        return Made(self.batch.det.image[place], place, drawn, texts, confidences)


def _links(mistakes: Mistakes, kind: str) -> Bools:
    """(p,) which links are of objects or detections of a kind."""
    of_kind: Bools = getattr(mistakes, kind)[mistakes.gt if kind in OF_OBJECTS else mistakes.det]
    return of_kind


def _of_missed(batch: ImageBatch, missed: Ints, gt: Side) -> Made:
    return Made(
        batch.gt.image[missed],
        batch.det.count + missed,
        gt.drawn.rows(missed),
        packed(batch.gt.texts)[missed],
        np.full(len(missed), SURE),
    )


def _of_relations(repair: _Repair) -> tuple[list[Made], Bools]:
    """Repair split and merged; return what is made, and which detections gave way."""
    batch, mistakes, sides = repair.batch, repair.mistakes, repair.sides
    is_cut, is_united = repair.linked("merged"), repair.linked("split")
    gone = np.zeros(batch.det.count, dtype=bool)
    links = np.flatnonzero(is_cut | is_united)
    if not len(links):
        return [], gone
    i, j = mistakes.gt[links], mistakes.det[links]
    gone[j] = True
    cut = np.flatnonzero(is_cut[links])
    drawn = replaced(sides.det.drawn.rows(j), cut, sides.cut.of(links[cut]))
    texts = [batch.det.texts[k] for k in j.tolist()]
    for k, text in zip(cut.tolist(), words_of_pieces(batch, i[cut], j[cut]), strict=True):
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


def _of_groups(repair: _Repair, links: Ints, group: Ints, pieces: _Pieces) -> Made:
    """Unite the pieces of each group of links, sorted by their (p,) group from 0."""
    batch, mistakes = repair.batch, repair.mistakes
    # The first link of each detection, and of each object, of a group.
    part, whole = (_first_of_each(group, side[links]) for side in (mistakes.det, mistakes.gt))
    parts, objects = pieces.drawn.rows(pieces.rows[part]), mistakes.gt[links[whole]]
    text = repair.sides.gt.drawn.rows(objects)
    outlines = united(parts, group[part], text, group[whole])
    texts = [pieces.texts[k] for k in pieces.rows[part].tolist()]
    starts, object_starts = (np.flatnonzero(np.diff(group[of], prepend=-1)) for of in (part, whole))
    ends, object_ends = (
        [*some[1:].tolist(), len(of)] for some, of in ((starts, part), (object_starts, whole))
    )
    bounds = parts.bounds()
    joined_by_group = [
        joined_text(bounds[a:b], texts[a:b], batch.gt, objects[c:d])
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


def _of_outlines(repair: _Repair) -> tuple[list[Made], Bools]:
    """Repair loose and tight; return what is made, and which detections gave way."""
    batch, mistakes, sides = repair.batch, repair.mistakes, repair.sides
    cut, grown = repair.linked("loose"), repair.linked("tight")
    made = []
    for which, reshaped in (
        (cut & ~grown, sides.cut.of),
        (grown & ~cut, sides.grown.of),
        (cut & grown, lambda links: sides.gt.drawn.rows(mistakes.gt[links])),
    ):
        links = np.flatnonzero(which)
        j = mistakes.det[links]
        if len(links):
            drawn, texts = reshaped(links), packed(batch.det.texts)[j]
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


def _components(mistakes: Mistakes, united: Bools) -> Ints:
    """(p,) a number for each link, the same for links that hang together by split objects."""
    gt, det = mistakes.gt[united], mistakes.det[united]
    label, _ = spread(np.arange(len(mistakes.split)), gt, det, len(mistakes.merged))
    return label[mistakes.gt]


# Texts of detections that repairs cut or unite ---------------------------------------------------


def words_of_pieces(batch: ImageBatch, gt: Ints, det: Ints) -> list[str]:
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


def joined_text(boxes: Floats, texts: list[str], gt: Objects, objects: Ints) -> str:
    """The texts of pieces, (n, 4) boxes, in reading order."""
    several_words = len(objects) > 1 or len(gt.texts[objects[0]].split()) > 1
    separator = " " if several_words else ""
    if not any(texts):
        return separator * (len(texts) - 1)
    return separator.join(texts[k] for k in _reading_order(boxes, gt.boxes[objects]))


def _reading_order(boxes: Floats, around: Floats) -> list[int]:
    """Order of boxes along the longer side of what is around them: from the left, or the top."""
    width, height = around[:, 2:].max(axis=0) - around[:, :2].min(axis=0)
    axis = 0 if width >= height else 1
    order: list[int] = np.lexsort(
        (boxes[:, 1 - axis], boxes[:, axis] + boxes[:, axis + 2])
    ).tolist()
    return order
