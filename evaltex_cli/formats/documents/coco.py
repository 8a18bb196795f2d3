"""COCO annotations and COCO results.

Annotations: ``{"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id", "image_id", "bbox" or
"segmentation", "iscrowd"}]}``. Results: ``[{"image_id", "bbox" or "segmentation", "score"}, ...]``.

- An image's name is its ``id``, as the results know no other: so results pair with annotations, and with COCO-Text's.
  The format `coco-file` names images by ``file_name``, less folders, ending and ``gt_``, to pair with other formats.
- A ``bbox`` is x, y, width, height. A ``segmentation`` of one polygon ``[[x1, y1, ...]]`` comes before it; several
  polygons, and run-length masks, are taken for their bounding boxes, with a warning.
- Don't care: ``iscrowd`` or ``ignore``. Transcriptions: ``utf8_string``, ``text`` or ``transcription``.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from evaltex_cli.errors import FaultLog, FormatError, Steps, counted, quote
from evaltex_cli.formats.base import Format, Side
from evaltex_cli.formats.documents import document_files, safe_json
from evaltex_cli.formats.documents.safe_json import Record
from evaltex_cli.formats.files.image_names import image_names
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject, box, polygon

_Collected = tuple[list[CollectedImage], tuple[str, ...]]


def _collect(by_file: bool, document: Any, place: str, side: Side, faults: FaultLog) -> _Collected:
    root = safe_json.record(document)
    images = _images(safe_json.items(root, "images"), place, faults)
    if by_file:
        _name_by_file(images, safe_json.items(root, "images"), place, faults)
    seen: set[int] = set()
    for k, annotation in enumerate(safe_json.items(root, "annotations")):
        try:
            record = safe_json.record(annotation)
            found = _object(record, side, ("annotations", k))
            if side == "gt":
                found.id = safe_json.whole_number(record, "id")
                if found.id in seen:
                    raise FormatError(f"ID {found.id} again", "IDs used once", ("id",))
                seen.add(found.id)
            image_of(record, images).objects.append(found)
        except FormatError as error:
            error.log(faults, place, "annotations", k)
    return list(images.values()), _warnings(place, root["annotations"])


def _images(records: list[Any], place: str, faults: FaultLog) -> dict[str, CollectedImage]:
    images: dict[str, CollectedImage] = {}
    for k, value in enumerate(records):
        try:
            record = safe_json.record(value)
            name = safe_json.identifier(record, "id")
            if name in images:
                raise FormatError(f"ID {quote(name)} again", "IDs used once", ("id",))
            images[name] = image = CollectedImage(name, place, ("images", k))
            read_size(image, record)
        except FormatError as error:
            error.log(faults, place, "images", k)
    return images


def _name_by_file(images: dict[str, CollectedImage], records: list[Any], place: str, faults: FaultLog) -> None:
    named: list[tuple[CollectedImage, str]] = []
    for k, record in enumerate(records):
        try:
            name = safe_json.text(record, "file_name")
            if not name and safe_json.needed(record, "file_name") is None:
                raise FormatError("null", "a string", ("file_name",))
            named.append((images[safe_json.identifier(record, "id")], str(PurePosixPath(name).with_suffix(""))))
        except FormatError as error:
            error.log(faults, place, "images", k)
        except (AttributeError, KeyError, ValueError):  # no object or of no image, as `_images` has told, or no name
            continue
    for (image, _), name in zip(named, image_names([name for _, name in named], ""), strict=True):
        image.name = name


def read_size(image: CollectedImage, record: Record) -> None:
    """Take width and height from an image's record, where they are."""
    image.width, image.height = safe_json.number(record, "width", 0.0), safe_json.number(record, "height", 0.0)


def image_of(record: Record, images: dict[str, CollectedImage]) -> CollectedImage:
    """Return the image of an annotation's ``image_id``; raises `FormatError` where there is none."""
    name = safe_json.identifier(record, "image_id")
    if name not in images:
        raise FormatError(f"image_id {quote(name)}", "the ID of an image of this document", ("image_id",))
    return images[name]


def _collect_results(document: Any, place: str, side: Side, faults: FaultLog) -> _Collected:
    if not isinstance(document, list):
        raise FormatError(safe_json.shown(document), "a list [...] of results")
    images: dict[str, CollectedImage] = {}
    for k, value in enumerate(document):
        try:
            record = safe_json.record(value)
            name = safe_json.identifier(record, "image_id")
            image = images.setdefault(name, CollectedImage(name, place, (k,)))
            image.objects.append(_object(record, side, (k,)))
        except FormatError as error:
            error.log(faults, place, k)
    return list(images.values()), _warnings(place, document)


