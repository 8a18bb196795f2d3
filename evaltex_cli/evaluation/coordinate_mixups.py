"""Why two sides do not agree: coordinates swapped, sizes read as corners, another scale, images
shifted by one.

Each supposition is tried: the boxes of one side are read again, and the agreement of both sides is
measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from evaltex_cli.errors import InputError
from evaltex_cli.evaluation import pairing
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.sizes import IN_FRACTIONS
from evaltex_cli.geometry import overlaps
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Objects, Outlines
from evaltex_cli.records.rows import take

SAMPLE_IMAGES = 300
SAMPLE_OBJECTS = 100
"""Objects of the ground truth of one image that are looked at, spread over all of them."""
SAMPLE_DETECTIONS = 3000
SAMPLE_PAIRS = 1_000_000
"""Pairs of objects and detections that are looked at, as long as it is more than one image."""
LEAST_AGREEMENT = 0.2
LEAST_GAIN = 0.15
_NOTICEABLE = 0.05
"""A less simple supposition must be better by this than one tried before."""
_CLEAR_DIFFERENCE = 0.25
"""Shares of two sides that differ by this distinguish the sides."""
_BOXES = Convention(as_boxes=True)
_STRETCHES = (0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2)
_TINY = 1e-12
"""Coordinates and factors up to this are as good as 0: divided by them, others overflow."""


@dataclass(frozen=True, slots=True)
class Misreading:
    """What would make the sides agree."""

    reading: str
    """How they would have to be read."""
    before: float
    after: float
    """`before` and `after`: `agreement` as they are read, and so."""

    def __str__(self) -> str:
        return f"{self.reading} (mean best IoU {self.before:.2f} as read, {self.after:.2f} so)"


def sample(gt: Source, det: Source, paired: Ints, most: int = SAMPLE_IMAGES) -> ImageBatch:
    """Read the first images that both sides have; what is wrong in them is passed over.

    Parameters
    ----------
    gt, det : Source
    paired : (images,) int64
        Position in `det` of each image of `gt`; `pairing.NO_DETECTIONS` where it has none.
    most : int
        Images that are read at most.

    Raises
    ------
    InputError
        When coordinates are fractions of the page.
    """
    positions = np.flatnonzero(paired != pairing.NO_DETECTIONS)[:most]
    ours, theirs = gt.part(positions), det.part(paired[positions])
    if ours.fractions is not None or theirs.fractions is not None:
        raise InputError(" instead of ".join(reversed(IN_FRACTIONS)))
    objects, detections = (
        _thinned(ours.objects, SAMPLE_OBJECTS),
        _thinned(theirs.objects, SAMPLE_DETECTIONS),
    )
    pairs = np.cumsum(np.diff(objects.offsets) * np.diff(detections.offsets))
    images = max(int(np.searchsorted(pairs, SAMPLE_PAIRS, side="right")), 1)
    return ImageBatch(
        [gt.names[k] for k in positions[:images].tolist()],
        ours.sizes[:images],
        _first(objects, images),
        _first(detections, images),
    )


def _thinned(objects: Objects, most: int) -> Objects:
    """Keep at most so many objects of each image, spread over all of them."""
    counts = np.diff(objects.offsets)
    if (counts <= most).all():
        return objects
    rank = np.arange(objects.count) - np.repeat(objects.offsets[:-1], counts)
    most_of = np.repeat(np.minimum(counts, most), counts)
    return take(
        objects,
        rank * most_of // counts[objects.image] != (rank - 1) * most_of // counts[objects.image],
    )


def _first(objects: Objects, images: int) -> Objects:
    """The objects of the first images."""
    offsets = objects.offsets[: images + 1]
    return (
        objects
        if images == len(objects.offsets) - 1
        else take(objects, np.arange(offsets[-1]), offsets)
    )


def agreement(batch: ImageBatch) -> float:
    """Mean, over the objects of the ground truth, of the best IoU of its
    bounding box with a detection's.
    """
    return float(_best_iou(batch)[1].mean()) if batch.gt.count else 0.0


def best_misreading(batch: ImageBatch) -> Misreading | None:
    """Return the supposition under which the sides agree much better; None where there is none.

    It must bring the agreement to `LEAST_AGREEMENT`, and raise it by `LEAST_GAIN`.
    """
    if not batch.gt.count or not batch.det.count:
        return None
    before = agreement(batch)
    best: Misreading | None = None
    for reading, supposed in _suppositions(batch):
        after = agreement(supposed)
        if after >= max(
            LEAST_AGREEMENT, before + LEAST_GAIN, best.after + _NOTICEABLE if best else 0.0
        ):
            best = Misreading(reading, before, after)
    return best


def _suppositions(batch: ImageBatch) -> Iterator[tuple[str, ImageBatch]]:
    """Yield readings, and the batch so read; the simplest first."""
    where = _more_upright(batch)
    yield f"x and y are swapped {where}", replace(batch, det=_with_boxes(batch.det, _swapped))
    for reading, read in _BOX_READINGS:
        yield reading.format("detections"), replace(batch, det=_with_boxes(batch.det, read))
        yield reading.format("ground truth"), replace(batch, gt=_with_boxes(batch.gt, read))
    heights = batch.sizes[:, 0]
    if (heights > 0).all():
        top = heights[batch.det.image]
        yield (
            "y counts from the bottom of the picture on one side",
            replace(batch, det=_with_boxes(batch.det, lambda boxes: _upside_down(boxes, top))),
        )
    for step in (1, -1):
        which = "the image before" if step == 1 else "the image after"
        yield (
            (
                f"the detections named for one image are those of {which}: the numbers are shifted"
                " by one"
            ),
            replace(batch, det=_shifted(batch.det, -step)),
        )
    yield from _scaled(batch)


def _more_upright(batch: ImageBatch) -> str:
    """On which side x and y are swapped, if on one: where boxes leave the
    pictures, or words are higher than wide.
    """
    outside, upright = (
        [measure(side, batch.sizes) for side in (batch.gt, batch.det)] for measure in _TURNED
    )
    (gt, det) = outside if abs(outside[0] - outside[1]) >= _CLEAR_DIFFERENCE else upright
    if abs(gt - det) < _CLEAR_DIFFERENCE:
        return "on one side"
    return "in the ground truth" if gt > det else "in the detections"


def _share_outside(objects: Objects, sizes: Floats) -> float:
    """Share of objects beyond the pictures whose size is known."""
    corner = sizes[objects.image][:, ::-1]
    known = (corner > 0).all(axis=1)
    beyond = np.asarray((objects.boxes[:, 2:] > corner + 1).any(axis=1))
    return float(beyond[known].mean()) if known.any() else 0.0


def _share_upright(objects: Objects, _: Floats) -> float:
    """Share of objects that are higher than wide."""
    width, height = (objects.boxes[:, 2:] - objects.boxes[:, :2]).T
    return float((height > width).mean()) if objects.count else 0.0


_TURNED = (_share_outside, _share_upright)


def _swapped(boxes: Floats) -> Floats:
    return boxes[:, [1, 0, 3, 2]]


def _as_corners(boxes: Floats) -> Floats:
    """The width and height that were read are x1 and y1."""
    return np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)


def _as_centre(boxes: Floats) -> Floats:
    half: Floats = (boxes[:, 2:] - boxes[:, :2]) / 2
    return boxes - np.tile(half, 2)


def _upside_down(boxes: Floats, top: Floats) -> Floats:
    return np.column_stack([boxes[:, 0], top - boxes[:, 3], boxes[:, 2], top - boxes[:, 1]])


_BOX_READINGS: tuple[tuple[str, Callable[[Floats], Floats]], ...] = (
    ("the last two numbers of a box in the {} are x1,y1 rather than width,height", _as_corners),
    ("the first two numbers of a box in the {} are its centre rather than its corner", _as_centre),
)


def _with_boxes(objects: Objects, read: Callable[[Floats], Floats]) -> Objects:
    """The bounding boxes alone, read otherwise; those that come out inverted have no area."""
    boxes = read(objects.boxes)
    boxes = np.concatenate([boxes[:, :2], np.maximum(boxes[:, :2], boxes[:, 2:])], axis=1)
    return replace(objects, outlines=Outlines.of_boxes(boxes))


def _shifted(objects: Objects, step: int) -> Objects:
    """Give each image the objects of its neighbour; the last, or the first, gets none."""
    offsets = objects.offsets
    if step > 0:
        offsets = np.concatenate([np.zeros(1, np.int64), offsets[:-1]])
    else:
        offsets = np.concatenate([offsets[1:], offsets[-1:]])
    return take(objects, np.arange(offsets[0], offsets[-1]), offsets - offsets[0])


def _scaled(batch: ImageBatch) -> Iterator[tuple[str, ImageBatch]]:
    """Suppose another scale of the detections: one for all images, that of
    resized pictures, one per image and axis.
    """
    both = (np.diff(batch.gt.offsets) > 0) & (np.diff(batch.det.offsets) > 0)
    if not both.any():
        return
    factor = _scale(batch, both)
    if factor is not None:
        yield (
            f"the detections are of another scale: they fit when multiplied by about {_xy(factor)}",
            _times(batch, factor),
        )
    widths = batch.sizes[:, ::-1]
    if (widths > 0).all():
        relative = _times(batch, widths)
        yield "the detections are fractions of the picture's width and height, not pixels", relative
        factor = _scale(relative, both)
        if factor is not None:
            width, height = np.rint(1 / factor).tolist()
            resized = f"the detections are of pictures resized to about {width:.0f} x {height:.0f}"
            yield resized, _times(batch, widths * factor)
    ratios = np.where(both[:, None], _centre_ratios(batch), 1.0)
    yield (
        "the detections are of another scale in each image (of resized pictures?)",
        _times(batch, ratios),
    )


def _xy(factor: Floats) -> str:
    x, y = factor.tolist()
    return _factor(x) if abs(x / y - 1) < 0.02 else f"{_factor(x)} (x) and {_factor(y)} (y)"


def _factor(value: float) -> str:
    """Three digits of a number, or all of a large one, as people write them: 0.5, 1,280."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _scale(batch: ImageBatch, both: Bools) -> Floats | None:
    """(2,) factors of x and y that bring the detections to the objects, from
    the images in which there are both.
    """
    factor = np.median(_centre_ratios(batch)[both], axis=0)
    rough = max((_times(batch, factor * stretch) for stretch in _STRETCHES), key=agreement)
    return _fitted(batch, rough)


