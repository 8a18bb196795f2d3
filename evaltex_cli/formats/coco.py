"""COCO annotations and results, and AdelaiDet's, decoded by type and brought straight into columns.

Annotations: ``{"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id",
"image_id", "category_id", "bbox" or "segmentation", "iscrowd"}], "categories": [{"id", "name"}]}``.
Results: ``[{"image_id", "category_id", "bbox" or "segmentation", "score"}, ...]``.

- An image of annotations is named by its ``file_name``, without ending and ``gt_``, and without
  folders if names then differ. Results know only its ``id``, so both are kept, and pairing decides
  which of them the other side has.
- A ``bbox`` is x, y, width, height. A ``segmentation`` of one polygon ``[[x1, y1, ...]]`` comes
  before it; several polygons, and run-length masks, are taken for their bounding boxes, with a
  warning.
- AdelaiDet (ABCNet, TESTR, DeepSolo, ...) has ``polys``, vertices, or ``bezier_pts``, a cubic curve
  above the text and one below it; ``rec`` is the text, or the codes of its characters.
- Don't care: ``iscrowd`` or ``ignore``. Transcriptions: ``utf8_string``, ``text``,
  ``transcription`` or ``rec``.
- An ``id`` that is no whole number is replaced by the object's number in its image.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from operator import ne
from typing import Any, TypeVar

import msgspec
import numpy as np

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import Columns, File, Format, Head, ReadOptions, Side, TextObject
from evaltex_cli.formats.names import bad_names, image_names, names_of_pictures
from evaltex_cli.formats.options import COORDINATE_LIMIT
from evaltex_cli.formats.parsing import (
    Flag,
    Identifier,
    Number,
    Point,
    around,
    box,
    converted,
    flat,
    polygon,
    under,
    within,
)
from evaltex_cli.geometry import outlines
from evaltex_cli.records import (
    Bools,
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
_BOXED = (
    "{count} object[s] of several polygons or run-length masks taken for [its bounding box|their"
    " bounding boxes]"
)
_UNKNOWN_ALPHABET = (
    "{count} text[s] as codes of an alphabet that is not known (rec) [was|were] left out: the codes"
    " of 96 printable characters, or of 36 letters and digits, are read"
)
_PRINTABLE = "".join(map(chr, range(32, 127))) + "口"
"""AdelaiDet's alphabet. Code 95 is an unknown character, which it writes so; 96 pads."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
"""DeepSolo's other alphabet, in which 36 or 37 pads."""
_SAMPLES = 20
"""Points along each curve, as AdelaiDet samples it."""
_T = np.linspace(0, 1, _SAMPLES)
_CUBIC = np.stack([(1 - _T) ** 3, 3 * _T * (1 - _T) ** 2, 3 * _T**2 * (1 - _T), _T**3], axis=1)


class _Annotation(msgspec.Struct, gc=False):
    image_id: Identifier
    id: Any = None
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


class _Image(msgspec.Struct, gc=False):
    id: Identifier
    file_name: Any = None
    width: Number | None = None
    height: Number | None = None


class _Category(msgspec.Struct, gc=False):
    id: int | float | str
    name: str


class _Document(msgspec.Struct, gc=False):
    images: list[_Image]
    annotations: list[_Annotation]
    categories: Any = None


class _Lists(msgspec.Struct, gc=False):
    """A document with images or annotations that do not fit."""

    images: list[Any]
    annotations: list[Any]
    categories: Any = None


def _read_coco(file: File, side: Side, options: ReadOptions) -> Iterator[Columns]:
    document = _decoded(file, _Document) or file.json(_Lists)
    listed, places = _fitting(file, document.images, _Image, "images")
    annotations, rows = _fitting(file, document.annotations, _Annotation, "annotations")
    images: dict[str, _Image] = {}
    for k, image in zip(places.tolist(), listed, strict=True):
        if images.setdefault(str(image.id), image) is not image:
            again = FormatError(f"ID {quote(str(image.id))} again", "IDs used once", ("id",))
            file.log(again, f"images[{k}]")
    positions = {name: k for k, name in enumerate(images)}
    distinct, owners = _numbered([annotation.image_id for annotation in annotations])
    owners = np.array([positions.get(str(image), -1) for image in distinct], np.int64)[owners]
    categories: dict[Any, str] = {}
    with suppress(FormatError):  # without names the numbers are as good
        named = converted(document.categories, list[_Category])
        categories = {category.id: category.name for category in named}
    objects = _objects(
        file, annotations, rows, owners, len(images), side, categories, "annotations[{}]"
    )
    yield _columns(file, images, objects, _names_of_files(file, images))


