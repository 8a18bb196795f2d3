"""COCO annotations and results, and AdelaiDet's, decoded by type and brought straight into columns.

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
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from evaltex_cli import records
from evaltex_cli.errors import FormatError
from evaltex_cli.formats import parsing
from evaltex_cli.formats.base import File, Format, ReadOptions, Side, Source, TextObject
from evaltex_cli.formats.names import bad_names, image_names, names_of_pictures
from evaltex_cli.formats.options import COORDINATE_LIMIT
from evaltex_cli.formats.parsing import Flag, Identifier, Number, under
from evaltex_cli.formats.tools import TEXTS, is_flagged, named
from evaltex_cli.formats.word_records import has
from evaltex_cli.geometry import outlines
from evaltex_cli.records import Floats, Ints, Labels, Objects, Outlines, Texts

_BOXED = "{count} object[s] of several polygons or a mask taken for [its box|their boxes]"
_UNKNOWN_ALPHABET = "{count} text[s] in codes (rec) of an unknown alphabet [was|were] left out"
# AdelaiDet's alphabet, in which 95 is an unknown character, which it writes so, and 96 pads; and
# DeepSolo's other alphabet, in which 36 or 37 pads. AdelaiDet samples each curve at 20 points.
_PRINTABLE = "".join(map(chr, range(32, 127))) + "口"
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_T = np.linspace(0, 1, 20)
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
    for k, image in enumerate(listed):
        if images.setdefault(str(image.id), image) is not image:
            file.log(FormatError(f"ID {image.id!r} again", "IDs used once"), f"images[{rows[k]}]")
    named, _ = _fitting(file, document.categories or [], _Category, "categories[{}]")
    categories = {category.id: category.name or str(category.id) for category in named}
    at = "annotations[{}]"
    fitting = _fitting(file, document.annotations, _Annotation, at)
    yield _columns(file, side, images, at, *fitting, categories)


def _read_results(file: File, side: Side, options: ReadOptions) -> Iterator[Source]:
    results = _decoded(file, list[_Annotation], list[Any])
    yield _columns(file, side, None, "[{}]", *_fitting(file, results, _Annotation, "[{}]"), {})


def _decoded(file: File, kind: Any, lists: Any) -> Any:
    """Return a document as a type, or with lists of plain JSON where not all of it fits."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(file.data.removeprefix(b"\xef\xbb\xbf"), type=kind)
    return file.json(lists)


def _fitting(file: File, items: list[Any], kind: type, at: str) -> tuple[list[Any], Ints]:
    """Return the items of a list that fit a type, and their indices; the others are faults."""
    if {*map(type, items)} <= {kind}:
        return items, np.arange(len(items))
    fitting, rows = [], []
    for k, item in enumerate(items):
        with file.catching(at.replace("{}", str(k))):
            fitting.append(parsing.converted(item, kind))
            rows.append(k)
    return fitting, np.array(rows, np.int64)


def _take_attributes(one: _Annotation) -> None:
    """Bring what CVAT has in `attributes` to where others have it; its rotation is in degrees."""
    one.text = one.text or named(one.attributes, TEXTS)
    one.ignore = one.ignore or is_flagged(one.attributes)
    angle = one.attributes.get("rotation")
    if isinstance(angle, int | float) and angle and one.bbox and not one.segmentation:
        x, y, width, height = one.bbox
        one.segmentation = [parsing.turned((x, y, x + width, y + height), math.radians(angle))]


