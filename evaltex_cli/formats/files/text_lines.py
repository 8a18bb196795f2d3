"""The lines of one image's text, and bounds on it, checked before arrays of
many times its size are made of it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FormatError
from evaltex_cli.records import Ints

MAX_OBJECTS = 250_000
"""Most objects of an image, and most lines that are not blank: a hundred
times a crowded page of characters.
"""
MAX_LINE_BYTES = 1 << 20
"""Longest line: a polygon of 50,000 vertices."""
MANY_LINES = 1 << 16
"""A text of more lines than this is rid of its blank ones."""
_NEWLINE = ord("\n")
_NOT_BLANK = rb"\S[^\n]*"


def with_newlines(data: bytes) -> bytes:
    r"""Return text whose lines all end in a carriage return alone, as those of old Macs do, with
    newlines in its place.

    Text with any newline, and what has a NUL and so is no text, is returned as it is; so the length
    never changes.
    """
    if b"\r" in data and b"\n" not in data and b"\0" not in data:
        return data.replace(b"\r", b"\n")
    return data


def lines(data: bytes) -> Iterator[str]:
    """Return the lines of text in UTF-8 with their ends, whatever these are, in little memory."""
    return io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", newline="")


def refuse_long_line(text: bytes) -> None:
    """Refuse text with a line longer than `MAX_LINE_BYTES`."""
    start = 0
    while len(text) - start > MAX_LINE_BYTES:
        end = text.rfind(b"\n", start, start + MAX_LINE_BYTES + 1)
        if end < 0:
            found = f"a line of more than {MAX_LINE_BYTES} bytes"
            line = text.count(b"\n", 0, start) + 1
            raise FormatError(found, "one object in each line", at=line)
        start = end + 1


def refuse_excess(text: bytes) -> None:
    """Refuse an image's text with a long line, or with more than `MAX_OBJECTS` lines that are not
    blank.
    """
    if len(text) < min(MAX_LINE_BYTES, MAX_OBJECTS):
        return
    refuse_long_line(text)
    if text.count(b"\n") < MAX_OBJECTS:
        return
    for count, (number, _) in enumerate(_lines_of(text), 1):
        if count > MAX_OBJECTS:
            found = f"more than {MAX_OBJECTS} lines that are not blank in one image"
            expected = "fewer; remove repeated objects, or divide the image"
            raise FormatError(found, expected, at=number + 1)


def without_blank_lines(text: bytes) -> tuple[bytes, Ints | None]:
    """Return a text of very many lines without its blank ones, and the number of each line that is
    left, from 0.

    Returns
    -------
    bytes
        The text itself if it has no more than `MANY_LINES` lines, or no blank one.
    (lines,) int64 or None
        None where no line was left out.
    """
    if len(text) <= MANY_LINES or text.count(b"\n") <= MANY_LINES:
        return text, None
    numbers = np.fromiter((number for number, _ in _lines_of(text)), np.int64)
    if len(numbers) == text.removesuffix(b"\n").count(b"\n") + 1:
        return text, None
    return b"".join(text[line] + b"\n" for _, line in _lines_of(text)), numbers


def numbered_lines(text: bytes) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, decoded, without byte order marks,
    and their numbers, from 0.
    """
    for number, line in _lines_of(text):
        yield number, text[line].decode("utf-8", "replace").lstrip("\ufeff").rstrip("\r")


def _lines_of(text: bytes) -> Iterator[tuple[int, slice]]:
    """Yield the lines that are not blank, and their numbers."""
    number = end = 0
    for rest in re.finditer(_NOT_BLANK, text):
        start = max(text.rfind(b"\n", end, rest.start()) + 1, end)
        number += text.count(b"\n", end, start)
        end = rest.end()
        yield number, slice(start, end)


def line_ends(data: NDArray[np.uint8]) -> Ints:
    """Positions of the newlines of a buffer that ends with one."""
    return np.flatnonzero(data == _NEWLINE)
