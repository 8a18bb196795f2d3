"""Images after repairs, and their overlaps; only what the repairs change is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from evaltex_cli.geometry import overlaps, shapes
from evaltex_cli.records import (
    Bools,
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Overlaps,
    offsets_of,
    stretches,
)
from evaltex_cli.records.rows import concatenate, take, take_images


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
    """Repair -> its images."""
    image: Ints
    """(images,) int64. Which image of the batch before each was; sorted in each part."""
    offsets: Ints
    rows: Ints
    """`offsets` and `rows`: (images + 1,), (detections,) int64. Image k has the detections
    ``rows[offsets[k]:offsets[k + 1]]`` of the batch before and, after them, of `made`."""

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


class Components(NamedTuple):
    """Objects and detections that hang together by overlaps; or by the region that they share with
    others, then all objects of the image.

    Attributes
    ----------
    gt, det : (G,), (D,) int64
        The first object of each one's component; -1 of a detection that overlaps none.
    """

    gt: Ints
    det: Ints

    @classmethod
    def of(cls, batch: ImageBatch, measured: Overlaps) -> Components:
        """Find the components of a batch with these overlaps."""
        image, regions = batch.gt.image, batch.gt.regions
        order = np.lexsort((regions, image))
        again = (np.diff(image[order]) == 0) & (np.diff(regions[order]) == 0)
        has_regions = np.zeros(len(batch.names), dtype=bool)
        has_regions[image[order[1:]][again]] = True
        own = np.arange(batch.gt.count)
        gt = np.where(has_regions[image], batch.gt.offsets[:-1][image], own)
        gt, det = spread(gt, measured.gt, measured.det, batch.det.count)
        return cls(gt, np.where(det < batch.gt.count, det, -1))


def spread(label: Ints, gt: Ints, det: Ints, detections: int) -> tuple[Ints, Ints]:
    """Give all objects and detections that hang together by pairs the lowest label among them.

    Parameters
    ----------
    label : (G,) int64
        Of each, an object that hangs together with it, and is not after it.
    gt, det : (p,) int64
    detections : int

    Returns
    -------
    (G,), (detections,) int64
        Of objects; and of detections, G for one without a pair.
    """
    label = label.copy()
    lowest = np.full(detections, len(label), np.int64)
    while True:
        before = label.copy()
        # The lowest label spreads along pairs, from objects to detections and back, until nothing
        # changes.
        np.minimum.at(lowest, det, label[gt])
        np.minimum.at(label, gt, lowest[det])
        label = label[label]  # a label is an object, too: so long chains take few turns
        if (label == before).all():
            return label, lowest


class After(NamedTuple):
    """Repaired images with all or some of their objects, and the overlaps of these.

    Attributes
    ----------
    batch : ImageBatch
    overlaps : Overlaps
    gt, det : (objects,), (detections,) bool
        Which objects and detections of the stack they have.
    """

    batch: ImageBatch
    overlaps: Overlaps
    gt: Bools
    det: Bools


class _Pairs(NamedTuple):
    """Overlaps of all objects of a stack with the detections that repairs have made.

    `gt`, `det` are indices into the stack's; `shapes` are those of `Stack.made`.
    """

    gt: Ints
    det: Ints
    area: Floats
    shapes: shapes.Shapes


def after(stack: Stack, convention: Convention, components: Components | None = None) -> After:
    """Return repaired images and their overlaps.

    Parameters
    ----------
    stack : Stack
    convention : Convention
    components : Components, optional
        Of the batch before by its overlaps of this convention. Given them, the images have only
        the objects and detections of which a repair may change what they are matched with: those
        that hang together with a detection that has come or gone.
    """
    old = overlaps.of(stack.before, convention)
    new, now = _measured(stack, convention), _Places.of(stack)
    if components is None:
        gt, det = np.ones(len(stack.gt_rows), dtype=bool), np.ones(len(stack.rows), dtype=bool)
    else:
        gt, det = _involved(stack, components, new, now)
    batch = _chosen(stack, gt, det)
    gt_shapes, det_shapes = overlaps.shapes_of(stack.before, convention)
    gt_rows, rows = stack.gt_rows[gt], stack.rows[det]
    batch.shapes[convention] = (
        shapes.taken(gt_shapes, gt_rows),
        shapes.taken(shapes.concatenate(det_shapes, new.shapes), rows),
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
    gt_index, det_index = np.cumsum(gt) - 1, np.cumsum(det) - 1
    of_gt = np.concatenate([of_gt, gt_index[new.gt]])
    of_det = det_index[np.concatenate([at[remains], new.det])]
    order = np.lexsort((of_det, of_gt))
    gt_boxes, det_boxes = (shapes.boxes_of(side, convention) for side in (batch.gt, batch.det))
    measured = Overlaps(
        of_gt[order],
        of_det[order],
        np.concatenate([old.area[pair], new.area])[order],
        old.gt_area[gt_rows],
        np.concatenate([old.det_area, shapes.area(new.shapes)])[rows],
        gt_boxes,
        det_boxes,
    )
    return After(batch, measured, gt, det)


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


def _measured(stack: Stack, convention: Convention) -> _Pairs:
    """Measure the detections that repairs have made; the shapes of objects are those before."""
    before, place = stack.before, np.flatnonzero(stack.is_made)
    row, gt_rows = stack.rows[place] - before.det.count, stack.gt_rows
    names = [before.names[k] for k in stack.image.tolist()]
    gt, det = overlaps.touching_boxes(
        shapes.boxes_of(before.gt, convention)[gt_rows],
        stack.gt_offsets,
        shapes.boxes_of(stack.made, convention)[row],
        np.searchsorted(place, stack.offsets),
        names,
    )
    made = shapes.from_objects(stack.made, convention)
    pairs = shapes.Pairs(overlaps.shapes_of(before, convention)[0], gt_rows[gt], made, row[det])
    overlaps.refuse_intricate(names, stack.gt_offsets, gt, pairs)
    area = shapes.pair_area(*pairs[:4])
    overlap = area > 0
    return _Pairs(gt[overlap], place[det[overlap]], area[overlap], made)


def _involved(
    stack: Stack, components: Components, new: _Pairs, now: _Places
) -> tuple[Bools, Bools]:
    """Return which objects and detections hang together with a detection that has come or gone."""
    before, images = stack.before, np.arange(len(stack.image))
    # Object g of the batch before is the object g + shift of image k of the stack.
    shift = stack.gt_offsets[:-1] - before.gt.offsets[stack.image]
    first = components.gt[stack.gt_rows] + shift[_image(stack.gt_offsets)]
    is_changed = np.zeros(len(first), dtype=bool)
    is_changed[first[new.gt]] = True
    gone = np.flatnonzero(now.place < 0)
    image = np.repeat(images, np.diff(before.det.offsets)[stack.image])[gone]
    of_gone = components.det[gone - now.shift[image]]
    is_changed[(of_gone + shift[image])[of_gone >= 0]] = True
    det = stack.is_made
    stays = np.flatnonzero(~det)
    of_det = components.det[stack.rows[stays]]
    linked = of_det >= 0
    stays, of_det = stays[linked], of_det[linked]
    det[stays] = is_changed[of_det + shift[_image(stack.offsets)[stays]]]
    return is_changed[first], det


def _chosen(stack: Stack, gt: Bools, det: Bools) -> ImageBatch:
    """Return the images of a stack with some of their objects and detections."""
    before, image = stack.before, stack.image
    lines, in_detections = before.gt_lines, before.in_detections
    return replace(
        before,
        names=[before.names[k] for k in image.tolist()],
        sizes=before.sizes[image],
        gt=take(before.gt, stack.gt_rows[gt], offsets_of(gt)[stack.gt_offsets]),
        det=take(
            concatenate([before.det, stack.made]),
            stack.rows[det],
            offsets_of(det)[stack.offsets],
        ),
        in_detections=None if in_detections is None else np.ones(len(image), dtype=bool),
        gt_lines=None if lines is None else take_images(lines, image),
    )
