"""hOCR: HTML of Tesseract, OCRmyPDF, Kraken, Document AI and others; words or lines.

An element's class says what it is: ``ocr_page``; ``ocr_line``, or ``ocr_header``, ``ocr_caption``
and ``ocr_textfloat`` without a line in it; ``ocrx_word``. Its title has properties: ``bbox x0 y0 x1
y1``, and of a word ``x_wconf``, its confidence in percent. The page's bbox is the size of the
image. A word's region is its line; the transcription of a line is that of its words, or else its
own.

A file of several pages has one image for each, named after the file and the number of the page. The
specification is at https://kba.github.io/hocr-spec/1.2/.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FaultLog, FormatError, quote
from evaltex_cli.old_formats.base import Format, Indexer, Side
from evaltex_cli.old_formats.documents import levels, recognition
from evaltex_cli.old_formats.documents.document_files import index_each
from evaltex_cli.old_formats.documents.each_file import Pages
from evaltex_cli.old_formats.engines.html_tags import Tag, decoded, events, tag_at
from evaltex_cli.old_formats.files.numbers import parse_number
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

ENDINGS = (".hocr", ".html", ".htm", ".xhtml", ".xml")
_PAGE, _WORD = "ocr_page", "ocrx_word"
_LINES = ("ocr_line", "ocrx_line", "ocr_header", "ocr_caption", "ocr_textfloat")
_PROPERTY = re.compile(r"\s*([\w-]+)((?:[^;\"']|\"[^\"]*\"|'[^']*')*+)(?:;|$)")


_BLANK = re.compile(
    rb"""<[^>]*\bclass\s*=\s*["']?[^"'>]*\b%b\b[^>]*>(?:<[^/>]*>){0,3}\s+(?:</[^>]*>){1,4}"""
    % _WORD.encode()
)
_BLANK_WORDS = "{count} word[s] of blanks alone [was|were] left out"


def _class_pattern(*names: str) -> re.Pattern[bytes]:
    """Return the pattern of a tag's attribute that gives it one of some classes."""
    return re.compile(rb"""\bclass\s*=\s*(?:"[^"]*|'[^']*|)\b(?:%b)\b""" % "|".join(names).encode())


_PAGE_TAG = _class_pattern(_PAGE)
_CLASS = _class_pattern(_PAGE, _WORD, *_LINES)


class _Open(NamedTuple):
    """A word or a line whose element is open, by its number, and its own text so far."""

    number: int
    is_word: bool
    text: bytearray


