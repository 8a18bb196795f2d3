"""Records of words in plain JSON: where in a record are the shape, the text and the confidence.

A path such as ``pages.0.words`` leads to a value; ``*`` is the first key of an object. Several
paths in one text have blanks between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import File, Head, Image, Side, TextObject, without_finer
from evaltex_cli.formats.parsing import (
    Flag,
    Number,
    confidence,
    converted,
    nested,
    outline,
    under,
    within,
)

Part = TypeVar("Part")
Records = Iterable[tuple[str, Any]]
"""Where each record is in a document, and the record."""
Read = Callable[[Any], TextObject]
WORD_OR_LINE = ("word", "line")


def follow(value: Any, path: str) -> Any:
    """Return what a path leads to in plain JSON; None if there is nothing."""
    for step in path.split("."):
        if isinstance(value, list):
            value = within(value, int(step)) if step.isdigit() else None
        else:
            key = next(iter(value), "") if step == "*" and isinstance(value, dict) else step
            value = within(value, key)
    return value


def has(*alternatives: str) -> Callable[[Head], str]:
    """Return what recognises JSON by paths, of which all of an alternative lead to something."""

    def recognise(head: Head) -> str:
        for paths in alternatives:
            if all(follow(head.json, path) is not None for path in paths.split()):
                return f"the key{'s' * (' ' in paths)} {paths.replace(' ', ' and ')}"
        return ""

    return recognise


def expect(record: Any, *keys: str) -> None:
    """Refuse what has keys, but none of these; what has none is an answer without text."""
    others = [quote(key) for key in converted(record, dict[str, Any])]
    if others and not any(key in record for key in keys):
        raise FormatError(f"no key {quote(keys[0])}", f"it next to {', '.join(others[:6])}")


def listed(file: File, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the records of the list that a document has under a key; raises `FormatError`."""
    document = file.json(dict[str, Any])
    expect(document, key)
    yield from nested(file, document, "", key)


def is_shape(value: Any) -> bool:
    """Whether a value in plain JSON is a list of points."""
    return isinstance(within(value, 0), list) and not isinstance(within(value, 0, 0), list)


class Keys(NamedTuple):
    """The paths to the parts of an object in its record; the first that leads to a value counts."""

    shape: str
    text: str = "text"
    confidence: str = "confidence"
    dont_care: str = ""
    """Flags, each of which makes an object don't care."""
    no_text: str = ""
    """What a don't care object has for its text."""
    certain: float = 1.0
    """The confidence of what is certain."""

    def read(self, record: Any, side: Side = "det") -> TextObject:
        """Return the object of a record, or a shape alone, in plain JSON; raises `FormatError`."""
        if is_shape(record):
            return TextObject(outline(record))
        converted(record, dict[str, Any] | list[Any])
        points = _part(record, self.shape, outline)
        if points is None:
            raise FormatError(f"no {self.shape.replace(' ', ' or ')}", "it in each object")
        text = _part(record, self.text, text_of) or ""
        flags = [converted(within(record, flag), Flag) for flag in self.dont_care.split()]
        dont_care = side == "gt" and (any(flags) or text in self.no_text.split())
        score = _part(record, self.confidence, confidence)
        return TextObject(points, text, dont_care, score and score / self.certain)


def _part(record: Any, paths: str, read: Callable[[Any], Part]) -> Part | None:
    for path in paths.split():
        value = follow(record, path)
        if value not in (None, "", []):
            with under(*(int(step) if step.isdigit() else step for step in path.split("."))):
                return read(value)
    return None


def text_of(value: Any) -> str:
    """Return a text in plain JSON, empty for null; raises `FormatError`."""
    return converted(value, str | None) or ""


def joined_texts(items: Any, key: str, between: str = "") -> str:
    """Return the texts under a key of items in plain JSON; raises `FormatError`."""
    listed = converted(items, list[dict[str, Any]] | None) or []
    return between.join(text_of(item.get(key)) for item in listed)


def size_of(record: Any) -> tuple[float, float]:
    """Return the height and width in a record, 0 if they are missing; raises `FormatError`."""
    sides = (within(record, key) for key in ("height", "width"))
    height, width = (converted(side, Number | None) or 0.0 for side in sides)
    return height, width


def read_words(file: File, lines: Records, read: Read, side: Side, level: str) -> list[TextObject]:
    """Read the words of lines, in ground truth with the line as their region; or read the lines."""
    objects = []
    for number, (at, line) in enumerate(lines, 1):
        if level == "line":
            objects += file.each([(at, line)], read)
            continue
        words = list(nested(file, line, at, "words"))
        file.notes[without_finer(side)] += not words and bool(within(line, "text"))
        for word in file.each(words, read):
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
