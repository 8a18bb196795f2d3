"""One image from arrays: its objects as boxes, quadrilaterals, polygons or masks, and its size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltex_cli.errors import InputError, quote
from evaltex_cli.formats.memory import ImageObjects
from evaltex_cli.formats.options import COORDINATE_LIMIT
from evaltex_cli.geometry import outlines
from evaltex_cli.geometry.masks import PictureRuns, find_runs, object_of
from evaltex_cli.records import Floats, Ints, Objects, Outlines, Texts

OneImage: TypeAlias = "Objects | ArrayLike | Iterable[ArrayLike]"
"""The objects of one image: what `objects_of` takes."""
FORMS = (
    "(n, 4) boxes x0, y0, x1, y1, (n, 8) or (n, k, 2) vertices, a list of (k, 2) polygons, (n,"
    " height, width) masks of bool, or image_objects(...), which takes confidences too"
)
_NO_ARRAY = (TypeError, ValueError, RuntimeError, OverflowError)
"""What numpy raises for what is no array of numbers, such as tensors that require a gradient."""


def objects_of(given: OneImage) -> Objects:
    """Return the objects of one image; raises `InputError` for what is in none of the `FORMS`."""
    if isinstance(given, Objects):
        return given
    if isinstance(given, str | bytes | dict) or not isinstance(given, Iterable):
        raise InputError(f"{type(given).__name__}; expected {FORMS}")
    try:
        array = _as_array(given)
    except _NO_ARRAY:
        return image_objects(polygons=list(given))  # of different lengths
    if array.dtype.kind == "b":
        return image_objects(masks=array)
    if array.size and array.dtype.kind not in "iuf":
        return image_objects(polygons=list(given))
    width = array.shape[1] if array.ndim == 2 else 0
    if width == 4 or not array.size:
        return image_objects(array)
    if (width >= 8 and width % 2 == 0) or (array.ndim == 3 and array.shape[2] == 2):
        return image_objects(polygons=list(array.reshape(len(array), -1, 2)))
    raise InputError(f"an array of {_kind(array)}; expected {FORMS}")


def image_objects(
    boxes: ArrayLike | None = None,
    polygons: Sequence[ArrayLike] | None = None,
    *,
    masks: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    regions: ArrayLike | None = None,
    dont_care: ArrayLike | None = None,
    texts: Sequence[str] | None = None,
    confidences: ArrayLike | None = None,
) -> ImageObjects:
    """Make the objects of one image from arrays.

    Parameters
    ----------
    boxes : (b, 4) array, optional
        x0, y0, x1, y1 in pixels.
    polygons : sequence of (k, 2) arrays, optional
        Vertices of polygons; they follow the boxes. Boxes, (4,), may be among them.
    masks : (m, height, width) booleans or (height, width) integers, optional
        Pixels of the objects, instead of boxes and polygons: a mask per object, which share no
        pixel, or a label picture of the objects' IDs, 0 for none. Then both sides must be masks.
    ids, regions : (n,) integers, optional
        Default 1..n, and the object's own ID.
    dont_care : (n,) booleans, optional
    texts : sequence of n str, optional
    confidences : (n,) numbers, optional
        Of detections, from 0 to 1; NaN or None for a detection without.

    Raises
    ------
    InputError
        For arrays of the wrong shape or kind, numbers that are not finite or beyond 1e12, inverted
        boxes, IDs that repeat, confidences outside [0, 1], masks that are empty or share pixels.

    Examples
    --------
    >>> quad = [(50, 0), (90, 5), (88, 15), (48, 10)]
    >>> image_objects([[0, 0, 40, 10]], [quad], texts=["two", "words"])
    ImageObjects(1 box, 1 polygon)
    """
    picture: PictureRuns | None = None
    if masks is not None:
        if boxes is not None or polygons is not None:
            one_way = "give all objects of an image in one way"
            raise InputError(f"masks do not go with boxes and polygons; {one_way}")
        labels, ids = _labels(masks, ids)
        picture = find_runs(labels)
        boxes = _boxes_around(picture, ids)
    corners = _floats([] if boxes is None else boxes, "boxes")
    if corners.size and corners.shape[1:] != (4,):
        raise InputError(f"boxes: shape {corners.shape}; expected (n, 4)")
    shapes = list(corners.reshape(-1, 4))
    for ring in [] if polygons is None else polygons:
        shapes.append(_box_or_ring(ring, f"object {len(shapes)}"))
    count = len(shapes)
    own = _ids(ids, count)
    of_regions = _column(own if regions is None else regions, "regions", count, "iu")
    ignored = np.zeros(count, bool) if dont_care is None else dont_care
    return ImageObjects(
        offsets=np.array([0, count]),
        ids=own,
        outlines=_outlines(shapes),
        regions=of_regions.astype(np.int64),
        dont_care=_column(ignored, "dont_care", count, "biu") != 0,
        texts=_texts([""] * count if texts is None else texts, count),
        confidences=None if confidences is None else _confidences(confidences, count),
        picture=picture,
    )


def _box_or_ring(given: ArrayLike, what: str) -> Floats:
    array = _floats(given, what)
    if array.ndim == 1 and array.size >= 8 and array.size % 2 == 0:
        array = array.reshape(-1, 2)
    if array.shape != (4,) and (array.shape[1:] != (2,) or len(array) < 3):
        expected = "(k, 2) for a polygon of three vertices or more, (4,) for a box"
        raise InputError(f"{what}: shape {array.shape}; expected {expected}")
    return array


def _outlines(shapes: Sequence[Floats]) -> Outlines:
    """Return the outlines of boxes, (4,) each, and polygons, (k, 2) each, in this order."""
    numbers = np.concatenate([np.zeros(0), *(shape.ravel() for shape in shapes)])
    counts = np.array([shape.size for shape in shapes], np.int64)
    beyond = ~(np.abs(numbers) <= COORDINATE_LIMIT)  # NaN is not either
    if beyond.any():
        k = np.repeat(np.arange(len(shapes)), counts)[beyond][0]
        expected = "expected finite numbers, pixels up to 1e12"
        raise InputError(f"object {k}: holds {numbers[beyond][0]:g}; {expected}")
    found = outlines.drawn(numbers, counts, np.array([shape.ndim == 1 for shape in shapes], bool))
    for k in np.flatnonzero((found.boxes[:, 2:] < found.boxes[:, :2]).any(axis=1)).tolist():
        expected = "x0, y0, x1, y1 with x0 <= x1 and y0 <= y1 (corners, not width and height)"
        raise InputError(f"object {k}: a box {shapes[k].tolist()}; expected {expected}")
    return found


# Masks --------------------------------------------------------------------------------------------


def _labels(masks: ArrayLike, ids: ArrayLike | None) -> tuple[Ints, Ints]:
    """Return a (height, width) label picture and the IDs of its objects."""
    array = _as_array(masks)
    if array.ndim == 2 and array.dtype.kind in "iu":
        present = np.unique(array[array != 0]).astype(np.int64)
        own = present if ids is None else _ids(ids, len(present))
        if sorted(own.tolist()) != present.tolist():
            raise InputError(f"masks: labels {present[:5].tolist()}...; expected the IDs and 0")
        return array.astype(np.int64), own
    if array.ndim != 3 or (array.dtype.kind != "b" and array.size):
        expected = "(n, height, width) booleans, or (height, width) integers, 0 for no object"
        raise InputError(f"masks: {_kind(array)}; expected {expected}")
    own = _ids(ids, len(array))
    if not own.all():
        raise InputError("ids: 0 is where no mask is; expected other IDs")
    labels = np.zeros(array.shape[1:], np.int64)
    for k, (mask, number) in enumerate(zip(array, own.tolist(), strict=True)):
        if not mask.any():
            raise InputError(f"mask {k} has no pixel; leave out objects that are not there")
        if labels[mask].any():
            raise InputError(f"mask {k} shares pixels with an earlier one; expected no such pixel")
        labels[mask] = number
    return labels, own


def _boxes_around(runs: PictureRuns, ids: Ints) -> Floats:
    row, owner = runs.start // max(runs.shape[1], 1), object_of(runs.label, ids)
    first = row * runs.shape[1]
    lower, upper = np.full((len(ids), 2), np.inf), np.zeros((len(ids), 2))
    np.minimum.at(lower, owner, np.column_stack([runs.start - first, row]))
    np.maximum.at(upper, owner, np.column_stack([runs.stop - first, row + 1]))
    return np.hstack([lower, upper])


def refuse_other_masks(
    name: str, gt: Objects, det: Objects
) -> tuple[PictureRuns | None, PictureRuns | None]:
    """Return the pictures of masks of an image, of each side that has objects; raises `InputError`
    when only one side has masks, or theirs have another height and width.
    """
    ours, theirs = (getattr(side, "picture", None) for side in (gt, det))
    if (ours and theirs is None and det.count) or (theirs and ours is None and gt.count):
        mixed = "one side has masks, the other boxes or polygons; give both in one way"
        raise InputError(f"image {quote(name)}: {mixed}")
    if ours and theirs and ours.shape != theirs.shape:
        shapes = f"masks of shapes {ours.shape} and {theirs.shape}"
        raise InputError(f"image {quote(name)}: {shapes}; expected the same height and width")
    return ours, theirs


# Columns ------------------------------------------------------------------------------------------


def _as_array(values: Any) -> NDArray[Any]:
    """Return an array; numpy would take what a masked array, alone or in a list, hides for data."""
    for one in (values, *values) if isinstance(values, list | tuple) else (values,):
        if np.ma.is_masked(one):
            raise InputError("a masked array with masked values; expected only what is there")
    return np.asarray(values)


def _floats(values: Any, what: str) -> Floats:
    """Return a copy, since training loops use their buffers again."""
    try:
        array = _as_array(values)
        if array.dtype.kind not in "biufO":  # numpy makes numbers of dates and complex numbers
            raise TypeError(f"type {array.dtype}")
        return np.array(array, dtype=np.float64)
    except _NO_ARRAY as error:
        raise InputError(f"{what}: not an array of numbers ({error})") from error


def _column(values: ArrayLike, what: str, count: int, kinds: str) -> NDArray[Any]:
    array = _as_array(values)
    if array.shape != (count,) or (count and array.dtype.kind not in kinds):
        expected = {"b": "booleans", "i": "integers", "f": "numbers"}[kinds[0]]
        raise InputError(f"{what}: {_kind(array)}; expected ({count},) {expected}, one an object")
    return array


def _kind(array: NDArray[Any]) -> str:
    return f"shape {array.shape}, type {array.dtype}"


def _ids(ids: ArrayLike | None, count: int) -> Ints:
    """(n,) the IDs of objects, by default from 1."""
    own = np.arange(1, count + 1) if ids is None else _column(ids, "ids", count, "iu")
    if len(np.unique(own)) != count:
        raise InputError("ids repeat; expected IDs used once in an image")
    return own.astype(np.int64)


def _confidences(values: ArrayLike, count: int) -> Floats:
    column = _column(_floats(values, "confidences"), "confidences", count, "f")
    for outside in column[(column < 0) | (column > 1)]:
        raise InputError(f"confidences: holds {outside:g}; expected numbers from 0 to 1")
    return column


def _texts(given: Iterable[str], count: int) -> Texts:
    texts = [given] if isinstance(given, str) else list(given)  # not each character
    if len(texts) != count or not all(isinstance(text, str) for text in texts):
        kinds = " and ".join(sorted({type(text).__name__ for text in texts}))
        raise InputError(f"texts: {len(texts)} of {kinds}; expected {count} strings, '' for none")
    return Texts.of(texts)


def image_size(size: tuple[float, float] | None) -> Floats:
    """Return height and width as an array, 0 if not known; raises `InputError` for what is none."""
    if size is None:
        return np.zeros(2)
    numbers = _floats(size, "size")
    if numbers.shape != (2,) or not ((numbers > 0) & (numbers <= COORDINATE_LIMIT)).all():
        raise InputError(f"size: {numbers}; expected (height, width) in pixels, both above 0")
    return numbers
