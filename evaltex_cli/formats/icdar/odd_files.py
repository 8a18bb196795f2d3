"""Files that are of another format than the others: few lines, which the survey of all lines does
not decide by.

A file is judged by its first lines. It is odd if half of them or more are of a format of their own,
have the numbers of a quadrilateral or polygon in the place of a box (of a polygon, in that of a
quadrilateral), or have a class and a confidence before four numbers.
"""

from __future__ import annotations

from itertools import islice

from evaltex_cli.errors import FaultLog, FormatError, counted
from evaltex_cli.formats.files.numbers import parse_number
from evaltex_cli.formats.icdar.lines import Syntax, lines_of
from evaltex_cli.formats.icdar.row_lines import row_of
from evaltex_cli.formats.icdar.shapes import LineShape, survey_line
from evaltex_cli.formats.icdar.survey import Survey

_FIRST_LINES = 20
_MORE_NUMBERS = 4
"""So many numbers after the coordinates are of vertices; a transcription has
fewer at its beginning.
"""
_HEAD_BYTES = 1 << 16


def add_faults(surveyed: Survey, syntax: Syntax, faults: FaultLog) -> None:
    """Add a fault for every file that is of another format than the one that
    its input is read as.
    """
    may_be = surveyed.count(lambda shape: shape.mark == "rows" or _other(shape, syntax) is not None)
    if not 0 < 2 * may_be < surveyed.lines.total():  # of most lines, the format was named
        return
    entries = surveyed.entries
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        lines = list(islice(lines_of(data[:_HEAD_BYTES].decode("utf-8", "replace")), _FIRST_LINES))
        found = [
            (number, what) for number, line in lines for what in [_other_line(line, syntax)] if what
        ]
        if found and 2 * len(found) >= len(lines):
            number, what = found[0]
            expected = (
                f"{syntax.layout()}, as in most files; give it as an input of its own, or"
                " take it out"
            )
            faults.add(entries.place(entry), number, what, expected)


def add_unread(surveyed: Survey, faults: FaultLog) -> None:
    """Add a fault for lines of tracks or of key points, by the first file
    that has any; they fit polygons by chance.
    """
    entry = next((entry for entry in surveyed.entries.entries if entry.size), None)
    if entry is None:
        return
    data = surveyed.entries.read(entry)[:_HEAD_BYTES]
    lines = [line for _, line in islice(lines_of(data.decode("utf-8", "replace")), _FIRST_LINES)]
    try:
        rows = [list(map(parse_number, line.replace(",", " ").split())) for line in lines]
    except FormatError:
        return
    place = surveyed.entries.place(entry)
    if rows and all(map(_is_track, rows)):
        found = "lines of a frame, a track, x, y, width, height and more (MOTChallenge)"
        faults.add(
            place,
            1,
            found,
            "one file for each image; write the boxes of each frame to a file of its own",
        )
    if rows and all(map(_has_key_points, rows)):
        found = "lines of a class, a box and key points with a visibility (YOLO's poses)"
        faults.add(
            place,
            1,
            found,
            "boxes alone: class x_centre y_centre width height; leave out the key points",
        )


def _is_track(row: list[float]) -> bool:
    """Whether a line of numbers is of MOTChallenge, whose results end in -1, -1, -1."""
    return len(row) == 10 and row[7:] == [-1, -1, -1]


def _has_key_points(row: list[float]) -> bool:
    if len(row) < 8 or (len(row) - 5) % 3 or any(value not in (0, 1, 2) for value in row[7::3]):
        return False
    fractions = [*row[1:5], *row[5::3], *row[6::3]]
    return (
        row[0] == int(row[0])
        and all(0 <= value <= 1 for value in fractions)
        and any(v % 1 for v in row[1:5])
    )


def _other_line(line: str, syntax: Syntax) -> str | None:
    row = row_of(line)
    if (
        row is not None
        and len(row.numbers) == 5
        and 0 <= row.numbers[0] <= 1
        and not syntax.own_tail
    ):
        return "a class, a confidence and four numbers"
    return _other(survey_line(line).shape, syntax)


def _other(shape: LineShape, syntax: Syntax) -> str | None:
    """Say what a line is, if it is clearly of another format."""
    if shape.mark in ("popeval", "ctw1500", "mlt") and shape.mark != syntax.format:
        return f"a line of the format {shape.mark}"
    if syntax.coordinates is None or syntax.format == "ctw1500-offsets":
        return None
    if shape.numbers >= syntax.coordinates + syntax.confidences + _MORE_NUMBERS:
        return counted(shape.numbers, "{count} numbers at the start of the line")
    return None
