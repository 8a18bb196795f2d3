"""The boxes in a model's answer: JSON with anything around it, or tokens in text.

An answer is one JSON value with boxes (a list, a list under a key, or an object a line), with
prose, ``<think>`` or a code fence around it, text with tokens of one of `_FORMS`, or HTML. An
answer without any box is a picture without text; of a truncated one, the whole objects are read.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from evaltex_cli.errors import FormatError, counted
from evaltex_cli.formats import parsing
from evaltex_cli.formats.options import Coordinates, Reading
from evaltex_cli.formats.parsing import NUMBER, converted, number, plain_json, within

BOX_KEYS = ("bbox_2d", "box_2d", "bbox", "box", "bounding_box")
QUADS = "quad_boxes"
_COLUMNS = (QUADS, "bboxes", "boxes")
_OPEN = r"""\s*:\s*[\[\s]*(?:\{\s*["'\\]+\w+["'\\]+\s*:\s*)?["'\\]*-?[\d.]"""
_KEY = rf"""["'](?:{"|".join(BOX_KEYS)})\\?["']{_OPEN}|["']{QUADS}\\?["']\s*:\s*\["""
_LIST = re.compile(rf"\[\s*\[\s*{NUMBER}(?:\s*,\s*{NUMBER}){{3}}\s*\]|{_KEY}")
_BRACKET = re.compile(r"[\[{]")
_IN_PROSE = re.compile(r"""\[[^][{}"']*\]|\{[^][{}"']*\}""")
_NEXT_ITEM = re.compile(r"[\s,]*(?=[\[{])")
_THINK = re.compile(r"\A.*</think>|<think>.*\Z", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_MARKUP = re.compile(r"</?s>|<(?:\||/)?pad\|?>|<\|im_end\|>|<｜end▁of▁sentence｜>")
_PIXELS, _SHARES = Coordinates("xyxy"), Coordinates("xyxy", 1000.0)
_DIV = re.compile(r"""<div\b[^>]*?\bdata-bbox=["']([^"'>]*)["'][^>]*>""")
_LABEL = re.compile(r"""\bdata-label=["']([^"'>]*)""")


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
    is_cut = "<think>" in text and "</think>" not in text
    text = _THINK.sub("", text).strip() if "think>" in text else text.strip()
    if text.startswith(("{", "[")):
        with suppress(FormatError):
            value = plain_json(text.encode())
            inner = [] if items_of(value) else [one for one in _texts(value) if has_boxes(one)]
            if len(inner) == 1:  # a service's answer
                return read_answer(inner[0])
    if divs := list(_DIV.finditer(text)):
        return _html_answer(text, divs)
    for form in _FORMS:
        # JSON may have parentheses in its texts.
        is_json = form.begins == "(" and has_json(text)
        if form.begins in text and not is_json and form.object.search(text):
            return _token_answer(form, text)
    items, is_truncated = _json_items(text)
    is_cut |= not items and any(form.begins in text for form in _FORMS if form.begins != "(")
    return Answer(items, None, is_truncated or is_cut)


def has_json(text: str) -> bool:
    """Whether a text has JSON of a box anywhere."""
    return _LIST.search(text) is not None


def has_boxes(text: str) -> bool:
    """Whether a text, perhaps the first part of it, is an answer with a box."""
    if not any(form.begins in text for form in _FORMS) and not has_json(text):
        return bool(_DIV.search(text))
    with suppress(FormatError):
        return bool(read_answer(text).items)
    return has_json(text)


# Tokens -------------------------------------------------------------------------------------------


class _Form(NamedTuple):
    """A form of boxes in text."""

    name: str
    object: re.Pattern[str]
    """Groups ``boxes`` and ``text``; without the latter, the text is what stands before."""
    begins: str
    """What each object begins with; after the last whole one, a sign of a truncated answer."""
    coordinates: Coordinates = _SHARES


_N = rf"\s*{NUMBER}\s*"
_POINT = rf"\({_N},{_N}\)"
_QWEN = re.compile(
    r"<(?:\|object_ref_start\||ref)>(?P<text>[^<]*)<(?:\|object_ref_end\||/ref)>"
    r"(?P<boxes>(?:\s*<(?:\|box_start\||box|quad)>[^<]*<(?:\|box_end\||/box|/quad)>)+)"
)
_DEEPSEEK = re.compile(
    r"<\|ref\|>(?P<text>(?:(?!<\|ref\|>).)*?)<\|/ref\|>\s*(?P<boxes><\|det\|>[^<]*<\|/det\|>)",
    re.DOTALL,
)
_CLASS = re.compile(r"\s*[a-z_]+\s*\Z")
_FLORENCE = re.compile(r"(?<!\d>)(?P<boxes>(?:(?:<loc_\d+>){4}){1,2})(?!<loc_)")
_TUPLE = re.compile(
    rf"[(\[](?P<boxes>{_N},{_N},{_N},{_N}),\s*"
    r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^()\n]*)[)\]]"""
)
_FORMS = (
    _Form("<|det|>", _DEEPSEEK, "<|ref|>", Coordinates("xyxy", 999.0)),
    _Form("<ref> and <box>", _QWEN, "<ref>"),
    _Form("<|object_ref_start|>", _QWEN, "<|object_ref"),
    _Form("<loc_n>", _FLORENCE, "<loc_"),
    _Form("<|LOC_n|>", re.compile(r"(?P<boxes>(?:<\|LOC_\d+\|>\s*){8})"), "<|LOC_"),
    _Form("text(x1,y1),(x2,y2)", re.compile(rf"(?P<boxes>{_POINT}\s*,\s*{_POINT})"), "("),
    _Form("(x1, y1, x2, y2, text)", _TUPLE, "("),
)


def _token_answer(form: _Form, text: str) -> Answer:
    objects = list(form.object.finditer(text))
    edges = [0, *(edge for one in objects for edge in one.span()), len(text)]
    # Before the first object, after each, and after the last.
    between = [text[start:stop] for start, stop in zip(edges[::2], edges[1::2], strict=True)]
    before = between[:-1]
    texts = [one.groupdict().get("text", words) for one, words in zip(objects, before, strict=True)]
    labels = [""] * len(objects)
    after = [_MARKUP.sub("", one.partition(form.begins)[0]) for one in between[1:]]
    inner = after[:-1] or after  # after the last of several may be prose
    if form.object is _DEEPSEEK and any(map(str.strip, inner)) and all(map(_CLASS.match, texts)):
        labels, texts = texts, after  # a document, which has classes in the references
    items: list[Any] = []
    for one, label, inside in zip(objects, labels, texts, strict=True):
        words = _MARKUP.sub("", inside).strip(" \t\n,;")
        words = _unquoted(words) if form.object is _TUPLE else words
        parts = {"category": label.strip(), **({"text": words} if words else {})}
        items += ({"points": numbers, **parts} for numbers in _groups(one["boxes"]))
    return Answer(items, Reading((form.coordinates,), form.name), form.begins in between[-1])


def _unquoted(words: str) -> str:
    quote = words[:1]
    is_quoted = len(words) > 1 and quote in "\"'" and words[-1] == quote
    return words[1:-1].replace(f"\\{quote}", quote) if is_quoted else words


def _groups(boxes: str) -> Iterator[list[float]]:
    """Yield the numbers of each box, four or, of a quadrilateral, eight."""
    in_tags = re.findall(r">([^<>]*\d[^<>]*)<", boxes)
    for part in in_tags or [boxes]:
        numbers = [number(one) for one in re.findall(NUMBER, part)]
        is_quad = len(numbers) == 8 and (not in_tags or part.count("(") == 4)  # else two boxes
        size = 8 if is_quad else 4
        yield from (numbers[k : k + size] for k in range(0, len(numbers), size))


# HTML and services --------------------------------------------------------------------------------


def _html_answer(text: str, divs: list[re.Match[str]]) -> Answer:
    """Return the blocks of Chandra's HTML; without the last one if its end is missing."""
    ends = [*(after.start() for after in divs[1:]), len(text)]
    blocks = [(div, text[div.end() : end]) for div, end in zip(divs, ends, strict=True)]
    is_cut = "</div>" not in blocks[-1][1]
    items = []
    for div, markup in blocks[:-1] if is_cut else blocks:
        numbers = [number(one) for one in re.findall(NUMBER, div[1])]
        category = "".join(_LABEL.findall(div[0])[:1])
        items.append({"box": numbers, "category": category, "text": parsing.html_text(markup)})
    return Answer(items, Reading((_SHARES,), "data-bbox"), is_cut)


def _texts(value: Any) -> Iterator[str]:
    """Yield each text in plain JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


# JSON ---------------------------------------------------------------------------------------------


def _json_items(text: str) -> tuple[list[Any], bool]:
    """Return the items of the JSON in an answer, and whether it was truncated."""
    found: list[list[Any]] = []
    lines: list[Any] = []
    position, is_truncated = 0, False
    while (bracket := _BRACKET.search(text, position)) and not is_truncated:
        position = bracket.start()
        try:
            value, position = _DECODER.raw_decode(text, position)
        except RecursionError as error:
            raise FormatError("lists in lists without end", "a list of boxes") from error
        except json.JSONDecodeError as error:
            if _LIST.search(text, position) and not _IN_PROSE.match(text, position):
                if not _is_cut(error, text):
                    with suppress(ValueError, SyntaxError):  # as Python prints it
                        end = max(text.rfind("]"), text.rfind("}")) + 1
                        return items_of(ast.literal_eval(text[position:end])), False
                    line = text[: error.pos].count("\n") + 1
                    raise FormatError(error.msg, "well-formed JSON", at=line) from error
                found.append(_whole_items(text[position:]))
                is_truncated = True
            position += 1
            continue
        if is_box(value):
            lines += items_of(value)
        else:
            found.append(items_of(value))
    found = [one for one in (*found, lines) if one]
    if len(found) > 1:
        what = counted(len(found), "{count} list[s] of boxes")
        raise FormatError(what, "one in each answer: keep the final one")
    return (found[0] if found else []), is_truncated


def _is_cut(error: json.JSONDecodeError, text: str) -> bool:
    """Whether JSON ends too early, rather than is wrong before its end."""
    rest = text[error.pos :].removesuffix("```")
    return error.msg.startswith("Unterminated string") or not re.search(r'[\[\]{}",:]', rest)


def _whole_items(text: str) -> list[Any]:
    """Return the whole items of the list in truncated JSON."""
    begin = re.search(r"\[\s*(?=[\[{])", text)
    position = begin.end() if begin else len(text)
    items = []
    with suppress(json.JSONDecodeError):
        while item := _NEXT_ITEM.match(text, position):
            value, position = _DECODER.raw_decode(text, item.end())
            items.append(value)
    return [*map(_item, items)]


def is_box(value: Any) -> bool:
    """Whether a value in plain JSON is an object of one box."""
    return isinstance(value, dict) and any(key in value for key in BOX_KEYS)


def _item(value: Any) -> Any:
    """Return an item as an object with the numbers of its box in a list."""
    value = {"box": value} if isinstance(value, list) else value
    key = next((key for key in BOX_KEYS if key in value), "") if isinstance(value, dict) else ""
    box: Any = value[key] if key else None
    with suppress(FormatError):  # which is logged when the item is read
        if isinstance(box, str):
            box = re.findall(NUMBER, box)
        elif isinstance(box, dict):
            sides = {
                name: number(one) if isinstance(one, str) else one for name, one in box.items()
            }
            box = list(parsing.outline(sides))
        elif isinstance(within(box, 0), list):
            box = parsing.flat(converted(box, list[list[Any]]))
        if isinstance(box, list):
            box = [number(one) if isinstance(one, str) else one for one in box]
            return {**value, "points" if len(box) == 8 else key: box}
    return value


def _is_numbers(value: Any) -> bool:
    is_four = isinstance(value, list) and len(value) == 4
    return is_four and all(isinstance(one, int | float) for one in value)


def items_of(value: Any) -> list[Any]:
    """Return the items of the only list of boxes in plain JSON, or a box alone, else none."""
    if isinstance(value, dict):
        if is_box(value):
            return [_item(value)]
        if key := next((key for key in _COLUMNS if isinstance(within(value, key, 0), list)), ""):
            return _columns(value, key)
        inner = [one for one in map(items_of, value.values()) if one]
        return inner[0] if len(inner) == 1 else []
    if not isinstance(value, list):
        return []
    if any(map(is_box, value)) or any(map(_is_numbers, value)):
        return [*map(_item, value)]
    return items_of(value[0]) if len(value) == 1 else []


def _columns(value: dict[str, Any], key: str) -> list[Any]:
    """Return the items of columns, such as Florence-2's: shapes, texts or labels, and scores."""
    items = [{**_item(shape), **({QUADS: True} if key == QUADS else {})} for shape in value[key]]
    for name, column in (("text", "texts"), ("label", "labels"), ("score", "scores")):
        cells = converted(value.get(column), list[Any] | None) or []
        if len(cells) not in (0, len(items)):
            raise FormatError(f"{len(cells)} {column} of {len(items)} {key}", "one for each")
        for item, cell in zip(items, cells, strict=False):
            if isinstance(cell, str):
                item[name] = _MARKUP.sub("", cell)
            elif cell is not None:  # the number of a class
                item["category" if name == "label" else name] = str(cell)
    return items


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
    known: tuple[Coordinates, ...] = ()
    if key == "box_2d":
        known = (Coordinates("yxyx", 1.0 if are_shares else 1000.0),)
    elif key == "bbox_2d" and are_shares:
        known = (Coordinates("xyxy", 1.0),)
    elif key == "bbox_2d":  # Qwen2.5-VL counts pixels, Qwen3-VL to 1000
        known = (_PIXELS,) if highest > 1000 else (_SHARES, _PIXELS)
    return Reading(known, f"the key '{key}' and numbers up to {highest:g}" if known else "")
