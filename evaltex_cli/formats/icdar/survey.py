"""What no single line of ICDAR-style .txt files shows, and all lines of a folder or archive together do, in one pass.

Everything comes of the shapes of the lines (`icdar.lines.LineShape`):

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

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from evaltex_cli.errors import FormatError, counted
from evaltex_cli.formats.base import DONT_CARE, Side
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.files.archive import Fingerprint
from evaltex_cli.formats.files.numbers import parse_numbers
from evaltex_cli.formats.files.text_lines import line_ends, refuse_excess, without_blank_lines
from evaltex_cli.formats.icdar.lines import (
    COORDINATES,
    CURVED_PREFIX,
    SCRIPTS,
    LineShape,
    Syntax,
    bare_line,
    survey_line,
)
from evaltex_cli.formats.lines import whole_lines
from evaltex_cli.formats.plain_lines import Bytes, PlainLines, are_blanks, plain_lines, stretches
from evaltex_cli.records import Bools, Ints

FEW = 0.05
"""Share of the lines that may differ from what the others say."""
WRAPPED = 0.1
"""Share of the lines that must begin a record of Total-Text's: longer ones are wrapped."""
SURVEY_BYTES = 1 << 20

UTF8_BOM = b"\xef\xbb\xbf"
_QUOTE, _HASH, _COMMA, _ZERO, _ONE = b'"#,01'
_SCRIPTS = frozenset(script.encode() for script in SCRIPTS)
_MAY_BEGIN_SCRIPT = np.isin(np.arange(256), [*(script[0] for script in _SCRIPTS), *b" \t"])
_LONGEST_SCRIPT = max(map(len, SCRIPTS))


@dataclass(frozen=True, slots=True)
class Survey:
    """One pass over an archive: its entries, its SHA-256, and how many lines are of each shape.

    `spaced_dont_care` counts the transcriptions that are ``###`` with blanks around.
    """

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


def recognises(name: str) -> Callable[[Path], bool]:
    """Return what says whether a path is a folder or archive whose lines vote for the format of this name.

    It raises `InputError` when it is an archive that cannot be read, is damaged or too large.
    """
    return lambda path: archive.is_archive(path) and survey(path).format() == name


def is_empty(path: Path) -> bool:
    """Whether a folder or archive has no .txt file; raises as `recognises`."""
    return not survey(path).entries.entries


def numbers_of_lines(path: Path) -> str:
    """Say how many lines of a folder or archive begin with how many numbers; raises as `recognises`."""
    lines: Counter[int] = Counter()
    for shape, count in survey(path).lines.items():
        lines[shape.numbers] += count
    usual = ", ".join(f"{count} with {numbers}" for numbers, count in lines.most_common(3))
    rest = ", ..." if len(lines) > 3 else ""
    return counted(lines.total(), f"numbers at the start of {{count}} line[s]: {usual}{rest}") if lines else "no line"


def survey(path: Path) -> Survey:
    """Return the survey of a folder or archive; raises as `recognises`."""
    return _survey(path, archive.state(path))


@lru_cache(maxsize=4)
def _survey(path: Path, state: int) -> Survey:
    """Pass once over what stands at a path in this state (`archive.state`)."""
    entries = archive.open_entries(path)
    fingerprint = Fingerprint(entries)
    shapes: Counter[LineShape] = Counter()
    spaced = 0
    for block in _blocks(entries, fingerprint):
        found, spaced_here = survey_block(block)
        shapes += found
        spaced += spaced_here
    return Survey(fingerprint.indexed(), fingerprint.hexdigest(), shapes, spaced)


def _blocks(entries: archive.Entries, fingerprint: Fingerprint) -> Iterator[bytes]:
    """Yield the text of all entries, many at a time; those that are out of bounds say nothing of the others."""
    parts: list[bytes] = []
    size = 0
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        fingerprint.add(entry, data)
        with contextlib.suppress(FormatError):
            refuse_excess(data)
            parts.append(whole_lines(without_blank_lines(data)[0].removeprefix(UTF8_BOM)))
        size += len(data)
        if size >= SURVEY_BYTES:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


def survey_block(buffer: bytes) -> tuple[Counter[LineShape], int]:
    """Count the shapes of some lines, and the transcriptions that are ``###`` with blanks around."""
    data = np.frombuffer(buffer, np.uint8)
    ends = line_ends(data)
    shapes: Counter[LineShape] = Counter()
    spaced = 0
    for first, last in stretches(data, ends):
        start, stop = int(ends[first - 1]) + 1 if first else 0, int(ends[last - 1]) + 1
        found, spaced_here = _survey_stretch(buffer[start:stop], data[start:stop], ends[first:last] - start)
        shapes += found
        spaced += spaced_here
    return shapes, spaced


def _survey_stretch(buffer: bytes, data: Bytes, ends: Ints) -> tuple[Counter[LineShape], int]:
    plain = plain_lines(data)
    shapes, special, spaced_plain = _survey_plain(buffer, data, plain)
    spaced = len(spaced_plain)
    is_odd = np.diff(ends, prepend=-1) > 1
    is_odd[plain.line] = False
    is_odd[plain.line[special]] = True
    for k in np.flatnonzero(is_odd).tolist():
        line = bare_line(buffer[int(ends[k - 1]) + 1 if k else 0 : int(ends[k])].decode("utf-8", "replace"))
        if line:
            shape, is_spaced = survey_line(line)
            shapes[shape] += 1
            spaced += is_spaced
    return shapes, spaced


