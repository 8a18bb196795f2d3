"""What OCR engines write in JSON: one file for each image, or one for all.

A reader yields where each object is in its document, and the object; `_object` reads a shape, a
text and a confidence, whatever the engine calls them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import (
    DONT_CARE,
    File,
    Format,
    Head,
    Image,
    ReadOptions,
    Side,
    TextObject,
    without_finer,
)
from evaltex_cli.formats.names import names_of_pictures
from evaltex_cli.formats.parsing import (
    Flag,
    Number,
    around,
    box,
    confidence,
    converted,
    nested,
    outline,
    plain_json,
    shown,
    under,
    within,
)
from evaltex_cli.formats.tools import named_after_pictures

Score = float | str | None
WORD_OR_LINE = ("word", "line")


def _object(shape: Any, text: Any, score: Any, *, corners: bool = False) -> TextObject:
    """Return the object of three values in plain JSON; see `parsing.outline`."""
    points = outline(shape, corners=corners)
    read = confidence(converted(score, Score))
    return TextObject(points, converted(text, str | None) or "", confidence=read)


def words_of(
    file: File, lines: Iterable[tuple[str, Any]], side: Side, level: str
) -> Iterator[tuple[str, tuple[Any, int | None]]]:
    """Yield where each word of lines is, the word, and in ground truth the number of its line, its
    region; at the level of lines each line and None.
    """
    for number, (at, line) in enumerate(lines, 1):
        if level == "line":
            yield at, (line, None)
            continue
        words = list(nested(file, line, at, "words"))
        file.notes[without_finer(side)] += not words and bool(within(line, "text"))
        for where, word in words:
            yield where, (word, number if side == "gt" else None)


# PaddleOCR ----------------------------------------------------------------------------------------
#
# Lines are ground truth (`Label.txt` of PPOCRLabel) or results (`det_results.txt`,
# `system_results.txt`); don't care is what PaddleOCR's training leaves out. Version 3 writes
# `dt_polys`, and after recognition `rec_polys` besides.

_PADDLE_LINE = re.compile(r"\s*+[^\t\n]++\t(?:\[\s*(?:[\[{\]]|$)|\{\s*\")")
_NOT_TRAINED = (DONT_CARE, "*")
_OTHER_FILE = "{count} file[s] of another format [was|were] left out"


class _PaddleWord(msgspec.Struct, gc=False):
    points: list[Any]
    transcription: str | None = None
    difficult: Flag = None
    illegibility: Flag = None
    score: Score = None
    confidence: Score = None
    rec_score: Score = None
    recscore: Score = None


def _name_paddle(files: Iterable[File], side: Side) -> dict[str, str]:
    """Return what the lines of all files call an image -> its name."""
    paths: dict[str, None] = {}
    for file in files:
        with suppress(FormatError):  # which is logged when the file is read
            for _, line in file.lines():
                path, _, document = line.partition("\t")
                if document.lstrip()[:1] in ("[", "{"):
                    paths[path] = None
    return dict(zip(paths, names_of_pictures(list(paths)), strict=True))


def _read_paddle(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    if not file.is_alone and not _PADDLE_LINE.match(file.text):
        file.notes[_OTHER_FILE] += 1  # PPOCRLabel's states of files, and its crops
        return
    for number, line in file.lines():
        path, tab, document = line.partition("\t")
        try:
            if not tab:
                found = f"{quote(path)} without a tab"
                raise FormatError(found, "image, tab, and a JSON list of its objects")
            value = plain_json(document.encode())
            listed = within(value, "ocr_info") if isinstance(value, dict) else value
            items = converted(listed, list[Any])
        except FormatError as error:
            error.at = None  # its line in the JSON
            file.log(error, number)
            continue
        objects = ((number, item) for item in enumerate(items))
        yield Image(options.surveyed[path], file.each(objects, partial(_paddle_object, side)))


def _paddle_object(side: Side, numbered: tuple[int, Any]) -> TextObject:
    k, item = numbered
    with under(k):
        if isinstance(item, list):
            return TextObject(outline(item))
        word = converted(item, _PaddleWord)
        text = word.transcription or ""
        is_left_out = bool(word.difficult or word.illegibility) or text in _NOT_TRAINED
        dont_care = side == "gt" and is_left_out
        scores = (word.score, word.confidence, word.rec_score, word.recscore)
        score = next((score for score in scores if score is not None), None)
        with under("points"):
            points = outline(word.points, dont_care=dont_care)
        return TextObject(points, text, dont_care, confidence(score))


PADDLE = Format(
    "paddleocr",
    "PaddleOCR: Label.txt, det_results.txt, system_results.txt",
    _read_paddle,
    lambda head: "lines of an image, a tab and JSON" if _PADDLE_LINE.match(head.text) else "",
    (".txt", ".jsonl"),
    layout='img_1.jpg TAB [{"transcription", "points": [[x, y], ...], "difficult"}] or [[[x, y],'
    " ...], ...]",
    survey=_name_paddle,
)


# MMOCR 1.x ----------------------------------------------------------------------------------------


class _Instance(msgspec.Struct, gc=False):
    polygon: list[Any] | None = None
    segmentation: list[Any] | None = None
    box: list[Any] | None = None
    bbox: list[Any] | None = None
    text: str | None = None
    ignore: Flag = None
    iscrowd: Flag = None
    score: float | None = None


class _MmocrImage(msgspec.Struct, gc=False):
    img_path: str
    instances: list[Any]
    height: Number | None = None
    width: Number | None = None


class _Mmocr(msgspec.Struct, gc=False):
    data_list: list[Any]


def _read_mmocr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(item: Any) -> TextObject:
        one = converted(item, _Instance)
        shape = one.polygon or one.segmentation or one.box or one.bbox
        if not shape:
            expected = "one of them: this may be an annotation of recognition only"
            raise FormatError("no polygon and no bbox", expected)
        text = one.text or ""
        is_ignored = bool(one.ignore or one.iscrowd) or text == DONT_CARE
        points = outline(shape, corners=True)
        return TextObject(points, text, side == "gt" and is_ignored, one.score)

    images = []
    for k, record in enumerate(file.json(_Mmocr).data_list):
        at = f"data_list[{k}]"
        with file.catching(at):
            image = converted(record, _MmocrImage)
            objects = file.each(enumerate(image.instances), read, f"{at}.instances[{{}}]")
            images.append(Image(image.img_path, objects, image.height or 0, image.width or 0))
    yield from named_after_pictures(images)


MMOCR = Format(
    "mmocr",
    "MMOCR 1.x: annotations for detection and spotting",
    _read_mmocr,
    lambda head: "the key data_list" if within(head.json, "data_list") is not None else "",
    (".json",),
    layout='{"data_list": [{"img_path", "height", "width", "instances": [{"polygon", "bbox",'
    ' "text", "ignore"}]}]}',
    one_document=True,
)


# Columns: the results of PaddleOCR 3 and of MMOCR's inferencers -----------------------------------
#
# Shapes, texts and confidences are lists of one length. PaddleOCR has `dt_polys` of the detector,
# and after recognition `rec_polys` besides, which are what remained of them.

_PADDLE = (("rec_polys", "rec_texts", "rec_scores"), ("dt_polys", "dt_texts", "dt_scores"))
_MMOCR = (
    ("det_polygons", "rec_texts", "det_scores"),
    ("polygons", "texts", "scores"),
    ("bboxes", "texts", "scores"),
)
_Keys = tuple[str, str, str]


def _columns(value: Any, known: Sequence[_Keys]) -> tuple[Any, str, _Keys] | None:
    """Return the object that has columns, what leads to it, and the columns' keys."""
    at = ""
    for inner in ("", "res", "overall_ocr_res"):  # as versions 3.x and pipelines of documents have
        if isinstance(within(value, inner), dict):
            value, at = value[inner], f"{at}{inner}."
        for keys in known:
            if within(value, keys[0]) is not None:
                return value, at, keys
    return None


