"""ocrmac, Apple's Vision: ``[["text", confidence, [x, y, width, height]], ...]``, one JSON file per
image.

The box is in fractions of the page, and y is from the page's bottom to the box's. With ``px=True``
it is x0, y0, x1, y1 in pixels from the top instead. A file with a coordinate above 1 is of pixels.
"""

from __future__ import annotations

from pathlib import Path

from evaltex_cli.errors import FaultLog, FormatError
from evaltex_cli.old_formats.base import Format, Side
from evaltex_cli.old_formats.coordinates import box
from evaltex_cli.old_formats.documents import document_files, safe_json
from evaltex_cli.old_formats.documents.safe_json import Confidence, Item, Number
from evaltex_cli.old_formats.engines import values
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_Reading = tuple[str, Confidence, tuple[Number, Number, Number, Number]]


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    value = safe_json.parse(data)
    if not safe_json.is_list(value):
        raise FormatError(safe_json.shown(value), "a list [[text, confidence, box], ...]")
    image.in_fractions = all(
        map(_may_be_in_fractions, value)
    )  # read twice, for all readings take much memory
    for k, item in enumerate(value):
        with faults.catching(image.place, k):
            text, confidence, numbers = safe_json.take(item, _Reading)
            x, y, width, height = numbers
            coordinates = (
                list(box(x, 1 - y - height, width, height, where=(2,)))
                if image.in_fractions
                else values.polygon_or_box(list(numbers), 2)
            )
            image.add(CollectedObject(coordinates, text, confidence=confidence, at=(k,)))


def _may_be_in_fractions(item: Item) -> bool:
    """Whether no number of a reading is above 1; of a faulty one it is not asked."""
    try:
        numbers: tuple[float, ...] = safe_json.take(item, _Reading)[2]
        return max(numbers) <= 1
    except FormatError:
        return True


def _recognises(path: Path) -> bool:
    value = document_files.json_value(path)
    if not safe_json.is_list(value) or not value:
        return False
    first = safe_json.opened(value[0])
    return (
        safe_json.is_list(first)
        and len(first) == 3
        and values.is_string(first[0])
        and _is_box(first[2])
    )


def _is_box(item: Item) -> bool:
    value = safe_json.opened(item)
    return safe_json.is_list(value) and len(value) == 4


FORMAT = Format(
    "ocrmac",
    "ocrmac: lists, one JSON file per image",
    _recognises,
    document_files.index_each("ocrmac", ".json", _parse),
    four_corners=True,
    recognised_by="a JSON list of lists [text, confidence, box of four numbers]",
    layout='[["text", confidence, [x, y, width, height]], ...]',
    sample='[["word", 0.9, [10, 10, 60, 30]]]',
    ending=".json",
    fractions=True,
)
