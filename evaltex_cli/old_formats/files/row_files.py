"""Text files of one image: recognised by their first lines, because EvaLTex's
are text files of many images.
"""

from __future__ import annotations

import re
from pathlib import Path

from evaltex_cli.old_formats.files import packed

FEW_FILES = 16
"""A folder or archive of more text files than this has one for each image."""
_HEAD_BYTES = 4096
_NUMBER = rb"[+-]?+(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+"
_FEWEST_NUMBERS = 4
_NUMBERS = rb"[ \t]*+%b(?:[ \t]*+,[ \t]*+%b|[ \t]++%b){3,}" % (_NUMBER, _NUMBER, _NUMBER)
_AFTER_CLASS = rb"(?:[^\s,]++[ \t]++){1,4}?%b(?:[ \t]++%b){3,}+[ \t\r]*+" % (_NUMBER, _NUMBER)
_EVALTEX = rb'[ \t]*+[0-9]++[ \t]*+,[ \t]*+(?:[0-9.]++[ \t\r]*+\Z|(?:[0-9]++[ \t]*+,[ \t]*+)?+")'
"""The size of an image, or the beginning of an object."""
_OTHERS = rb"imagesource:|gsd:|[ \t]*+x:[ \t]*+\[\["


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
    return re.match(_OTHERS, lines[0]) is not None or (
        _is_row(lines[0]) and not any(re.match(_EVALTEX, line) for line in lines[1:2])
    )


def _is_row(line: bytes) -> bool:
    if len(line.replace(b",", b" ").split()) < _FEWEST_NUMBERS:
        return False  # without compiling the patterns, which takes longer than a small run reads
    return re.match(_NUMBERS, line) is not None or re.fullmatch(_AFTER_CLASS, line) is not None


def is_file_of_rows(path: Path) -> bool:
    """Whether a path is a text file, perhaps packed by gzip, that begins with such lines."""
    return path.is_file() and begins_with_rows(packed.beginning(path, _HEAD_BYTES))
