"""What no single line of ICDAR-style .txt files shows, and all lines of a folder or archive
together do, in one pass.

Everything comes from the shapes of the lines (`icdar.shapes.LineShape`):

- The format, unless the user names it. Formats of their own need 95 % of the lines. So do five
  numbers ``left,top,right,bottom,angle`` (MSRA-TD500): the fifth is in [-pi, pi] everywhere and not
  everywhere in [0, 1], where it would be a confidence; or ``None`` or ``###`` follows it.
  `icdar.row_evidence` decides on lines of a class and numbers. For all others a line's leading
  numbers vote: 4 or 5 for `LTRB`, 8 or 9 for `QUAD`, 6, 7, 10 and more for `POLYGON`, fewer for
  none. If 5 % of the lines or more go on with something that is no number, only these vote; so a
  transcription ``60,000`` does not count as a vertex. If 5 % of the votes or more are of lines of
  exactly four numbers and 5 % or more of six and more numbers, it is `BOX_POLYGON`. `LTRB` needs
  half of the votes; of the rest 5 % make a `POLYGON`, a single one if all lines are numbers and
  nothing else. Without any vote it is `LTRB`, and its reader reports what is wrong.
- Confidences (detections). 95 % of the lines or more have a number in [0, 1] after their
  coordinates, or any number if no other number follows; and either something after that on each of
  these, or a decimal point in at least one of these numbers. Then a line without one is a fault.
  Their scale is that of the lowest and highest (`confidences.scale_of`).
- Transcriptions (detections, and polygons in ground truth). Half of the lines or more have
  something after coordinates and confidence. Otherwise a surplus number is a fault, not a
  transcription.
- Where polygons end. The coordinates are the longest even run of leading numbers that leaves a
  field for confidence or transcription. So ``...,1996`` is a transcription, and one that begins
  with a number and a comma may need quotes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from evaltex_cli.errors import counted
from evaltex_cli.old_formats.base import DONT_CARE, Side
from evaltex_cli.old_formats.confidences import UNIT, Scale, scale_of
from evaltex_cli.old_formats.files import archive
from evaltex_cli.old_formats.files.entries import Entries
from evaltex_cli.old_formats.files.fingerprint import Fingerprint
from evaltex_cli.old_formats.files.row_files import is_file_of_rows
from evaltex_cli.old_formats.icdar.bulk_shapes import Shapes, survey_block
from evaltex_cli.old_formats.icdar.lines import COORDINATES, Syntax, lines_of
from evaltex_cli.old_formats.icdar.row_evidence import Evidence
from evaltex_cli.old_formats.icdar.row_lines import is_header, row_of
from evaltex_cli.old_formats.icdar.shapes import (
    DECIMAL,
    DECIMAL_BEYOND,
    PLACES,
    WHOLE,
    LineShape,
)
from evaltex_cli.old_formats.lines import whole_lines

FEW = 0.05
"""Share of the lines that may differ from what the others say."""
WRAPPED = 0.1
"""Share of the lines that must begin a record of Total-Text's: longer ones are wrapped."""
SEVERAL = 2
"""Least number of transcriptions of which it is unusual that all end in a comma."""
SURVEY_BYTES = 1 << 20

