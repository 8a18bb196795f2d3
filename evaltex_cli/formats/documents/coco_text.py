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

import re
from dataclasses import replace
from pathlib import Path

import msgspec

from evaltex_cli.errors import FaultLog, FormatError, counted
from evaltex_cli.formats.base import Format, Side
from evaltex_cli.formats.coordinates import polygon
from evaltex_cli.formats.documents import document_files, safe_json
from evaltex_cli.formats.documents.coco import bounding_box, image_of, read_size
from evaltex_cli.formats.documents.document_files import Collected, Document
from evaltex_cli.formats.documents.safe_json import Identifier, Item, Number, Record
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject

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


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    """Return the images of the set that is wanted, of COCO-Text; all of TextOCR."""
    root, place, wanted = safe_json.record(document.value), document.place, document.variant
    make = _coco_text_object if wanted else _textocr_object
    images, sets = _images(safe_json.records(root, "imgs"), place, faults)
    annotations = safe_json.records(root, "anns")
    numbered = all(_IS_NUMBER.fullmatch(key) for key in annotations)
    for key, item in annotations.items():
        try:
            image_id, collected = make(item, side)
            collected.id, collected.at = int(key) if numbered else None, ("anns", key)
            image_of(image_id, images).add(collected)
        except FormatError as error:
            error.log(faults, place, "anns", key)
    chosen = [image for name, image in images.items() if sets[name] == wanted]
    if wanted is None or not chosen:
        return list(images.values()), ()
    others = len(images) - len(chosen)
    left_out = f"{{count}} image[s] that [is|are] not of the set '{wanted}' [was|were] left out"
    return chosen, (f"{place}: {counted(others, left_out)}",) if others else ()


def _images(
    items: Record, place: str, faults: FaultLog
) -> tuple[dict[str, CollectedImage], dict[str, str]]:
    images: dict[str, CollectedImage] = {}
    sets: dict[str, str] = {}
    for key, item in items.items():
        images[key] = CollectedImage(key, place, ("imgs", key))
        sets[key] = ""
        try:
            record = safe_json.record(item)
            sets[key] = safe_json.field(record, "set", str | None, "")
            read_size(images[key], record)
        except FormatError as error:
            error.log(faults, place, "imgs", key)
    return images, sets


def _coco_text_object(item: Item, side: Side) -> tuple[Identifier, CollectedObject]:
    word: _Word = safe_json.take(item, _Word)
    dont_care = side == "gt" and word.legibility == "illegible"
    if word.mask:
        coordinates = polygon(word.mask, dont_care, ("mask",))
    elif word.bbox is None:
        raise safe_json.no_key(item, "bbox")
    else:
        coordinates = bounding_box(word.bbox)
    return word.image_id, CollectedObject(coordinates, word.utf8_string or "", dont_care)


def _textocr_object(item: Item, side: Side) -> tuple[Identifier, CollectedObject]:
    token: _Token = safe_json.take(item, _Token)
    dont_care = side == "gt" and token.utf8_string == "."
    coordinates = polygon(token.points, dont_care, ("points",))
    return token.image_id, CollectedObject(coordinates, token.utf8_string or "", dont_care)


def _recognised(path: Path) -> str | None:
    """Return the format of a JSON object with ``imgs`` and ``anns``;
    TextOCR's first annotation has ``points``.
    """
    value = document_files.json_value(path)
    if not isinstance(value, dict) or "imgs" not in value:
        return None
    annotations = safe_json.opened(value.get("anns"))
    if not isinstance(annotations, dict):
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
