r"""Folders and .zip archives of ICDAR-style .txt files: one file an image, one object a line.

========= =========================== ==========================================================
format    coordinates                 sets
========= =========================== ==========================================================
`LTRB`    ``x0,y0,x1,y1``             ICDAR 2003 to 2013
`QUAD`    ``x1,y1,...,x4,y4``         ICDAR 2015
`POLYGON` ``x1,y1,...,xn,yn``         Total-Text
========= =========================== ==========================================================

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

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.formats import archive
from evaltex_cli.formats.base import Format, Side, Source
from evaltex_cli.formats.evaltex_lines import COORDINATE_LIMIT, LineFault
from evaltex_cli.records import Floats, Geometries, GeometryCounts, Ints, Objects, ReadImages, concatenate_texts

DONT_CARE = "###"
FEW = 0.05
"""Share of the lines that may differ from what the others say."""

_COORDINATES = {"ltrb": 4, "quad": 8, "polygon": None}
_LAYOUT = {"ltrb": "x0,y0,x1,y1", "quad": "x1,y1,x2,y2,x3,y3,x4,y4", "polygon": "x1,y1,x2,y2,x3,y3,..."}
_NUMBER = r"[+-]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+"
_NOT_FINITE = r"[+-]?+(?i:nan|inf(?:inity)?+)(?=[ \t]*+,)"
_LEADING = re.compile(rf"(?:[ \t]*+(?:{_NUMBER}|{_NOT_FINITE})[ \t]*+(?:,|\Z))*+")
_APART_BY_BLANKS = re.compile(rf"[ \t]*+(?:{_NUMBER}[ \t]++)++(?!,)")
_QUOTED = re.compile(r'[ \t]*"(.*)"[ \t]*', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')


class _Shape(NamedTuple):
    """What the survey keeps of a line.

    Its leading `numbers` fields are numbers; `goes_on` tells whether anything follows them. The others tell of the
    field where a box's, a quadrilateral's and a polygon's confidence would stand: 0 no number in [0, 1], 1 a whole
    one, 2 one with decimals.
    """

    numbers: int
    goes_on: bool
    after_box: int
    after_quad: int
    after_polygon: int

    def confidence(self, coordinates: int | None) -> int:
        """What stands where the confidence would."""
        return {4: self.after_box, 8: self.after_quad}.get(coordinates or 0, self.after_polygon)

    def goes_beyond(self, coordinates: int | None, confidence: bool) -> bool:
        """Whether anything stands after coordinates and confidence."""
        count = _polygon_end(self.numbers, confidence) if coordinates is None else coordinates
        return self.goes_on or self.numbers > count + confidence


@dataclass(frozen=True, slots=True)
class _Survey:
    """One pass over an archive: its entries, its SHA-256, and how many lines are of each shape."""

    entries: archive.Entries
    sha256: str
    lines: Counter[_Shape]
    spaced_dont_care: int

    def count(self, holds: Callable[[_Shape], bool]) -> int:
        """Number of lines of which this holds."""
        return sum(count for shape, count in self.lines.items() if holds(shape))

    def format(self) -> str:
        """Name of the format that the lines vote for."""
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

    def syntax(self, name: str, side: Side) -> _Syntax:
        """What the lines hold, read as this format."""
        coordinates, total = _COORDINATES[name], self.lines.total()
        bearing = self.count(lambda shape: shape.confidence(coordinates) > 0)
        decimal = self.count(lambda shape: shape.confidence(coordinates) == 2)
        followed = self.count(lambda shape: shape.confidence(coordinates) > 0 and shape.goes_beyond(coordinates, True))
        confidences = side == "det" and bearing >= (1 - FEW) * total > 0 and (decimal > 0 or followed == bearing)
        beyond = self.count(lambda shape: shape.goes_beyond(coordinates, confidences))
        always = side == "gt" and coordinates is not None
        return _Syntax(name, side, coordinates, confidences, always or 2 * beyond >= total > 0)


@dataclass(frozen=True, slots=True)
class _Syntax:
    """What a line holds; `coordinates` is their number, None for polygons."""

    format: str
    side: Side
    coordinates: int | None
    confidences: bool
    transcriptions: bool

    def layout(self) -> str:
        """A line, as messages show it."""
        layout = _LAYOUT[self.format] + (",confidence" if self.confidences else "")
        return f"{layout}{',transcription' if self.transcriptions else ''} (format {self.format})"


class _Line(NamedTuple):
    """One parsed line; the confidence is NaN where the archive has none."""

    coordinates: list[float]
    confidence: float
    text: str


def recognises(name: str, path: Path) -> bool:
    """Whether a path is a folder or archive whose lines vote for the format of this name.

    Raises
    ------
    InputError
        When it is an archive that cannot be read, is damaged or too large.
    """
    return archive.is_archive(path) and _survey(path, archive.state(path)).format() == name


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
    )


@lru_cache(maxsize=4)
def _survey(path: Path, state: int) -> _Survey:
    """Pass once over what stands at a path in this state (`archive.state`)."""
    entries = archive.open_entries(path)
    fingerprint = archive.Fingerprint(entries)
    shapes: Counter[_Shape] = Counter()
    spaced = 0
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        fingerprint.add(entry, data)
        for _, line in _lines(data.decode("utf-8", "replace")):
            fields, rest = _split(_with_commas(line))
            shapes[_shape_of(fields, rest)] += 1
            spaced += rest is not None and rest != DONT_CARE and rest.strip() == DONT_CARE
    return _Survey(entries, fingerprint.hexdigest(), shapes, spaced)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of every line that is not blank."""
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.lstrip("\ufeff").rstrip("\r")
        if bare and not bare.isspace():
            yield number, bare


