"""Text files of one image: recognised by their first lines, because EvaLTex's
are text files of many images.
"""

from __future__ import annotations

import re
from pathlib import Path

from evaltex_cli.runtime import input_files

_HEAD_BYTES = 4096
_NUMBER = rb"[+-]?+(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+"
_NUMBERS = re.compile(
    rb"[ \t]*+%b(?:[ \t]*+,[ \t]*+%b|[ \t]++%b){3,}" % (_NUMBER, _NUMBER, _NUMBER)
)
_AFTER_CLASS = re.compile(
    rb"(?:[^\s,]++[ \t]++){1,4}?%b(?:[ \t]++%b){3,}+[ \t\r]*+" % (_NUMBER, _NUMBER)
)
_EVALTEX = re.compile(
    rb'[ \t]*+[0-9]++[ \t]*+,[ \t]*+(?:[0-9.]++[ \t\r]*+\Z|(?:[0-9]++[ \t]*+,[ \t]*+)?+")'
)
"""The size of an image, or the beginning of an object."""
_OTHERS = re.compile(rb"imagesource:|gsd:|[ \t]*+x:[ \t]*+\[\[")


def begins_with_rows(beginning: bytes) -> bool:
    """Whether text begins with lines of numbers, perhaps after a class, and not with the name of an
    image.

    Parameters
    ----------
    beginning : bytes
        Of a text file, at least its first two lines that are not blank.
    """
    lines = [line for line in beginning.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    if not lines:
        return False
    return _OTHERS.match(lines[0]) is not None or (
        _is_row(lines[0]) and not any(map(_EVALTEX.match, lines[1:2]))
    )


def _is_row(line: bytes) -> bool:
    return _NUMBERS.match(line) is not None or _AFTER_CLASS.fullmatch(line) is not None


def is_file_of_rows(path: Path) -> bool:
    """Whether a path is a text file, perhaps packed by gzip, that begins with such lines."""
    return path.is_file() and begins_with_rows(input_files.beginning(path, _HEAD_BYTES))
