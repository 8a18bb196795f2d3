"""ABBYY FineReader's XML: ``document / page / block / text / par / line / formatting /
charParams``; words or lines.

Characters have boxes ``l, t, r, b`` in pixels of the page. Blanks divide a line into words, and the
box of a word is that around its characters. If no file of an input has characters, the lines are
read. The confidence of a word is the mean of its characters' ``charConfidence``, which is percent;
a word with a character without one (255 or -1) has none. The region of a word is its line. Each
page of a document is an image.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaltex_cli.errors import FaultLog, FormatError
from evaltex_cli.old_formats.base import Format, Indexer, Side
from evaltex_cli.old_formats.documents import levels, recognition, safe_xml
from evaltex_cli.old_formats.documents.document_files import index_each
from evaltex_cli.old_formats.documents.each_file import Pages
from evaltex_cli.old_formats.documents.safe_xml import Element
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_BOX = ("l", "t", "r", "b")
_MARK = re.compile(rb"FineReader_xml|\sblockType=")


def _open(data: bytes) -> list[Element]:
    root = safe_xml.tree(data)
    pages = list(root.all("page"))
    if not pages:
        raise FormatError("no page element", "one or more", at=root.at)
    return pages


def _count(data: bytes) -> int:
    return len(levels.element("page").findall(levels.without_comments(data)))


def _parse(page: Element, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    image.width, image.height = page.number("width", 0.0), page.number("height", 0.0)
    for number, line in enumerate(page.all("line"), 1):
        with faults.catching(image.place):
            objects = list(_words(line)) if image.variant == "words" else [_line(line)]
            for collected in objects:
                collected.region = number if image.variant == "words" and side == "gt" else None
                image.add(collected)


def _line(line: Element) -> CollectedObject:
    characters = [_character(one) for one in line.all("charParams")]
    text = "".join(characters or [part.text for part in line.all("formatting")] or [line.text])
    return CollectedObject(_box(line), " ".join(text.split()), at=line.at)


def _words(line: Element) -> Iterator[CollectedObject]:
    """Yield the words of a line."""
    word: list[Element] = []
    for character in line.all("charParams"):
        if _character(character).strip():
            word.append(character)
        elif word:
            yield _word(word)
            word = []
    if word:
        yield _word(word)


def _word(characters: Sequence[Element]) -> CollectedObject:
    left, top, right, bottom = zip(*map(_box, characters), strict=True)
    percents = [one.number("charConfidence", -1.0) for one in characters]
    known = all(0 <= percent <= 100 for percent in percents)
    return CollectedObject(
        (min(left), min(top), max(right), max(bottom)),
        "".join(map(_character, characters)),
        confidence=sum(percents) / len(percents) / 100 if known else None,
        at=characters[0].at,
    )


def _character(element: Element) -> str:
    """Return what a character is, or the first of its variants, which come before it."""
    variant = next(element.all("charRecVariant"), None)
    return element.text if variant is None else variant.text


def _box(element: Element) -> tuple[float, float, float, float]:
    left, top, right, bottom = (element.number(name) for name in _BOX)
    if right < left or bottom < top:
        raise FormatError(
            f"l, t, r, b {left:g}, {top:g}, {right:g}, {bottom:g}",
            "l <= r and t <= b",
            at=element.at,
        )
    return left, top, right, bottom


def _recognises(path: Path) -> bool:
    start = recognition.first_bytes(path, ".xml")
    return recognition.has_root(path, "document") and _MARK.search(start) is not None


_PLACE = 'l="10" t="10" r="60" b="30"'
_LEVELS = [
    levels.Level("abbyy", levels.element("charParams"), "words"),
    levels.Level("abbyy-line", levels.element("line"), "lines"),
]


def _index(wanted: int) -> Indexer:
    survey = levels.survey(_LEVELS, wanted)
    return index_each(
        _LEVELS[wanted].format, ".xml", _parse, survey=survey, pages=Pages(_count, _open)
    )


WORDS = Format(
    "abbyy",
    "ABBYY FineReader's XML, words",
    _recognises,
    _index(0),
    four_corners=True,
    recognised_by="root document with the namespace of FineReader, or blocks with blockType",
    layout="page / block / text / par / line / formatting / charParams l t r b charConfidence",
    sample='<document><page width="640" height="480"><block blockType="Text"><text><par>'
    f"<line {_PLACE}><formatting><charParams {_PLACE}"
    ' charConfidence="90">w</charParams></formatting></line>'
    "</par></text></block></page></document>",
    ending=".xml",
)
LINES = WORDS.variant(
    "abbyy-line",
    "ABBYY FineReader's XML, lines",
    _index(1),
    levels.why(_LEVELS, 1, "root document"),
)