def _with_commas(line: str, fields: int | None = None) -> str:
    """Put commas for the blanks after `fields` (None: all) leading numbers of a line that has blanks between them."""
    numbers = _APART_BY_BLANKS.match(line)
    if not numbers:
        return line
    return ",".join(line.split(None, len(numbers[0].split()) if fields is None else fields))


def _split(line: str) -> tuple[list[str], str | None]:
    """Return the leading fields that are numbers, and all that follows their last comma; None where there is none."""
    leading = _LEADING.match(line)
    stop = leading.end() if leading else 0
    if stop == 0:
        return [], line
    return (line[: stop - 1].split(","), line[stop:]) if line[stop - 1] == "," else (line.split(","), None)


def _shape_of(fields: list[str], rest: str | None) -> _Shape:
    count = len(fields)
    end = _polygon_end(count, rest is None)
    return _Shape(
        count,
        rest is not None,
        _confidence_kind(fields[4]) if count > 4 else 0,
        _confidence_kind(fields[8]) if count > 8 else 0,
        _confidence_kind(fields[end]) if end < count else 0,
    )


def _polygon_end(numbers: int, leaves_one: bool) -> int:
    """Length of the longest even run of these numbers, or of all but the last."""
    return (numbers - leaves_one) // 2 * 2


def _confidence_kind(number: str) -> int:
    if not 0 <= float(number) <= 1:
        return 0
    return 1 if number.strip().isdigit() else 2


def _read(entries: archive.Entries, syntax: _Syntax, positions: Ints, faults: FaultLog) -> ReadImages:
    """Read the images at these positions; see `Source.read`."""
    chosen = [entries.entries[k] for k in positions.tolist()]
    lines: list[_Line] = []
    ends = [0]
    for entry, data in zip(chosen, entries.read_many(chosen), strict=True):
        lines.extend(_read_entry(entries.place(entry), data, syntax, faults))
        ends.append(len(lines))
    offsets = np.array(ends, np.int64)
    ids = np.arange(1, len(lines) + 1) - np.repeat(offsets[:-1], np.diff(offsets))
    boxes, polygons, vertices, vertex_offsets, mended = _shapes(lines, syntax)
    objects = Objects(
        offsets=offsets,
        ids=ids,
        boxes=boxes,
        regions=ids,
        dont_care=np.array([syntax.side == "gt" and line.text == DONT_CARE for line in lines], np.bool_),
        texts=concatenate_texts([line.text for line in lines]),
        polygons=polygons,
        vertices=vertices,
        vertex_offsets=vertex_offsets,
        confidences=np.array([line.confidence for line in lines]) if syntax.confidences else None,
    )
    return ReadImages(np.zeros((len(chosen), 2)), objects, mended)


