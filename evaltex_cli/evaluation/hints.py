"""What was probably not meant so, and what to do: one function for each mistake.

`of_faults` looks at inputs that cannot be evaluated, `suspicions` and `repeated_objects` at all
others, `best_misreading` at coordinates; `explained` makes warnings of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.evaluation.evaluation import AMOUNTS, Evaluation
from evaltex_cli.evaluation.pairing import listed_pairs, numbers, would_pair
from evaltex_cli.formats.base import DONT_CARE, Side, Source
from evaltex_cli.formats.names import parts_of
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import read
from evaltex_cli.geometry import overlaps
from evaltex_cli.records import (
    Convention,
    Floats,
    ImageBatch,
    Ints,
    Objects,
    Outlines,
    Texts,
    repeated,
    take,
)

TITLES: dict[Side, str] = {"det": "detections", "gt": "ground truth"}


class Mistake(NamedTuple):
    """One suspicion; `kind` as in `validation.findings.Problem`."""

    side: Side
    kind: str
    found: str
    advice: str


# Faults of an input -------------------------------------------------------------------------------

_UNKNOWN_IMAGE = "is not in the ground truth"
_BOTH_SIDES = (_UNKNOWN_IMAGE, "coordinates that are fractions of the page")
"""Faults of the two sides together, which can be read."""


def of_faults(
    faults: FaultLog, gt: Source, det: Source, paired: Ints, options: InputOptions
) -> Iterator[str]:
    """Yield what the faults of both sides look like."""
    kinds = faults.kinds()
    are_read = all(any(words in same[0].found for words in _BOTH_SIDES) for same in kinds)
    if not are_read and options.masks is None and _read_swapped(gt, det, options):
        order = "give the ground truth first, then the detections"
        yield f"each side reads well as the other one; {order}"
        return
    yield from of_lines(faults, gt, det)
    unknown = [len(same) for same in kinds if _UNKNOWN_IMAGE in same[0].found]
    if unknown and all("UTF-8" not in same[0].expected for same in kinds):  # names are text, too
        yield from _names(gt, det, paired, unknown[0])


def _read_swapped(gt: Source, det: Source, options: InputOptions) -> bool:
    """Whether both inputs are read without a fault as the other side."""
    log = FaultLog()
    gt_options = replace(options, gt_format=options.det_format, gt_level=options.det_level)
    det_options = replace(options, det_format=options.gt_format, det_level=options.gt_level)
    try:
        ours = read(Path(det.path), "gt", gt_options, log)
        theirs = read(Path(gt.path), "det", det_options, log)
    except InputError:
        return False
    return not log and bool(set(ours.names) & set(theirs.names))


def of_lines(faults: FaultLog, *sources: Source) -> Iterator[str]:
    """Yield that boxes are of width and height, if more boxes are inverted than read well."""
    for same in faults.kinds():
        read_well = max(one.objects.count * same[0].file.startswith(one.path) for one in sources)
        if same[0].found.startswith("a box from ") and len(same) >= read_well:
            yield (
                f"{len(same)} boxes look like x,y,width,height; write x,y,x+width,y+height. If"
                " they are of two corners, write the upper left one first"
            )


def _names(gt: Source, det: Source, paired: Ints, unknown: int) -> Iterator[str]:
    """Yield how the names that only the detections have would pair if they were spelled alike."""
    known, count = set(gt.names), len(det.names)
    missing = [gt.names[k] for k in np.flatnonzero(paired < 0).tolist()]
    pairs = would_pair(missing, [name for name in det.names if name not in known])
    if pairs:
        by = " or ".join(f"by {what}" for what in dict.fromkeys(what for _, what in pairs.values()))
        renamed = listed_pairs({theirs: ours for ours, (theirs, _) in pairs.items()}, "to")
        yield (
            f"of the {unknown} names {len(pairs)} would pair {by}; spell the names alike on both"
            f" sides: rename {renamed}"
        )
    elif how := _off_by_one(gt.names, det.names):
        yield (
            f"all {count} image names of the detections would be in the ground truth if their"
            f" numbers were {how} by one; does one side count from 0, and the other from 1?"
        )
    elif 2 * unknown >= count > 1:
        yield (
            f"{unknown} of {count} images of the detections are not in the ground truth; do"
            " both sides belong to the same part of the same data set?"
        )


def _off_by_one(gt: Sequence[str], det: Sequence[str]) -> str:
    """Say whether all names pair if the last number is ``higher`` or ``lower``; else nothing."""
    known = set(map(numbers, gt))
    for how, step in (("higher", 1), ("lower", -1)):
        moved = {(*own[:-1], str(int(own[-1]) + step)) for own in map(numbers, det) if own}
        if 1 < len(moved) == len(det) and moved <= known:
            return how
    return ""


# Inputs that are read well ------------------------------------------------------------------------

SAMPLE_IMAGES, SIGN_IMAGES = 300, 100
"""How many images are looked at, and at the names, texts and numbers of how many."""
_MOST, _FEWEST = 0.95, 5
"""A sign takes this share of all names or texts; fewer texts and boxes may be so by chance."""
_UNIT = r"0?[.,][0-9]+|1[.,]0*"


def suspicions(gt: Source, det: Source | None = None) -> list[Mistake]:
    """Return what looks like a mistake in the first images, whatever the scores are."""
    inputs: dict[Side, Source] = {"gt": gt} if det is None else {"gt": gt, "det": det}
    sides = {
        side: one.part(np.arange(len(one.names))[:SIGN_IMAGES]) for side, one in inputs.items()
    }
    swapped = [] if det is None else list(_swapped_sides(*sides.values()))
    numbers = chain.from_iterable(_misread_numbers(*side) for side in sides.items())
    return [*swapped, *numbers, *([] if swapped else _texts_that_are_numbers(sides))]


def _swapped_sides(gt: Source, det: Source) -> Iterator[Mistake]:
    """Yield what belongs to one side and is found on the other one alone."""
    result, truth = _first_with("res_", gt), _first_with("gt_", det)
    ignored = sum(text == DONT_CARE for text in det.objects.texts)
    signs = {
        f"the images of the ground truth are named res_... ({quote(result)}), as results are": (
            result and not _first_with("res_", det)
        ),
        f"those of the detections are named gt_... ({quote(truth)}), as ground truth is": (
            truth and not _first_with("gt_", gt)
        ),
        "the ground truth is a list of COCO results": gt.format == "coco-res" != det.format,
        "all detections have the text 'CARE', as the ground truth of CTW1500 has": (
            det.objects.count
            and all(text == "CARE" for text in det.objects.texts)
            and not any(text == "CARE" for text in gt.objects.texts)
        ),
        "the ground truth has confidences, and the detections have none": (
            _has_confidences(gt.objects) and not _has_confidences(det.objects)
        ),
        f"{ignored} detections are {quote(DONT_CARE)}, and no object of the ground truth is don't"
        " care": ignored and not gt.objects.dont_care.any(),
    }
    shown = "; ".join(sign for sign, holds in signs.items() if holds)
    if shown:
        found = f"ground truth and detections may have been swapped: {shown}"
        yield Mistake("gt", "swapped-sides", found, "give the ground truth first")


def _first_with(prefix: str, source: Source) -> str:
    """Return the first name of an image, as in the input, if most begin so; else nothing."""
    names: Sequence[str] = [file for file in source.files if file != source.path] or source.names
    if isinstance(source.objects.places, Texts) and source.format == "art":
        names = source.objects.places
    names = [parts_of(name)[-1] for name in names]
    marked = sum(name.lower().removeprefix("poly_").startswith(prefix) for name in names)
    return names[0] if marked and marked >= _MOST * len(names) else ""


def _has_confidences(objects: Objects) -> bool:
    """Whether objects have confidences, be they read as transcriptions."""
    if objects.confidences is not None:
        return bool((~np.isnan(objects.confidences)).any())
    decimals = sum(bool(re.match(r"(?a)(?:0?\.[0-9]+|1\.0*)", text)) for text in objects.texts)
    return decimals >= max(3, _MOST * objects.count)  # fewer may be prices


def _misread_numbers(side: Side, source: Source) -> Iterator[Mistake]:
    """Yield that fractions of the page are read as pixels, or confidences as something else."""
    boxes, texts = source.objects.boxes, _texts(source)
    if len(boxes) > 2 and _are_shares(source, boxes):
        found = "all coordinates are in [0, 1], and are read as pixels"
        advice = "if they are fractions of the page, multiply them by its width and height"
        yield Mistake(side, "coordinates", found, advice)
    if len(boxes) >= _FEWEST and boxes[:, 2].min() > 1 and _are_shares(source, boxes[:, 0]):
        found = "the first coordinate of all boxes is in [0, 1]"
        advice = "if it is a confidence, write it after the coordinates"
        yield Mistake(side, "confidences", found, advice)
    if side == "det" and _all_match(rf"(?as).*,\s*(?:{_UNIT})", texts):
        found = f"all transcriptions end in a number from 0 to 1, such as {quote(texts[0])}"
        advice = "if it is a confidence, write it before the text"
        yield Mistake(side, "confidences", found, advice)


def _are_shares(source: Source, values: Floats) -> bool:
    """Whether coordinates that are read as pixels are from 0 to 1, and not all whole."""
    shares = 0 <= values.min() <= values.max() <= 1
    return bool(source.fractions is None and shares and (values % 1).any())


def _texts_that_are_numbers(sides: Mapping[Side, Source]) -> Iterator[Mistake]:
    """Yield that all texts of one side are numbers; on both they may be prices, house numbers."""
    texts = {side: _texts(source) for side, source in sides.items()}
    numbered = [side for side, own in texts.items() if _all_match(r"[-+]?\d*[.,]?\d+", own)]
    for side in numbered if len(numbered) < 2 else ():
        if not any("read as transcription" in warning for warning in sides[side].warnings):
            what = "" if _all_match(_UNIT, texts[side]) else "IDs, classes or "
            found = f"all transcriptions are numbers, such as {quote(texts[side][0])}"
            yield Mistake(side, "texts", found, f"are they {what}confidences, not texts?")


def _texts(source: Source) -> list[str]:
    """Return the texts of objects, without those that are empty or don't care."""
    return [text for text in source.objects.texts if text and text != DONT_CARE]


