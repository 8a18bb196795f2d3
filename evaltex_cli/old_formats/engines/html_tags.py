"""The tags and texts of an HTML document, with their places: no document type and no entity
declaration is read.

Both HTML and XHTML are taken: void elements need no end, names are in any case, attributes may be
without quotes, and the end of an element such as ``p`` may be left out. An end that belongs to no
open element is a fault.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from evaltex_cli.errors import FormatError, not_utf8, quote

_MARKUP = re.compile(r"<[A-Za-z/!?]")
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*+)((?:[^>\"']|\"[^\"]*+\"|'[^']*+')*+)>")
_ATTRIBUTE = re.compile(r"([^\s=/>\"']++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++)))?+")
_ENDS = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}
_VOID = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param"),
    *("source", "track", "wbr"),
}
_WITHOUT_TAGS = {"script", "style"}
_END_WITHOUT_TAGS = re.compile(r"</(?:script|style)\b", re.IGNORECASE)
_MAY_STAY_OPEN = {
    "html",
    "body",
    "p",
    "li",
    "dt",
    "dd",
    "tr",
    "td",
    "th",
    "thead",
    "tbody",
    "tfoot",
    "option",
}


@dataclass(slots=True)
class Tag:
    """The start of an element; a void element has no end. `text` is what the
    tag has after its name, `start` the first character of the tag.
    """

    name: str
    text: str
    at: int
    start: int = 0

    @property
    def attributes(self) -> dict[str, str]:
        """Names in lower case and values; the first value counts. They take
        far more memory than their text.
        """
        attributes: dict[str, str] = {}
        for name, *values in _ATTRIBUTE.findall(self.text):
            attributes.setdefault(name.lower(), html.unescape("".join(values)))
        return attributes


def events(text: str) -> Iterator[Tag | str | None]:
    """Yield each start of an element as a `Tag`, each end as None, and what text is between them.

    Raises
    ------
    FormatError
        When a tag is not complete, an end belongs to no open element, an element is not closed,
        or there is an entity declaration.
    """
    reader = _Reader(text)
    while reader.start < len(reader.text):
        yield from reader.next()
    yield from reader.at_end()


def tag_at(text: str, start: int, at: int) -> Tag:
    """Return the tag that starts at a character of a document, as `events` did."""
    found = _TAG.match(text, start)
    assert found is not None
    return Tag(found[2].lower(), found[3], at, start)


def decoded(data: bytes) -> str:
    """Return the text of a document; raises `FormatError` if it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, found, expected = not_utf8(error)
        raise FormatError(found, expected, at=line) from error


class _Reader:
    """Goes through a text once; `start` is the first character that is not read yet."""

    def __init__(self, text: str) -> None:
        self.text, self.start = text, 0
        self._open: list[Tag] = []
        self._line = 1

    def next(self) -> Iterator[Tag | str | None]:
        """Yield what the next stretch of text or the next tag is."""
        text, start = self.text, self.start
        if not _MARKUP.match(text, start):
            end = text.find("<", start + 1)
            self._go_to(len(text) if end < 0 else end)
            yield html.unescape(text[start : self.start])
            return
        if text[start + 1] in "!?":
            yield from self._declaration()
            return
        tag = _TAG.match(text, start)
        at = self._line
        if tag is None:
            end = min(text.find("\n", start) % (len(text) + 1), start + 60)
            raise FormatError(f"{quote(text[start:end])}, which has no end", "a tag <...>", at=at)
        self._go_to(tag.end())
        name = sys.intern(tag[2].lower())
        if tag[1]:
            yield from self._ended(name, at)
        else:
            yield from self._started(Tag(name, tag[3], at, start))

    def at_end(self) -> Iterator[None]:
        """Yield the ends that may be left out; raises `FormatError` for any other open element."""
        while self._open:
            last = self._open.pop()
            if last.name not in _MAY_STAY_OPEN:
                expected = (
                    f"{quote(f'</{last.name}>')} before the end of the file (is the file cut off?)"
                )
                raise FormatError(f"{quote(f'<{last.name}>')} without end", expected, at=last.at)
            yield None

    def _started(self, tag: Tag) -> Iterator[Tag | None]:
        name = tag.name
        if name == "p" and self._open and self._open[-1].name == "p":
            self._open.pop()
            yield None
        yield tag
        if name in _VOID or tag.text.endswith("/"):
            yield None
            return
        self._open.append(tag)
        if name in _WITHOUT_TAGS:
            end = _END_WITHOUT_TAGS.search(self.text, self.start)
            self._go_to(end.start() if end else len(self.text))

    def _ended(self, name: str, at: int) -> Iterator[None]:
        if name in _VOID:
            return
        while self._open and self._open[-1].name != name and self._open[-1].name in _MAY_STAY_OPEN:
            self._open.pop()
            yield None
        if not self._open or self._open[-1].name != name:
            expected = "an element that it closes"
            if self._open:
                expected = (
                    f"{quote(f'</{self._open[-1].name}>')}, to close line {self._open[-1].at}"
                )
            raise FormatError(quote(f"</{name}>"), expected, at=at)
        self._open.pop()
        yield None

    def _declaration(self) -> Iterator[str]:
        """Pass over a comment, an instruction or a document type; yield the
        text of a CDATA section.
        """
        text, start, at = self.text, self.start, self._line
        opening = next((opening for opening in _ENDS if text.startswith(opening, start)), "<!")
        closing = _ENDS.get(opening) or (
            "]>" if "[" in text[start : text.find(">", start) + 1] else ">"
        )
        end = text.find(closing, start + len(opening))
        if end < 0:
            raise FormatError(f"{quote(opening)} without end", f"{closing} after it", at=at)
        self._go_to(end + len(closing))
        inside = text[start + len(opening) : end]
        if opening == "<![CDATA[":
            yield inside
        elif opening == "<!" and "<!ENTITY" in inside:
            raise FormatError(
                "an entity declaration", "none (entities are not read): remove it", at=at
            )

    def _go_to(self, start: int) -> None:
        self._line += self.text.count("\n", self.start, start)
        self.start = start
