"""Answers of vision-language models: a file for each image, or records with an image's name.

`answers` finds the boxes. Their scale and order are declared by the option ``coordinates``, or
known by the form of the answers, or decided by their fit to the other side (`coordinates.decided`):
until then the numbers are as the answers have them. A ``category``, or a ``label`` besides a text,
is the class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.answers import BOX_KEYS, Answer, has_boxes, read_answer, reading_of
from evaltex_cli.formats.base import File, Format, Head, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.categories import text_block
from evaltex_cli.formats.coordinates import resized_sizes
from evaltex_cli.formats.names import names_of_pictures, stem
from evaltex_cli.formats.options import Coordinates, Reading
from evaltex_cli.formats.parsing import (
    Bounds,
    Number,
    confidence,
    converted,
    partial_json,
    plain_json,
    polygon,
)
from evaltex_cli.formats.word_records import expect

_NAMES = ("image", "image_name", "image_path", "img_path", "image_file", "images", "filename",
          "file_name")  # fmt: skip
_ANSWERS = ("response", "answer", "prediction", "predict", "output", "model_output", "completion",
            "generated_text", "raw_output", "content")  # fmt: skip
_TEXTS = ("text", "text_content", "transcription", "content")
_OTHERS = re.compile(r'[\s\S]{0,4096}"(?:image_id|page_idx)"')  # COCO's results, and documents
_NO_BOX = "{count} answer[s] without a box [is|are] taken for no detections"
_AGAIN = "{count} further answer[s] for an image that already has one [was|were] left out"


def _record_name(record: Any) -> str:
    """Return the name of the image of a record; empty if it has none."""
    for key in _NAMES:
        value = record.get(key) if isinstance(record, dict) else None
        value = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(value, str):
            return value
    return ""


def _record_answer(record: dict[str, Any]) -> Answer:
    """Return the answer of a record: a text, or plain JSON in the record itself."""
    for key in _ANSWERS:
        value = record.get(key)
        if isinstance(value, str):
            return read_answer(value)
    plain = {key: value for key, value in record.items() if key not in _NAMES}
    if any(key in plain for key in BOX_KEYS):
        return Answer([plain])
    lists = [value for value in plain.values() if isinstance(value, list)]
    items = lists[0] if len(lists) == 1 else []
    return Answer([{"box": one} if isinstance(one, list) else one for one in items])


def _records(file: File) -> list[tuple[int, dict[str, Any]]]:
    """Return the records of images that a file has one a line, or in a list; none of others."""
    begin = file.text.lstrip()[:1]
    with suppress(FormatError):
        if begin == "{":
            lines = [(k, plain_json(line.encode())) for k, line in file.lines()]
            return lines if lines and all(_record_name(one) for _, one in lines) else []
        if begin == "[":
            records = file.json(list[Any])
            named = records and all(_record_name(one) for one in records)
            return list(enumerate(records)) if named else []
    return []


def _answers(file: File) -> Iterator[tuple[str, str, Answer]]:
    """Yield the name of each image of a file, where its answer is, and the answer."""
    records = _records(file)
    if not records:
        yield file.stem, "", read_answer(file.text)
        return
    paths = list(dict.fromkeys(_record_name(one) for _, one in records))
    names = dict(zip(paths, names_of_pictures(paths), strict=True))
    by_name: dict[str, Answer] = {}
    places = {}
    for place, record in records:
        name = names[_record_name(record)]
        with file.catching(place):
            answer, before = _record_answer(record), by_name.get(name)
            is_item = any(key in record for key in BOX_KEYS)
            if before is None:
                by_name[name], places[name] = answer, str(place)
            elif is_item:  # a record of each box
                before.items.extend(answer.items)
            else:
                file.notes[_AGAIN] += 1
    for name, answer in by_name.items():
        yield name, places[name], answer


def _survey(files: Iterable[File], side: Side) -> Reading:
    """Return how the boxes of an input may be read."""
    items: list[Any] = []
    readings: set[Reading] = set()
    for file in files:
        with suppress(FormatError):  # which is logged when the file is read
            for _, _, answer in _answers(file):
                if answer.reading is None:
                    items += answer.items
                else:
                    readings.add(answer.reading)
        file.notes.clear()
    if items:
        readings.add(reading_of(items))
    return readings.pop() if len(readings) == 1 else Reading()


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    declared = options.coordinates
    sizes = resized_sizes(declared.resized) if declared and declared.resized else {}
    for name, at, answer in _answers(file):
        size = sizes.get(stem(name)) if sizes else None
        if sizes and size is None and answer.items:
            raise FormatError(
                f"image {quote(name)}", f"one of {declared.resized}" if declared else ""
            )
        objects = []
        for k, item in enumerate(answer.items):
            place = f"{at}[{k}]"
            with file.catching(place):
                one = _object(file, item, declared, size)
                if one is not None:
                    one.place = place
                    objects.append(one)
        if answer.is_truncated:
            found = f"the answer for {quote(name)} is truncated; its whole boxes are read"
            file.notes[f"{found}: {{count}}"] += len(answer.items)
        elif not answer.items:
            file.notes[_NO_BOX] += 1
        are_shares = bool(declared and (declared.scale is not None or declared.resized))
        yield Image(name, objects, fractions=are_shares)


def _object(
    file: File, item: Any, declared: Coordinates | None, size: tuple[float, float] | None
) -> TextObject | None:
    """Return an object in the declared coordinates, else with the numbers of the answer; raises
    `FormatError`.
    """
    key = "points" if isinstance(item, dict) and "points" in item else expect(item, *BOX_KEYS)
    numbers = converted(item.get(key), list[Number])
    if len(numbers) != 8 or key != "points":
        numbers = list(converted(numbers, Bounds))
    name = next((name for name in _TEXTS if name in item), "label")
    label = item.get("category", item.get("label") if name != "label" else "")
    text, label = (converted(value, str | None) or "" for value in (item.get(name), label))
    score = confidence(item.get("score", item.get("confidence")))
    points: Sequence[float] = numbers
    if declared is not None:
        largest, scale = max(numbers, key=abs), declared.scale
        if scale and abs(largest) > 1.1 * scale:  # models miss the edge of a picture
            raise FormatError(f"{largest:g}", f"0 to {scale:g}, as {declared} declares")
        points = declared.points(numbers, size)
    elif len(numbers) == 8:
        points = polygon(numbers)
    return text_block(file, points, text, label, score)


def _recognised(head: Head) -> str:
    text = head.text
    if text.lstrip()[:1] in ("{", "["):
        first = partial_json(text.split("\n", 1)[0].encode())
        with suppress(FormatError):
            if _record_name(first) and _record_answer(first).items:
                return "records of an image's name and its boxes"
        if _OTHERS.match(text):
            return ""
    return "boxes of four numbers" if has_boxes(text) else ""


CHAT_BOXES = Format(
    "chat-boxes",
    "answers of models: boxes in JSON or tokens, in prose",
    _read,
    _recognised,
    (".json", ".txt", ".md", ".jsonl"),
    layout='[{"bbox_2d" or "box_2d" or "bbox": [four numbers], "text" or "label", "score"}]',
    survey=_survey,
    empty_file=_NO_BOX,
    option="coordinates",
)
