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

What no single line tells is told by all lines of the archive together, in one pass (`_Survey`):

- The format, unless the user names it. A line's leading numbers vote: 4 or 5 for `LTRB`, 8 or 9 for `QUAD`, 6, 7, 10
  and more for `POLYGON`, fewer for none. Where 5 % of the lines or more go on with something that is no number, only
  these vote; so a transcription ``60,000`` does not count as a vertex. `LTRB` needs half of the votes; of the rest 5 %
  make a `POLYGON`, a single one where all lines are numbers and nothing else. Without any vote it is `LTRB`, whose
  reader then says what is wrong.
- Confidences (detections). 95 % of the lines or more have a number in [0, 1] after their coordinates, and either
  something after that on each of these, or a decimal point in at least one of these numbers. Then a line without one
  is a fault.
- Transcriptions (detections, and polygons in ground truth). Half of the lines or more have something after coordinates
  and confidence. Otherwise a surplus number is a fault, not a transcription.
- Where polygons end. The coordinates are the longest even run of leading numbers that leaves a field for confidence or
  transcription. So ``...,1996`` is a transcription, and one that begins with a number and a comma may need quotes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.formats import archive
from evaltex_cli.formats import icdar_bulk as bulk
from evaltex_cli.formats.base import Format, Side, Source
from evaltex_cli.formats.evaltex_lines import LineFault
from evaltex_cli.formats.garbage import garbage_kept
from evaltex_cli.formats.icdar_lines import (
    COORDINATES,
    DONT_CARE,
    Line,
    LineShape,
    Syntax,
    bare_line,
    parse_line,
    survey_line,
)
from evaltex_cli.geometry import quads
from evaltex_cli.records import Floats, Geometries, GeometryCounts, Ints, Objects, ReadImages, Texts

FEW = 0.05
"""Share of the lines that may differ from what the others say."""
WRAPPED = 0.1
"""Share of the lines that must begin a record of Total-Text's: longer ones are wrapped."""
SURVEY_BYTES = 1 << 20

_LINE_END = re.compile(rb"(?<!\r)\r++\n")
_UTF8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class _Survey:
    """One pass over an archive: its entries, its SHA-256, and how many lines are of each shape."""

    entries: archive.Entries
    sha256: str
    lines: Counter[LineShape]
    spaced_dont_care: int

    def count(self, holds: Callable[[LineShape], bool]) -> int:
        """Number of lines of which this holds."""
        return sum(count for shape, count in self.lines.items() if holds(shape))

    def format(self) -> str:
        """Name of the format that the lines vote for."""
        return self._marked_format() or self._voted_format()

    def _marked_format(self) -> str | None:
        """The format of which nearly all lines are; Total-Text's go over several lines."""
        marks: Counter[str] = Counter()
        for shape, count in self.lines.items():
            marks[shape.mark.split(" ")[0]] += count
        if marks["totaltext"] >= WRAPPED * marks.total() > 0:
            return "totaltext"
        name, count = max(marks.items(), key=lambda item: item[1], default=("", 0))
        only_difficult = name == "rctw" and not self.count(lambda shape: shape.mark == "rctw easy")
        return None if only_difficult or count < (1 - FEW) * marks.total() else name or None

    def _voted_format(self) -> str:
        with_text = self.count(lambda shape: shape.goes_on)
        only_these = with_text >= FEW * self.lines.total() > 0
        votes: Counter[str] = Counter()
        for shape, count in self.lines.items():
            if shape.numbers >= 4 and (shape.goes_on or not only_these):
                votes[{4: "ltrb", 5: "ltrb", 8: "quad", 9: "quad"}.get(shape.numbers, "polygon")] += count
        if 2 * votes["ltrb"] >= votes.total():
            return "ltrb"
        needed = FEW * (votes["quad"] + votes["polygon"]) if with_text else 1
        return "polygon" if votes["polygon"] >= needed else "quad"

    def syntax(self, name: str, side: Side) -> Syntax:
        """What the lines hold, read as this format."""
        if Syntax(name, side).own_tail:
            return Syntax(name, side)
        coordinates, total = COORDINATES[name], self.lines.total()
        bearing = self.count(lambda shape: shape.confidence(coordinates) > 0)
        decimal = self.count(lambda shape: shape.confidence(coordinates) == 2)
        followed = self.count(lambda shape: shape.confidence(coordinates) > 0 and shape.goes_beyond(coordinates, True))
        confidences = side == "det" and bearing >= (1 - FEW) * total > 0 and (decimal > 0 or followed == bearing)
        beyond = self.count(lambda shape: shape.goes_beyond(coordinates, confidences))
        always = side == "gt" and coordinates is not None
        return Syntax(name, side, confidences, always or 2 * beyond >= total > 0)


