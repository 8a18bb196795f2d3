"""The boxes in a model's answer: JSON with anything around it, or tokens in text.

An answer is one JSON value with boxes (a list, a list under a key, or an object a line), with
prose, ``<think>`` or a code fence around it, or text with tokens of a form of `_TOKENS`. An answer
without any box is a picture without text; of a truncated one, the whole objects are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

from evaltex_cli.errors import FormatError, counted
from evaltex_cli.formats.options import Coordinates, Reading
from evaltex_cli.formats.parsing import NUMBER, converted, number, plain_json, within

BOX_KEYS = ("bbox_2d", "box_2d", "bbox", "box", "bounding_box")
QUADS = "quad_boxes"
_KEY = rf'"(?:{"|".join(BOX_KEYS)})"\s*:\s*\[\s*-?[\d.]'
_LIST = re.compile(rf"\[\s*\[\s*{NUMBER}(?:\s*,\s*{NUMBER}){{3}}\s*\]|{_KEY}|\"{QUADS}\"\s*:\s*\[")
_THINK = re.compile(r"\A.*</think>|<think>.*\Z", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_MARKUP = re.compile(r"</?s>|<(?:\||/)?pad\|?>|<\|im_end\|>")
_PIXELS, _SHARES = Coordinates("xyxy"), Coordinates("xyxy", 1000.0)
_N = rf"\s*{NUMBER}\s*"
_POINT = rf"\({_N},{_N}\)"
_LOC = r"(?:<loc_\d+>){4,8}"
_PADDLE = r"(?:<\|LOC_\d+\|>\s*){8}"


class _Tokens(NamedTuple):
    """A form of boxes in text."""

    name: str
    boxes: re.Pattern[str]
    """The numbers, and all tokens around them."""
    begins: str
    """What the next box would begin with, if the answer was truncated."""
    coordinates: Coordinates
    text: re.Pattern[str] | None = None
    """The object's text within what `boxes` found; None if it stands before the box."""


_REF = re.compile(
    r"<(?:\|object_ref_start\||\|ref\||ref)>(.*?)<(?:\|object_ref_end\||\|/ref\||/ref)>", re.DOTALL
)
_BOX = r"<(?:\|box_start\||box|quad)>[^<]*<(?:\|box_end\||/box|/quad)>"
_REFS = r"<(?:\|object_ref_start\||ref)>[^<]*<(?:\|object_ref_end\||/ref)>"
_TOKENS = (
    _Tokens(
        "<|det|>",
        re.compile(
            r"<\|ref\|>((?:(?!<\|ref\|>).)*?)<\|/ref\|>\s*<\|det\|>[^<]*<\|/det\|>", re.DOTALL
        ),
        "<|ref|>",
        Coordinates("xyxy", 999.0),
        _REF,
    ),
    _Tokens("<ref> and <box>", re.compile(rf"{_REFS}(?:\s*{_BOX})+"), "<ref>", _SHARES, _REF),
    _Tokens(
        "<|object_ref_start|>", re.compile(rf"{_REFS}(?:\s*{_BOX})+"), "<|object_ref", _SHARES, _REF
    ),
    _Tokens("<loc_n>", re.compile(_LOC), "<loc_", _SHARES),
    _Tokens("<|LOC_n|>", re.compile(_PADDLE), "<|LOC_", _SHARES),
    _Tokens("text(x1,y1),(x2,y2)", re.compile(rf"{_POINT}\s*,\s*{_POINT}"), "(", _SHARES),
    _Tokens(
        "(x1, y1, x2, y2, text)",
        re.compile(
            rf"[(\[]{_N},{_N},{_N},{_N},\s*(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^()\n]*)[)\]]"
        ),
        "(",
        _SHARES,
        re.compile(rf"(?:{_N},){{4}}\s*(.*)[)\]]\Z", re.DOTALL),
    ),
)


class Answer(NamedTuple):
    """The boxes of an answer in the order in which it has them."""

    items: list[Any]
    """Objects in plain JSON, with a key of `BOX_KEYS` or ``points``, as models answer with."""
    reading: Reading | None = None
    """What the tokens fix; None of JSON, where all answers decide (`reading_of`)."""
    is_truncated: bool = False


