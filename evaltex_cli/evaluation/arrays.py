"""One image from arrays: its objects as boxes, quadrilaterals, polygons or masks, and its size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltex_cli.errors import InputError, quote
from evaltex_cli.formats.memory import ImageObjects
from evaltex_cli.formats.options import COORDINATE_LIMIT
from evaltex_cli.geometry import outlines
from evaltex_cli.geometry.picture_runs import PictureRuns, find_runs, object_of
from evaltex_cli.records import Bools, Floats, Ints, Objects, Outlines, Texts, concatenate_texts

OneImage: TypeAlias = "Objects | ArrayLike | Iterable[ArrayLike]"
"""The objects of one image: what `objects_of` takes."""
FORMS = (
    "(n, 4) boxes x0, y0, x1, y1, (n, 8) or (n, k, 2) vertices, a list of (k, 2) polygons, (n,"
    " height, width) masks of bool, or image_objects(...)"
)
_NO_ARRAY = (TypeError, ValueError, RuntimeError, OverflowError)
"""What numpy raises for what is no array of numbers: tensors that require a gradient, integers that
no float holds."""
_HINTS = {
    5: "; a confidence goes into image_objects(boxes[:, :4], confidences=boxes[:, 4])",
    6: (
        "; confidences go into image_objects(boxes[:, :4], confidences=...), triangles into an"
        " array (n, 3, 2)"
    ),
    9: (
        "; a confidence goes into image_objects(polygons=rows[:, :8].reshape(-1, 4, 2),"
        " confidences=rows[:, 8])"
    ),
}


def objects_of(given: OneImage) -> Objects:
    """Return the objects of one image from `image_objects`, or an array of (n, 4) boxes, (n, 8),
    (n, 10), ... or (n, k, 2) vertices, (n, height, width) masks of bool, or a list of polygons,
    each (k, 2), and boxes. Raises `InputError` for anything else.
    """
    if isinstance(given, Objects):
        return given
    array = _plain_array(given)
    if array is None:
        return _of_shapes(given)
    if array.dtype.kind == "b":
        return image_objects(masks=array)
    if array.size == 0:
        return image_objects()
    if array.ndim == 2 and array.shape[1] == 4:
        return image_objects(array)
    if array.ndim == 2 and array.shape[1] >= 8 and array.shape[1] % 2 == 0:
        return image_objects(polygons=list(array.reshape(len(array), -1, 2)))
    if array.ndim == 3 and array.shape[2] == 2:
        return image_objects(polygons=list(array))
    hint = _HINTS.get(array.shape[1], "") if array.ndim == 2 else ""
    raise InputError(f"an array of shape {array.shape}, type {array.dtype}; expected {FORMS}{hint}")


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
        Vertices of polygons; they follow the boxes.
    masks : (m, height, width) booleans or (height, width) integers, optional
        Pixels of the objects, instead of boxes and polygons: one mask per object, which share no
        pixel, or a label picture, whose values are the objects' IDs, 0 for none. Then both sides
        must be masks.
    ids, regions : (n,) integers, optional
        Default 1..n, and the object's own ID.
    dont_care : (n,) booleans, optional
    texts : sequence of n str, optional
    confidences : (n,) numbers, optional
        Of detections, from 0 to 1; NaN or None for one that has none.

    Returns
    -------
    ImageObjects

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
    drawn = enumerate([] if polygons is None else polygons)
    rings = [_array(ring, f"polygon {k}", 2) for k, ring in drawn]
    if masks is not None:
        if boxes is not None or rings:
            raise InputError(
                "masks do not go with boxes and polygons; give all objects of an image in one way"
            )
        labels, ids = _labels(masks, ids)
        picture = find_runs(labels)
        boxes = _boxes_around(picture, ids)
    box_array = _array(boxes if boxes is not None else np.zeros((0, 4)), "boxes", 4)
    shapes = [*box_array, *rings]
    is_box = np.arange(len(shapes)) < len(box_array)
    count = len(shapes)
    own = _ids(ids, count)
    none = np.zeros(count, np.bool_)
    return ImageObjects(
        offsets=np.array([0, count]),
        ids=own,
        outlines=_outlines(shapes, is_box),
        regions=own if regions is None else _integers(regions, "regions", count),
        dont_care=none
        if dont_care is None
        else _column(dont_care, "dont_care", count, "biu").astype(np.bool_),
        texts=_texts([""] * count if texts is None else texts, count),
        confidences=None if confidences is None else _confidences(confidences, count),
        picture=picture,
    )


def _outlines(shapes: Sequence[Floats], is_box: Bools) -> Outlines:
    """Return the outlines of boxes, (4,) each, and polygons, (k, 2) each, in this order."""
    places = {True: 0, False: 0}  # boxes and polygons are numbered apart, as they are given
    for shape, box in zip(shapes, is_box.tolist(), strict=True):
        if box and (shape[2:] < shape[:2]).any():
            raise InputError(
                f"box {places[box]} is {shape.tolist()}; expected x0, y0, x1, y1 with x0 <= x1 and"
                " y0 <= y1 (corners, not width and height)"
            )
        if not box and len(shape) < 3:
            raise InputError(f"polygon {places[box]} has fewer than three vertices")
        places[box] += 1
    numbers = np.concatenate([np.zeros(0), *(shape.ravel() for shape in shapes)])
    sizes = np.array([shape.size for shape in shapes], np.int64)
    return outlines.drawn(numbers, sizes, is_box)


# From arrays of other forms -----------------------------------------------------------------------


def _plain_array(given: Any) -> NDArray[Any] | None:
    """Return it as an array of numbers or booleans; None for polygons of different lengths."""
    if isinstance(given, str | bytes | dict):
        raise InputError(f"{type(given).__name__}; expected {FORMS}")
    try:
        array = _as_array(given)
    except _NO_ARRAY:
        return None
    if array.dtype.kind not in "biuf" and array.size:
        return None
    if array.ndim == 1 and array.size:
        raise InputError(
            f"a list of {array.size} numbers; expected {FORMS}; of one object [object]"
        )
    return array


def _of_shapes(given: Any) -> ImageObjects:
    """Return objects from a list of polygons and boxes, in its order."""
    try:
        items = [_numbers(one) for one in given]
    except _NO_ARRAY as error:
        raise InputError(f"not arrays of numbers ({error}); expected {FORMS}") from error
    shapes = []
    for k, one in enumerate(items):
        flat = one.ndim == 1 and one.size % 2 == 0 and (one.size == 4 or one.size >= 8)
        if not flat and not (one.ndim == 2 and one.shape[1] == 2):
            raise InputError(
                f"object {k} of shape {one.shape}; expected (4,) for a box, (k, 2) for a polygon"
            )
        shape = one if one.shape == (4,) else one.reshape(-1, 2)
        shapes.append(_finite(shape, f"object {k}"))
    is_box = np.array([shape.ndim == 1 for shape in shapes], bool)
    return replace(image_objects(np.zeros((len(shapes), 4))), outlines=_outlines(shapes, is_box))


def _labels(masks: ArrayLike, ids: ArrayLike | None) -> tuple[Ints, Ints]:
    """Return a (height, width) label picture and the IDs of its objects."""
    array = _as_array(masks)
    if array.ndim == 2 and array.dtype.kind in "iu":
        labels = np.unique(array[array != 0])
        present = _integers(labels, "masks", len(labels))
        own = present if ids is None else _ids(ids, len(present))
        if sorted(own.tolist()) != present.tolist():
            raise InputError(f"masks: labels {present[:5].tolist()}...; expected the IDs and 0")
        return array.astype(np.int64), own
    if array.ndim != 3 or (array.dtype.kind != "b" and array.size):
        raise InputError(
            f"masks: shape {array.shape}, type {array.dtype}; expected (n, height, width) booleans,"
            " one mask each, or (height, width) integers, 0 for no object"
        )
    own = _ids(ids, len(array))
    if not own.all():
        raise InputError("ids: 0 is where no mask is; expected other IDs")
    labels = np.zeros(array.shape[1:], np.int64)
    for k, (mask, number) in enumerate(zip(array, own.tolist(), strict=True)):
        if not mask.any():
            raise InputError(f"mask {k} has no pixel; leave out objects that are not there")
        shared = labels[mask & (labels != 0)]
        if len(shared):
            both = f"masks {own.tolist().index(shared[0])} and {k}"
            raise InputError(f"{both} share pixels; expected each pixel in one mask at most")
        labels[mask] = number
    return labels, own


def _boxes_around(runs: PictureRuns, ids: Ints) -> Floats:
    width = max(runs.shape[1], 1)
    row, owner = runs.start // width, object_of(runs.label, ids)
    boxes = np.tile([np.inf, np.inf, 0, 0], (len(ids), 1))
    corners = (runs.start - row * width, row, runs.stop - row * width, row + 1)
    for side, values in enumerate(corners):
        (np.minimum if side < 2 else np.maximum).at(boxes[:, side], owner, values)
    return boxes


# Columns ------------------------------------------------------------------------------------------


def _as_array(values: Any) -> NDArray[Any]:
    """Return it as an array; numpy would take what masked arrays, one or a list, hide for data."""
    for one in (values, *values) if isinstance(values, list | tuple) else (values,):
        hidden = getattr(one, "mask", None)
        if isinstance(hidden, np.ndarray) and hidden.any():
            raise InputError("a masked array with masked values; expected only what is there")
    return np.asarray(values)


def _numbers(values: Any) -> Floats:
    """Return a copy, since training loops use their buffers again."""
    array = _as_array(values)
    if array.dtype.kind in "cmM":
        raise TypeError(f"of type {array.dtype}")
    return np.array(array, dtype=np.float64)


def _floats(values: ArrayLike, what: str) -> Floats:
    try:
        return _numbers(values)
    except _NO_ARRAY as error:
        raise InputError(f"{what}: not an array of numbers ({error})") from error


def _array(values: ArrayLike, what: str, width: int) -> Floats:
    array = _floats(values, what)
    if array.size == 0:
        array = array.reshape(0, width)
    if array.ndim != 2 or array.shape[1] != width:
        raise InputError(f"{what}: shape {array.shape}; expected (n, {width})")
    return _finite(array, what)


def _finite(array: Floats, what: str) -> Floats:
    if not np.isfinite(array).all():
        raise InputError(f"{what}: holds NaN or infinity; expected finite numbers")
    if (np.abs(array) > COORDINATE_LIMIT).any():
        raise InputError(f"{what}: holds a number beyond 1e12 in magnitude; expected pixels")
    return array


def _column(values: ArrayLike, what: str, count: int, kinds: str) -> NDArray[Any]:
    array = _as_array(values)
    if array.shape != (count,):
        raise InputError(f"{what}: shape {array.shape}; expected ({count},), one an object")
    if count and array.dtype.kind not in kinds:
        raise InputError(
            f"{what}: of type {array.dtype}; expected {'booleans' if 'b' in kinds else 'integers'}"
        )
    return array


def _integers(values: ArrayLike, what: str, count: int) -> Ints:
    array = _column(values, what, count, "iu")
    if (array >= 1 << 63).any():
        raise InputError(f"{what}: holds {array.max()}; expected numbers below 2^63")
    return array.astype(np.int64)


def _ids(ids: ArrayLike | None, count: int) -> Ints:
    """(n,) the IDs of objects, by default from 1."""
    if ids is None:
        return np.arange(1, count + 1)
    own = _integers(ids, "ids", count)
    if len(np.unique(own)) != count:
        raise InputError("ids repeat; expected IDs used once in an image")
    return own


def _confidences(values: ArrayLike, count: int) -> Floats:
    column = _column(_floats(values, "confidences"), "confidences", count, "f")
    outside = (column < 0) | (column > 1)
    if outside.any():
        raise InputError(f"confidences: holds {column[outside][0]:g}; expected numbers from 0 to 1")
    return column


def _texts(given: Iterable[str], count: int) -> Texts:
    texts = [given] if isinstance(given, str) else list(given)  # not each character
    if len(texts) != count:
        raise InputError(f"texts: {len(texts)} of them; expected {count}, one an object")
    if not all(isinstance(text, str) for text in texts):
        raise InputError("texts: holds something else than strings; expected '' for none")
    return concatenate_texts(texts)


def refuse_other_masks(
    name: str, gt: Objects, det: Objects
) -> tuple[PictureRuns | None, PictureRuns | None]:
    """Return the pictures of masks of an image, of each side that has objects; raises `InputError`
    when only one side has masks, or theirs have another height and width.
    """
    pictures = [side.picture if isinstance(side, ImageObjects) else None for side in (gt, det)]
    shapes = [picture.shape for picture in pictures if picture is not None]
    others = zip(pictures, (gt, det), strict=True)
    if shapes and any(picture is None and side.count for picture, side in others):
        raise InputError(
            f"image {quote(name)}: one side has masks, the other boxes or polygons; give both in"
            " one way"
        )
    if len(set(shapes)) > 1:
        raise InputError(
            f"image {quote(name)}: masks of shapes {shapes[0]} and {shapes[1]}; expected the same"
            " height and width on both sides"
        )
    return pictures[0], pictures[1]


def refuse_mixed(ours: bool | None, theirs: bool | None) -> None:
    """Refuse masks among boxes and polygons; None is of no objects."""
    if None not in (ours, theirs) and ours != theirs:
        raise InputError(
            "some images have masks, others boxes or polygons; give all of them in one way"
        )


def image_size(size: tuple[float, float] | None) -> Floats:
    """Return height and width as an array, 0 if not known; raises `InputError` for what is none."""
    if size is None:
        return np.zeros(2)
    try:
        numbers = _numbers(size)
    except _NO_ARRAY:
        numbers = np.zeros(0)
    if numbers.shape != (2,) or not ((numbers > 0) & (numbers <= COORDINATE_LIMIT)).all():
        raise InputError(
            f"size: {quote(repr(size))}; expected (height, width) in pixels, both above 0"
        )
    return numbers
