"""Columns of many images: the records that readers fill and protocols read. Coordinates are
continuous, in pixels, y down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Geometries: TypeAlias = NDArray[Any]  # of shapely
ANY_TYPE = -1
"""The type of an object that may match objects of every type."""
_WEIGHTS = np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Texts(Sequence[str]):
    """Transcriptions as pieces of one UTF-8 buffer, decoded when asked for: a million strings cost
    more than a million boxes.
    """

    buffer: bytes
    start: Ints
    stop: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """Pack strings."""
        encoded: Sequence[Sized] = texts
        buffer = "".join(texts).encode("utf-8", "surrogatepass")
        if not buffer.isascii():
            encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        ends = offsets_of(list(map(len, encoded)))
        return cls(buffer, ends[:-1], ends[1:])

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

    @classmethod
    def join(cls, parts: Sequence[Texts | Ints]) -> Texts:
        """Return all texts, and numbers as texts, one after the other."""
        texts = [one if isinstance(one, Texts) else cls.of([*map(str, one)]) for one in parts]
        start = np.concatenate([one.start for one in texts])
        stop = np.concatenate([one.stop for one in texts])
        before = offsets_of([len(one.buffer) for one in texts])[:-1].repeat([*map(len, texts)])
        return cls(b"".join(one.buffer for one in texts), start + before, stop + before)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Labels(Sequence[str]):
    """Classes of objects: few names, and (n,) which of them each object has."""

    names: Sequence[str]
    codes: Ints

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

    @classmethod
    def join(cls, parts: Sequence[Labels]) -> Labels:
        """Return all labels, one after the other."""
        return cls.from_texts([one.names[k] for one in parts for k in one.codes.tolist()])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Outlines:
    """What is drawn around each object: a box or a polygon."""

    boxes: Floats  # (n, 4) bounding boxes x0, y0, x1, y1 with x0 <= x1 and y0 <= y1
    vertices: Floats  # (v, 2) those of the polygons as read, in drawing order
    offsets: Ints  # (n + 1,) object i owns vertices[offsets[i]:offsets[i + 1]]; a box has none

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
        return np.asarray(self.vertices[self.offsets[index] : self.offsets[index + 1]])

    def __getitem__(self, rows: Ints | Bools) -> Outlines:
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        boxes = self.boxes.take(rows, axis=0)
        if self.all_boxes:
            return Outlines.of_boxes(boxes)
        counts = self.counts[rows]
        vertices = self.vertices.take(ranges(self.offsets[rows], counts), axis=0)
        return Outlines(boxes, vertices, offsets_of(counts))

    @classmethod
    def join(cls, parts: Sequence[Outlines]) -> Outlines:
        """Return all outlines, one after the other."""
        boxes = np.concatenate([one.boxes for one in parts])
        vertices = np.concatenate([one.vertices for one in parts])
        return cls(boxes, vertices, offsets_of(np.concatenate([one.counts for one in parts])))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Objects:
    """The objects of one side (ground truth or detections) of a batch of images."""

    offsets: Ints  # (images + 1,) image k owns rows offsets[k]:offsets[k + 1]
    ids: Ints  # (n,) unique within an image
    outlines: Outlines
    regions: Ints  # (n,) IDs of regions (ground truth only); the object's own ID without
    dont_care: Bools  # (n,) rejected objects
    texts: Texts  # n transcriptions, empty where there are none
    confidences: Floats | None = None  # (n,) of detections; NaN for one without
    pixels: Floats | None = None
    """(n, 4) first and last column and row, x0, y0, x1, y1, for protocols that count pixels;
    x1 = x0 - 1 for no column. None if they are those of `boxes`."""
    types: Ints | None = None  # (n,) or `ANY_TYPE`; None if no object has one
    labels: Labels | None = None  # classes; None without
    places: Ints | Texts | None = None
    """Where each object is in its file: its line, or the way in a document; None if not known."""

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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ImageBatch:
    """Some images with all objects of both sides."""

    names: Sequence[str]  # in the ground truth's order
    sizes: Floats  # (images, 2) height and width; 0 where the format does not say
    gt: Objects
    det: Objects
    masks: tuple[Any, Any] | None = None
    """`geometry.masks.Masks` of both sides, if the run has label pictures; areas count pixels."""
    in_detections: Bools | None = None
    """(images,) whether the detections name the image, with objects or without; None if all."""
    gt_lines: Objects | None = None
    """A ground truth of lines of the same images, in addition to that of words."""

    @property
    def has_masks(self) -> bool:
        """Whether areas are pixel counts of label pictures."""
        return self.masks is not None

    @property
    def named_in_detections(self) -> Bools:
        """(images,) `in_detections`, also if all are named."""
        everything = np.ones(len(self.names), dtype=bool)
        return everything if self.in_detections is None else self.in_detections


class Convention(NamedTuple):
    """How a protocol takes the shapes of objects."""

    as_boxes: bool = False  # polygons are taken for their bounding boxes
    inclusive: bool = False  # so too, and corners are pixels: a box ends one beyond x1 and y1
    truncated: bool = False  # coordinates are cut to integers, towards 0


class Overlaps(NamedTuple):
    """Pairs of one image's objects whose intersection has an area that rounding cannot make, sorted
    by (gt, det).
    """

    gt: Ints  # (p,) indices into the batch's ground truth
    det: Ints  # (p,) indices into its detections
    area: Floats  # (p,) area of the intersection, in square pixels
    gt_area: Floats  # (G,) areas of all objects
    det_area: Floats  # (D,)
    gt_shapes: Any  # `geometry.shapes.Shapes` or `geometry.masks.Masks` of all objects, as the
    det_shapes: Any  # protocol takes them

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

    def some(self, which: Bools | Ints) -> Overlaps:
        """Return some of the pairs."""
        return self._replace(gt=self.gt[which], det=self.det[which], area=self.area[which])


# Rows ---------------------------------------------------------------------------------------------


def offsets_of(counts: ArrayLike) -> Ints:
    """(n + 1,) rows before which each of n groups begins, and the end of the last, from (n,) counts
    or booleans.
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def ranges(starts: Ints | int, counts: Ints) -> Ints:
    """Return `np.arange(start, start + count)` of (n,) starts and counts, one after the other."""
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


