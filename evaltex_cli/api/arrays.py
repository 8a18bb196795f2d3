"""The objects of one image from arrays: boxes, polygons or masks; and the image's size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaltex_cli.errors import InputError
from evaltex_cli.formats.memory import ImageObjects
from evaltex_cli.formats.options import COORDINATE_LIMIT
from evaltex_cli.geometry import outlines
from evaltex_cli.geometry.masks import PictureRuns, find_runs, object_of
from evaltex_cli.records import Floats, Ints, Objects, Texts

OneImage: TypeAlias = "Objects | ArrayLike | Iterable[ArrayLike]"
"""The objects of one image: what `objects_of` takes."""
_NO_NUMBERS = (TypeError, ValueError, RuntimeError)
"""What numpy raises for what is no array of numbers, such as tensors that require a gradient."""


def objects_of(given: OneImage) -> Objects:
    """Return the objects of one image; raises `InputError` for anything else."""
    if isinstance(given, Objects):
        return given
    if isinstance(given, str | bytes | dict) or not isinstance(given, Iterable):
        expected = "expected boxes, polygons or masks as arrays, or image_objects(...)"
        raise InputError(f"{type(given).__name__}; {expected}")
    try:
        array = np.asarray(given)
    except _NO_NUMBERS:
        return image_objects(polygons=list(given))  # of different lengths
    if array.dtype.kind == "b":
        return image_objects(masks=array)
    if not array.size or (array.ndim == 2 and array.shape[1] == 4):
        return image_objects(array)
    return image_objects(polygons=list(array))


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
            raise InputError("masks next to boxes or polygons; give all objects in one way")
        labels, ids = _labels(masks, ids)
        picture = find_runs(labels)
        boxes = _boxes_around(picture, ids)
    corners = _numbers([] if boxes is None else boxes, "boxes")
    rows = [*corners, *([] if polygons is None else polygons)]
    shapes = [_box_or_ring(row, f"object {k}") for k, row in enumerate(rows)]
    count = len(shapes)
    own = _ids(ids, count)
    sure = None if confidences is None else _numbers(confidences, "confidences")
    if sure is not None and ((sure < 0) | (sure > 1)).any():
        raise InputError(f"confidences: {sure.tolist()}; expected numbers from 0 to 1")
    written = _column(texts, "texts", count, "U", [""] * count)
    return ImageObjects(
        offsets=np.array([0, count]),
        ids=own,
        outlines=outlines.drawn(
            np.concatenate([np.zeros(0), *(shape.ravel() for shape in shapes)]),
            np.array([shape.size for shape in shapes], np.int64),
            np.array([shape.ndim == 1 for shape in shapes], bool),
        ),
        regions=_column(regions, "regions", count, "iu", own).astype(np.int64),
        dont_care=_column(dont_care, "dont_care", count, "biu", np.zeros(count)) != 0,
        texts=Texts.of(written.tolist()),
        confidences=sure if sure is None else _column(sure, "confidences", count, "f"),
        picture=picture,
    )


def _box_or_ring(given: ArrayLike, what: str) -> Floats:
    array = _numbers(given, what)
    if array.ndim == 1 and array.size >= 8 and array.size % 2 == 0:
        array = array.reshape(-1, 2)
    if array.shape != (4,) and (array.shape[1:] != (2,) or len(array) < 3):
        expected = "expected (4,) for a box, (k, 2) for a polygon of three vertices or more"
        more = "masks are of bool, and image_objects(...) takes confidences"
        raise InputError(f"{what}: shape {array.shape}; {expected}; {more}")
    if not (np.abs(array) <= COORDINATE_LIMIT).all():  # NaN is not either
        expected = "expected finite numbers, pixels up to 1e12"
        raise InputError(f"{what}: {array.tolist()}; {expected}")
    if array.ndim == 1 and (array[2:] < array[:2]).any():
        expected = "x0, y0, x1, y1 with x0 <= x1 and y0 <= y1 (corners, not width and height)"
        raise InputError(f"{what}: a box {array.tolist()}; expected {expected}")
    return array


def _labels(masks: ArrayLike, ids: ArrayLike | None) -> tuple[Ints, Ints]:
    """Return a (height, width) label picture and the IDs of its objects."""
    array = np.asarray(masks)
    if array.ndim == 2 and array.dtype.kind in "iu":
        labels = array.astype(np.int64)
        present = np.unique(labels[labels != 0])
        own = _ids(present if ids is None else ids, len(present))
    elif array.ndim == 3 and (array.dtype.kind == "b" or not array.size):
        labels, own = np.zeros(array.shape[1:], np.int64), _ids(ids, len(array))
        for mask, number in zip(array.astype(bool), own.tolist(), strict=True):
            labels[mask] = number
        if np.count_nonzero(labels) < array.sum():
            raise InputError("masks share pixels, or have the ID 0; expected neither")
        present = np.unique(labels[labels != 0])
    else:
        expected = "(n, height, width) booleans, or (height, width) integers, 0 for no object"
        raise InputError(f"masks: shape {array.shape}, type {array.dtype}; expected {expected}")
    if sorted(own.tolist()) != present.tolist():
        shown = f"IDs {own[:5].tolist()}, but pixels of {present[:5].tolist()}"
        raise InputError(f"masks: {shown}; expected pixels of each object")
    return labels, own


def _boxes_around(runs: PictureRuns, ids: Ints) -> Floats:
    row, owner = runs.start // max(runs.shape[1], 1), object_of(runs.label, ids)
    first = row * runs.shape[1]
    lower, upper = np.full((len(ids), 2), np.inf), np.zeros((len(ids), 2))
    np.minimum.at(lower, owner, np.column_stack([runs.start - first, row]))
    np.maximum.at(upper, owner, np.column_stack([runs.stop - first, row + 1]))
    return np.hstack([lower, upper])


def _numbers(values: Any, what: str) -> Floats:
    """Return a copy, since training loops use their buffers again."""
    try:
        return np.array(np.asarray(values), dtype=np.float64)
    except _NO_NUMBERS as error:
        raise InputError(f"{what}: not an array of numbers ({error})") from error


def _column(
    values: ArrayLike | None, what: str, count: int, kinds: str, default: Any = ()
) -> NDArray[Any]:
    if values is None:
        return np.asarray(default)
    array = np.asarray(values)
    if array.shape != (count,) or (count and array.dtype.kind not in kinds):
        expected = {"b": "booleans", "i": "integers", "f": "numbers", "U": "strings"}[kinds[0]]
        shape = f"shape {array.shape}, type {array.dtype}"
        raise InputError(f"{what}: {shape}; expected ({count},) {expected}, one an object")
    return array


def _ids(ids: ArrayLike | None, count: int) -> Ints:
    own = _column(ids, "ids", count, "iu", np.arange(1, count + 1)).astype(np.int64)
    if len(np.unique(own)) != count:
        raise InputError("ids repeat; expected IDs used once in an image")
    return own


def image_size(size: tuple[float, float]) -> tuple[float, float]:
    """Return height and width; raises `InputError` for what is none."""
    numbers = _numbers(size, "size")
    if numbers.shape != (2,) or not ((numbers > 0) & (numbers <= COORDINATE_LIMIT)).all():
        raise InputError(f"size: {numbers}; expected (height, width) in pixels, both above 0")
    height, width = numbers.tolist()
    return height, width
