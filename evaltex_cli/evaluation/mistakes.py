"""What was probably not meant so: sides swapped, coordinates read in another way, objects that are
there twice. Only the first images of an input are looked at, but for repeated objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import quote
from evaltex_cli.formats.base import DONT_CARE, Side, Source
from evaltex_cli.geometry import overlaps
from evaltex_cli.records import Bools, Convention, Floats, ImageBatch, Ints, Objects, Outlines
from evaltex_cli.records.rows import repeated, some_images, take

SAMPLE_IMAGES = 300
SAMPLE_OBJECTS = 100
"""Objects of the ground truth of one image that are compared, spread over all of them."""
SAMPLE_PAIRS = 1_000_000
"""Pairs of objects and detections that are compared, as long as it is more than one image."""


class Mistake(NamedTuple):
    """One suspicion; `kind` as in `validation.findings.Problem`."""

    side: Side
    kind: str
    found: str
    advice: str

    def warning(self, source: Source) -> str:
        """Return it as a run's warning about the input of its side."""
        text = f"{self.found}; {self.advice}"
        return text if self.kind == "swapped-sides" else f"{source.path}: {text}"


def suspicions(gt: Source, det: Source | None = None) -> list[Mistake]:
    """Return what looks like a mistake, whatever the scores are."""
    sides = [
        source.part(np.arange(min(len(source.names), SAMPLE_IMAGES)))
        for source in (gt, det)
        if source is not None
    ]
    swapped = [] if det is None else list(_swapped_sides(*sides))
    found = [*swapped, *_unusual_values(*sides)]
    if det is not None and (gt.format, det.format) == ("msra-td500", "ltrb"):
        fifth = "the fifth number of each box is read as a confidence"
        advice = "if it is an angle, give --det-format msra-td500"
        angle = Mistake("det", "confidences", fifth, advice)
        found += [angle] if det.objects.confidences is not None else []
    return [one for one in found if not swapped or one.kind != "texts"]


# Sides that were swapped --------------------------------------------------------------------------

_DECIMAL = r"(?a)(?:0?\.[0-9]+|1\.0*)"
_MOST = 0.95
"""Share of names, or of transcriptions, that a sign takes."""
_FEWEST_DECIMALS = 3
"""A single one may be a price."""


def _swapped_sides(gt: Source, det: Source) -> Iterator[Mistake]:
    """Yield the signs that the sides were swapped, in one sentence: what belongs to one side, found
    on the other one alone.
    """
    signs = []
    ours, theirs = _file_names(gt), _file_names(det)
    if _begin(ours, "res_") and not _begin(theirs, "res_"):
        signs.append(
            f"the images of the ground truth are named res_... ({quote(ours[0])}), as results are"
        )
    if _begin(theirs, "gt_") and not _begin(ours, "gt_"):
        signs.append(
            f"those of the detections are named gt_... ({quote(theirs[0])}), as ground truth is"
        )
    if gt.format == "coco-res" != det.format:
        signs.append("the ground truth is a list of COCO results")
    if _has_confidences(gt.objects) and not _has_confidences(det.objects):
        signs.append("the ground truth has confidences, and the detections have none")
    ignored = sum(text == DONT_CARE for text in det.objects.texts)
    if ignored and not gt.objects.dont_care.any():
        signs.append(
            f"{ignored} detections are {quote(DONT_CARE)}, and no object of the ground truth is"
            " don't care"
        )
    if signs:
        found = f"ground truth and detections may have been swapped: {'; '.join(signs)}"
        yield Mistake("gt", "swapped-sides", found, "give the ground truth first")


def _file_names(source: Source) -> list[str]:
    """Return the images' names with the prefixes that readers take off."""
    if source.format == "art" and source.objects.places is not None:
        return list(source.objects.places)
    files = [file for file in source.files if file != source.path]
    return [PurePosixPath(file.replace("\\", "/")).name for file in files or source.names]


def _begin(names: Sequence[str], prefix: str) -> bool:
    marked = sum(name.lower().removeprefix("poly_").startswith(prefix) for name in names)
    return marked > 0 and marked >= _MOST * len(names)


def _has_confidences(objects: Objects) -> bool:
    """Whether objects have confidences, be they read as transcriptions."""
    if objects.confidences is not None:
        return bool((~np.isnan(objects.confidences)).any())
    decimals = sum(re.match(_DECIMAL, text) is not None for text in objects.texts if text)
    return decimals >= max(_FEWEST_DECIMALS, _MOST * objects.count)


# Values that are probably others ------------------------------------------------------------------

