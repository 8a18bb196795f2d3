r"""Folders and .zip archives of ICDAR-style .txt files: one file an image, one object a line.

========= =========================== ==========================================================
format    coordinates                 sets
========= =========================== ==========================================================
`LTRB`    ``x0,y0,x1,y1``             ICDAR 2003 to 2013
`QUAD`    ``x1,y1,...,x4,y4``         ICDAR 2015
`POLYGON` ``x1,y1,...,xn,yn``         Total-Text
========= =========================== ==========================================================

Some sets have lines of their own form, told by what stands in 95 % of the lines or more:

================= ===================================== ==============================================
format            line                                  told by
================= ===================================== ==============================================
`MLT`             ``x1,y1,...,x4,y4,script,text``       a script's name (MLT 2017, 2019)
`RCTW`            ``x1,y1,...,x4,y4,difficult,"text"``  0 or 1 before a quote, not always 1 (RCTW-17)
`CTW1500`         ``x1,y1,...,x14,y14,####text``        28 numbers and ``####``
`CTW1500_OFFSETS` ``x0,y0,x1,y1,dx1,dy1,...,dx14,dy14`` 32 numbers, the offsets within the box
`POPEVAL`         ``x1 y1 x2 y2 ...##::text``           ``##::`` after the numbers
================= ===================================== ==============================================

There the transcription is all that follows, as it stands (in `RCTW` without its quotes). A script's name is dropped.
Don't care is ``###`` and, in `RCTW`, difficult. What `total_text`, `msra_td500` and `segmentation` read is told from
the same pass. The rest of this text is on the usual three.

After the coordinates a ground-truth line has the transcription, a detection optionally a confidence in [0, 1], then
optionally a transcription. The transcription is everything after the comma, blanks and further commas included; double
quotes around it are taken off, and ``\\``, ``\"`` in them mean ``\``, ``"``; no number may stand between coordinates
and quotes. Exactly ``###`` in ground truth is don't care. Blanks may stand for the commas up to the transcription. Text
is UTF-8 (byte order marks at the start of any line are dropped), lines end in LF or CRLF, blank lines are skipped.

Coordinates are continuous and stand as they are. A box's corners are in order, though it may have no area. A polygon
has three vertices or more; one of text ``###`` may have fewer (Total-Text has two such), and then no area.

What no single line tells is told by all lines of the archive together (`icdar.survey`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from evaltex_cli.errors import FaultLog, FormatError, InputError, TangledError, not_utf8
from evaltex_cli.formats.base import DONT_CARE, Format, Side, Source
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.files.text_lines import line_ends, line_of_object, refuse_excess, without_blank_lines
from evaltex_cli.formats.icdar import lines_bulk as bulk
from evaltex_cli.formats.icdar.lines import COORDINATES, Line, Syntax, parse_line
from evaltex_cli.formats.icdar.survey import decoded, not_blank, numbers_of_lines, recognises, survey, whole_lines
from evaltex_cli.geometry import outlines
from evaltex_cli.records import GeometryCounts, Ints, Objects, ReadImages, Texts, expanded, stretches


def index(name: str, path: Path, side: Side, faults: FaultLog) -> Source:
    """Find the images of a folder or archive, and what their lines hold.

    Raises
    ------
    InputError
        When it cannot be read, is damaged or too large, or is ground truth without any .txt file.
    """
    found = survey(path)
    entries = found.entries
    warnings = list(entries.warnings)
    if not entries.entries:
        if side == "gt":
            raise InputError(f"{path}: no .txt file in it; expected one for each image (gt_img_1.txt, say)")
        warnings.append(f"{path.name}: no .txt file in the detections; every object counts as missed")
    if side == "gt" and found.spaced_dont_care:
        warnings.append(
            f"{path.name}: {found.spaced_dont_care} transcriptions are {DONT_CARE} with blanks around,"
            " which is not don't care; delete the blanks where it should be"
        )
    entries.refuse_bad_names(faults)
    return Source(
        path=str(path),
        format=name,
        sha256=found.sha256,
        names=[entry.image for entry in entries.entries],
        weights=np.array([entry.size for entry in entries.entries], np.int64),
        read=partial(_read, entries, found.syntax(name, side)),
        warnings=tuple(warnings),
        part=partial(_part, entries, found.syntax(name, side)),
        texts=partial(_texts, entries),
    )


def _texts(entries: archive.Entries, positions: Ints) -> Iterator[tuple[str, int, bytes]]:
    for entry, data in entries.read_indexed(positions):
        yield entries.place(entry), 1, data


def _part(entries: archive.Entries, syntax: Syntax, positions: Ints) -> Callable[[FaultLog], ReadImages]:
    return partial(_read, entries.only(positions), syntax, np.arange(len(positions)))


def _read(entries: archive.Entries, syntax: Syntax, positions: Ints, faults: FaultLog) -> ReadImages:
    """Read the images at these positions; see `Source.read`."""
    chosen = [entries.entries[k] for k in positions.tolist()]
    parts: list[bytes] = []
    refused: dict[int, tuple[int, str, str]] = {}
    numbers: dict[int, Ints] = {}
    for k, (_, text) in enumerate(entries.read_indexed(positions)):
        fault = _fault(text)
        if fault:
            refused[k] = fault
        lines, left = without_blank_lines(b"" if fault else text)
        if left is not None:
            numbers[k] = left
        parts.append(whole_lines(lines))
    buffer = b"".join(parts)
    data = np.frombuffer(buffer, np.uint8)
    ends = line_ends(data)
    stops = np.searchsorted(ends, np.cumsum([len(part) for part in parts], dtype=np.int64))
    plain = bulk.read(data, ends, syntax)
    is_odd = not_blank(ends)
    is_odd[plain.line] = False
    is_odd[stops[list(refused)] - 1] = True
    odd: dict[int, Line] = {}

    def place(line: int) -> tuple[str, int]:
        owner = int(np.searchsorted(stops, line, side="right"))
        own = line - (int(stops[owner - 1]) if owner else 0)
        return entries.place(chosen[owner]), 1 + (int(numbers[owner][own]) if owner in numbers else own)

    odd_lines = np.flatnonzero(is_odd)
    owners = np.searchsorted(stops, odd_lines, side="right").tolist()
    for line, owner, bare in zip(odd_lines.tolist(), owners, decoded(buffer, ends, odd_lines), strict=True):
        if owner in refused:
            faults.add(entries.place(chosen[owner]), *refused[owner])
        elif bare:
            try:
                odd[line] = parse_line(bare, syntax)
            except FormatError as error:
                faults.add(*place(line), error.found, error.expected)
    try:
        objects, mended = _columns(buffer, plain, odd, stops, syntax)
    except TangledError as tangled:
        file, number = place(line_of_object(plain.line, odd, tangled.ring))
        raise InputError(f"{file}:{number}: {tangled}") from tangled
    return ReadImages(np.zeros((len(chosen), 2)), objects, mended)


def _fault(text: bytes) -> tuple[int, str, str] | None:
    """Return why the text of an image cannot be read as a whole: the line, what stands there, what is expected."""
    try:
        if not text.isascii():
            text.decode("utf-8")
        refuse_excess(text)
    except UnicodeDecodeError as error:
        return not_utf8(error)
    except FormatError as error:
        return error.line, error.found, error.expected
    return None


def _columns(
    buffer: bytes, plain: bulk.ReadLines, odd: dict[int, Line], stops: Ints, syntax: Syntax
) -> tuple[Objects, GeometryCounts]:
    """Bring plain and odd lines together in file order; entry k ends before line ``stops[k]``."""
    extra = odd.values()
    texts = [line.text.encode("utf-8", "replace") for line in extra]
    text_stop = len(buffer) + np.cumsum([len(text) for text in texts], dtype=np.int64)
    text_start = np.concatenate([np.full(1, len(buffer), np.int64), text_stop])[:-1]
    line = np.concatenate([plain.line, np.fromiter(odd, np.int64, len(odd))])
    order = np.argsort(line, kind="stable") if odd else np.arange(len(line))
    offsets = np.concatenate([np.zeros(1, np.int64), np.searchsorted(line[order], stops)])
    ids = expanded(np.diff(offsets))[1] + 1

    def merged(columns: np.ndarray, values: Sequence[object] | Ints) -> np.ndarray:
        return np.concatenate([columns, np.array(values, dtype=columns.dtype)])[order] if odd else columns

    counts = merged(plain.counts, [len(one.coordinates) for one in extra])
    coordinates = plain.coordinates
    if odd:
        coordinates = np.concatenate([coordinates, [value for one in extra for value in one.coordinates]])
        unsorted = np.concatenate([plain.counts, [len(one.coordinates) for one in extra]]).astype(np.int64)
        coordinates = coordinates[stretches((np.cumsum(unsorted) - unsorted)[order], counts)]
    drawn, mended = outlines.from_numbers(coordinates, counts, np.full(len(counts), syntax.format == "ltrb"))
    objects = Objects(
        offsets=offsets,
        ids=ids,
        outlines=drawn,
        regions=ids,
        dont_care=merged(plain.dont_care, [one.dont_care for one in extra]),
        texts=Texts(
            b"".join([buffer, *texts]), merged(plain.text_start, text_start), merged(plain.text_stop, text_stop)
        ),
        confidences=merged(plain.confidences, [one.confidence for one in extra]) if syntax.confidences else None,
    )
    return objects, mended


def _format(name: str, title: str, layout: str, recognised_by: str, line: str) -> Format:
    return Format(
        name,
        f"{title}: folder or .zip of .txt files",
        partial(recognises, name),
        partial(index, name),
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
LTRB = _format("ltrb", "ICDAR 2003 to 2013", f"x0,y0,x1,y1{_REST}", "lines of 4 or 5 numbers", "10,10,60,30,word")
QUAD = _format("quad", "ICDAR 2015", f"x1,y1,...,x4,y4{_REST}", "lines of 8 or 9 numbers", f"{_QUAD},word")
POLYGON = _format(
    *("polygon", "Total-Text as ICDAR has it", f"x1,y1,...,xn,yn{_REST}", "lines of other counts of numbers"),
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
CTW1500 = _format(
    *("ctw1500", "CTW1500, test set", "x1,y1,...,x14,y14,####text", "28 numbers and ####"),
    f"{_CURVE},####word",
)
CTW1500_OFFSETS = _format(
    *("ctw1500-offsets", "CTW1500", "x0,y0,x1,y1,dx1,dy1,...,dx14,dy14", "32 numbers, the offsets within the box"),
    _OFFSETS,
)
POPEVAL = _format(
    *("popeval", "PopEval", "x1 y1 x2 y2 ...##::text", "##:: after the numbers"),
    "10 10 60 10 60 30 10 30##::word",
)
