"""Files that are of another format than the others: few lines, which the survey of all lines does
not decide by.

A file is judged by its first lines. It is odd if half of them or more are of a format of their own,
have the numbers of a quadrilateral or polygon in the place of a box (of a polygon, in that of a
quadrilateral), or have a class and a confidence before four numbers.
"""

from __future__ import annotations

from itertools import islice

from evaltex_cli.errors import FaultLog, counted
from evaltex_cli.old_formats.icdar.lines import Syntax, lines_of
from evaltex_cli.old_formats.icdar.row_lines import row_of
from evaltex_cli.old_formats.icdar.shapes import LineShape, survey_line
from evaltex_cli.old_formats.icdar.survey import Survey

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
