"""What cloud services answer with: one JSON file for each image or document, whose pages are images
NAME-1, NAME-2, ... if there are several.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import (
    File,
    Format,
    Head,
    Image,
    ReadOptions,
    Side,
    TextObject,
)
from evaltex_cli.formats.engines import WORD_OR_LINE, words_of
from evaltex_cli.formats.parsing import (
    Number,
    box,
    converted,
    nested,
    outline,
    shown,
    under,
    within,
)

_SNAKE_CASE = re.compile(rb'"[a-z]+(?:_[a-z]+)+"\s*:')


@dataclass
class _Page:
    objects: Sequence[tuple[str, Any]] = ()
    """Where each word or line is, and the word or line in plain JSON."""
    width: float = 0.0
    height: float = 0.0
    """`width` and `height`: in the unit of the coordinates; 0 if not known."""
    fractions: bool | None = None
    """Whether its objects' points are fractions of the page; None before there is an object."""

    def use(self, *, fractions: bool) -> None:
        """Note that an object's points are fractions, or are not; raises `FormatError` if it was
        otherwise with the objects before.
        """
        if self.fractions not in (None, fractions):
            found = "coordinates in pixels and in fractions of the page"
            raise FormatError(found, "one of them on a page")
        self.fractions = fractions


def _images(
    file: File, pages: Sequence[_Page], read: Callable[[_Page, Any], TextObject]
) -> Iterator[Image]:
    """Yield an image for each page, one for a document without pages."""
    pages = pages or [_Page()]
    for page, name in zip(pages, file.page_names(len(pages)), strict=True):
        objects = file.each(page.objects, partial(read, page))
        size = (0.0, 0.0) if page.fractions else (page.height, page.width)
        yield Image(name, objects, *size, fractions=bool(page.fractions and objects))


def _camel_case(file: File) -> dict[str, Any]:
    """Return a JSON object, of which some clients write the keys in snake_case."""

    def camel(key: re.Match[bytes]) -> bytes:
        return re.sub(rb"_([a-z])", lambda letter: letter[1].upper(), key[0])

    return replace(file, data=_SNAKE_CASE.sub(camel, file.data)).json(dict[str, Any])


def _refuse_other(record: Any, *known: str) -> None:
    """Refuse what has keys, but none that the service writes; without keys there is no text."""
    others = [quote(key) for key in converted(record, dict[str, Any])]
    if others and not any(key in record for key in known):
        raise FormatError(f"no key {quote(known[0])}", f"it next to {', '.join(others[:6])}")


# AWS Textract -------------------------------------------------------------------------------------
#
# Coordinates are fractions of the page, confidences are percent. Blocks of other types than words
# and lines are of no interest.


class _Box(msgspec.Struct, gc=False):
    Left: Number
    Top: Number
    Width: Number
    Height: Number


class _Geometry(msgspec.Struct, gc=False):
    Polygon: list[Any] | None = None
    BoundingBox: _Box | None = None


class _Block(msgspec.Struct, gc=False):
    BlockType: str
    Text: str | None = None
    Confidence: float | None = None
    Page: int | None = None
    Geometry: _Geometry | None = None