def _object(record: Record, side: Side, at: Steps) -> CollectedObject:
    dont_care = side == "gt" and (safe_json.flag(record, "iscrowd") or safe_json.flag(record, "ignore"))
    text = safe_json.text(record, "utf8_string", "text", "transcription")
    confidence = safe_json.confidence(record, "score")
    return CollectedObject(_coordinates(record, dont_care), text, dont_care, confidence=confidence, at=at)


def _coordinates(record: Record, dont_care: bool) -> Any:
    polygons = record.get("segmentation")
    if polygons and isinstance(polygons, list):
        rings = [_ring(ring, k, dont_care) for k, ring in enumerate(polygons)]
        if len(rings) == 1:
            return rings[0]
        if "bbox" not in record:
            xs, ys = [x for ring in rings for x in ring[::2]], [y for ring in rings for y in ring[1::2]]
            return min(xs), min(ys), max(xs), max(ys)
    elif polygons and not isinstance(polygons, dict):
        raise FormatError(safe_json.shown(polygons), "a list of polygons [[x1,y1,...]]", ("segmentation",))
    return bounding_box(record)


def _ring(ring: Any, k: int, dont_care: bool) -> Any:
    if not isinstance(ring, list):
        raise FormatError(safe_json.shown(ring), "a polygon [x1,y1,...]", ("segmentation", k))
    with safe_json.under("segmentation", k):
        return polygon(safe_json.numbers(ring, ()), dont_care)


def bounding_box(record: Record) -> tuple[float, float, float, float]:
    """Return the coordinates of ``bbox``, x, y, width, height."""
    values = safe_json.items(record, "bbox")
    if len(values) != 4:
        raise FormatError(safe_json.shown(values), "x, y, width, height", ("bbox",))
    x, y, width, height = safe_json.numbers(values, ("bbox",))
    with safe_json.under("bbox"):
        return box(x, y, width, height)


def _warnings(place: str, records: list[Any]) -> tuple[str, ...]:
    boxed = sum(map(_is_boxed, records))
    if not boxed:
        return ()
    taken = (
        "{count} object[s] of several polygons or run-length masks taken for [its bounding box|their bounding boxes]"
    )
    return (f"{place}: {counted(boxed, taken)}",)


def _is_boxed(record: Any) -> bool:
    mask = record.get("segmentation") if isinstance(record, dict) else None
    return (isinstance(mask, dict) and bool(mask)) or (isinstance(mask, list) and len(mask) > 1)


def recognises_annotations(path: Path) -> bool:
    """Whether a path holds a JSON object with ``images`` and ``annotations``."""
    value = document_files.json_value(path)
    return isinstance(value, dict) and "images" in value and "annotations" in value


def recognises_results(path: Path) -> bool:
    """Whether a path holds a JSON list whose first item has an ``image_id``; an empty one is taken for this format."""
    value = document_files.json_value(path)
    return isinstance(value, list) and (not value or (isinstance(value[0], dict) and "image_id" in value[0]))


def _annotations(name: str, title: str, by_file: bool) -> Format:
    index = partial(document_files.index_json, name, partial(_collect, by_file))
    return Format(
        name,
        title,
        (lambda _: False) if by_file else recognises_annotations,
        index,
        recognised_by="" if by_file else "a JSON object with the keys images and annotations",
        layout='{"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id", "image_id", "bbox",'
        ' "segmentation", "iscrowd"}]}',
        sample='{"images": [{"id": 1, "file_name": "img_1.jpg", "width": 640, "height": 480}], "annotations":'
        ' [{"id": 1, "image_id": 1, "bbox": [10, 10, 50, 20], "text": "word"}]}',
        ending=".json",
    )


COCO = _annotations("coco", "COCO annotations, images named by ID", False)
COCO_FILE = _annotations("coco-file", "COCO annotations, images named by file", True)
RESULTS = Format(
    "coco-res",
    "COCO results, images named by ID",
    recognises_results,
    partial(document_files.index_json, "coco-res", _collect_results),
    recognised_by="a JSON list with the key image_id",
    layout='[{"image_id", "bbox" or "segmentation", "score"}]',
    sample='[{"image_id": 1, "bbox": [10, 10, 50, 20], "score": 0.5}]',
    ending=".json",
)