def _all_match(pattern: str, texts: Sequence[str]) -> bool:
    return len(texts) >= _FEWEST and all(re.fullmatch(pattern, text) for text in texts)


def repeated_objects(side: Side, source: Source) -> Iterator[str]:
    """Yield a warning if many objects have the outline of an earlier object of their image."""
    objects = source.objects
    pairs = [*repeated(objects)]
    if len(pairs) >= max(3, 0.1 * objects.count):
        row, earlier = pairs[0]
        image = quote(source.names[int(objects.image[row])])
        yield (
            f"{TITLES[side]}: {len(pairs)} of {objects.count} objects have the same box or polygon"
            f" as an earlier object of their image (object {objects.ids[row]} as object"
            f" {objects.ids[earlier]} in image {image}); each of them counts, so remove what is"
            " there twice (`evaltex validate` lists all)"
        )


# Coordinates that were read in another way --------------------------------------------------------

SAMPLE_OBJECTS = 5000
"""How many objects of the ground truth are compared."""
LEAST_AGREEMENT, LEAST_GAIN, _NOTICEABLE, _MUCH_BETTER = 0.2, 0.15, 0.05, 0.2
"""Another reading must bring the agreement to this, and raise it by this; a less simple one must be
better by the third than one tried before, and one by image by the last than all others."""
_TINY = 1e-12
"""Coordinates and factors up to this are as good as 0: divided by them, others overflow."""
_NO_BOXES = np.zeros((0, 4))
Readings: TypeAlias = Iterator[tuple[str, ImageBatch]]
"""Another reading of the coordinates in words, and the batch so read."""


