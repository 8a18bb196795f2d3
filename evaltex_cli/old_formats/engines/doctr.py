"""docTR: the JSON of ``export()``, one file per image or document; words or lines.

``{"pages": [{"dimensions": [height, width], "blocks": [{"lines": [{"geometry", "words": [{"value",
"confidence", "geometry"}]}]}]}]}``. A geometry has two corners or four vertices, as fractions of
the page, whose ``dimensions`` are in pixels. A word's region is its line. The KIE predictor has
``predictions`` by class instead of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaltex_cli.errors import FaultLog, FormatError, Steps
from evaltex_cli.old_formats.base import Format, Indexer, Side
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.each_file import Pages, read_as
from evaltex_cli.old_formats.documents.safe_json import Item, Number, Record
from evaltex_cli.old_formats.engines import values
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject


def _open(data: bytes) -> list[tuple[int, Item]]:
    """Return the pages with their numbers."""
    return list(enumerate(safe_json.items(safe_json.record(safe_json.parse(data)), "pages")))


def _parse(numbered: Any, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    number, item = numbered
    with safe_json.under("pages", number):
        page = safe_json.record(item)
        _read_size(page, image)
        items = list(_items(page, image.variant))
    for at, entry, line in items:
        where = ("pages", number, *at)
        with faults.catching(image.place, *where):
            collected = _object(safe_json.record(entry), image, where)
            collected.region = line if side == "gt" else None
            image.add(collected)


def _read_size(page: Record, image: CollectedImage) -> None:
    height, width = safe_json.take(
        safe_json.needed(page, "dimensions"), tuple[Number, Number], "dimensions"
    )
    if min(height, width) <= 0:
        found = f"dimensions {height:g}, {width:g}"
        raise FormatError(found, "height and width of the page in pixels", ("dimensions",))
    image.height, image.width = height, width


def _items(page: Record, level: str) -> Iterator[tuple[Steps, Item, int | None]]:
    """Yield words or lines, what leads to them in the page, and the number of a word's line."""
    if "predictions" in page:
        classes = safe_json.records(page, "predictions")
        for name in classes:
            items = enumerate(safe_json.items(classes, name))
            yield from ((("predictions", name, k), item, None) for k, item in items)
        return
    number = 0
    for b, block in enumerate(safe_json.items(page, "blocks")):
        for k, line in enumerate(safe_json.items(safe_json.record(block), "lines")):
            where, number = ("blocks", b, "lines", k), number + 1
            if level == "lines":
                yield where, line, None
                continue
            words = safe_json.items(safe_json.record(line), "words")
            yield from (((*where, "words", w), word, number) for w, word in enumerate(words))


def _object(record: Record, image: CollectedImage, at: Steps) -> CollectedObject:
    """Return a word, or a line, whose words have its transcription."""
    words = (
        map(safe_json.record, safe_json.items(record, "words")) if "words" in record else [record]
    )
    text = " ".join(safe_json.field(word, "value", str | None, "") for word in words)
    numbers = values.polygon_or_box(safe_json.needed(record, "geometry"), "geometry")
    coordinates = [
        value * (image.height if k % 2 else image.width) for k, value in enumerate(numbers)
    ]
    confidence = (
        values.confidence(record["confidence"], "confidence") if "confidence" in record else None
    )
    return CollectedObject(coordinates, text, confidence=confidence, at=at)


def _recognises(path: Path) -> bool:
    value = document_files.json_value(path)
    pages = safe_json.opened(value.get("pages")) if safe_json.is_object(value) else None
    page = safe_json.opened(pages[0]) if safe_json.is_list(pages) and pages else None
    return (
        safe_json.is_object(page)
        and "dimensions" in page
        and ("blocks" in page or "predictions" in page)
    )


_GEOMETRY = '"geometry": [[0.0625, 0.125], [0.375, 0.375]]'


def _index(name: str, level: str) -> Indexer:
    pages = Pages(values.count_of(_open), _open)
    return document_files.index_each(name, ".json", _parse, survey=read_as(level), pages=pages)


WORDS = Format(
    "doctr",
    "docTR: export(), one JSON file per image; words",
    _recognises,
    _index("doctr", "words"),
    recognised_by="a JSON object with pages that have dimensions and blocks",
    layout='{"pages": [{"dimensions": [height, width], "blocks": [{"lines": [{"geometry", "words":'
    ' [{"value", "confidence", "geometry": [[x0, y0], [x1, y1]]}]}]}]}]}',
    sample=f'{{"pages": [{{"page_idx": 0, "dimensions": [80, 160], "blocks": [{{"lines":'
    f' [{{{_GEOMETRY}, "words": [{{"value": "word", "confidence": 0.9, {_GEOMETRY}}}]}}]}}]}}]}}',
    ending=".json",
)
LINES = WORDS.variant(
    "doctr-line", "docTR: export(), one JSON file per image; lines", _index("doctr-line", "lines")
)
