"""COCO annotations and results, and AdelaiDet's, decoded by type and brought straight into columns.

Annotations: ``{"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id",
"image_id", "category_id", "bbox" or "segmentation", "iscrowd"}], "categories": [{"id", "name"}]}``.
Results: ``[{"image_id", "category_id", "bbox" or "segmentation", "score"}, ...]``.

- Annotations name images by ``file_name``, results only by ``id``: both are kept, and pairing
  decides which of them the other side has.
- A ``bbox`` is x, y, width, height. A ``segmentation`` of one polygon ``[[x1, y1, ...]]`` comes
  before it; of several polygons, or a run-length mask, the bounding box is read.
- AdelaiDet (ABCNet, TESTR, DeepSolo, ...) has ``polys``, vertices, or ``bezier_pts``, a cubic curve
  above the text and one below it; ``rec`` is the text, or the codes of its characters.
- Don't care: ``iscrowd`` or ``ignore``. Transcriptions: ``utf8_string``, ``text``,
  ``transcription`` or ``rec``. CVAT has such, and the rotation of boxes, in ``attributes``.
- An ``id`` that is no whole number is replaced by the object's number in its image.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, TypeVar

import msgspec
import numpy as np

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import File, Format, Head, ReadOptions, Side, Source, TextObject
from evaltex_cli.formats.names import bad_names, image_names, names_of_pictures
from evaltex_cli.formats.options import COORDINATE_LIMIT
from evaltex_cli.formats.parsing import (
    Flag,
    Identifier,
    Number,
    around,
    box,
    converted,
    outline,
    polygon,
    turned,
    under,
    within,
)
from evaltex_cli.formats.tools import TEXTS, is_flagged, named
from evaltex_cli.geometry import outlines
from evaltex_cli.records import (
    Floats,
    Ints,
    Labels,
    Objects,
    Outlines,
    Places,
    Texts,
    concatenate_texts,
    offsets_of,
)

Item = TypeVar("Item")
_BOXED = "{count} object[s] of several polygons or a mask taken for [its box|their boxes]"
_UNKNOWN_ALPHABET = "{count} text[s] in codes (rec) of an unknown alphabet [was|were] left out"
_PRINTABLE = "".join(map(chr, range(32, 127))) + "口"
"""AdelaiDet's alphabet. Code 95 is an unknown character, which it writes so; 96 pads."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
"""DeepSolo's other alphabet, in which 36 or 37 pads."""
_T = np.linspace(0, 1, 20)
"""Where AdelaiDet samples each curve."""
_CUBIC = np.stack([(1 - _T) ** 3, 3 * _T * (1 - _T) ** 2, 3 * _T**2 * (1 - _T), _T**3], axis=1)


class _Annotation(msgspec.Struct, gc=False):
    image_id: Identifier
    id: int | float | str | None = None
    category_id: int | float | str | None = None
    bbox: tuple[float, float, float, float] | None = None
    segmentation: list[list[float]] | dict[str, Any] | None = None
    polys: list[Any] | None = None
    bezier_pts: list[float] | None = None
    iscrowd: Flag = None
    ignore: Flag = None
    score: Number | None = None
    utf8_string: str | None = None
    text: str | None = None
    transcription: str | None = None
    rec: str | list[int] | None = None
    attributes: Any = None


class _Image(msgspec.Struct, gc=False):
    id: Identifier
    file_name: Any = None
    width: Number | None = None
    height: Number | None = None


class _Category(msgspec.Struct, gc=False):
    id: int | float | str
    name: str | None = None


class _Lists(msgspec.Struct, gc=False):
    images: list[Any]
    annotations: list[Any]
    categories: list[Any] | None = None


class _Document(_Lists, gc=False):
    images: list[_Image]
    annotations: list[_Annotation]
    categories: list[_Category] | None = None


def _read_coco(file: File, side: Side, options: ReadOptions) -> Iterator[Source]:
    document = _decoded(file, _Document, _Lists)
    images: dict[str, _Image] = {}
    listed, rows = _fitting(file, document.images, _Image, "images[{}]")
    for k, image in zip(rows.tolist(), listed, strict=True):
        if images.setdefault(str(image.id), image) is not image:
            found = f"ID {quote(str(image.id))} again"
            file.log(FormatError(found, "IDs used once"), f"images[{k}].id")
    named, _ = _fitting(file, document.categories or [], _Category, "categories[{}]")
    categories = {category.id: category.name or str(category.id) for category in named}
    at = "annotations[{}]"
    annotations, rows = _fitting(file, document.annotations, _Annotation, at)
    yield _columns(file, side, images, annotations, rows, categories, at)


def _read_results(file: File, side: Side, options: ReadOptions) -> Iterator[Source]:
    listed = _decoded(file, list[_Annotation], list[Any])
    results, rows = _fitting(file, listed, _Annotation, "[{}]")
    yield _columns(file, side, None, results, rows, {}, "[{}]")