UTF8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Survey:
    """One pass over an archive: its entries, its SHA-256, and the shapes of its lines.

    `rows` has the evidence of lines that begin with a class; it is without any unless nearly all
    lines may be such.
    """

    entries: Entries
    sha256: str
    shapes: Shapes
    rows: Evidence

    @property
    def lines(self) -> Counter[LineShape]:
        """How many lines are of each shape."""
        return self.shapes.counts

    def count(self, holds: Callable[[LineShape], bool]) -> int:
        """Number of lines of which this holds."""
        return sum(count for shape, count in self.lines.items() if holds(shape))

    def format(self) -> str:
        """Name of the format of the lines."""
        return self._marked_format() or self.rows.format() or self._voted_format()

    def _marked_format(self) -> str | None:
        """The format of which nearly all lines are; Total-Text's go over several lines."""
        marks = _marks(self.lines)
        if marks["totaltext"] >= WRAPPED * marks.total() > 0:
            return "totaltext"
        if self._has_angles():
            return "msra-td500"
        name, count = max(marks.items(), key=lambda item: item[1], default=("", 0))
        only_difficult = name == "rctw" and not self.count(lambda shape: shape.mark == "rctw easy")
        if name in ("rows", "angle") or only_difficult or count < (1 - FEW) * marks.total():
            return None
        return name or None

    def _has_angles(self) -> bool:
        """Whether nearly all lines are left, top, right, bottom and an angle."""
        enough = (1 - FEW) * self.lines.total()
        if (
            not self.lines
            or not -math.pi <= self.shapes.lowest[0] <= self.shapes.highest[0] <= math.pi
        ):
            return False
        texts = self.count(lambda shape: shape.mark == "angle")
        angles = texts + self.count(lambda shape: shape.numbers == 5 and not shape.goes_on)
        decimal = self.count(
            lambda shape: shape.numbers == 5 and shape.after_box in (DECIMAL, DECIMAL_BEYOND)
        )
        beyond = self.count(lambda shape: shape.numbers == 5 and shape.after_box == DECIMAL_BEYOND)
        return angles >= enough and (texts >= enough or (beyond > 0 and 2 * decimal >= angles))

    def _voted_format(self) -> str:
        with_text = self.count(lambda shape: shape.goes_on)
        only_these = with_text >= FEW * self.lines.total() > 0
        votes: Counter[str] = Counter()
        exactly_four = 0
        for shape, count in self.lines.items():
            if shape.numbers >= 4 and (shape.goes_on or not only_these):
                votes[
                    {4: "ltrb", 5: "ltrb", 8: "quad", 9: "quad"}.get(shape.numbers, "polygon")
                ] += count
                exactly_four += count * (shape.numbers == 4 and not shape.is_hidden)
        others = votes["quad"] + votes["polygon"]
        if min(exactly_four, others) >= FEW * votes.total() > 0:
            return "box-polygon"
        if 2 * votes["ltrb"] >= votes.total():
            return "ltrb"
        needed = FEW * others if with_text else 1
        return "polygon" if votes["polygon"] >= needed else "quad"

    def syntax(self, name: str, side: Side) -> Syntax:
        """What the lines hold, read as this format."""
        syntax = Syntax(name, side)
        if syntax.own_tail and name != "ctw1500":
            return syntax
        coordinates, total = COORDINATES[name], self.lines.total()
        having = self.count(lambda shape: shape.confidence(coordinates) > 0)
        decimal = self.count(
            lambda shape: shape.confidence(coordinates) in (DECIMAL, DECIMAL_BEYOND)
        )
        followed = self.count(
            lambda shape: shape.confidence(coordinates) > 0 and shape.goes_beyond(coordinates, True)
        )
        confidences = (
            side == "det"
            and having >= (1 - FEW) * total > 0
            and (decimal > 0 or followed == having)
        )
        beyond = self.count(lambda shape: shape.goes_beyond(coordinates, confidences))
        always = side == "gt" and coordinates is not None
        scale = self._scale(coordinates) if confidences else UNIT
        return Syntax(name, side, confidences, always or 2 * beyond >= total > 0, scale)

    def _scale(self, coordinates: int | None) -> Scale:
        """The scale of confidences after so many coordinates; a few whole
        numbers beyond [0, 1] are faults.
        """
        within = self.count(lambda shape: shape.confidence(coordinates) in (WHOLE, DECIMAL))
        decimal_beyond = self.count(lambda shape: shape.confidence(coordinates) == DECIMAL_BEYOND)
        if within >= (1 - FEW) * self.lines.total() and not decimal_beyond:
            return UNIT
        k = PLACES.index(coordinates)
        return scale_of(self.shapes.lowest[k], self.shapes.highest[k])

    def warnings(self, name: str, side: Side) -> Iterator[str]:
        """Yield what is unusual about the lines, read as this format."""
        yield from self.text_warnings(side)
        if side == "gt":
            return
        syntax, coordinates = self.syntax(name, side), COORDINATES[name]
        warning = syntax.scale.warning()
        if warning:
            yield warning
        last = self.count(
            lambda shape: shape.confidence(coordinates) >= WHOLE and not shape.goes_on
        )
        if (
            syntax.transcriptions
            and not syntax.own_tail
            and not syntax.confidences
            and last == self.lines.total() > 0
        ):
            yield (
                "every line ends in a whole number after its coordinates, which is read as"
                " transcription; if it is a confidence, write it with a decimal point"
                + (", if a coordinate, write the other one too" if name == "polygon" else "")
            )

    def text_warnings(self, side: Side) -> Iterator[str]:
        """Yield what is unusual about the transcriptions."""
        spaced, commas = self.shapes.spaced_dont_care, self.shapes.commas
        if side == "gt" and spaced:
            found = counted(
                spaced,
                f"{{count}} transcription[s] [is|are] {DONT_CARE} with blanks or commas around",
            )
            yield f"{found}, which is not don't care; delete these where it should be"
        if commas >= SEVERAL and commas == self.count(lambda shape: shape.goes_on):
            yield (
                f"all {commas} transcriptions end in a comma, which is read as part of them;"
                " delete it if it is not"
            )


