"""Columns of many images: the records that readers fill and protocols read.

Everything here is frozen and contains flat arrays; image ``k`` of a batch owns rows
``offsets[k]:offsets[k + 1]``. Coordinates are continuous, in pixels, y down. Nothing here reads
files or knows of scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Geometries: TypeAlias = NDArray[Any]
"""Object array of shapely geometries."""
ANY_TYPE = -1
"""The type of an object that may match objects of every type."""


class Texts(Sequence[str]):
    """Transcriptions as pieces of one UTF-8 buffer, decoded when asked for.

    Most protocols never look at them, and a million strings cost more than a million boxes.
    """

    __slots__ = ("buffer", "start", "stop")

    def __init__(self, buffer: bytes, start: Ints, stop: Ints) -> None:
        self.buffer, self.start, self.stop = buffer, start, stop

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice | np.ndarray):
            return Texts(self.buffer, self.start[index], self.stop[index])
        return self.buffer[int(self.start[index]) : int(self.stop[index])].decode(errors="replace")

    def __iter__(self) -> Iterator[str]:
        for start, stop in zip(self.start.tolist(), self.stop.tolist(), strict=True):
            yield self.buffer[start:stop].decode(errors="replace")

    @property
    def are_written(self) -> Bools:
        """(n,) whether each has a character."""
        return np.asarray(self.stop > self.start)

    @property
    def lengths(self) -> Ints:
        """(n,) how many characters each has."""
        if self.buffer.isascii():
            return np.asarray(self.stop - self.start)
        return np.fromiter(map(len, self), np.int64, len(self))


class Places(Sequence[str]):
    """Where objects are in a file, as a pattern and its numbers: ``{}``, ``annotations[{}]``."""

    __slots__ = ("numbers", "pattern")

    def __init__(self, pattern: str, numbers: Ints) -> None:
        self.pattern, self.numbers = pattern, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice | np.ndarray):
            return Places(self.pattern, self.numbers[index])
        return self.pattern.replace("{}", str(self.numbers[index]))


class Labels(Sequence[str]):
    """Classes of objects: few names, and (n,) which of them each object has."""

    __slots__ = ("codes", "names")

    def __init__(self, names: Sequence[str], codes: Ints) -> None:
        self.names, self.codes = names, codes

    @classmethod
    def from_texts(cls, texts: Sequence[str]) -> Labels:
        """Return one label for each text."""
        codes = {text: k for k, text in enumerate(dict.fromkeys(texts))}
        return cls(list(codes), np.fromiter(map(codes.__getitem__, texts), np.int64, len(texts)))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice | np.ndarray):
            return Labels(self.names, self.codes[index])
        return self.names[int(self.codes[index])]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Outlines:
    """What is drawn around each object: a box or a polygon."""

    boxes: Floats
    """(n, 4) float64. Bounding boxes x0, y0, x1, y1 with x0 <= x1 and y0 <= y1."""
    vertices: Floats
    """(v, 2) float64. Vertices of the polygons as read, in drawing order."""
    offsets: Ints
    """(n + 1,) int64. Object i owns ``vertices[offsets[i]:offsets[i + 1]]``; a box has none."""

    @classmethod
    def of_boxes(cls, boxes: Floats) -> Outlines:
        """Return (n, 4) boxes as outlines."""
        return cls(boxes, np.zeros((0, 2)), np.broadcast_to(np.int64(0), len(boxes) + 1))

    @property
    def all_boxes(self) -> bool:
        """Whether no object is a polygon."""
        return not len(self.vertices)

    @property
    def counts(self) -> Ints:
        """(n,) how many vertices each object has; 0 for a box."""
        return np.diff(self.offsets)

    def ring(self, index: int) -> Floats:
        """(k, 2) vertices of an object; none of a box."""
        vertices: Floats = self.vertices[self.offsets[index] : self.offsets[index + 1]]
        return vertices


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Objects:
    """The objects of one side (ground truth or detections) of a batch of images."""

    offsets: Ints
    """(images + 1,) int64. Image k owns rows ``offsets[k]:offsets[k + 1]``."""
    ids: Ints
    """(n,) int64. The objects' IDs, unique within an image."""
    outlines: Outlines
    regions: Ints
    """(n,) int64. Region IDs (ground truth only; the object's own ID where there are none)."""
    dont_care: Bools
    """(n,) bool. Rejected objects."""
    texts: Texts
    """n transcriptions, empty where there are none."""
    confidences: Floats | None = None
    """(n,) float64. Detection confidences; NaN for a detection without."""
    pixels: Floats | None = None
    """(n, 4) float64. First and last column and row, x0, y0, x1, y1, for protocols that count
    pixels; x1 = x0 - 1 for no column. None if they are those of `boxes`."""
    types: Ints | None = None
    """(n,) int64. Object types; `ANY_TYPE` for an object without. None if no object has one."""
    labels: Labels | None = None
    """The objects' classes; None without."""
    places: Places | Texts | None = None
    """Where each object is in its file (a line, or the way in a document); None if not known."""

    @property
    def count(self) -> int:
        """Number of objects."""
        return len(self.ids)

    @property
    def boxes(self) -> Floats:
        """(n, 4) bounding boxes x0, y0, x1, y1."""
        return self.outlines.boxes

    @property
    def image(self) -> Ints:
        """(n,) the image index of each object."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


class Convention(NamedTuple):
    """How a protocol takes the shapes of objects."""

    as_boxes: bool = False
    """Polygons are taken for their bounding boxes."""
    inclusive: bool = False
    """Corners are pixels, so a box reaches one pixel beyond x1 and y1; polygons are taken for their
    bounding boxes."""
    truncated: bool = False
    """Coordinates are cut to integers, towards 0."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ImageBatch:
    """Some images with all objects of both sides."""

    names: Sequence[str]
    """Image names, in the ground truth's order."""
    sizes: Floats
    """(images, 2) float64. Height and width; 0 where the format does not say."""
    gt: Objects
    det: Objects
    masks: tuple[Any, Any] | None = None
    """`geometry.masks.Masks` of both sides' objects, if the run has label pictures; areas are pixel
    counts."""
    in_detections: Bools | None = None
    """(images,) bool. Whether the detections name the image at all, with objects or without. None
    if all are named."""
    gt_lines: Objects | None = None
    """A ground truth of lines of the same images, in addition to that of words; None without one.
    """

    @property
    def has_masks(self) -> bool:
        """Whether areas are pixel counts of label pictures."""
        return self.masks is not None

    @property
    def named_in_detections(self) -> Bools:
        """(images,) `in_detections`, also if all are named."""
        everything = np.ones(len(self.names), dtype=bool)
        return everything if self.in_detections is None else self.in_detections


