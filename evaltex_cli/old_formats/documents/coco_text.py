"""COCO-Text v2 and TextOCR: ``{"imgs": {id: {...}}, "anns": {id: {"image_id", ...}}, ...}``.

========= ============================= ======================== =============================
set       shape                         don't care               images
========= ============================= ======================== =============================
COCO-Text ``mask``, else ``bbox``       ``legibility`` illegible those whose ``set`` is val
TextOCR   ``points``                    ``utf8_string`` is ``.`` all
========= ============================= ======================== =============================

Images are named by their keys in ``imgs``, which results in COCO's form and RRC's
(``res_<id>.txt``) go by; TextOCR's are its files' names. One file holds COCO-Text's train and val,
which the format `coco-text-train` and `coco-text` read; a file without val images is read as a
whole. ``imgToAnns`` (``img2Anns``) only repeats ``image_id``.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from evaltex_cli.errors import FaultLog, Steps, counted
from evaltex_cli.old_formats.base import Format, Side
from evaltex_cli.old_formats.collected import Images
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.coco import bounding_box, read_size
from evaltex_cli.old_formats.documents.document_files import Collected, Document
from evaltex_cli.old_formats.documents.gathered import Columns, Log, add_annotations, plain_polygons
from evaltex_cli.old_formats.documents.safe_json import Identifier, Item, Number, Record
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject
from evaltex_cli.records import Ints

_IS_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


class _Word(msgspec.Struct, gc=False):
    image_id: Identifier
    utf8_string: str | None = None
    legibility: str | None = None
    mask: list[Number] | None = None
    bbox: list[Number] | None = None


class _Token(msgspec.Struct, gc=False):
    image_id: Identifier
    points: list[Number]
    utf8_string: str | None = None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads annotations (`gathered.Reader`) of COCO-Text if `kind` is `_Word`, else of TextOCR."""

    side: Side
    kind: type[_Word] | type[_Token]
    keys: list[str]
    numbered: bool

    def columns(self, annotations: Sequence[Any], first: int) -> Columns | None:
        found = _COLUMNS[self.kind](annotations, self.side)
        if found is None or not self.numbered:
            return found
        return found._replace(ids=list(map(int, self.keys[first : first + len(annotations)])))

    def one(self, annotation: Any, item: Item, k: int) -> CollectedObject:
        collected = _OBJECT[self.kind](annotation, item, self.side)
        collected.id = int(self.keys[k]) if self.numbered else None
        return collected

    def way(self, k: int) -> Steps:
        return ("anns", self.keys[k])

    def ways(self, first: int, last: int) -> Sequence[str]:
        return [f'["anns",{json.dumps(key)}]' for key in self.keys[first:last]]


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    """Return the images of the set that is wanted, of COCO-Text; all of TextOCR."""
    root, wanted, log = (
        safe_json.record(document.value),
        document.variant,
        Log(document.place, faults),
    )
    images, chosen = _images(safe_json.records(root, "imgs"), wanted, log)
    annotations = safe_json.records(root, "anns")
    keys = list(annotations)
    reader = _Reader(side, _Word if wanted else _Token, keys, all(map(_IS_NUMBER.fullmatch, keys)))
    add_annotations(images, images.lookup(), annotations.values(), reader, log)
    if wanted is None or not len(chosen):
        images.name_by_id()
        return images, ()
    others = len(images) - len(chosen)
    left_out = f"{{count}} image[s] that [is|are] not of the set '{wanted}' [was|were] left out"
    warnings = (f"{log.place}: {counted(others, left_out)}",) if others else ()
    images = images.only(chosen)
    images.name_by_id()
    return images, warnings


def _images(items: Record, wanted: str | None, log: Log) -> tuple[Images, Ints]:
    """Return all images, and which are of the set that is wanted."""
    images, chosen = Images(), array("q")
    for key, item in items.items():
        image, of = CollectedImage(key, log.place, ("imgs", key)), ""
        with log.faults.catching(log.place, "imgs", key):
            record = safe_json.record(item)
            of = safe_json.field(record, "set", str | None, "")
            read_size(image, record)
        if of == wanted:
            chosen.append(len(images))
        images.append(image)
    return images, np.asarray(chosen)


