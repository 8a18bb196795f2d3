"""XML and HTML of OCR engines and transcription tools: PAGE, ALTO, hOCR, ABBYY FineReader's.

All of them have words in lines, and the level that is asked for is read. The region of a word in
ground truth is its line, by its number on the page. A document of several pages has an image for
each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import (
    File,
    Format,
    Head,
    Image,
    ReadOptions,
    Side,
    TextObject,
    without_finer,
)
from evaltex_cli.formats.parsing import (
    attribute,
    attributes,
    box,
    ellipse,
    number,
    numbers,
    parse_html,
    polygon,
    with_lines,
)


def _note_left_out(
    file: File, side: Side, level: str, coarser: str, elements: Iterable[tuple[bool, str]]
) -> None:
    """Note the elements of a coarser level that a level leaves out, given for each element whether
    it has elements of a finer level, and its text.
    """
    texts = [None if has_finer else text for has_finer, text in elements]
    if texts and None not in texts:
        how = f"--{side}-level {coarser} reads {coarser}s"
        note = f"{{count}} page[s] [has|have] {coarser}s but no {level}s, so no objects ({how})"
        file.notes[note] += 1
    else:
        note = without_finer(side, level, coarser)
        file.notes[note] += sum(bool(text and text.strip()) for text in texts)


# PAGE ---------------------------------------------------------------------------------------------

_PAGE_ELEMENTS = {"word": "Word", "line": "TextLine", "region": "TextRegion"}


def _read_page(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Coordinates are ``Coords points="x,y x,y ..."``, or ``Point`` elements in old files."""
    root = file.xml("PcGts")
    page = root.find("Page")
    if page is None:
        raise FormatError("PcGts without Page", "one Page", at=root.sourceline)
    level = options.level
    lines = list(page.iter("TextLine"))
    line_of = {word: k for k, line in enumerate(lines, 1) for word in line.iter("Word")}

    def read(element: Any) -> TextObject | None:
        coords = element.find("Coords")
        vertices = [] if coords is None else _page_vertices(coords)
        if not vertices:
            file.notes[f"{{count}} {element.tag}[s] without Coords [was|were] left out"] += 1
            return None
        equivalent = _page_text(element)
        places = (one for one in (coords, equivalent) if one is not None and one.get("conf"))
        place = next(places, None)
        return TextObject(
            polygon(vertices),
            _unicode(equivalent),
            confidence=None if place is None else attribute(place, "conf"),
            region=line_of.get(element) if level == "word" and side == "gt" else None,
        )

    objects = file.each(with_lines(page.iter(_PAGE_ELEMENTS[level])), read)
    finer = [_PAGE_ELEMENTS[level]]
    for coarser in PAGE.levels[PAGE.levels.index(level) + 1 :]:
        elements = page.iter(_PAGE_ELEMENTS[coarser])
        texts = [(_has(one, finer), _unicode(_page_text(one))) for one in elements]
        _note_left_out(file, side, level, coarser, texts)
        finer.append(_PAGE_ELEMENTS[coarser])
    height, width = (attribute(page, name, 0.0) for name in ("imageHeight", "imageWidth"))
    yield Image(file.stem, objects, height, width)


def _has(element: Any, names: Sequence[str]) -> bool:
    return any(one is not element for one in element.iter(*names))


def _page_vertices(coords: Any) -> list[float]:
    if coords.get("points") is None:
        return [value for one in coords.findall("Point") for value in attributes(one, "x", "y")]
    return numbers(coords.get("points"))


def _page_text(element: Any) -> Any:
    """Return the TextEquiv of the least index; None without any."""
    equivalents = element.findall("TextEquiv")
    return min(equivalents, key=lambda one: attribute(one, "index", 0.0), default=None)


def _unicode(equivalent: Any) -> str:
    return "" if equivalent is None else str(equivalent.findtext("Unicode") or "")


PAGE = Format(
    "page",
    "PAGE XML of Transkribus, eScriptorium, OCR-D and others",
    _read_page,
    lambda head: "root PcGts" if head.root == "PcGts" else "",
    (".xml",),
    levels=("word", "line", "region"),
    layout="Page / TextRegion / TextLine / Word / Coords points",
)

# ALTO ---------------------------------------------------------------------------------------------

