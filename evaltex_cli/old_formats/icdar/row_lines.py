"""One line of object detection: a class and numbers, or numbers, a class and
a flag (DOTA), between blanks.
"""

from __future__ import annotations

from typing import NamedTuple

from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT, NUMBER

HEADERS = ("imagesource:", "gsd:")
"""What the first lines of DOTA's files begin with."""
_LEAST_NUMBERS = 4
_MOST_WORDS = 4
_QUAD = 8


class Row(NamedTuple):
    """A line's parts."""

    label: str
    """Of the class: words, or a whole number."""
    has_words: bool
    """Whether the class is of words."""
    numbers: list[float]
    flag: str | None = None
    """Of DOTA, what follows the class after the numbers; None if the class comes first."""


def is_header(line: str) -> bool:
    """Whether a line is of the head of a file of DOTA."""
    return line.startswith(HEADERS)


def row_of(line: str) -> Row | None:
    """Return the parts of a line; None if it is no such line, as lines with a
    comma or a quote inside are not.
    """
    line = line.rstrip(", \t")
    if "," in line or '"' in line:
        return None
    fields = line.split()
    words = 0
    while words < min(len(fields), _MOST_WORDS) and not NUMBER.fullmatch(fields[words]):
        words += 1
    if words == 0 and len(fields) >= _QUAD + 2 and not NUMBER.fullmatch(fields[_QUAD]):
        numbers = _numbers(fields[:_QUAD])
        return (
            None if numbers is None else Row(" ".join(fields[_QUAD:-1]), True, numbers, fields[-1])
        )
    if words == 0 and not (fields and fields[0].isdecimal()):
        return None
    first = max(words, 1)
    numbers = _numbers(fields[first:])
    if numbers is None or len(numbers) < _LEAST_NUMBERS:
        return None
    return Row(" ".join(fields[:first]), words > 0, numbers)


def _numbers(fields: list[str]) -> list[float] | None:
    if not all(map(NUMBER.fullmatch, fields)):
        return None
    numbers = [float(field) for field in fields]
    return numbers if all(abs(number) <= COORDINATE_LIMIT for number in numbers) else None