_FEWEST_BOXES = 3
"""Fewer boxes may all be in the first pixel."""
_FEWEST_TEXTS = 5
"""Fewer texts may all be numbers by chance."""
_NUMBER = r"[-+]?[0-9]*[.,]?[0-9]+"
_UNIT = r"0?[.,][0-9]+|1[.,]0*"
_ANY_NUMBERS = "IDs, classes or confidences"
_TEXT_AND_UNIT = rf"(?as).*,\s*(?:{_UNIT})"
TAKEN_FOR_TEXT = "read as transcription"
"""In the warning of a reader that has seen numbers in the place of texts itself."""


def _unusual_values(gt: Source, det: Source | None = None) -> Iterator[Mistake]:
    """Yield what is unusual about coordinates and texts."""
    sides: dict[Side, Source] = {"gt": gt} if det is None else {"gt": gt, "det": det}
    meanings = {side: _meaning(source) for side, source in sides.items()}
    # Numbers on both sides may be what was written: prices, house numbers.
    are_written = det is not None and set(meanings.values()) == {_ANY_NUMBERS}
    for side, source in sides.items():
        yield from _unusual_coordinates(side, source)
        texts = _texts(source)
        if side == "det" and _all_match(_TEXT_AND_UNIT, texts):
            found = f"all transcriptions end in a number from 0 to 1, such as {quote(texts[0])}"
            advice = "if it is a confidence, write it before the text"
            yield Mistake(side, "confidences", found, advice)
        is_told = any(TAKEN_FOR_TEXT in warning for warning in source.warnings)
        if meanings[side] and not is_told and not are_written:
            found = f"all transcriptions are numbers, such as {quote(texts[0])}"
            yield Mistake(side, "texts", found, f"are they {meanings[side]}, not texts?")


def _unusual_coordinates(side: Side, source: Source) -> Iterator[Mistake]:
    boxes = source.objects.boxes
    if source.fractions is not None or len(boxes) < _FEWEST_BOXES:
        return
    first = boxes[:, 0]
    if (boxes % 1).any() and 0 <= boxes.min() <= boxes.max() <= 1:
        found = "all coordinates are in [0, 1], and are read as pixels"
        advice = "if they are fractions of the page, multiply them by its width and height"
        yield Mistake(side, "coordinates", found, advice)
    elif (
        len(boxes) >= _FEWEST_TEXTS
        and (first % 1).any()
        and 0 <= first.min() <= first.max() <= 1 < boxes[:, 2].min()
    ):
        found = "the first coordinate of all boxes is in [0, 1]"
        advice = "if it is a confidence, write it after the coordinates"
        yield Mistake(side, "confidences", found, advice)


def _texts(source: Source, start: int = 0, stop: int | None = None) -> list[str]:
    """Return the texts of some objects, without those that are empty or don't care."""
    return [text for text in source.objects.texts[start:stop] if text and text != DONT_CARE]


def _all_match(pattern: str, texts: Sequence[str]) -> bool:
    return len(texts) >= _FEWEST_TEXTS and all(re.fullmatch(pattern, text) for text in texts)


def _meaning(source: Source) -> str:
    """Return what texts that are all numbers probably are; empty for other texts."""
    texts = _texts(source)
    if not _all_match(_NUMBER, texts):
        return ""
    if _all_match(_UNIT, texts):
        return "confidences"
    by_image = [_texts(source, *ends) for ends in pairwise(source.objects.offsets.tolist())]
    are_ids = (
        all(of == [str(first + k) for k in range(len(of))] for of in by_image) for first in (0, 1)
    )
    return "IDs" if any(are_ids) else _ANY_NUMBERS


# Objects that are there twice ---------------------------------------------------------------------

_FEWEST_REPEATED, _SHARE_REPEATED = 3, 0.1
"""So many repeated objects, and this share of all of a side, are worth a warning."""


def repeated_objects(title: str, source: Source) -> Iterator[str]:
    """Yield a warning if many objects have the outline of an earlier object of their image, as
    where an input was joined with itself: each of them counts. `title` names the side.
    """
    objects = source.objects
    pairs = repeated(objects)
    if len(pairs) >= max(_FEWEST_REPEATED, _SHARE_REPEATED * objects.count):
        row, earlier = pairs[0]
        image = quote(source.names[int(objects.image[row])])
        yield (
            f"{title}: {len(pairs)} of {objects.count} objects have the same box or polygon as an"
            f" earlier object of their image (object {objects.ids[row]} as object"
            f" {objects.ids[earlier]} in image {image}); each of them counts, so remove what is"
            " there twice (`evaltex validate` lists all)"
        )


# Coordinates that were read in another way --------------------------------------------------------

