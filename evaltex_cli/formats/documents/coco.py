"""COCO annotations and COCO results.

Annotations: ``{"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id",
"image_id", "bbox" or "segmentation", "iscrowd"}]}``. Results: ``[{"image_id", "bbox" or
"segmentation", "score"}, ...]``.

- An image's name is its ``id``, as the results know no other: so results pair with annotations, and
  with COCO-Text's. The format `coco-file` names images by ``file_name``, less folders, ending and
  ``gt_``, to pair with other formats.
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
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, cast

import msgspec

from evaltex_cli.errors import FaultLog, FormatError, Steps, counted, quote
from evaltex_cli.formats.base import Format, Side
from evaltex_cli.formats.coordinates import box, polygon
from evaltex_cli.formats.documents import document_files, safe_json
from evaltex_cli.formats.documents.document_files import Collected, Document
from evaltex_cli.formats.documents.safe_json import (
    AnyConfidence,
    Identifier,
    Item,
    Number,
    Record,
    Vertices,
    WholeNumber,
)
from evaltex_cli.formats.files.image_names import image_names
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject
from evaltex_cli.formats.parsed_bulk import ManyObjects, add_all


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
    width: Number | None = None
    height: Number | None = None


class _Numbered(_Annotation, gc=False, kw_only=True):
    id: WholeNumber


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    root, place = safe_json.record(document.value), document.place
    records = safe_json.items(root, "images")
    images = _images(records, place, faults)
    if document.variant == "named by file":
        _name_by_file(images, records, place, faults)
    seen: set[int] = set()
    boxed = 0
    kind = _Numbered if side == "gt" else _Annotation
    for first, items, fitting in safe_json.windows(safe_json.items(root, "annotations"), kind):
        if fitting and _add_all(fitting, images, side, seen, first):
            continue
        for k, item in enumerate(items, first):
            try:
                annotation: _Annotation = safe_json.take(item, kind)
                boxed += annotation.is_boxed
                collected = _object(annotation, item, side, ("annotations", k))
                if isinstance(annotation, _Numbered):
                    collected.id = annotation.id
                    if collected.id in seen:
                        raise FormatError(f"ID {collected.id} again", "IDs used once", ("id",))
                    seen.add(collected.id)
                image_of(annotation.image_id, images).add(collected)
            except FormatError as error:
                error.log(faults, place, "annotations", k)
    return list(images.values()), _warnings(place, boxed)


def _add_all(
    annotations: Sequence[_Annotation],
    images: dict[str, CollectedImage],
    side: Side,
    seen: set[int],
    first: int,
) -> bool:
    """Add annotations to their images at once; False, and nothing is done, if
    they have to be looked at one by one.
    """
    owners = [images[name] for one in annotations if (name := str(one.image_id)) in images]
    ids = [one.id for one in annotations if isinstance(one, _Numbered)]
    own = set(ids)
    columns = _columns(annotations, side)
    if (
        columns is None
        or len(owners) < len(annotations)
        or len(own) < len(ids)
        or not seen.isdisjoint(own)
    ):
        return False
    seen |= own
    steps = [f'["annotations",{k}]' for k in range(first, first + len(annotations))]
    add_all(ManyObjects(owners, *columns, steps, ids or None))
    return True


def _columns(
    annotations: Sequence[_Annotation], side: Side
) -> tuple[Sequence[Sequence[float]], list[str], list[bool], list[float | None]] | None:
    """Return coordinates, texts, don't care and confidences; None if not all
    are a polygon, or all a box, and plain.
    """
    coordinates = _plain_coordinates(annotations)
    flags = [one.iscrowd for one in annotations], [one.ignore for one in annotations]
    if coordinates is None or (side == "gt" and not all(map(safe_json.are_flags, flags))):
        return None
    texts = [one.words if one.utf8_string is None else one.utf8_string for one in annotations]
    dont_care = [
        side == "gt" and bool(crowd or ignored) for crowd, ignored in zip(*flags, strict=True)
    ]
    return coordinates, texts, dont_care, [one.score for one in annotations]


def _plain_coordinates(annotations: Sequence[_Annotation]) -> Sequence[Sequence[float]] | None:
    shapes = [one.segmentation for one in annotations]
    if any(one.polys is not None for one in annotations):
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


def plain_polygons(rings: list[list[float]]) -> list[list[float]] | None:
    """Return the vertices of polygons; None if one has fewer than three, or half of one."""
    return rings if all(count >= 6 and not count % 2 for count in {*map(len, rings)}) else None


def _images(items: list[Item], place: str, faults: FaultLog) -> dict[str, CollectedImage]:
    images: dict[str, CollectedImage] = {}
    for first, some, records in safe_json.windows(items, _Image):
        for k, item in enumerate(some, first):
            try:
                record: _Image = records[k - first] if records else safe_json.take(item, _Image)
                name = str(record.id)
                if name in images:
                    raise FormatError(f"ID {quote(name)} again", "IDs used once", ("id",))
                images[name] = CollectedImage(
                    name, place, ("images", k), record.height or 0.0, record.width or 0.0
                )
            except FormatError as error:
                error.log(faults, place, "images", k)
    return images


def _name_by_file(
    images: dict[str, CollectedImage], items: list[Item], place: str, faults: FaultLog
) -> None:
    named: list[tuple[CollectedImage, str]] = []
    for k, item in enumerate(items):
        record = safe_json.opened(item)
        if not isinstance(record, dict) or "id" not in record:
            continue  # `_images` has logged it
        try:
            name = safe_json.field(record, "file_name", str | None, "")
            if not name and safe_json.plain(safe_json.needed(record, "file_name")) is None:
                raise FormatError("null", "a string", ("file_name",))
            named.append(
                (
                    images[safe_json.identifier(record, "id")],
                    str(PurePosixPath(name).with_suffix("")),
                )
            )
        except FormatError as error:
            error.log(faults, place, "images", k)
        except (KeyError, ValueError):  # of no image, as `_images` has logged, or no name
            continue
    for (image, _), name in zip(named, image_names([name for _, name in named], ""), strict=True):
        image.name = name


def read_size(image: CollectedImage, record: Record) -> None:
    """Take width and height from an image's record, where they are."""
    image.width, image.height = (
        safe_json.field(record, key, Number | None, 0.0) for key in ("width", "height")
    )