def _read_textract(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.json(dict[str, Any])
    if "Blocks" not in root:
        raise FormatError("no key 'Blocks'", "it")
    pages: dict[int, list[tuple[str, _Block]]] = {}
    for at, item in nested(file, root, "", "Blocks"):
        with file.catching(at):
            block = converted(item, _Block)
            objects = pages.setdefault(block.Page or 1, [])
            if block.BlockType == options.level.upper():
                objects.append((at, block))
    yield from _images(file, [_Page(pages[number]) for number in sorted(pages)], _textract_object)


def _textract_object(page: _Page, block: _Block) -> TextObject:
    geometry = block.Geometry or _Geometry()
    points: Sequence[float]
    with under("Geometry"):
        if geometry.Polygon:
            with under("Polygon"):
                points = outline(geometry.Polygon)
        elif geometry.BoundingBox:
            bounds = geometry.BoundingBox
            points = box(bounds.Left, bounds.Top, bounds.Width, bounds.Height)
        else:
            raise FormatError("neither Polygon nor BoundingBox", "one of them")
    page.use(fractions=True)
    score = None if block.Confidence is None else block.Confidence / 100
    return TextObject(points, block.Text or "", confidence=score)


def _is_textract(head: Head) -> str:
    blocks = within(head.json, "Blocks")
    is_known = isinstance(blocks, list) and (not blocks or within(blocks, 0, "BlockType"))
    return "the key Blocks" if is_known else ""


TEXTRACT = Format(
    "textract",
    "AWS Textract",
    _read_textract,
    _is_textract,
    (".json",),
    levels=WORD_OR_LINE,
    layout='{"Blocks": [{"BlockType": "WORD", "Text", "Confidence", "Geometry": {"Polygon": [{"X",'
    ' "Y"}]}}]}',
)


# Google Cloud Vision and Document AI --------------------------------------------------------------
#
# Shapes have vertices in pixels, or normalized ones; these are fractions of the page, and
# multiplied by its size where that is known. A coordinate that is missing is 0.


class _Shape(msgspec.Struct, gc=False, rename="camel"):
    vertices: list[Any] | None = None
    normalized_vertices: list[Any] | None = None


class _VisionText(msgspec.Struct, gc=False, rename="camel"):
    """A word of a page, or an item of textAnnotations."""

    bounding_box: _Shape | None = None
    bounding_poly: _Shape | None = None
    symbols: list[_Symbol] | None = None
    description: str | None = None
    confidence: float | None = None


class _Symbol(msgspec.Struct, gc=False):
    text: str | None = None


def _points(page: _Page, shape: _Shape | None, key: str) -> Sequence[float]:
    with under(key):
        numbers = shape and (shape.vertices or shape.normalized_vertices)
        if shape is None or not numbers:
            raise FormatError("no vertices", "vertices or normalizedVertices")
        points = outline(numbers)
        has_size = min(page.width, page.height) > 0
        page.use(fractions=not shape.vertices and not has_size)
        if shape.vertices or not has_size:
            return points
        return [value * (page.height if k % 2 else page.width) for k, value in enumerate(points)]


def _read_vision(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = _camel_case(file)
    pages = []
    for at, response in nested(file, root, "", *(["responses"] if "responses" in root else [])):
        with file.catching(at):
            pages += _vision_pages(file, response, at)
    yield from _images(file, pages, _vision_object)


def _vision_pages(file: File, response: Any, at: str) -> list[_Page]:
    of_service = [key for key in converted(response, dict[str, Any]) if "Annotation" in key]
    _refuse_other(response, "fullTextAnnotation", "error", "context", *of_service)
    if response.get("error"):
        message = quote(str(within(response, "error", "message")))
        raise FormatError(f"an error in the place of a result: {message}", "a result")
    text = response.get("fullTextAnnotation") or {}
    pages = []
    for where, page in nested(file, text, f"{at}.fullTextAnnotation".removeprefix("."), "pages"):
        words = nested(file, page, where, "blocks", "paragraphs", "words")
        pages.append(_Page(list(words), *_size(page)))
    all_text_first = list(nested(file, response, at, "textAnnotations"))
    return pages or [_Page(all_text_first[1:])]


def _size(record: Any) -> tuple[float, float]:
    """Return width and height of a record, 0 if they are missing."""
    values = (within(record, name) for name in ("width", "height"))
    width, height = (converted(value, Number | None) or 0.0 for value in values)
    return width, height


def _vision_object(page: _Page, item: Any) -> TextObject:
    word = converted(item, _VisionText)
    if word.description is not None:
        return TextObject(_points(page, word.bounding_poly, "boundingPoly"), word.description)
    text = "".join(symbol.text or "" for symbol in word.symbols or [])
    points = _points(page, word.bounding_box, "boundingBox")
    return TextObject(points, text, confidence=word.confidence)


def _is_vision(head: Head) -> str:
    document = within(head.json, "responses", 0) or head.json
    for key in (
        "fullTextAnnotation",
        "textAnnotations",
        "full_text_annotation",
        "text_annotations",
    ):
        if isinstance(document, dict) and key in document:
            return f"the key {key}"
    return ""


GOOGLE_VISION = Format(
    "google-vision",
    "Google Cloud Vision, words",
    _read_vision,
    _is_vision,
    (".json",),
    layout='{"responses": [{"fullTextAnnotation": {"pages": [{"width", "height", "blocks":'
    ' [{"paragraphs": [{"words": [{"boundingBox", "symbols": [{"text"}], "confidence"}]}]}]}]}}]}',
)


class _Segment(msgspec.Struct, gc=False, rename="camel"):
    start_index: int | str = 0
    end_index: int | str = 0


class _Anchor(msgspec.Struct, gc=False, rename="camel"):
    text_segments: list[_Segment] | None = None


class _Layout(msgspec.Struct, gc=False, rename="camel"):
    bounding_poly: _Shape | None = None
    text_anchor: _Anchor | None = None
    confidence: float | None = None


class _Token(msgspec.Struct, gc=False):
    layout: _Layout


def _read_document_ai(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root, at = _camel_case(file), ""
    if "document" in root:
        root, at = root["document"], "document"
    _refuse_other(root, "pages", "text", "uri", "content", "mimeType", "entities", "shardInfo")
    text = converted(root.get("text"), str | None) or ""
    pages = []
    for where, page in nested(file, root, at, "pages"):
        with file.catching(where):
            _refuse_other(page, "tokens", "lines", "dimension", "pageNumber", "image", "layout")
            key = "tokens" if options.level == "word" else "lines"
            pages.append(_Page(list(nested(file, page, where, key)), *_size(page.get("dimension"))))
    yield from _images(file, pages, partial(_document_ai_object, text))


def _document_ai_object(text: str, page: _Page, item: Any) -> TextObject:
    layout = converted(item, _Token).layout
    with under("layout"):
        anchor = layout.text_anchor or _Anchor()
        read = "".join(_segment(text, segment) for segment in anchor.text_segments or [])
        points = _points(page, layout.bounding_poly, "boundingPoly")
    return TextObject(points, read.strip(), confidence=layout.confidence)


def _segment(text: str, segment: _Segment) -> str:
    """Return what a segment is of a text; raises `FormatError`."""
    limits = (segment.start_index, segment.end_index)
    start, stop = (int(k) if re.fullmatch(r"\d{1,18}", str(k)) else -1 for k in limits)
    if not 0 <= start <= stop <= len(text):
        expected = f"indices in the text of {len(text)} characters"
        raise FormatError("characters {} to {}".format(*limits), expected, ("textAnchor",))
    return text[start:stop]


def _is_document_ai(head: Head) -> str:
    document = within(head.json, "document") or head.json
    page = within(document, "pages", 0)
    if not isinstance(page, dict) or "words" in page:
        return ""
    ours = {"tokens", "lines", "dimension", "pageNumber", "page_number"} & set(page)
    named = {"text", "entities", "shardInfo", "shard_info"} & set(document)
    is_known = {"mimeType", "mime_type"} & set(document) or (ours and named)
    return "text and pages, bare or in document" if is_known else ""


DOCUMENT_AI = Format(
    "document-ai",
    "Google Document AI",
    _read_document_ai,
    _is_document_ai,
    (".json",),
    levels=WORD_OR_LINE,
    layout='{"text", "pages": [{"dimension": {"width", "height"}, "tokens": [{"layout":'
    ' {"textAnchor", "boundingPoly", "confidence"}}], "lines": [...]}]}',
)


# Azure --------------------------------------------------------------------------------------------
#
# Read 2.0 to 3.2 has readResults (recognitionResults in the first) with words in lines; Document
# Intelligence has pages with words and lines side by side; Image Analysis 4 has readResult with
# blocks of lines. With the unit inch (PDF) coordinates are fractions of the page.

_LINES_OF_WORDS = ("readResults", "recognitionResults")


class _AzureText(msgspec.Struct, gc=False, rename="camel"):
    polygon: Any = None
    bounding_polygon: Any = None
    bounding_box: Any = None
    content: str | None = None
    text: str | None = None
    confidence: float | None = None


def _read_azure(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root, at = _camel_case(file), ""
    if "analyzeResult" in root:
        root, at = converted(root["analyzeResult"], dict[str, Any]), "analyzeResult"
    if "readResult" in root:  # one picture, whose size is beside it
        lines = nested(file, root["readResult"], "readResult", "blocks", "lines")
        words = _words(file, lines, options.level)
        yield from _images(file, [_Page(words, *_size(root.get("metadata")))], _azure_object)
        return
    key = next((key for key in (*_LINES_OF_WORDS, "pages") if key in root), "")
    if not key:
        raise FormatError("no key 'pages'", "it", (at,) if at else ())
    pages = []
    for where, page in nested(file, root, at, key):
        with file.catching(where):
            pages.append(_azure_page(file, page, where, key, options.level))
    yield from _images(file, pages, _azure_object)


def _azure_page(file: File, page: Any, where: str, key: str, level: str) -> _Page:
    if key == "pages":
        _refuse_other(page, "words", "width", "unit", "angle", "spans")
        objects = list(nested(file, page, where, f"{level}s"))
    else:
        objects = _words(file, nested(file, page, where, "lines"), level)
    unit = "pixel" if page.get("unit") is None else page["unit"]
    if unit not in ("pixel", "inch"):
        raise FormatError(shown(unit), "pixel or inch", ("unit",))
    width, height = _size(page)
    if unit == "inch" and min(width, height) <= 0:
        raise FormatError("a page in inches of unknown width or height", "both above 0")
    return _Page(objects, width, height, fractions=unit == "inch")


def _words(file: File, lines: Iterable[tuple[str, Any]], level: str) -> list[tuple[str, Any]]:
    return [(at, word) for at, (word, _) in words_of(file, lines, "det", level)]


def _azure_object(page: _Page, item: Any) -> TextObject:
    one = converted(item, _AzureText)
    shapes = {"polygon": one.polygon, "boundingPolygon": one.bounding_polygon}
    key = next((key for key, shape in shapes.items() if shape is not None), "boundingBox")
    with under(key):
        points = outline(shapes.get(key, one.bounding_box))
    if page.fractions:
        points = [v / (page.height if k % 2 else page.width) for k, v in enumerate(points)]
    text = one.text if one.content is None else one.content
    return TextObject(points, text or "", confidence=one.confidence)


def _is_azure(head: Head) -> str:
    result = head.json
    for key in ("analyzeResult", "analyze_result"):
        result = within(head.json, key) or result
    for key in (*_LINES_OF_WORDS, "readResult"):
        if within(result, key) is not None:
            return f"the key {key}"
    is_inner = result is not head.json and isinstance(within(result, "pages"), list)
    has_words = within(result, "pages", 0, "words") is not None and "content" in result
    return "pages of analyzeResult" if is_inner or has_words else ""


AZURE = Format(
    "azure",
    "Azure's Read and Document Intelligence",
    _read_azure,
    _is_azure,
    (".json",),
    levels=WORD_OR_LINE,
    layout='{"analyzeResult": {"pages": [{"width", "height", "unit", "words": [{"polygon",'
    ' "content", "confidence"}], "lines": [...]}]}} or readResults with lines of words',
)
