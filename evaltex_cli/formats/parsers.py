"""What document parsers write in JSON: blocks of pages, with categories (`categories`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.formats import parsing
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.categories import text_block
from evaltex_cli.formats.options import Coordinates, Reading
from evaltex_cli.formats.parsing import Bounds, converted, nested, within
from evaltex_cli.formats.tools import named_after_pictures
from evaltex_cli.formats.word_records import (
    Records,
    expect,
    follow,
    has,
    listed,
    read_pages,
    size_of,
)

MOST_PAGES = 100_000


def _text(value: Any, *keys: str) -> str:
    """Return the first text that a record has under these keys; empty if there is none."""
    return next(filter(None, (converted(within(value, key), str | None) for key in keys)), "")


# PaddleOCR-VL and PP-StructureV3 ------------------------------------------------------------------
# A result has blocks under `parsing_res_list`. A service answers with the results of pages.


def paddle_results(file: File, document: Any) -> Records:
    """Return the results in a document: it is one, or a service's answer of one for each page."""
    answer = within(document, "result") or document
    pages: Records = [("", document)]
    if isinstance(answer, list):
        pages = [(f"[{k}]", page) for k, page in enumerate(answer)]
    elif isinstance(answer, dict):
        keys = [key for key in ("ocrResults", "layoutParsingResults") if key in answer]
        pages = nested(file, answer, "", keys[0]) if keys else pages
    for at, page in pages:
        yield at, within(page, "prunedResult") or within(page, "res") or page