def image_of(image_id: Identifier, images: dict[str, CollectedImage]) -> CollectedImage:
    """Return the image of an annotation's ``image_id``; raises `FormatError`
    where there is none.
    """
    image = images.get(str(image_id))
    if image is None:
        raise FormatError(
            f"image_id {quote(str(image_id))}", "the ID of an image of this document", ("image_id",)
        )
    return image


def _collect_results(document: Document, side: Side, faults: FaultLog) -> Collected:
    listed, place = document.value, document.place
    if not isinstance(listed, list):
        raise FormatError(safe_json.shown(listed), "a list [...] of results")
    images: dict[str, CollectedImage] = {}
    boxed = 0
    for first, items, results in safe_json.windows(listed, _Annotation):
        columns = _columns(results, side) if results else None
        if results and columns:
            ways = range(first, first + len(items))
            owners = [
                _named(images, str(one.image_id), place, k)
                for k, one in zip(ways, results, strict=True)
            ]
            add_all(ManyObjects(owners, *columns, [f"[{k}]" for k in ways]))
            continue
        for k, item in enumerate(items, first):
            try:
                result: _Annotation = safe_json.take(item, _Annotation)
                boxed += result.is_boxed
                collected = _object(result, item, side, (k,))
                _named(images, str(result.image_id), place, k).add(collected)
            except FormatError as error:
                error.log(faults, place, k)
                with suppress(FormatError):  # the image counts, even if all its objects are faulty
                    _named(
                        images, safe_json.identifier(safe_json.record(item), "image_id"), place, k
                    )
    return list(images.values()), _warnings(place, boxed)


def _named(images: dict[str, CollectedImage], name: str, place: str, k: int) -> CollectedImage:
    """Return the image of a name, which result k is the first to have if there is none yet."""
    image = images.get(name)
    if image is None:
        images[name] = image = CollectedImage(name, place, (k,))
    return image


def _object(annotation: _Annotation, item: Item, side: Side, at: Steps) -> CollectedObject:
    flags = (("iscrowd", annotation.iscrowd), ("ignore", annotation.ignore))
    dont_care = side == "gt" and any(safe_json.flag(flag, key) for key, flag in flags)
    coordinates = _coordinates(annotation, item, dont_care)
    return CollectedObject(
        coordinates, annotation.words, dont_care, confidence=annotation.score, at=at
    )


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
    return isinstance(value, dict) and "images" in value and "annotations" in value


def recognises_results(path: Path) -> bool:
    """Whether a path holds a JSON list whose first item has an ``image_id``;
    an empty one is taken for this format.
    """
    value = document_files.json_value(path)
    return isinstance(value, list) and (not value or safe_json.has_key(value[0], "image_id"))


COCO = Format(
    "coco",
    "COCO annotations, images named by ID",
    recognises_annotations,
    document_files.index_json("coco", _collect),
    recognised_by="a JSON object with the keys images and annotations",
    layout='{"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id", "image_id",'
    ' "bbox",'
    ' "segmentation", "iscrowd"}]}',
    sample='{"images": [{"id": 1, "file_name": "img_1.jpg", "width": 640, "height": 480}],'
    ' "annotations":'
    ' [{"id": 1, "image_id": 1, "bbox": [10, 10, 50, 20], "text": "word"}]}',
    ending=".json",
)
COCO_FILE = COCO.variant(
    *("coco-file", "COCO annotations, images named by file"),
    document_files.index_json("coco-file", _collect, "named by file"),
)
RESULTS = Format(
    "coco-res",
    "COCO and AdelaiDet results, images named by ID",
    recognises_results,
    document_files.index_json("coco-res", _collect_results),
    recognised_by="a JSON list with the key image_id",
    layout='[{"image_id", "bbox" or "segmentation" or "polys", "score"}]',
    sample='[{"image_id": 1, "bbox": [10, 10, 50, 20], "score": 0.5}]',
    ending=".json",
)
