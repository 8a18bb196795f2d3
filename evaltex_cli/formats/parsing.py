"""What documents are parsed by: JSON (msgspec), XML and HTML (lxml); and shapes of numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from evaltex_cli.errors import FormatError, not_utf8, quote
from evaltex_cli.formats.options import COORDINATE_LIMIT, FINITE

Number = Annotated[float, msgspec.Meta(ge=-COORDINATE_LIMIT, le=COORDINATE_LIMIT)]
"""A coordinate, for the types that msgspec decodes."""
Point = tuple[Number, Number]
Bounds = tuple[Number, Number, Number, Number]
Flag: TypeAlias = bool | Literal[0, 1] | None
Identifier: TypeAlias = int | str
NUMBER = r"[+-]?+(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?+\d++)?+"
"""A number in text, for patterns with `re.ASCII`; possessive, so nothing is tried twice."""
_A_NUMBER = re.compile(NUMBER, re.ASCII)
_NAMES = {"array": "a list", "float": "a number", "int": "a whole number", "str": "text",
          "bool": "true or false", "object": "an object"}  # fmt: skip
_CHARSET = rb"""(?i)<(?:meta[^>]+charset|\?xml[^>]+encoding)=["']?([\w-]+)"""
_BLOCKS = ("br", "p", "div", "li", "tr", "th", "td", *(f"h{k}" for k in range(1, 7)))
_CLOSING = {b"{": b"}", b"[": b"]"}
_SIDES = (
    *("x1 y1 x2 y2", "x0 y0 x1 y1", "xmin ymin xmax ymax", "x_min y_min x_max y_max"),
    *("left top right bottom", "x y width height", "x y w h", "left top width height"),
)
"""Members of a box that is an object."""
_VERTICES = [f"{axis}{k}" for k in (1, 2, 3, 4) for axis in "xy"]
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{},]', re.DOTALL)


