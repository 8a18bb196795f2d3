"""EvaLTex .txt: many images in one file, each a name, a size (ground truth) and lines of objects.

A line of the ground truth is ``ID,region,"transcription",t|f,x,y,width,height``, of detections
``ID,"transcription",x,y,width,height``; instead of the last four numbers there may be a polygon
x1,y1,x2,y2,... Lines that are written as usual become columns without an object for each. Lines
that are not (blanks, a plus sign, no quotes), or that have no area, are parsed one by one.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import Columns, File, Format, Head, ReadOptions, Side, TextObject
from evaltex_cli.formats.columns import objects_of
from evaltex_cli.formats.names import bad_names
from evaltex_cli.formats.options import COORDINATE_LIMIT, MAX_VERTICES
from evaltex_cli.formats.parsing import NUMBER, number
from evaltex_cli.geometry import outlines
from evaltex_cli.records import Bools, Floats, Ints, Objects, Places, Texts, offsets_of
from evaltex_cli.records.rows import concatenate, take, take_images

BLOCK = 1 << 20
"""Characters whose numbers are Python objects at a time."""
LAYOUT: dict[Side, str] = {
    "gt": 'ID,region,"transcription",t|f,x,y,width,height',
    "det": 'ID,"transcription",x,y,width,height',
}
# Numbers as JSON has them, so that msgspec reads those of many lines at once; whole numbers of 15
# digits at most, which floats have.
_WHOLE = r"(?:0|[1-9][0-9]{0,14}+)"
_DECIMAL = r"-?+(?:0|[1-9][0-9]{0,12}+)(?:\.[0-9]{1,20}+)?+"
_COORDINATES = rf"{_DECIMAL},{_DECIMAL}(?:,{_DECIMAL},{_DECIMAL})++"
_USUAL: dict[Side, re.Pattern[str]] = {
    "gt": re.compile(rf'^(?:{_WHOLE},{_WHOLE},"[^"\n]*+",[tf],{_COORDINATES}\n)++', re.M),
    "det": re.compile(rf'^(?:{_WHOLE},"[^"\n]*+",{_COORDINATES}\n)++', re.M),
}
"""Usual lines of objects, one after the other."""
_QUOTED: dict[Side, re.Pattern[str]] = {
    "gt": re.compile(r'([^,"]*,[^,"]*),\s*"(?:(.*)"\s*,(.*))?'),
    "det": re.compile(r'([^,"]*),\s*"(?:(.*)"\s*,(.*))?'),
}
_GT_LINE = re.compile(r'\s*\d+\s*,\s*\d+\s*,\s*".*"\s*,\s*[tf]\s*,')
_INTEGER = re.compile(r"\s*[+-]?\d{1,18}\s*", re.ASCII)
_NUMBER_LIKE = re.compile(rf"\s*(?:{NUMBER}|[+-]?(?:nan|inf|infinity))\s*", re.ASCII | re.I)
_PLAIN_SIZE = re.compile(r"[1-9][0-9]{0,8},[1-9][0-9]{0,8}")
_SIZE_ATTEMPT = re.compile(
    r"(?=[^\s,;xX]++[\s,;xX])[\d.+-][\s\d.+,;xX-]*+|\d[^,]*+,[^,]*+|[^,]*+,\s*+\d[^,]*+"
)
_BEGINNING = re.compile(
    r"([^\n]++)\n\s*+(?:[\d.]++[ \t]*+,[ \t]*+[\d.]++[ \t]*+(?:\n|\Z)"
    r'|\d++[ \t]*+,[ \t]*+(?:\d++[ \t]*+,[ \t]*+)?+".*"[ \t]*+,)'
)
"""A name, and a size or a quoted transcription after ID and region."""


# Single lines -------------------------------------------------------------------------------------


def is_object_line(line: str, side: Side) -> bool:
    """Whether a line is an object's: its transcription has quotes, or it ends in four numbers."""
    if _QUOTED[side].match(line):
        return True
    fields = line.rsplit(",", 4)
    return len(fields) >= 4 and all(_NUMBER_LIKE.fullmatch(field) for field in fields[-4:])


