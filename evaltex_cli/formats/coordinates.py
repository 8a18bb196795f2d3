"""Which scale and axis order the boxes of a model's answers have: one decision for an input.

The candidates are pixels, 0-1, 0-100 and 0-1000 in four orders. A candidate is struck if it makes
too many boxes impossible; the others are compared by their fit, the mean best IoU of a detection
with an object of the other side. The limits were found by simulation: on inputs of three boxes and
more, one in a thousand is read wrongly. What is not decided is refused, and a form that fixes its
coordinates is checked, but never read in another way: that would repair a detector's mistakes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.errors import ConfigError, FormatError, InputError, counted
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.names import stem
from evaltex_cli.formats.options import ORDERS, Coordinates, Reading, corners
from evaltex_cli.formats.parsing import converted, plain_json
from evaltex_cli.formats.sizes import in_pixels
from evaltex_cli.records import Bools, Floats, Ints, Outlines

CANDIDATES = tuple(
    Coordinates(order, scale) for scale, order in product((None, 1.0, 100.0, 1000.0), ORDERS)
)
OUTSIDE = 0.05
"""How far beyond the picture or the scale a possible box may reach, as a share of it."""
MOST_IMPOSSIBLE = 0.1
SAME_BOXES = 0.9
"""Readings whose boxes have this mean IoU are the same for a score."""
LOW_FIT = 0.35
FINER_SCALE, FINER_GAIN = 1024.0, 1.02
"""Some models count to 1024; that it fits so much better than 1000 is evidence."""
MOST_BOXES = 20_000
"""How many detections are compared."""
_UNKNOWN = "the scale and order of its boxes are not known"


def _limits(count: int) -> tuple[float, float, float]:
    """Return what the best fit of so many detections must be, and how many times that of a rival of
    another order and of its own.
    """
    if count < 3:
        return 0.4, 2.0, 2.0
    return (0.2, 1.5, 1.1) if count < 10 else (0.15, 1.25, 1.05)


class _Compared(NamedTuple):
    """What decides: detections on images that have objects that count, and these objects."""

    numbers: Floats
    """(N, 4) as the answers have them."""
    sides: Floats
    """(N, 4) width, height, width, height of the detections' images, 0 if unknown."""
    is_box: Bools
    images: list[tuple[Ints, Floats]]
    """The rows of each image, and the boxes of its objects on the other side."""


def _corners(numbers: Floats, order: str) -> Floats:
    """Return (n, 4) numbers of boxes as x0, y0, x1, y1, whatever their scale."""
    return np.stack(corners(order, *numbers.T), axis=1)


def decided(source: Source, other: Source | None, paired: Ints) -> Source:
    """Return an input with its boxes read, in pixels or in fractions of the page, and a note how.

    `paired` is the position in `other` of each image, below 0 for none. Raises `InputError` if the
    coordinates are not decided, or another reading fits far better than the default.
    """
    is_foreign = other is not None and other.names and (paired < 0).all()
    if source.reading is None or not source.objects.count or is_foreign:  # pairing refuses names
        return replace(source, reading=None)
    known = source.reading.known
    compared = None if other is None else _compared(source, other, paired)
    fits = {} if compared is None else _fits(compared, known)
    try:
        if len(known) == 1:
            taken, how = known[0], _checked(source.reading, compared, fits)
        elif compared is not None:
            taken = _chosen(source.reading, compared, fits)
            how = f"by their fit to the other side (mean best IoU {fits[taken]:.2f})"
        elif other is None:
            raise FormatError(f"{_UNKNOWN}: there is no other side to compare with", "")
        else:
            needs = "no image of the other side has both boxes and objects to compare"
            raise FormatError(f"{_UNKNOWN}: {needs}", "")
    except FormatError as error:  # what it expects is what helps besides
        advice = f"{error.expected}declare them by --coordinates (yxyx:1000, xyxy:pixels, ...)"
        raise InputError(f"{source.path}: {error.found}; {advice}") from error
    notes = [f"boxes are read as {taken}, {how}; --coordinates declares another order or scale"]
    if fits.get(taken, 1.0) < LOW_FIT:
        notes.append(
            f"its boxes hardly fit as {taken}; if the model saw resized pictures, declare their"
            f" sizes by --coordinates {taken.order}:resized=FILE"
        )
    read, unfit = _read(source, taken)
    what = f"{{count}} box[es] with a side below 0 as {taken} [matches|match] nothing"
    notes += [counted(unfit, what)] * bool(unfit)
    warnings = (*source.warnings, *(f"{source.path}: {note}" for note in notes))
    read = replace(read, reading=None, coordinates=str(taken), warnings=warnings)
    return in_pixels(read, read.sizes)