def _survey_plain(buffer: bytes, data: Bytes, plain: PlainLines) -> tuple[Counter[LineShape], Ints, list[int]]:
    """Count the shapes of plain lines.

    Returns
    -------
    shapes : Counter
        Of all plain lines but those in `special`.
    special : (s,) int64
        Positions in `plain` of lines that may be of a format of its own, for `icdar.lines.survey_line` to decide.
    spaced : list of int
        Positions in `plain` of lines whose transcription is ``###`` with blanks around.
    """
    numbers, goes_on = plain.numbers, plain.goes_on
    first = data[plain.rest]
    second = data[np.minimum(plain.rest + 1, len(data) - 1)]
    quoted = (first == _QUOTE) | (are_blanks(first) & (second == _QUOTE))
    is_special = (numbers == 9) & goes_on & quoted
    is_special |= (numbers == 28) & goes_on & (first == ord(CURVED_PREFIX[0]))
    is_special |= ((numbers == 32) | (numbers == 7)) & ~goes_on
    is_special |= _has_script(buffer, data, plain)
    code = numbers * 2 + goes_on
    for place in (np.full_like(numbers, 4), np.full_like(numbers, 8), (numbers - ~goes_on) // 2 * 2):
        code = code * 3 + _confidence_kinds(data, plain, place)
    codes, counts = np.unique(code[~is_special], return_counts=True)
    shapes: Counter[LineShape] = Counter()
    for value, number in zip(codes.tolist(), counts.tolist(), strict=True):
        start, box, quad, polygon = value // 27, value // 9 % 3, value // 3 % 3, value % 3
        shapes[LineShape(start // 2, bool(start % 2), box, quad, polygon)] += number
    return shapes, np.flatnonzero(is_special), _spaced_dont_care(buffer, data, plain, is_special)


def _has_script(buffer: bytes, data: Bytes, plain: PlainLines) -> Bools:
    """Whether the field after eight numbers is a script's name, and a comma follows."""
    found = np.zeros(len(plain.line), dtype=bool)
    quads = np.flatnonzero((plain.numbers == 8) & plain.goes_on)
    quads = quads[_MAY_BEGIN_SCRIPT[data[plain.rest[quads]]]]
    if not len(quads):
        return found
    commas = np.flatnonzero(data == _COMMA)
    following = np.append(commas, len(data))[np.searchsorted(commas, plain.rest[quads])]
    near = following < np.minimum(plain.stop[quads], plain.rest[quads] + _LONGEST_SCRIPT + 3)
    for k, start, stop in zip(
        quads[near].tolist(), plain.rest[quads[near]].tolist(), following[near].tolist(), strict=True
    ):
        found[k] = buffer[start:stop].strip(b" \t") in _SCRIPTS
    return found


def _spaced_dont_care(buffer: bytes, data: Bytes, plain: PlainLines, is_special: Bools) -> list[int]:
    hashes = np.flatnonzero(data == _HASH)
    owner = np.searchsorted(plain.stop, hashes, side="right")
    hashes, owner = hashes[owner < len(plain.stop)], owner[owner < len(plain.stop)]
    suspects = np.unique(owner[hashes >= plain.rest[owner]])
    rest, stop = plain.rest[suspects], plain.stop[suspects]
    suspects = suspects[~is_special[suspects] & ~is_dont_care(data, rest, stop)]
    return [
        k
        for k in suspects.tolist()
        if buffer[plain.rest[k] : plain.stop[k]].decode("utf-8", "replace").strip() == DONT_CARE
    ]


def _confidence_kinds(data: Bytes, plain: PlainLines, place: Ints) -> Ints:
    """`icdar.lines.confidence_kind` of each line's field at a place; 0 where it has none."""
    kinds = np.zeros(len(place), np.int64)
    has = np.flatnonzero(place < plain.numbers)
    start, stop = plain.field(has, place[has])
    start = start + are_blanks(data[start])
    first = data[start]
    single = (stop == start + 1) & (first <= _ONE)
    kinds[has[single]] = 1
    # What begins otherwise is no number in [0, 1]: with a minus sign or a further blank, anything may follow.
    may_be = (stop > start + 1) & ((first <= _ZERO) | ((first == _ONE) & (data[start + 1] == ord("."))))
    has, start, stop = has[may_be], start[may_be], stop[may_be]
    if len(has):
        values = parse_numbers(data, start, stop)
        signs = np.flatnonzero((data == ord(".")) | (data == ord("-")))
        whole = np.searchsorted(signs, start) == np.searchsorted(signs, stop)
        kinds[has] = np.where((values >= 0) & (values <= 1), np.where(whole, 1, 2), 0)
    return kinds


def is_dont_care(data: Bytes, start: Ints, stop: Ints) -> Bools:
    found: Bools = stop - start == len(DONT_CARE)
    for k in range(len(DONT_CARE)):
        found &= data[np.minimum(start + k, len(data) - 1)] == _HASH
    return found