def _parse(line: str, side: Side) -> TextObject:
    """Return the object of a line; raises `FormatError`."""
    ids, text, after = _split(line, side)
    dont_care = False
    if side == "gt":
        flag = after.pop(0).strip()
        if flag not in ("t", "f"):
            found = f"reject flag {quote(flag)}"
            raise FormatError(found, "t (rejected) or f after the transcription")
        dont_care = flag == "t"
    for value, what in zip(ids, ("ID", "region"), strict=False):
        if not _INTEGER.fullmatch(value):
            raise FormatError(f"{what} {quote(value.strip())}", f"a whole number as {what}")
    points = [number(value) for value in after]
    if len(points) != 4 and (len(points) < 6 or len(points) % 2):
        raise FormatError(
            f"{len(points)} coordinates",
            "x,y,width,height, or an even count of six or more: the vertices of a polygon",
        )
    if len(points) == 4:
        for k, side_name in enumerate(("width", "height")):
            start, size = points[k], points[k + 2]
            points[k + 2] = start + size
            if size <= 0:
                raise FormatError(f"{side_name} {size:g}", f"a {side_name} above 0")
            if start + size <= start:
                found = f"{side_name} {size:g} at coordinate {start:g}"
                raise FormatError(found, f"a {side_name} that is not lost in rounding")
    return TextObject(points, text, dont_care, id=int(ids[0]), region=int(ids[-1]))


def _split(line: str, side: Side) -> tuple[list[str], str, list[str]]:
    """Return the fields before the transcription, the transcription, and the fields after it."""
    quoted = _QUOTED[side].match(line)
    if quoted and quoted[2] is None:
        found = f"no closing quote and comma after the transcription in {quote(line)}"
        raise FormatError(found, LAYOUT[side])
    if quoted:
        return quoted[1].split(","), quoted[2], quoted[3].split(",")
    if side == "det" and _GT_LINE.match(line):
        raise FormatError(f"a ground-truth line {quote(line)}", LAYOUT[side])
    fields = line.split(",")
    if len(fields) < (8 if side == "gt" else 6):
        raise FormatError(f"{len(fields)} fields in {quote(line)}", LAYOUT[side])
    end = len(fields)  # of the transcription
    while end > 1 and _NUMBER_LIKE.fullmatch(fields[end - 1]):
        end -= 1
    numbers = len(fields) - end
    if side == "gt":
        end = max(end - 1, 3)  # a field before the numbers is the reject flag
    elif len(fields) == 6:
        end = 2
    elif end < 2 or not (numbers == 4 or (numbers >= 6 and numbers % 2 == 0)):
        raise FormatError(
            f"an unquoted transcription that cannot be separated from the numbers in {quote(line)}",
            f"the transcription in double quotes: {LAYOUT[side]}",
        )
    leading = 2 if side == "gt" else 1
    return fields[:leading], ",".join(fields[leading:end]).strip(), fields[end:]


def _size(line: str) -> tuple[float, float]:
    """Return height and width; raises `FormatError`."""
    fields = line.split(",")
    if len(fields) != 2:
        raise FormatError(quote(line), "the image's size, height,width, after its name")
    height, width = (number(value) for value in fields)
    if height <= 0 or width <= 0:
        raise FormatError(quote(line), "a height and a width above 0")
    return height, width


# Usual lines --------------------------------------------------------------------------------------


