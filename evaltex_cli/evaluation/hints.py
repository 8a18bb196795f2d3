"""What was probably not meant so, and what to do. Each diagnosis is a function."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.evaluation.evaluation import AMOUNTS, Evaluation
from evaltex_cli.evaluation.pairing import described_pairs, numbers, would_pair
from evaltex_cli.formats.base import DONT_CARE, Side, Source
from evaltex_cli.formats.names import parts_of
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import read
from evaltex_cli.geometry import overlaps
from evaltex_cli.records import Convention, Floats, ImageBatch, Ints, Objects, Outlines
from evaltex_cli.records.rows import repeated, some_images, take


class Mistake(NamedTuple):
    """One suspicion; `kind` as in `validation.findings.Problem`."""

    side: Side
    kind: str
    found: str
    advice: str


# Faults of an input -------------------------------------------------------------------------------

_ONLY_IN_DETECTIONS = "is not in the ground truth"
_OF_BOTH_SIDES = (_ONLY_IN_DETECTIONS, "coordinates that are fractions of the page")


def of_faults(
    faults: FaultLog, gt: Source, det: Source, paired: Ints, options: InputOptions
) -> Iterator[str]:
    """Yield what the faults of both sides look like."""
    kinds = faults.kinds()
    are_read = all(any(words in same[0].found for words in _OF_BOTH_SIDES) for same in kinds)
    if not are_read and options.masks is None and _read_swapped(gt, det, options):
        yield (
            "each side reads well as the other one; give the ground truth first, then the"
            " detections"
        )
        return
    yield from of_lines(faults, gt, det)
    are_text = all("UTF-8" not in same[0].expected for same in kinds)  # so that names are, too
    for same in kinds:
        if are_text and _ONLY_IN_DETECTIONS in same[0].found:
            yield from _names(gt, det, paired, len(same))


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
    return not log.count and bool(set(ours.names) & set(theirs.names))


def of_lines(faults: FaultLog, *sources: Source) -> Iterator[str]:
    """Yield what the faults of lines look like."""
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
        yield f"of the {unknown} names {described_pairs(pairs)}"
    elif how := _off_by_one(gt.names, det.names):
        yield (
            f"all {count} image names of the detections would be in the ground truth if their"
            f" numbers were {how} by one; does one side count from 0, and the other from 1?"
        )
    elif 2 * unknown >= count > 1:
        yield (
            f"{unknown} of {count} images of the detections are not in the ground truth; are the"
            " two of one data set, and of the same part of it?"
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

SAMPLE_IMAGES = 300
_MOST = 0.95
"""Share of names, or of transcriptions, that a sign takes."""
_FEWEST = 5
"""Fewer texts and boxes may be as they are by chance."""
_UNIT = r"0?[.,][0-9]+|1[.,]0*"


def suspicions(gt: Source, det: Source | None = None) -> list[Mistake]:
    """Return what looks like a mistake in the first images, whatever the scores are."""
    first = np.arange(SAMPLE_IMAGES)
    inputs: dict[Side, Source] = {"gt": gt} if det is None else {"gt": gt, "det": det}
    sides = {side: one.part(first[: len(one.names)]) for side, one in inputs.items()}
    found = [] if det is None else list(_swapped_sides(*sides.values()))
    are_swapped = bool(found)
    for side, source in sides.items():
        found += [*_fractions(side, source), *_confidences(side, source)]
    return found if are_swapped else [*found, *_texts_that_are_numbers(sides)]


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
    names = [file for file in source.files if file != source.path] or source.names
    if source.format == "art" and source.objects.places is not None:
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


def _fractions(side: Side, source: Source) -> Iterator[Mistake]:
    boxes = source.objects.boxes
    are_read = source.fractions is None and len(boxes) > 2 and (boxes % 1).any()
    if are_read and 0 <= boxes.min() <= boxes.max() <= 1:
        found = "all coordinates are in [0, 1], and are read as pixels"
        advice = "if they are fractions of the page, multiply them by its width and height"
        yield Mistake(side, "coordinates", found, advice)


def _confidences(side: Side, source: Source) -> Iterator[Mistake]:
    """Yield that a confidence is read as a coordinate or a part of the text."""
    boxes, texts = source.objects.boxes, _texts(source)
    first = boxes[:, 0]
    are_read = source.fractions is None and len(boxes) >= _FEWEST and (first % 1).any()
    if are_read and 0 <= first.min() <= first.max() <= 1 < boxes[:, 2].min():
        found = "the first coordinate of all boxes is in [0, 1]"
        advice = "if it is a confidence, write it after the coordinates"
        yield Mistake(side, "confidences", found, advice)
    if side == "det" and _all_match(rf"(?as).*,\s*(?:{_UNIT})", texts):
        found = f"all transcriptions end in a number from 0 to 1, such as {quote(texts[0])}"
        advice = "if it is a confidence, write it before the text"
        yield Mistake(side, "confidences", found, advice)


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


def repeated_objects(title: str, source: Source) -> Iterator[str]:
    """Yield a warning if many objects have the outline of an earlier object of their image."""
    objects = source.objects
    pairs = repeated(objects)
    if len(pairs) >= max(3, 0.1 * objects.count):
        row, earlier = pairs[0]
        image = quote(source.names[int(objects.image[row])])
        yield (
            f"{title}: {len(pairs)} of {objects.count} objects have the same box or polygon as an"
            f" earlier object of their image (object {objects.ids[row]} as object"
            f" {objects.ids[earlier]} in image {image}); each of them counts, so remove what is"
            " there twice (`evaltex validate` lists all)"
        )


# Coordinates that were read in another way --------------------------------------------------------

SAMPLE_OBJECTS, SAMPLE_PAIRS = 100, 1_000_000
"""Objects of the ground truth of one image that are compared, spread over all of them; and pairs of
objects and detections, as long as it is more than one image."""
LEAST_AGREEMENT, LEAST_GAIN, _NOTICEABLE = 0.2, 0.15, 0.05
"""Another reading must bring the agreement to this, and raise it by this; a less simple one must be
better by the last than one tried before."""
_TINY = 1e-12
"""Coordinates and factors up to this are as good as 0: divided by them, others overflow."""


def sample(gt: Source, det: Source, paired: Ints) -> ImageBatch:
    """Return the first images of both sides, with some of the objects where there are many."""
    positions = np.flatnonzero(paired >= 0)[:SAMPLE_IMAGES]
    ours, theirs = gt.part(positions), det.part(paired[positions])
    counts = np.diff(ours.objects.offsets)
    rank = np.arange(ours.objects.count) - np.repeat(ours.objects.offsets[:-1], counts)
    steps = counts // SAMPLE_OBJECTS + 1
    objects = take(ours.objects, rank % steps[ours.objects.image] == 0)
    pairs = np.cumsum(np.diff(objects.offsets) * np.diff(theirs.objects.offsets))
    few = min(max(int((pairs <= SAMPLE_PAIRS).sum()), 1), len(positions))
    return some_images(ImageBatch(ours.names, ours.sizes, objects, theirs.objects), np.arange(few))


def agreement(batch: ImageBatch) -> float:
    """Return the mean, over the objects, of the best IoU of bounding boxes with a detection."""
    return float(_best_iou(batch)[1].mean()) if batch.gt.count else 0.0


def best_misreading(batch: ImageBatch) -> tuple[str, float]:
    """Return the reading under which the sides agree much better, and how much; or nothing."""
    if not batch.gt.count or not batch.det.count:
        return "", 0.0
    best, before = ("", 0.0), agreement(batch)
    least = max(LEAST_AGREEMENT, before + LEAST_GAIN)
    for reading, supposed in (*_readings(batch), *_scales(batch)):
        after = agreement(supposed)
        if after >= least:
            words = f"{reading} (mean best IoU {before:.2f} as read, {after:.2f} so)"
            best, least = (words, after), after + _NOTICEABLE
    return best


def _readings(batch: ImageBatch) -> Iterator[tuple[str, ImageBatch]]:
    """Yield other readings, and the batch so read; the simplest first."""
    gt, det = batch.gt.boxes, batch.det.boxes
    swapped = f"x and y are swapped {_side_of_swapped_axes(batch)}"
    yield swapped, _with(batch, "det", det[:, [1, 0, 3, 2]])
    sides: dict[Side, tuple[str, Floats]] = {"det": ("detections", det), "gt": ("ground truth", gt)}
    for side, (title, boxes) in sides.items():
        reading = f"the last two numbers of a box in the {title} are x1,y1 rather than width,height"
        yield reading, _with(batch, side, boxes - np.pad(boxes[:, :2], ((0, 0), (2, 0))))
    for side, (title, boxes) in sides.items():
        half = np.tile((boxes[:, 2:] - boxes[:, :2]) / 2, 2)
        reading = f"the first two numbers of a box in the {title} are its centre rather than its"
        yield f"{reading} corner", _with(batch, side, boxes - half)
    heights = batch.sizes[:, 0]
    if (heights > 0).all():
        turned = np.where([0, 1, 0, 1], heights[batch.det.image, None] - det[:, [0, 3, 2, 1]], det)
        yield "y counts from the bottom of the picture on one side", _with(batch, "det", turned)
    for step, which in ((-1, "before"), (1, "after")):
        reading = f"the detections named for one image are those of the image {which}"
        shifted = replace(batch, det=_shifted(batch.det, step))
        yield f"{reading}: the numbers are shifted by one", shifted


def _side_of_swapped_axes(batch: ImageBatch) -> str:
    """Say on which side words are clearly more often higher than wide."""
    sides = [(side.boxes[:, 2:] - side.boxes[:, :2]) for side in (batch.gt, batch.det)]
    gt, det = (float((height > width).mean()) for width, height in (side.T for side in sides))
    if abs(gt - det) < 0.25:
        return "on one side"
    return "in the ground truth" if gt > det else "in the detections"


def _with(batch: ImageBatch, side: Side, boxes: Floats) -> ImageBatch:
    """Return a batch with other boxes of a side; those that come out inverted have no area."""
    boxes = np.hstack([boxes[:, :2], np.maximum(boxes[:, :2], boxes[:, 2:])])
    objects = batch.gt if side == "gt" else batch.det
    changed: Any = {side: replace(objects, outlines=Outlines.of_boxes(boxes))}
    return replace(batch, **changed)


def _shifted(objects: Objects, step: int) -> Objects:
    """Give each image the objects of its neighbour; the last, or the first, gets none."""
    offsets = objects.offsets
    offsets = np.append(0, offsets[:-1]) if step > 0 else np.append(offsets[1:], offsets[-1])
    return take(objects, np.arange(offsets[0], offsets[-1]), offsets - offsets[0])


def _scales(batch: ImageBatch) -> Iterator[tuple[str, ImageBatch]]:
    """Yield other scales of the detections: of all images, of fractions, of resized pictures."""
    factor = _scale(batch)
    if factor is not None:
        x, y = (f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in factor.tolist())
        shown = x if abs(factor[0] / factor[1] - 1) < 0.02 else f"{x} (x) and {y} (y)"
        reading = f"another scale: they fit when multiplied by about {shown}"
        yield f"the detections are of {reading}", _times(batch, factor)
    widths = batch.sizes[:, ::-1]
    if (widths > 0).all():
        relative = _times(batch, widths)
        yield "the detections are fractions of the picture's width and height, not pixels", relative
        factor = _scale(relative)
        if factor is not None:
            width, height = np.rint(1 / factor).tolist()
            reading = f"pictures resized to about {width:.0f} x {height:.0f}"
            yield f"the detections are of {reading}", _times(batch, widths * factor)


def _scale(batch: ImageBatch) -> Floats | None:
    """(2,) factors of x and y that bring the detections to the objects; None if there are none."""
    both = (np.diff(batch.gt.offsets) > 0) & (np.diff(batch.det.offsets) > 0)
    ours, theirs = (_mean_centres(side)[both] for side in (batch.gt, batch.det))
    if not both.any():
        return None
    factor = np.median(ours / np.maximum(theirs, _TINY), axis=0)
    stretches = (0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2)
    rough = max((_times(batch, factor * stretch) for stretch in stretches), key=agreement)
    det, best = _best_iou(rough)
    theirs = batch.det.boxes[det]
    usable = (best > 0) & (theirs > _TINY).all(axis=1)
    if not usable.any():
        return None
    ratios = (batch.gt.boxes[usable] / theirs[usable]).reshape(-1, 2)  # of both corners
    factor = np.median(ratios, axis=0)
    return factor if (factor > _TINY).all() else None


def _mean_centres(objects: Objects) -> Floats:
    """(images, 2) the mean centre of each image's objects."""
    counts = np.diff(objects.offsets)
    centres = (objects.boxes[:, :2] + objects.boxes[:, 2:]) / 2
    sums = [np.bincount(objects.image, values, len(counts)) for values in centres.T]
    return np.transpose(sums) / np.maximum(counts, 1)[:, None]


