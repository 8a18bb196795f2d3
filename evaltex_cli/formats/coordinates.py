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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import ConfigError, FormatError, InputError, counted
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.names import stem
from evaltex_cli.formats.options import ORDERS, Coordinates
from evaltex_cli.formats.parsing import converted, plain_json
from evaltex_cli.formats.sizes import in_pixels
from evaltex_cli.geometry import boxes as box_geometry
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


class _Limits(NamedTuple):
    """What the best fit must be, and how many times that of a rival."""

    fit: float
    other_order: float
    own_order: float


def _limits(count: int) -> _Limits:
    if count < 3:
        return _Limits(0.4, 2.0, 2.0)
    return _Limits(0.2, 1.5, 1.1) if count < 10 else _Limits(0.15, 1.25, 1.05)


class _Compared(NamedTuple):
    """What decides: detections on images that have objects that count, and these objects."""

    numbers: Floats
    """(N, 4) as the answers have them."""
    sizes: Floats
    """(N, 2) heights and widths of the detections' images, 0 if unknown."""
    is_box: Bools
    image: Ints
    """(N,) ascending."""
    gt_boxes: Floats
    gt_offsets: Ints
    """Image k owns the rows from ``gt_offsets[k]`` to the next."""


def oriented(numbers: Floats, order: str) -> Floats:
    """Return (n, 4) numbers of boxes as x0, y0, x1, y1, whatever their scale."""
    if order == "yxyx":
        return numbers[:, [1, 0, 3, 2]]
    if order == "xyxy":
        return numbers
    corner, size = numbers[:, :2], numbers[:, 2:]
    corner = corner - size / 2 if order == "cxcywh" else corner
    return np.hstack([corner, corner + size])


def decided(source: Source, other: Source | None, paired: Ints) -> Source:
    """Return an input with its boxes read, in pixels or in fractions of the page, and a note how.

    `paired` is the position in `other` of each image, below 0 for none. Raises `InputError` if the
    coordinates are not decided, or another reading fits far better than the default.
    """
    if source.reading is None:
        return source
    known, form = source.reading
    numbers = source.objects.outlines.boxes
    if not len(numbers):
        return replace(source, reading=None)
    compared = None if other is None else _compared(source, other, paired)
    fits = {} if compared is None or not len(compared.numbers) else _fits(compared, known)
    count = 0 if compared is None else len(compared.numbers)
    best, wins = _winner(fits, compared, count)
    default = known[0] if len(known) == 1 else None
    shown = _shown(fits)
    refused = f"{source.path}: the scale and order of its boxes are not known"
    advice = "declare them by --coordinates (yxyx:1000, xyxy:pixels, ...)"
    if default is not None:
        taken, how = default, f"the default for {form}"
        if fits and (default not in fits or (wins and best != default)):
            what = f"its boxes are {default} by {form}"
            why = f"{best} fits far better" if wins else "most are impossible so"
            raise InputError(f"{source.path}: {what}, but {why}{shown}; {advice}")
        if not count:
            how += ", not checked by the other side"
        elif fits[default] < _limits(count).fit:
            how += f", which hardly fits (mean best IoU {fits[default]:.2f})"
        else:
            how += f" (mean best IoU {fits[default]:.2f})"
    else:
        if not count:
            without = "no image of the other side has both boxes and objects to compare"
            needs = "there is no other side to compare with" if other is None else without
            raise InputError(f"{refused}: {needs}; {advice}")
        if compared is not None and _lack_sizes(compared):
            needs = "the sizes of some pictures are not known: give the pictures by --images FOLDER"
            raise InputError(f"{refused}: {needs}, or {advice}")
        if best is None or not wins:
            raise InputError(f"{refused}{shown or ': no reading is possible'}; {advice}")
        if known and best not in known:
            orders = ", ".join(map(str, known))
            raise InputError(f"{refused}: {form} means {orders}, but {best} fits{shown}; {advice}")
        finer = best._replace(scale=FINER_SCALE)
        if compared is not None and best.scale == 1000.0:
            fit = float(_best_iou(compared, finer).mean())
            if fit >= FINER_GAIN * fits[best]:
                both = f"{best} (mean best IoU {fits[best]:.3f}) or {finer} ({fit:.3f})"
                raise InputError(f"{refused}: {both}; {advice}")
        taken, how = best, f"by their fit to the other side (mean best IoU {fits[best]:.2f})"
    notes = [f"boxes are read as {taken}, {how}; --coordinates declares another order or scale"]
    if taken in fits and fits[taken] < LOW_FIT:
        notes.append(
            f"its boxes hardly fit as {taken}; if the model saw resized pictures, declare their"
            f" sizes by --coordinates {taken.order}:resized=FILE"
        )
    read, unfit = _read(source, taken)
    if unfit:
        notes.append(
            counted(
                unfit, f"{{count}} box[es] with a side below 0 as {taken} [matches|match] nothing"
            )
        )
    warnings = (*source.warnings, *(f"{source.path}: {note}" for note in notes))
    read = in_pixels(read, read.sizes)
    return replace(read, reading=None, coordinates=str(taken), warnings=warnings)


