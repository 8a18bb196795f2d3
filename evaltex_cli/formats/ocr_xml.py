"""XML and HTML of OCR engines and transcription tools: PAGE, ALTO, hOCR, ABBYY FineReader's.

All of them have words in lines, and the level that is asked for is read. The region of a word in
ground truth is its line. A document of several pages has an image for each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats import base
from evaltex_cli.formats.base import File, Format, Head, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import attribute, attributes, box, numbers, parse_html, polygon


class _Unit(NamedTuple):
    """A word (in a line of this number), line or region: its element, or its characters'."""

    elements: Sequence[Any]
    text: str
    line: int | None = None
    has_finer: bool = False


_Units = dict[str, list[_Unit]]
_Read = Callable[[_Unit], TextObject | str]


def _objects(file: File, side: Side, level: str, units: _Units, read: _Read) -> list[TextObject]:
    """Read the units of a level, and note coarser ones without any; the finest level is the first.
    `read` returns an object, or why a unit is left out.
    """
    levels = list(units)
    for coarser in levels[levels.index(level) + 1 :]:
        note = base.without_finer(side, level, coarser)
        bare = [unit for unit in units[coarser] if not unit.has_finer]
        file.notes[note] += sum(bool(unit.text.strip()) or not units[level] for unit in bare)

    def read_unit(unit: _Unit) -> TextObject | None:
        one = read(unit)
        if isinstance(one, str):
            file.notes[f"{{count}} {level}[s] {one} [was|were] left out"] += 1
            return None
        one.region = unit.line if side == "gt" else None
        return one

    return file.each(((unit.elements[0].sourceline, unit) for unit in units[level]), read_unit)


def _pages(file: File, root: Any, tag: str, *size: str) -> Iterator[tuple[Image, Any]]:
    """Yield each page of a document with its image; `size` names its height and width."""
    pages = list(root.iter(tag)) or [root]
    for name, page in zip(file.page_names(len(pages)), pages, strict=True):
        height, width = (attribute(page, side, 0.0) for side in size)
        yield Image(name, height=height, width=width), page