def _times(batch: ImageBatch, factor: Floats) -> ImageBatch:
    """Multiply the detections by (2,) or (images, 2) factors of x and y."""
    own = factor if factor.ndim == 1 else factor[batch.det.image]
    return _with(batch, "det", batch.det.boxes * np.tile(own, 2))


def _best_iou(batch: ImageBatch) -> tuple[Ints, Floats]:
    """(G,) the best detection of each object, -1 for none, and the IoU of their bounding boxes."""
    pairs = overlaps.measure(batch, Convention(as_boxes=True))
    iou = pairs.iou()
    order = np.argsort(iou, kind="stable")
    partner, best = np.full(batch.gt.count, -1), np.zeros(batch.gt.count)
    # By rising IoU: of several values for one object the last, the best, remains.
    partner[pairs.gt[order]], best[pairs.gt[order]] = pairs.det[order], iou[order]
    return partner, best


# Low scores ---------------------------------------------------------------------------------------

LOW, _NEARLY_ZERO = 0.3, 0.02
"""A headline score below this is low; recall and precision up to this are so low that a mistake in
the files may be why."""
_AGREE, _CLEARLY_BETTER = 0.5, 0.4
"""Mean best IoU from which boxes agree, and from which another reading explains a low score."""


def explained(
    evaluations: Sequence[Evaluation], gt: Source, det: Source, paired: Ints
) -> list[Evaluation]:
    """Add to the warnings what is probably wrong with the inputs, and why scores are low."""
    if not gt.names or not det.names:
        return list(evaluations)
    found = suspicions(gt, det)
    are_swapped = any(one.kind == "swapped-sides" for one in found)
    amounts = list(map(amount_matched, evaluations))
    misread, agree_then, agree_now = "", 0.0, None
    if any(amounts):
        batch = sample(gt, det, paired)
        misread, agree_then = best_misreading(batch)
        agree_now = None if batch.gt.dont_care.all() else agreement(batch)
    reasons = []
    for evaluation, amount in zip(evaluations, amounts, strict=True):
        reason, is_nearly_zero = "", amount in AMOUNTS[:2]
        if misread and (is_nearly_zero or agree_then >= _CLEARLY_BETTER):
            reason = misread
        elif is_nearly_zero and not are_swapped:
            reason = _why(evaluation, agree_now)
        reasons.append(f"{amount}; {reason}" if amount and reason else "")
    # Of one side alone, why nothing matches says by which factors they fit.
    fractions = [one for one in found if one.kind == "coordinates"]
    if len(fractions) == 1 and any(reasons):
        found.remove(fractions[0])
    always = []
    for side, kind, text, advice in found:
        path = "" if kind == "swapped-sides" else f"{(gt if side == 'gt' else det).path}: "
        always.append(f"{path}{text}; {advice}")
    if 0 < gt.objects.count == gt.objects.dont_care.sum():
        always.append("every object of the ground truth is don't care, so its scores say nothing")
    return [
        replace(one, warnings=[*one.warnings, *always, *filter(None, [reason])])
        for one, reason in zip(evaluations, reasons, strict=True)
    ]


