"""COCO annotations and COCO results.

Annotations: ``{"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id",
"image_id", "bbox" or "segmentation", "iscrowd"}]}``. Results: ``[{"image_id", "bbox" or
"segmentation", "score"}, ...]``.

- An image of annotations is named by its ``file_name``, without ending and ``gt_``, and without
  folders if names then differ. Results know only its ``id``, so both are kept, and
  `evaluation.pairing` decides which of them the other side has.
- A ``bbox`` is x, y, width, height. A ``segmentation`` of one polygon ``[[x1, y1, ...]]`` comes
  before it; several polygons, and run-length masks, are taken for their bounding boxes, with a
  warning.
- AdelaiDet's results (ABCNet, TESTR, DeepSolo, ...) have one polygon as ``polys``, a list of
  vertices, and ``rec``.
- Don't care: ``iscrowd`` or ``ignore``. Transcriptions: ``utf8_string``, ``text``,
  ``transcription`` or ``rec``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np

from evaltex_cli.errors import FaultLog, FormatError, Steps, counted
from evaltex_cli.old_formats.base import Format, Side
from evaltex_cli.old_formats.collected import Images
from evaltex_cli.old_formats.coordinates import box, polygon
from evaltex_cli.old_formats.documents import document_files, json_windows, safe_json
from evaltex_cli.old_formats.documents.document_files import Collected, Document
from evaltex_cli.old_formats.documents.gathered import (
    Columns,
    Log,
    Once,
    add_all,
    add_annotations,
    plain_polygons,
    runs,
)
from evaltex_cli.old_formats.documents.safe_json import (
    AnyConfidence,
    Identifier,
    Item,
    Number,
    Record,
    Vertices,
    WholeNumber,
)
from evaltex_cli.old_formats.files.image_names import image_names, names_of_pictures
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject


class _Annotation(msgspec.Struct, gc=False):
    image_id: Identifier
    bbox: list[Number] | None = None
    segmentation: list[list[Number]] | dict[str, Any] | None = None
    iscrowd: Any = None
    ignore: Any = None
    utf8_string: str | None = None
    text: str | None = None
    transcription: str | None = None
    rec: str | None = None
    polys: Vertices | None = None
    score: AnyConfidence = None

    @property
    def is_boxed(self) -> bool:
        """Whether it has several polygons or a run-length mask, for which its box is taken."""
        return (
            bool(self.segmentation)
            if isinstance(self.segmentation, dict)
            else len(self.segmentation or ()) > 1
        )

    @property
    def words(self) -> str:
        """Its transcription."""
        texts = (self.utf8_string, self.text, self.transcription, self.rec)
        return next((text for text in texts if text is not None), "")


class _Image(msgspec.Struct, gc=False):
    id: Identifier
    file_name: Any = None
    width: Number | None = None
    height: Number | None = None


class _Numbered(_Annotation, gc=False, kw_only=True):
    id: WholeNumber


@dataclass(slots=True)
class _Reader:
    """Reads annotations (`gathered.Reader`); `boxed` counts those taken for their boxes."""

    side: Side
    once: Once = field(default_factory=Once)
    boxed: int = 0

    @property
    def kind(self) -> type[_Annotation]:
        return _Numbered if self.side == "gt" else _Annotation

    def columns(self, annotations: Sequence[_Annotation], _: int) -> Columns | None:
        columns = _columns(annotations, self.side)
        return columns if columns and self.once.take_new(columns.ids or ()) else None

    def one(self, annotation: _Annotation, item: Item, _: int) -> CollectedObject:
        self.boxed += annotation.is_boxed
        collected = _object(annotation, item, self.side)
        if isinstance(annotation, _Numbered):
            collected.id = annotation.id
            self.once.refuse_again(annotation.id)
        return collected

    def way(self, k: int) -> Steps:
        return ("annotations", k)

    def ways(self, first: int, last: int) -> Sequence[str]:
        return [f'["annotations",{k}]' for k in range(first, last)]


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    root, log = safe_json.record(document.value), Log(document.place, faults)
    images, files = _images(root, log)
    positions = images.lookup()
    warnings = _name_by_file(images, files, document.place)
    reader = _Reader(side)
    add_annotations(images, positions, safe_json.items(root, "annotations"), reader, log)
    return images, warnings + _warnings(document.place, reader.boxed)


def _columns(annotations: Sequence[_Annotation], side: Side) -> Columns | None:
    """Return annotations as columns; None if not all are a polygon, or all a box, and plain."""
    coordinates = _plain_coordinates(annotations)
    flags = [one.iscrowd for one in annotations], [one.ignore for one in annotations]
    if coordinates is None or (side == "gt" and not all(map(safe_json.are_flags, flags))):
        return None
    texts = [one.words if one.utf8_string is None else one.utf8_string for one in annotations]
    dont_care = side == "gt" and any(map(any, flags)) and [*map(any, zip(*flags, strict=True))]
    ids = (
        [one.id for one in cast("Sequence[_Numbered]", annotations)]
        if isinstance(annotations[0], _Numbered)
        else None
    )
    return Columns(coordinates, texts, dont_care, [one.score for one in annotations], ids)


def _plain_coordinates(annotations: Sequence[_Annotation]) -> Sequence[Sequence[float]] | None:
    shapes = [one.segmentation for one in annotations]
    if [one.polys for one in annotations].count(None) < len(annotations):
        return None
    if not any(shapes):
        boxes = [one.bbox or [] for one in annotations]
        if all(len(box) == 4 and box[2] >= 0 and box[3] >= 0 for box in boxes):
            return [(box[0], box[1], box[0] + box[2], box[1] + box[3]) for box in boxes]
    elif {*map(type, shapes)} == {list} and {
        *map(len, cast("list[list[list[float]]]", shapes))
    } == {1}:
        return plain_polygons(list(chain.from_iterable(cast("list[list[list[float]]]", shapes))))
    return None


def _images(root: Record, log: Log) -> tuple[Images, list[Any]]:
    """Return the images, named by their IDs, and their files."""
    images, files, once = Images(), [], Once()
    for first, some, records in json_windows.windows(safe_json.items(root, "images"), _Image):
        names = [str(one.id) for one in records or ()]
        if records and once.take_new(names):
            sizes = [(one.height or 0.0, one.width or 0.0) for one in records]
            steps = [f'["images",{k}]' for k in range(first, first + len(records))]
            images.append_all(names, log.place, steps, sizes)
            files += [one.file_name for one in records]
            continue
        for k, item in enumerate(some, first):
            try:
                record: _Image = records[k - first] if records else safe_json.take(item, _Image)
                name = str(record.id)
                once.refuse_again(name)
                size = (record.height or 0.0, record.width or 0.0)
                images.append(CollectedImage(name, log.place, ("images", k), *size))
                files.append(record.file_name)
            except FormatError as error:
                error.log(log.faults, log.place, "images", k)
    return images, files


def _name_by_file(images: Images, files: Sequence[Any], place: str) -> tuple[str, ...]:
    """Name images by their files, without ending if the names then differ; by their IDs, perhaps
    with a warning, if files cannot be names.
    """
    images.name_by_id()
    if not all(isinstance(file, str) and file for file in files):
        return ()
    ids, wrong = images.names, ""
    if list(files) == list(ids):
        images.has_file_names = True
        return ()
    for names in (names_of_pictures(files), image_names(files)):
        images.rename(names)
        _, wrong, _ = next(images.bad_names(), (0, "", ""))
        if not wrong:
            images.has_file_names = True
            return ()
    images.rename(ids)
    return (f"{place}: images are named by their IDs, not by their files: {wrong}",)


def read_size(image: CollectedImage, record: Record) -> None:
    """Take width and height from an image's record, where they are."""
    image.width, image.height = (
        safe_json.field(record, key, Number | None, 0.0) for key in ("width", "height")
    )


