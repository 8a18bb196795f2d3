"""Data sets whose annotations are JSON: ArT and LSVT, COCO-Text, TextOCR, HierText, ReCTS.

=========== ================================ ============================= ========================
data set    shape                            don't care                    images are named by
=========== ================================ ============================= ========================
ArT, LSVT   ``points`` [[x, y], ...]         ``illegibility`` true, ###    keys: gt_1, res_1
COCO-Text   ``mask`` x1, y1, ..., or bbox    ``legibility`` illegible      keys of ``imgs``
TextOCR     ``points`` x1, y1, ...           ``utf8_string`` is ``.``      keys of ``imgs``
HierText    ``vertices`` [[x, y], ...]       ``legible`` false             ``image_id``
ReCTS       ``points`` x1, y1, ...           ``ignore`` 1, ###             the file
=========== ================================ ============================= ========================
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats import base, parsing
from evaltex_cli.formats.base import File, Format, Head, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.names import without_prefix
from evaltex_cli.formats.parsing import Flag, Number, Point, converted, nested, within
from evaltex_cli.formats.tools import named_after_pictures
from evaltex_cli.formats.word_records import Keys, has, listed, read_words, size_of

_Vertices = list[Point | float] | None  # msgspec crashes if both have bounds


class _Record(msgspec.Struct, gc=False):
    """A word, a line or a paragraph of any of these data sets."""

    points: _Vertices = None
    vertices: _Vertices = None
    mask: _Vertices = None
    bbox: tuple[Number, Number, Number, Number] | None = None
    transcription: str | None = None
    utf8_string: str | None = None
    text: str | None = None
    illegibility: Flag = None
    ignore: Flag = None
    legible: bool = True
    legibility: str | None = None
    confidence: Number | None = None
    score: Number | None = None


def _object(item: Any, side: Side, unread: str | None = None) -> TextObject:
    """Return an object in plain JSON; `unread` is a text that makes it don't care."""
    record = converted(item, _Record)
    text = record.transcription or record.utf8_string or record.text or ""
    is_unread = record.illegibility or record.ignore or not record.legible or text == unread
    dont_care = side == "gt" and bool(is_unread or record.legibility == "illegible")
    vertices = record.points or record.vertices or record.mask
    if vertices:
        numbers = [v for one in vertices for v in (one if isinstance(one, tuple) else (one,))]
        points = parsing.polygon(numbers, dont_care=dont_care)
    elif record.bbox is not None:
        points = parsing.box(*record.bbox)
    else:
        raise FormatError("no shape", "points, vertices, a mask or a bbox in each object")
    confidence = record.score if record.confidence is None else record.confidence
    return TextObject(points, text, dont_care, confidence)


# ArT and LSVT (ICDAR 2019) ------------------------------------------------------------------------