def _read_columns(
    known: Sequence[_Keys], file: File, side: Side, options: ReadOptions
) -> Iterator[Image]:
    result = _columns(file.json(dict[str, Any]), known)
    if result is None:
        raise FormatError(f"no key {known[0][0]}", "it, a list of shapes")
    record, at, keys = result
    columns: list[list[Any]] = []
    for key in keys:
        with under(at + key):
            column = converted(record.get(key), list[Any] | None)
            if columns and column is not None and len(column) != len(columns[0]):
                expected = f"{len(columns[0])} values, one for each shape"
                raise FormatError(f"a list of {len(column)}", expected)
        columns.append([None] * len(columns[0]) if column is None else column)
    rows = enumerate(zip(*columns, strict=True))
    objects = file.each(rows, lambda row: _object(*row, corners=True), f"{at}{keys[0]}[{{}}]")
    yield Image(file.stem, objects)


def _is_paddle_json(head: Head) -> str:
    return "the key dt_polys or rec_polys" if _columns(head.json, _PADDLE) else ""


def _is_mmocr_result(head: Head) -> str:
    result = _columns(head.json, _MMOCR)
    is_known = result is not None and result[2][2] in result[0]
    return "polygons and scores" if is_known else ""


PADDLE_JSON = Format(
    "paddleocr-json",
    "PaddleOCR 3: save_to_json, one file per image",
    partial(_read_columns, _PADDLE),
    _is_paddle_json,
    (".json",),
    layout='{"dt_polys": [[[x, y], ...]], "rec_polys": [[[x, y], ...]], "rec_texts": [...],'
    ' "rec_scores": [...]}',
)
MMOCR_RESULT = Format(
    "mmocr-result",
    "MMOCR 1.x: results of the inferencers, one file per image",
    partial(_read_columns, _MMOCR),
    _is_mmocr_result,
    (".json",),
    layout='{"det_polygons": [[x1, y1, ...]], "det_scores": [...], "rec_texts": [...],'
    ' "rec_scores": [...]}',
)