def _collect_results(document: Document, side: Side, faults: FaultLog) -> Collected:
    listed, place = document.value, document.place
    if not safe_json.is_list(listed):
        raise FormatError(safe_json.shown(listed), "a list [...] of results")
    images, boxed = Images(), 0
    for first, items, results in json_windows.windows(listed, _Annotation):
        columns = _columns(results, side) if results else None
        if results and columns:
            ways = [f"[{k}]" for k in range(first, first + len(items))]
            names, stretch = runs([one.image_id for one in results])
            begins = np.flatnonzero(np.diff(stretch, prepend=-1)).tolist()
            add_all(images, len(images) + stretch, columns, ways)
            images.append_all(names, place, [ways[k] for k in begins])
            continue
        for k, item in enumerate(items, first):
            try:
                result: _Annotation = safe_json.take(item, _Annotation)
                boxed += result.is_boxed
                image = CollectedImage(str(result.image_id), place, (k,))
                one = _object(result, item, side)
                one.at = (k,)
                image.add(one)
                images.append(image)
            except FormatError as error:
                error.log(faults, place, k)
                with suppress(FormatError):  # the image counts, even if all its objects are faulty
                    name = safe_json.identifier(safe_json.record(item), "image_id")
                    images.append(CollectedImage(name, place, (k,)))
    images.merge()
    images.name_by_id()
    return images, _warnings(place, boxed)