def _read_art(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    read = partial(_object, side=side, unread=base.DONT_CARE)
    for key, words in file.json(dict[str, Any]).items():
        yield Image(without_prefix(key), file.each(nested(file, {key: words}, "", key), read))


def _is_art(head: Head) -> str:
    value = head.json if isinstance(head.json, dict) else {}
    words = next(filter(None, value.values()), None)
    has_points = "shapes" not in value and within(words, 0, "points") is not None
    if has_points or (value and all(key.startswith(("gt_", "res_")) for key in value)):
        return "a JSON object whose values are lists of words, with points or transcription"
    return "an empty JSON object" if head.json == {} and head.is_whole else ""


ART = Format(
    "art",
    "ArT and LSVT: JSON of polygons, ground truth and results",
    _read_art,
    _is_art,
    layout='{"gt_1": [{"points": [[x, y], ...], "transcription": "...", "illegibility": false}]}',
    one_document=True,
)


# COCO-Text v2 and TextOCR -------------------------------------------------------------------------


class _Keyed(msgspec.Struct, gc=False):
    imgs: dict[str, Any]
    anns: dict[str, Any]


def _read_keyed(file: File, side: Side, options: ReadOptions, wanted: str = "") -> Iterator[Image]:
    """Yield the images of the set `wanted`, or all images if that set has none."""
    document = file.json(_Keyed)
    records = defaultdict(list)
    for key, item in document.anns.items():
        records[str(within(item, "image_id"))].append((f"anns.{key}", (key, item)))

    def read(keyed: tuple[str, Any]) -> TextObject:
        one = _object(keyed[1], side, None if wanted else ".")
        one.id = int(keyed[0]) if re.fullmatch(r"\d{1,18}", keyed[0]) else None
        return one

    chosen = {key for key, image in document.imgs.items() if within(image, "set") == wanted}
    if chosen:
        left_out = f"{{count}} image[s] that [is|are] not of the set '{wanted}' [was|were] left out"
        file.notes[left_out] += len(document.imgs) - len(chosen)
    for key, image in document.imgs.items():
        objects = file.each(records.pop(key, []), read)
        with file.catching(f"imgs.{key}"):
            size = size_of(image)
            if not chosen or key in chosen:
                yield Image(key, objects, *size, id=key)
    for key, others in records.items():
        error = FormatError(f"image_id {quote(key)}", "the ID of an image of this document")
        for place, _ in others:
            file.log(error, place)


def _keyed_format(
    name: str, title: str, recognised_by: Callable[[Head], str], wanted: str = ""
) -> Format:
    return Format(
        name,
        title,
        partial(_read_keyed, wanted=wanted),
        recognised_by,
        layout='{"imgs": {id: {...}}, "anns": {id: {"image_id", "bbox", "utf8_string"}}}',
        one_document=True,
    )


_is_keyed = has("imgs anns")
TEXTOCR = _keyed_format("textocr", "TextOCR", has("imgs anns.*.points"))
COCO_TEXT = _keyed_format("coco-text", "COCO-Text v2, val images", _is_keyed, "val")
COCO_TEXT_TRAIN = _keyed_format("coco-text-train", "COCO-Text v2, train images", _is_keyed, "train")


# HierText -----------------------------------------------------------------------------------------

_LEVELS = ("paragraphs", "lines", "words")


def _read_hiertext(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    for place, item in listed(file, "annotations"):
        with file.catching(place):
            number = converted(within(item, "image_id"), parsing.Identifier)
            name = re.sub(r"(?i)\.(?:jpe?g|png)\Z", "", str(number))
            size = size_of(item, "image_height", "image_width")
            yield Image(name, _texts(file, item, side, options.level, place), *size)


def _texts(file: File, page: Any, side: Side, level: str, place: str) -> list[TextObject]:
    """Return the lines or paragraphs of an image; or its words, whose lines are regions; or at the
    levels line-words and paragraph-words, the words of its lines or paragraphs.

    At these levels lines or paragraphs say whether their words count, as the data set's own
    evaluation does, which unites the words. Those without words are the polygon of their own
    vertices, and so are paragraphs that do not count.
    """
    read = partial(_object, side=side)
    depth = 1 if level.startswith("paragraph") else 2
    containers = nested(file, page, place, *_LEVELS[:depth])
    if level in ("line", "paragraph"):
        return file.each(containers, read)
    objects: list[TextObject] = []
    number = 0
    for at, item in containers:
        with file.catching(at):
            container = converted(item, _Record)
            dont_care = side == "gt" and not container.legible
            is_whole = level == "paragraph-words" and dont_care
            words = [] if is_whole else list(nested(file, item, at, *_LEVELS[depth:]))
            if level == "word":
                file.notes[base.without_finer(side)] += not words and bool(container.text)
            elif not words:
                words = [(at, item)]
            number += bool(words)
            for one in file.each(words, read):
                one.region = number
                one.dont_care = one.dont_care if level == "word" else dont_care
                objects.append(one)
    return objects


def _is_hiertext(head: Head) -> str:
    is_empty = head.json == {"annotations": []}
    return "no annotations" if is_empty else has("annotations.0.paragraphs")(head)


HIERTEXT = Format(
    "hiertext",
    "HierText",
    _read_hiertext,
    _is_hiertext,
    levels=("word", "line", "paragraph", "line-words", "paragraph-words"),
    layout='{"annotations": [{"image_id", "paragraphs": [{"lines": [{"words": [...]}]}]}]}',
    one_document=True,
)


# ReCTS (ICDAR 2019) -------------------------------------------------------------------------------


def _read_rects(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    records = listed(file, "lines" if options.level == "line" else "chars")
    yield Image(file.stem, file.each(records, partial(_object, side=side, unread=base.DONT_CARE)))


RECTS = Format(
    "rects",
    "ReCTS: JSON, one per image",
    _read_rects,
    has("chars lines"),
    levels=("line", "character"),
    layout='{"chars": [{"points": [x1, y1, ...], "transcription", "ignore"}], "lines": [...]}',
)


# FUNSD, XFUND and CORD ----------------------------------------------------------------------------
# Forms and receipts have words in lines (of XFUND and FUNSD: questions, answers, headers).

_FORM_TEXT = Keys("box", "text")
_CORD_TEXT = Keys("quad")


def _read_funsd(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    lines = listed(file, "form")
    yield Image(file.stem, read_words(file, lines, _FORM_TEXT, side, options.level))


def _read_xfund(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    images = []
    for at, form in listed(file, "documents"):
        with file.catching(at):
            lines = nested(file, form, at, "document")
            words = read_words(file, lines, _FORM_TEXT, side, options.level)
            picture = converted(within(form, "img"), dict[str, Any])
            images.append(Image(converted(picture.get("fname"), str), words, *size_of(picture)))
    yield from named_after_pictures(images)


def _read_cord(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    words = read_words(file, listed(file, "valid_line"), _CORD_TEXT, side, "word")
    document = file.json(dict[str, Any])
    areas = converted(document.get("dontcare") or [], list[Any])
    file.notes["{count} area[s] of don't care in CORD [was|were] left out"] += len(areas)
    yield Image(file.stem, words, *size_of(within(document, "meta", "image_size")))


FUNSD = Format(
    "funsd",
    "FUNSD: forms, one file per image",
    _read_funsd,
    has("form.0.words", "form.0.box"),
    levels=("word", "line"),
    layout='{"form": [{"box": [x0, y0, x1, y1], "text", "words": [{"box", "text"}]}]}',
)
XFUND = Format(
    "xfund",
    "XFUND: forms, one file of all images",
    _read_xfund,
    has("documents.0.document"),
    levels=("word", "line"),
    layout='{"documents": [{"document": [{"words": [{"box", "text"}]}], "img": {"fname"}}]}',
    one_document=True,
)
CORD = Format(
    "cord",
    "CORD: receipts, one file per image",
    _read_cord,
    has("valid_line"),
    layout='{"valid_line": [{"words": [{"quad": {"x1", "y1", ..., "y4"}, "text"}]}]}',
)