def plain_json(data: bytes) -> Any:
    """Return a JSON document, which may have Python's NaN and Infinity; raises `FormatError`."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(data)
    try:
        return json.loads(data)
    except UnicodeDecodeError as error:
        raise not_utf8(error) from error
    except (RecursionError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise FormatError(str(error), "well-formed JSON", at=line) from error


def converted(value: Any, kind: Any) -> Any:
    """Return a plain JSON value as a type that msgspec knows; raises `FormatError`."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        plain = str(error).replace("`", "").replace(" | ", " or ")
    message, _, path = plain.partition(" - at $")
    steps = tuple(key or int(k) for k, key in re.findall(r"\[(\d+)\]|([^.\[\]]+)", path))
    missing = re.fullmatch("Object missing required field (.*)", message)
    if missing:
        raise FormatError(f"no key {quote(missing[1])}", "it in each object", steps)
    types = re.fullmatch("Expected ([^<>]+?)(?:, got .*)?", message)
    expected = FINITE if "float" in message or "range" in message else "what the format has"
    if types:
        expected = re.sub(r"\w+", lambda name: _NAMES.get(name[0], name[0]), types[1])
    wrong = within(value, *steps)
    found = quote(wrong) if isinstance(wrong, str) else quote(json.dumps(wrong))[1:-1]
    if isinstance(wrong, dict | list):
        found = f"a list of {len(wrong)}" if isinstance(wrong, list) else "an object"
    raise FormatError(found, expected, steps)


@contextmanager
def under(*where: str | int) -> Iterator[None]:
    """Say of any `FormatError` inside that it is about the value these keys and indices lead to."""
    try:
        yield
    except FormatError as error:
        error.where = (*where, *error.where)
        raise


def within(value: Any, *steps: str | int) -> Any:
    """Return what keys and indices lead to in a plain JSON value; None if there is nothing."""
    for step in steps:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and len(value) > step else None
    return value


def nested(file: Any, value: Any, at: str, *keys: str) -> Iterator[tuple[str, Any]]:
    """Yield where each item is of lists in plain JSON that are inside one another under these keys,
    and the item. Lists may be missing or null; what is not a list or object is logged by the file.
    """
    if not keys:
        yield at, value
        return
    key, *inner = keys
    items: list[Any] = []
    with file.catching(at):
        record = converted(value, dict[str, Any])
        with under(key):
            items = converted(record.get(key), list[Any] | None) or []
    for k, item in enumerate(items):
        yield from nested(file, item, f"{at}.{key}[{k}]".removeprefix("."), *inner)


def partial_json(data: bytes) -> Any:
    """Return what is whole of the JSON value that a document begins with; None if it is no JSON."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return None
    with suppress(FormatError):
        return plain_json(data)
    end, closing = 0, b""
    for token in _TOKEN.finditer(data):
        mark = token[0]
        if mark == b",":
            end = token.start()
        elif mark[:1] != b'"':
            closing = _CLOSING[mark] + closing if mark in _CLOSING else closing[1:]
            end = token.end()
        if not closing:
            break
    with suppress(FormatError):
        return plain_json(data[:end] + closing)
    return None


def parse_xml(data: bytes) -> Any:
    """Return the first element of XML, without namespaces; raises `FormatError`."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise FormatError(str(error.msg), "well-formed XML", at=error.lineno or 1) from error
    warnings = [entry.type_name for entry in parser.error_log]
    if b"<!ENTITY" in data or "WAR_UNDECLARED_ENTITY" in warnings:  # not all get into the texts
        raise FormatError("entities of a document type", "the characters themselves")
    for element in root.iter("{*}*"):
        element.tag = element.tag.rpartition("}")[2]
    return root


def parse_html(data: bytes) -> Any:
    """Return the first element of HTML; raises `FormatError`."""
    from lxml import etree, html

    says = re.search(_CHARSET, data[:2048])
    encoding = says[1].decode("ascii") if says else "utf-8"
    try:
        utf8 = data.removeprefix(b"\xef\xbb\xbf").decode(encoding).encode()
        return html.document_fromstring(
            utf8, html.HTMLParser(encoding="utf-8", remove_comments=True)
        )
    except UnicodeDecodeError as error:
        raise not_utf8(error) from error
    except (etree.ParserError, LookupError, ValueError) as error:
        raise FormatError(str(error), "HTML in UTF-8") from error


def html_text(markup: str) -> str:
    """Return the text that HTML shows, with single blanks between words and between blocks."""
    root = parse_html(f"<div>{markup}</div>".encode())
    for element in root.iter(*_BLOCKS):
        element.tail = f" {element.tail or ''}"
    return " ".join(root.text_content().split())


def with_lines(elements: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Return elements with their lines, for `File.each`."""
    return ((element.sourceline, element) for element in elements)


def attribute(element: Any, name: str, default: float | None = None) -> float:
    """Return an attribute of an element, or what is in a child of that name, as a number, or the
    default if it is missing or empty; raises `FormatError` with the element's line.
    """
    text = (element.get(name) or element.findtext(name) or "").strip()
    if not text and default is not None:
        return default
    if not text:
        raise FormatError(f"{element.tag} without {name}", "a number there", at=element.sourceline)
    try:
        return number(text)
    except FormatError as error:
        raise FormatError(f"{name} {error.found}", error.expected, at=element.sourceline) from error


def attributes(element: Any, *names: str) -> list[float]:
    """Return attributes or children of an element that are numbers; raises as `attribute`."""
    return [attribute(element, name) for name in names]


def number(text: str) -> float:
    """Return a finite number in text; raises `FormatError` for anything else, NaN among it."""
    value = float(text) if _A_NUMBER.fullmatch(text.strip()) else math.nan
    if not abs(value) <= COORDINATE_LIMIT:
        raise FormatError(quote(text.strip()), FINITE)
    return value


def numbers(text: str) -> list[float]:
    """Return the numbers of a text, between commas, blanks or both; raises `FormatError`."""
    return [number(part) for part in re.split(r"\s*,\s*|\s+", text.strip())] if text.strip() else []


def flat(vertices: Iterable[Sequence[float]]) -> list[float]:
    """Return x1, y1, x2, y2, ... of vertices."""
    return [value for vertex in vertices for value in vertex]


def confidence(value: Any) -> float | None:
    """Return a confidence in plain JSON, a number or text; raises `FormatError`."""
    read = converted(value, float | str | None)
    return number(read) if isinstance(read, str) else read


def outline(value: Any) -> Sequence[float]:
    """Return a shape in plain JSON as an object's points; raises `FormatError`.

    It is an object of `_VERTICES` or `_SIDES` (or Left, ...), or a list, perhaps in a list: of
    numbers, pairs, or objects of x and y (or X and Y; a missing one is 0). Two vertices are a box.
    """
    if isinstance(value, dict):
        sides = {key.lower(): side for key, side in value.items()}
        if "x3" in sides:
            return polygon(converted([sides.get(name) for name in _VERTICES], list[Number]))
        names = next((one for one in map(str.split, _SIDES) if sides.keys() >= {*one}), [])
        if not names:
            found = f"a box of {', '.join(map(quote, value)) or 'nothing'}"
            raise FormatError(found, "x1, y1, x2, y2, or left, top, width, height, or the like")
        numbers = converted([sides[name] for name in names], Bounds)
        return box(*numbers) if names[2] in ("width", "w") else list(numbers)
    first = within(value, 0)
    if isinstance(first, list) and len(value) == 1 and len(first) > 2:
        return outline(first)
    if isinstance(first, dict):
        vertices = converted(value, list[dict[str, Any]])
        value = [[v.get(x) or v.get(x.upper()) or 0.0 for x in "xy"] for v in vertices]
    in_pairs = isinstance(first, dict | list)
    points = flat(converted(value, list[Point])) if in_pairs else converted(value, list[Number])
    return around(points) if len(points) == 4 else polygon(points)


def polygon(vertices: Sequence[float], *, dont_care: bool = False) -> Sequence[float]:
    """Return x1, y1, x2, y2, ... as an object's points; raises `FormatError` for fewer than three
    vertices of text that counts, and repeats those of a don't care.
    """
    count, is_odd = divmod(len(vertices), 2)
    if is_odd:
        raise FormatError(f"{len(vertices)} coordinates", "an even count: x1,y1,x2,y2,...")
    if count < 3 and not (dont_care and count):
        raise FormatError(f"{count} vertices", "three or more")
    return vertices if count > 2 else [*vertices, *vertices[-2:], *vertices[-2:]][:6]


def box(x: float, y: float, width: float, height: float) -> tuple[float, float, float, float]:
    """Return x, y, width, height as points; raises `FormatError` for a negative side."""
    if width < 0 or height < 0:
        raise FormatError(f"width {width:g}, height {height:g}", "both at least 0")
    return x, y, x + width, y + height


def around(points: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the box around x1, y1, x2, y2, ..."""
    xs, ys = points[::2], points[1::2]
    return min(xs), min(ys), max(xs), max(ys)


def turned(values: Sequence[float], angle: float, pivot: Point | None = None) -> list[float]:
    """Return the corners of a box x0, y0, x1, y1, from its upper left one on, that is turned by an
    angle in radians, clockwise as seen, around a pivot or its centre.
    """
    x0, y0, x1, y1 = values
    pivot_x, pivot_y = pivot or ((x0 + x1) / 2, (y0 + y1) / 2)
    cosine, sine = math.cos(angle), math.sin(angle)
    corners = [(x - pivot_x, y - pivot_y) for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))]
    return flat(
        (pivot_x + right * cosine - down * sine, pivot_y + right * sine + down * cosine)
        for right, down in corners
    )


def ellipse(x: float, y: float, across: float, down: float, angle: float = 0.0) -> list[float]:
    """Return the box around an ellipse of a centre and two radii, turned by an angle in radians."""
    cosine, sine = math.cos(angle), math.sin(angle)
    right = math.hypot(across * cosine, down * sine)
    below = math.hypot(across * sine, down * cosine)
    return [x - right, y - below, x + right, y + below]
