"""What cloud services answer with: one JSON file for each image or document, whose pages are images
NAME-1, NAME-2, ... if there are several.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import File, Format, Head, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import converted, nested, number, under, within
from evaltex_cli.formats.word_records import (
    WORD_OR_LINE,
    Keys,
    Records,
    expect,
    follow,
    has,
    joined_texts,
    listed,
    read_pages,
    read_words,
    size_of,
    text_of,
)

_SNAKE_CASE = re.compile(rb'"[a-z]+(?:_[a-z]+)+"\s*:')


def _document(file: File, inside: str = "") -> tuple[str, dict[str, Any]]:
    """Return what leads to the object of a document, which may be inside another, and the object,
    of which some clients write the keys in snake_case.
    """

    def camel(key: re.Match[bytes]) -> bytes:
        return re.sub(rb"_([a-z])", lambda letter: letter[1].upper(), key[0])

    root = replace(file, data=_SNAKE_CASE.sub(camel, file.data)).json(dict[str, Any])
    with under(inside):
        return (inside, converted(root[inside], dict[str, Any])) if inside in root else ("", root)


def _has(*alternatives: str) -> Callable[[Head], str]:
    """Return what recognises JSON by paths, in camelCase or snake_case; see `has`."""
    snake = (re.sub(r"(?<=[a-z])[A-Z]", r"_\g<0>", paths).lower() for paths in alternatives)
    return has(*alternatives, *snake)


# AWS Textract -------------------------------------------------------------------------------------
#
# Coordinates are fractions of the page, confidences are percent. Blocks of other types than words
# and lines are of no interest.

_BLOCK = Keys("Geometry.Polygon Geometry.BoundingBox", "Text", "Confidence", certain=100)


def _read_textract(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read_page(at: str, blocks: Any) -> Image:
        return Image("", file.each(blocks, _BLOCK.read), fractions=True)

    pages: dict[int, list[tuple[str, Any]]] = {}
    for at, block in listed(file, "Blocks"):
        with file.catching(at):
            page = converted(within(block, "Page"), int | None) or 1
            kind = converted(block, dict[str, Any]).get("BlockType")
            pages.setdefault(page, []).extend([(at, block)] * (kind == options.level.upper()))
    yield from read_pages(file, (("", pages[page]) for page in sorted(pages)), read_page)


TEXTRACT = Format(
    "textract",
    "AWS Textract",
    _read_textract,
    has("Blocks"),
    levels=WORD_OR_LINE,
    layout='{"Blocks": [{"BlockType": "WORD", "Text", "Confidence", "Geometry": {"Polygon": [{"X",'
    ' "Y"}]}}]}',
)


# Google Cloud Vision and Document AI --------------------------------------------------------------
#
# Shapes have vertices in pixels, or normalized ones, which are fractions of the page. A coordinate
# that is missing is 0.

_VISION_WORD = Keys("boundingBox boundingPoly", "description")
_TOKEN = Keys("layout.boundingPoly", "", "layout.confidence")


def _google_page(
    file: File, words: Records, keys: Keys, text: Callable[[Any], str], size: Any
) -> Image:
    """Return an image in pixels if a word has vertices in pixels, else in fractions of the page."""
    words, paths = list(words), keys.shape.split()
    in_pixels = any(follow(word, f"{path}.vertices") for _, word in words for path in paths)
    unit = "vertices" if in_pixels else "normalizedVertices"
    keys = keys._replace(shape=" ".join(f"{path}.{unit}" for path in paths))

    def read(word: Any) -> TextObject:
        one = keys.read(word)
        one.text = one.text or text(word)
        return one

    return Image("", file.each(words, read), *size_of(size), fractions=not in_pixels)


def _read_vision(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def symbols(word: Any) -> str:
        return joined_texts(within(word, "symbols"), "text")

    def read_page(at: str, page: Any) -> Image:
        words = list(nested(file, page, at, "blocks", "paragraphs", "words"))
        words += list(nested(file, page, at, "textAnnotations"))[1:]  # the first is all the text
        return _google_page(file, words, _VISION_WORD, symbols, page)

    at, root = _document(file)
    responses = nested(file, root, "", "responses") if "responses" in root else [(at, root)]
    pages = []
    for at, response in responses:
        with file.catching(at):
            others = [key for key in converted(response, dict[str, Any]) if "Annotation" in key]
            expect(response, "fullTextAnnotation", "error", "context", *others)
            if response.get("error"):
                message = quote(str(within(response, "error", "message")))
                raise FormatError(f"an error in the place of a result: {message}", "a result")
            text = response.get("fullTextAnnotation") or {}
            where = f"{at}.fullTextAnnotation".removeprefix(".")
            pages += list(nested(file, text, where, "pages")) or [(at, response)]
    yield from read_pages(file, pages, read_page)


GOOGLE_VISION = Format(
    "google-vision",
    "Google Cloud Vision, words",
    _read_vision,
    _has(
        *("responses.0.fullTextAnnotation", "responses.0.textAnnotations"),
        *("fullTextAnnotation", "textAnnotations"),
    ),
    layout='{"responses": [{"fullTextAnnotation": {"pages": [{"width", "height", "blocks":'
    ' [{"paragraphs": [{"words": [{"boundingBox", "symbols": [{"text"}], "confidence"}]}]}]}]}}]}',
)


def _read_document_ai(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    at, root = _document(file, "document")
    expect(root, "pages", "text", "uri", "content", "mimeType", "entities", "shardInfo")
    text = text_of(root.get("text"))

    def read_page(at: str, page: Any) -> Image:
        expect(page, "tokens", "lines", "dimension", "pageNumber", "image", "layout")
        words = nested(file, page, at, "tokens" if options.level == "word" else "lines")
        anchored = partial(_anchored, text)
        return _google_page(file, words, _TOKEN, anchored, within(page, "dimension"))

    yield from read_pages(file, nested(file, root, at, "pages"), read_page)


def _anchored(text: str, word: Any) -> str:
    """Return what the segments of a word are of a text; raises `FormatError`."""
    parts = []
    with under("layout", "textAnchor"):
        segments = follow(word, "layout.textAnchor.textSegments") or []
        for segment in converted(segments, list[dict[str, Any]]):
            limits = [segment.get(key) or 0 for key in ("startIndex", "endIndex")]
            start, stop = (int(number(str(limit))) for limit in limits)
            if not 0 <= start <= stop <= len(text):
                expected = f"indices in the text of {len(text)} characters"
                raise FormatError(f"characters {start} to {stop}", expected)
            parts.append(text[start:stop])
    return "".join(parts).strip()


DOCUMENT_AI = Format(
    "document-ai",
    "Google Document AI",
    _read_document_ai,
    _has(
        *(f"{at}text {at}pages.0.{key}" for at in ("", "document.") for key in ("tokens", "lines")),
        *(f"{at}mimeType {at}pages.0.pageNumber" for at in ("", "document.")),
    ),
    levels=WORD_OR_LINE,
    layout='{"text", "pages": [{"dimension": {"width", "height"}, "tokens": [{"layout":'
    ' {"textAnchor", "boundingPoly", "confidence"}}], "lines": [...]}]}',
)


# Azure --------------------------------------------------------------------------------------------
#
# Read 2.0 to 3.2 has readResults (recognitionResults in the first) with words in lines; Document
# Intelligence has pages with words and lines side by side; Image Analysis 4 has readResult with
# blocks of lines, and the size beside it. With the unit inch (PDF) coordinates become fractions of
# the page.

_AZURE_TEXT = Keys("polygon boundingPolygon boundingBox", "content text")


def _read_azure(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read_page(at: str, page: Any) -> Image:
        expect(page, "words", "width", "unit", "readResult")
        picture = within(page, "readResult")
        lines = nested(file, page, at, "lines")
        if picture is not None:
            lines = nested(file, picture, "readResult", "blocks", "lines")
        if within(page, "words") is None:
            objects = read_words(file, lines, _AZURE_TEXT.read, "det", options.level)
        else:
            objects = file.each(nested(file, page, at, f"{options.level}s"), _AZURE_TEXT.read)
        height, width = size_of(page if picture is None else within(page, "metadata"))
        if (within(page, "unit") or "pixel") == "pixel":
            return Image("", objects, height, width)
        if min(height, width) <= 0:
            raise FormatError("a page in inches of unknown width or height", "both above 0")
        for one in objects:
            one.points = [v / (height if k % 2 else width) for k, v in enumerate(one.points)]
        return Image("", objects, fractions=True)

    at, root = _document(file, "analyzeResult")
    expect(root, "pages", "readResults", "recognitionResults", "readResult")
    key = next((key for key in ("readResults", "recognitionResults") if key in root), "pages")
    pages = [(at, root)] if "readResult" in root else nested(file, root, at, key)
    yield from read_pages(file, pages, read_page)


AZURE = Format(
    "azure",
    "Azure's Read and Document Intelligence",
    _read_azure,
    _has(
        *("analyzeResult.readResults", "analyzeResult.recognitionResults", "analyzeResult.pages"),
        *("readResults", "recognitionResults", "readResult", "content pages.0.words"),
    ),
    levels=WORD_OR_LINE,
    layout='{"analyzeResult": {"pages": [{"width", "height", "unit", "words": [{"polygon",'
    ' "content", "confidence"}], "lines": [...]}]}} or readResults with lines of words',
)