def _coco_text_object(word: _Word, item: Item, side: Side) -> CollectedObject:
    dont_care = side == "gt" and word.legibility == "illegible"
    if word.mask:
        coordinates = polygon(word.mask, dont_care, ("mask",))
    elif word.bbox is None:
        raise safe_json.no_key(item, "bbox")
    else:
        coordinates = bounding_box(word.bbox)
    return CollectedObject(coordinates, word.utf8_string or "", dont_care)


def _coco_text_columns(words: Sequence[_Word], side: Side) -> Columns | None:
    masks = [one.mask for one in words if one.mask]
    coordinates = plain_polygons(masks)
    if coordinates is None or len(masks) < len(words):
        return None
    dont_care = [side == "gt" and one.legibility == "illegible" for one in words]
    return Columns(coordinates, [one.utf8_string or "" for one in words], dont_care)


def _textocr_object(token: _Token, _: Item, side: Side) -> CollectedObject:
    dont_care = side == "gt" and token.utf8_string == "."
    coordinates = polygon(token.points, dont_care, ("points",))
    return CollectedObject(coordinates, token.utf8_string or "", dont_care)


def _textocr_columns(tokens: Sequence[_Token], side: Side) -> Columns | None:
    coordinates = plain_polygons([one.points for one in tokens])
    if coordinates is None:
        return None
    dont_care = [side == "gt" and one.utf8_string == "." for one in tokens]
    return Columns(coordinates, [one.utf8_string or "" for one in tokens], dont_care)


_OBJECT: dict[Any, Callable[[Any, Item, Side], CollectedObject]] = {
    _Word: _coco_text_object,
    _Token: _textocr_object,
}
_COLUMNS: dict[Any, Callable[[Any, Side], Columns | None]] = {
    _Word: _coco_text_columns,
    _Token: _textocr_columns,
}


def _recognised(path: Path) -> str | None:
    """Return the format of a JSON object with ``imgs`` and ``anns``;
    TextOCR's first annotation has ``points``.
    """
    value = document_files.json_value(path)
    if not safe_json.is_object(value) or "imgs" not in value:
        return None
    annotations = safe_json.opened(value.get("anns"))
    if not safe_json.is_object(annotations):
        return None
    return (
        "textocr"
        if safe_json.has_key(next(iter(annotations.values()), None), "points")
        else "coco-text"
    )


_SAMPLE = (
    '{"imgs": {"1": {"id": 1, "file_name": "img_1.jpg", "width": 640, "height": 480, "set":'
    ' "val"}}, "anns":'
    ' {"2": {"id": 2, "image_id": 1, "bbox": [10, 10, 50, 20], "mask": [10, 10, 60, 10, 60, 30, 10,'
    " 30],"
    ' "legibility": "legible", "utf8_string": "word"}}}'
)


def _format(name: str, title: str, wanted: str | None, sample: str) -> Format:
    return Format(
        name,
        title,
        lambda path: _recognised(path) == name,
        document_files.index_json(name, _collect, wanted),
        recognised_by="a JSON object with the keys imgs and anns,"
        f" {'without' if wanted else 'with'} points",
        layout='{"imgs": {id: {...}}, "anns": {id: {"image_id", "bbox", "points" or "mask",'
        ' "utf8_string"}}}',
        sample=sample,
        ending=".json",
    )


COCO_TEXT = _format("coco-text", "COCO-Text v2, val images", "val", _SAMPLE)
COCO_TEXT_TRAIN = replace(
    COCO_TEXT.variant(
        *("coco-text-train", "COCO-Text v2, train images"),
        document_files.index_json("coco-text-train", _collect, "train"),
    ),
    sample=_SAMPLE.replace("val", "train"),
)
TEXTOCR = _format("textocr", "TextOCR", None, _SAMPLE.replace("mask", "points"))
