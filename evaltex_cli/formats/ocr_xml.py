"""XML and HTML of OCR engines and transcription tools: PAGE, ALTO, hOCR, ABBYY FineReader's.

All of them have words in lines, and the level that is asked for is read. The region of a word in
ground truth is its line. A document of several pages has an image for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import (
    File,
    Format,
    Head,
    Image,
    ReadOptions,
    Side,
    TextObject,
    has_root,
    without_finer,
)
from evaltex_cli.formats.parsing import (
    attribute,
    attributes,
    box,
    number,
    numbers,
    parse_html,
    polygon,
)


class _Unit(NamedTuple):
    """A word, a line or a region of a page."""

    elements: Sequence[Any]
    """Its element, or those of its characters."""
    text: str
    line: int | None = None
    """The number of a word's line."""
    has_finer: bool = False


def _objects(
    file: File,
    side: Side,
    level: str,
    units: Mapping[str, Sequence[_Unit]],
    read: Callable[[_Unit], TextObject | str],
) -> list[TextObject]:
    """Read the units of a level, and note those of coarser levels with text but without finer ones.

    `units` are by levels, the finest first; `read` returns an object, or why a unit is left out.
    """
    levels = list(units)
    for coarser in levels[levels.index(level) + 1 :]:
        texts = [unit.text for unit in units[coarser] if not unit.has_finer]
        if texts and len(texts) == len(units[coarser]):
            how = f"--{side}-level {coarser} reads {coarser}s"
            note = f"{{count}} page[s] [has|have] {coarser}s but no {level}s, so no objects ({how})"
            file.notes[note] += 1
        else:
            note = without_finer(side, level, coarser)
            file.notes[note] += sum(bool(text.strip()) for text in texts)

    def read_unit(unit: _Unit) -> TextObject | None:
        one = read(unit)
        if isinstance(one, str):
            file.notes[f"{{count}} {level}[s] {one} [was|were] left out"] += 1
            return None
        one.region = unit.line if side == "gt" else None
        return one

    return file.each(((unit.elements[0].sourceline, unit) for unit in units[level]), read_unit)


def _pages(file: File, root: Any, tag: str) -> list[tuple[str, Any]]:
    """Return the pages of a document with the names of their images."""
    pages = list(root.iter(tag))
    if not pages:
        raise FormatError(f"no {tag} element", "one or more", at=root.sourceline)
    return list(zip(file.page_names(len(pages)), pages, strict=True))


# PAGE ---------------------------------------------------------------------------------------------

_PAGE_ELEMENTS = {"word": "Word", "line": "TextLine", "region": "TextRegion"}