def sample(gt: Source, det: Source, paired: Ints) -> ImageBatch:
    """Return the first images of both sides, with objects spread over all where there are many."""
    positions = np.flatnonzero(paired >= 0)[:SAMPLE_IMAGES]
    ours, theirs = gt.part(positions), det.part(paired[positions])
    step = ours.objects.count // SAMPLE_OBJECTS + 1
    objects = take(ours.objects, np.arange(ours.objects.count) % step == 0)
    return ImageBatch(ours.names, ours.sizes, objects, theirs.objects)


def agreement(batch: ImageBatch) -> float:
    """Return the mean, over the objects, of the best IoU of bounding boxes with a detection."""
    return float(_best_iou(batch)[1].mean()) if batch.gt.count else 0.0


def _counting(batch: ImageBatch) -> ImageBatch:
    """Return a batch without its don't-care objects, unless all are."""
    counts = ~batch.gt.dont_care
    return replace(batch, gt=take(batch.gt, counts)) if counts.any() else batch


def best_misreading(batch: ImageBatch) -> tuple[str, float]:
    """Return the simplest reading under which the sides agree much better, and how much, if any."""
    if not batch.gt.count or not batch.det.count:
        return "", 0.0
    batch = _counting(batch)
    mistakes = (
        *(_swapped_axes, _other_numbers, _from_the_bottom, _shifted_images, _scaled, _shares),
        *(_moved, _margins),
    )
    readings = chain.from_iterable(mistake(batch) for mistake in mistakes)
    agreeing = ((reading, agreement(supposed)) for reading, supposed in readings)
    best, by_image = _best(agreeing, agreement(batch), LEAST_AGREEMENT), _misread_by_image(batch)
    return by_image if by_image[1] >= best[1] + _MUCH_BETTER else best


