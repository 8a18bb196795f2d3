"""The exact parser of one line of an EvaLTex .txt file: slow, and the only one that explains
faults.

Ground truth: ``ID,region,"transcription",reject,x,y,width,height``; detections:
``ID,"transcription",x,y,width,height``. In place of the last four numbers a polygon
``x1,y1,x2,y2,...`` may stand (an even count of six or more).
"""

from __future__ import annotations

import re

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.files.numbers import NUMBER, parse_number
from evaltex_cli.old_formats.lines import ParsedLine

_NUMBER_LIKE = "(?ai)" + NUMBER.pattern + r"|\s*[+-]?(?:nan|inf|infinity)\s*"
_INTEGER = re.compile(r"\s*[+-]?\d{1,18}\s*", re.ASCII)
_PLAIN_SIZE = re.compile(r"([1-9]\d{0,8}),([1-9]\d{0,8})", re.ASCII)
_QUOTED = {
    "gt": re.compile(r'[^,"]*,[^,"]*,\s*"'),
    "det": re.compile(r'[^,"]*,\s*"'),
}
LAYOUT = {
    "gt": 'ID,region,"transcription",t|f,x,y,width,height',
    "det": 'ID,"transcription",x,y,width,height',
}


def is_object_line(line: str, side: Side) -> bool:
    """Whether a non-blank line is an object's: quotes where the transcription
    stands, or four numbers at the end.
    """
    if _QUOTED[side].match(line):
        return True
    fields = line.rsplit(",", 4)
    return len(fields) >= 4 and all(re.fullmatch(_NUMBER_LIKE, field) for field in fields[-4:])


def parse_object_line(line: str, side: Side) -> ParsedLine:
    """Parse one object line.

    Raises
    ------
    FormatError
        With what stands there and what was expected.
    """
    leading, text, trailing = _split(line, side)
    if side == "gt":
        if not trailing or trailing[0].strip() not in ("t", "f"):
            found = f"reject flag {quote(trailing[0].strip())}" if trailing else "no reject flag"
            raise FormatError(found, "t (rejected) or f after the transcription")
        dont_care, trailing = trailing[0].strip() == "t", trailing[1:]
    else:
        dont_care = False
    ids = [_integer(field, what) for field, what in zip(leading, ("ID", "region"), strict=False)]
    return ParsedLine(_coordinates(trailing), text, dont_care, id=ids[0], region=ids[-1])


_GT_LINE = r"\s*\d+\s*,\s*\d+\s*,\s*\".*\"\s*,\s*[tf]\s*,"


def _split(line: str, side: Side) -> tuple[list[str], str, list[str]]:
    """Return the fields before the transcription, the transcription, the fields after it."""
    leading_count = 2 if side == "gt" else 1
    quoted = _QUOTED[side].match(line)
    if quoted:
        first, last = quoted.end(), line.rindex('"')
        after = line[last + 1 :].strip() if last >= first else ""
        if not after.startswith(","):
            raise FormatError(
                f"no closing quote and comma after the transcription in {quote(line)}", LAYOUT[side]
            )
        return line[: first - 1].split(",")[:leading_count], line[first:last], after[1:].split(",")
    if side == "det" and re.match(_GT_LINE, line):
        raise FormatError(f"a ground-truth line {quote(line)}", LAYOUT[side])
    fields = line.split(",")
    if len(fields) < leading_count + (6 if side == "gt" else 5):
        raise FormatError(f"{len(fields)} fields in {quote(line)}", LAYOUT[side])
    text_stop = _unquoted_text_stop(fields, side)
    text = ",".join(fields[leading_count:text_stop]).strip()
    return fields[:leading_count], text, fields[text_stop:]


def _unquoted_text_stop(fields: list[str], side: Side) -> int:
    """Return the index of the first field after an unquoted transcription."""
    numbers = 0
    while numbers < len(fields) - 1 and re.fullmatch(_NUMBER_LIKE, fields[-1 - numbers]):
        numbers += 1
    first_number = len(fields) - numbers
    if side == "gt":
        return max(first_number - 1, 3)
    if len(fields) == 6:
        return 2
    if first_number >= 2 and (numbers == 4 or (numbers >= 6 and numbers % 2 == 0)):
        return first_number
    raise FormatError(
        "an unquoted transcription that cannot be separated from the numbers in"
        f" {quote(','.join(fields))}",
        'the transcription in double quotes: ID,"transcription",x,y,width,height',
    )


def _integer(field: str, what: str) -> int:
    if not _INTEGER.fullmatch(field):
        raise FormatError(f"{what} {quote(field.strip())}", f"a whole number as {what}")
    return int(field)


def _coordinates(fields: list[str]) -> tuple[float, ...]:
    values = tuple(parse_number(field) for field in fields)
    if len(values) != 4 and (len(values) < 6 or len(values) % 2):
        raise FormatError(
            f"{len(values)} coordinates",
            "x,y,width,height, or an even count of six or more: the vertices of a polygon",
        )
    if len(values) == 4:
        x, y, width, height = values
        check_box(x, y, width, height)
        return x, y, x + width, y + height
    return values


def check_box(x: float, y: float, width: float, height: float) -> None:
    """Refuse a box without area in double precision.

    Raises
    ------
    FormatError
        When width or height is not above 0, or too small to move the coordinate.
    """
    for value, start, name in ((width, x, "width"), (height, y, "height")):
        if value <= 0:
            raise FormatError(f"{name} {value:g}", f"a {name} above 0")
        if start + value <= start:
            raise FormatError(
                f"{name} {value:g} at coordinate {start:g}",
                f"a {name} that is not lost in rounding",
            )


def parse_size_line(line: str) -> tuple[float, float]:
    """Parse ``height,width``.

    Raises
    ------
    FormatError
        When the line is not two numbers above 0.
    """
    plain = _PLAIN_SIZE.fullmatch(line)
    if plain:
        return float(plain[1]), float(plain[2])
    fields = line.split(",")
    if len(fields) != 2:
        raise FormatError(f"{quote(line)}", "the image's size, height,width, after its name")
    height, width = (parse_number(field) for field in fields)
    if height <= 0 or width <= 0:
        raise FormatError(f"{quote(line)}", "a height and a width above 0")
    return height, width