def recognises(name: str, path: Path) -> bool:
    """Whether a path is a folder or archive whose lines vote for the format of this name.

    Raises
    ------
    InputError
        When it is an archive that cannot be read, is damaged or too large.
    """
    return archive.is_archive(path) and _survey(path, archive.state(path)).format() == name


def is_empty(path: Path) -> bool:
    """Whether a folder or archive has no .txt file; raises as `recognises`."""
    return not _survey(path, archive.state(path)).entries.entries


def index(name: str, path: Path, side: Side, faults: FaultLog) -> Source:
    """Find the images of a folder or archive, and what their lines hold.

    Raises
    ------
    InputError
        When it cannot be read, is damaged or too large, or is ground truth without any .txt file.
    """
    survey = _survey(path, archive.state(path))
    entries = survey.entries
    warnings = list(entries.warnings)
    if not entries.entries:
        if side == "gt":
            raise InputError(f"{path}: no .txt file in it; expected one for each image (gt_img_1.txt, say)")
        warnings.append(f"{path.name}: no .txt file in the detections; every object counts as missed")
    if side == "gt" and survey.spaced_dont_care:
        warnings.append(
            f"{path.name}: {survey.spaced_dont_care} transcriptions are {DONT_CARE} with blanks around,"
            " which is not don't care; delete the blanks where it should be"
        )
    entries.refuse_bad_names(faults)
    return Source(
        path=str(path),
        format=name,
        sha256=survey.sha256,
        names=[entry.image for entry in entries.entries],
        weights=np.array([entry.size for entry in entries.entries], np.int64),
        read=partial(_read, entries, survey.syntax(name, side)),
        warnings=tuple(warnings),
        part=partial(_part, entries, survey.syntax(name, side)),
    )


def _part(entries: archive.Entries, syntax: Syntax, positions: Ints) -> Callable[[FaultLog], ReadImages]:
    return partial(_read, entries.only(positions), syntax, np.arange(len(positions)))


@lru_cache(maxsize=4)
def _survey(path: Path, state: int) -> _Survey:
    """Pass once over what stands at a path in this state (`archive.state`)."""
    with garbage_kept():
        entries = archive.open_entries(path)
    fingerprint = archive.Fingerprint(entries)
    shapes: Counter[LineShape] = Counter()
    spaced = 0
    for block in _blocks(entries, fingerprint):
        found, spaced_here = _survey_block(block)
        shapes += found
        spaced += spaced_here
    return _Survey(entries, fingerprint.hexdigest(), shapes, spaced)


def _blocks(entries: archive.Entries, fingerprint: archive.Fingerprint) -> Iterator[bytes]:
    """Yield the text of all entries, many at a time."""
    parts: list[bytes] = []
    size = 0
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        fingerprint.add(entry, data)
        parts.append(_whole_lines(data))
        size += len(data)
        if size >= SURVEY_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


def _whole_lines(data: bytes) -> bytes:
    """The text of an entry, each line ended by a bare newline, without a byte order mark at its start."""
    lines = data.removeprefix(_UTF8_BOM) + b"\n"
    return _LINE_END.sub(b"\n", lines) if b"\r\n" in lines else lines