_ALTO_BOX = ("HPOS", "VPOS", "WIDTH", "HEIGHT")
_PER_INCH = {"mm10": 254.0, "inch1200": 1200.0}
_DPI = r"([0-9]{2,5}(?:\.[0-9]{1,3})?)(?![0-9.])"
_RESOLUTION = re.compile(
    rf"\b{_DPI}\s?(?:dpi|ppi)\b"
    rf'|(?:\b|[xy])(?:dpi|ppi|[xy]?[ _-]?resolution)"?\s?[:=]?\s?"?{_DPI}',
    re.IGNORECASE,
)


def _read_alto(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Units other than pixels become pixels by the resolution of the scan, if a
    ``processingStepSettings`` states one (``300 dpi``); else they become fractions of the page.
    """
    root = file.xml("alto")
    pages = list(root.iter("Page"))
    if not pages:
        raise FormatError("no Page element", "one or more", at=root.sourceline)
    by = _pixels_per_unit(file, root)
    for name, page in zip(file.page_names(len(pages)), pages, strict=True):
        width, height = (attribute(page, name, 0.0) for name in ("WIDTH", "HEIGHT"))
        if by is not None:
            objects = _alto_objects(file, side, options, page, (by, by))
            yield Image(name, objects, height * by, width * by)
        elif width > 0 and height > 0:
            objects = _alto_objects(file, side, options, page, (1 / width, 1 / height))
            yield Image(name, objects, fractions=True)
        else:
            found = "no pixels, no resolution of the scan, and a Page without WIDTH and HEIGHT"
            expected = "one resolution in a processingStepSettings (300 dpi, say)"
            raise FormatError(found, expected, at=page.sourceline)


def _pixels_per_unit(file: File, root: Any) -> float | None:
    """Return how many pixels the document's unit has; None if it does not say so."""
    unit = next(root.iter("MeasurementUnit"), None)
    if unit is None:
        file.notes["{count} file[s] without MeasurementUnit[ is| are] taken for pixels"] += 1
        return 1.0
    name = (unit.text or "").strip()
    if name == "pixel":
        return 1.0
    if name not in _PER_INCH:
        found = f"MeasurementUnit {quote(name)}"
        raise FormatError(found, "pixel, mm10 or inch1200", at=unit.sourceline)
    settings = " ".join(one.text or "" for one in root.iter("processingStepSettings"))
    stated = {float(first or second) for first, second in _RESOLUTION.findall(settings)}
    return stated.pop() / _PER_INCH[name] if len(stated) == 1 else None


def _alto_objects(
    file: File, side: Side, options: ReadOptions, page: Any, scale: tuple[float, float]
) -> list[TextObject]:
    lines = list(page.iter("TextLine"))
    strings = {line: list(line.iter("String")) for line in lines}
    texts = {one: _content(one) or " ".join(map(_content, strings[one])) for one in lines}
    are_lines = options.surveyed or _have_boxes_of_lines(lines)

    def is_object(element: Any, text: str) -> bool:
        if text.isspace():  # Tesseract has such for pictures and rules
            what = "of blanks alone"
        elif element.find("Shape") is None and not any(map(element.get, _ALTO_BOX)):
            what = "without a place"
        else:
            return True
        file.notes[f"{{count}} {element.tag} element[s] {what} [was|were] left out"] += 1
        return False

    def read(item: tuple[Any, str, int | None]) -> TextObject:
        element, text, region = item
        points = _alto_shape(file, element) or box(*attributes(element, *_ALTO_BOX))
        return TextObject(
            [value * scale[k % 2] for k, value in enumerate(points)],
            text,
            confidence=attribute(element, "WC") if element.get("WC") else None,
            region=region,
        )

    items: list[tuple[Any, str, int | None]] = []
    if options.level == "line":
        items = [(line, texts[line], None) for line in lines if is_object(line, texts[line])]
        note = "{count} page[s] [has|have] words that all have the box of their line"
        file.notes[note] += are_lines
    else:
        left_out = []
        for k, line in enumerate(lines, 1):
            words = [one for one in strings[line] if is_object(one, _content(one))]
            words = [] if are_lines else words
            items += [(word, _content(word), k if side == "gt" else None) for word in words]
            left_out.append((bool(words) or texts[line].isspace(), texts[line]))
        _note_left_out(file, side, "word", "line", left_out)
    return file.each(((item[0].sourceline, item) for item in items), read)


def _content(element: Any) -> str:
    return str(element.get("CONTENT", ""))


def _have_boxes_of_lines(lines: Iterable[Any]) -> bool:
    """Whether all words have the box of their line, and some line has several words or one with
    blanks in it, as eScriptorium writes lines. A line's only word that has a Shape or a confidence
    is a word.
    """
    have_several = False
    for line in lines:
        strings = list(line.iter("String"))
        if len(strings) == 1 and (strings[0].get("WC") or strings[0].find("Shape") is not None):
            return False
        if any(one.get(name) != line.get(name) for one in strings for name in _ALTO_BOX):
            return False
        have_several |= len(" ".join(map(_content, strings)).split()) > 1
    return have_several


def _alto_lines(files: Iterable[File]) -> Iterator[Any]:
    for file in files:
        with suppress(FormatError):  # which is logged when the file is read
            yield from file.xml("alto").iter("TextLine")


def _alto_shape(file: File, element: Any) -> Sequence[float] | None:
    """Return the polygon of a Shape, or the box around its ellipse or circle; None without any."""
    outline = element.find("Shape/Polygon")
    if outline is not None:
        return polygon(numbers(outline.get("POINTS", "")))
    for name, across, down in (("Ellipse", "HLENGTH", "VLENGTH"), ("Circle", "RADIUS", "RADIUS")):
        shape = element.find(f"Shape/{name}")
        if shape is not None:
            note = "{count} ellipse[s] or circle[s] [is|are] taken for [its|their] bounding box[es]"
            file.notes[note] += 1
            x, y, *radii = attributes(shape, "HPOS", "VPOS", across, down)
            return ellipse(
                x, y, radii[0], radii[1], math.radians(attribute(shape, "ROTATION", 0.0))
            )
    return None


ALTO = Format(
    "alto",
    "ALTO of eScriptorium, Tesseract, ABBYY and others",
    _read_alto,
    lambda head: "root alto" if head.root == "alto" else "",
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


@dataclass(slots=True)
class _HocrLine:
    """A line of a page, or a word that is in no line, whose `element` is None."""

    element: Any
    words: list[Any] = field(default_factory=list)
    has_lines: bool = False

    @property
    def text(self) -> str:
        """The text of its words, or its own without words."""
        return " ".join(" ".join(map(_text, self.words or [self.element])).split())


def _read_hocr(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """The specification is at https://kba.github.io/hocr-spec/1.2/."""
    if b"<html" in file.data and b"</html" not in file.data:
        raise FormatError("no </html>", "a whole document: is the file cut off?")
    pages = _hocr_pages(parse_html(file.data)) if file.data.strip() else [(None, [])]
    by_word = options.level == "word"

    def read(item: tuple[Any, str, int]) -> TextObject | None:
        element, text, number_of_line = item
        if text.isspace():  # Tesseract and Kraken have such for pictures and rules
            file.notes[f"{{count}} {options.level}[s] of blanks alone [was|were] left out"] += 1
            return None
        properties = _properties(element)
        if "bbox" not in properties:
            file.notes[f"{{count}} {options.level}[s] without bbox [was|were] left out"] += 1
            return None
        confidence = properties.get("x_wconf") if by_word else None
        return TextObject(
            _bbox(properties["bbox"]),
            " ".join(text.split()),
            confidence=None if confidence is None else number(" ".join(confidence)) / 100,
            region=number_of_line if by_word and side == "gt" else None,
        )

    for name, (page, lines) in zip(file.page_names(len(pages)), pages, strict=True):
        items = []
        for k, line in enumerate(lines, 1):
            if by_word:
                items += [(word, _text(word), k) for word in line.words]
            elif line.element is not None and not line.has_lines:
                is_blank = line.words and all(_text(word).isspace() for word in line.words)
                items.append((line.element, " " if is_blank else line.text, k))
        objects = file.each(((item[0].sourceline, item) for item in items), read)
        if by_word:
            bare = [one for one in lines if one.element is not None and not one.has_lines]
            texts = [(bool(one.words), one.text) for one in bare]
            _note_left_out(file, side, "word", "line", texts)
        size = [] if page is None else _properties(page).get("bbox", [])
        width, height = _bbox(size)[2:] if size else (0.0, 0.0)
        yield Image(name, objects, height, width)


def _hocr_pages(root: Any) -> list[tuple[Any, list[_HocrLine]]]:
    """Return each page and its lines; what is on no page is on the one before it, or the first.

    A word within a word, as Tesseract 3.0 writes them, is no other word.
    """
    pages: list[tuple[Any, list[_HocrLine]]] = [(None, [])]
    line_of: dict[Any, _HocrLine] = {}
    words: set[Any] = set()
    for element in root.iter("*"):
        classes = set(element.get("class", "").split())
        lines = pages[-1][1]
        around = [line_of[one] for one in element.iterancestors() if one in line_of]
        if "ocr_page" in classes:
            if pages[-1][0] is None:
                pages[-1] = (element, lines)
            else:
                pages.append((element, []))
        elif classes & _HOCR_WORDS and words.isdisjoint(element.iterancestors()):
            words.add(element)
            if not around:
                around = [_HocrLine(None)]
                lines.append(around[0])
            around[0].words.append(element)
        elif classes & _HOCR_LINES:
            for one in around:
                one.has_lines = True
            line_of[element] = _HocrLine(element)
            lines.append(line_of[element])
    return pages


def _text(element: Any) -> str:
    return "".join(element.itertext())


def _properties(element: Any) -> dict[str, list[str]]:
    """Return the properties of a title, and their values: ``bbox 1 2 3 4; x_wconf 96``."""
    properties = _PROPERTY.findall(element.get("title", ""))
    return {name: values.split() for name, values in reversed(properties)}


def _bbox(values: Sequence[str]) -> tuple[float, float, float, float]:
    if len(values) != 4:
        raise FormatError(f"bbox of {len(values)} numbers", "bbox x0 y0 x1 y1")
    x0, y0, x1, y1 = map(number, values)
    return x0, y0, x1, y1


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
    root = file.xml("document")
    pages = list(root.iter("page"))
    if not pages:
        raise FormatError("no page element", "one or more", at=root.sourceline)

    def read_line(line: Any) -> TextObject:
        return TextObject(attributes(line, "l", "t", "r", "b"), _abbyy_text(line))

    def read_word(word: tuple[int, list[Any]]) -> TextObject:
        k, characters = word
        left, top, right, bottom = zip(
            *(attributes(one, "l", "t", "r", "b") for one in characters), strict=True
        )
        percents = [attribute(one, "charConfidence", -1.0) for one in characters]
        are_known = all(0 <= percent <= 100 for percent in percents)
        return TextObject(
            (min(left), min(top), max(right), max(bottom)),
            "".join(map(_character, characters)),
            confidence=sum(percents) / len(percents) / 100 if are_known else None,
            region=k if side == "gt" else None,
        )

    for name, page in zip(file.page_names(len(pages)), pages, strict=True):
        lines = list(page.iter("line"))
        if options.level == "line":
            objects = file.each(with_lines(lines), read_line)
        else:
            words = [(k, word) for k, line in enumerate(lines, 1) for word in _abbyy_words(line)]
            objects = file.each(((word[0].sourceline, (k, word)) for k, word in words), read_word)
            texts = [(_has(line, ["charParams"]), _abbyy_text(line)) for line in lines]
            _note_left_out(file, side, "word", "line", texts)
        height, width = (attribute(page, name, 0.0) for name in ("height", "width"))
        yield Image(name, objects, height, width)


def _abbyy_text(line: Any) -> str:
    characters = [_character(one) for one in line.iter("charParams")]
    parts = characters or [one.text or "" for one in line.iter("formatting")] or [line.text or ""]
    return " ".join("".join(parts).split())


def _abbyy_words(line: Any) -> Iterator[list[Any]]:
    characters = line.iter("charParams")
    for is_word, group in groupby(characters, lambda one: bool(_character(one).strip())):
        if is_word:
            yield list(group)


def _character(element: Any) -> str:
    """Return what a character is, or the first of its variants, which come before it."""
    variant = next(element.iter("charRecVariant"), element)
    return str(variant.text or "")


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