LEAST_AGREEMENT, LEAST_GAIN = 0.2, 0.15
"""Another reading must bring the agreement to this, and raise it by this."""
_NOTICEABLE = 0.05
"""A less simple reading must be better by this than one tried before."""
_CLEAR_DIFFERENCE = 0.25
"""Shares of two sides that differ by this distinguish the sides."""
_BOXES = Convention(as_boxes=True)
_STRETCHES = (0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2)
_TINY = 1e-12
"""Coordinates and factors up to this are as good as 0: divided by them, others overflow."""
_BOX_READINGS: tuple[tuple[str, Callable[[Floats], Floats]], ...] = (
    (
        "the last two numbers of a box in the {} are x1,y1 rather than width,height",
        lambda boxes: np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1),
    ),
    (
        "the first two numbers of a box in the {} are its centre rather than its corner",
        lambda boxes: boxes - np.tile((boxes[:, 2:] - boxes[:, :2]) / 2, 2),
    ),
)


class Misreading(NamedTuple):
    """Another reading that makes the sides agree, and the `agreement` as they are read, and so."""

    reading: str
    before: float
    after: float

    def __str__(self) -> str:
        return f"{self.reading} (mean best IoU {self.before:.2f} as read, {self.after:.2f} so)"


def sample(gt: Source, det: Source, paired: Ints) -> ImageBatch:
    """Return the first images that both sides have (`pairing.pair_images`), with some of the
    objects where there are many.
    """
    positions = np.flatnonzero(paired >= 0)[:SAMPLE_IMAGES]
    ours, theirs = gt.part(positions), det.part(paired[positions])
    counts = np.diff(ours.objects.offsets)
    rank = np.arange(ours.objects.count) - np.repeat(ours.objects.offsets[:-1], counts)
    steps = counts // SAMPLE_OBJECTS + 1
    objects = take(ours.objects, rank % steps[ours.objects.image] == 0)
    pairs = np.cumsum(np.diff(objects.offsets) * np.diff(theirs.objects.offsets))
    few = min(max(int((pairs <= SAMPLE_PAIRS).sum()), 1), len(positions))
    return some_images(ImageBatch(ours.names, ours.sizes, objects, theirs.objects), 0, few)


def agreement(batch: ImageBatch) -> float:
    """Return the mean, over the objects of the ground truth, of the best IoU of its bounding box
    with a detection's.
    """
    return float(_best_iou(batch)[1].mean()) if batch.gt.count else 0.0


def best_misreading(batch: ImageBatch) -> Misreading | None:
    """Return the reading under which the sides agree much better; None where there is none."""
    if not batch.gt.count or not batch.det.count:
        return None
    before = agreement(batch)
    best: Misreading | None = None
    for reading, supposed in _readings(batch):
        after = agreement(supposed)
        least = best.after + _NOTICEABLE if best else 0.0
        if after >= max(LEAST_AGREEMENT, before + LEAST_GAIN, least):
            best = Misreading(reading, before, after)
    return best


def _readings(batch: ImageBatch) -> Iterator[tuple[str, ImageBatch]]:
    """Yield other readings, and the batch so read; the simplest first."""
    swapped = f"x and y are swapped {_side_of_swapped_axes(batch)}"
    gt, det = batch.gt.boxes, batch.det.boxes
    yield swapped, _with_det(batch, det[:, [1, 0, 3, 2]])
    for reading, read in _BOX_READINGS:
        yield reading.format("detections"), _with_det(batch, read(det))
        yield reading.format("ground truth"), replace(batch, gt=_with_boxes(batch.gt, read(gt)))
    heights = batch.sizes[:, 0]
    if (heights > 0).all():
        turned = np.where([0, 1, 0, 1], heights[batch.det.image, None] - det[:, [0, 3, 2, 1]], det)
        yield "y counts from the bottom of the picture on one side", _with_det(batch, turned)
    for step, which in ((-1, "before"), (1, "after")):
        yield (
            f"the detections named for one image are those of the image {which}: the numbers are"
            " shifted by one",
            replace(batch, det=_shifted(batch.det, step)),
        )
    yield from _scales(batch)


def _side_of_swapped_axes(batch: ImageBatch) -> str:
    """Say on which side boxes leave the pictures, or words are higher than wide."""
    for share in (_share_outside, _share_upright):
        gt, det = share(batch.gt, batch.sizes), share(batch.det, batch.sizes)
        if abs(gt - det) >= _CLEAR_DIFFERENCE:
            return "in the ground truth" if gt > det else "in the detections"
    return "on one side"


def _share_outside(objects: Objects, sizes: Floats) -> float:
    """Return the share of objects beyond the pictures whose size is known."""
    corner = sizes[objects.image][:, ::-1]
    known = (corner > 0).all(axis=1)
    beyond = np.asarray((objects.boxes[:, 2:] > corner + 1).any(axis=1))
    return float(beyond[known].mean()) if known.any() else 0.0


def _share_upright(objects: Objects, _: Floats) -> float:
    width, height = (objects.boxes[:, 2:] - objects.boxes[:, :2]).T
    return float((height > width).mean())


