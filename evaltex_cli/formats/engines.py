"""What OCR engines write in JSON: one file for each image, or one for all.

A reader yields where each object is in its document, and the object; `_object` reads a shape, a
text and a confidence, whatever the engine calls them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import (
    DONT_CARE,
    WITHOUT_WORDS,
    File,
    Format,
    Head,
    Image,
    ReadOptions,
    Side,
    TextObject,
)
from evaltex_cli.formats.names import names_of_pictures
from evaltex_cli.formats.parsing import (
    Flag,
    Number,
    around,
    box,
    confidence,
    converted,
    outline,
    plain_json,
    under,
    within,
)

Score = float | str | None
WORD_OR_LINE = ("word", "line")


def _object(shape: Any, text: Any, score: Any, *, corners: bool = False) -> TextObject:
    """Return the object of three values in plain JSON; see `parsing.outline`."""
    points = outline(shape, corners=corners)
    read = confidence(converted(score, Score))
    return TextObject(points, converted(text, str | None) or "", confidence=read)


def _in_columns(file: File, record: Mapping[str, Any], at: str, *keys: str) -> list[TextObject]:
    """Read objects whose shapes, texts and confidences are lists of the same length, under keys of
    a record that `at` leads to.

    Raises
    ------
    FormatError
        For a list of another length.
    """
    columns: list[list[Any]] = []
    for key in keys:
        with under(at, key):
            column = converted(record.get(key), list[Any] | None)
            if columns and column is not None and len(column) != len(columns[0]):
                expected = f"{len(columns[0])} values, one for each shape"
                raise FormatError(f"a list of {len(column)}", expected)
        columns.append([None] * len(columns[0]) if column is None else column)
    rows = zip(*columns, strict=True)
    read = partial(_object, corners=True)
    return file.each(enumerate(rows), lambda row: read(*row), f"{at}.{keys[0]}[{{}}]")


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


def _name_paddle(files: Sequence[File], side: Side) -> dict[str, str]:
    """Return what the lines of all files call an image -> its name."""
    paths = {line.partition("\t")[0]: "" for file in files for _, line in file.lines()}
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


def _paddle_result(value: Any) -> tuple[Any, str]:
    """Return the object that has the polygons, and what leads to it; None if there is none."""
    at = ""
    for key in ("res", "overall_ocr_res"):  # of versions 3.x, and of pipelines of documents
        if isinstance(within(value, key), dict) and not _has_polygons(value):
            value, at = value[key], f"{at}.{key}".removeprefix(".")
    return (value, at) if _has_polygons(value) else (None, at)


def _has_polygons(value: Any) -> bool:
    return within(value, "rec_polys") is not None or within(value, "dt_polys") is not None


def _read_paddle_json(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    record, at = _paddle_result(file.json(dict[str, Any]))
    if record is None:
        raise FormatError("neither dt_polys nor rec_polys", "one of them")
    kind = "dt" if record.get("rec_polys") is None else "rec"
    columns = (f"{kind}_polys", f"{kind}_texts", f"{kind}_scores")
    yield Image(file.stem, _in_columns(file, record, at, *columns))


PADDLE_JSON = Format(
    "paddleocr-json",
    "PaddleOCR 3: save_to_json, one file per image",
    _read_paddle_json,
    lambda head: "the key dt_polys or rec_polys" if _paddle_result(head.json)[0] else "",
    (".json",),
    layout='{"dt_polys": [[[x, y], ...]], "rec_polys": [[[x, y], ...]], "rec_texts": [...],'
    ' "rec_scores": [...]}',
)


# MMOCR 1.x ----------------------------------------------------------------------------------------

_MMOCR_COLUMNS = (
    ("det_polygons", "rec_texts", "det_scores"),
    ("polygons", "texts", "scores"),
    ("bboxes", "texts", "scores"),
)


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
    instances: list[_Instance]
    height: Number | None = None
    width: Number | None = None


class _Mmocr(msgspec.Struct, gc=False):
    data_list: list[_MmocrImage]


def _read_mmocr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(one: _Instance) -> TextObject:
        shape = one.polygon or one.segmentation or one.box or one.bbox
        if not shape:
            expected = "one of them: this may be an annotation of recognition only"
            raise FormatError("no polygon and no bbox", expected)
        text = one.text or ""
        is_ignored = bool(one.ignore or one.iscrowd) or text == DONT_CARE
        points = outline(shape, corners=True)
        return TextObject(points, text, side == "gt" and is_ignored, one.score)

    images = file.json(_Mmocr).data_list
    names = names_of_pictures([image.img_path for image in images])
    for k, (image, name) in enumerate(zip(images, names, strict=True)):
        at = f"data_list[{k}].instances[{{}}]"
        objects = file.each(enumerate(image.instances), read, at)
        yield Image(name, objects, image.height or 0, image.width or 0)


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


def _mmocr_columns(value: Any) -> tuple[str, ...]:
    return next((keys for keys in _MMOCR_COLUMNS if within(value, keys[0]) is not None), ())


def _read_mmocr_result(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    record = file.json(dict[str, Any])
    columns = _mmocr_columns(record)
    if not columns:
        raise FormatError("no key det_polygons, polygons or bboxes", "one of them")
    yield Image(file.stem, _in_columns(file, record, "", *columns))


def _is_mmocr_result(head: Head) -> str:
    columns = _mmocr_columns(head.json)
    return f"the keys {columns[0]} and {columns[2]}" if columns and columns[2] in head.json else ""


MMOCR_RESULT = Format(
    "mmocr-result",
    "MMOCR 1.x: results of the inferencers, one file per image",
    _read_mmocr_result,
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
        raise FormatError(quote(str(value), 40), _A_READING)
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
            file.log(FormatError(quote(str(page), 40), _A_READING), f"[{k}]")
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


def _read_ocrmac(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    readings = file.json(list[tuple[str, float | None, tuple[Number, Number, Number, Number]]])
    are_fractions = all(max(numbers) <= 1 for _, _, numbers in readings)

    def read(reading: Any) -> TextObject:
        text, score, (x, y, width, height) = reading
        points = box(x, 1 - y - height, width, height) if are_fractions else around(reading[2])
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


class _DoctrWord(msgspec.Struct, gc=False):
    geometry: list[Any]
    value: str | None = None
    confidence: float | None = None


class _DoctrLine(msgspec.Struct, gc=False):
    geometry: list[Any]
    words: list[_DoctrWord]
    confidence: float | None = None


class _DoctrBlock(msgspec.Struct, gc=False):
    lines: list[_DoctrLine]


class _DoctrPage(msgspec.Struct, gc=False):
    dimensions: tuple[Number, Number]
    blocks: list[_DoctrBlock] = []
    predictions: dict[str, list[_DoctrWord]] = {}


class _Doctr(msgspec.Struct, gc=False):
    pages: list[_DoctrPage]


_Numbered = tuple[str, tuple[_DoctrWord | _DoctrLine, int | None]]


def _doctr_items(page: _DoctrPage, at: str, level: str) -> Iterator[_Numbered]:
    """Yield where each word or line of a page is, the word or line, and the number of its line."""
    for name, words in page.predictions.items():
        for k, word in enumerate(words):
            yield f"{at}.predictions.{name}[{k}]", (word, None)
    number = 0
    for b, block in enumerate(page.blocks):
        for k, line in enumerate(block.lines):
            number += 1
            where = f"{at}.blocks[{b}].lines[{k}]"
            if level == "line":
                yield where, (line, None)
                continue
            for w, word in enumerate(line.words):
                yield f"{where}.words[{w}]", (word, number)


def _read_doctr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    pages = file.json(_Doctr).pages
    for p, (page, name) in enumerate(zip(pages, file.page_names(len(pages)), strict=True)):
        height, width = page.dimensions
        if min(height, width) <= 0:
            found = f"dimensions {height:g}, {width:g}"
            error = FormatError(found, "height and width of the page in pixels", ("dimensions",))
            file.log(error, f"pages[{p}]")
            continue

        def read(item: Any, width: float = width, height: float = height) -> TextObject:
            one, line = item
            with under("geometry"):
                points = outline(one.geometry, corners=True)
            words = one.words if isinstance(one, _DoctrLine) else [one]
            return TextObject(
                [value * (height if k % 2 else width) for k, value in enumerate(points)],
                " ".join(word.value or "" for word in words),
                confidence=one.confidence,
                region=line if side == "gt" else None,
            )

        objects = file.each(_doctr_items(page, f"pages[{p}]", options.level), read)
        yield Image(name, objects, height, width)


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
    words: list[Any] | None = None


class _SuryaPage(msgspec.Struct, gc=False):
    text_lines: list[Any] | None = None
    bboxes: list[Any] | None = None
    image_bbox: tuple[Number, Number, Number, Number] | None = None


def _read_surya(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    images = file.json(dict[str, list[Any]])
    for key, image in zip(images, names_of_pictures(list(images)), strict=True):
        count = len(images[key])
        for k, value in enumerate(images[key]):
            try:
                page = converted(value, _SuryaPage)
            except FormatError as error:
                file.log(error, f"{key}[{k}]")
                continue
            at = f"{key}[{k}]." + ("bboxes" if page.text_lines is None else "text_lines")
            lines = page.text_lines or page.bboxes or []
            if options.level == "line":
                objects = file.each(enumerate(lines), _surya_object, f"{at}[{{}}]")
            else:
                objects = _surya_words(file, lines, at, side)
            x0, y0, x1, y1 = page.image_bbox or (0, 0, 0, 0)
            yield Image(image if count == 1 else f"{image}-{k + 1}", objects, y1 - y0, x1 - x0)


def _surya_words(file: File, lines: Sequence[Any], at: str, side: Side) -> list[TextObject]:
    words = []
    for k, line in enumerate(lines):
        try:
            one = converted(line, _SuryaText)
        except FormatError as error:
            file.log(error, f"{at}[{k}]")
            continue
        file.notes[WITHOUT_WORDS] += not one.words and bool(one.text)
        read = partial(_surya_object, region=k + 1 if side == "gt" else None)
        words += file.each(enumerate(one.words or []), read, f"{at}[{k}].words[{{}}]")
    return words


def _surya_object(value: Any, region: int | None = None) -> TextObject:
    one = converted(value, _SuryaText)
    if not one.polygon and not one.bbox:
        raise FormatError("no polygon and no bbox", "one of them")
    points = outline(one.polygon or one.bbox, corners=True)
    return TextObject(points, one.text or "", confidence=one.confidence, region=region)


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