def _centre_ratios(batch: ImageBatch) -> Floats:
    ratios: Floats = _mean_centres(batch.gt) / np.maximum(_mean_centres(batch.det), _TINY)
    return ratios


def _mean_centres(objects: Objects) -> Floats:
    """(images, 2) mean of the boxes' centres; 0 without any."""
    centres = (objects.boxes[:, :2] + objects.boxes[:, 2:]) / 2
    images = len(objects.offsets) - 1
    sums = np.column_stack(
        [np.bincount(objects.image, centres[:, axis], images) for axis in (0, 1)]
    )
    means: Floats = sums / np.maximum(np.diff(objects.offsets), 1)[:, None]
    return means


def _times(batch: ImageBatch, factor: Floats) -> ImageBatch:
    """Multiply the detections by (2,) or (images, 2) factors of x and y."""
    own = factor if factor.ndim == 1 else factor[batch.det.image]
    return replace(batch, det=_with_boxes(batch.det, lambda boxes: boxes * np.tile(own, 2)))


def _fitted(batch: ImageBatch, rough: ImageBatch) -> Floats | None:
    """(2,) scale by which the detections that best overlap objects, roughly
    scaled, come nearest to these.
    """
    det, best = _best_iou(rough)
    overlapping = np.flatnonzero(best > 0)
    theirs = batch.det.boxes[det[overlapping]].reshape(-1, 2, 2)
    ours = batch.gt.boxes[overlapping].reshape(-1, 2, 2)
    usable = theirs > _TINY
    if not usable.any(axis=(0, 1)).all():
        return None
    ratios = np.where(usable, ours / np.where(usable, theirs, 1.0), np.nan)
    # Over boxes and both corners; coordinates of 0 have no ratio.
    factor = np.nanmedian(ratios, axis=(0, 1))
    return factor if (factor > _TINY).all() else None


def _best_iou(batch: ImageBatch) -> tuple[Ints, Floats]:
    """Best detection of each object of the ground truth, -1 for none, and the
    IoU of their bounding boxes.
    """
    measured = overlaps.measure(replace(batch, gt_runs=None, det_runs=None), _BOXES)
    iou = measured.area / (
        measured.gt_area[measured.gt] + measured.det_area[measured.det] - measured.area
    )
    order = np.argsort(iou, kind="stable")
    det, best = np.full(batch.gt.count, -1), np.zeros(batch.gt.count)
    # Assigned by rising IoU: of several values for one object the last, the best, remains.
    det[measured.gt[order]], best[measured.gt[order]] = measured.det[order], iou[order]
    return det, best
