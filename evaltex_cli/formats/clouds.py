"""What cloud services answer with: one JSON file for each image or document of several pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from evaltex_cli.formats import word_records
from evaltex_cli.formats.base import File, Format, Head, Image, ReadOptions, Side
from evaltex_cli.formats.parsing import converted, nested, number, plain_json, within
from evaltex_cli.formats.word_records import Keys, Records, expect, follow, has, read_pages, size_of


def _document(file: File, inside: str = "") -> Any:
    """Return the object of a document, perhaps inside another. Some clients write snake_case."""
    snake = re.compile(rb'_([a-z])(?=[a-z_]*"\s*:)')
    root = plain_json(snake.sub(lambda letter: letter[1].upper(), file.data))
    return converted(within(root, inside) or root, dict[str, Any])


def _has(*alternatives: str) -> Callable[[Head], str]:
    """Return what recognises JSON by paths, in camelCase or snake_case; see `has`."""
    snake = (re.sub(r"(?<=[a-z])[A-Z]", r"_\g<0>", paths).lower() for paths in alternatives)
    return has(*alternatives, *snake)


# AWS Textract -------------------------------------------------------------------------------------
# Coordinates are fractions of the page, confidences are percent.

_BLOCK = Keys("Geometry.Polygon Geometry.BoundingBox", "Text", "Confidence", certain=100)


def _read_textract(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read_page(at: str, blocks: Any) -> Image:
        return Image("", file.each(blocks, _BLOCK.read), fractions=True)

    root = file.json(Any)
    root = {"Blocks": root} if within(root, 0, "BlockType") else root
    responses = [(f"[{k}]", one) for k, one in enumerate(root)] if isinstance(root, list) else None
    pages: dict[int, list[tuple[str, Any]]] = {}
    for where, response in responses or [("", root)]:  # a long answer comes in several
        expect(response, "Blocks")
        for at, block in nested(file, response, where, "Blocks"):
            with file.catching(at):
                page = pages.setdefault(converted(within(block, "Page") or 1, int), [])
                if converted(block, dict[str, Any]).get("BlockType") == options.level.upper():
                    page.append((at, block))
    yield from read_pages(file, (("", pages[page]) for page in sorted(pages)), read_page)


TEXTRACT = Format(
    "textract",
    "AWS Textract",
    _read_textract,
    has("Blocks", "0.Blocks", "0.BlockType"),
    levels=("word", "line"),
    layout='{"Blocks": [{"BlockType": "WORD", "Text", "Confidence", "Geometry": {"Polygon"}}]}',
)


# AWS Rekognition ----------------------------------------------------------------------------------

_DETECTED = Keys("Geometry.Polygon Geometry.BoundingBox", "DetectedText", "Confidence", certain=100)


def _read_rekognition(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    texts = word_records.listed(file, "TextDetections")
    kind = options.level.upper()
    objects = file.each((one for one in texts if within(one[1], "Type") == kind), _DETECTED.read)
    yield Image(file.stem, objects, fractions=True)


REKOGNITION = Format(
    "rekognition",
    "AWS Rekognition: DetectText",
    _read_rekognition,
    has("TextDetections.0.Geometry", "TextDetections TextModelVersion"),
    levels=("word", "line"),
    layout='{"TextDetections": [{"DetectedText", "Type": "WORD", "Geometry": {"Polygon"}}]}',
)


# Tencent, Baidu, CLOVA, Upstage -------------------------------------------------------------------
# Coordinates are pixels, Tencent's confidences percent. An answer that is an error has no list.


def _pages_reader(
    keys: Keys, pages: str, words: str, inside: str = ""
) -> Callable[[File, Side, ReadOptions], Iterator[Image]]:
    """Return what reads the words of a list of pages, or of a document without such a list."""

    def read_page(file: File, at: str, page: Any) -> Image:
        expect(page, words)
        size = size_of(within(page, "convertedImageInfo") or page)  # CLOVA's, which may be resized
        return Image("", file.each(nested(file, page, at, words), keys.read), *size)

    def read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
        root = file.json(dict[str, Any])
        root = within(root, inside) or root
        found: Records = [("", root)]
        if within(root, "Error", "Code") == "FailedOperation.ImageNoText":  # of Tencent
            found = []
        elif pages:
            expect(root, pages)
            found = nested(file, root, "", pages)
        yield from read_pages(file, found, partial(read_page, file))

    return read


TENCENT = Format(
    "tencent-ocr",
    "Tencent Cloud OCR",
    _pages_reader(
        Keys("Polygon", "DetectedText", "Confidence", certain=100), "", "TextDetections", "Response"
    ),
    has("Response.TextDetections", "TextDetections.0.Polygon"),
    layout='{"Response": {"TextDetections": [{"DetectedText", "Polygon": [{"X", "Y"}]}]}}',
)
BAIDU = Format(
    "baidu-ocr",
    "Baidu OCR with positions",
    _pages_reader(
        Keys("vertexes_location location", "words", "probability.average"), "", "words_result"
    ),
    has("words_result.0.location", "words_result words_result_num"),
    layout='{"words_result": [{"words", "location": {"left", "top", "width", "height"}}]}',
)
CLOVA = Format(
    "clova-ocr",
    "Naver CLOVA OCR",
    _pages_reader(
        Keys("boundingPoly.vertices bounding", "inferText", "inferConfidence"), "images", "fields"
    ),
    has("images.0.inferResult", "images.0.fields.0.inferText"),
    layout='{"images": [{"fields": [{"inferText", "boundingPoly": {"vertices"}}]}]}',
)
UPSTAGE = Format(
    "upstage-ocr",
    "Upstage Document OCR",
    _pages_reader(Keys("boundingBox.vertices"), "pages", "words"),
    has("modelVersion pages.0.words"),
    layout='{"modelVersion", "pages": [{"words": [{"text", "boundingBox": {"vertices"}}]}]}',
)


# Google Cloud Vision and Document AI --------------------------------------------------------------
# Shapes have vertices in pixels, or normalized ones, which are fractions of the page.

_SHAPES = ("boundingBox", "boundingPoly", "layout.boundingPoly")


def _google_page(file: File, words: Records, text: Callable[[Any], str], size: Any) -> Image:
    """Return an image in pixels if a word has vertices in pixels, else in fractions of the page."""
    words = list(words)
    in_pixels = any(follow(word, f"{path}.vertices") for _, word in words for path in _SHAPES)
    unit = "vertices" if in_pixels else "normalizedVertices"
    shapes = " ".join(f"{path}.{unit}" for path in _SHAPES)
    keys = Keys(shapes, "description", "confidence layout.confidence", other_text=text)
    return Image("", file.each(words, keys.read), *size_of(size), fractions=not in_pixels)


def _read_vision(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    symbols = partial(word_records.joined_texts, "symbols", "text", "")

    def read_page(at: str, page: Any) -> Image:
        words = list(nested(file, page, at, "blocks", "paragraphs", "words"))
        words += list(nested(file, page, at, "textAnnotations"))[1:]  # the first is all the text
        return _google_page(file, words, symbols, page)

    root = _document(file)
    pages = []
    responses = nested(file, root, "", "responses") if "responses" in root else [("", root)]
    for at, response in responses:
        with file.catching(at):
            expect(response, "fullTextAnnotation", "textAnnotations", "labelAnnotations", "context")
            text, where = response.get("fullTextAnnotation") or {}, f"{at}.fullTextAnnotation"
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
    layout='{"responses": [{"fullTextAnnotation": {"pages": [{"blocks": [...]}]}}]}',
)


def _read_document_ai(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = _document(file, "document")
    expect(root, "pages", "text", "uri", "content", "mimeType", "entities", "shardInfo")
    text = converted(root.get("text"), str | None) or ""

    def anchored(token: Any) -> str:
        segments = converted(follow(token, "layout.textAnchor.textSegments") or [], list[Any])
        limits = ([within(one, key) or 0 for key in ("startIndex", "endIndex")] for one in segments)
        parts = (text[slice(*(int(number(str(index))) for index in pair))] for pair in limits)
        return "".join(parts).strip()

    def read_page(at: str, page: Any) -> Image:
        expect(page, "tokens", "lines", "dimension", "pageNumber", "image", "layout")
        words = nested(file, page, at, "tokens" if options.level == "word" else "lines")
        return _google_page(file, words, anchored, within(page, "dimension"))

    yield from read_pages(file, nested(file, root, "", "pages"), read_page)


DOCUMENT_AI = Format(
    "document-ai",
    "Google Document AI",
    _read_document_ai,
    _has(
        *(f"{at}text {at}pages.0.{key}" for at in ("", "document.") for key in ("tokens", "lines")),
        *(f"{at}mimeType {at}pages.0.pageNumber" for at in ("", "document.")),
    ),
    levels=("word", "line"),
    layout='{"text", "pages": [{"tokens": [{"layout": {"textAnchor", "boundingPoly"}}], "lines"}]}',
)


# Azure --------------------------------------------------------------------------------------------
# Read 2.0 to 3.2 has readResults (recognitionResults in the first) with words in lines; Document
# Intelligence has pages with words beside lines; Image Analysis 4 has readResult with blocks of
# lines, and the size beside it. With the unit inch (PDF) coordinates become fractions of the page.

_AZURE_TEXT = Keys("polygon boundingPolygon boundingBox", "content text")


def _read_azure(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read_page(at: str, page: Any) -> Image:
        expect(page, "words", "width", "unit")
        is_beside = options.level == "word" and within(page, "words") is not None
        lines: Records = [(at, page)] if is_beside else nested(file, page, at, "lines")
        objects = word_records.read_words(file, lines, _AZURE_TEXT, "det", options.level)
        height, width = size_of(page)
        if within(page, "unit") == "inch":
            return word_records.in_page_unit(objects, width, height)
        return Image("", objects, height, width)

    root = _document(file, "analyzeResult")
    key = expect(root, "pages", "readResults", "recognitionResults", "readResult")
    pages: Records = nested(file, root, "", key)
    if key == "readResult":
        size = converted(root.get("metadata") or {}, dict[str, Any])
        picture = nested(file, root[key], key, "blocks", "lines")
        pages = [(key, size | {"lines": [line for _, line in picture]})]
    yield from read_pages(file, pages, read_page)


AZURE = Format(
    "azure",
    "Azure's Read and Document Intelligence",
    _read_azure,
    _has("analyzeResult", "readResults", "recognitionResults", "readResult", "content pages"),
    levels=("word", "line"),
    layout='{"analyzeResult": {"pages": [{"words": [{"polygon", "content"}], "lines": [...]}]}}',
)
