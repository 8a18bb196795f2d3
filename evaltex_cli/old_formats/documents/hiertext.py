"""HierText: ``{"annotations": [{"image_id", "paragraphs": [{"lines": [{"words": [{"vertices",
"text"}]}]}]}]}``.

One JSON document, though it is named ``.jsonl``, bare or packed by gzip. Words, lines or paragraphs
are the objects; ``legible`` false is don't care. A word's region is its line. A line or a paragraph
is the polygon under its own ``vertices``, which results must have too.

The data set's own evaluation takes lines and paragraphs for the unions of their words. For it,
`hiertext-line-words` and `hiertext-para-words` have the words as objects, and lines or paragraphs
as their regions; protocol pq unites them. Whether they count is then said by their line or
paragraph, not by the words. A line or paragraph without words, and a paragraph that does not count,
is the polygon under its own ``vertices`` there, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from evaltex_cli.errors import FaultLog, FormatError, Steps
from evaltex_cli.old_formats.base import Format, Indexer, Side
from evaltex_cli.old_formats.collected import Images
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents import document_files, json_windows, safe_json
from evaltex_cli.old_formats.documents.document_files import Collected, Document
from evaltex_cli.old_formats.documents.gathered import Columns, Log, add_all, plain_vertices
from evaltex_cli.old_formats.documents.safe_json import (
    AnyConfidence,
    Identifier,
    Item,
    Number,
    Record,
    Vertices,
)
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_BELOW = {
    "word": ("paragraphs", "lines", "words"),
    "line": ("paragraphs", "lines"),
    "paragraph": ("paragraphs",),
}
_IMAGE_ENDINGS = (".jpg", ".jpeg", ".png")


class _Container(msgspec.Struct, gc=False):
    """A line or a paragraph whose words are the objects."""

    legible: Any = None


class _Text(msgspec.Struct, gc=False):
    """A word, a line or a paragraph."""

    vertices: Vertices
    legible: Any = None
    text: str | None = None
    confidence: AnyConfidence = None
    score: AnyConfidence = None


class _Page(msgspec.Struct, gc=False):
    """An image without its texts."""

    image_id: Identifier
    image_height: Number | None = None
    image_width: Number | None = None


class _Line(msgspec.Struct, gc=False):
    words: list[_Text]


class _Lines(msgspec.Struct, gc=False):
    lines: list[_Line]


class _Paragraph(msgspec.Struct, gc=False):
    lines: list[_Text]


class _PageOfWords(_Page, gc=False, kw_only=True):
    paragraphs: list[_Lines]


class _PageOfLines(_Page, gc=False, kw_only=True):
    paragraphs: list[_Paragraph]


class _PageOfParagraphs(_Page, gc=False, kw_only=True):
    paragraphs: list[_Text]


_PAGES = {"word": _PageOfWords, "line": _PageOfLines, "paragraph": _PageOfParagraphs}


class _Variant(NamedTuple):
    """Which objects are read: words, lines or paragraphs, or the words that make these."""

    level: str
    words: bool = False


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    images, log, (level, by_words) = Images(), Log(document.place, faults), document.variant
    add = _add_words if by_words else _add_each
    items = safe_json.items(safe_json.record(document.value), "annotations")
    for first, some, decoded in json_windows.windows(items, _PAGES[level]):
        if decoded and not by_words and _add_all(images, decoded, first, level, log, side):
            continue
        for i, item in enumerate(some, first):
            try:
                record = safe_json.record(item)
                image = _image_of(record, log.place, i)
            except FormatError as error:
                error.log(faults, log.place, "annotations", i)
                continue
            add(level, image, record, side, faults)
            images.append(image)
    return images, ()


def _add_all(
    images: Images, records: Sequence[_Page], first: int, level: str, log: Log, side: Side
) -> bool:
    """Add images with their objects at once; False, and nothing is done, if they have to be taken
    one by one.
    """
    listed = [list(_texts_of(record, level, first + k)) for k, record in enumerate(records)]
    texts = [text for own in listed for _, _, text in own]
    coordinates = plain_vertices(one.vertices for one in texts)
    legible = [one.legible for one in texts]
    if coordinates is None or (side == "gt" and not safe_json.are_flags(legible)):
        return False
    owners = len(images) + np.repeat(np.arange(len(listed)), [*map(len, listed)])
    for k, record in enumerate(records):
        size = (record.image_height or 0.0, record.image_width or 0.0)
        images.append(_image(str(record.image_id), log.place, first + k, *size))
    columns = Columns(
        coordinates,
        [one.text or "" for one in texts],
        [side == "gt" and flag is not None and not flag for flag in legible],
        [one.score if one.confidence is None else one.confidence for one in texts],
        regions=[line for own in listed for _, line, _ in own] if level == "word" else None,
    )
    add_all(images, owners, columns, [way for own in listed for way, _, _ in own])
    return True


def _texts_of(record: Any, level: str, i: int) -> Iterator[tuple[str, int, _Text]]:
    """Yield the texts of an image: what leads to each, as JSON, the number of a word's line among
    those with words, and the text.
    """
    number = 0
    for p, paragraph in enumerate(record.paragraphs):
        way = f'["annotations",{i},"paragraphs",{p}'
        if level == "paragraph":
            yield f"{way}]", 0, paragraph
            continue
        for k, line in enumerate(paragraph.lines):
            if level == "line":
                yield f'{way},"lines",{k}]', 0, line
                continue
            number += bool(line.words)
            for w, word in enumerate(line.words):
                yield f'{way},"lines",{k},"words",{w}]', number, word


def _image_of(record: Record, place: str, i: int) -> CollectedImage:
    name = safe_json.identifier(record, "image_id")
    height, width = (
        safe_json.field(record, key, Number | None, 0.0) for key in ("image_height", "image_width")
    )
    return _image(name, place, i, height, width)


def _image(name: str, place: str, i: int, height: float, width: float) -> CollectedImage:
    ending = next((ending for ending in _IMAGE_ENDINGS if name.lower().endswith(ending)), "")
    return CollectedImage(name[: len(name) - len(ending)], place, ("annotations", i), height, width)


def _add_each(
    level: str, image: CollectedImage, record: Record, side: Side, faults: FaultLog
) -> None:
    """Add the words, lines or paragraphs of an image."""
    lines: dict[Steps, int] = {}
    assert not isinstance(image.at, int)
    for where, item in _below(record, _BELOW[level], image.at, image.place, faults):
        try:
            collected = _object(safe_json.take(item, _Text), side)
        except FormatError as error:
            error.log(faults, image.place, *where)
            continue
        collected.at = where
        if level == "word":
            collected.region = lines.setdefault(where[:-2], len(lines) + 1)
        image.add(collected)


def _add_words(
    level: str, image: CollectedImage, record: Record, side: Side, faults: FaultLog
) -> None:
    """Add the words of the lines or paragraphs of an image, which are their regions."""
    below = _BELOW["word"][len(_BELOW[level]) :]
    assert not isinstance(image.at, int)
    for number, (where, item) in enumerate(
        _below(record, _BELOW[level], image.at, image.place, faults), 1
    ):
        at = where
        try:
            dont_care = _is_dont_care(safe_json.take(item, _Container).legible, side)
            words = (
                []
                if dont_care and level == "paragraph"
                else [*_below(item, below, where, image.place, faults)]
            )
            for at, word in words or [(where, item)]:
                collected = _object(safe_json.take(word, _Text), side)
                collected.at, collected.region, collected.dont_care = at, number, dont_care
                image.add(collected)
        except FormatError as error:
            error.log(faults, image.place, *at)


def _below(
    item: Item, keys: tuple[str, ...], where: Steps, place: str, faults: FaultLog
) -> Iterator[tuple[Steps, Item]]:
    """Yield what stands in the innermost of these nested lists, and the way there."""
    try:
        listed = safe_json.items(safe_json.record(item), keys[0])
    except FormatError as error:
        error.log(faults, place, *where)
        return
    for k, inner in enumerate(listed):
        here = (*where, keys[0], k)
        if len(keys) == 1:
            yield here, inner
        else:
            yield from _below(inner, keys[1:], here, place, faults)


def _object(text: _Text, side: Side) -> CollectedObject:
    dont_care = _is_dont_care(text.legible, side)
    coordinates = polygon(safe_json.flat(text.vertices), dont_care, ("vertices",))
    confidence = text.score if text.confidence is None else text.confidence
    return CollectedObject(coordinates, text.text or "", dont_care, confidence=confidence)


def _is_dont_care(legible: Any, side: Side) -> bool:
    return side == "gt" and legible is not None and not safe_json.flag(legible, "legible")


def recognises(path: Path) -> bool:
    """Whether a path holds a JSON object with ``annotations``, without
    ``images``, of images with ``paragraphs``.
    """
    value = document_files.json_value(path)
    if not safe_json.is_object(value) or "images" in value:
        return False
    listed = safe_json.opened(value.get("annotations"))
    return safe_json.is_list(listed) and (not listed or safe_json.has_key(listed[0], "paragraphs"))


_OUTLINE = '"vertices": [[10, 10], [60, 10], [60, 30], [10, 30]], "legible": true'


def _index(name: str, level: str, *, words: bool = False) -> Indexer:
    return document_files.index_json(name, _collect, _Variant(level, words))


WORDS = Format(
    "hiertext",
    "HierText, words",
    recognises,
    _index("hiertext", "word"),
    recognised_by="annotations with paragraphs, without the key images",
    layout='{"annotations": [{"image_id", "paragraphs": [{"lines": [{"words": [{"vertices", "text",'
    ' "legible"}]}]}]}]}',
    sample=f'{{"annotations": [{{"image_id": "img_1", "paragraphs": [{{{_OUTLINE}, "lines":'
    f" [{{{_OUTLINE},"
    f' "text": "word", "words": [{{{_OUTLINE}, "text": "word"}}]}}]}}]}}]}}',
    ending=".json",
)
LINES = WORDS.variant("hiertext-line", "HierText, lines", _index("hiertext-line", "line"))
PARAGRAPHS = WORDS.variant(
    "hiertext-para", "HierText, paragraphs", _index("hiertext-para", "paragraph")
)
LINE_WORDS = WORDS.variant(
    *("hiertext-line-words", "HierText, words that make lines"),
    _index("hiertext-line-words", "line", words=True),
)
PARAGRAPH_WORDS = WORDS.variant(
    *("hiertext-para-words", "HierText, words that make paragraphs"),
    _index("hiertext-para-words", "paragraph", words=True),
)