def _with_det(batch: ImageBatch, boxes: Floats) -> ImageBatch:
    return replace(batch, det=_with_boxes(batch.det, boxes))


def _with_boxes(objects: Objects, boxes: Floats) -> Objects:
    """Return objects with other bounding boxes; those that come out inverted have no area."""
    boxes = np.concatenate([boxes[:, :2], np.maximum(boxes[:, :2], boxes[:, 2:])], axis=1)
    return replace(objects, outlines=Outlines.of_boxes(boxes))


def _shifted(objects: Objects, step: int) -> Objects:
    """Give each image the objects of its neighbour; the last, or the first, gets none."""
    offsets = objects.offsets
    offsets = np.append(0, offsets[:-1]) if step > 0 else np.append(offsets[1:], offsets[-1])
    return take(objects, np.arange(offsets[0], offsets[-1]), offsets - offsets[0])


def _scales(batch: ImageBatch) -> Iterator[tuple[str, ImageBatch]]:
    """Yield other scales of the detections: one for all images, that of resized pictures (fractions
    are of a picture of one pixel), one for each image and axis.
    """
    both = (np.diff(batch.gt.offsets) > 0) & (np.diff(batch.det.offsets) > 0)
    if not both.any():
        return
    factor = _scale(batch, both)
    if factor is not None:
        x, y = factor.tolist()
        shown = _factor(x) if abs(x / y - 1) < 0.02 else f"{_factor(x)} (x) and {_factor(y)} (y)"
        reading = f"another scale: they fit when multiplied by about {shown}"
        yield f"the detections are of {reading}", _times(batch, factor)
    widths = batch.sizes[:, ::-1]
    if (widths > 0).all():
        relative = _times(batch, widths)
        yield "the detections are fractions of the picture's width and height, not pixels", relative
        factor = _scale(relative, both)
        if factor is not None:
            width, height = np.rint(1 / factor).tolist()
            reading = f"pictures resized to about {width:.0f} x {height:.0f}"
            yield f"the detections are of {reading}", _times(batch, widths * factor)
    ratios = np.where(both[:, None], _centre_ratios(batch), 1.0)
    reading = "another scale in each image (of resized pictures?)"
    yield f"the detections are of {reading}", _times(batch, ratios)


def _factor(value: float) -> str:
    """Return three digits of a number, or all of a large one: 0.5, 1,280."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _scale(batch: ImageBatch, both: Bools) -> Floats | None:
    """(2,) factors of x and y that bring the detections to the objects, from the images in which
    there are both.
    """
    factor = np.median(_centre_ratios(batch)[both], axis=0)
    rough = max((_times(batch, factor * stretch) for stretch in _STRETCHES), key=agreement)
    det, best = _best_iou(rough)
    overlapping = np.flatnonzero(best > 0)
    theirs = batch.det.boxes[det[overlapping]].reshape(-1, 2, 2)
    usable = theirs > _TINY
    if not usable.any(axis=(0, 1)).all():
        return None
    ours = batch.gt.boxes[overlapping].reshape(-1, 2, 2)
    ratios = np.where(usable, ours / np.where(usable, theirs, 1.0), np.nan)
    factor = np.nanmedian(ratios, axis=(0, 1))  # of both corners; 0 has no ratio
    return factor if (factor > _TINY).all() else None


def _centre_ratios(batch: ImageBatch) -> Floats:
    """(images, 2) the mean centre of the objects over that of the detections."""
    means = []
    for objects in (batch.gt, batch.det):
        centres = (objects.boxes[:, :2] + objects.boxes[:, 2:]) / 2
        counts = np.diff(objects.offsets)
        sums = [np.bincount(objects.image, values, len(counts)) for values in centres.T]
        means.append(np.transpose(sums) / np.maximum(counts, 1)[:, None])
    ratios: Floats = means[0] / np.maximum(means[1], _TINY)
    return ratios


def _times(batch: ImageBatch, factor: Floats) -> ImageBatch:
    """Multiply the detections by (2,) or (images, 2) factors of x and y."""
    own = factor if factor.ndim == 1 else factor[batch.det.image]
    return _with_det(batch, batch.det.boxes * np.tile(own, 2))


def _best_iou(batch: ImageBatch) -> tuple[Ints, Floats]:
    """(G,) the best detection of each object, -1 for none, and the IoU of their bounding boxes."""
    gt, det, area, gt_area, det_area = overlaps.measure(batch, _BOXES)[:5]
    iou = area / (gt_area[gt] + det_area[det] - area)
    order = np.argsort(iou, kind="stable")
    partner, best = np.full(batch.gt.count, -1), np.zeros(batch.gt.count)
    # Assigned by rising IoU: of several values for one object the last, the best, remains.
    partner[gt[order]], best[gt[order]] = det[order], iou[order]
    return partner, best