def _read(source: Source, coordinates: Coordinates) -> tuple[Source, int]:
    """Return an input with its boxes so read, and how many have a side below 0; these get none."""
    outlines, scale = source.objects.outlines, coordinates.scale or 1.0
    is_box = outlines.counts == 0
    boxes = oriented(outlines.boxes, coordinates.order) / scale
    swap = coordinates.order == "yxyx"
    vertices = (outlines.vertices[:, ::-1] if swap else outlines.vertices) / scale
    if not is_box.all():
        polygons = np.flatnonzero(~is_box)
        boxes[polygons] = box_geometry.around(vertices, vertices, outlines.offsets[polygons])
    unfit = int((boxes[:, 2:] < boxes[:, :2]).any(axis=1).sum())
    boxes = np.hstack([boxes[:, :2], np.maximum(boxes[:, :2], boxes[:, 2:])])
    has_objects = np.diff(source.objects.offsets) > 0
    drawn = Outlines(boxes, vertices, outlines.offsets)
    return replace(
        source,
        objects=replace(source.objects, outlines=drawn),
        fractions=None if coordinates.scale is None else has_objects,
    ), unfit


def _compared(source: Source, other: Source, paired: Ints) -> _Compared:
    counts: Bools = np.logical_not(other.objects.dont_care)
    image_of = other.objects.image
    per_image = np.bincount(image_of[counts], minlength=len(other.names))
    known = np.array(paired >= 0)
    known[known] = per_image[paired[known]] > 0
    rows = np.flatnonzero(known[source.objects.image])
    rows = rows[:: len(rows) // MOST_BOXES + 1]
    image = source.objects.image[rows]
    partners = paired[image]
    own = source.sizes[image]
    sizes = np.where(np.all(own > 0, axis=1, keepdims=True), own, other.sizes[partners])
    offsets = np.concatenate([[0], np.cumsum(per_image)])
    outlines = source.objects.outlines
    return _Compared(
        outlines.boxes[rows],
        sizes,
        outlines.counts[rows] == 0,
        partners,
        other.objects.outlines.boxes[counts],
        offsets,
    )


def _fits(compared: _Compared, known: Sequence[Coordinates]) -> dict[Coordinates, float]:
    """Return the fit of each reading that is not struck, the best first."""
    has_sizes = (compared.sizes > 0).all()
    fits = {}
    for reading in dict.fromkeys([*known, *CANDIDATES]):
        if not compared.is_box.all() and reading.order in ("xywh", "cxcywh"):
            continue
        if (has_sizes or reading.scale is None) and not _is_struck(compared, reading):
            fits[reading] = float(_best_iou(compared, reading).mean())
    return dict(sorted(fits.items(), key=lambda one: -one[1]))


def _lack_sizes(compared: _Compared) -> bool:
    """Whether a size that is not known could decide: another scale than pixels is possible."""
    scaled = [one for one in CANDIDATES if one.scale is not None]
    is_known = bool((compared.sizes > 0).all())
    return not is_known and not all(_is_struck(compared, one) for one in scaled)


def _is_struck(compared: _Compared, reading: Coordinates) -> bool:
    """Whether too many boxes are impossible: beyond the scale or the picture, or without sides."""
    numbers = compared.numbers
    boxes = oriented(numbers, reading.order)
    if reading.scale is None:
        widths = np.tile(compared.sizes[:, ::-1], 2)
        whole = np.where(widths > 0, widths, np.inf)
    else:
        whole = np.full(boxes.shape, reading.scale)
    margin = np.where(np.isinf(whole), 0.0, OUTSIDE * whole)
    beyond = whole + margin
    as_written = beyond[:, [1, 0, 3, 2]] if reading.order == "yxyx" else beyond
    impossible = (numbers > as_written) | (boxes > beyond) | (boxes < -margin)
    sides = boxes[:, 2:] < boxes[:, :2]
    wrong = impossible.any(axis=1) | (sides.any(axis=1) & compared.is_box)
    return bool(wrong.mean() > MOST_IMPOSSIBLE)


def _in_pixels(compared: _Compared, reading: Coordinates) -> Floats:
    boxes = oriented(compared.numbers, reading.order)
    if reading.scale is not None:
        boxes = boxes / reading.scale * np.tile(compared.sizes[:, ::-1], 2)
    return boxes


def _best_iou(compared: _Compared, reading: Coordinates) -> Floats:
    """(N,) the best IoU of each detection with an object of its image."""
    boxes = _in_pixels(compared, reading)
    best = np.zeros(len(boxes))
    first = np.flatnonzero(np.diff(compared.image, prepend=-1))
    for start, stop in zip(first, [*first[1:], len(boxes)], strict=True):
        image = compared.image[start]
        rows = slice(*compared.gt_offsets[image : image + 2])
        best[start:stop] = _iou(boxes[start:stop, None], compared.gt_boxes[None, rows]).max(axis=1)
    return best


def _iou(boxes: Floats, others: Floats) -> Floats:
    """Return the IoU of boxes with others, in the shape that numpy broadcasts both to."""
    corners = (
        np.maximum(boxes[..., :2], others[..., :2]),
        np.minimum(boxes[..., 2:], others[..., 2:]),
    )
    shared = np.maximum(corners[1] - corners[0], 0).prod(axis=-1)
    areas = [np.maximum(one[..., 2:] - one[..., :2], 0).prod(axis=-1) for one in (boxes, others)]
    union = areas[0] + areas[1] - shared
    return np.asarray(np.divide(shared, union, out=np.zeros_like(shared), where=union > 0))


def _winner(
    fits: dict[Coordinates, float], compared: _Compared | None, count: int
) -> tuple[Coordinates | None, bool]:
    """Return the reading of the best fit, and whether it is good enough, alone and by rivals."""
    if not fits or compared is None:
        return None, False
    best, *others = fits
    limits = _limits(count)
    boxes = _in_pixels(compared, best)

    def is_rival(reading: Coordinates) -> bool:
        ratio = limits.own_order if reading.order == best.order else limits.other_order
        if fits[best] >= ratio * fits[reading]:
            return False
        return bool(_iou(boxes, _in_pixels(compared, reading)).mean() < SAME_BOXES)

    return best, fits[best] >= limits.fit and not any(map(is_rival, others))


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
        data = Path(path).read_bytes()
        rows = list(_size_rows(data))
        sizes = {stem(str(name)): (float(width), float(height)) for name, width, height in rows}
        if not sizes or len(sizes) < len(rows) or min(min(size) for size in sizes.values()) <= 0:
            raise ValueError
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except (FormatError, ValueError, TypeError, KeyError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path}: no sizes of resized pictures; expected CSV with the header image,width,height"
            ' or JSON such as {"img_1": [644, 476]}, each image once'
        ) from error
    return sizes


def _size_rows(data: bytes) -> Iterator[tuple[str, float, float]]:
    if data.lstrip()[:1] in (b"{", b"["):
        value = plain_json(data)
        records = (
            value
            if isinstance(value, list)
            else [
                {"image": name, "width": size[0], "height": size[1]}
                if isinstance(size, list)
                else {"image": name, **size}
                for name, size in converted(
                    value, dict[str, list[float] | dict[str, float]]
                ).items()
            ]
        )
    else:
        records = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
    for record in records:
        yield record["image"], record["width"], record["height"]
