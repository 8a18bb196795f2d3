"""The lines of text."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.records import Ints

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