def _object(annotation: _Annotation, item: Item, side: Side) -> CollectedObject:
    flags = (("iscrowd", annotation.iscrowd), ("ignore", annotation.ignore))
    dont_care = side == "gt" and any(safe_json.flag(flag, key) for key, flag in flags)
    coordinates = _coordinates(annotation, item, dont_care)
    return CollectedObject(coordinates, annotation.words, dont_care, confidence=annotation.score)


def _coordinates(annotation: _Annotation, item: Item, dont_care: bool) -> Sequence[float]:
    if annotation.polys is not None:
        return polygon(safe_json.flat(annotation.polys), dont_care, ("polys",))
    rings = annotation.segmentation
    if isinstance(rings, list):
        for k, ring in enumerate(rings):
            rings[k] = list(polygon(ring, dont_care, ("segmentation", k)))
        if len(rings) == 1:
            return rings[0]
        if rings and annotation.bbox is None:
            xs, ys = (
                [x for ring in rings for x in ring[::2]],
                [y for ring in rings for y in ring[1::2]],
            )
            return min(xs), min(ys), max(xs), max(ys)
    if annotation.bbox is None:
        raise safe_json.no_key(item, "bbox")
    return bounding_box(annotation.bbox)


def bounding_box(values: list[float]) -> tuple[float, float, float, float]:
    """Return the coordinates of ``bbox``, x, y, width, height."""
    if len(values) != 4:
        raise FormatError(safe_json.shown(values), "x, y, width, height", ("bbox",))
    x, y, width, height = values
    return box(x, y, width, height, where=("bbox",))


def _warnings(place: str, boxed: int) -> tuple[str, ...]:
    if not boxed:
        return ()
    taken = (
        "{count} object[s] of several polygons or run-length masks taken for [its bounding"
        " box|their bounding boxes]"
    )
    return (f"{place}: {counted(boxed, taken)}",)


def recognises_annotations(path: Path) -> bool:
    """Whether a path holds a JSON object with ``images`` and ``annotations``."""
    value = document_files.json_value(path)
    return safe_json.is_object(value) and "images" in value and "annotations" in value


def recognises_results(path: Path) -> bool:
    """Whether a path holds a JSON list whose first item has an ``image_id``;
    an empty one is taken for this format.
    """
    value = document_files.json_value(path)
    return safe_json.is_list(value) and (not value or safe_json.has_key(value[0], "image_id"))


COCO = Format(
    "coco",
    "COCO annotations",
    recognises_annotations,
    document_files.index_json("coco", _collect),
    recognised_by="a JSON object with the keys images and annotations",
    layout='{"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id", "image_id",'
    ' "bbox", "segmentation", "iscrowd"}]}',
    sample='{"images": [{"id": 1, "file_name": "img_1.jpg", "width": 640, "height": 480}],'
    ' "annotations": [{"id": 1, "image_id": 1, "bbox": [10, 10, 50, 20], "text": "word"}]}',
    ending=".json",
)
RESULTS = Format(
    "coco-res",
    "COCO and AdelaiDet results",
    recognises_results,
    document_files.index_json("coco-res", _collect_results),
    recognised_by="a JSON list with the key image_id",
    layout='[{"image_id", "bbox" or "segmentation" or "polys", "score"}]',
    sample='[{"image_id": 1, "bbox": [10, 10, 50, 20], "score": 0.5}]',
    ending=".json",
)