def _read_page(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Coordinates are ``Coords points="x,y x,y ..."``, or ``Point`` elements in old files."""
    for name, page in _pages(file, file.xml("PcGts"), "Page"):
        objects = _objects(file, side, options.level, _page_units(page), _page_object)
        height, width = (attribute(page, side, 0.0) for side in ("imageHeight", "imageWidth"))
        yield Image(name, objects, height, width)


def _page_units(page: Any) -> dict[str, list[_Unit]]:
    lines = enumerate(page.iter("TextLine"), 1)
    line_of = {word: k for k, line in lines for word in line.iter("Word")}
    units: dict[str, list[_Unit]] = {}
    for level, tag in _PAGE_ELEMENTS.items():
        finer = [_PAGE_ELEMENTS[one] for one in units]
        units[level] = []
        for element in page.iter(tag):
            text = "".join(one.findtext("Unicode") or "" for one in _equivalents(element))
            has_finer = bool(finer) and next(element.iter(*finer), None) is not None
            units[level].append(_Unit([element], text, line_of.get(element), has_finer))
    return units


def _page_object(unit: _Unit) -> TextObject | str:
    element = unit.elements[0]
    coords = element.findall("Coords")[:1]
    old = [one for point in element.iterfind("Coords/Point") for one in attributes(point, *"xy")]
    vertices = old or [value for one in coords for value in numbers(one.get("points", ""))]
    if not vertices:
        return "without Coords"
    confident = [one for one in (*coords, *_equivalents(element)) if one.get("conf")]
    confidence = attribute(confident[0], "conf") if confident else None
    return TextObject(polygon(vertices), unit.text, confidence=confidence)


def _equivalents(element: Any) -> list[Any]:
    """Return the TextEquiv of the least index, if there is any."""
    found = element.findall("TextEquiv")
    return sorted(found, key=lambda one: attribute(one, "index", 0.0))[:1]


PAGE = Format(
    "page",
    "PAGE XML of Transkribus, eScriptorium, OCR-D and others",
    _read_page,
    has_root("PcGts"),
    (".xml",),
    levels=tuple(_PAGE_ELEMENTS),
    layout="Page / TextRegion / TextLine / Word / Coords points",
)

# ALTO ---------------------------------------------------------------------------------------------

_ALTO_BOX = ("HPOS", "VPOS", "WIDTH", "HEIGHT")
_PER_INCH = {"mm10": 254.0, "inch1200": 1200.0}
_DPI = re.compile(r'(?:dpi|resolution)"?\s?[:=]\s?"?([0-9]{2,})|([0-9]{2,})\s?dpi', re.IGNORECASE)


def _read_alto(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Units other than pixels become pixels by the resolution of the scan, if a
    ``processingStepSettings`` states one (``300 dpi``); else they become fractions of the page.
    """
    root = file.xml("alto")
    unit = root.findtext(".//MeasurementUnit")
    file.notes["{count} file[s] without MeasurementUnit[ is| are] taken for pixels"] += unit is None
    settings = " ".join(one.text or "" for one in root.iter("processingStepSettings"))
    stated = {float(first or second) for first, second in _DPI.findall(settings)}
    per_pixel = _PER_INCH.get((unit or "").strip(), 0.0) / stated.pop() if len(stated) == 1 else 0.0
    if unit is None or unit.strip() == "pixel":
        per_pixel = 1.0
    for name, page in _pages(file, root, "Page"):
        width, height = (attribute(page, side, 0.0) for side in ("WIDTH", "HEIGHT"))
        if not per_pixel and not (width > 0 and height > 0):
            found = "no pixels, no resolution of the scan, and a Page without WIDTH and HEIGHT"
            expected = "one resolution in a processingStepSettings (300 dpi, say)"
            raise FormatError(found, expected, at=page.sourceline)
        scale = (1 / per_pixel, 1 / per_pixel) if per_pixel else (1 / width, 1 / height)
        objects = _alto_objects(file, side, options, page, scale)
        size = (height * scale[1], width * scale[0]) if per_pixel else (0.0, 0.0)
        yield Image(name, objects, *size, fractions=not per_pixel)


def _alto_objects(
    file: File, side: Side, options: ReadOptions, page: Any, scale: tuple[float, float]
) -> list[TextObject]:
    units: dict[str, list[_Unit]] = {"word": [], "line": []}
    for k, line in enumerate(page.iter("TextLine"), 1):
        words = [_Unit([one], one.get("CONTENT", ""), k) for one in line.iter("String")]
        text = " ".join(word.text for word in words)
        words = [] if options.surveyed or _have_boxes_of_lines([line]) else words
        units["word"] += words
        units["line"].append(_Unit([line], text, has_finer=bool(words)))
    note = "{count} page[s] [has|have] words that all have the box of their line"
    file.notes[note] += bool(options.surveyed) and options.level == "line"

    def read(unit: _Unit) -> TextObject | str:
        element = unit.elements[0]
        outline = element.find("Shape/Polygon")
        if unit.text.isspace():  # Tesseract has such for pictures and rules
            return "of blanks alone"
        if outline is not None:
            points = polygon(numbers(outline.get("POINTS", "")))
        elif any(map(element.get, _ALTO_BOX)):
            points = box(*attributes(element, *_ALTO_BOX))
        else:
            return "without a place"
        return TextObject(
            [value * scale[k % 2] for k, value in enumerate(points)],
            unit.text,
            confidence=attribute(element, "WC") if element.get("WC") else None,
        )

    return _objects(file, side, options.level, units, read)


def _have_boxes_of_lines(lines: Iterable[Any]) -> bool:
    """Whether all words have the box of their line, and some line has several words or one with
    blanks in it, as eScriptorium writes lines. A line's only word that has a Shape or a confidence
    is a word, and so is what is marked as corrected.
    """
    have_several = False
    for line in lines:
        strings = list(line.iter("String"))
        is_word = any(one.get("WC") or one.find("Shape") is not None for one in strings)
        is_word = is_word and len(strings) == 1
        if (
            is_word
            or any(one.get("CS") for one in strings)
            or any(one.get(k) != line.get(k) for one in strings for k in _ALTO_BOX)
        ):
            return False
        have_several |= len(" ".join(one.get("CONTENT", "") for one in strings).split()) > 1
    return have_several


def _alto_lines(files: Iterable[File]) -> Iterator[Any]:
    for file in files:
        with suppress(FormatError):  # which is logged when the file is read
            yield from file.xml("alto").iter("TextLine")


ALTO = Format(
    "alto",
    "ALTO of eScriptorium, Tesseract, ABBYY and others",
    _read_alto,
    has_root("alto"),
    (".xml",),
    levels=("word", "line"),
    layout="TextLine / String HPOS VPOS WIDTH HEIGHT CONTENT WC / Shape / Polygon POINTS",
    survey=lambda files, side: _have_boxes_of_lines(_alto_lines(files)),
)

# hOCR ---------------------------------------------------------------------------------------------

_HOCR_WORDS = {"ocrx_word", "ocr_word"}
_HOCR_LINES = {"ocr_line", "ocrx_line", "ocr_header", "ocr_caption", "ocr_textfloat"}
_HOCR_CLASS = re.compile(
    rf"""\bclass\s*=\s*(?:"[^"]*|'[^']*|)\b(?:ocr_page|{"|".join(_HOCR_WORDS | _HOCR_LINES)})\b"""
)
_PROPERTY = re.compile(r"\s*([\w-]+)((?:[^;\"']|\"[^\"]*\"|'[^']*')*+)(?:;|$)")


def _read_hocr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """The specification is at https://kba.github.io/hocr-spec/1.2/."""
    if b"<html" in file.data and b"</html" not in file.data:
        raise FormatError("no </html>", "a whole document: is the file cut off?")
    root = parse_html(file.data.strip() or b"<html></html>")
    pages = _with_class(root, {"ocr_page"}) or [root]

    def read(unit: _Unit) -> TextObject | str:
        properties = _properties(unit.elements[0])
        if unit.text.isspace():  # Tesseract and Kraken have such for pictures and rules
            return "of blanks alone"
        if "bbox" not in properties:
            return "without bbox"
        confidence = properties.get("x_wconf") if options.level == "word" else None
        return TextObject(
            _bbox(properties["bbox"]),
            " ".join(unit.text.split()),
            confidence=None if confidence is None else number(confidence) / 100,
        )

    for name, page in zip(file.page_names(len(pages)), pages, strict=True):
        objects = _objects(file, side, options.level, _hocr_units(page), read)
        width, height = _bbox(_properties(page).get("bbox") or "0 0 0 0")[2:]
        yield Image(name, objects, height, width)


def _hocr_units(page: Any) -> dict[str, list[_Unit]]:
    """Return the words and lines of a page; not lines that contain lines, and not words in a word,
    as Tesseract 3.0 writes them.
    """
    all_words = _with_class(page, _HOCR_WORDS)
    words = set(all_words)
    lines = {line: k for k, line in enumerate(_with_class(page, _HOCR_LINES), 1)}
    texts: dict[Any, list[str]] = {line: [] for line in lines}
    units: dict[str, list[_Unit]] = {"word": [], "line": []}
    for k, word in enumerate(all_words, len(lines) + 1):
        above = list(word.iterancestors())
        if words.isdisjoint(above):
            text = "".join(word.itertext())
            line = next((one for one in above if one in lines), None)
            units["word"].append(_Unit([word], text, lines.get(line, k)))
            texts.setdefault(line, []).append(text)
    outer = {one for line in lines for one in line.iterancestors()}
    for line in lines:
        if line not in outer:
            own = " ".join("".join(line.itertext()).split())
            text = " ".join(filter(None, texts[line])) if texts[line] else own
            units["line"].append(_Unit([line], text, has_finer=bool(texts[line])))
    return units


def _with_class(element: Any, names: set[str]) -> list[Any]:
    elements = element.xpath("descendant-or-self::*[@class]")
    return [one for one in elements if not names.isdisjoint(one.get("class").split())]


def _properties(element: Any) -> dict[str, str]:
    """Return the properties of a title, and their values: ``bbox 1 2 3 4; x_wconf 96``."""
    return dict(reversed(_PROPERTY.findall(element.get("title", ""))))


def _bbox(text: str) -> list[float]:
    values = numbers(text)
    if len(values) != 4:
        raise FormatError(f"bbox of {len(values)} numbers", "bbox x0 y0 x1 y1")
    return values


def _is_hocr(head: Head) -> str:
    is_markup = head.text.lstrip().startswith("<")
    known = _HOCR_CLASS.search(head.text) if is_markup else None
    return "the class ocr_page, ocr_line or ocrx_word" if known else ""


HOCR = Format(
    "hocr",
    "hOCR of Tesseract and other engines",
    _read_hocr,
    _is_hocr,
    (".hocr", ".html", ".htm", ".xhtml", ".xml"),
    levels=("word", "line"),
    layout="<span class='ocrx_word' title='bbox x0 y0 x1 y1; x_wconf 96'>text</span>",
)

# ABBYY --------------------------------------------------------------------------------------------


def _read_abbyy(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Blanks divide the characters of a line into words. The confidence of a word is the mean of
    its characters' percents, if all of them have one (255 and -1 are none).
    """

    def read(unit: _Unit) -> TextObject:
        boxes = [attributes(one, "l", "t", "r", "b") for one in unit.elements]
        left, top, right, bottom = zip(*boxes, strict=True)
        percents = [attribute(one, "charConfidence", -1.0) for one in unit.elements]
        are_known = all(0 <= percent <= 100 for percent in percents)
        return TextObject(
            (min(left), min(top), max(right), max(bottom)),
            unit.text,
            confidence=sum(percents) / len(percents) / 100 if are_known else None,
        )

    for name, page in _pages(file, file.xml("document"), "page"):
        units: dict[str, list[_Unit]] = {"word": [], "line": []}
        for k, line in enumerate(page.iter("line"), 1):
            characters = [  # with its text, or its first variant, which comes before it
                (one, next(one.iter("charRecVariant"), one).text or "")
                for one in line.iter("charParams")
            ]
            for is_blank, word in groupby(characters, lambda one: not one[1].strip()):
                if not is_blank:
                    elements, texts = zip(*word, strict=True)
                    units["word"].append(_Unit(elements, "".join(texts), k))
            text = "".join(one for _, one in characters) or "".join(line.itertext())
            units["line"].append(_Unit([line], " ".join(text.split()), has_finer=bool(characters)))
        objects = _objects(file, side, options.level, units, read)
        height, width = (attribute(page, side, 0.0) for side in ("height", "width"))
        yield Image(name, objects, height, width)


def _is_abbyy(head: Head) -> str:
    if head.root == "document" and re.search(r"FineReader_xml|\sblockType=", head.text):
        return "root document of FineReader, or blocks with blockType"
    return ""


ABBYY = Format(
    "abbyy",
    "ABBYY FineReader's XML",
    _read_abbyy,
    _is_abbyy,
    (".xml",),
    levels=("word", "line"),
    layout="page / block / text / par / line / formatting / charParams l t r b charConfidence",
)