def amount_matched(evaluation: Evaluation) -> str:
    """Return how the warning of a low score begins; empty if the score is not low."""
    scores = evaluation.meaningful_scores
    known = [scores[name] for name in ("recall", "precision") if scores.get(name) is not None]
    if len(known) == 2 and evaluation.gt.images and evaluation.det.images:
        best = max(known)
        if best <= _NEARLY_ZERO:
            return AMOUNTS[1] if best else AMOUNTS[0]
    score = scores.get(evaluation.protocol.main_score)
    return AMOUNTS[2] if isinstance(score, float) and score < LOW else ""


def _why(evaluation: Evaluation, boxes_agree: float | None) -> str:
    """Return why nothing matches, if another reading of the coordinates is not why."""
    if not evaluation.gt.objects:
        return "the ground truth has no object"
    if not evaluation.det.objects:
        return "the detections have no object"
    if boxes_agree is None:
        return "the images with detections have only don't-care objects"
    if boxes_agree < _AGREE:
        return (
            "no other reading of the coordinates makes both sides agree; see `evaltex validate"
            " GT DET`"
        )
    what = "texts" if "texts" in evaluation.protocol.needs else "rest"
    command = f"`evaltex diagnose GT DET --protocol {evaluation.protocol.name}`"
    return f"the boxes agree (mean best IoU {boxes_agree:.2f}), but not the {what}; see {command}"
