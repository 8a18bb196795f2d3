"""Boxes that vision-language models answer with: a JSON list for each image, perhaps in a Markdown
code block, of objects with a key of `_KEYS`, or of lists of four numbers alone.

A ``category`` (dots.ocr), or a ``label`` besides a text, is the class. Gemini's ``box_2d`` has y
before x, from 0 to 1000; Qwen's ``bbox_2d`` x before y, in pixels or from 0 to 1000. The option
``coordinates`` declares order and scale. Without it, key and range of all numbers decide, with a
warning; where these leave a doubt, the input is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.options import Coordinates
from evaltex_cli.formats.parsing import Bounds, confidence, converted
from evaltex_cli.formats.word_records import expect

_KEYS = ("bbox_2d", "box_2d", "bbox", "box", "bounding_box")
_TEXTS = ("text", "text_content", "transcription", "content")
_OTHERS = r'(?![\s\S]{0,4096}"(?:image_id|page_idx)")'  # COCO's results, and pages of documents
_KEY = rf'\{{[^{{}}]*"(?:{"|".join(_KEYS)})"\s*:\s*'
_START = re.compile(rf"{_OTHERS}\s*+(?:```\w*\s*)?\[\s*(?:{_KEY})?\[\s*-?[\d.]")
_FENCE = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*```\w*|```\s*\Z")


def _items(file: File) -> list[Any]:
    items = replace(file, data=_FENCE.sub(b"", file.data)).json(list[Any])
    return [{"box": item} if isinstance(item, list) else item for item in items]


def _box(item: Any) -> tuple[str, Bounds]:
    """Return the key of a box and its four numbers; raises `FormatError`."""
    key = expect(item, *_KEYS)
    return key, converted(item.get(key), Bounds)


def _evident(files: Iterable[File], side: Side) -> tuple[Coordinates, str]:
    """Return the order and scale that key and numbers say, and a note; raises `FormatError`."""
    boxes: list[tuple[str, Bounds]] = []
    for file in files:
        with suppress(FormatError):  # which is logged when the file is read
            boxes += map(_box, _items(file))
    if not boxes:
        return Coordinates("xyxy"), ""
    values = {value for _, numbers in boxes for value in numbers}
    lowest, highest = min(values), max(values)
    key = " and ".join({key for key, _ in boxes})
    scale = 1.0 if highest <= 1 else 1000.0 if highest <= 1000 else None
    known = (("box_2d", 1.0), ("box_2d", 1000.0), ("bbox_2d", 1.0), ("bbox_2d", None))
    if (key, scale) not in known or values <= {0, 1} or (scale and lowest < 0):
        raise FormatError(
            f"boxes with numbers from {lowest:g} to {highest:g}, of unknown order and scale",
            "--coordinates (yxyx:1000, xyxy:pixels, ...); evaltex validate GT DET shows which fits",
        )
    coordinates = Coordinates("yxyx" if key == "box_2d" else "xyxy", scale)
    why = f"boxes are read as {coordinates}, as the key {key} and the range of the numbers say"
    return coordinates, f"{why}; --coordinates declares another order or scale"


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    coordinates, note = (options.coordinates, "") if options.coordinates else options.surveyed
    file.notes[note] += bool(note)

    def read(item: dict[str, Any]) -> TextObject | None:
        _, numbers = _box(item)
        largest, scale = max(numbers, key=abs), coordinates.scale
        if scale and abs(largest) > 1.1 * scale:  # models miss the edge of a picture
            raise FormatError(f"{largest:g}", f"0 to {scale:g}, as {coordinates} declares")
        name = next((name for name in _TEXTS if name in item), "label")
        if item.get("category") == "Picture" and name not in item:
            file.notes["{count} box[es] of category Picture without text [was|were] left out"] += 1
            return None
        label = item.get("category", item.get("label") if name != "label" else "")
        text, label = (converted(value, str | None) or "" for value in (item.get(name), label))
        score = confidence(item.get("score", item.get("confidence")))
        return TextObject(coordinates.box(numbers), text, confidence=score, label=label)

    objects = file.each(enumerate(_items(file)), read, "[{}]")
    yield Image(file.stem, objects, fractions=coordinates.scale is not None)


CHAT_BOXES = Format(
    "chat-boxes",
    "answers of vision-language models: JSON lists of boxes",
    _read,
    lambda head: "a list of boxes of four numbers" if _START.match(head.text) else "",
    (".json", ".txt", ".md"),
    layout='[{"bbox_2d" or "box_2d" or "bbox": [four numbers], "text" or "label", "score"}]',
    survey=_evident,
    option="coordinates",
)