def _columns(
    file: File,
    side: Side,
    images: dict[str, _Image] | None,
    at: str,
    annotations: list[_Annotation],
    indices: Ints,
    categories: dict[Any, str],
) -> Source:
    """Return the images of a document, None for those that annotations name, and their objects."""
    for one in annotations:
        if isinstance(one.attributes, dict):
            _take_attributes(one)
    image_ids = dict.fromkeys(one.image_id for one in annotations)
    images = {str(key): _Image(key) for key in image_ids} if images is None else images
    positions = {name: k for k, name in enumerate(images)}
    owner = {key: positions.get(str(key), -1) for key in image_ids}
    owners = np.array([owner[one.image_id] for one in annotations], np.int64)
    ids = np.array([one.id for one in annotations] if side == "gt" else [])
    have_ids = ids.dtype == np.int64
    again = np.ones(len(annotations), np.bool_)
    again[np.unique(ids, return_index=True)[1] if have_ids else slice(None)] = False
    flags = [side == "gt" and bool(one.iscrowd or one.ignore) for one in annotations]

    def read(k: int) -> TextObject:
        if owners[k] < 0:
            raise FormatError(f"image_id {annotations[k].image_id!r}", "the ID of a listed image")
        if again[k]:
            raise FormatError(f"ID {ids[k]} again", "IDs used once")
        return TextObject(_points(file, annotations[k], dont_care=flags[k]), id=k)

    boxes = _boxes(annotations)
    usual = (np.abs(boxes) <= COORDINATE_LIMIT).all(axis=1) & (owners >= 0) & ~again
    usual &= (boxes[:, 2] >= boxes[:, 0]) & (boxes[:, 3] >= boxes[:, 1])
    unusual = np.flatnonzero(~usual).tolist()
    objects = file.each(((at.replace("{}", str(indices[k])), k) for k in unusual), read)
    points = {one.id: one.points for one in objects if one.id is not None}
    usual[list(points)] = True
    order = np.argsort(owners, kind="stable")
    order = order[usual[order]]
    counts = np.bincount(owners[order], minlength=len(images))
    own = ids[order] if have_ids else records.ranges(1, counts)
    drawn = Outlines.of_boxes(boxes[order])
    if points:
        shapes = [points.get(k) or boxes[k].tolist() for k in order.tolist()]
        lengths = np.array([len(shape) for shape in shapes])
        numbers = np.array([*chain.from_iterable(shapes)], np.float64)
        drawn = outlines.drawn(numbers, lengths, lengths == 4)
    keys = [one.category_id for one in annotations]
    names_of_keys = {key: str(key) for key in {*keys}} | categories | {None: ""}
    labels = Labels.from_texts([names_of_keys[key] for key in keys])
    names = _names_of_files(file, images)
    return Source(
        names or list(images),
        np.array([(one.height or 0, one.width or 0) for one in images.values()]).reshape(-1, 2),
        Objects(
            offsets=records.offsets_of(counts),
            ids=own,
            outlines=drawn,
            regions=own,
            dont_care=np.array(flags, np.bool_)[order],
            texts=_texts(file, annotations)[order],
            confidences=np.array([one.score for one in annotations], np.float64)[order],
            labels=labels[order] if any(labels.names) else None,
            places=indices[order],
        ),
        [file.place] * len(images),
        ids=list(images),
        has_file_names=bool(names) or not images,
        place=at,
    )


def _names_of_files(file: File, images: dict[str, _Image]) -> list[str]:
    """Name images by their files, without ending if the names then differ; none if that fails."""
    files = [image.file_name for image in images.values()]
    if files == list(images):
        return files
    if not all(isinstance(name, str) and name for name in files):
        return []
    for names in (names_of_pictures(files), image_names(files)):
        wrong = [found for _, found, _ in bad_names(names)]
        if not wrong:
            return names
    file.notes[f"images are named by their IDs, not by their files: {wrong[0]}"] += 1
    return []


def _boxes(annotations: Sequence[_Annotation]) -> Floats:
    """Return x0, y0, x1, y1 of each that is a box and nothing else; NaN for the others."""
    nothing = (np.nan,) * 4
    values = [
        one.bbox if one.bbox and not (one.segmentation or one.polys or one.bezier_pts) else nothing
        for one in annotations
    ]
    boxes = np.fromiter(chain.from_iterable(values), np.float64, 4 * len(values)).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2]
    return boxes


def _points(file: File, annotation: _Annotation, *, dont_care: bool) -> Sequence[float]:
    """Return what is drawn around an object; raises `FormatError`."""
    if annotation.polys:
        with under("polys"):
            return parsing.outline(annotation.polys)
    if annotation.bezier_pts:
        return _curves(annotation.bezier_pts)
    shape = annotation.segmentation
    rings = [ring for ring in shape if ring] if isinstance(shape, list) else []
    polygons = [parsing.polygon(ring, dont_care=dont_care) for ring in rings]
    if len(polygons) == 1:
        return polygons[0]
    file.notes[_BOXED] += bool(polygons or isinstance(shape, dict))
    if annotation.bbox is not None:
        return parsing.box(*annotation.bbox)
    if not polygons:
        raise FormatError("no key 'bbox'", "it, or a segmentation of polygons")
    return parsing.around([value for ring in polygons for value in ring])


def _curves(points: Sequence[float]) -> list[float]:
    """Return the polygon between two cubic Bézier curves, each of four points."""
    if len(points) != 16:
        raise FormatError(f"{len(points)} numbers", "16: four points above, and four below")
    control = np.array(points).reshape(2, 1, 4, 2)
    return [*map(float, (_CUBIC[:, :, None] * control).sum(axis=2).ravel())]


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
    return records.Texts.of(texts)


COCO = Format(
    "coco",
    "COCO annotations",
    _read_coco,
    has("images annotations", "images.0.id", "annotations.0.image_id"),
    layout='{"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id", "image_id",'
    ' "category_id", "bbox", "segmentation", "iscrowd"}], "categories": [{"id", "name"}]}',
    one_document=True,
)
RESULTS = Format(
    "coco-res",
    "COCO and AdelaiDet results",
    _read_results,
    lambda head: "an empty JSON list" if head.json == [] else has("0.image_id")(head),
    layout='[{"image_id", "category_id", "bbox" or "segmentation" or "polys", "score"}]',
    one_document=True,
)
