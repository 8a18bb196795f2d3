"""What document parsers write in JSON: blocks of pages, with categories (`categories`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.formats import parsing, word_records
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.categories import text_block
from evaltex_cli.formats.options import Coordinates, Reading
from evaltex_cli.formats.parsing import Bounds, converted, nested, within
from evaltex_cli.formats.tools import named_after_pictures
from evaltex_cli.formats.word_records import expect, follow, has, listed, read_pages, size_of

MOST_PAGES = 100_000


def _text(value: Any, *keys: str) -> str:
    """Return the first text that a record has under these keys; empty if there is none."""
    return next(filter(None, (converted(within(value, key), str | None) for key in keys)), "")


def _leaves(file: File, blocks: word_records.Records, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the blocks without others under a key, and tables, which have the text of theirs."""
    for at, block in blocks:
        if within(block, key) and "<table" not in _text(block, "html"):
            yield from _leaves(file, nested(file, block, at, key), key)
        else:
            yield at, block


# PaddleOCR-VL and PP-StructureV3 ------------------------------------------------------------------
# A result has blocks under `parsing_res_list`. A service answers with the results of pages.


def paddle_results(file: File, document: Any) -> word_records.Records:
    """Yield the results in a document: it is one, or a service's answer of one for each page;
    ``doc_0_res.json``, which knows its page, gets the stem ``doc-1`` as it is read.
    """
    answer = within(document, "result") or document
    keys = ("ocrResults", "layoutParsingResults")
    key = next((key for key in keys if within(answer, key) is not None), "")
    pages: word_records.Records = nested(file, answer, "", key) if key else [("", document)]
    if isinstance(answer, list):
        pages = [(f"[{k}]", page) for k, page in enumerate(answer)]
    for at, page in pages:
        result = within(page, "prunedResult") or within(page, "res") or page
        if isinstance(index := within(result, "page_index"), int):
            file.stem = re.sub(rf"_{index}(?:_res)?\Z", f"-{index + 1}", file.stem)
        yield at, result


def _read_paddle_blocks(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(block: Any) -> TextObject | None:
        bounds = converted(within(block, "block_bbox"), Bounds)
        text, category = _text(block, "block_content"), _text(block, "block_label")
        return text_block(file, bounds, text, category)

    def read_page(at: str, page: Any) -> Image:
        blocks = nested(file, page, at, expect(page, "parsing_res_list"))
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
    layout='{"parsing_res_list": [{"block_label", "block_content", "block_bbox"}]}',
)


# Docling ------------------------------------------------------------------------------------------
# Boxes are in the unit of the page, often points of a PDF, so they become fractions of the page. A
# text that goes on in another column or page has several boxes, each with its part of the text.