def _best(readings: Iterable[tuple[str, float]], before: float, least: float) -> tuple[str, float]:
    """Return the reading that agrees best, and how much; a later one must be noticeably better than
    one before it, and the first at least so good, and much better than as read, `before`.
    """
    best, least = ("", 0.0), max(least, before + LEAST_GAIN)
    for reading, after in readings:
        if after >= least:
            words = f"{reading} (mean best IoU {before:.2f} as read, {after:.2f} so)"
            best, least = (words, after), after + _NOTICEABLE
    return best


def _swapped_axes(batch: ImageBatch) -> Readings:
    """Swap x and y; the side is known if its words are clearly more often higher than wide."""
    sizes = [side.boxes[:, 2:] - side.boxes[:, :2] for side in (batch.gt, batch.det)]
    gt, det = (float((height > width).mean()) for width, height in (size.T for size in sizes))
    where = "on one side"
    if abs(gt - det) >= 0.25:
        where = f"in the {TITLES['gt' if gt > det else 'det']}"
    yield f"x and y are swapped {where}", _with(batch, "det", batch.det.boxes[:, [1, 0, 3, 2]])


def _other_numbers(batch: ImageBatch) -> Readings:
    """Take what was read as width and height for a corner, and a corner for the centre."""
    for side, title in TITLES.items():
        boxes = getattr(batch, side).boxes
        corner, size = boxes[:, :2], boxes[:, 2:] - boxes[:, :2]
        numbers_are = f"two numbers of a box in the {title} are"
        as_sizes = _with(batch, side, np.hstack([corner, size]))
        yield f"the last {numbers_are} x1,y1 rather than width,height", as_sizes
        centred = _with(batch, side, boxes - np.tile(size / 2, 2))
        yield f"the first {numbers_are} its centre rather than its corner", centred


def _from_the_bottom(batch: ImageBatch) -> Readings:
    heights, det = batch.sizes[:, 0], batch.det.boxes
    if (heights > 0).all():
        turned = np.where([0, 1, 0, 1], heights[batch.det.image, None] - det[:, [0, 3, 2, 1]], det)
        yield "y counts from the bottom of the picture on one side", _with(batch, "det", turned)