class _Areas:
    """The words and lines of a document by their numbers, in columns: where the tag of each is (-1
    for a line without tag, which only has words), the line of each word (-1 for a line), and its
    own text, without that of words in it.
    """

    def __init__(self, html: str) -> None:
        self._html = html
        self._starts, self._lines = array("i"), array("i")
        self._owners, self._begins, self._ends = array("i"), array("i"), array("i")
        self._texts, self._has_lines = bytearray(), bytearray()

    def add(self, tag: Tag | None, owner: int = -1) -> int:
        """Add a word or a line, and return its number."""
        self._starts.append(-1 if tag is None else tag.start)
        self._lines.append(0 if tag is None else tag.at)
        self._owners.append(owner)
        self._begins.append(0)
        self._ends.append(0)
        self._has_lines.append(False)
        return len(self._owners) - 1

    def close(self, area: _Open) -> None:
        """Add the text of a word or a line whose element has ended."""
        self._begins[area.number] = len(self._texts)
        self._texts += area.text
        self._ends[area.number] = len(self._texts)

    def has_line(self, number: int) -> None:
        """Note that a line is in an area."""
        self._has_lines[number] = True

    def is_line(self, number: int) -> bool:
        """Whether a line has a tag, and no other line is in it."""
        return self._starts[number] >= 0 and not self._has_lines[number]

    def tag(self, number: int) -> Tag:
        """Return the tag of a word or a line."""
        return tag_at(self._html, self._starts[number], self._lines[number])

    def own_text(self, number: int) -> str:
        """Return the text of an area without that of words in it."""
        return self._texts[self._begins[number] : self._ends[number]].decode(
            "utf-8", "surrogatepass"
        )

    def text(self, number: int) -> str:
        """Return the transcription of a word or a line, blanks as one."""
        texts = [" ".join(self.own_text(word).split()) for word in self.words(number)]
        return " ".join(" ".join(texts or [self.own_text(number)]).split())

    def words(self, line: int) -> list[int]:
        """Return the words of a line, in the order of their tags."""
        owners, words = self._by_owner
        first, last = np.searchsorted(owners, np.array((line, line + 1), np.int32))
        found: list[int] = words[first:last].tolist()
        return found

    @cached_property
    def _by_owner(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The lines of all words in ascending order, and the words."""
        owners = np.array(self._owners, np.int32)
        words = np.flatnonzero(owners >= 0).astype(np.int32)
        words = words[np.argsort(owners[words], kind="stable")]
        return owners[words], words


@dataclass(slots=True)
class Page:
    """A page, and the numbers of the lines on it; without tag if the document has none."""

    tag: Tag | None
    areas: _Areas
    lines: array[int] = field(default_factory=lambda: array("i"))


class _Collector:
    """Makes pages of the tags of a document. What is on no page is on the one
    before it, or on the first.
    """

    def __init__(self, html: str) -> None:
        self._areas = _Areas(html)
        self.pages = [Page(None, self._areas)]
        self._around: list[_Open | None] = []

    def take(self, event: Tag | str | None) -> None:
        """Take a tag, a text, or the end of an element."""
        if event is None:
            ended = self._around.pop()
            if ended is not None:
                self._areas.close(ended)
        elif isinstance(event, Tag):
            self._around.append(self._begun(event, event.attributes.get("class", "").split()))
        else:
            inner = next((area for area in reversed(self._around) if area is not None), None)
            if inner is not None:
                inner.text.extend(event.encode("utf-8", "surrogatepass"))

    def _begun(self, tag: Tag, classes: list[str]) -> _Open | None:
        """Return the word or line that a tag begins, if any."""
        if _PAGE in classes:
            if self.pages[-1].tag is None:
                self.pages[-1].tag = tag
            else:
                self.pages.append(Page(tag, self._areas))
        around = [area for area in self._around if area is not None]
        if _WORD in classes:
            lines = [area.number for area in around if not area.is_word]
            line = lines[-1] if lines else self._line(None)
            return _Open(self._areas.add(tag, line), True, bytearray())
        if not set(_LINES).isdisjoint(classes):
            for area in around:
                self._areas.has_line(area.number)
            return _Open(self._line(tag), False, bytearray())
        return None

    def _line(self, tag: Tag | None) -> int:
        number = self._areas.add(tag)
        self.pages[-1].lines.append(number)
        return number


def open_pages(data: bytes) -> list[Page]:
    """Return the pages of a document.

    Raises
    ------
    FormatError
        As `html_tags.events`, and for a document with other pages than `_count_pages` says.
    """
    html = decoded(data)
    collector = _Collector(html)
    for event in events(html):
        collector.take(event)
    if len(collector.pages) != count_pages(data):
        found, counted = len(collector.pages), count_pages(data)
        raise FormatError(
            f"{found} elements of the class {_PAGE}, but {counted} tags",
            "as many",
            at=1,
        )
    return collector.pages


def count_pages(data: bytes) -> int:
    """Return how many pages a document has, by its tags alone; 1 if it has none."""
    return max(len(_PAGE_TAG.findall(levels.without_comments(data))), 1)


def _parse(page: Page, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    with faults.catching(image.place):
        image.width, image.height = (
            _bbox(page.tag)[2:] if page.tag and "bbox" in _properties(page.tag) else (0, 0)
        )
    areas, by_word = page.areas, image.variant == "words"
    for number, line in enumerate(page.lines, 1):
        words = [word for word in areas.words(line) if not areas.own_text(word).isspace()]
        for area in words if by_word else [line] * areas.is_line(line):
            with faults.catching(image.place):
                collected = _object(areas.tag(area), areas.text(area), by_word)
                collected.region = number if by_word and side == "gt" else None
                image.add(collected)


def _object(tag: Tag, text: str, is_word: bool) -> CollectedObject:
    values = _properties(tag).get("x_wconf")
    confidence = None
    if values is not None and is_word:
        confidence = _number(values[0] if values else "", "x_wconf", tag) / 100
        if not 0 <= confidence <= 1:
            raise FormatError(f"x_wconf {values[0]}", "a confidence from 0 to 100", at=tag.at)
    return CollectedObject(_bbox(tag), text, confidence=confidence, at=tag.at)


def _properties(tag: Tag) -> dict[str, list[str]]:
    """Return the properties of a title, and their values."""
    properties = _PROPERTY.findall(tag.attributes.get("title", ""))
    return {name: values.split() for name, values in reversed(properties)}


def _bbox(tag: Tag) -> tuple[float, float, float, float]:
    values = _properties(tag).get("bbox")
    if values is None:
        raise FormatError(f"{_shown(tag)} without bbox", "title='bbox x0 y0 x1 y1'", at=tag.at)
    if len(values) != 4:
        raise FormatError(f"bbox of {len(values)} numbers", "bbox x0 y0 x1 y1", at=tag.at)
    x0, y0, x1, y1 = (_number(value, "bbox", tag) for value in values)
    if x1 < x0 or y1 < y0:
        raise FormatError(f"bbox {' '.join(values)}", "x0 <= x1 and y0 <= y1", at=tag.at)
    return x0, y0, x1, y1


def _number(text: str, what: str, tag: Tag) -> float:
    try:
        return parse_number(text)
    except FormatError as error:
        raise FormatError(f"{what} {error.found}", error.expected, at=tag.at) from error


def _shown(tag: Tag) -> str:
    return f"{tag.name} of class {quote(tag.attributes.get('class', ''))}"


def recognises(path: Path) -> bool:
    """Whether a file, or the first of a folder or archive, has an element of
    one of hOCR's classes.
    """
    return (
        _CLASS.search(recognition.first_bytes(path, recognition.main_ending(path, ENDINGS)))
        is not None
    )


_PLACE = "title='bbox 10 10 60 30{}'"
_SAMPLE = (
    "<!DOCTYPE html>\n<html><body><div class='ocr_page' title='bbox 0 0 640 480'>\n"
    f"<span class='ocr_line' {_PLACE.format('')}>"
    "<span class='ocrx_word'"
    f" {_PLACE.format('; x_wconf 96')}>word</span></span></div></body></html>\n"
)


_LEVELS = [
    levels.Level("hocr", _class_pattern(_WORD), "words"),
    levels.Level("hocr-line", _class_pattern(*_LINES), "lines"),
]


def _notes(data: bytes) -> tuple[int]:
    """Count the words of blanks alone, which Tesseract and Kraken have, in a
    document without comments.
    """
    return (len(_BLANK.findall(data)),)


def _index(wanted: int) -> Indexer:
    survey, pages = (
        levels.survey(_LEVELS, wanted, _notes, _BLANK_WORDS),
        Pages(count_pages, open_pages),
    )
    return index_each(_LEVELS[wanted].format, ENDINGS, _parse, survey=survey, pages=pages)


WORDS = Format(
    "hocr",
    "hOCR of Tesseract and other engines, words",
    recognises,
    _index(0),
    four_corners=True,
    recognised_by="an element of the class ocr_page, ocr_line or ocrx_word",
    layout="<span class='ocrx_word' title='bbox x0 y0 x1 y1; x_wconf 96'>text</span>",
    sample=_SAMPLE,
    ending=ENDINGS[0],
    more_endings=ENDINGS[1:],
)
LINES = WORDS.variant(
    *("hocr-line", "hOCR of Tesseract and other engines, lines", _index(1)),
    levels.why(_LEVELS, 1, "its classes"),
)
