"""Boxes that vision-language models answer with: a JSON list for each image, perhaps in a Markdown
code block, of objects with a key of `_KEYS`, or of lists of four numbers alone.

A ``category`` (dots.ocr), and a ``label`` besides a text, are the class; dots.ocr's pictures are
left out. Gemini answers ``box_2d`` with y before x, from 0 to 1000; Qwen ``bbox_2d`` with x before
y, in pixels or from 0 to 1000. The option ``coordinates`` declares order and scale. Without it they
are those that key and range of all numbers say, with a warning; where these leave a doubt, the
input is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.options import Coordinates
from evaltex_cli.formats.parsing import Number, confidence, converted, under

_KEYS = ("bbox_2d", "box_2d", "bbox", "box", "bounding_box")
_TEXTS = ("text", "text_content", "transcription", "content", "label")
_OBJECT = rf'\{{[^{{}}]*"(?:{"|".join(_KEYS)})"\s*:\s*\[\s*-?[\d.]'
_LIST = r"\[\s*(?:-?[\d.]+\s*,\s*){3}-?[\d.]+\s*\]"
_OTHERS = r'(?![\s\S]{0,4096}"(?:image_id|page_idx)")'  # COCO's results, and pages of documents
_START = re.compile(rf"{_OTHERS}\s*+(?:```\w*\s*)?\[\s*(?:{_OBJECT}|{_LIST})")
_FENCE = re.compile(rb"\A\s*```\w*|```\s*\Z")
_PICTURES = "{count} box[es] of the category Picture, without a text, [was|were] left out"
_BEYOND = 1.1  # times a declared scale, for models that miss the edge of a picture


def _items(file: File) -> list[Any]:
    """Return the list of a document; the code block is blanked, so that lines stay."""
    bare = _FENCE.sub(lambda fence: b" " * len(fence[0]), file.data.removeprefix(b"\xef\xbb\xbf"))
    return replace(file, data=bare).json(list[Any])


def _box(item: Any) -> tuple[str, list[float]]:
    """Return the key of a box, empty for a list alone, and its four numbers."""
    key = next((key for key in _KEYS if key in item), "") if isinstance(item, dict) else ""
    if isinstance(item, dict) and not key:
        raise FormatError(f"no key {' or '.join(_KEYS)}", "one of them, with four numbers")
    with under(*filter(None, [key])):
        numbers = converted(item[key] if key else item, list[Number])
        if len(numbers) != 4:
            raise FormatError(f"a list of {len(numbers)}", "four numbers of a box")
    return key, numbers


def _evident(files: Iterable[File], side: Side) -> tuple[Coordinates, str]:
    """Return the order and scale that key and numbers say, and a note; raises `FormatError`."""
    keys: set[str] = set()
    values: set[float] = set()
    for file in files:
        with suppress(FormatError):  # which is logged when the file is read
            for item in _items(file):
                with suppress(FormatError):
                    key, numbers = _box(item)
                    keys.add(key)
                    values.update(numbers)
    if not keys:
        return Coordinates("xyxy"), ""
    lowest, highest = min(values), max(values)
    scale = None if highest > 1000 else 1000.0
    if 0 <= lowest <= highest <= 1:
        scale = 1.0 if any(value % 1 for value in values) else inf
    if keys == {"box_2d"} and lowest >= 0 and scale in (1.0, 1000.0):
        coordinates = Coordinates("yxyx", scale)
    elif keys == {"bbox_2d"} and scale in (1.0, None):
        coordinates = Coordinates("xyxy", scale)
    else:
        raise FormatError(
            f"boxes with numbers from {lowest:g} to {highest:g}, of unknown order and scale",
            "--coordinates ORDER:SCALE (yxyx:1000, xyxy:1000, xyxy:999, xyxy:1 or xyxy:pixels, for"
            " example); evaltex validate GT DET shows which agrees with the ground truth",
        )
    note = (
        f"boxes are read as {coordinates}, as the key {min(keys)} and the range of the numbers say"
    )
    return coordinates, f"{note}; --coordinates declares another order or scale"


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    coordinates, note = (options.coordinates, "") if options.coordinates else options.surveyed
    file.notes[note] += bool(note)
    scale = coordinates.scale

    def read(item: Any) -> TextObject | None:
        key, numbers = _box(item)
        with under(*filter(None, [key])):
            largest = max(numbers, key=abs)
            if scale is not None and abs(largest) > _BEYOND * scale:
                raise FormatError(f"{largest:g}", f"0 to {scale:g}, as {coordinates} declares")
            box = coordinates.box(numbers)
        record = item if key else {}
        of_text = next((name for name in _TEXTS if name in record), "")
        if record.get("category") == "Picture" and not of_text:
            file.notes[_PICTURES] += 1
            return None
        label = record.get("category", "" if of_text == "label" else record.get("label"))
        texts = [converted(value, str | None) or "" for value in (record.get(of_text), label)]
        score = record.get("score", record.get("confidence"))
        return TextObject(box, texts[0], confidence=confidence(score), label=texts[1])

    objects = file.each(enumerate(_items(file)), read, "[{}]")
    yield Image(file.stem, objects, fractions=scale is not None)


_REASON = "a list of bbox_2d, box_2d, bbox or box with four numbers, or of such lists alone"
CHAT_BOXES = Format(
    "chat-boxes",
    "answers of vision-language models: JSON lists of boxes",
    _read,
    lambda head: _REASON if _START.match(head.text) else "",
    (".json", ".txt", ".md"),
    layout='[{"bbox_2d" or "box_2d" or "bbox": [four numbers, see --coordinates], "text" or'
    ' "label", "score"}]',
    survey=_evident,
    option="coordinates",
)