def read_answer(text: str) -> Answer:
    """Return the boxes of an answer; raises `FormatError` for JSON that is damaged otherwise than
    by its end, or several lists.
    """
    stripped = _THINK.sub("", text).strip() if "think>" in text else text.strip()
    is_cut = "<think>" in text and "</think>" not in text
    for tokens in _TOKENS:
        if tokens.begins in stripped and tokens.boxes.search(stripped):
            if tokens.begins == "(" and _LIST.search(stripped):
                continue  # JSON whose texts have parentheses
            return _token_answer(tokens, stripped)
    items, is_truncated = _json_items(stripped)
    return Answer(items, None, is_truncated or is_cut)


def has_boxes(text: str) -> bool:
    """Whether a text, perhaps the first part of it, is an answer with a box."""
    if not any(one.begins in text for one in _TOKENS) and not _LIST.search(text):
        return False
    with suppress(FormatError):
        return bool(read_answer(text).items)
    return bool(_LIST.search(text))


# Tokens -------------------------------------------------------------------------------------------


def _token_answer(tokens: _Tokens, text: str) -> Answer:
    items: list[Any] = []
    end, found = 0, list(tokens.boxes.finditer(text))
    # Documents of DeepSeek-OCR have a class in the reference, and the text after the box.
    has_classes = tokens.name == "<|det|>" and any(
        text[one.end() : after.start()].strip() for one, after in pairwise(found)
    )
    starts = [*(one.start() for one in found[1:]), len(text)]
    for one, after in zip(found, starts, strict=True):
        boxes, label = one[0], ""
        if tokens.text is None:
            words = text[end : one.start()]
        else:
            inside = tokens.text.search(one[0])
            words = inside[1] if inside else ""
            boxes = boxes[: inside.start(1)] if tokens.begins == "(" and inside else boxes
            boxes = boxes[inside.end() :] if tokens.begins != "(" and inside else boxes
        if has_classes:
            label, words = words.strip(), text[one.end() : after]
        end = one.end()
        words = _unquoted(_MARKUP.sub("", words).strip(" \t\n,;"), tokens)
        parts = {"category": label, **({"text": words} if words else {})}
        items += ({"points": numbers, **parts} for numbers in _groups(boxes))
    rest = text[end:] if not has_classes else ""
    return Answer(items, Reading((tokens.coordinates,), tokens.name), tokens.begins in rest)


def _unquoted(words: str, tokens: _Tokens) -> str:
    is_quoted = tokens.name.startswith("(") and len(words) > 1 and words[0] == words[-1]
    return (
        words[1:-1].replace(f"\\{words[0]}", words[0]) if is_quoted and words[0] in "\"'" else words
    )


def _groups(boxes: str) -> Iterator[list[float]]:
    """Yield the numbers of each box, four or, of a quadrilateral, eight."""
    in_tags = re.findall(r">([^<>]*\d[^<>]*)<", boxes)
    for part in in_tags or [boxes]:
        numbers = [number(one) for one in re.findall(NUMBER, part)]
        size = 8 if len(numbers) == 8 and (not in_tags or part.count("(") == 4) else 4
        yield from (numbers[k : k + size] for k in range(0, len(numbers), size))


# JSON ---------------------------------------------------------------------------------------------


def _json_items(text: str) -> tuple[list[Any], bool]:
    """Return the items of the JSON in an answer, and whether it was truncated."""
    with suppress(FormatError):
        items = _items_of(plain_json(text.encode()))
        return items or [], False
    found: list[list[Any]] = []
    lines: list[Any] = []
    position, is_truncated = 0, False
    while start := re.compile(r"[\[{]").search(text, position):
        position = start.start()
        try:
            value, position = _DECODER.raw_decode(text, position)
        except json.JSONDecodeError as error:
            rest = text[position:].removesuffix("```")
            if not _LIST.search(rest):
                position += 1  # brackets in prose
                continue
            if not _is_cut(error, text):
                before = text[: error.pos].count("\n") + 1
                raise FormatError(error.msg, "well-formed JSON", at=before) from error
            found.append(_whole_items(rest))
            is_truncated, position = True, len(text)
            continue
        except RecursionError as error:
            raise FormatError("lists in lists without end", "a list of boxes") from error
        items = _items_of(value)
        if items and isinstance(value, dict) and items == [value]:
            lines.append(value)
        elif items:
            found.append(items)
    found = [one for one in found if one]
    if lines:
        found.append(lines)
    if len(found) > 1:
        what = counted(len(found), "{count} list[s] of boxes")
        raise FormatError(what, "one in each answer: keep the final one")
    return (found[0] if found else []), is_truncated