def _shifted_images(batch: ImageBatch) -> Readings:
    """Give each image the detections of its neighbour; the last, or the first, gets none."""
    own = batch.det.offsets
    after, before = np.append(own[1:], own[-1]), np.append(0, own[:-1])
    for which, offsets in (("before", after), ("after", before)):
        det = take(batch.det, np.arange(offsets[0], offsets[-1]), offsets - offsets[0])
        reading = f"the detections named for one image are those of the image {which}"
        yield f"{reading}: the numbers are shifted by one", replace(batch, det=det)


def _scaled(batch: ImageBatch) -> Readings:
    factor = _scale(batch)
    if factor is not None:
        x, y = (f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in factor.tolist())
        shown = x if abs(factor[0] / factor[1] - 1) < 0.02 else f"{x} (x) and {y} (y)"
        reading = f"another scale: they fit when multiplied by about {shown}"
        yield f"the detections are of {reading}", _times(batch, factor)


def _shares(batch: ImageBatch) -> Readings:
    """Take the detections for fractions of the pictures, or of resized pictures."""
    widths = batch.sizes[:, ::-1]
    if (widths > 0).all():
        relative = _times(batch, widths)
        yield "the detections are fractions of the picture's width and height, not pixels", relative
        factor = _scale(relative)
        if factor is not None:
            width, height = np.rint(1 / factor).tolist()
            reading = f"pictures resized to about {width:.0f} x {height:.0f}"
            yield f"the detections are of {reading}", _times(batch, widths * factor)


def _moved(batch: ImageBatch) -> Readings:
    """Move all detections by the distance that most pairs of an image have, if many have it."""
    images = list(_boxes_by_image(batch, 1))
    ours = np.concatenate([np.repeat(gt, len(det), axis=0) for gt, det in images] or [_NO_BOXES])
    theirs = np.concatenate([np.tile(det, (len(gt), 1)) for gt, det in images] or [_NO_BOXES])
    sizes = (ours[:, 2:] - ours[:, :2] + 1) / (theirs[:, 2:] - theirs[:, :2] + 1)
    is_alike = (np.abs(np.log(sizes)) < np.log(1.3)).all(axis=1)
    distances = (ours - theirs)[is_alike].reshape(-1, 2, 2).mean(axis=1)
    if len(distances):
        cells, counts = np.unique(np.rint(distances / _CELL), axis=0, return_counts=True)
        near = (np.abs(distances - cells[counts.argmax()] * _CELL) <= _CELL).all(axis=1)
        moved = np.median(distances[near], axis=0)
        x, y = (f"{value:.0f}" for value in moved.tolist())
        reading = f"the detections are moved: they fit when {x} (x) and {y} (y) are added"
        boxes = batch.det.boxes + np.tile(moved, 2)
        yield f"{reading}; were the pictures padded or cropped?", _with(batch, "det", boxes)


def _margins(batch: ImageBatch) -> Readings:
    """Take from each side of the detections a share of their height, as their objects have it."""
    det, best = _best_iou(batch)
    boxes, usable = batch.det.boxes, best > 0
    if usable.any():
        heights = boxes[:, 3] - boxes[:, 1]
        ours, theirs = batch.gt.boxes[usable], boxes[det[usable]]
        more = (theirs[:, 3] - theirs[:, 1]) - (ours[:, 3] - ours[:, 1])
        share = float(np.median(more / np.maximum(heights[det[usable]], 1)) / 2)
        inner = boxes + share * heights[:, None] * [1, 1, -1, -1]
        reading = f"the detections are padded by about {share:.2f} of their height on each side"
        if share > 0:
            yield reading, _with(batch, "det", inner)


