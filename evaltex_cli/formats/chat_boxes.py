"""Answers of vision-language models: a file for each image, or records with an image's name.

`answers` finds the boxes. Their scale and order are declared by the option ``coordinates``, or
known by the form of the answers, or decided by their fit to the other side (`coordinates.decided`):
until then the numbers are as the answers have them. A ``category``, or a ``label`` besides a text,
is the class.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats import answers, parsing
from evaltex_cli.formats.answers import BOX_KEYS, Answer, has_json, is_box, items_of, read_answer
from evaltex_cli.formats.base import File, Format, Head, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.categories import text_block
from evaltex_cli.formats.coordinates import resized_sizes
from evaltex_cli.formats.names import names_of_pictures, stem
from evaltex_cli.formats.options import Coordinates, Reading
from evaltex_cli.formats.parsing import converted, plain_json, within
from evaltex_cli.formats.word_records import expect

_NAMES = ("image", "image_name", "image_path", "img_path", "image_file", "images", "filename",
          "file_name", "custom_id")  # fmt: skip
_ANSWERS = ("response", "answer", "prediction", "predict", "output", "model_output", "completion",
            "generated_text", "raw_output", "content", "text")  # fmt: skip
_TEXTS = ("text", "text_content", "transcription", "content")
_OTHERS = re.compile(r'[\s\S]{0,4096}"(?:image_id|page_idx)"')  # COCO's results, and documents
_PICTURE = re.compile(r"(?i).*\.(?:jpe?g|png|bmp|tiff?|webp)\Z")
_NO_BOX = "{count} answer[s] without a box [is|are] taken for no detections"
_AGAIN = "{count} further answer[s] for an image that already has one [was|were] left out"


def _record_name(record: Any) -> str:
    """Return the name of the image of a record; empty if it has none."""
    for key in _NAMES:
        value = within(record, key)
        value = value[0] if isinstance(value, list) and len(value) == 1 else value
        if isinstance(value, str):
            return value
    return ""


def _record_answer(record: dict[str, Any]) -> Answer:
    """Return the answer of a record: a text, or plain JSON in the record itself."""
    plain = {key: value for key, value in record.items() if key not in _NAMES}
    items, text = items_of(plain), json.dumps(plain, ensure_ascii=False)
    keys = [key for key in _ANSWERS if not (items and key in _TEXTS)]
    texts = [record[key] for key in keys if isinstance(record.get(key), str)]
    if texts:
        return read_answer(texts[0])
    return Answer(items) if items else _checked(read_answer(text), text)


def _checked(answer: Answer, text: str) -> Answer:
    """Return an answer; raises `FormatError` if it has boxes, but not in one list."""
    if not (answer.items or answer.is_truncated) and has_json(text):
        raise FormatError("boxes outside of a list", "one list in each answer")
    return answer


def _records_in(value: Any) -> list[Any]:
    """Return the records of images in plain JSON: a list, one under a key, an object by the names
    of pictures, or one record; none if there is nothing like it.
    """
    if isinstance(value, dict) and not _record_name(value):
        if value and all(map(_PICTURE.match, value)):
            return [{_NAMES[0]: name, _ANSWERS[0]: one} for name, one in value.items()]
        lists = [one for one in value.values() if _records_in(one) and isinstance(one, list)]
        value = lists[0] if len(lists) == 1 else []
    records = value if isinstance(value, list) else [value]
    return records if all(map(_record_name, records)) else []


def _records(file: File) -> list[tuple[int, dict[str, Any]]]:
    """Return the records of images in a file, in its JSON or one a line; none of others."""
    if file.text.lstrip()[:1] in ("{", "["):
        with suppress(FormatError):
            return list(enumerate(_records_in(file.json(Any))))
        with suppress(FormatError):
            lines = [(k, plain_json(line.encode())) for k, line in file.lines()]
            return lines if all(_record_name(one) for _, one in lines) else []
    return []


def _answers(file: File) -> Iterator[tuple[str, str, Answer]]:
    """Yield the name of each image of a file, where its answer is, and the answer."""
    records = _records(file)
    if not records:
        yield file.stem, "", _checked(read_answer(file.text), file.text)
        return
    paths = list(dict.fromkeys(_record_name(one) for _, one in records))
    names = dict(zip(paths, names_of_pictures(paths), strict=True))
    by_name: dict[str, tuple[str, Answer]] = {}
    for place, record in records:
        with file.catching(place):
            answer = _record_answer(record)
            _, first = by_name.setdefault(names[_record_name(record)], (str(place), answer))
            if first is not answer and is_box(record):  # a record of each box
                first.items.extend(answer.items)
            elif first is not answer:
                file.notes[_AGAIN] += 1
    for name, (at, answer) in by_name.items():
        yield name, at, answer


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
    if items:
        readings.add(answers.reading_of(items))
    return readings.pop() if len(readings) == 1 else Reading()


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    declared = options.coordinates
    resized = declared.resized if declared else ""
    sizes = resized_sizes(resized) if resized else {}
    for name, at, answer in _answers(file):
        size = sizes.get(stem(name))
        if resized and size is None and answer.items:
            raise FormatError(f"{quote(name)} has no size in {resized}", "each image in it")
        objects = []
        for k, item in enumerate(answer.items):  # not `each`, which asks for x0, y0, x1, y1
            place = f"{at}[{k}]"
            with file.catching(place):
                one = _object(file, item, declared, size)
                if one is not None:
                    one.place = place
                    objects.append(one)
        if answer.is_truncated:
            found = f"the answer for {quote(name)} is truncated; its whole boxes are read"
            file.notes[f"{found}: {len(answer.items)}"] = 1
        elif not answer.items:
            file.notes[_NO_BOX] += 1
        are_shares = bool(declared and (declared.scale is not None or resized))
        yield Image(name, objects, fractions=are_shares)


def _object(
    file: File, item: Any, declared: Coordinates | None, size: tuple[float, float] | None
) -> TextObject | None:
    """Return an object in the declared coordinates, else with the numbers of the answer; raises
    `FormatError`.
    """
    key = "points" if within(item, "points") else expect(item, *BOX_KEYS)
    if item.get(key) in (None, []):
        file.notes["{count} object[s] without a box [was|were] left out"] += 1
        return None
    points: Sequence[float] = converted(item[key], list[parsing.Number])
    if key != "points" or len(points) != 8:
        points = converted(points, parsing.Bounds)
    if declared is not None:
        points = declared.points(points, size)
    name = next((name for name in _TEXTS if name in item), "label")
    label = item.get("category", item.get("label") if name != "label" else "")
    text, label = (converted(value, str | None) or "" for value in (item.get(name), label))
    score = parsing.confidence(item.get("score", item.get("confidence")))
    return text_block(file, points, text, label, score)


def _recognised(head: Head) -> str:
    text = head.text
    if '"iscrowd"' in text:  # annotations of a data set, such as MMOCR 0.x has
        return ""
    if text.lstrip()[:1] in ("{", "["):
        records = _records_in(head.json)
        if records and has_json(text):
            return "records of an image's name and its boxes"
        with suppress(FormatError):
            if any(_record_answer(one).items for one in records[:1]):
                return "records of an image's name and its boxes"
        if _OTHERS.match(text):
            return ""
    return "boxes of four numbers" if answers.has_boxes(text) else ""


CHAT_BOXES = Format(
    "chat-boxes",
    "answers of models: boxes in JSON, tokens or HTML, in prose",
    _read,
    _recognised,
    (".json", ".txt", ".md", ".jsonl", ".mmd", ".html"),
    layout='[{"bbox_2d" or "box_2d" or "bbox": [four numbers], "text" or "label", "score"}]',
    survey=_survey,
    empty_file=_NO_BOX,
    option="coordinates",
)
