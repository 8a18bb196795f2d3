"""Evaluation of objects in memory, for training loops: no files, the same batches, the same scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.evaluation import evaluate, tally
from evaltex_cli.evaluation.batches import are_polygons
from evaltex_cli.formats.files.numbers import COORDINATE_LIMIT
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.geometry import outlines
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import load
from evaltex_cli.records import (
    Floats,
    GeometryCounts,
    ImageBatch,
    Objects,
    Outlines,
    Texts,
    concatenate,
    concatenate_texts,
)

FLUSH_OBJECTS = 20_000


def image_objects(
    boxes: ArrayLike | None = None,
    polygons: Sequence[ArrayLike] | None = None,
    *,
    ids: ArrayLike | None = None,
    regions: ArrayLike | None = None,
    dont_care: ArrayLike | None = None,
    texts: Sequence[str] | None = None,
    confidences: ArrayLike | None = None,
) -> Objects:
    """Make the objects of one image from arrays.

    Parameters
    ----------
    boxes : (b, 4) array, optional
        x0, y0, x1, y1 in pixels.
    polygons : sequence of (k, 2) arrays, optional
        Vertices of polygons; they follow the boxes.
    ids, regions : (n,) integers, optional
        Default 1..n, and the object's own ID.
    dont_care : (n,) booleans, optional
    texts : sequence of n str, optional
    confidences : (n,) numbers, optional
        Of detections, from 0 to 1; NaN or None for one that has none.

    Returns
    -------
    Objects

    Raises
    ------
    InputError
        For arrays of the wrong shape or kind, numbers that are not finite or beyond 1e12, inverted boxes, IDs that
        repeat, confidences outside [0, 1].
    """
    box_array = _array(boxes if boxes is not None else np.zeros((0, 4)), "boxes", 4)
    rings = [_array(ring, f"polygon {k}", 2) for k, ring in enumerate(polygons or [])]
    if (box_array[:, 2:] < box_array[:, :2]).any():
        bad = int(np.flatnonzero((box_array[:, 2:] < box_array[:, :2]).any(axis=1))[0])
        raise InputError(f"box {bad} is {box_array[bad].tolist()}; expected x0, y0, x1, y1 with x0 <= x1 and y0 <= y1")
    count = len(box_array) + len(rings)
    own = np.arange(1, count + 1) if ids is None else _column(ids, "ids", count, np.int64, "iu")
    if len(np.unique(own)) != count:
        raise InputError("ids repeat; expected IDs used once in an image")
    return Objects(
        offsets=np.array([0, count]),
        ids=own,
        outlines=_outlines(box_array, rings),
        regions=own if regions is None else _column(regions, "regions", count, np.int64, "iu"),
        dont_care=np.zeros(count, dtype=bool)
        if dont_care is None
        else _column(dont_care, "dont_care", count, np.bool_, "biu"),
        texts=_texts([""] * count if texts is None else list(texts), count),
        confidences=None if confidences is None else _confidences(confidences, count),
    )


def _outlines(boxes: Floats, rings: list[Floats]) -> Outlines:
    for k, ring in enumerate(rings):
        if len(ring) < 3:
            raise InputError(f"polygon {k} has fewer than three vertices")
    numbers = np.concatenate([boxes.ravel(), *(ring.ravel() for ring in rings)])
    counts = np.array([4] * len(boxes) + [ring.size for ring in rings], np.int64)
    return outlines.from_numbers(numbers, counts, np.arange(len(counts)) < len(boxes))[0]


def _array(values: ArrayLike, what: str, width: int) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)  # a copy: training loops use their buffers again
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: not an array of numbers ({error})") from error
    if array.size == 0:
        array = array.reshape(0, width)
    if array.ndim != 2 or array.shape[1] != width:
        raise InputError(f"{what}: shape {array.shape}; expected (n, {width})")
    if not np.isfinite(array).all():
        raise InputError(f"{what}: holds NaN or infinity; expected finite numbers")
    if (np.abs(array) > COORDINATE_LIMIT).any():
        raise InputError(f"{what}: holds a number beyond 1e12 in magnitude; expected pixels")
    return array


def _column(values: ArrayLike, what: str, count: int, dtype: Any, kinds: str) -> Any:
    array = np.asarray(values)
    if array.shape != (count,):
        raise InputError(f"{what}: shape {array.shape}; expected ({count},), one an object")
    if count and array.dtype.kind not in kinds:
        raise InputError(f"{what}: of type {array.dtype}; expected {'booleans' if 'b' in kinds else 'integers'}")
    return array.astype(dtype)


def _confidences(values: ArrayLike, count: int) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"confidences: not an array of numbers ({error})") from error
    column: Floats = _column(array, "confidences", count, np.float64, "f")
    outside = (column < 0) | (column > 1)
    if outside.any():
        raise InputError(f"confidences: holds {column[outside][0]:g}; expected numbers from 0 to 1")
    return column


def _size(size: tuple[float, float] | None) -> Floats:
    if size is None:
        return np.zeros(2)
    try:
        numbers = np.array(size, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.shape != (2,) or not ((numbers > 0) & (numbers <= COORDINATE_LIMIT)).all():
        raise InputError(f"size: {quote(repr(size))}; expected (height, width) in pixels, both above 0")
    return numbers


def _texts(texts: list[str], count: int) -> Texts:
    if len(texts) != count:
        raise InputError(f"texts: {len(texts)} of them; expected {count}, one an object")
    if not all(isinstance(text, str) for text in texts):
        raise InputError("texts: holds something else than strings; expected '' where there is none")
    return concatenate_texts(texts)


class Accumulator:
    """Scores a data set that comes image by image.

    Parameters
    ----------
    protocol : str
        A name of the registry.
    **parameters
        The protocol's parameters.

    Raises
    ------
    ConfigError
        For an unknown protocol or parameter, or a value out of range.

    Examples
    --------
    >>> accumulator = Accumulator("evaltex")
    >>> accumulator.update([[0, 0, 100, 20]], [[0, 0, 50, 20]])
    >>> round(accumulator.compute().scores["precision"], 3)
    1.0
    """

    def __init__(self, protocol: str = "evaltex", **parameters: Any) -> None:
        spec = load(protocol)
        self._parameters = config.checked(protocol, parameters)
        self._runs = {False: tally.Run(spec, spec.resolve(self._parameters, lambda: False))}
        among_polygons = spec.resolve(self._parameters, lambda: True)
        if among_polygons != self._runs[False].parameters:  # which one applies is known at the end
            self._runs[True] = tally.Run(spec, among_polygons)
        self._has_polygons = False
        self._waiting: list[tuple[Objects, Objects, Floats]] = []
        self._waiting_objects = 0
        self._counts = [tally.InputCounts(), tally.InputCounts()]

    def update(
        self, gt: Objects | ArrayLike, det: Objects | ArrayLike, *, size: tuple[float, float] | None = None
    ) -> None:
        """Add one image.

        Parameters
        ----------
        gt, det : Objects or (n, 4) array
            `image_objects`, or boxes x0, y0, x1, y1.
        size : (height, width), optional
            Of the image in pixels, in the order of an array's shape; CLEval's `scale_bins` needs it.

        Raises
        ------
        InputError
            As `image_objects`; for a size that is none; where the parameters need a size or confidences that are not
            given. The image is then not added.
        """
        pair = tuple(side if isinstance(side, Objects) else image_objects(side) for side in (gt, det))
        image = (pair[0], pair[1], _size(size))
        run = self._runs[False]
        run.protocol.needs(ImageBatch([""], image[2][None], pair[0], pair[1]), run.parameters)
        self._waiting.append(image)
        self._waiting_objects += pair[0].count + pair[1].count
        if self._waiting_objects >= FLUSH_OBJECTS:
            self._flush()

    def merge(self, other: Accumulator) -> None:
        """Add everything another accumulator has seen; it must score by the same protocol and parameters.

        Raises
        ------
        ConfigError
            When it does not.
        """
        mine, theirs = self._runs[False].protocol, other._runs[False].protocol
        if mine.name != theirs.name or self._parameters != other._parameters:
            raise ConfigError(f"accumulators differ: {self._parameters} and {other._parameters}")
        other._flush()
        for has_polygons, run in self._runs.items():
            run.gathered.add(other._runs[has_polygons].gathered)
        self._has_polygons |= other._has_polygons
        self._counts = [ours + theirs for ours, theirs in zip(self._counts, other._counts, strict=True)]

    def compute(self) -> tally.Evaluation:
        """Score everything added so far; more may be added after."""
        self._flush(even_if_empty=not self._counts[0].images)
        gt, det = (tally.InputSummary.of_file(tally.InputFile(), counts) for counts in self._counts)
        return evaluate.scored(self._runs[self._has_polygons], gt, det, InputOptions(), [])

    def _flush(self, even_if_empty: bool = False) -> None:
        if not self._waiting and not even_if_empty:
            return
        batch = _batch(self._waiting)
        gt, det = batch.gt, batch.det
        self._has_polygons |= True in self._runs and (are_polygons(gt) or are_polygons(det))
        for has_polygons, run in self._runs.items():
            if has_polygons or not self._has_polygons:
                tally.add_batch(run, batch, None)
        self._counts = [
            counts + tally.InputCounts.of(side, GeometryCounts())
            for counts, side in zip(self._counts, (gt, det), strict=True)
        ]
        self._waiting, self._waiting_objects = [], 0


def _batch(images: Sequence[tuple[Objects, Objects, Floats]]) -> ImageBatch:
    sides = zip(*((gt, det) for gt, det, _ in images), strict=True) if images else [(_NOTHING,), (_NOTHING,)]
    gt, det = (concatenate(side) for side in sides)
    sizes = np.array([size for _, _, size in images]).reshape(-1, 2)
    return ImageBatch([""] * len(images), sizes, gt, det)


_NOTHING = Objects(
    offsets=np.zeros(1, np.int64),
    ids=np.zeros(0, np.int64),
    outlines=Outlines.of_boxes(np.zeros((0, 4))),
    regions=np.zeros(0, np.int64),
    dont_care=np.zeros(0, dtype=bool),
    texts=concatenate_texts([]),
)