def _read_docling(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.json(dict[str, Any])
    root = converted(follow(root, "document.json_content") or root, dict[str, Any])
    expect(root, "texts", "pages")
    sizes, parts = {}, dict[int, list[tuple[str, Any]]]()
    for key, page in converted(root.get("pages") or {}, dict[str, Any]).items():
        with file.catching(f"pages.{key}"):
            number = converted(within(page, "page_no"), int)
            sizes[number], parts[number] = within(page, "size"), []
    for key in ("texts", "tables", "pictures"):
        for at, item in nested(file, root, "", key):
            for where, prov in nested(file, item, at, "prov"):
                with file.catching(where):
                    number = converted(within(prov, "page_no"), int)
                    if number not in parts:
                        raise FormatError(f"page_no {number}", "a page of the document's pages")
                    parts[number].append((where, (item, prov)))

    def read_page(at: str, number: int) -> Image:
        height, width = size_of(sizes[number])

        def read(part: tuple[Any, Any]) -> TextObject | None:
            item, prov = part
            x0, y0, x1, y1 = converted([follow(prov, f"bbox.{side}") for side in "ltrb"], Bounds)
            if follow(prov, "bbox.coord_origin") == "BOTTOMLEFT":
                y0, y1 = height - y0, height - y1
            text = _text(item, "text", "orig")
            if len(item["prov"]) > 1:
                text = text[slice(*converted(within(prov, "charspan"), tuple[int, int]))]
            return text_block(file, (x0, y0, x1, y1), text, _text(item, "label"))

        return word_records.in_page_unit(file.each(parts[number], read), width, height)

    yield from read_pages(file, [(f"pages.{k}", k) for k in sorted(parts)], read_page)


DOCLING = Format(
    "docling",
    "Docling: JSON of a document",
    _read_docling,
    has("schema_name body", "schema_name texts", "document.json_content.schema_name"),
    layout='{"schema_name", "pages": {...}, "texts": [{"label", "text", "prov": [{"bbox"}]}]}',
)


# Marker -------------------------------------------------------------------------------------------
# Boxes are in the unit of the page (points of a PDF): they become fractions.


def _read_marker(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(block: Any) -> TextObject | None:
        bounds, text = converted(within(block, "bbox"), Bounds), _text(block, "html")
        return text_block(file, bounds, parsing.html_text(text), _text(block, "block_type"))

    def read_page(at: str, page: Any) -> Image:
        blocks = file.each(_leaves(file, nested(file, page, at, "children"), "children"), read)
        return word_records.in_page_unit(blocks, within(page, "bbox", 2), within(page, "bbox", 3))

    yield from read_pages(file, listed(file, "children"), read_page)


MARKER = Format(
    "marker",
    "Marker: JSON of a document",
    _read_marker,
    has("children.0.block_type children.0.id"),
    layout='{"children": [{"block_type": "Page", "children": [{"block_type", "html", "bbox"}]}]}',
)


# MinerU -------------------------------------------------------------------------------------------
# `middle.json` has the lines of blocks, in the unit of the page (points of a PDF): they become
# fractions. `para_blocks` have the lines of `preproc_blocks` again, some moved to other pages.
# `content_list.json` has blocks, from 0 to 1000; version 2 has a list of them for each page.


def _read_mineru(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(part: tuple[Any, Any]) -> TextObject | None:
        block, line = part
        spans = converted(within(line, "spans") or [], list[Any])
        text = " ".join(filter(None, (_text(span, "content") for span in spans)))
        scores = [parsing.confidence(within(span, "score")) for span in spans]
        lowest = min((score for score in scores if score is not None), default=None)
        bounds = converted(within(line, "bbox"), Bounds)
        return text_block(file, bounds, text, _text(block, "type"), lowest)

    def read_page(at: str, page: Any) -> Image:
        expect(page, "preproc_blocks", "para_blocks")
        key = "preproc_blocks" if within(page, "preproc_blocks") else "para_blocks"
        discarded = list(nested(file, page, at, "discarded_blocks"))
        file.notes["{count} block[s] that MinerU discarded [was|were] left out"] += len(discarded)
        lines = [
            (place, (block, line))
            for where, block in _leaves(file, nested(file, page, at, key), "blocks")
            for place, line in list(nested(file, block, where, "lines")) or [(where, block)]
        ]
        width, height = (within(page, "page_size", k) for k in (0, 1))
        return word_records.in_page_unit(file.each(lines, read), width, height)

    yield from read_pages(file, listed(file, "pdf_info"), read_page)


MINERU = Format(
    "mineru",
    "MinerU: middle.json",
    _read_mineru,
    has("pdf_info.0.preproc_blocks", "pdf_info.0.para_blocks"),
    layout='{"pdf_info": [{"page_size", "preproc_blocks": [{"lines": [{"bbox", "spans"}]}]}]}',
)


def _content(value: Any) -> str:
    """Return the text in the content of a block of version 2: spans, or items that have spans."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ("\n" if within(value, 0, "item_type") else "").join(map(_content, value))
    content = converted(value or {}, dict[str, Any])
    keys = (key for key in content if key.endswith("_content") or key == "list_items")
    key = next(keys, "" if "image_source" in content else "content")  # or a description of it
    return _content(content.get(key) or "")


def _read_content_list(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    declared = options.coordinates
    if declared and declared.resized:
        raise FormatError(f"coordinates {declared}", "xyxy:1000, as MinerU writes them")

    def read(block: Any) -> TextObject | None:
        numbers = converted(within(block, expect(block, "bbox")), Bounds)
        items = converted(within(block, "list_items") or [], list[str])
        text = _text(block, "text", "code_body") or "\n".join(items)
        if isinstance(content := within(block, "content"), dict):
            text = _content(content)
        points = declared.points(numbers) if declared else numbers
        return text_block(file, points, text, _text(block, "type"))

    pages: dict[int, list[tuple[str, Any]]] = {}
    for k, block in enumerate(file.json(list[Any])):
        if isinstance(block, list):  # the blocks of a page
            pages[k] = [(f"[{k}][{i}]", one) for i, one in enumerate(block)]
            continue
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
    "MinerU: content_list.json and content_list_v2.json",
    _read_content_list,
    has("0.page_idx 0.type", "0.0.type 0.0.content.*", "1.0.type 1.0.content.*"),
    layout='[{"type", "text", "bbox", "page_idx"}], or lists of blocks for pages',
    survey=lambda files, side: Reading((Coordinates("xyxy", 1000.0),), "MinerU's content list"),
    option="coordinates",
)


# Mistral OCR --------------------------------------------------------------------------------------
# Version 4 has blocks of text. Before it only pictures had boxes, so nothing can be scored. The
# content of a picture, and of a table that stands elsewhere, is a link to it.

_LINK = re.compile(r"\s*(?:!\[[^\]]*\]|\[tbl-[^\]]*\])\([^)]*\)\s*")


def _read_mistral(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    corners = [f"{corner}_{axis}" for corner in ("top_left", "bottom_right") for axis in "xy"]
    average = "confidence_scores.average_content_confidence_score"

    def read(block: Any) -> TextObject | None:
        bounds = converted([within(block, key) for key in corners], Bounds)
        score = parsing.confidence(follow(block, average))
        text = _text(block, "content")
        text = "" if _LINK.fullmatch(text) else text
        return text_block(file, bounds, text, _text(block, "type"), score)

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
    has("pages.0.markdown pages.0.dimensions", "pages.0.index pages.0.markdown"),
    layout='{"pages": [{"dimensions", "blocks": [{"content", "top_left_x", "top_left_y", ...}]}]}',
)


# OmniDocBench -------------------------------------------------------------------------------------
# Ground truth of all pages. What its evaluation ignores is don't care.

_BLOCK = word_records.Keys("poly", "text latex", "", "ignore", label="category_type")


def _read_omnidocbench(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(block: Any) -> TextObject | None:
        one = _BLOCK.read(block, side)
        return one if one.dont_care else text_block(file, one.points, one.text, one.label)

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
    has("0.layout_dets 0.page_info", "0.layout_dets.0.category_type"),
    layout='[{"layout_dets": [{"category_type", "poly", "text", "ignore"}], "page_info"}]',
    one_document=True,
)