# EasyOCR, RapidOCR, PaddleOCR 2 -------------------------------------------------------------------
#
# `[[box, text, confidence], ...]`; PaddleOCR 2 has a list of pages of `[box, [text, confidence]]`,
# or null for a page without text. Detection alone gives boxes.

_A_READING = "a list [box, text, confidence]"


def _is_reading(value: Any) -> bool:
    """Whether a value is a box, or a list of a box and its text, and no list of these."""
    return _is_shape(value) or (_is_shape(within(value, 0)) and _text_of(value) is not None)


def _is_shape(value: Any) -> bool:
    return isinstance(within(value, 0), list) and not isinstance(within(value, 0, 0), list)


def _text_of(value: Any) -> str | None:
    second = within(value, 1)
    text = within(second, 0) if isinstance(second, list) else second
    return text if isinstance(text, str) else None


def _list_object(value: Any) -> TextObject:
    if _is_shape(value):
        return TextObject(outline(value))
    if not _is_reading(value):
        raise FormatError(shown(value), _A_READING)
    shape, *read = value
    text, *scores = read[0] if isinstance(read[0], list) else read
    return _object(shape, text, scores[0] if scores else None)


def _read_lists(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    value = file.json(list[Any])
    if not value or _is_reading(value[0]):
        yield Image(file.stem, file.each(enumerate(value), _list_object, "[{}]"))
        return
    for k, (page, name) in enumerate(zip(value, file.page_names(len(value)), strict=True)):
        if page is not None and not isinstance(page, list):
            file.log(FormatError(shown(page), _A_READING), f"[{k}]")
        else:
            yield Image(name, file.each(enumerate(page or []), _list_object, f"[{k}][{{}}]"))


def _is_lists(head: Head) -> str:
    first = within(head.json, 0)
    is_empty_page = isinstance(head.json, list) and len(head.json) == 1 and first in (None, [])
    are_readings = _is_reading(first) or _is_reading(within(first, 0))
    return "a list of lists [box, text, confidence]" if are_readings or is_empty_page else ""


EASYOCR = Format(
    "easyocr",
    "EasyOCR, RapidOCR 1.x and PaddleOCR 2.x: JSON lists",
    _read_lists,
    _is_lists,
    (".json",),
    layout='[[[[x, y], ...], "text", confidence], ...] or [[[[[x, y], ...], ["text", confidence]],'
    " ...]]",
)

_RAPID_KEYS = (
    ("box", "txt", "score"),
    ("dt_boxes", "rec_txt", "score"),
    ("boxes", "text", "confident"),
)


def _read_rapidocr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(value: Any) -> TextObject:
        record = converted(value, dict[str, Any])
        keys = next((keys for keys in _RAPID_KEYS if keys[0] in record), ())
        if not keys:
            raise FormatError("no key box, dt_boxes or boxes", "one of them")
        return _object(*(record.get(key) for key in keys))

    value: Any = file.json(list[Any] | dict[str, Any])
    items = enumerate(value) if isinstance(value, list) else value.items()
    yield Image(file.stem, file.each(items, read, "[{}]" if isinstance(value, list) else "{}"))


def _is_rapidocr(head: Head) -> str:
    value = head.json
    key = next(iter(value), "") if isinstance(value, dict) else ""
    first = within(value, key if key.isdigit() else 0)
    fields = set(first) if isinstance(first, dict) else set()
    keys = next((keys for keys in _RAPID_KEYS if fields.issuperset(keys[:2])), ())
    return f"objects with the keys {keys[0]} and {keys[1]}" if keys else ""


RAPIDOCR = Format(
    "rapidocr",
    "RapidOCR 2 and later, EasyOCR's dictionaries: JSON",
    _read_rapidocr,
    _is_rapidocr,
    (".json",),
    layout='[{"box": [[x, y], ...], "txt", "score"}] or {"0": {"dt_boxes", "rec_txt", "score"}}',
)


# ocrmac -------------------------------------------------------------------------------------------
#
# Boxes are x, y, width, height in fractions of the page, with y from the page's bottom to the
# box's; with px=True x0, y0, x1, y1 in pixels from the top. A file with a coordinate above 1 is of
# pixels.


_MacReading = tuple[str, float | None, tuple[Number, Number, Number, Number]]


def _read_ocrmac(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    readings = file.json(list[Any])
    corners = [within(reading, 2, k) for reading in readings for k in range(4)]
    are_fractions = all(not isinstance(one, int | float) or one <= 1 for one in corners)

    def read(item: Any) -> TextObject:
        text, score, reading = converted(item, _MacReading)
        x, y, width, height = reading
        points = box(x, 1 - y - height, width, height) if are_fractions else around(reading)
        return TextObject(points, text, confidence=score)

    objects = file.each(enumerate(readings), read, "[{}]")
    yield Image(file.stem, objects, fractions=are_fractions and bool(objects))


def _is_ocrmac(head: Head) -> str:
    first = within(head.json, 0)
    is_one = isinstance(first, list) and len(first) == 3 and isinstance(first[0], str)
    corners = within(first, 2)
    is_box = isinstance(corners, list) and len(corners) == 4
    return "a list of lists [text, confidence, box of four numbers]" if is_one and is_box else ""


OCRMAC = Format(
    "ocrmac",
    "ocrmac: lists, one JSON file per image",
    _read_ocrmac,
    _is_ocrmac,
    (".json",),
    layout='[["text", confidence, [x, y, width, height]], ...]',
)


# docTR --------------------------------------------------------------------------------------------
#
# Geometries are two corners or four vertices, in fractions of the page. A word's region is its
# line. The KIE predictor has predictions by class in the place of blocks.


class _DoctrText(msgspec.Struct, gc=False):
    """A word, or a line of words."""

    geometry: list[Any]
    value: str | None = None
    words: list[_DoctrText] | None = None
    confidence: float | None = None


def _read_doctr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    document = file.json(dict[str, Any])
    if "pages" not in document:
        others = ", ".join(map(quote, list(document)[:6]))
        raise FormatError("no key 'pages'", f"it next to {others}" if others else "it in each file")
    pages = list(nested(file, document, "", "pages"))
    if not pages:
        yield Image(file.stem)
    for (at, page), name in zip(pages, file.page_names(len(pages)), strict=True):
        with file.catching(at):
            with under("dimensions"):
                height, width = converted(within(page, "dimensions"), tuple[Number, Number])
                if min(height, width) <= 0:
                    found = f"{height:g}, {width:g}"
                    raise FormatError(found, "height and width of the page in pixels")
            read = partial(_doctr_object, (width, height))
            lines = nested(file, page, at, "blocks", "lines")
            words = list(words_of(file, lines, side, options.level))
            classes = within(page, "predictions") or {}
            for kind in classes:
                listed = nested(file, classes, f"{at}.predictions", kind)
                words += ((where, (word, None)) for where, word in listed)
            yield Image(name, file.each(words, read), height, width)


def _doctr_object(size: tuple[float, float], numbered: tuple[Any, int | None]) -> TextObject:
    item, line = numbered
    one = converted(item, _DoctrText)
    with under("geometry"):
        points = [v * size[k % 2] for k, v in enumerate(outline(one.geometry, corners=True))]
    text = " ".join(word.value or "" for word in ([one] if one.words is None else one.words))
    return TextObject(points, text, confidence=one.confidence, region=line)


def _is_doctr(head: Head) -> str:
    page = within(head.json, "pages", 0)
    is_page = within(page, "dimensions") is not None
    has_words = isinstance(page, dict) and ("blocks" in page or "predictions" in page)
    return "pages that have dimensions and blocks" if is_page and has_words else ""


DOCTR = Format(
    "doctr",
    "docTR: export(), one JSON file per image",
    _read_doctr,
    _is_doctr,
    (".json",),
    levels=WORD_OR_LINE,
    layout='{"pages": [{"dimensions": [height, width], "blocks": [{"lines": [{"geometry", "words":'
    ' [{"value", "confidence", "geometry": [[x0, y0], [x1, y1]]}]}]}]}]}',
)


# Surya --------------------------------------------------------------------------------------------
#
# `results.json` of all images by name, each a list of pages. Lines are under `text_lines`, after
# detection alone under `bboxes`; some versions have words in them.


class _SuryaText(msgspec.Struct, gc=False):
    polygon: list[Any] | None = None
    bbox: list[Any] | None = None
    text: str | None = None
    confidence: float | None = None


def _read_surya(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    images = file.json(dict[str, Any])
    for key, image in zip(images, names_of_pictures(list(images)), strict=True):
        pages = list(nested(file, images, "", key))
        names = [image] if len(pages) == 1 else [f"{image}-{k + 1}" for k in range(len(pages))]
        for (at, page), name in zip(pages, names, strict=True):
            with file.catching(at):
                bounds = within(page, "image_bbox") or (0, 0, 0, 0)
                with under("image_bbox"):
                    x0, y0, x1, y1 = converted(bounds, tuple[Number, Number, Number, Number])
                lines_key = "text_lines" if within(page, "text_lines") is not None else "bboxes"
                lines = nested(file, page, at, lines_key)
                words = words_of(file, lines, side, options.level)
                yield Image(name, file.each(words, _surya_object), y1 - y0, x1 - x0)


def _surya_object(numbered: tuple[Any, int | None]) -> TextObject:
    item, line = numbered
    one = converted(item, _SuryaText)
    shape = one.polygon or one.bbox
    if not shape:
        raise FormatError("no polygon and no bbox", "one of them")
    points = outline(shape, corners=True)
    return TextObject(points, one.text or "", confidence=one.confidence, region=line)


def _is_surya(head: Head) -> str:
    values = head.json.values() if isinstance(head.json, dict) else ()
    pages = [within(value, 0) for value in values]
    are_pages = all(isinstance(page, dict) and {*page} & {"text_lines", "bboxes"} for page in pages)
    return "lists of pages with text_lines or bboxes" if pages and are_pages else ""


SURYA = Format(
    "surya",
    "Surya: results.json",
    _read_surya,
    _is_surya,
    (".json",),
    levels=WORD_OR_LINE,
    layout='{"img_1": [{"text_lines": [{"polygon", "bbox", "text", "confidence", "words"}],'
    ' "image_bbox"}]}',
    one_document=True,
)
