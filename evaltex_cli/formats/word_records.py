"""Records of words in plain JSON: where in a record are the shape, the text and the confidence.

A path such as ``pages.0.words`` leads to a value; ``*`` is the first key of an object. Several
paths in one text have blanks between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats import parsing
from evaltex_cli.formats.base import File, Head, Image, Side, TextObject, without_finer
from evaltex_cli.formats.parsing import Number, converted, nested, within

Records = Iterable[tuple[str, Any]]
"""Where each record is in a document, and the record."""


def follow(value: Any, path: str) -> Any:
    """Return what a path leads to in plain JSON; None if there is nothing."""
    for step in path.split("."):
        key = next(iter(value), "") if step == "*" and isinstance(value, dict) else step
        value = within(value, int(key) if isinstance(value, list) and key.isdigit() else key)
    return value


def has(*alternatives: str) -> Callable[[Head], str]:
    """Return what recognises JSON by paths, of which all of an alternative lead to something."""

    def recognise(head: Head) -> str:
        for paths in alternatives:
            if all(follow(head.json, path) is not None for path in paths.split()):
                return f"the key{'s' * (' ' in paths)} {paths.replace(' ', ' and ')}"
        return ""

    return recognise


def expect(record: Any, *keys: str) -> str:
    """Return the first of these keys that a record has; only one without any key may have none."""
    others = converted(record, dict[str, Any])
    key = next((key for key in keys if key in record), "")
    if others and not key:
        shown = ", ".join(map(quote, list(others)[:6]))
        raise FormatError(f"no key {quote(keys[0])}", f"it next to {shown}")
    return key


def listed(file: File, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the records of the list that a document has under a key; raises `FormatError`."""
    document = file.json(dict[str, Any])
    yield from nested(file, document, "", expect(document, key))


def is_shape(value: Any) -> bool:
    """Whether a value in plain JSON is a list of points."""
    return isinstance(within(value, 0), list) and not isinstance(within(value, 0, 0), list)


class Keys(NamedTuple):
    """The paths to the parts of an object in its record; the first that leads to a value counts."""

    shape: str
    text: str = "text"
    confidence: str = "confidence"
    dont_care: str = ""
    no_text: str = ""
    """`dont_care` and `no_text`: flags and texts, each of which makes an object don't care."""
    certain: float = 1.0
    """The confidence of what is certain."""
    other_text: Callable[[Any], str] = lambda record: ""
    """What returns the text of a record without any under these paths."""
    label: str = ""

    def read(self, record: Any, side: Side = "det") -> TextObject:
        """Return the object of a record, or a shape alone, in plain JSON; raises `FormatError`."""
        if is_shape(record):
            return TextObject(parsing.outline(record))
        points = _part(record, self.shape, parsing.outline)
        if points is None:
            raise FormatError(f"no {self.shape.replace(' ', ' or ')}", "it in each object")
        text = _part(record, self.text, partial(converted, kind=str)) or self.other_text(record)
        flags = [converted(within(record, flag), parsing.Flag) for flag in self.dont_care.split()]
        dont_care = side == "gt" and (any(flags) or text in self.no_text.split())
        score = _part(record, self.confidence, parsing.confidence)
        label = _part(record, self.label, partial(converted, kind=str)) or ""
        return TextObject(points, text, dont_care, score and score / self.certain, label=label)


def _part(record: Any, paths: str, read: Callable[[Any], Any]) -> Any:
    for path in paths.split():
        value = follow(record, path)
        if value not in (None, "", []):
            with parsing.under(path):
                return read(value)
    return None


def joined_texts(key: str, text: str, between: str, record: Any) -> str:
    """Return the texts of the items that a record has under a key; raises `FormatError`."""
    items = converted(within(record, key), list[dict[str, Any]] | None) or []
    return between.join(converted(item.get(text), str | None) or "" for item in items)


def size_of(record: Any, *keys: str) -> tuple[float, float]:
    """Return the height and width in a record, 0 if they are missing; raises `FormatError`."""
    keys = keys or ("height", "width")
    height, width = (converted(within(record, key), Number | None) or 0 for key in keys)
    return height, width


def in_page_unit(objects: list[TextObject], width: Any, height: Any) -> Image:
    """Return a page whose width and height are in the unit of the coordinates, such as inches or
    points of a PDF, in fractions of it; raises `FormatError` for a page without a size.
    """
    sides = converted([width, height], parsing.Point)
    if min(sides) <= 0:
        raise FormatError("a page of width or height 0", "both above 0")
    for one in objects:
        one.points = [value / sides[k % 2] for k, value in enumerate(one.points)]
    return Image("", objects, fractions=True)


def read_words(file: File, lines: Records, keys: Keys, side: Side, level: str) -> list[TextObject]:
    """Read the words of lines, in ground truth with the line as their region; or read the lines."""
    if level == "line":
        return file.each(lines, keys.read)
    objects = []
    for number, (at, line) in enumerate(lines, 1):
        words = list(nested(file, line, at, "words"))
        file.notes[without_finer(side)] += not words and bool(within(line, "text"))
        for word in file.each(words, keys.read):
            word.region = number if side == "gt" else None
            objects.append(word)
    return objects


def read_pages(file: File, pages: Records, read: Callable[[str, Any], Image]) -> Iterator[Image]:
    """Yield the image that `read` returns of each page, with its name; one if there is no page."""
    pages = list(pages)
    if not pages:
        yield Image(file.stem)
    for (at, page), name in zip(pages, file.page_names(len(pages)), strict=True):
        with file.catching(at):
            image = read(at, page)
            image.name = name
            yield image
