"""What OCR engines write in JSON: one file for each image, or one for all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import (
    DONT_CARE,
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
    Number,
    around,
    box,
    confidence,
    converted,
    nested,
    outline,
    plain_json,
    under,
    within,
)
from evaltex_cli.formats.tools import named_after_pictures
from evaltex_cli.formats.word_records import (
    WORD_OR_LINE,
    Keys,
    expect,
    follow,
    has,
    is_shape,
    joined_texts,
    listed,
    read_pages,
    read_words,
    size_of,
    text_of,
)

Bounds = tuple[Number, Number, Number, Number]


# PaddleOCR ----------------------------------------------------------------------------------------
#
# Lines are ground truth (`Label.txt` of PPOCRLabel) or results (`det_results.txt`,
# `system_results.txt`); don't care is what PaddleOCR's training leaves out.

_PADDLE_LINE = re.compile(r"\s*+[^\t\n]++\t(?:\[\s*(?:[\[{\]]|$)|\{\s*\")")
_PADDLE_WORD = Keys(
    *("points", "transcription", "score confidence rec_score recscore"),
    dont_care="difficult illegibility",
    no_text=f"{DONT_CARE} *",
)
_OTHER_FILE = "{count} file[s] of another format [was|were] left out"


def _read_paddle(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(numbered: tuple[int, Any]) -> TextObject:
        with under(numbered[0]):
            return _PADDLE_WORD.read(numbered[1], side)

    if not file.is_alone and not _PADDLE_LINE.match(file.text):
        file.notes[_OTHER_FILE] += 1  # PPOCRLabel's states of files, and its crops
        return
    images = []
    for number, line in file.lines():
        path, _, document = line.partition("\t")
        try:
            value = plain_json(document.encode())
            items = value if isinstance(value, list) else within(value, "ocr_info")
            items = converted(items, list[Any])
        except FormatError as error:
            error.at = None  # its line in the JSON
            file.log(error, number)
            continue
        objects = file.each(((number, numbered) for numbered in enumerate(items)), read)
        images.append(Image(path, objects))
    yield from named_after_pictures(images)


PADDLE = Format(
    "paddleocr",
    "PaddleOCR: Label.txt, det_results.txt, system_results.txt",
    _read_paddle,
    lambda head: "lines of an image, a tab and JSON" if _PADDLE_LINE.match(head.text) else "",
    (".txt", ".jsonl"),
    layout='img_1.jpg TAB [{"transcription", "points": [[x, y], ...], "difficult"}] or [[[x, y],'
    " ...], ...]",
)


# MMOCR 1.x ----------------------------------------------------------------------------------------

_INSTANCE = Keys("polygon segmentation box bbox", "text", "score", "ignore iscrowd", DONT_CARE)


def _read_mmocr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    images = []
    for at, record in listed(file, "data_list"):
        with file.catching(at):
            expect(record, "instances")
            instances = nested(file, record, at, "instances")
            objects = file.each(instances, partial(_INSTANCE.read, side=side))
            name = converted(within(record, "img_path"), str)
            images.append(Image(name, objects, *size_of(record)))
    yield from named_after_pictures(images)


MMOCR = Format(
    "mmocr",
    "MMOCR 1.x: annotations for detection and spotting",
    _read_mmocr,
    has("data_list"),
    layout='{"data_list": [{"img_path", "height", "width", "instances": [{"polygon", "bbox",'
    ' "text", "ignore"}]}]}',
    one_document=True,
)


# Columns: the results of PaddleOCR 3 and of MMOCR's inferencers -----------------------------------
#
# Shapes, texts and confidences are lists of one length. PaddleOCR has `dt_polys` of the detector,
# and after recognition `rec_polys` besides, which are what remained of them.

_Paths = tuple[str, str, str]
_PADDLE: list[_Paths] = [
    (f"{at}{step}_polys", f"{at}{step}_texts", f"{at}{step}_scores")
    for at in ("", "res.", "overall_ocr_res.", "res.overall_ocr_res.")
    for step in ("rec", "dt")
]
_MMOCR: list[_Paths] = [
    ("det_polygons", "rec_texts", "det_scores"),
    ("polygons", "texts", "scores"),
    ("bboxes", "texts", "scores"),
]


def _read_columns(
    known: Sequence[_Paths], file: File, side: Side, options: ReadOptions
) -> Iterator[Image]:
    def read(row: tuple[Any, Any, Any]) -> TextObject:
        return TextObject(outline(row[0]), text_of(row[1]), confidence=confidence(row[2]))

    document = file.json(dict[str, Any])
    paths = next((paths for paths in known if follow(document, paths[0]) is not None), None)
    if paths is None:
        raise FormatError(f"no key {known[0][0]}", "it, a list of shapes")
    columns: list[list[Any]] = []
    for path in paths:
        with under(path):
            column = converted(follow(document, path), list[Any] | None)
            if column is not None and len(column) != len((columns or [column])[0]):
                raise FormatError(f"a list of {len(column)}", "a value for each shape")
        columns.append([None] * len(columns[0]) if column is None else column)
    rows = enumerate(zip(*columns, strict=True))
    yield Image(file.stem, file.each(rows, read, f"{paths[0]}[{{}}]"))


PADDLE_JSON = Format(
    "paddleocr-json",
    "PaddleOCR 3: save_to_json, one file per image",
    partial(_read_columns, _PADDLE),
    has(*(shapes for shapes, _, _ in _PADDLE)),
    layout='{"dt_polys": [[[x, y], ...]], "rec_polys": [[[x, y], ...]], "rec_texts": [...],'
    ' "rec_scores": [...]}',
)
MMOCR_RESULT = Format(
    "mmocr-result",
    "MMOCR 1.x: results of the inferencers, one file per image",
    partial(_read_columns, _MMOCR),
    has(*(f"{shapes} {scores}" for shapes, _, scores in _MMOCR)),
    layout='{"det_polygons": [[x1, y1, ...]], "det_scores": [...], "rec_texts": [...],'
    ' "rec_scores": [...]}',
)


# EasyOCR, RapidOCR, PaddleOCR 2 -------------------------------------------------------------------
#
# `[[box, text, confidence], ...]`; PaddleOCR 2 has a list of pages of `[box, [text, confidence]]`,
# or null for a page without text. Detection alone gives boxes.

_READING = Keys("0", "1.0 1", "1.1 2")


def _is_reading(value: Any) -> bool:
    """Whether a value is a box, or a list of a box and its text, and no list of these."""
    text = within(value, 1, 0) or within(value, 1)
    return is_shape(value) or (is_shape(within(value, 0)) and isinstance(text, str))


def _read_lists(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read_page(at: str, page: Any) -> Image:
        readings = converted(page, list[Any] | None) or []
        return Image("", file.each(enumerate(readings), _READING.read, f"{at}[{{}}]"))

    value = file.json(list[Any])
    is_page = not value or _is_reading(value[0])
    pages = [("", value)] if is_page else [(f"[{k}]", page) for k, page in enumerate(value)]
    yield from read_pages(file, pages, read_page)


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
    layout='[[[[x, y], ...], "text", confidence], ...] or [[[[[x, y], ...], ["text", confidence]],'
    " ...]]",
)

_RAPID = Keys("box dt_boxes boxes", "txt rec_txt text", "score confident")


def _read_rapidocr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    value: Any = file.json(list[Any] | dict[str, Any])
    is_list = isinstance(value, list)
    items = enumerate(value) if is_list else value.items()
    yield Image(file.stem, file.each(items, _RAPID.read, "[{}]" if is_list else "{}"))


RAPIDOCR = Format(
    "rapidocr",
    "RapidOCR 2 and later, EasyOCR's dictionaries: JSON",
    _read_rapidocr,
    has("0.box 0.txt", "0.dt_boxes 0.rec_txt", "0.boxes 0.text"),
    layout='[{"box": [[x, y], ...], "txt", "score"}] or {"0": {"dt_boxes", "rec_txt", "score"}}',
)


# ocrmac -------------------------------------------------------------------------------------------
#
# Boxes are x, y, width, height in fractions of the page, with y from the page's bottom to the
# box's; with px=True x0, y0, x1, y1 in pixels from the top. A file with a coordinate above 1 is of
# pixels.


def _read_ocrmac(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    readings = file.json(list[Any])
    numbers = [within(reading, 2, k) for reading in readings for k in range(4)]
    are_fractions = all(not isinstance(value, int | float) or value <= 1 for value in numbers)

    def read(reading: Any) -> TextObject:
        text, score, bounds = converted(reading, tuple[str, float | None, Bounds])
        x, y, width, height = bounds
        points = box(x, 1 - y - height, width, height) if are_fractions else around(bounds)
        return TextObject(points, text, confidence=score)

    yield Image(file.stem, file.each(enumerate(readings), read, "[{}]"), fractions=are_fractions)


def _is_ocrmac(head: Head) -> str:
    is_text = isinstance(within(head.json, 0, 0), str)
    is_box = isinstance(within(head.json, 0, 2, 3), int | float)
    return "a list of lists [text, confidence, box of four numbers]" if is_text and is_box else ""


OCRMAC = Format(
    "ocrmac",
    "ocrmac: lists, one JSON file per image",
    _read_ocrmac,
    _is_ocrmac,
    layout='[["text", confidence, [x, y, width, height]], ...]',
)


# docTR --------------------------------------------------------------------------------------------
#
# Geometries are two corners or four vertices, in fractions of the page. A word's region is its
# line. The KIE predictor has predictions by class in the place of blocks.

_DOCTR_WORD = Keys("geometry", "value")


def _read_doctr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(record: Any) -> TextObject:
        one = _DOCTR_WORD.read(record)
        one.text = one.text or joined_texts(within(record, "words"), "value", " ")  # of a line
        return one

    def read_page(at: str, page: Any) -> Image:
        with under("dimensions"):
            height, width = converted(within(page, "dimensions"), tuple[Number, Number])
        lines = nested(file, page, at, "blocks", "lines")
        objects = read_words(file, lines, read, side, options.level)
        classes = converted(within(page, "predictions"), dict[str, Any] | None) or {}
        for name in classes:
            objects += file.each(nested(file, classes, f"{at}.predictions", name), read)
        return Image("", objects, height, width, fractions=True)

    yield from read_pages(file, listed(file, "pages"), read_page)


DOCTR = Format(
    "doctr",
    "docTR: export(), one JSON file per image",
    _read_doctr,
    has("pages.0.dimensions pages.0.blocks", "pages.0.dimensions pages.0.predictions"),
    levels=WORD_OR_LINE,
    layout='{"pages": [{"dimensions": [height, width], "blocks": [{"lines": [{"geometry", "words":'
    ' [{"value", "confidence", "geometry": [[x0, y0], [x1, y1]]}]}]}]}]}',
)


# Surya --------------------------------------------------------------------------------------------
#
# `results.json` of all images by name, each a list of pages. Lines are under `text_lines`, after
# detection alone under `bboxes`; some versions have words in them.

_SURYA_TEXT = Keys("polygon bbox")


def _read_surya(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read_page(at: str, page: Any) -> Image:
        with under("image_bbox"):
            x0, y0, x1, y1 = converted(within(page, "image_bbox") or (0, 0, 0, 0), Bounds)
        key = "text_lines" if within(page, "text_lines") is not None else "bboxes"
        lines = nested(file, page, at, key)
        objects = read_words(file, lines, _SURYA_TEXT.read, side, options.level)
        return Image("", objects, y1 - y0, x1 - x0)

    images = file.json(dict[str, Any])
    for key, name in zip(images, names_of_pictures(list(images)), strict=True):
        yield from read_pages(replace(file, stem=name), nested(file, images, "", key), read_page)


SURYA = Format(
    "surya",
    "Surya: results.json",
    _read_surya,
    has("*.0.text_lines", "*.0.bboxes"),
    levels=WORD_OR_LINE,
    layout='{"img_1": [{"text_lines": [{"polygon", "bbox", "text", "confidence", "words"}],'
    ' "image_bbox"}]}',
    one_document=True,
)