def _scale(batch: ImageBatch) -> Floats | None:
    """(2,) factors of x and y that bring the detections to the objects; None if there are none."""
    sides = (side.boxes.reshape(-1, 2, 2).mean(axis=1) for side in (batch.gt, batch.det))
    ours, theirs = (np.median(centres, axis=0) for centres in sides)
    factor = ours / np.maximum(theirs, _TINY)
    stretches = (0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2)
    rough = max((_times(batch, factor * stretch) for stretch in stretches), key=agreement)
    det, best = _best_iou(rough)
    theirs = batch.det.boxes[det]
    usable = (best > 0) & (theirs > _TINY).all(axis=1)
    if not usable.any():
        return None
    ratios = batch.gt.boxes[usable] / theirs[usable]
    factor = np.median(ratios.reshape(-1, 2), axis=0)  # of both corners
    return factor if (factor > _TINY).all() else None


def _times(batch: ImageBatch, factor: Floats) -> ImageBatch:
    """Multiply the detections by (2,) or (images, 2) factors of x and y."""
    own = np.broadcast_to(factor, batch.sizes.shape)[batch.det.image]
    return _with(batch, "det", batch.det.boxes * np.tile(own, 2))


def _with(batch: ImageBatch, side: Side, boxes: Floats) -> ImageBatch:
    """Return a batch with other boxes of a side; those that come out inverted have no area."""
    boxes = np.hstack([boxes[:, :2], np.maximum(boxes[:, :2], boxes[:, 2:])])
    objects: Objects = getattr(batch, side)
    changed: Any = {side: replace(objects, outlines=Outlines.of_boxes(boxes))}
    return replace(batch, **changed)


# Coordinates that were changed in another way in each image ---------------------------------------

_FEWEST_OBJECTS, _MOST_OBJECTS, _LEAST_FIT = 3, 12, 0.4
"""Images with fewer objects would fit by chance; of the others some of the objects are enough."""
_CELL = 8.0
"""Distances are counted in cells of this width, in pixels."""
_Fit: TypeAlias = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""Factors of x and y, and what is added to both, by which one box becomes another."""


def _centre(boxes: Floats) -> Floats:
    return (boxes[..., :2] + boxes[..., 2:]) / 2


def _resized_and_moved(ours: Floats, theirs: Floats) -> tuple[Floats, Floats]:
    """Take the factor of both axes from the longer side, which is more exact."""
    sides = (
        (boxes[..., 2:] - boxes[..., :2]).max(axis=-1, keepdims=True) for boxes in (ours, theirs)
    )
    factor = np.divide(*sides)
    return factor, _centre(ours) - factor * _centre(theirs)


_BY_IMAGE: dict[str, _Fit] = {
    "the detections have another scale in each image, as on a grid of 0 to 1000 or in pictures that"
    " were resized": lambda ours, theirs: (_centre(ours) / _centre(theirs), np.zeros(2)),
    "y is flipped on one side: it counts from the bottom of the picture": lambda ours, theirs: (
        np.array([1.0, -1.0]),
        (_centre(ours) + _centre(theirs)) * [0, 1],
    ),
    "x is mirrored on one side: it counts from the right of the picture": lambda ours, theirs: (
        np.array([-1.0, 1.0]),
        (_centre(ours) + _centre(theirs)) * [1, 0],
    ),
    "the detections are moved in each image, as in pictures that were padded or cropped": (
        lambda ours, theirs: (np.ones(2), _centre(ours) - _centre(theirs))
    ),
    "the detections are resized and moved in each image, as in pictures that were padded to one"
    " size": _resized_and_moved,
}


def _misread_by_image(batch: ImageBatch) -> tuple[str, float]:
    """Return how the detections of each image fit by factors or distances of its own, if they do.

    One pair of an object and a detection gives these, and the other objects of the image say how
    well they fit, so that they do not fit by chance.
    """
    images = list(_boxes_by_image(batch, _FEWEST_OBJECTS))
    if not images:
        return "", 0.0
    weights = [len(gt) for gt, _ in images]
    before = [_box_iou(gt, det).max(axis=1).mean() for gt, det in images]
    fitted = (
        (reading, float(np.average([_fitted(*image, fit) for image in images], weights=weights)))
        for reading, fit in _BY_IMAGE.items()
    )
    return _best(fitted, float(np.average(before, weights=weights)), _LEAST_FIT)


def _boxes_by_image(batch: ImageBatch, fewest: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield boxes of the objects that count, and of the detections, of images that have enough."""
    for k in range(len(batch.names)):
        ours, theirs = (slice(*side.offsets[k : k + 2]) for side in (batch.gt, batch.det))
        gt = batch.gt.boxes[ours][~batch.gt.dont_care[ours]][:_MOST_OBJECTS]
        det = batch.det.boxes[theirs][:_MOST_OBJECTS]
        if min(len(gt), len(det)) >= fewest:
            yield gt, det