def _read_entry(place: str, data: bytes, syntax: _Syntax, faults: FaultLog) -> Iterator[_Line]:
    """Yield the objects of one file; what is wrong goes to the log."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte 0x{data[error.start]:02x}, which is not UTF-8"
        number = data.count(b"\n", 0, error.start) + 1
        faults.add(place, number, found, "text in UTF-8 (save the file in that encoding)")
        return
    for number, line in _lines(text):
        try:
            yield _parse(line, syntax)
        except LineFault as fault:
            faults.add(place, number, fault.found, fault.expected)


def _parse(line: str, syntax: _Syntax) -> _Line:
    """Parse one line that is not blank.

    Raises
    ------
    LineFault
        With what stands there and what was expected.
    """
    with_commas = _with_commas(line, syntax.coordinates and syntax.coordinates + syntax.confidences)
    fields, rest = _split(with_commas)
    count = syntax.coordinates
    if count is None:
        count = _polygon_end(len(fields), rest is None and (syntax.confidences or syntax.transcriptions))
    beyond = len(fields) - count - syntax.confidences
    quoted = rest is not None and rest.lstrip(" \t").startswith('"')
    if beyond < 0 or (beyond > 0 and (quoted or (rest is None and not syntax.transcriptions))):
        raise LineFault(f"{_numbers(len(fields))} at the start of {quote(line)}", syntax.layout())
    text = _unquoted(",".join([*fields[count + syntax.confidences :], *([] if rest is None else [rest])]))
    confidence = math.nan
    if syntax.confidences:
        confidence = float(fields[count])
        if not 0 <= confidence <= 1:
            found = f"{quote(fields[count].strip())} where the other lines have a confidence"
            raise LineFault(found, f"a number in [0, 1] after the coordinates: {syntax.layout()}")
    coordinates = [float(number) for number in fields[:count]]
    _check(coordinates, fields, syntax, text)
    return _Line(coordinates, confidence, text)


def _check(coordinates: list[float], fields: list[str], syntax: _Syntax, text: str) -> None:
    if not sum(map(abs, coordinates)) <= COORDINATE_LIMIT:
        for value, number in zip(coordinates, fields, strict=False):
            if not abs(value) <= COORDINATE_LIMIT:
                raise LineFault(quote(number.strip()), "a finite number (at most 1e12 in magnitude)")
    if syntax.format == "ltrb":
        x0, y0, x1, y1 = coordinates
        if x1 < x0 or y1 < y0:
            raise LineFault(
                f"a box from ({x0:g}, {y0:g}) to ({x1:g}, {y1:g})", f"x0 <= x1 and y0 <= y1: {syntax.layout()}"
            )
    elif len(coordinates) < 6 and not (coordinates and text == DONT_CARE):
        raise LineFault(f"{_numbers(len(coordinates))} as coordinates", f"three vertices or more: {syntax.layout()}")


def _numbers(count: int) -> str:
    return "1 number" if count == 1 else f"{count} numbers"


def _unquoted(text: str) -> str:
    quoted = _QUOTED.fullmatch(text)
    return _ESCAPED.sub(r"\1", quoted[1]) if quoted else text


def _shapes(
    lines: list[_Line], syntax: _Syntax
) -> tuple[Floats, Geometries | None, Floats | None, Ints | None, GeometryCounts]:
    """Return boxes, polygons, vertices and vertex offsets as in `Objects`, and what was mended."""
    values = np.fromiter(chain.from_iterable(line.coordinates for line in lines), np.float64)
    if syntax.format == "ltrb":
        boxes = values.reshape(-1, 4)
        flat = (boxes[:, 2:] == boxes[:, :2]).any(axis=1)
        return boxes, None, None, None, GeometryCounts(zero_area=int(flat.sum()))
    from evaltex_cli.geometry.polygons import from_vertices

    vertices = values.reshape(-1, 2)
    vertex_offsets = np.cumsum([0, *(len(line.coordinates) // 2 for line in lines)], dtype=np.int64)
    geometries, mended = from_vertices(vertices, vertex_offsets)
    low, high = (extreme.reduceat(vertices, vertex_offsets[:-1]) for extreme in (np.minimum, np.maximum))
    return np.concatenate([low, high], axis=1), geometries, vertices, vertex_offsets, mended


def _format(name: str, title: str) -> Format:
    return Format(name, title, partial(recognises, name), partial(index, name))


LTRB = _format("ltrb", "folder or .zip of ICDAR-style .txt files of boxes x0,y0,x1,y1")
QUAD = _format("quad", "folder or .zip of ICDAR-style .txt files of quadrilaterals x1,y1,...,x4,y4")
POLYGON = _format("polygon", "folder or .zip of ICDAR-style .txt files of polygons x1,y1,...,xn,yn")