def _is_cut(error: json.JSONDecodeError, text: str) -> bool:
    """Whether JSON ends too early, rather than is wrong before its end."""
    rest = text[error.pos :].removesuffix("```").rstrip()
    return error.msg.startswith("Unterminated string") or not re.search(r'[\[\]{}",:]', rest)


def _whole_items(text: str) -> list[Any]:
    """Return the whole items of the list in truncated JSON."""
    begin = re.search(r"\[\s*(?=[\[{])", text)
    position = begin.end() if begin else len(text)
    items = []
    with suppress(json.JSONDecodeError):
        while position < len(text):
            value, position = _DECODER.raw_decode(text, position)
            items.append(value)
            after = re.compile(r"[\s,]*").match(text, position)
            position = after.end() if after else position
    return [{"box": one} if isinstance(one, list) else one for one in items]


def _is_box(value: Any) -> bool:
    return isinstance(value, dict) and any(key in value for key in BOX_KEYS)


def _is_numbers(value: Any) -> bool:
    is_four = isinstance(value, list) and len(value) == 4
    return is_four and all(isinstance(one, int | float) for one in value)


def _items_of(value: Any) -> list[Any] | None:
    """Return the items that plain JSON has boxes in; None if it has none."""
    if isinstance(value, dict):
        if _is_box(value):
            return [value]
        if QUADS in value:
            return _quad_items(value)
        inner = [one for one in map(_items_of, value.values()) if one]
        return inner[0] if len(inner) == 1 else None
    if not isinstance(value, list):
        return None
    if any(map(_is_box, value)) or any(map(_is_numbers, value)):
        return [{"box": one} if isinstance(one, list) else one for one in value]
    if len(value) == 1 and isinstance(value[0], dict | list):
        return _items_of(value[0])
    return None


def _quad_items(value: dict[str, Any]) -> list[Any]:
    """Return the items of Florence-2's dictionary of columns."""
    quads = converted(value[QUADS], list[Any])
    labels = converted(value.get("labels") or [""] * len(quads), list[str])
    if len(labels) != len(quads):
        raise FormatError(f"{len(labels)} labels of {len(quads)} {QUADS}", "one for each")
    return [
        {"points": quad, "text": _MARKUP.sub("", label), QUADS: True}
        for quad, label in zip(quads, labels, strict=True)
    ]


def reading_of(items: Sequence[Any]) -> Reading:
    """Return how the numbers of boxes in JSON may be read, by their key and their range."""
    boxes = [item for item in items if isinstance(item, dict)]
    if boxes and all(QUADS in item for item in boxes):
        return Reading((_PIXELS,), f"the key '{QUADS}'")
    keys = {next((key for key in BOX_KEYS if key in item), "") for item in boxes}
    key = keys.pop() if len(keys) == 1 else ""
    lists = [one for item in boxes if isinstance(one := within(item, key), list)]
    numbers = [value for one in lists for value in one if isinstance(value, int | float)]
    highest = max(numbers, default=0)
    are_shares = highest <= 1 and not set(numbers) <= {0, 1}
    form = f"the key '{key}' and numbers up to {highest:g}"
    if key == "box_2d":
        scale = 1.0 if are_shares else 1000.0
        return Reading((Coordinates("yxyx", scale),), form)
    if key == "bbox_2d" and (are_shares or highest > 1000):
        return Reading((Coordinates("xyxy", 1.0 if are_shares else None),), form)
    if key == "bbox_2d":  # Qwen2.5-VL counts pixels, Qwen3-VL to 1000
        return Reading((_SHARES, _PIXELS), form)
    return Reading()