class Overlaps(NamedTuple):
    """Pairs of one image's objects whose intersection has an area that rounding cannot make, sorted
    by (gt, det).
    """

    gt: Ints
    det: Ints
    """`gt` and `det`: (p,) int64. Indices into the batch's ground truth and detections."""
    area: Floats
    """(p,) float64. Area of the intersection, in square pixels."""
    gt_area: Floats
    det_area: Floats
    """`gt_area` and `det_area`: (G,), (D,) float64. Areas of all objects."""
    gt_shapes: Any
    det_shapes: Any
    """`gt_shapes` and `det_shapes`: `geometry.shapes.Shapes` or `geometry.masks.Masks`, of all
    objects as the protocol takes them."""

    def recall(self) -> Floats:
        """(p,) share of the object that the detection covers, Area(G ∩ D) / Area(G)."""
        return np.minimum(self.area / self.gt_area[self.gt], 1.0)

    def precision(self) -> Floats:
        """(p,) share of the detection that the object covers, Area(G ∩ D) / Area(D)."""
        return np.minimum(self.area / self.det_area[self.det], 1.0)

    def iou(self) -> Floats:
        """(p,) intersection over union."""
        both = self.gt_area[self.gt] + self.det_area[self.det]
        return np.minimum(self.area / (both - self.area), 1.0)

    def some(self, which: Any) -> Overlaps:
        """Return some of the pairs."""
        return self._replace(gt=self.gt[which], det=self.det[which], area=self.area[which])


@dataclass(frozen=True, slots=True)
class GeometryCounts:
    """How many polygons a reader repaired, left out, or found without area."""

    repaired: int = 0
    dropped: int = 0
    zero_area: int = 0

    def __add__(self, other: GeometryCounts) -> GeometryCounts:
        return GeometryCounts(
            self.repaired + other.repaired,
            self.dropped + other.dropped,
            self.zero_area + other.zero_area,
        )


def concatenate_texts(texts: Sequence[str]) -> Texts:
    """Pack strings into `Texts`."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = offsets_of(list(map(len, encoded)))
    return Texts(b"".join(encoded), ends[:-1], ends[1:])


def offsets_of(counts: ArrayLike) -> Ints:
    """(n + 1,) rows before which each of n groups begins, and the end of the
    last, from (n,) counts or booleans.
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def ranges(starts: Ints | int, counts: Ints) -> Ints:
    """Return `np.arange(start, start + count)` for each of (n,) starts and counts, one after the
    other.
    """
    # Within a range, value and place in the result differ by the same number.
    result = np.repeat(starts - (np.cumsum(counts) - counts), counts)
    result += np.arange(len(result))
    return result


def chunks(counts: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Cut (n,) counts into chunks, from start to stop, of at most `most` in sum, or of one."""
    until, start, before = np.cumsum(counts), 0, 0
    while start < len(counts):
        stop = max(int(np.searchsorted(until, before + most, side="right")), start + 1)
        yield start, stop
        start, before = stop, int(until[stop - 1])
