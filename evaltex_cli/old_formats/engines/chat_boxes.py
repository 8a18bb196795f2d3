"""Boxes that vision-language models answer with: a JSON list per image, perhaps in a Markdown code
block.

``[{"bbox_2d": [x0, y0, x1, y1], "label": "word"}, ...]``, or with the key ``box_2d``, ``bbox``,
``box`` or ``bounding_box``, or lists of four numbers alone. The transcription is ``text``,
``text_content``, ``transcription``, ``content`` or ``label``, the confidence ``score`` or
``confidence``.

The order of the four numbers and their scale are declared by the option ``coordinates``
(`options.Coordinates`), since models differ: Gemini answers ``box_2d`` with y before x, from 0 to
1000; Qwen ``bbox_2d`` with x before y, in pixels or from 0 to 1000. Without the option they are
taken from the key and the range of all numbers, with a warning, if these leave no doubt; otherwise
the input is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import NamedTuple

from evaltex_cli.errors import FaultLog, FormatError, InputError, quote
from evaltex_cli.old_formats.base import Format, Indexer, Side, Source
from evaltex_cli.old_formats.documents import document_files, recognition, safe_json
from evaltex_cli.old_formats.documents.each_file import Reading, Survey
from evaltex_cli.old_formats.documents.safe_json import Item, Number
from evaltex_cli.old_formats.engines import values
from evaltex_cli.old_formats.options import Coordinates
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

NAME = "chat-boxes"
ENDINGS = (".json", ".txt", ".md")
_KEYS = ("bbox_2d", "box_2d", "bbox", "box", "bounding_box")
_NO_KEY = f"no key {' or '.join(map(quote, _KEYS))}"
_TEXTS = ("text", "text_content", "transcription", "content", "label")
_SCORES = ("score", "confidence")
_OBJECT = rb"\{[^{}]*\"(?:%b)\"\s*:\s*\[\s*-?[\d.]" % "|".join(_KEYS).encode()
_LIST = rb"\[\s*(?:-?[\d.]+\s*,\s*){3}-?[\d.]+\s*\]"
_START = re.compile(rb"\s*(?:```\w*\s*)?\[\s*(?:%b|%b)[^}]*" % (_OBJECT, _LIST))
_FENCE = re.compile(rb"\A\s*```\w*|```\s*\Z")
_BEYOND = 1.1
"""Numbers of a declared scale may be this much beyond it: models miss the edge of a picture."""


class UndeclaredError(InputError):
    """Boxes of which neither content nor option says what their numbers are."""


class _Look(NamedTuple):
    """What boxes a file has: their keys, empty for lists alone, and the range of their numbers."""

    keys: frozenset[str] = frozenset()
    lowest: float = 0.0
    highest: float = 0.0
    are_whole: bool = True


def _document(data: bytes) -> Sequence[Item]:
    """Return the items; raises `FormatError` if it is no list. The code block
    is blanked, so that places stay.
    """
    bare = _FENCE.sub(lambda fence: b" " * len(fence[0]), data.removeprefix(b"\xef\xbb\xbf"))
    value = safe_json.parse(bare)
    if not safe_json.is_list(value):
        raise FormatError(safe_json.shown(value), "a list [...] of boxes")
    return value


def _numbers(item: Item) -> tuple[str, list[float]]:
    """Return the key of an item's box, empty for a list alone, and its
    numbers; raises `FormatError`.
    """
    value = safe_json.opened(item)
    key = ""
    if safe_json.is_object(value):
        key = next((key for key in _KEYS if key in value), "")
        if not key:
            raise FormatError(_NO_KEY, "one of them, with four numbers")
    where = (key,) if key else ()
    box = safe_json.opened(value[key]) if key else value
    if safe_json.is_list(box) and len(box) != 4:  # a long list is not taken apart
        raise FormatError(safe_json.shown(box), "four numbers of a box", where)
    numbers: list[float] = safe_json.take(value[key] if key else item, list[Number], *where)
    return key, numbers


def _look(data: bytes) -> _Look:
    keys: set[str] = set()
    lowest, highest, are_whole = inf, -inf, True
    try:
        items = _document(data)
    except FormatError:
        return _Look()
    for item in items:
        try:
            key, numbers = _numbers(item)
        except FormatError:
            continue
        keys.add(key)
        lowest, highest = min(lowest, *numbers), max(highest, *numbers)
        are_whole = are_whole and all(value == int(value) for value in numbers)
    return _Look(frozenset(keys), lowest, highest, are_whole) if keys else _Look()


def _settle(declared: str | None, looks: Sequence[_Look]) -> Reading:
    """Return how all files are read; raises `FormatError` if that is not
    declared and not evident, or cannot be.
    """
    look = _Look(
        frozenset[str]().union(*(look.keys for look in looks)),
        min((look.lowest for look in looks), default=0.0),
        max((look.highest for look in looks), default=0.0),
        all(look.are_whole for look in looks),
    )
    if declared is None:
        coordinates, warnings = _evident(look)
    else:
        coordinates, warnings = Coordinates.parse(declared), ()
        limit = float("inf") if coordinates.scale is None else _BEYOND * coordinates.scale
        if look.highest > limit or -look.lowest > limit:
            expected = (
                f"numbers from 0 to {coordinates.scale:g}, as --coordinates {declared} declares"
            )
            raise FormatError(
                f"boxes with numbers from {look.lowest:g} to {look.highest:g}", expected
            )
    return Reading(warnings, coordinates)


def _evident(look: _Look) -> tuple[Coordinates, tuple[str, ...]]:
    """Return the order and scale that a key has by its model's documentation,
    if numbers agree, and a warning of it.
    """
    in_fractions = 0 <= look.lowest <= look.highest <= 1 and not look.are_whole
    coordinates = None
    if not look.keys:
        return Coordinates("xyxy"), ()
    if (
        look.keys == {"box_2d"}
        and 0 <= look.lowest <= look.highest <= 1000
        and (in_fractions or look.highest > 1)
    ):
        coordinates = Coordinates("yxyx", 1.0 if in_fractions else 1000.0)
    if look.keys == {"bbox_2d"} and (in_fractions or look.highest > 1000):
        coordinates = Coordinates("xyxy", 1.0 if in_fractions else None)
    if coordinates is None:
        raise FormatError(
            f"boxes with numbers from {look.lowest:g} to {look.highest:g}, which do not say in what"
            " order and scale",
            "it declared by --coordinates ORDER:SCALE (yxyx:1000, xyxy:1000, xyxy:999, xyxy:1 or"
            " xyxy:pixels, for"
            " example); evaltex validate GT DET shows which agrees with the ground truth",
        )
    (key,) = look.keys
    said = f"as the key {key} and the range of the numbers say"
    return coordinates, (
        f"boxes are read as {coordinates}, {said}; --coordinates declares another order or scale",
    )


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    coordinates: Coordinates = image.variant
    image.in_fractions = coordinates.scale is not None
    for k, item in enumerate(_document(data)):
        with faults.catching(image.place):
            with safe_json.under(k):
                key, numbers = _numbers(item)
                with safe_json.under(*((key,) if key else ())):
                    box = coordinates.box(numbers)
                one = CollectedObject(box, at=(k,))
                if key:
                    record = safe_json.record(item)
                    one.text = next(
                        (values.text(record[name], name) for name in _TEXTS if name in record), ""
                    )
                    of_scores = (
                        values.confidence(record[name], name) for name in _SCORES if name in record
                    )
                    one.confidence = next(of_scores, None)
            image.add(one)


def index_by(declared: str | None) -> Indexer:
    """Return what indexes files of boxes that are declared so, or whose content must say it."""
    survey = Survey(_look, lambda looks: _settle(declared, looks))
    index_files = document_files.index_each(NAME, ENDINGS, _parse, survey=survey)

    def index(path: Path, side: Side, faults: FaultLog) -> Source:
        try:
            return index_files(path, side, faults)
        except FormatError as error:
            raise UndeclaredError(str(error.fault(str(path)))) from error

    return index


def _recognises(path: Path) -> bool:
    start = _START.match(recognition.first_bytes(path, recognition.main_ending(path, ENDINGS)))
    return start is not None and b'"image_id"' not in start[0]  # which COCO's results have


FORMAT = Format(
    NAME,
    "answers of vision-language models: JSON lists of boxes",
    _recognises,
    index_by(None),
    four_corners=True,
    recognised_by="a JSON list of bbox_2d, box_2d, bbox or box with four numbers, or of such lists"
    " alone",
    layout='[{"bbox_2d" or "box_2d" or "bbox": [four numbers, see --coordinates], "text" or'
    ' "label", "score"}]',
    sample='[{"bbox_2d": [0.0125, 0.0625, 0.075, 0.1875], "label": "word"}]',
    ending=ENDINGS[0],
    more_endings=ENDINGS[1:],
    fractions=True,
    option="coordinates",
    index_by=index_by,
)