def _read_page(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Coordinates are ``Coords points="x,y x,y ..."``, or ``Point`` elements in old files."""
    for image, page in _pages(file, file.xml("PcGts"), "Page", "imageHeight", "imageWidth"):
        units: _Units = {"word": [], "line": [], "region": []}
        lines = enumerate(page.iter("TextLine"), 1)
        line_of = {word: k for k, line in lines for word in line.iter("Word")}
        for some, tag in zip(units.values(), ("Word", "TextLine", "TextRegion"), strict=True):
            for element in page.iter(tag):
                has_finer = next(element.iterdescendants("Word", "TextLine"), None) is not None
                text = _equivalent(element).findtext("Unicode") or ""
                some.append(_Unit([element], text, line_of.get(element), has_finer))
        image.objects = _objects(file, side, options.level, units, _page_object)
        yield image


def _page_object(unit: _Unit) -> TextObject | str:
    element = unit.elements[0]
    coords = element.find("Coords")
    if coords is None or not (len(coords) or coords.get("points")):
        return "without coordinates"
    old = [value for point in coords.iter("Point") for value in attributes(point, *"xy")]
    confident = coords if coords.get("conf") else _equivalent(element)
    confidence = attribute(confident, "conf") if confident.get("conf") else None
    points = polygon(old or numbers(coords.get("points", "")))
    return TextObject(points, unit.text, confidence=confidence)


def _equivalent(element: Any) -> Any:
    """Return the TextEquiv of the least index; the element itself if it has none."""
    found = element.iterfind("TextEquiv")
    return min(found, key=lambda one: attribute(one, "index", 0.0), default=element)


PAGE = Format(
    "page",
    "PAGE XML of Transkribus, eScriptorium, OCR-D and others",
    _read_page,
    base.has_root("PcGts"),
    (".xml",),
    levels=("word", "line", "region"),
    layout="Page / TextRegion / TextLine / Word / Coords points",
)

_ALTO_BOX = ("HPOS", "VPOS", "WIDTH", "HEIGHT")
_PER_INCH = {"mm10": 254.0, "inch1200": 1200.0}
_DPI = re.compile(r'(?:dpi|resolution)"?\s?[:=]\s?"?([0-9]{2,})|([0-9]{2,})\s?dpi', re.IGNORECASE)


def _read_alto(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Units other than pixels become pixels by the resolution of the scan, if a
    ``processingStepSettings`` states one (``300 dpi``); else they become fractions of the page.
    """
    root = file.xml("alto")
    unit = root.findtext(".//MeasurementUnit", "").strip()
    file.notes["{count} file[s] without MeasurementUnit[ is| are] taken for pixels"] += not unit
    settings = " ".join(root.xpath("//processingStepSettings/text()"))
    stated = {float(first or second) for first, second in _DPI.findall(settings)}
    dpi = stated.pop() if len(stated) == 1 else math.inf
    per_pixel = 1.0 if unit in ("pixel", "") else _PER_INCH.get(unit, 0.0) / dpi
    scale = (1 / per_pixel, 1 / per_pixel) if per_pixel else (0.0, 0.0)

    def read(unit: _Unit) -> TextObject | str:
        element = unit.elements[0]
        if unit.text.isspace():  # Tesseract has such for pictures and rules
            return "of blanks alone"
        outline = element.find("Shape/Polygon")
        if outline is not None:
            points = polygon(numbers(outline.get("POINTS", "")))
        elif any(map(element.get, _ALTO_BOX)):
            points = box(*attributes(element, *_ALTO_BOX))
        else:
            return "without coordinates"
        confidence = attribute(element, "WC") if element.get("WC") else None
        scaled = [value * scale[k % 2] for k, value in enumerate(points)]
        return TextObject(scaled, unit.text, confidence=confidence)

    for image, page in _pages(file, root, "Page", "HEIGHT", "WIDTH"):
        if per_pixel:
            image.height, image.width = image.height * scale[1], image.width * scale[0]
        elif image.height > 0 and image.width > 0:
            scale = (1 / image.width, 1 / image.height)
            image.height, image.width, image.fractions = 0.0, 0.0, True
        else:
            raise FormatError(f"{quote(unit)} without dpi or size of the page", "one of them")
        units: _Units = {"word": [], "line": []}
        for k, line in enumerate(page.iter("TextLine"), 1):
            words = list(line.iter("String"))
            text = " ".join(one.get("CONTENT", "") for one in words) or line.get("CONTENT", "")
            words = [] if options.surveyed or _have_boxes_of_lines([line]) else words
            units["word"] += [_Unit([one], one.get("CONTENT", ""), k) for one in words]
            units["line"].append(_Unit([line], text, has_finer=bool(words)))
        note = "{count} page[s] [has|have] words that all have the box of their line"
        file.notes[note] += bool(options.surveyed) and options.level == "line"
        image.objects = _objects(file, side, options.level, units, read)
        yield image


def _have_boxes_of_lines(lines: Iterable[Any]) -> bool:
    """Whether eScriptorium wrote lines: words with their line's box alone, in some line several."""
    texts = []
    for line in lines:
        strings = list(line.iter("String"))
        for one in strings:
            has_more = one.get("WC") or one.get("CS") or one.find("Shape") is not None
            if has_more or any(one.get(side) != line.get(side) for side in _ALTO_BOX):
                return False
        texts.append(" ".join(one.get("CONTENT", "") for one in strings))
    return any(len(text.split()) > 1 for text in texts)


def _alto_lines(files: Iterable[File]) -> Iterator[Any]:
    for file in files:
        with suppress(FormatError):  # which is logged when the file is read
            yield from file.xml("alto").iter("TextLine")


ALTO = Format(
    "alto",
    "ALTO of eScriptorium, Tesseract, ABBYY and others",
    _read_alto,
    base.has_root("alto"),
    (".xml",),
    levels=("word", "line"),
    layout="TextLine / String HPOS VPOS WIDTH HEIGHT CONTENT WC / Shape / Polygon POINTS",
    survey=lambda files, side: _have_boxes_of_lines(_alto_lines(files)),
)

_HOCR_WORDS = {"ocrx_word", "ocr_word"}
_HOCR_LINES = {"ocr_line", "ocrx_line", "ocr_header", "ocr_caption", "ocr_textfloat"}
_IS_HOCR = re.compile(r"""(?s)\s*<.*\bclass\s*=\s*["']?[^"'>]*\b(ocr_page|ocr_line|ocrx?_word)\b""")


def _read_hocr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """The specification is at https://kba.github.io/hocr-spec/1.2/."""
    if b"<html" in file.data and b"</html" not in file.data:
        raise FormatError("no </html>", "a whole document: is the file cut off?")
    root = parse_html(file.data)
    pages = _with_class(root, {"ocr_page"}) or [root]

    def read(unit: _Unit) -> TextObject | str:
        points = _property(unit.elements[0], "bbox")
        if unit.text.isspace():  # Tesseract and Kraken have such for pictures and rules
            return "of blanks alone"
        if len(points) != 4:
            return "without coordinates"
        percents = _property(unit.elements[0], "x_wconf") if options.level == "word" else []
        confidence = percents[0] / 100 if percents else None
        return TextObject(points, " ".join(unit.text.split()), confidence=confidence)

    for name, page in zip(file.page_names(len(pages)), pages, strict=True):
        objects = _objects(file, side, options.level, _hocr_units(page), read)
        *_, width, height = [0.0, 0.0, *_property(page, "bbox")]
        yield Image(name, objects, height, width)


def _hocr_units(page: Any) -> _Units:
    """Return the outermost words (Tesseract 3.0 has words in words) and the innermost lines."""
    lines = {line: k for k, line in enumerate(_with_class(page, _HOCR_LINES), 1)}
    words = {word: k for k, word in enumerate(_with_class(page, _HOCR_WORDS), len(lines) + 1)}
    texts: dict[Any, list[str]] = {line: [] for line in lines}
    units: _Units = {"word": [], "line": []}
    for word, k in words.items():
        above = [*word.iterancestors()]
        if words.keys().isdisjoint(above):
            text = "".join(word.itertext())
            line = next((one for one in above if one in lines), word)
            units["word"].append(_Unit([word], text, lines.get(line, k)))
            texts.setdefault(line, []).append(text)
    for line in lines:
        if _with_class(line, _HOCR_LINES) == [line]:
            text = " ".join(filter(None, texts[line])) or " ".join("".join(line.itertext()).split())
            units["line"].append(_Unit([line], text, has_finer=bool(texts[line])))
    return units


def _with_class(element: Any, names: set[str]) -> list[Any]:
    return [one for one in element.iter("*") if names & set(one.get("class", "").split())]


def _property(element: Any, name: str) -> list[float]:
    """Return the numbers of a property in a title such as ``bbox 1 2 3 4; x_wconf 96``."""
    found = re.search(rf"(?:^|;)\s*{name}\s([^;]*)", element.get("title", ""))
    return numbers(found[1]) if found else []


HOCR = Format(
    "hocr",
    "hOCR of Tesseract and other engines",
    _read_hocr,
    lambda head: "the class ocr_page or ocrx_word" if _IS_HOCR.match(head.text) else "",
    (".hocr", ".html", ".htm", ".xhtml", ".xml"),
    levels=("word", "line"),
    layout="<span class='ocrx_word' title='bbox x0 y0 x1 y1; x_wconf 96'>text</span>",
)


def _read_abbyy(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Blanks divide the characters of a line into words. The confidence of a word is the mean of
    its characters' percents, if all of them have one (255 and -1 are none).
    """

    def read(unit: _Unit) -> TextObject:
        sides = [[attribute(one, side) for one in unit.elements] for side in "ltrb"]
        percents = [attribute(one, "charConfidence", -1.0) for one in unit.elements]
        are_known = all(0 <= percent <= 100 for percent in percents)
        confidence = sum(percents) / len(percents) / 100 if are_known else None
        points = [min(sides[0]), min(sides[1]), max(sides[2]), max(sides[3])]
        return TextObject(points, unit.text, confidence=confidence)

    for image, page in _pages(file, file.xml("document"), "page", "height", "width"):
        units: _Units = {"word": [], "line": []}
        for k, line in enumerate(page.iter("line"), 1):
            characters = list(line.iter("charParams"))  # a variant comes before their own text
            texts = [next(one.iter("charRecVariant"), one).text or "" for one in characters]
            words = groupby(zip(characters, texts, strict=True), lambda one: not one[1].strip())
            for is_blank, word in words:
                if not is_blank:
                    elements, parts = zip(*word, strict=True)
                    units["word"].append(_Unit(elements, "".join(parts), k))
            text = "".join(texts) or "".join(line.itertext())
            units["line"].append(_Unit([line], " ".join(text.split()), has_finer=bool(characters)))
        image.objects = _objects(file, side, options.level, units, read)
        yield image


def _is_abbyy(head: Head) -> str:
    known = head.root == "document" and re.search(r"FineReader_xml|\sblockType=", head.text)
    return "root document of FineReader, or blocks with blockType" if known else ""


ABBYY = Format(
    "abbyy",
    "ABBYY FineReader's XML",
    _read_abbyy,
    _is_abbyy,
    (".xml",),
    levels=("word", "line"),
    layout="page / block / text / par / line / formatting / charParams l t r b charConfidence",
)