def _marks(lines: Counter[LineShape]) -> Counter[str]:
    marks: Counter[str] = Counter()
    for shape, count in lines.items():
        marks[shape.mark.split(" ")[0]] += count
    return marks


def recognises(name: str) -> Callable[[Path], bool]:
    """Return what says whether a path is a folder, archive or file whose lines are of the format of
    this name.

    It raises `InputError` when it is an archive that cannot be read, is damaged or too large.
    """
    return lambda path: (
        (archive.is_archive(path) or is_file_of_rows(path)) and survey(path).format() == name
    )


def is_empty(path: Path) -> bool:
    """Whether a folder or archive has no .txt file; raises as `recognises`."""
    return not survey(path).entries.entries


def numbers_of_lines(path: Path) -> str:
    """Say how many lines of a folder or archive begin with how many numbers;
    raises as `recognises`.
    """
    lines: Counter[int] = Counter()
    for shape, count in survey(path).lines.items():
        lines[shape.numbers] += count
    usual = ", ".join(f"{count} with {numbers}" for numbers, count in lines.most_common(3))
    rest = ", ..." if len(lines) > 3 else ""
    return (
        counted(lines.total(), f"numbers at the start of {{count}} line[s]: {usual}{rest}")
        if lines
        else "no line"
    )


def survey(path: Path) -> Survey:
    """Return the survey of a folder or archive; raises as `recognises`."""
    with archive.held_state(path):
        return _survey(path, archive.state(path))


@lru_cache(maxsize=4)
def _survey(path: Path, state: int) -> Survey:
    """Pass once over what is at a path in this state (`archive.state`); twice
    if nearly all lines may have a class.
    """
    entries = archive.open_entries(path)
    fingerprint = Fingerprint(entries)
    shapes, rows = Shapes(), Evidence()
    for block in _blocks(entries, fingerprint):
        shapes.add(survey_block(block))
    marks = _marks(shapes.counts)
    if marks["rows"] >= (1 - FEW) * marks.total() > 0:
        for block in _blocks(entries, Fingerprint(entries)):
            for _, line in lines_of(block.decode("utf-8", "replace")):
                if not is_header(line):
                    rows.add(row_of(line))
    return Survey(entries, fingerprint.hexdigest(), shapes, rows)


def _blocks(entries: Entries, fingerprint: Fingerprint) -> Iterator[bytes]:
    """Yield the text of all entries, many at a time."""
    parts: list[bytes] = []
    size = 0
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        fingerprint.add(entry, data)
        parts.append(whole_lines(data.removeprefix(UTF8_BOM)))
        size += len(data)
        if size >= SURVEY_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)
