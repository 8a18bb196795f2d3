"""What OCR engines write in JSON: one file for each image, or one for all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.formats import parsing, word_records
from evaltex_cli.formats.base import DONT_CARE, File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.names import names_of_pictures
from evaltex_cli.formats.parsers import paddle_results
from evaltex_cli.formats.parsing import Bounds, converted, nested, within
from evaltex_cli.formats.tools import named_after_pictures
from evaltex_cli.formats.word_records import Keys, follow, has, is_shape, joined_texts, read_pages

# PaddleOCR ----------------------------------------------------------------------------------------
# Lines are ground truth (`Label.txt` of PPOCRLabel) or results (`det_results.txt`,
# `system_results.txt`); don't care is what PaddleOCR's training leaves out.

_PADDLE_LINE = re.compile(r"\s*+[^\t\n]++\t(?:\[\s*(?:[\[{\]]|$)|\{\s*\")")
_PADDLE_SCORE = "score confidence rec_score recscore"
_PADDLE_WORD = Keys("points", "transcription", _PADDLE_SCORE, "difficult illegibility", "### *")


def _read_paddle(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    if not file.is_alone and not _PADDLE_LINE.match(file.text):  # PPOCRLabel's states and crops
        file.notes["{count} file[s] of another format [was|were] left out"] += 1
        return
    images = []
    for number, line in file.lines():
        path, _, document = line.partition("\t")
        try:
            value = parsing.plain_json(document.encode())
            items = value if isinstance(value, list) else within(value, "ocr_info")
            words = [(number, item) for item in converted(items, list[Any])]
        except FormatError as error:
            error.at = number
            file.log(error)
            continue
        images.append(Image(path, file.each(words, partial(_PADDLE_WORD.read, side=side))))
    yield from named_after_pictures(images)


PADDLE = Format(
    "paddleocr",
    "PaddleOCR: Label.txt, det_results.txt, system_results.txt",
    _read_paddle,
    lambda head: "lines of an image, a tab and JSON" if _PADDLE_LINE.match(head.text) else "",
    (".txt", ".jsonl"),
    layout='img_1.jpg TAB [{"transcription", "points": [[x, y], ...], "difficult"}]',
)


# MMOCR 1.x ----------------------------------------------------------------------------------------

_INSTANCE = Keys("polygon segmentation box bbox", "text", "score", "ignore iscrowd", DONT_CARE)


def _read_mmocr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    images = []
    for at, record in word_records.listed(file, "data_list"):
        with file.catching(at):
            instances = nested(file, record, at, word_records.expect(record, "instances"))
            objects = file.each(instances, partial(_INSTANCE.read, side=side))
            name = converted(within(record, "img_path"), str)
            images.append(Image(name, objects, *word_records.size_of(record)))
    yield from named_after_pictures(images)


MMOCR = Format(
    "mmocr",
    "MMOCR 1.x: annotations for detection and spotting",
    _read_mmocr,
    has("data_list"),
    layout='{"data_list": [{"img_path", "height", "width", "instances": [{"polygon", "text"}]}]}',
    one_document=True,
)


# Columns: the results of PaddleOCR 3 and of MMOCR's inferencers -----------------------------------
# Shapes, texts and confidences are lists of one length. PaddleOCR has `dt_polys` of the detector,
# and after recognition `rec_polys` besides, which are what remained of them.

_INSIDE = ("", "res.", "overall_ocr_res.", "res.overall_ocr_res.")
_PADDLE = [f"{inside}{step}" for inside in _INSIDE for step in ("rec", "dt")]
_SERVICE = [
    f"{at}{key}" for at in ("", "result.") for key in ("ocrResults", "layoutParsingResults")
]
_COLUMNS = [
    *((f"{step}_polys", f"{step}_texts", f"{step}_scores") for step in _PADDLE),
    ("det_polygons", "rec_texts", "det_scores"),
    *((shapes, "texts", "scores") for shapes in ("polygons", "bboxes")),
]


def _columns(file: File, at: str, document: Any) -> list[TextObject]:
    def read(row: tuple[Any, Any, Any]) -> TextObject:
        text = converted(row[1], str | None) or ""
        return TextObject(parsing.outline(row[0]), text, confidence=parsing.confidence(row[2]))

    paths = next((one for one in _COLUMNS if follow(document, one[0]) is not None), _COLUMNS[0])
    columns = [converted(follow(document, path), list[Any] | None) for path in paths]
    lengths = {len(column) for column in columns if column is not None}
    if columns[0] is None or len(lengths) > 1:
        found = f"no list {paths[0]}, or not as long as {paths[1]} and {paths[2]}"
        raise FormatError(found, "a list of shapes, and a text and a score for each")
    rows = zip(*(column or [None] * len(columns[0]) for column in columns), strict=True)
    return file.each(enumerate(rows), read, f"{at}.{paths[0]}[{{}}]".removeprefix("."))


def _read_columns(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    results = list(paddle_results(file, file.json(Any)))
    paths = [within(one, "input_path") for _, one in results]
    if len(results) == 1:
        yield Image(file.stem, _columns(file, *results[0]))
    elif all(paths) and len({*paths}) == len(paths):  # of several pictures
        images = zip(paths, results, strict=True)
        yield from named_after_pictures([Image(path, _columns(file, *one)) for path, one in images])
    else:
        yield from read_pages(file, results, lambda at, one: Image("", _columns(file, at, one)))


PADDLE_JSON = Format(
    "paddleocr-json",
    "PaddleOCR 3: save_to_json, or a service's answer",
    _read_columns,
    has(
        *(f"{at}{step}_polys" for at in ("", "0.") for step in _PADDLE),
        *(f"{page}.0.prunedResult.{step}_polys" for page in _SERVICE for step in _PADDLE),
    ),
    layout='{"rec_polys" or "dt_polys": [[[x, y], ...]], "rec_texts": [...], "rec_scores": [...]}',
)
MMOCR_RESULT = Format(
    "mmocr-result",
    "MMOCR 1.x: results of the inferencers, one file per image",
    _read_columns,
    has("det_polygons det_scores", "polygons scores", "bboxes scores"),
    layout='{"det_polygons": [[x1, y1, ...]], "det_scores": [...], "rec_texts": [...]}',
)


# EasyOCR, RapidOCR, PaddleOCR 2 -------------------------------------------------------------------
# Lists `[box, text, confidence]` or dictionaries of these. PaddleOCR 2 has a list of pages of
# `[box, [text, confidence]]`, or null for a page without text. Detection alone gives boxes.

_READING = Keys(
    "0 box dt_boxes boxes bbox points polygon",
    "1.0 1 txt rec_txt text transcription",
    "1.1 2 score confident confidence",
)


def _is_reading(value: Any) -> bool:
    """Whether a value is a box, or a list of a box and its text, and no list of these."""
    text = within(value, 1, 0) or within(value, 1)
    return is_shape(value) or (is_shape(within(value, 0)) and isinstance(text, str))


def _read_readings(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read_page(at: str, page: Any) -> Image:
        page = converted(page, list[Any] | dict[str, Any] | None) or []
        readings = page.items() if isinstance(page, dict) else enumerate(page)
        return Image("", file.each(readings, _READING.read, f"{at}[{{}}]"))

    value: Any = file.json(list[Any] | dict[str, Any])
    first = within(value, 0)
    is_page = isinstance(value, dict) or isinstance(first, dict) or _is_reading(first)
    pages = [("", value)] if is_page else [(f"[{k}]", page) for k, page in enumerate(value)]
    yield from read_pages(file, pages, read_page)


def _is_lists(value: Any) -> bool:
    first = within(value, 0)
    is_empty_page = isinstance(value, list) and len(value) == 1 and first in (None, [])
    return is_empty_page or _is_reading(first) or _is_reading(within(first, 0))


EASYOCR = Format(
    "easyocr",
    "EasyOCR, RapidOCR 1.x and PaddleOCR 2.x: JSON lists",
    _read_readings,
    lambda head: "a list of lists [box, text, confidence]" if _is_lists(head.json) else "",
    layout='[[[[x, y], ...], "text", confidence], ...] or [[[box, ["text", confidence]], ...]]',
)
RAPIDOCR = Format(
    "rapidocr",
    "RapidOCR 2 and later, EasyOCR's dictionaries: JSON",
    _read_readings,
    has(
        *("0.box 0.txt", "0.dt_boxes 0.rec_txt", "0.boxes 0.text", "0.points.0.1 0.transcription"),
        *(f"0.{shape}.0.1 0.text" for shape in ("box", "bbox", "points", "polygon")),
    ),
    layout='[{"box": [[x, y], ...], "txt", "score"}] or {"0": {"dt_boxes", "rec_txt", "score"}}',
)


# ocrmac -------------------------------------------------------------------------------------------
# Boxes are x, y, width, height in fractions of the page, with y from the page's bottom to the
# box's; with px=True x0, y0, x1, y1 in pixels from the top. A file with a coordinate of 2 or more
# is of pixels; fractions may be slightly above 1.


def _read_ocrmac(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    readings = file.json(list[Any])
    numbers = [within(reading, 2, k) for reading in readings for k in range(4)]
    are_fractions = all(not isinstance(value, int | float) or value < 2 for value in numbers)

    def read(reading: Any) -> TextObject:
        text, score, bounds = converted(reading, tuple[str, float | None, Bounds])
        x, y, width, height = bounds
        box = (x, 1 - y - height, x + width, 1 - y) if are_fractions else parsing.around(bounds)
        return TextObject(box, text, confidence=score)

    yield Image(file.stem, file.each(enumerate(readings), read, "[{}]"), fractions=are_fractions)


OCRMAC = Format(
    "ocrmac",
    "ocrmac: lists, one JSON file per image",
    _read_ocrmac,
    has("0.0 0.2.3"),
    layout='[["text", confidence, [x, y, width, height]], ...]',
)


# docTR --------------------------------------------------------------------------------------------
# Geometries are two corners or four vertices, in fractions of the page. A word's region is its
# line. The KIE predictor has predictions by class in the place of blocks.

_DOCTR_TEXT = Keys("geometry", "value", other_text=partial(joined_texts, "words", "value", " "))


def _read_doctr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read_page(at: str, page: Any) -> Image:
        height, width = converted(within(page, "dimensions"), parsing.Point)
        lines = nested(file, page, at, "blocks", "lines")
        objects = word_records.read_words(file, lines, _DOCTR_TEXT, side, options.level)
        classes = converted(within(page, "predictions"), dict[str, Any] | None) or {}
        for name in classes:
            words = nested(file, classes, f"{at}.predictions", name)
            objects += file.each(words, _DOCTR_TEXT.read)
        return Image("", objects, height, width, fractions=True)

    yield from read_pages(file, word_records.listed(file, "pages"), read_page)


DOCTR = Format(
    "doctr",
    "docTR: export(), one JSON file per image",
    _read_doctr,
    has("pages.0.dimensions pages.0.blocks", "pages.0.dimensions pages.0.predictions"),
    levels=("word", "line"),
    layout='{"pages": [{"blocks": [{"lines": [{"words": [{"value", "geometry"}]}]}]}]}',
)


# Surya --------------------------------------------------------------------------------------------
# `results.json` of all images by name, each a list of pages. Lines are under `text_lines`, after
# detection alone under `bboxes`; some versions have words in them.

_SURYA_TEXT = Keys("polygon bbox")


def _read_surya(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read_page(at: str, page: Any) -> Image:
        x0, y0, x1, y1 = converted(within(page, "image_bbox") or (0, 0, 0, 0), Bounds)
        lines = nested(file, page, at, word_records.expect(page, "text_lines", "bboxes"))
        objects = word_records.read_words(file, lines, _SURYA_TEXT, side, options.level)
        return Image("", objects, y1 - y0, x1 - x0)

    images = file.json(dict[str, Any])
    for key, name in zip(images, names_of_pictures(list(images)), strict=True):
        yield from read_pages(replace(file, stem=name), nested(file, images, "", key), read_page)


SURYA = Format(
    "surya",
    "Surya: results.json",
    _read_surya,
    has("*.0.text_lines", "*.0.bboxes"),
    levels=("word", "line"),
    layout='{"img_1": [{"text_lines": [{"polygon", "text", "words"}], "image_bbox"}]}',
    one_document=True,
)


# YomiToku -----------------------------------------------------------------------------------------
# A file for each page, a list of pages, or a service's `result`. Words are lines of text; tables,
# paragraphs and figures have their texts again.

_YOMITOKU_TEXT = Keys("points", "content", "rec_score")


def _read_yomitoku(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read_page(at: str, page: Any) -> Image:
        word_records.expect(page, "words")
        return Image("", file.each(nested(file, page, at, "words"), _YOMITOKU_TEXT.read))

    yield from read_pages(file, paddle_results(file, file.json(Any)), read_page)


YOMITOKU = Format(
    "yomitoku",
    "YomiToku: lines, one JSON file per page or document",
    _read_yomitoku,
    has("words.0.rec_score", *(f"{at}paragraphs {at}words" for at in ("", "0.", "result.0."))),
    layout='{"words": [{"points": [[x, y], ...], "content", "rec_score"}], "paragraphs", "tables"}',
)