def take(objects: Objects, rows: Ints | Bools, offsets: Ints | None = None) -> Objects:
    """Return some objects: (n,) booleans leave each in its image; (m,) rows in any order need the
    (images + 1,) `offsets` that they have then.
    """
    if offsets is None:
        offsets = offsets_of(rows)[objects.offsets]  # how many are taken before each
    columns = [getattr(objects, field.name) for field in fields(Objects)[1:]]
    some: list[Any] = [None if column is None else column[rows] for column in columns]
    return Objects(offsets, *some)


def rows_of_images(objects: Objects, images: Ints) -> Ints:
    """Return the rows of the objects of some images, (n,) indices, in the given order."""
    return ranges(objects.offsets[images], np.diff(objects.offsets)[images])


def take_images(objects: Objects, images: Ints) -> Objects:
    """Return the objects of some images, (n,) indices, in the given order."""
    counts = np.diff(objects.offsets)[images]
    return take(objects, rows_of_images(objects, images), offsets_of(counts))


def some_images(batch: ImageBatch, images: Ints, kept: Bools | None = None) -> ImageBatch:
    """Return some images of a batch, in the given order; of their detections those that are kept,
    (D,) bool, or all.
    """
    det, masks, lines = take_images(batch.det, images), batch.masks, batch.gt_lines
    gt_rows, det_rows = (rows_of_images(side, images) for side in (batch.gt, batch.det))
    if kept is not None:
        det, det_rows = take(det, kept[det_rows]), det_rows[kept[det_rows]]
    return ImageBatch(
        [batch.names[k] for k in images.tolist()],
        batch.sizes[images],
        take_images(batch.gt, images),
        det,
        masks and (masks[0].take(gt_rows), masks[1].take(det_rows)),
        None if batch.in_detections is None else batch.in_detections[images],
        lines and take_images(lines, images),
    )


def repeated(objects: Objects) -> Iterator[tuple[int, int]]:
    """Yield each object that has exactly the box or polygon of an earlier object of its image, and
    the first such object.
    """
    # Equal boxes have equal sums, so only objects whose sum is not the only one are compared.
    sums = (np.column_stack([objects.boxes, objects.image]) * _WEIGHTS).sum(axis=1)
    ordered = np.sort(sums)
    rows = np.flatnonzero(np.isin(sums, ordered[1:][ordered[1:] == ordered[:-1]]))
    image, boxes = objects.image[rows].tolist(), objects.boxes[rows].tolist()
    first: dict[Any, int] = {}
    for row, of_image, box in zip(rows.tolist(), image, boxes, strict=True):
        shape = (of_image, *box, objects.outlines.ring(row).tobytes())
        if (before := first.setdefault(shape, row)) != row:
            yield row, before


def concatenate(parts: Sequence[Objects]) -> Objects:
    """Join the objects of one batch or more, images in the same order."""
    offsets = offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]))
    parts = [part for part in parts if part.count] or parts[:1]
    zeros = [np.zeros(part.count, np.int64) for part in parts]
    defaults: dict[str, list[Any]] = {
        "confidences": [zero + np.nan for zero in zeros],
        "pixels": [part.boxes for part in parts],
        "types": [zero + ANY_TYPE for zero in zeros],
        "labels": [Labels([""], zero) for zero in zeros],
        "places": zeros,
    }
    names = [field.name for field in fields(Objects)[1:]]
    columns = ([getattr(part, name) for part in parts] for name in names)
    return Objects(offsets, *map(joined_columns, columns, [defaults.get(name) for name in names]))


def joined_columns(columns: Sequence[Any], defaults: Sequence[Any] | None = None) -> Any:
    """Join a column of some batches, for one without it the default; None if none has it."""
    if all(column is None for column in columns):
        return None
    if defaults:
        known = zip(columns, defaults, strict=True)
        columns = [default if column is None else column for column, default in known]
    kinds = {type(column) for column in columns} - {np.ndarray}
    return kinds.pop().join(columns) if kinds else np.concatenate(columns)


NOTHING = Objects(
    *(np.zeros(1, np.int64), np.zeros(0, np.int64), Outlines.of_boxes(np.zeros((0, 4)))),
    *(np.zeros(0, np.int64), np.zeros(0, np.bool_), Texts.of([])),
)
"""No image at all."""
