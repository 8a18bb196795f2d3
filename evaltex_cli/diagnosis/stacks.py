"""Images after repairs, and their overlaps; only what the repairs change is measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.diagnosis.components import Components, spread
from evaltex_cli.geometry import overlaps, shapes
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Overlaps,
    blocks,
    offsets_of,
    stretches,
)
from evaltex_cli.records.rows import concatenate, take, take_images

_PAIRS_AT_ONCE = 1 << 17
"""Overlapping pairs of repaired images that are measured together."""


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """The images that some repairs change, after them: an image once for each that changes it.

    Don't-care objects, and detections without a mistake of the repaired kinds, are untouched.
    """

    before: ImageBatch
    """The batch that was repaired."""
    made: Objects
    """The detections that repairs have made, as those of one image."""
    parts: Mapping[str, slice]
    """Repair -> its images; the last one repairs what all others do, in the images that several of
    them change."""
    image: Ints
    """(images,) int64. Which image of the batch before each was; sorted in each part."""
    offsets: Ints
    rows: Ints
    """`offsets` and `rows`: (images + 1,), (detections,) int64. Image k has the detections
    ``rows[offsets[k]:offsets[k + 1]]`` of the batch before and, after them, of `made`. The last
    repair may make the same detections as others."""

    @property
    def is_made(self) -> Bools:
        """(detections,) whether a repair has made it."""
        return self.rows >= self.before.det.count

    @property
    def gt_offsets(self) -> Ints:
        """As `offsets`, of the ground truth."""
        return offsets_of(np.diff(self.before.gt.offsets)[self.image])

    @property
    def gt_rows(self) -> Ints:
        """(objects,) which object of the batch before each was."""
        counts = np.diff(self.before.gt.offsets)[self.image]
        return stretches(self.before.gt.offsets[self.image], counts)

    def images(self, start: int, stop: int) -> Stack:
        """Return a stretch of the images, without their repairs."""
        offsets = self.offsets[start : stop + 1]
        rows = self.rows[offsets[0] : offsets[-1]]
        return replace(
            self, parts={}, image=self.image[start:stop], offsets=offsets - offsets[0], rows=rows
        )


class Scope(NamedTuple):
    """Which objects and detections of a stack are matched again.

    Attributes
    ----------
    gt, det : (objects,), (detections,) bool
    same_gt, same_det : (objects,), (detections,) int64
        Where in the stack the same one is, matched alike, that is matched again; else the own
        place.
    """

    gt: Bools
    det: Bools
    same_gt: Ints
    same_det: Ints


Part: TypeAlias = tuple[ImageBatch, Overlaps]
"""Some repaired images with all or some of their objects, and the overlaps of these."""


class _Pairs(NamedTuple):
    """Overlaps of all objects of a stack with the detections that repairs have made.

    `gt`, `det` are indices into the stack's.
    """

    gt: Ints
    det: Ints
    area: Floats

    def of(self, which: Bools) -> _Pairs:
        """Return some of the pairs."""
        return _Pairs(self.gt[which], self.det[which], self.area[which])

    def within(self, start: int, stop: int, first: int) -> _Pairs:
        """Return those of a stretch of objects, counted from its start; detections from `first`."""
        inside = np.flatnonzero((self.gt >= start) & (self.gt < stop))
        return _Pairs(self.gt[inside] - start, self.det[inside] - first, self.area[inside])


def after(
    stack: Stack, convention: Convention, components: Components | None = None
) -> tuple[Scope, Iterator[Part]]:
    """Return which objects of repaired images are of interest; and the images with these, some
    images at a time: as many pairs as one image may have.

    Parameters
    ----------
    stack : Stack
    convention : Convention
    components : Components, optional
        Of the batch before by its overlaps of this convention. Given them, the images have only
        the objects and detections of which a repair may change what they are matched with: those
        that hang together with a detection that has come or gone; and in the images of the last
        repair only if several of the others have changed it.
    """
    made = shapes.from_objects(stack.made, convention)
    new = _measured(stack, convention, made)
    if components is None:
        same = np.arange(len(stack.gt_rows)), np.arange(len(stack.rows))
        scope = Scope(same[0] >= 0, same[1] >= 0, *same)
    else:
        first = _first(stack)
        scope = _scope(stack, components, new.of(first[new.det] == new.det), first)
        new = new.of(scope.det[new.det])
    return scope, _parts(stack, convention, made, scope, new)


def _parts(
    stack: Stack, convention: Convention, made: shapes.Shapes, scope: Scope, new: _Pairs
) -> Iterator[Part]:
    """Yield the images with the objects of the scope; `new` are pairs of these."""
    gt_offsets = stack.gt_offsets
    pairs = _pairs_of_images(stack, convention, scope, new)
    for start, stop in list(blocks(pairs, _PAIRS_AT_ONCE)) or [(0, 0)]:
        (i, i_stop), (j, j_stop) = gt_offsets[[start, stop]], stack.offsets[[start, stop]]
        chosen = scope.gt[i:i_stop], scope.det[j:j_stop]
        yield _part(stack.images(start, stop), convention, made, chosen, new.within(i, i_stop, j))


def _pairs_of_images(stack: Stack, convention: Convention, scope: Scope, new: _Pairs) -> Ints:
    """(images,) how many pairs the objects of the scope have."""
    measured = overlaps.of(stack.before, convention)
    before = np.bincount(measured.gt, minlength=stack.before.gt.count)
    pairs = np.where(scope.gt, before[stack.gt_rows], 0)
    pairs += np.bincount(new.gt, minlength=len(pairs))
    return np.diff(offsets_of(pairs)[stack.gt_offsets])


def _part(
    stack: Stack,
    convention: Convention,
    made: shapes.Shapes,
    chosen: tuple[Bools, Bools],
    new: _Pairs,
) -> Part:
    """Return images with the chosen objects and detections; `new` are pairs of these."""
    old, now, (gt, det) = overlaps.of(stack.before, convention), _Places.of(stack), chosen
    batch = _chosen(stack, gt, det)
    gt_shapes, det_shapes = overlaps.shapes_of(stack.before, convention)
    gt_rows, rows = stack.gt_rows[gt], stack.rows[det]
    if any(side.polygons is not None for side in (gt_shapes, det_shapes, made)):
        batch.shapes[convention] = (
            shapes.taken(gt_shapes, gt_rows),
            _shapes_of(rows, det_shapes, made),
        )
    if convention in stack.before.moved:
        margin, *moved = stack.before.moved[convention]
        grown, shrunk = (shapes.taken(some, gt_rows) for some in moved)
        batch.moved[convention] = margin[gt_rows], grown, shrunk
    # Every object's pairs before, as often as it is in the stack.
    bounds = offsets_of(np.bincount(old.gt, minlength=stack.before.gt.count))
    counts = np.diff(bounds)[gt_rows]
    pair, of_gt = stretches(bounds[gt_rows], counts), np.repeat(np.arange(len(gt_rows)), counts)
    at = now.place[old.det[pair] + now.shift[batch.gt.image[of_gt]]]
    remains = at >= 0
    pair, of_gt = pair[remains], of_gt[remains]
    # Counting the objects that are chosen gives each its index.
    of_gt = np.concatenate([of_gt, (np.cumsum(gt) - 1)[new.gt]])
    of_det = (np.cumsum(det) - 1)[np.concatenate([at[remains], new.det])]
    area = np.concatenate([old.area[pair], new.area])
    if len(new.gt):
        order = np.lexsort((of_det, of_gt))
        of_gt, of_det, area = of_gt[order], of_det[order], area[order]
    gt_boxes, det_boxes = (shapes.boxes_of(side, convention) for side in (batch.gt, batch.det))
    measured = Overlaps(
        of_gt,
        of_det,
        area,
        old.gt_area[gt_rows],
        np.concatenate([old.det_area, shapes.area(made)])[rows],
        gt_boxes,
        det_boxes,
    )
    return batch, measured


class _Places(NamedTuple):
    """Where detections of the batch before are in a stack.

    Attributes
    ----------
    place : (n,) int64
        Of detection j of the image k of the stack at ``j + shift[k]``; -1 where a repair took it.
    shift : (images,) int64
    """

    place: Ints
    shift: Ints

    @classmethod
    def of(cls, stack: Stack) -> _Places:
        before = stack.before.det.offsets
        first = offsets_of(np.diff(before)[stack.image])
        shift = first[:-1] - before[stack.image]
        place = np.full(first[-1], -1)
        stays = np.flatnonzero(~stack.is_made)
        place[stack.rows[stays] + shift[_image(stack.offsets)[stays]]] = stays
        return cls(place, shift)


def _image(offsets: Ints) -> Ints:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _first(stack: Stack) -> Ints:
    """(detections,) where a repair has made the same detection first; else the own place."""
    first = np.arange(len(stack.rows))
    place = np.flatnonzero(stack.is_made)
    row = stack.rows[place] - stack.before.det.count
    of_row = np.zeros(stack.made.count, np.int64)
    of_row[row[::-1]] = place[::-1]
    first[place] = of_row[row]
    return first


def _measured(stack: Stack, convention: Convention, made: shapes.Shapes) -> _Pairs:
    """Measure the detections that repairs have made; the shapes of objects are those before."""
    before, place = stack.before, np.flatnonzero(stack.is_made)
    row, gt_rows = stack.rows[place] - before.det.count, stack.gt_rows
    gt, det = overlaps.touching_boxes(
        shapes.boxes_of(before.gt, convention)[gt_rows],
        stack.gt_offsets,
        shapes.boxes_of(stack.made, convention)[row],
        np.searchsorted(place, stack.offsets),
    )
    pairs = shapes.Pairs(overlaps.shapes_of(before, convention)[0], gt_rows[gt], made, row[det])
    area = shapes.pair_area(*pairs[:4])
    overlap = area > 0
    return _Pairs(gt[overlap], place[det[overlap]], area[overlap])


def _scope(stack: Stack, components: Components, new: _Pairs, first: Ints) -> Scope:
    """Return what hangs together with a detection that has come or gone.

    Parameters
    ----------
    new : _Pairs
        Of the detections that are the first ones.
    first : (detections,) int64
        As of `_first`.
    """
    before, now = stack.before, _Places.of(stack)
    gt_image, image = _image(stack.gt_offsets), _image(stack.offsets)
    starts = [part.start for part in stack.parts.values()]
    repair = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(stack.image)))
    last, none = len(starts) - 1, before.gt.count
    of_gt, of_det = components.gt[stack.gt_rows], np.full(len(stack.rows), none)
    stays = np.flatnonzero(~stack.is_made)
    of_det[stays] = components.det[stack.rows[stays]]  # -1 is as `none`
    gone = np.flatnonzero(now.place < 0)
    gone_image = _image(offsets_of(np.diff(before.det.offsets)[stack.image]))[gone]
    by_others = repair[gone_image] < last
    gone, gone_image = gone[by_others], gone_image[by_others]

    # Which components each repair changes, and then, which of those that any repair joins.
    changed = np.zeros((last + 1, none + 1), dtype=bool)
    changed[repair[gt_image[new.gt]], of_gt[new.gt]] = True
    changed[repair[gone_image], components.det[gone - now.shift[gone_image]]] = True
    changed[:, none] = False
    group, of_made = spread(components.gt, of_gt[new.gt], new.det, len(stack.rows))
    group, of_made = np.append(group, none), of_made[first]
    repairs, components_changed = np.nonzero(changed)
    together = np.zeros_like(changed)
    together[repairs, group[components_changed]] = True
    by_one = (together.sum(axis=0) == 1) & ~together[last]
    changed[last] = (together.any(axis=0) & ~by_one)[group]

    # Where the images of the last repair are as after another one, which is the only one there.
    state = np.zeros((last + 1, len(before.names)), np.int64)
    state[repair, stack.image] = np.arange(len(repair))
    only = together.argmax(axis=0)[group]
    same_gt, same_det = np.arange(len(of_gt)), np.arange(len(of_det))
    which = np.flatnonzero((repair[gt_image] == last) & by_one[group[of_gt]])
    at = state[only[of_gt[which]], stack.image[gt_image[which]]]
    same_gt[which] = (
        stack.gt_offsets[at] + stack.gt_rows[which] - before.gt.offsets[stack.image[at]]
    )
    which = np.flatnonzero((repair[image] == last) & by_one[group[of_det]])
    at = state[only[of_det[which]], stack.image[image[which]]]
    same_det[which] = now.place[stack.rows[which] + now.shift[at]]
    which = np.flatnonzero(stack.is_made & (by_one[of_made] | (of_made == none)))
    same_det[which] = first[which]
    comes = stack.is_made & (same_det == np.arange(len(same_det)))
    return Scope(
        changed[repair[gt_image], of_gt], changed[repair[image], of_det] | comes, same_gt, same_det
    )


def _chosen(stack: Stack, gt: Bools, det: Bools) -> ImageBatch:
    """Return the images of a stack with some of their objects and detections."""
    before, image = stack.before, stack.image
    lines, in_detections = before.gt_lines, before.in_detections
    return replace(
        before,
        names=[before.names[k] for k in image.tolist()],
        sizes=before.sizes[image],
        gt=take(before.gt, stack.gt_rows[gt], offsets_of(gt)[stack.gt_offsets]),
        det=_detections(stack, stack.rows[det], offsets_of(det)[stack.offsets]),
        in_detections=None if in_detections is None else np.ones(len(image), dtype=bool),
        gt_lines=None if lines is None else take_images(lines, image),
    )


def _detections(stack: Stack, rows: Ints, offsets: Ints) -> Objects:
    """Return some of the detections of the batch before and of those that repairs have made."""
    before, made = stack.before.det, stack.made
    ours, theirs, place = _apart(rows, before.count)
    parts = [
        take(side, some, np.array([0, len(some)]))
        for side, some in ((before, ours), (made, theirs))
    ]
    return take(concatenate(parts), place, offsets)


def _shapes_of(rows: Ints, before: shapes.Shapes, made: shapes.Shapes) -> shapes.Shapes:
    """Return the shapes of the same."""
    ours, theirs, place = _apart(rows, len(before.boxes))
    both = shapes.concatenate(shapes.taken(before, ours), shapes.taken(made, theirs))
    return shapes.taken(both, place)


def _apart(rows: Ints, count: int) -> tuple[Ints, Ints, Ints]:
    """Return the rows below a count, the others counted from there, and where each of `rows` is,
    those before these.
    """
    is_made = rows >= count
    order = np.argsort(is_made, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(rows))
    return rows[~is_made], rows[is_made] - count, place