def _fitted(gt: Floats, det: Floats, fit: _Fit) -> float:
    """Return the mean best IoU of an image's objects by its best fit, without the object that the
    fit is made of.
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # boxes without area, and at 0
        factor, added = fit(gt[:, None], det[None])
        corners = det.reshape(-1, 2, 2) * factor[..., None, None, :] + added[..., None, None, :]
        boxes = np.concatenate([corners.min(axis=-2), corners.max(axis=-2)], axis=-1)
        best = np.nan_to_num(_box_iou(gt, boxes[..., None, :, :])).max(axis=-1)
    best = np.broadcast_to(best, (len(gt), len(det), len(gt)))
    own = best[np.arange(len(gt)), :, np.arange(len(gt))]
    return float(((best.sum(axis=-1) - own) / (len(gt) - 1)).max())


def _box_iou(gt: Floats, det: Floats) -> Floats:
    """(..., G, D) the IoU of boxes (G, 4) and (..., D, 4)."""
    ours = gt[:, None]
    inner = np.minimum(ours[..., 2:], det[..., 2:]) - np.maximum(ours[..., :2], det[..., :2])
    area = np.maximum(inner, 0).prod(axis=-1)
    both = sum((boxes[..., 2:] - boxes[..., :2]).prod(axis=-1) for boxes in (ours, det))
    return np.asarray(area / np.maximum(both - area, _TINY))


def _best_iou(batch: ImageBatch) -> tuple[Ints, Floats]:
    """(G,) the best detection of each object, -1 for none, and the IoU of their bounding boxes."""
    pairs = overlaps.measure(batch, Convention(as_boxes=True))
    order = np.argsort(pairs.iou(), kind="stable")  # of several for one object the last remains
    partner, best = np.full(batch.gt.count, -1), np.zeros(batch.gt.count)
    partner[pairs.gt[order]], best[pairs.gt[order]] = pairs.det[order], pairs.iou()[order]
    return partner, best


# Lines and words ----------------------------------------------------------------------------------

_INSIDE, _MOST_WORDS = 0.7, 0.5
"""A word has this share of its area in its line; with this share of words that are several in one
shape of the other side, these are lines."""


def _lines_against_words(batch: ImageBatch) -> Iterator[str]:
    """Yield a warning if one side has lines where the other one has words."""
    pairs = overlaps.measure(batch, Convention(as_boxes=True))
    sides: tuple[tuple[Side, Side, Ints, Ints, Floats], ...] = (
        ("gt", "det", pairs.gt, pairs.det, pairs.det_area[pairs.det]),
        ("det", "gt", pairs.det, pairs.gt, pairs.gt_area[pairs.gt]),
    )
    for lines, words, line, word, area in sides:
        inside = pairs.area >= _INSIDE * area
        is_shared = np.bincount(line[inside], minlength=1)[line[inside]] > 1
        several = len(np.unique(word[inside][is_shared]))
        count = getattr(batch, words).count
        if several >= max(_FEWEST, _MOST_WORDS * count):
            yield (
                f"one side may have lines and the other one words: {several} of {count} objects of"
                f" the {TITLES[words]} share a box of the {TITLES[lines]} with others; texts"
                " are compared one to one, so read both sides at one level (--gt-level,"
                " --det-level)"
            )


# Low scores ---------------------------------------------------------------------------------------

LOW, _NEARLY_ZERO = 0.3, 0.02
"""A headline score below the first is low; recall and precision up to the second are almost 0."""
_AGREE, _DISAGREE, _CLEARLY_BETTER = 0.5, 0.4, 0.4
"""Mean best IoU from which boxes agree; below which another reading is looked for, whatever the
score, as some protocols are lenient; and from which, or with twice the least gain, another reading
explains a low score."""


def explained(
    evaluations: Sequence[Evaluation], gt: Source, det: Source, paired: Ints
) -> list[Evaluation]:
    """Add to the warnings what is probably wrong with the inputs, and why scores are low."""
    if not gt.names or not det.names:
        return list(evaluations)
    found, batch, reasons = suspicions(gt, det), sample(gt, det, paired), [""] * len(evaluations)
    if any(map(amount_matched, evaluations)) or agreement(_counting(batch)) < _DISAGREE:
        misread = best_misreading(batch)
        are_swapped = any(one.kind == "swapped-sides" for one in found)
        reasons = [_reason(one, batch, misread, are_swapped) for one in evaluations]
    fractions = [one for one in found if one.kind == "coordinates"]
    if len(fractions) == 1 and any(reasons):
        found.remove(fractions[0])  # the reason says by which factors they fit
    always = []
    for side, kind, text, advice in found:
        path = "" if kind == "swapped-sides" else f"{(gt if side == 'gt' else det).path}: "
        always.append(f"{path}{text}; {advice}")
    if 0 < gt.objects.count == gt.objects.dont_care.sum():
        always.append("every object of the ground truth is don't care, so its scores say nothing")
    result = []
    for one, reason in zip(evaluations, reasons, strict=True):
        own = [*_lines_against_words(batch)] if one.protocol.name == "iou-crw" else []
        warnings = [*one.warnings, *always, *own, *filter(None, [reason])]
        result.append(replace(one, warnings=warnings))
    return result


def _reason(
    evaluation: Evaluation, batch: ImageBatch, misread: tuple[str, float], are_swapped: bool
) -> str:
    """Return why a score is low; nothing if it is not, or the reason is not known."""
    amount, (reading, agree_then) = amount_matched(evaluation), misread
    before = agreement(_counting(batch))
    if not amount and agree_then >= before + _CLEARLY_BETTER / 2:
        amount = AMOUNTS[2]
    is_nearly_zero = amount in AMOUNTS[:2]
    explains = is_nearly_zero or agree_then >= min(_CLEARLY_BETTER, before + 2 * LEAST_GAIN)
    if amount and reading and explains:
        return f"{amount}; {reading}"
    return f"{amount}; {_why(evaluation, batch)}" if is_nearly_zero and not are_swapped else ""


def amount_matched(evaluation: Evaluation) -> str:
    """Return how the warning of a low score begins; empty if the score is not low."""
    scores = evaluation.meaningful_scores
    known = [scores[name] for name in ("recall", "precision") if scores.get(name) is not None]
    if len(known) == 2 and max(known) <= _NEARLY_ZERO:
        return AMOUNTS[1] if max(known) else AMOUNTS[0]
    score = scores.get(evaluation.protocol.main_score)
    return AMOUNTS[2] if isinstance(score, float) and score < LOW else ""


def _why(evaluation: Evaluation, batch: ImageBatch) -> str:
    """Return why nothing matches, if another reading of the coordinates is not why."""
    if not evaluation.gt.objects:
        return "the ground truth has no object"
    if not evaluation.det.objects:
        return "the detections have no object"
    if batch.gt.dont_care.all():
        return "the images with detections have only don't-care objects"
    agree = agreement(batch)
    if agree < _AGREE:
        sides_differ = "no other reading of the coordinates makes both sides agree"
        return f"{sides_differ}; see `evaltex validate GT DET`"
    what = "texts" if "texts" in evaluation.protocol.needs else "rest"
    command = f"`evaltex diagnose GT DET --protocol {evaluation.protocol.name}`"
    return f"the boxes agree (mean best IoU {agree:.2f}), but not the {what}; see {command}"
