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
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from evaltex_cli.errors import FaultLog, FormatError, Position, quote
from evaltex_cli.formats.base import Format, Indexer, Side
from evaltex_cli.formats.documents import levels, recognition
from evaltex_cli.formats.documents.document_files import index_each
from evaltex_cli.formats.documents.each_file import Pages
from evaltex_cli.formats.engines.html_tags import Tag, events
from evaltex_cli.formats.files.numbers import parse_number
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject

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


@dataclass(slots=True)
class _Area:
    """A word or a line; `texts` are its own, without those of the words in
    it. A line without tag only has words.
    """

    tag: Tag | None
    is_word: bool = False
    texts: list[str] | None = None
    words: list[_Area] | None = None
    has_lines: bool = False

    @property
    def text(self) -> str:
        """Its transcription, blanks as one."""
        return " ".join(
            " ".join(
                [word.text for word in self.words or ()] or ["".join(self.texts or ())]
            ).split()
        )


@dataclass(slots=True)
class Page:
    """A page, and the lines on it with their words; without tag if the document has none."""

    tag: Tag | None
    lines: list[_Area] = field(default_factory=list)


class _Collector:
    """Makes pages of the tags of a document. What is on no page is on the one
    before it, or on the first.
    """

    def __init__(self) -> None:
        self.pages = [Page(None)]
        self._around: list[_Area | None] = []

    def take(self, event: Tag | str | None) -> None:
        """Take a tag, a text, or the end of an element."""
        if event is None:
            self._around.pop()
        elif isinstance(event, Tag):
            self._around.append(self._begun(event, event.attributes.get("class", "").split()))
        else:
            inner = self._innermost(lambda _: True)
            if inner is not None:
                if inner.texts is None:
                    inner.texts = [event]
                else:
                    inner.texts.append(event)

    def _innermost(self, wanted: Callable[[_Area], bool]) -> _Area | None:
        return next(
            (area for area in reversed(self._around) if area is not None and wanted(area)), None
        )

    def _begun(self, tag: Tag, classes: list[str]) -> _Area | None:
        """Return the word or line that a tag begins, if any."""
        if _PAGE in classes:
            if self.pages[-1].tag is None:
                self.pages[-1].tag = tag
            else:
                self.pages.append(Page(tag))
        if _WORD in classes:
            line = self._innermost(lambda area: not area.is_word) or self._line(_Area(None))
            word = _Area(tag, is_word=True)
            line.words = line.words or []
            line.words.append(word)
            return word
        if not set(_LINES).isdisjoint(classes):
            for area in self._around:
                if area is not None:
                    area.has_lines = True
            return self._line(_Area(tag))
        return None

    def _line(self, line: _Area) -> _Area:
        self.pages[-1].lines.append(line)
        return line


def open_pages(data: bytes) -> list[Page]:
    """Return the pages of a document.

    Raises
    ------
    FormatError
        As `html_tags.events`, and for a document with other pages than `_count_pages` says.
    """
    collector = _Collector()
    for event in events(data):
        collector.take(event)
    if len(collector.pages) != count_pages(data):
        found, counted = len(collector.pages), count_pages(data)
        raise FormatError(
            f"{found} elements of the class {_PAGE}, but {counted} tags",
            "as many",
            at=Position(1, 1),
        )
    return collector.pages


def count_pages(data: bytes) -> int:
    """Return how many pages a document has, by its tags alone; 1 if it has none."""
    return max(len(_PAGE_TAG.findall(levels.without_comments(data))), 1)


def _parse(page: Page, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    try:
        image.width, image.height = (
            _bbox(page.tag)[2:] if page.tag and "bbox" in _properties(page.tag) else (0, 0)
        )
    except FormatError as error:
        error.log(faults, image.place)
    for number, line in enumerate(page.lines, 1):
        is_line = line.tag is not None and not line.has_lines
        words = [word for word in line.words or () if not "".join(word.texts or ()).isspace()]
        for area in words if image.variant == "words" else [line] * is_line:
            try:
                collected = _object(area)
            except FormatError as error:
                error.log(faults, image.place)
                continue
            collected.region = number if image.variant == "words" and side == "gt" else None
            image.add(collected)


def _object(area: _Area) -> CollectedObject:
    assert area.tag is not None
    values = _properties(area.tag).get("x_wconf")
    confidence = None
    if values is not None and area.is_word:
        confidence = _number(values[0] if values else "", "x_wconf", area.tag) / 100
        if not 0 <= confidence <= 1:
            raise FormatError(f"x_wconf {values[0]}", "a confidence from 0 to 100", at=area.tag.at)
    return CollectedObject(_bbox(area.tag), area.text, confidence=confidence, at=area.tag.at)


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