def _checked(reading: Reading, compared: _Compared | None, fits: dict[Coordinates, float]) -> str:
    """Return how a default fits, in words; raises `FormatError` if another reading fits better."""
    (default,), form = reading
    how = f"the default for {form}"
    if compared is None:
        return f"{how}, not checked by the other side"
    best = _winner(fits, compared)
    is_struck = _is_struck(compared, default)
    if is_struck or best not in (default, None):
        why = "most are impossible so" if best is None else f"{best} fits far better"
        raise FormatError(f"its boxes are {default} by {form}, but {why}{_shown(fits)}", "")
    if default not in fits:
        return f"{how}, not checked because the sizes of some pictures are not known"
    hardly = ", which hardly fits" if fits[default] < _limits(len(compared.numbers))[0] else ""
    return f"{how}{hardly} (mean best IoU {fits[default]:.2f})"


def _chosen(reading: Reading, compared: _Compared, fits: dict[Coordinates, float]) -> Coordinates:
    """Return the reading that fits best; raises `FormatError` if that is not decided."""
    has_sizes = (compared.sides > 0).all()
    scaled = [one for one in CANDIDATES if one.scale is not None]
    if not has_sizes and not all(_is_struck(compared, one) for one in scaled):
        needs = f"{_UNKNOWN}: the sizes of some pictures are not known"
        raise FormatError(needs, "give the pictures by --images FOLDER, or ")
    best = _winner(fits, compared)
    if best is None:
        raise FormatError(_UNKNOWN + (_shown(fits) or ": no reading is possible"), "")
    if reading.known and best not in reading.known:
        orders = ", ".join(map(str, reading.known))
        why = f"{reading.form} means {orders}, but {best} fits{_shown(fits)}"
        raise FormatError(f"{_UNKNOWN}: {why}", "")
    finer = best._replace(scale=FINER_SCALE)
    fit = _fit(compared, finer) if best.scale == 1000.0 else 0.0
    if fit >= FINER_GAIN * fits[best]:
        both = f"{best} (mean best IoU {fits[best]:.3f}) or {finer} ({fit:.3f})"
        raise FormatError(f"{_UNKNOWN}: {both}", "")
    return best


def _read(source: Source, coordinates: Coordinates) -> tuple[Source, int]:
    """Return an input with its boxes so read, and how many have a side below 0; these get none."""
    old, scale = source.objects.outlines, coordinates.scale or 1.0
    boxes = _corners(old.boxes, coordinates.order) / scale
    unfit = int((boxes[:, 2:] < boxes[:, :2]).any(axis=1).sum())
    boxes = np.hstack([boxes[:, :2], np.maximum(boxes[:, :2], boxes[:, 2:])])
    vertices = old.vertices[:, ::-1] if coordinates.order == "yxyx" else old.vertices
    outlines = Outlines(boxes, vertices / scale, old.offsets)
    has_objects = np.diff(source.objects.offsets) > 0
    return replace(
        source,
        objects=replace(source.objects, outlines=outlines),
        fractions=None if coordinates.scale is None else has_objects,
    ), unfit


# The fit of readings ------------------------------------------------------------------------------