def _survey_block(buffer: bytes) -> tuple[Counter[LineShape], int]:
    data = np.frombuffer(buffer, np.uint8)
    ends = bulk.line_ends(data)
    shapes: Counter[LineShape] = Counter()
    spaced = 0
    for first, last in bulk.stretches(data, ends):
        start, stop = int(ends[first - 1]) + 1 if first else 0, int(ends[last - 1]) + 1
        found, spaced_here = _survey_stretch(buffer[start:stop], data[start:stop], ends[first:last] - start)
        shapes += found
        spaced += spaced_here
    return shapes, spaced


def _survey_stretch(buffer: bytes, data: bulk.Bytes, ends: Ints) -> tuple[Counter[LineShape], int]:
    plain = bulk.plain_lines(data)
    shapes, special, spaced_plain = bulk.survey(buffer, data, plain)
    spaced = len(spaced_plain)
    is_odd = _not_blank(ends)
    is_odd[plain.line] = False
    is_odd[plain.line[special]] = True
    for line in _decoded(buffer, ends, np.flatnonzero(is_odd)):
        if line:
            shape, is_spaced = survey_line(line)
            shapes[shape] += 1
            spaced += is_spaced
    return shapes, spaced


def _not_blank(ends: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.diff(ends, prepend=-1) > 1


def _decoded(buffer: bytes, ends: Ints, lines: Ints) -> Iterator[str]:
    """Yield these lines of a buffer as text, blank ones empty."""
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    for start, stop in zip(starts[lines].tolist(), ends[lines].tolist(), strict=True):
        yield bare_line(buffer[start:stop].decode("utf-8", "replace"))


def _read(entries: archive.Entries, syntax: Syntax, positions: Ints, faults: FaultLog) -> ReadImages:
    """Read the images at these positions; see `Source.read`."""
    chosen = [entries.entries[k] for k in positions.tolist()]
    parts: list[bytes] = []
    not_utf8: dict[int, UnicodeDecodeError] = {}
    for k, text in enumerate(entries.read_many(chosen)):
        error = _utf8_error(text)
        if error:
            not_utf8[k] = error
        parts.append(b"\n" if error else _whole_lines(text))
    buffer = b"".join(parts)
    data = np.frombuffer(buffer, np.uint8)
    ends = bulk.line_ends(data)
    stops = np.searchsorted(ends, np.cumsum([len(part) for part in parts], dtype=np.int64))
    plain = bulk.read(data, ends, syntax)
    is_odd = _not_blank(ends)
    is_odd[plain.line] = False
    is_odd[stops[list(not_utf8)] - 1] = True
    odd: dict[int, Line] = {}
    lines = np.flatnonzero(is_odd)
    owners = np.searchsorted(stops, lines, side="right").tolist()
    for line, owner, bare in zip(lines.tolist(), owners, _decoded(buffer, ends, lines), strict=True):
        if owner in not_utf8:
            _add_utf8_fault(entries.place(chosen[owner]), not_utf8[owner], faults)
        elif bare:
            try:
                odd[line] = parse_line(bare, syntax)
            except LineFault as fault:
                number = line + 1 - (int(stops[owner - 1]) if owner else 0)
                faults.add(entries.place(chosen[owner]), number, fault.found, fault.expected)
    objects, mended = _columns(buffer, plain, odd, stops, syntax)
    return ReadImages(np.zeros((len(chosen), 2)), objects, mended)


def _utf8_error(data: bytes) -> UnicodeDecodeError | None:
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            return error
    return None


def _add_utf8_fault(place: str, error: UnicodeDecodeError, faults: FaultLog) -> None:
    found = f"byte 0x{error.object[error.start]:02x}, which is not UTF-8"
    number = error.object.count(b"\n", 0, error.start) + 1
    faults.add(place, number, found, "text in UTF-8 (save the file in that encoding)")


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
    ids = np.arange(1, len(line) + 1) - np.repeat(offsets[:-1], np.diff(offsets))

    def merged(columns: np.ndarray, values: Sequence[object] | Ints) -> np.ndarray:
        return np.concatenate([columns, np.array(values, dtype=columns.dtype)])[order] if odd else columns

    counts = merged(plain.counts, [len(one.coordinates) for one in extra])
    coordinates = plain.coordinates
    if odd:
        coordinates = np.concatenate([coordinates, [value for one in extra for value in one.coordinates]])
        unsorted = np.concatenate([plain.counts, [len(one.coordinates) for one in extra]]).astype(np.int64)
        starts = (np.cumsum(unsorted) - unsorted)[order]
        take = np.arange(len(coordinates)) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
        coordinates = coordinates[take]
    boxes, polygons, vertices, vertex_offsets, mended = _shapes(coordinates, counts, syntax)
    objects = Objects(
        offsets=offsets,
        ids=ids,
        boxes=boxes,
        regions=ids,
        dont_care=merged(plain.dont_care, [one.dont_care for one in extra]),
        texts=Texts(
            b"".join([buffer, *texts]), merged(plain.text_start, text_start), merged(plain.text_stop, text_stop)
        ),
        polygons=polygons,
        vertices=vertices,
        vertex_offsets=vertex_offsets,
        confidences=merged(plain.confidences, [one.confidence for one in extra]) if syntax.confidences else None,
    )
    return objects, mended


def _shapes(
    coordinates: Floats, counts: Ints, syntax: Syntax
) -> tuple[Floats, Geometries | None, Floats | None, Ints | None, GeometryCounts]:
    """Return boxes, polygons, vertices and vertex offsets as in `Objects`, and what was mended."""
    if syntax.format == "ltrb":
        boxes = coordinates.reshape(-1, 4)
        flat = (boxes[:, 2:] == boxes[:, :2]).any(axis=1)
        return boxes, None, None, None, GeometryCounts(zero_area=int(flat.sum()))
    vertices = coordinates.reshape(-1, 2)
    vertex_offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts // 2)])
    if (counts == 8).all():
        corners = vertices.reshape(-1, 4, 2)
        boxes = quads.bounds(corners)
        if quads.are_convex(corners).all():
            return boxes, quads.later(corners), vertices, vertex_offsets, GeometryCounts()
    else:
        low, high = (extreme.reduceat(vertices, vertex_offsets[:-1]) for extreme in (np.minimum, np.maximum))
        boxes = np.concatenate([low, high], axis=1)
    from evaltex_cli.geometry.polygons import from_vertices

    geometries, mended = from_vertices(vertices, vertex_offsets)
    return boxes, geometries, vertices, vertex_offsets, mended


def _format(name: str, title: str) -> Format:
    four_corners = COORDINATES[name] in (4, 8)
    return Format(name, title, partial(recognises, name), partial(index, name), four_corners)


_FILES = "folder or .zip of .txt files"
LTRB = _format("ltrb", "folder or .zip of ICDAR-style .txt files of boxes x0,y0,x1,y1")
QUAD = _format("quad", "folder or .zip of ICDAR-style .txt files of quadrilaterals x1,y1,...,x4,y4")
POLYGON = _format("polygon", "folder or .zip of ICDAR-style .txt files of polygons x1,y1,...,xn,yn")
MLT = _format("mlt", f"{_FILES} of ICDAR MLT 2017 and 2019: x1,y1,...,x4,y4,script,text")
RCTW = _format("rctw", f'{_FILES} of RCTW-17: x1,y1,...,x4,y4,difficult,"text"')
CTW1500 = _format("ctw1500", f"{_FILES} of CTW1500: x1,y1,...,x14,y14,####text")
CTW1500_OFFSETS = _format("ctw1500-offsets", f"{_FILES} of CTW1500: a box, and 14 vertices as offsets from its corner")
POPEVAL = _format("popeval", f"{_FILES} of PopEval: x1 y1 ... x4 y4##::text")
