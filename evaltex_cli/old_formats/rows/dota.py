"""DOTA's labelTxt: ``x1 y1 x2 y2 x3 y3 x4 y4 class difficult``, one object in each line, in pixels.

The first lines of a file may be ``imagesource:...`` and ``gsd:...``. Difficult objects, not 0, are
don't care.
"""

from __future__ import annotations

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.old_formats.base import Format
from evaltex_cli.old_formats.icdar import survey as icdar_survey
from evaltex_cli.old_formats.icdar.row_evidence import Evidence
from evaltex_cli.old_formats.icdar.row_lines import is_header, row_of
from evaltex_cli.old_formats.parsed import CollectedObject
from evaltex_cli.old_formats.rows.row_files import index_rows

_LAYOUT = "x1 y1 x2 y2 x3 y3 x4 y4 class difficult"


def _read_line(line: str, evidence: Evidence) -> CollectedObject | None:
    if is_header(line):
        return None
    row = row_of(line)
    if row is None or row.flag is None:
        raise FormatError(quote(line), f"{_LAYOUT} (format dota)")
    if not row.flag.isdecimal():
        raise FormatError(f"{quote(row.flag)} as the difficult flag", f"a whole number: {_LAYOUT}")
    return CollectedObject(row.numbers, dont_care=int(row.flag) > 0)


FORMAT = Format(
    "dota",
    "DOTA's labelTxt: .txt files of quadrilaterals",
    icdar_survey.recognises("dota"),
    index_rows("dota", _read_line, lambda _: []),
    four_corners=True,
    recognised_by="lines of eight numbers, a class and a flag",
    layout=_LAYOUT,
    sample={"img_1.txt": "imagesource:GoogleEarth\ngsd:0.2\n10 10 60 10 60 30 10 30 plane 0\n"},
)