def _compared(source: Source, other: Source, paired: Ints) -> _Compared | None:
    """Return what decides; None if there is nothing to compare."""
    counts: Bools = np.logical_not(other.objects.dont_care)
    per_image = np.bincount(other.objects.image[counts], minlength=len(other.names))
    has_partner = np.isin(paired, np.flatnonzero(per_image))
    rows = np.flatnonzero(has_partner[source.objects.image])
    rows = rows[:: len(rows) // MOST_BOXES + 1]
    if not len(rows):
        return None
    image = source.objects.image[rows]
    own, theirs = source.sizes[image], other.sizes[paired[image]]
    sizes = np.where(np.all(own > 0, axis=1, keepdims=True), own, theirs)
    partners = np.split(other.objects.boxes[counts], np.cumsum(per_image)[:-1])
    of_images = np.split(np.arange(len(rows)), np.flatnonzero(np.diff(image)) + 1)
    outlines = source.objects.outlines
    return _Compared(
        outlines.boxes[rows],
        np.tile(sizes[:, ::-1], 2),
        outlines.counts[rows] == 0,
        [(some, partners[paired[image[some[0]]]]) for some in of_images],
    )


def _fits(compared: _Compared, known: Sequence[Coordinates]) -> dict[Coordinates, float]:
    """Return the fit of each reading that is not struck, the best first; without the sizes of all
    pictures only of those in pixels.
    """
    has_sizes = (compared.sides > 0).all()
    fits = {}
    for reading in dict.fromkeys([*known, *CANDIDATES]):
        is_possible = compared.is_box.all() or reading.order in ("xyxy", "yxyx")
        is_known = has_sizes or reading.scale is None
        if is_possible and is_known and not _is_struck(compared, reading):
            fits[reading] = _fit(compared, reading)
    return dict(sorted(fits.items(), key=lambda one: -one[1]))


def _is_struck(compared: _Compared, reading: Coordinates) -> bool:
    """Whether too many boxes are impossible: beyond the scale or the picture, or without sides."""
    boxes = _corners(compared.numbers, reading.order)
    whole = compared.sides if reading.scale is None else np.full(boxes.shape, reading.scale)
    margin = OUTSIDE * whole
    beyond = np.where(whole > 0, whole + margin, np.inf)
    wrong = ((boxes < -margin) | (boxes > beyond)).any(axis=1)
    wrong |= (boxes[:, 2:] < boxes[:, :2]).any(axis=1)
    return bool(wrong.mean() > MOST_IMPOSSIBLE)


def _in_pixels(compared: _Compared, reading: Coordinates) -> Floats:
    boxes = _corners(compared.numbers, reading.order)
    return boxes if reading.scale is None else boxes / reading.scale * compared.sides


def _fit(compared: _Compared, reading: Coordinates) -> float:
    """Return the mean, over detections, of the best IoU with an object of the image."""
    boxes = _in_pixels(compared, reading)
    best = [_iou(boxes[rows, None], others[None]).max(axis=1) for rows, others in compared.images]
    return float(np.concatenate(best).mean())


def _iou(boxes: Floats, others: Floats) -> Floats:
    """Return the IoU of boxes with others, in the shape that numpy broadcasts both to."""
    low = np.maximum(boxes[..., :2], others[..., :2])
    high = np.minimum(boxes[..., 2:], others[..., 2:])
    shared = np.maximum(high - low, 0).prod(axis=-1)
    areas = [np.maximum(one[..., 2:] - one[..., :2], 0).prod(axis=-1) for one in (boxes, others)]
    union = areas[0] + areas[1] - shared
    return np.asarray(np.divide(shared, union, out=np.zeros_like(shared), where=union > 0))


def _winner(fits: dict[Coordinates, float], compared: _Compared) -> Coordinates | None:
    """Return the reading that fits best, if it fits well enough and far better than its rivals."""
    if not fits:
        return None
    best = next(iter(fits))
    least, other_order, own_order = _limits(len(compared.numbers))
    boxes = _in_pixels(compared, best)

    def is_rival(reading: Coordinates) -> bool:
        ratio = own_order if reading.order == best.order else other_order
        is_near = reading != best and fits[best] < ratio * fits[reading]
        return is_near and bool(_iou(boxes, _in_pixels(compared, reading)).mean() < SAME_BOXES)

    return None if fits[best] < least or any(map(is_rival, fits)) else best


def _shown(fits: dict[Coordinates, float]) -> str:
    some = [f"{reading} {fit:.2f}" for reading, fit in list(fits.items())[:4]]
    return f" (mean best IoU: {', '.join(some)})" if some else ""


# Pictures that a model resized --------------------------------------------------------------------


def resized_sizes(path: str) -> dict[str, tuple[float, float]]:
    """Return image -> width and height of JSON or CSV; raises `InputError` for anything else.

    JSON is an object of lists [width, height] by image, or a list of objects with the columns of
    the CSV: image, width, height.
    """
    try:
        return _sizes(Path(path).read_bytes())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except (FormatError, ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{path}: no sizes of resized pictures; expected CSV with the header image,width,height"
            ' or JSON such as {"img_1": [644, 476]}, each image once'
        ) from error


@lru_cache(maxsize=1)  # each file of an input asks for the same
def _sizes(data: bytes) -> dict[str, tuple[float, float]]:
    rows: list[tuple[Any, Any, Any]]
    if data.lstrip()[:1] == b"{":
        by_image = converted(plain_json(data), dict[str, tuple[float, float]])
        rows = [(name, *size) for name, size in by_image.items()]
    else:
        is_json = data.lstrip()[:1] == b"["
        text = io.StringIO(data.decode("utf-8-sig"))
        records = plain_json(data) if is_json else csv.DictReader(text)
        rows = [(one["image"], one["width"], one["height"]) for one in records]
    sizes = {stem(str(name)): (float(width), float(height)) for name, width, height in rows}
    if not sizes or len(sizes) < len(rows) or min(map(min, sizes.values())) <= 0:
        raise ValueError
    return sizes