def _objects(text: str, side: Side) -> tuple[Objects, Bools]:
    """Return the objects of a text of usual lines alone, and (n,) bool which of the lines are to be
    parsed one by one.
    """
    data = np.frombuffer(text.encode(), np.uint8)
    opening, closing = np.flatnonzero(data == ord('"')).reshape(-1, 2).T
    # A running sum that is 0 at the numbers, 2 at the transcriptions, and 1 at what is around them.
    steps = np.zeros(len(data) + 1, np.int8)
    steps[opening], steps[closing + (4 if side == "gt" else 2)] = 1, -1
    steps[opening + 1] += 1
    steps[closing] -= 1
    depth = np.cumsum(steps[:-1], dtype=np.int8)
    numbers, texts = data[depth == 0], data[depth == 2].tobytes()
    ends = offsets_of(closing - opening - 1)
    is_end = numbers == ord("\n")
    counts = np.diff(np.flatnonzero(is_end[is_end | (numbers == ord(","))]), prepend=-1)
    listed = numbers.tobytes()[:-1].replace(b"\n", b",")
    values = np.array(msgspec.json.decode(b"[" + listed + b"]", type=list[float]), np.float64)
    ids = offsets_of(counts)[:-1]
    regions = ids + (side == "gt")
    is_coordinate = np.ones(len(values), np.bool_)
    is_coordinate[ids] = is_coordinate[regions] = False
    coordinates, counts = values[is_coordinate], counts - 1 - (side == "gt")
    odd = _with_corners(coordinates, counts)
    objects = Objects(
        offsets=np.array([0, len(counts)]),
        ids=values[ids].astype(np.int64),
        outlines=outlines.drawn(coordinates, counts, counts == 4),
        regions=values[regions].astype(np.int64),
        dont_care=data[closing + 2] == ord("t"),
        texts=Texts(texts, ends[:-1], ends[1:]),
    )
    return objects, odd


def _with_corners(values: Floats, counts: Ints) -> Bools:
    """Put x1, y1 in the place of widths and heights; return (n,) bool which objects have numbers
    that are too small or large, or too many of them.
    """
    first = offsets_of(counts)[:-1]
    odd: Bools = counts > 2 * MAX_VERTICES
    box = np.flatnonzero(counts == 4)
    for k in first[box], first[box] + 1:
        size = values[k + 2]
        values[k + 2] += values[k]
        odd[box] |= ~((size > 0) & (values[k + 2] > values[k]))
    beyond = np.flatnonzero(np.abs(values) > COORDINATE_LIMIT)
    odd[np.searchsorted(first, beyond, side="right") - 1] = True
    return odd


# Files --------------------------------------------------------------------------------------------