def _read_results(file: File, side: Side, options: ReadOptions) -> Iterator[Columns]:
    listed = _decoded(file, list[_Annotation]) or file.json(list[Any])
    results, rows = _fitting(file, listed, _Annotation, "")
    distinct, owners = _numbered([result.image_id for result in results])
    names, same = _numbered(list(map(str, distinct)))
    objects = _objects(file, results, rows, same[owners], len(names), side, {}, "[{}]")
    yield _columns(file, {name: _Image(name) for name in names}, objects, [])


def _columns(file: File, images: dict[str, _Image], objects: Objects, names: list[str]) -> Columns:
    """Return images by their IDs, with their objects, and names if their files are known."""
    heights = [image.height or 0.0 for image in images.values()]
    widths = [image.width or 0.0 for image in images.values()]
    return Columns(
        names or list(images),
        np.array([heights, widths], np.float64).T,
        objects,
        np.zeros(len(images), np.bool_),
        [file.place] * len(images),
        list(images),
        has_file_names=bool(names) or not images,
    )


def _decoded(file: File, kind: Any) -> Any:
    """Return a document as a type; None if not all of it fits."""
    try:
        return msgspec.json.decode(file.data.removeprefix(b"\xef\xbb\xbf"), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _fitting(file: File, items: list[Any], kind: type[Item], place: str) -> tuple[list[Item], Ints]:
    """Return the items of a list that fit a type, and their indices; the others are faults."""
    if {*map(type, items)} <= {kind}:
        return items, np.arange(len(items))
    fitting, rows = [], []
    for k, item in enumerate(items):
        try:
            fitting.append(converted(item, kind))
            rows.append(k)
        except FormatError as error:
            file.log(error, f"{place}[{k}]")
    return fitting, np.array(rows, np.int64)


def _numbered(values: Sequence[Any]) -> tuple[list[Any], Ints]:
    """Return the distinct values, and for each value which of them it is.

    Quick where equal values are next to each other.
    """
    are_new = np.fromiter(map(ne, values, chain([object()], values)), np.bool_, len(values))
    begins = np.flatnonzero(are_new)
    first: dict[Any, int] = {}
    numbers = [first.setdefault(values[k], len(first)) for k in begins.tolist()]
    return list(first), np.repeat(np.array(numbers, np.int64), np.diff(begins, append=len(values)))


def _names_of_files(file: File, images: dict[str, _Image]) -> list[str]:
    """Name images by their files, without ending if the names then differ; none, perhaps with a
    warning, if files cannot be names.
    """
    files = [image.file_name for image in images.values()]
    if not all(isinstance(name, str) and name for name in files):
        return []
    if files == list(images):
        return files
    wrong = ""
    for names in (names_of_pictures(files), image_names(files)):
        _, wrong, _ = next(bad_names(names), (0, "", ""))
        if not wrong:
            return names
    file.notes[f"images are named by their IDs, not by their files: {wrong}"] += 1
    return []


def _objects(
    file: File,
    annotations: Sequence[_Annotation],
    rows: Ints,
    owners: Ints,
    images: int,
    side: Side,
    categories: dict[Any, str],
    place: str,
) -> Objects:
    """Return annotations in columns, by image, without those at fault.

    Parameters
    ----------
    rows : (n,) int64
        Their indices in the document.
    owners : (n,) int64
        The image of each; -1 if the document has no such image.
    place : str
        Where they are in the document, with ``{}`` for the index.
    """
    flags = [each.iscrowd or each.ignore for each in annotations if side == "gt"]
    dont_care = np.array(flags, np.bool_) if any(flags) else np.zeros(len(annotations), np.bool_)
    ids, again = _ids([each.id if side == "gt" else None for each in annotations])
    boxes, are_boxes = _boxes(annotations)

    def read(k: int) -> TextObject:
        annotation = annotations[k]
        if owners[k] < 0:
            expected = "the ID of an image of this document"
            raise FormatError(
                f"image_id {quote(str(annotation.image_id))}", expected, ("image_id",)
            )
        if again[k]:
            raise FormatError(f"ID {annotation.id} again", "IDs used once", ("id",))
        return TextObject(_points(file, annotation, dont_care=bool(dont_care[k])), id=k)

    usual = are_boxes & (owners >= 0) & ~again
    others = np.flatnonzero(~usual)
    objects = file.each(zip(rows[others].tolist(), others.tolist(), strict=True), read, place)
    points = {each.id: each.points for each in objects if each.id is not None}
    usual[list(points)] = True
    chosen = np.flatnonzero(usual)
    order = chosen[np.argsort(owners[chosen], kind="stable")]
    offsets = offsets_of(np.bincount(owners[order], minlength=images))
    numbers = np.arange(len(order)) - np.repeat(offsets[:-1], np.diff(offsets)) + 1
    own = numbers if ids is None else ids[order]
    scores = [each.score for each in annotations]
    has_scores = scores.count(None) < len(scores)
    return Objects(
        offsets=offsets,
        ids=own,
        outlines=_outlines(boxes, points, order),
        regions=own,
        dont_care=dont_care[order],
        texts=_texts(file, annotations)[order],
        confidences=np.array(scores, np.float64)[order] if has_scores else None,
        labels=_labels(annotations, categories, order),
        places=Places(place, rows[order]),
    )


def _ids(values: Sequence[Any]) -> tuple[Ints | None, Bools]:
    """Return the IDs if all are whole numbers, else None; and which of them are there before."""
    again = np.zeros(len(values), np.bool_)
    ids = np.array(values) if {*map(type, values)} == {int} else None
    if ids is None or ids.dtype != np.int64:
        return None, again
    order = np.argsort(ids, kind="stable")
    again[order[1:]] = ids[order[1:]] == ids[order[:-1]]
    return ids, again


def _boxes(annotations: Sequence[_Annotation]) -> tuple[Floats, Bools]:
    """Return x0, y0, x1, y1 of each, and which annotations are a box and nothing else."""
    values: list[Any] = [each.bbox for each in annotations]
    shapes = [each.segmentation or each.polys or each.bezier_pts for each in annotations]
    are_boxes = np.ones(len(values), np.bool_)
    if any(shapes) or None in values:
        are_boxes[:] = [
            bbox is not None and not shape for bbox, shape in zip(values, shapes, strict=True)
        ]
        values = [bbox or (0.0, 0.0, 0.0, 0.0) for bbox in values]
    numbers = np.fromiter(chain.from_iterable(values), np.float64, 4 * len(values))
    boxes = numbers.reshape(-1, 4)
    are_boxes &= (boxes[:, 2] >= 0) & (boxes[:, 3] >= 0)
    boxes[:, 2:] += boxes[:, :2]
    for column in boxes.T:
        are_boxes &= np.abs(column) <= COORDINATE_LIMIT
    return boxes, are_boxes


def _points(file: File, annotation: _Annotation, *, dont_care: bool) -> Sequence[float]:
    """Return what is drawn around an object; raises `FormatError`."""
    if annotation.polys:
        with under("polys"):
            if any(isinstance(vertex, list) for vertex in annotation.polys):
                return polygon(flat(converted(annotation.polys, list[Point])), dont_care=dont_care)
            return polygon(converted(annotation.polys, list[float]), dont_care=dont_care)
    if annotation.bezier_pts:
        with under("bezier_pts"):
            return _curves(annotation.bezier_pts)
    shape = annotation.segmentation
    rings = [ring for ring in shape if ring] if isinstance(shape, list) else []
    if len(rings) == 1:
        with under("segmentation"):
            return polygon(rings[0], dont_care=dont_care)
    file.notes[_BOXED] += bool(rings or isinstance(shape, dict))
    if annotation.bbox is not None:
        with under("bbox"):
            return box(*annotation.bbox)
    if not rings:
        raise FormatError("no key 'bbox'", "it, or a segmentation of polygons")
    with under("segmentation"):
        return around([value for ring in rings for value in polygon(ring, dont_care=dont_care)])


def _curves(points: Sequence[float]) -> list[float]:
    """Return the polygon between two cubic Bézier curves, each of four points."""
    if len(points) != 16:
        expected = "16: four points of the curve above, and four of that below"
        raise FormatError(f"{len(points)} numbers", expected)
    control = np.array(points).reshape(2, 1, 4, 2)
    sampled: list[float] = (_CUBIC[:, :, None] * control).sum(axis=2).ravel().tolist()
    return sampled


def _outlines(boxes: Floats, points: dict[int, Sequence[float]], order: Ints) -> Outlines:
    """Return boxes, some of them replaced by other points, in this order."""
    if not points:
        return Outlines.of_boxes(boxes[order])
    every: list[Sequence[float]] = boxes.tolist()
    for k, own in points.items():
        every[k] = own
    ordered = [every[k] for k in order.tolist()]
    counts = np.array(list(map(len, ordered)), np.int64)
    numbers = np.fromiter(chain.from_iterable(ordered), np.float64, counts.sum())
    return outlines.drawn(numbers, counts, counts == 4)


def _texts(file: File, annotations: Sequence[_Annotation]) -> Texts:
    texts: list[Any] = [
        each.utf8_string or each.text or each.transcription or each.rec or ""
        for each in annotations
    ]
    if not any(texts):
        nothing = np.zeros(len(texts), np.int64)
        return Texts(b"", nothing, nothing)
    coded = [k for k, text in enumerate(texts) if isinstance(text, list)]
    largest = max((max(texts[k]) for k in coded), default=0)
    alphabet = _LETTERS if largest in (36, 37) else _PRINTABLE if largest <= 96 else ""
    file.notes[_UNKNOWN_ALPHABET] += 0 if alphabet else len(coded)
    for k in coded:
        texts[k] = "".join(alphabet[code : code + 1] for code in texts[k] if code >= 0)
    return concatenate_texts(texts)


def _labels(
    annotations: Sequence[_Annotation], categories: dict[Any, str], order: Ints
) -> Labels | None:
    """Return the names of their categories, or their numbers; None if they have none."""
    distinct, codes = _numbered([each.category_id for each in annotations])
    if distinct in ([], [None]):
        return None
    named = ["" if key is None else categories.get(key, str(key)) for key in distinct]
    names, same = _numbered(named)
    return Labels(names, same[codes[order]])


def _is_coco(head: Head) -> str:
    value = head.json
    if not isinstance(value, dict):
        return ""
    if "images" in value and "annotations" in value:
        return "a JSON object with the keys images and annotations"
    for key, own in (("images", "id"), ("annotations", "image_id")) if not head.is_whole else ():
        first = within(value, key, 0)
        if isinstance(first, dict) and own in first and "paragraphs" not in first:
            return f"a JSON object with the key {key}, whose items have an {own}"
    return ""


def _is_results(head: Head) -> str:
    value = head.json
    if not isinstance(value, list) or not (value or head.is_whole):
        return ""
    if not value:
        return "an empty JSON list"
    return "a JSON list with the key image_id" if within(value, 0, "image_id") is not None else ""


COCO = Format(
    "coco",
    "COCO annotations",
    _read_coco,
    _is_coco,
    (".json",),
    layout='{"images": [{"id", "file_name", "width", "height"}], "annotations": [{"id", "image_id",'
    ' "category_id", "bbox", "segmentation", "iscrowd"}], "categories": [{"id", "name"}]}',
    one_document=True,
)
RESULTS = Format(
    "coco-res",
    "COCO and AdelaiDet results",
    _read_results,
    _is_results,
    (".json",),
    layout='[{"image_id", "category_id", "bbox" or "segmentation" or "polys", "score"}]',
    one_document=True,
)