def _read_paddle_blocks(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(block: Any) -> TextObject | None:
        bounds = converted(within(block, "block_bbox"), Bounds)
        text, category = _text(block, "block_content"), _text(block, "block_label")
        return text_block(file, bounds, text, category)

    def read_page(at: str, page: Any) -> Image:
        expect(page, "parsing_res_list")
        blocks = nested(file, page, at, "parsing_res_list")
        return Image("", file.each(blocks, read), *size_of(page))

    yield from read_pages(file, paddle_results(file, file.json(Any)), read_page)


PADDLE_BLOCKS = Format(
    "paddleocr-vl",
    "PaddleOCR-VL, PP-StructureV3: blocks, one file per document",
    _read_paddle_blocks,
    has(
        *(f"{at}parsing_res_list" for at in ("", "res.", "0.", "0.prunedResult.")),
        *(f"{at}layoutParsingResults.0.prunedResult.parsing_res_list" for at in ("", "result.")),
    ),
    layout='{"parsing_res_list": [{"block_label", "block_content", "block_bbox": [x0, y0, x1,'
    ' y1]}]}, or a service\'s {"result": {"layoutParsingResults": [{"prunedResult": {...}}]}}',
)


# Docling ------------------------------------------------------------------------------------------
# Boxes are in the unit of the page, often points of a PDF, so they become fractions of the page. A
# text that goes on in another column or page has several boxes, each with its part of the text.


def _read_docling(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.json(dict[str, Any])
    root = converted(follow(root, "document.json_content") or root, dict[str, Any])
    expect(root, "texts", "pages")
    pages: dict[int, tuple[parsing.Point, Image]] = {}
    for at, page in converted(root.get("pages") or {}, dict[str, Any]).items():
        with file.catching(f"pages.{at}"):
            size = converted(
                [follow(page, f"size.{k}") for k in ("width", "height")], parsing.Point
            )
            if min(size) <= 0:
                raise FormatError("a page of width or height 0", "both above 0")
            pages[converted(within(page, "page_no"), int)] = size, Image("", fractions=True)

    def read(part: tuple[Any, Any]) -> TextObject | None:
        item, prov = part
        width, height = pages[converted(within(prov, "page_no"), int)][0]
        sides = [follow(prov, f"bbox.{side}") for side in "ltrb"]
        x0, y0, x1, y1 = converted(sides, Bounds)
        if follow(prov, "bbox.coord_origin") == "BOTTOMLEFT":
            y0, y1 = height - y0, height - y1
        text = _text(item, "text", "orig")
        if len(item["prov"]) > 1:
            text = text[slice(*converted(within(prov, "charspan"), tuple[int, int]))]
        points = (x0 / width, y0 / height, x1 / width, y1 / height)
        return text_block(file, points, text, _text(item, "label"))

    for key in ("texts", "tables", "pictures"):
        for at, item in nested(file, root, "", key):
            for where, prov in nested(file, item, at, "prov"):
                number = within(prov, "page_no")
                if number not in pages:
                    found = f"page_no {number}"
                    file.log(FormatError(found, "a page of the document's pages"), where)
                else:
                    pages[number][1].objects += file.each([(where, (item, prov))], read)
    yield from read_pages(
        file, [("", pages[number][1]) for number in sorted(pages)], lambda at, image: image
    )


DOCLING = Format(
    "docling",
    "Docling: JSON of a document",
    _read_docling,
    has("schema_name texts pages", "document.json_content.texts"),
    layout='{"schema_name": "DoclingDocument", "pages": {"1": {"size", "page_no"}}, "texts":'
    ' [{"label", "text", "prov": [{"page_no", "bbox": {"l", "t", "r", "b", "coord_origin"}}]}]}',
)


# MinerU -------------------------------------------------------------------------------------------
# `middle.json` has the lines of blocks, in the unit of the page (points of a PDF): they become
# fractions. `para_blocks` have the lines of `preproc_blocks` again, some moved to other pages.
# `content_list.json` has blocks, from 0 to 1000.


def _mineru_lines(file: File, blocks: Records) -> Iterator[tuple[str, Any]]:
    """Yield each line of blocks, which may be inside others, with the type of its block."""
    for at, block in blocks:
        if within(block, "blocks"):
            yield from _mineru_lines(file, nested(file, block, at, "blocks"))
        elif not within(block, "lines"):
            yield at, {**converted(block, dict[str, Any]), "spans": []}
        else:
            for where, line in nested(file, block, at, "lines"):
                kind = {"type": within(block, "type")}
                yield where, {**converted(line, dict[str, Any]), **kind}


def _read_mineru(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read_page(at: str, page: Any) -> Image:
        expect(page, "preproc_blocks", "para_blocks")
        key = "preproc_blocks" if within(page, "preproc_blocks") else "para_blocks"
        width, height = converted(within(page, "page_size"), parsing.Point)
        if min(width, height) <= 0:
            raise FormatError("a page of width or height 0", "both above 0")

        def read(line: Any) -> TextObject | None:
            x0, y0, x1, y1 = converted(within(line, "bbox"), Bounds)
            spans = converted(within(line, "spans") or [], list[Any])
            text = " ".join(filter(None, (_text(span, "content") for span in spans)))
            scores = [parsing.confidence(within(span, "score")) for span in spans]
            known = [score for score in scores if score is not None]
            points = (x0 / width, y0 / height, x1 / width, y1 / height)
            return text_block(file, points, text, _text(line, "type"), min(known, default=None))

        discarded = list(nested(file, page, at, "discarded_blocks"))
        note = "{count} block[s] that MinerU discarded [was|were] left out"
        file.notes[note] += len(discarded)
        lines = _mineru_lines(file, nested(file, page, at, key))
        return Image("", file.each(lines, read), fractions=True)

    yield from read_pages(file, listed(file, "pdf_info"), read_page)


MINERU = Format(
    "mineru",
    "MinerU: middle.json",
    _read_mineru,
    has("pdf_info.0.preproc_blocks", "pdf_info.0.para_blocks"),
    layout='{"pdf_info": [{"page_size": [width, height], "preproc_blocks": [{"type", "lines":'
    ' [{"bbox": [x0, y0, x1, y1], "spans": [{"content", "score"}]}]}]}]}',
)


def _read_content_list(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    declared = options.coordinates
    if declared and declared.resized:
        raise FormatError(f"coordinates {declared}", "xyxy:1000, as MinerU writes them")

    def read(block: Any) -> TextObject | None:
        numbers = converted(within(block, "bbox"), Bounds)
        largest, scale = max(numbers), declared and declared.scale
        if scale and largest > 1.1 * scale:
            raise FormatError(f"{largest:g}", f"0 to {scale:g}, as {declared} declares")
        items = converted(within(block, "list_items") or [], list[str])
        text = _text(block, "text", "code_body") or "\n".join(items)
        points = declared.points(numbers) if declared else numbers
        return text_block(file, points, text, _text(block, "type"))

    pages: dict[int, list[tuple[str, Any]]] = {}
    for k, block in enumerate(file.json(list[Any])):
        with file.catching(f"[{k}]"):
            number = converted(within(block, "page_idx"), int)
            if not 0 <= number < MOST_PAGES:
                raise FormatError(f"page_idx {number}", f"0 to {MOST_PAGES - 1}")
            pages.setdefault(number, []).append((f"[{k}]", block))
    are_fractions = bool(declared and declared.scale is not None)
    every = [("", pages.get(k, [])) for k in range(max(pages, default=-1) + 1)]
    yield from read_pages(
        file, every, lambda at, blocks: Image("", file.each(blocks, read), fractions=are_fractions)
    )


MINERU_CONTENT_LIST = Format(
    "mineru-content-list",
    "MinerU: content_list.json",
    _read_content_list,
    has("0.page_idx 0.type"),
    layout='[{"type", "text", "bbox": [x0, y0, x1, y1] from 0 to 1000, "page_idx"}]',
    survey=lambda files, side: Reading((Coordinates("xyxy", 1000.0),), "MinerU's content list"),
    option="coordinates",
)


# Mistral OCR --------------------------------------------------------------------------------------
# Version 4 has blocks of text. Before it only pictures had boxes, so nothing can be scored.


def _read_mistral(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    corners = [f"{corner}_{axis}" for corner in ("top_left", "bottom_right") for axis in "xy"]
    average = "confidence_scores.average_content_confidence_score"

    def read(block: Any) -> TextObject | None:
        bounds = converted([within(block, key) for key in corners], Bounds)
        score = parsing.confidence(follow(block, average))
        return text_block(file, bounds, _text(block, "content"), _text(block, "type"), score)

    def read_page(at: str, page: Any) -> Image:
        if within(page, "blocks") is None:
            raise FormatError("a page without blocks", "an answer that was asked for with blocks")
        blocks = nested(file, page, at, "blocks")
        return Image("", file.each(blocks, read), *size_of(within(page, "dimensions")))

    yield from read_pages(file, listed(file, "pages"), read_page)


MISTRAL = Format(
    "mistral-ocr",
    "Mistral OCR, with blocks",
    _read_mistral,
    has("pages.0.markdown pages.0.dimensions"),
    layout='{"pages": [{"dimensions": {"height", "width"}, "blocks": [{"type", "content",'
    ' "top_left_x", "top_left_y", "bottom_right_x", "bottom_right_y"}]}]}',
)


# OmniDocBench -------------------------------------------------------------------------------------
# Ground truth of all pages. What its evaluation ignores is don't care.


def _read_omnidocbench(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(block: Any) -> TextObject | None:
        points, text = parsing.outline(within(block, "poly")), _text(block, "text", "latex")
        category = _text(block, "category_type")
        if side == "gt" and converted(within(block, "ignore"), parsing.Flag):
            return TextObject(points, text, dont_care=True, label=category)
        return text_block(file, points, text, category)

    images = []
    for k, page in enumerate(file.json(list[Any])):
        with file.catching(f"[{k}]"):
            name = converted(follow(page, "page_info.image_path"), str)
            blocks = nested(file, page, f"[{k}]", "layout_dets")
            size = size_of(within(page, "page_info"))
            images.append(Image(name, file.each(blocks, read), *size))
    yield from named_after_pictures(images)


OMNIDOCBENCH = Format(
    "omnidocbench",
    "OmniDocBench: ground truth",
    _read_omnidocbench,
    has("0.layout_dets 0.page_info"),
    layout='[{"layout_dets": [{"category_type", "poly": [x1, y1, ...], "text", "ignore"}],'
    ' "page_info": {"image_path", "height", "width"}}]',
    one_document=True,
)
