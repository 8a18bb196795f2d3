r"""Folders and .zip archives of ICDAR-style .txt files: one file an image, one object a line.

========= =========================== ==========================================================
format    coordinates                 sets
========= =========================== ==========================================================
`LTRB`    ``x0,y0,x1,y1``             ICDAR 2003 to 2013
`QUAD`    ``x1,y1,...,x4,y4``         ICDAR 2015
`POLYGON` ``x1,y1,...,xn,yn``         Total-Text
========= =========================== ==========================================================

Some sets have lines of their own form, detected by what is in 95 % of the lines or more:

- `MLT`: ``x1,y1,...,x4,y4,script,text``, by a script's name (MLT 2017, 2019)
- `RCTW`: ``x1,y1,...,x4,y4,difficult,"text"``, by 0 or 1 before a quote, not always 1 (RCTW-17)
- `CTW1500`: ``x1,y1,...,xn,yn,####text``, by ``####`` after the numbers
- `CTW1500_OFFSETS`: ``x0,y0,x1,y1,dx1,dy1,...,dx14,dy14``, by 32 numbers, the offsets within the
  box
- `POPEVAL`: ``x1 y1 x2 y2 ...##::text``, by ``##::`` after the numbers
- `BOX_POLYGON`: ``x0,y0,x1,y1`` and ``x1,y1,...,xn,yn``, by four and more numbers, each in 5 % or
  more (CVAT)

There the transcription is all that follows, as it stands (in `RCTW` without its quotes). A script's
name is dropped. Don't care is ``###`` and, in `RCTW`, difficult. `CTW1500` is also what AdelaiDet's
family has for every data set; its detections may have a confidence before ``####``. What
`total_text` and `msra_td500` read is recognised by the same pass. The rest of this
text is on the usual three.

After the coordinates a ground-truth line has the transcription, a detection optionally a
confidence, then optionally a transcription. Confidences are in [0, 1]; of others the scale is
reported (`confidences`). The transcription is everything after the comma, blanks and further commas
included; double quotes around it are taken off, and ``\\``, ``\"`` in them mean ``\``, ``"``; no
number may be between coordinates and quotes. Exactly ``###`` in ground truth is don't care. Blanks
may replace the commas up to the transcription. Text is UTF-8 (byte order marks at the start of any
line are dropped), lines end in LF, CRLF or (all of a file) CR, blank lines are skipped.

Coordinates are continuous and stand as they are. A box's corners are in order, though it may have
no area. A polygon has three vertices or more; one of text ``###`` may have fewer (Total-Text has
two such), and then no area.

What no single line shows is inferred from all lines of the archive together (`icdar.survey`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import FaultLog, not_utf8
from evaltex_cli.old_formats.base import Format, ImageText, Indexer, Place, ReadImages, Side, Source
from evaltex_cli.old_formats.files.entries import Entries
from evaltex_cli.old_formats.icdar import odd_files
from evaltex_cli.old_formats.icdar.bulk_shapes import is_dont_care
from evaltex_cli.old_formats.icdar.lines import (
    COORDINATES,
    HAS_BOXES,
    Syntax,
    bare_line,
    parse_line,
)
from evaltex_cli.old_formats.icdar.survey import UTF8_BOM, numbers_of_lines, recognises, survey
from evaltex_cli.old_formats.lines import LineColumns, LineFormat, read_lines
from evaltex_cli.old_formats.plain_lines import Bytes, PlainLines, are_blanks, plain_lines
from evaltex_cli.records import Bools, Ints

_QUOTE, _COMMA, _BACKSLASH = b'",\\'


def index(name: str) -> Indexer:
    """Return what finds the images of a folder or archive, and what their lines hold.

    It raises `InputError` when it cannot be read, is damaged or too large, or has no .txt file.
    """

    def find(path: Path, side: Side, faults: FaultLog) -> Source:
        surveyed = survey(path)
        entries = surveyed.entries
        warnings = list(entries.warnings)
        entries.refuse_none(side, ".txt")
        warnings += [f"{path.name}: {warning}" for warning in surveyed.warnings(name, side)]
        entries.refuse_bad_names(faults)
        syntax = surveyed.syntax(name, side)
        odd_files.add_faults(surveyed, syntax, faults)
        return Source(
            path=str(path),
            format=name,
            sha256=surveyed.sha256,
            names=[entry.image for entry in entries.entries],
            weights=np.array([entry.size for entry in entries.entries], np.int64),
            content=_Lines(entries, syntax),
            warnings=tuple(warnings),
        )

    return find


class _Lines(NamedTuple):
    """The lines of some entries, one image each; a `base.Content`."""

    entries: Entries
    syntax: Syntax

    def part(self, positions: Ints) -> _Lines:
        """See `base.Content`."""
        return _Lines(self.entries.only(positions), self.syntax)

    def read(self) -> ReadImages:
        """See `base.Content`."""
        return read_lines(
            self.texts(), line_format(self.syntax), np.zeros((len(self.entries.entries), 2))
        )

    def places(self) -> Iterator[Place]:
        """See `base.Content`; an image has the name of its entry."""
        return (Place(self.entries.place(entry), (), []) for entry in self.entries.entries)

    def texts(self) -> Iterator[ImageText]:
        """Yield the text of each image."""
        entries = self.entries.entries
        for entry, text in zip(entries, self.entries.read_many(entries), strict=True):
            yield ImageText(
                self.entries.place(entry), 1, text.removeprefix(UTF8_BOM), _not_utf8(text)
            )


def line_format(syntax: Syntax) -> LineFormat:
    """Return how lines of a syntax are read."""
    return LineFormat(
        plain=partial(read_plain, syntax=syntax),
        exact=partial(parse_line, syntax=syntax),
        bare=bare_line,
        has_boxes=syntax.format in HAS_BOXES,
        has_ids=False,
        has_confidences=syntax.confidences,
    )


def _not_utf8(text: bytes) -> tuple[int, str, str] | None:
    try:
        if not text.isascii():
            text.decode("utf-8")
    except UnicodeDecodeError as error:
        line, found, expected = not_utf8(error)
        return line - 1, found, expected
    return None


def read_plain(data: Bytes, syntax: Syntax) -> LineColumns:
    """Read the plain lines of a text that have exactly what the syntax says, and no fault."""
    plain = plain_lines(data)
    text_start, text_stop, unusual = _transcriptions(data, plain, syntax)
    fitting = np.flatnonzero(_fits(plain, syntax) & ~unusual)
    numbers = plain.numbers[fitting]
    values, sound = plain.values(data, fitting)
    first = np.cumsum(numbers) - numbers
    last = first + numbers - 1
    if syntax.confidences:
        sound &= (values[last] >= syntax.scale.lowest) & (values[last] <= syntax.scale.highest)
    if syntax.format in HAS_BOXES:
        boxes = np.flatnonzero(numbers - syntax.confidences == 4)
        x0, y0, x1, y1 = (values[first[boxes] + k] for k in range(4))
        sound[boxes] &= (x1 >= x0) & (y1 >= y0)
    is_coordinate = np.repeat(sound, numbers)
    confidences = np.full(int(sound.sum()), np.nan)
    if syntax.confidences:
        confidences = values[last[sound]] / syntax.scale.divisor
        is_coordinate[last] = False
    chosen = fitting[sound]
    start, stop = text_start[chosen], text_stop[chosen]
    return LineColumns(
        line=plain.line[chosen],
        coordinates=values[is_coordinate],
        counts=numbers[sound] - syntax.confidences,
        text_start=start,
        text_stop=stop,
        dont_care=is_dont_care(data, start, stop)
        if syntax.side == "gt"
        else np.zeros(len(start), dtype=bool),
        confidences=confidences,
        ids=np.broadcast_to(np.int64(0), len(chosen)),
        regions=np.broadcast_to(np.int64(0), len(chosen)),
    )


def _fits(plain: PlainLines, syntax: Syntax) -> Bools:
    """Whether a line has coordinates, a confidence where there must be one, and no number more."""
    if syntax.format == "box-polygon" and not syntax.confidences:
        return np.asarray((plain.numbers == 4) | ((plain.numbers >= 6) & (plain.numbers % 2 == 0)))
    if syntax.own_tail and syntax.format != "mlt":
        return np.zeros(len(plain.line), dtype=bool)
    count = plain.numbers - syntax.confidences
    if syntax.coordinates is not None:
        return np.asarray(count == syntax.coordinates)
    might_end_in_text = not syntax.confidences and syntax.transcriptions
    return np.asarray((count >= 6) & (count % 2 == 0) & (plain.goes_on | (not might_end_in_text)))


def _transcriptions(data: Bytes, plain: PlainLines, syntax: Syntax) -> tuple[Ints, Ints, Bools]:
    """Where the transcriptions are, without quotes around them, and which need the exact parser."""
    start, stop = plain.rest, plain.stop
    unusual = data[stop - 1] == ord("\r")
    if syntax.format == "mlt":
        commas = np.append(np.flatnonzero(data == _COMMA), len(data))
        script_end = commas[np.searchsorted(commas, start)]
        return np.minimum(script_end + 1, stop), stop, unusual | (script_end >= stop)
    opening = start + are_blanks(data[start])
    quoted = (data[np.minimum(opening, len(data) - 1)] == _QUOTE) & (opening < stop)
    if not quoted.any():
        return start, stop, unusual
    backslashes = np.flatnonzero(data == _BACKSLASH)
    escaped = np.searchsorted(backslashes, stop) > np.searchsorted(backslashes, start)
    closed = (data[stop - 1] == _QUOTE) & (stop - 1 > opening)
    unusual |= quoted & (escaped | ~closed)
    return np.where(quoted, opening + 1, start), np.where(quoted, stop - 1, stop), unusual


def _format(name: str, title: str, layout: str, recognised_by: str, line: str) -> Format:
    return Format(
        name,
        f"{title}: folder or .zip of .txt files",
        recognises(name),
        index(name),
        four_corners=COORDINATES[name] in (4, 8),
        recognised_by=recognised_by,
        layout=layout,
        sample={"gt_img_1.txt": f"{line}\n"},
        why=numbers_of_lines if name in ("ltrb", "quad", "polygon") else None,
    )


_QUAD = "10,10,60,10,60,30,10,30"
_CURVE = "10,10,20,10,30,10,40,10,50,10,55,10,60,10,60,30,55,30,50,30,40,30,30,30,20,30,10,30"
_OFFSETS = "10,10,60,30,0,0,10,0,20,0,30,0,40,0,45,0,50,0,50,20,45,20,40,20,30,20,20,20,10,20,0,20"
_REST = "[,confidence][,text]"
LTRB = _format(
    "ltrb",
    "ICDAR 2003 to 2013",
    f"x0,y0,x1,y1{_REST}",
    "lines of 4 or 5 numbers",
    "10,10,60,30,word",
)
QUAD = _format(
    "quad", "ICDAR 2015", f"x1,y1,...,x4,y4{_REST}", "lines of 8 or 9 numbers", f"{_QUAD},word"
)
POLYGON = _format(
    *(
        "polygon",
        "Total-Text as ICDAR has it",
        f"x1,y1,...,xn,yn{_REST}",
        "lines of other counts of numbers",
    ),
    _CURVE,
)
MLT = _format(
    *("mlt", "ICDAR MLT 2017 and 2019", "x1,y1,...,x4,y4,script,text", "the name of a script"),
    f"{_QUAD},Latin,word",
)
RCTW = _format(
    *("rctw", "RCTW-17", 'x1,y1,...,x4,y4,difficult,"text"', "0 or 1 before a quote, not always 1"),
    f'{_QUAD},0,"word"',
)
BOX_POLYGON = _format(
    *("box-polygon", "CVAT's boxes and polygons", "x0,y0,x1,y1[,text]; x1,y1,...,xn,yn[,text]"),
    *("lines of 4 and of more numbers", f'{_QUAD},word\n10,40,60,60,"word'),
)
CTW1500 = _format(
    *("ctw1500", "CTW1500 (test), AdelaiDet", "x1,y1,...,xn,yn[,confidence],####text"),
    "#### before the transcription",
    f"{_CURVE},####word",
)
CTW1500_OFFSETS = _format(
    *(
        "ctw1500-offsets",
        "CTW1500",
        "x0,y0,x1,y1,dx1,dy1,...,dx14,dy14",
        "32 numbers, the offsets within the box",
    ),
    _OFFSETS,
)
POPEVAL = _format(
    *("popeval", "PopEval", "x1 y1 x2 y2 ...##::text", "##:: after the numbers"),
    "10 10 60 10 60 30 10 30##::word",
)