@dataclass
class _Reader:
    """Takes the lines of a file one after the other."""

    file: File
    side: Side
    line: int = 1
    """The number of the next line."""
    names: list[str] = field(default_factory=list)
    name_lines: array[int] = field(default_factory=lambda: array("q"))
    sizes: array[float] = field(default_factory=lambda: array("d"))
    """Height and width of each image, 0 where they are not known."""
    objects: list[Objects] = field(default_factory=list)
    lines: list[Ints] = field(default_factory=list)
    """`objects` and `lines`: of usual lines, some at a time, and their numbers."""
    others: list[TextObject] = field(default_factory=list)
    _awaits_size: bool = False

    def read(self) -> None:
        """Read all lines."""
        text = self.file.text
        text = text if text.endswith("\n") else f"{text}\n"
        start = 0
        while start < len(text):
            end = text.find("\n", start + BLOCK) + 1 or len(text)
            self._read_block(text[start:end])
            start = end
        if self._awaits_size:
            self._log_missing_size("the end of the file", self.line - 1)

    def _read_block(self, block: str) -> None:
        usual, lines, end = [], list[int](), 0
        for run in _USUAL[self.side].finditer(block):
            self._read_lines(block[end : run.start()])
            end = run.end()
            if self._awaits_size or not self.names:
                self._read_lines(run[0])
                continue
            following = self.line + run[0].count("\n")
            usual.append(run[0])
            lines += range(self.line, following)
            self.line = following
        self._read_lines(block[end:])
        text = "".join(usual)
        objects, odd = _objects(text, self.side)
        every = text.split("\n") if odd.any() else []
        for k in np.flatnonzero(odd).tolist():
            self._read_object(every[k], lines[k])
        self.objects.append(take(objects, ~odd) if every else objects)
        self.lines.append(np.array(lines, np.int64)[~odd])

    def _read_lines(self, lines: str) -> None:
        for line in lines.split("\n")[:-1]:
            stripped = line.strip()
            if stripped:
                self._read_line(stripped)
            self.line += 1

    def _read_line(self, line: str) -> None:
        is_size = self._awaits_size and _PLAIN_SIZE.fullmatch(line)
        is_object = not is_size and "," in line and is_object_line(line, self.side)
        if self._awaits_size:
            self._awaits_size = False
            if is_size or (not is_object and _SIZE_ATTEMPT.fullmatch(line)):
                try:
                    self.sizes[-2:] = array("d", _size(line))
                except FormatError as error:
                    self.file.log(error, self.line)
                return
            self._log_missing_size(quote(line), self.line)
        if is_object:
            self._read_object(line, self.line)
            return
        self.names.append(line)
        self.name_lines.append(self.line)
        self.sizes.extend((0.0, 0.0))
        self._awaits_size = self.side == "gt"

    def _read_object(self, line: str, number: int) -> None:
        if self.names:
            self.others += self.file.each([(number, line)], lambda text: _parse(text, self.side))
        else:
            found = f"object line {quote(line)} before any image name"
            self.file.log(FormatError(found, "an image name"), number)

    def _log_missing_size(self, found: str, line: int) -> None:
        expected = f"the size of image {quote(self.names[-1])}, height,width (960,1280, say)"
        self.file.log(FormatError(found, expected), line)


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Columns]:
    reader = _Reader(file, side)
    reader.read()
    lines = np.concatenate([*reader.lines, [one.place for one in reader.others]]).astype(np.int64)
    order = np.argsort(lines, kind="stable")
    lines = lines[order]
    objects = concatenate([*reader.objects, objects_of([reader.others])])
    offsets = np.append(np.searchsorted(lines, reader.name_lines), len(lines))
    if reader.others:
        objects = take(objects, order, offsets)
    objects = replace(objects, offsets=offsets, places=Places("{}", lines))
    _log_repeated_ids(objects, lines, file)
    bad = set()
    for k, found, expected in bad_names(reader.names):
        file.log(FormatError(found, expected), reader.name_lines[k])
        bad.add(k)
    names, sizes = reader.names, np.array(reader.sizes).reshape(-1, 2)
    if bad:
        sound = np.array([k for k in range(len(names)) if k not in bad], np.int64)
        names, sizes = [names[k] for k in sound.tolist()], sizes[sound]
        objects = take_images(objects, sound)
    fractions = np.zeros(len(names), np.bool_)
    yield Columns(names, sizes, objects, fractions, [file.place] * len(names), [])


def _log_repeated_ids(objects: Objects, lines: Ints, file: File) -> None:
    image, ids = objects.image, objects.ids
    if ((np.diff(ids) > 0) | (np.diff(image) > 0)).all():
        return
    order = np.lexsort((lines, ids, image))
    again = (np.diff(ids[order]) == 0) & (np.diff(image[order]) == 0)
    for k in np.flatnonzero(again).tolist():
        here, there = order[k + 1], order[k]
        expected = f"IDs used once in an image (it stands in line {lines[there]} too)"
        file.log(FormatError(f"ID {ids[here]} again", expected), int(lines[here]))


def _recognise(head: Head) -> str:
    begins = _BEGINNING.match(head.text.lstrip())
    if not begins or any(is_object_line(begins[1], side) for side in LAYOUT):
        return ""
    return "the name of an image and its size or objects"


EVALTEX = Format(
    "evaltex",
    "EvaLTex .txt: many images in one file",
    _read,
    _recognise,
    (".txt",),
    layout='ID,region,"text",t|f,x,y,w,h; detections ID,"text",x,y,w,h; or vertices instead of the'
    " four numbers",
    one_document=True,
)