def _decoded(file: File, kind: Any, lists: Any) -> Any:
    """Return a document as a type, or with lists of plain JSON where not all of it fits."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(file.data.removeprefix(b"\xef\xbb\xbf"), type=kind)
    return file.json(lists)


def _fitting(file: File, items: list[Any], kind: type[Item], at: str) -> tuple[list[Item], Ints]:
    """Return the items of a list that fit a type, and their indices; the others are faults."""
    if {*map(type, items)} <= {kind}:
        return items, np.arange(len(items))
    fitting, rows = [], []
    for k, item in enumerate(items):
        with file.catching(at.replace("{}", str(k))):
            fitting.append(converted(item, kind))
            rows.append(k)
    return fitting, np.array(rows, np.int64)


def _take_attributes(one: _Annotation) -> None:
    """Bring what CVAT has in `attributes` to where others have it: a transcription, flags, and the
    degrees by which a box is turned about its centre.
    """
    one.text = one.text or named(one.attributes, TEXTS)
    one.ignore = one.ignore or is_flagged(one.attributes)
    angle = one.attributes.get("rotation")
    if isinstance(angle, int | float) and angle and one.bbox and not one.segmentation:
        x, y, width, height = one.bbox
        one.segmentation = [turned((x, y, x + width, y + height), math.radians(angle))]


def _columns(
    file: File,
    side: Side,
    images: dict[str, _Image] | None,
    annotations: Sequence[_Annotation],
    rows: Ints,
    categories: dict[Any, str],
    at: str,
) -> Source:
    """Return images, listed by their IDs or only by their annotations, and what fits of these.

    Annotations are at `rows` of the list `at`, which has ``{}`` for the index.
    """
    for one in annotations:
        if isinstance(one.attributes, dict):
            _take_attributes(one)
    image_ids = _named([one.image_id for one in annotations], str)
    images = {name: _Image(name) for name in image_ids.names} if images is None else images
    positions = {name: k for k, name in enumerate(images)}
    owners = np.array([positions.get(name, -1) for name in image_ids.names], np.int64)
    owners = owners[image_ids.codes]
    ids = np.array([one.id for one in annotations] if side == "gt" else [])
    have_ids = ids.dtype == np.int64
    again = np.full(len(annotations), have_ids)
    if have_ids:
        again[np.unique(ids, return_index=True)[1]] = False
    flags = [side == "gt" and bool(one.iscrowd or one.ignore) for one in annotations]

    def read(k: int) -> TextObject:
        if owners[k] < 0:
            found = f"image_id {quote(image_ids[k])}"
            raise FormatError(found, "the ID of an image of this document", ("image_id",))
        if again[k]:
            raise FormatError(f"ID {ids[k]} again", "IDs used once", ("id",))
        return TextObject(_points(file, annotations[k], dont_care=flags[k]), id=k)

    boxes = _boxes(annotations)
    usual = (np.abs(boxes) <= COORDINATE_LIMIT).all(axis=1) & (owners >= 0) & ~again
    usual &= (boxes[:, 2] >= boxes[:, 0]) & (boxes[:, 3] >= boxes[:, 1])
    others = np.flatnonzero(~usual)
    objects = file.each(zip(rows[others].tolist(), others.tolist(), strict=True), read, at)
    points = {one.id: one.points for one in objects if one.id is not None}
    usual[list(points)] = True
    order = np.argsort(owners, kind="stable")
    order = order[usual[order]]
    offsets = offsets_of(np.bincount(owners[order], minlength=len(images)))
    numbers = np.arange(len(order)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1
    own = ids[order] if have_ids else numbers
    scores = [one.score for one in annotations]
    keys = [one.category_id for one in annotations]
    labels = _named(keys, lambda key: "" if key is None else categories.get(key, str(key)))
    names = _names_of_files(file, images)
    return Source(
        names or list(images),
        np.array([(one.height or 0, one.width or 0) for one in images.values()]).reshape(-1, 2),
        Objects(
            offsets=offsets,
            ids=own,
            outlines=_outlines(boxes, points, order),
            regions=own,
            dont_care=np.array(flags, np.bool_)[order],
            texts=_texts(file, annotations)[order],
            confidences=np.array(scores, np.float64)[order]
            if scores.count(None) < len(scores)
            else None,
            labels=labels[order] if any(labels.names) else None,
            places=Places(at, rows[order]),
        ),
        [file.place] * len(images),
        ids=list(images),
        has_file_names=bool(names) or not images,
    )


def _named(keys: Sequence[Any], name: Callable[[Any], str]) -> Labels:
    """Return the name of each key."""
    names = {key: name(key) for key in dict.fromkeys(keys)}
    codes = {text: k for k, text in enumerate(dict.fromkeys(names.values()))}
    numbers = {key: codes[text] for key, text in names.items()}
    return Labels(list(codes), np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys)))


def _names_of_files(file: File, images: dict[str, _Image]) -> list[str]:
    """Name images by their files, without ending if the names then differ; none, perhaps with a
    warning, if files cannot be names.
    """
    files = [image.file_name for image in images.values()]
    if files == list(images):
        return files
    if not all(isinstance(name, str) and name for name in files):
        return []
    wrong = ""
    for names in (names_of_pictures(files), image_names(files)):
        _, wrong, _ = next(bad_names(names), (0, "", ""))
        if not wrong:
            return names
    file.notes[f"images are named by their IDs, not by their files: {wrong}"] += 1
    return []


def _boxes(annotations: Sequence[_Annotation]) -> Floats:
    """Return x0, y0, x1, y1 of each that is a box and nothing else; NaN for the others."""
    nothing = (np.nan,) * 4
    values = [
        nothing if one.bbox is None or one.segmentation or one.polys or one.bezier_pts else one.bbox
        for one in annotations
    ]
    boxes = np.fromiter(chain.from_iterable(values), np.float64, 4 * len(values)).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2]
    return boxes


def _outlines(boxes: Floats, points: dict[int, Sequence[float]], order: Ints) -> Outlines:
    """Return boxes, some of them replaced by other points, in this order."""
    if not points:
        return Outlines.of_boxes(boxes[order])
    every: list[Sequence[float]] = boxes.tolist()
    for k, own in points.items():
        every[k] = own
    counts = np.array([len(every[k]) for k in order.tolist()], np.int64)
    numbers = np.array([value for k in order.tolist() for value in every[k]], np.float64)
    return outlines.drawn(numbers, counts, counts == 4)


def _points(file: File, annotation: _Annotation, *, dont_care: bool) -> Sequence[float]:
    """Return what is drawn around an object; raises `FormatError`."""
    if annotation.polys:
        with under("polys"):
            return outline(annotation.polys)
    if annotation.bezier_pts:
        with under("bezier_pts"):
            return _curves(annotation.bezier_pts)
    shape = annotation.segmentation
    rings = [ring for ring in shape if ring] if isinstance(shape, list) else []
    with under("segmentation"):
        polygons = [polygon(ring, dont_care=dont_care) for ring in rings]
    if len(polygons) == 1:
        return polygons[0]
    file.notes[_BOXED] += bool(polygons or isinstance(shape, dict))
    if annotation.bbox is not None:
        with under("bbox"):
            return box(*annotation.bbox)
    if not polygons:
        raise FormatError("no key 'bbox'", "it, or a segmentation of polygons")
    return around([value for ring in polygons for value in ring])


def _curves(points: Sequence[float]) -> list[float]:
    """Return the polygon between two cubic Bézier curves, each of four points."""
    if len(points) != 16:
        raise FormatError(f"{len(points)} numbers", "16: four points above, and four below")
    control = np.array(points).reshape(2, 1, 4, 2)
    sampled: list[float] = (_CUBIC[:, :, None] * control).sum(axis=2).ravel().tolist()
    return sampled


def _texts(file: File, annotations: Sequence[_Annotation]) -> Texts:
    texts: list[Any] = [
        one.utf8_string or one.text or one.transcription or one.rec or "" for one in annotations
    ]
    coded = [k for k, text in enumerate(texts) if isinstance(text, list)]
    largest = max((max(texts[k]) for k in coded), default=0)
    alphabet = _LETTERS if largest in (36, 37) else _PRINTABLE if largest <= 96 else ""
    file.notes[_UNKNOWN_ALPHABET] += 0 if alphabet else len(coded)
    for k in coded:
        texts[k] = "".join(alphabet[code : code + 1] for code in texts[k] if code >= 0)
    return concatenate_texts(texts)


def _is_coco(head: Head) -> str:
    value = head.json
    if isinstance(value, dict) and "images" in value and "annotations" in value:
        return "a JSON object with the keys images and annotations"
    for key, own in (("images", "id"), ("annotations", "image_id")) if not head.is_whole else ():
        first = within(value, key, 0)
        if within(first, own) is not None and "paragraphs" not in first:
            return f"a JSON object with the key {key}, whose items have an {own}"
    return ""


def _is_results(head: Head) -> str:
    if head.json == [] and head.is_whole:
        return "an empty JSON list"
    has_id = within(head.json, 0, "image_id") is not None
    return "a JSON list with the key image_id" if has_id else ""


COCO = Format(
    "coco",
    "COCO annotations",
    _read_coco,
    _is_coco,
    layout='{"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id", "image_id",'
    ' "category_id", "bbox", "segmentation", "iscrowd"}], "categories": [{"id", "name"}]}',
    one_document=True,
)
RESULTS = Format(
    "coco-res",
    "COCO and AdelaiDet results",
    _read_results,
    _is_results,
    layout='[{"image_id", "category_id", "bbox" or "segmentation" or "polys", "score"}]',
    one_document=True,
)
