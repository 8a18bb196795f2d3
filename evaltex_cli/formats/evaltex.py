"""EvaLTex .txt: many images in one file, each a name, a size (ground truth) and lines of objects.

A line of the ground truth is ``ID,region,"transcription",t|f,x,y,width,height``, of detections
``ID,"transcription",x,y,width,height``; instead of the last four numbers there may be a polygon
x1,y1,x2,y2,... Lines that are written as usual become columns without an object for each; all
others (blanks, a plus sign, no quotes) are parsed one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import File, Format, ReadOptions, Side, Source, TextObject
from evaltex_cli.formats.columns import objects_of
from evaltex_cli.formats.names import bad_names
from evaltex_cli.formats.options import MAX_VERTICES
from evaltex_cli.formats.parsing import NUMBER, number, polygon
from evaltex_cli.geometry import outlines
from evaltex_cli.records import Ints, Objects, Texts, concatenate, offsets_of, ranges, take

BLOCK = 1 << 20
"""Characters that are read at a time."""
LAYOUT: dict[Side, str] = {
    "gt": 'ID,region,"transcription",t|f,x,y,width,height',
    "det": 'ID,"transcription",x,y,width,height',
}
# Numbers that JSON and floats have; widths and heights that are not lost when added to them.
_WHOLE = r"(?:0|[1-9][0-9]{0,14}+)"
_DECIMAL = r"-?+(?:0|[1-9][0-9]{0,8}+)(?:\.[0-9]{1,20}+)?+"
_LENGTH = rf"(?=[1-9]|0\.[0-9]{{0,5}}[1-9]){_DECIMAL}"
_PAIR = rf",{_DECIMAL},{_DECIMAL}"
_SHAPE = rf"{_PAIR}(?:,{_LENGTH},{_LENGTH}\n|(?:{_PAIR}){{2,{MAX_VERTICES - 1}}}+\n)"
_USUAL: dict[Side, re.Pattern[str]] = {
    "gt": re.compile(rf'^(?:{_WHOLE},{_WHOLE},"[^"\n]*+",[tf]{_SHAPE})++', re.M),
    "det": re.compile(rf'^(?:{_WHOLE},"[^"\n]*+"{_SHAPE})++', re.M),
}
"""Usual lines of objects, one after the other."""
_ID = r"\s*+([+-]?\d{1,18})\s*+,"
_NUMBERS = r"((?:,\s*+[+-]?[\d.][^,]*+)++)"
_TEXT = r'\s*+(?:"(.*)"\s*+|((?!\d+\s*+,\s*+")[^",][^,]*+(?:,[^,]*+){0,99}?|))'
_ANY: dict[Side, re.Pattern[str]] = {
    "gt": re.compile(rf"{_ID}{_ID}{_TEXT},\s*+([tf])\s*+{_NUMBERS}", re.ASCII),
    "det": re.compile(rf"{_ID}{_TEXT}{_NUMBERS}", re.ASCII),
}
"""A line of an object, with or without quotes around the transcription."""
_OBJECT_LIKE = re.compile(
    rf'(?:[^,"\n]*,){{1,2}}[ \t]*"|(?:.*,)?\s*{NUMBER}(?:\s*,\s*{NUMBER}){{3}}[ \t]*$', re.ASCII
)
"""What is an object's: its transcription has quotes, or it ends in four numbers."""
_SIZE = "height,width (960,1280, say)"
_SIZE_LIKE = re.compile(r"(?=.*[\s,;xX])[\d.+-][\s\d.+,;xX-]*+|[^,]*+,[^,]*+")
_BEGINNING = re.compile(
    rf"\s*+(?!{_OBJECT_LIKE.pattern})[^\n]++\n\s*+"
    r'(?:[\d.]++[ \t]*+,[ \t]*+[\d.]++[ \t]*+$|(?:\d++[ \t]*+,[ \t]*+){1,2}+".*"[ \t]*+,)',
    re.ASCII | re.M,
)
"""A name, and a size or a quoted transcription after ID and region."""


def _objects(text: str, side: Side, lines: Ints) -> Objects:
    """Return the objects of usual lines, of these numbers."""
    parts = text.split('"')
    texts, after = parts[1::2], parts[2::2]
    numbers = "".join(parts[::2]).replace(",,t", "").replace(",,f", "").replace(",,", ",")
    data = np.frombuffer(numbers.encode(), np.uint8)
    is_end = data == ord("\n")
    counts = np.diff(np.flatnonzero(is_end[is_end | (data == ord(","))]), prepend=-1)
    listed = numbers[:-1].replace("\n", ",")
    values = np.array(msgspec.json.decode(f"[{listed}]", type=list[float]))
    first, leading = offsets_of(counts)[:-1], 2 if side == "gt" else 1
    last = first + leading - 1
    coordinates, counts = np.delete(values, [first, last]), counts - leading
    corner = offsets_of(counts)[:-1][counts == 4]
    for k in (corner, corner + 1):
        coordinates[k + 2] += coordinates[k]
    return Objects(
        offsets=np.array([0, len(counts)]),
        ids=values[first].astype(np.int64),
        outlines=outlines.drawn(coordinates, counts, counts == 4),
        regions=values[last].astype(np.int64),
        dont_care=np.array([part[1] == "t" for part in after], np.bool_),
        texts=Texts.of(texts),
        places=lines,
    )


@dataclass
class _Reader:
    """Reads the lines of a file one after the other."""

    file: File
    side: Side
    line: int = 0
    """The number of the last line."""
    names: list[str] = field(default_factory=list)
    name_lines: list[int] = field(default_factory=list)
    sizes: list[list[float]] = field(default_factory=list)
    usual: list[Objects] = field(default_factory=list)
    others: list[TextObject] = field(default_factory=list)

    @property
    def awaits_size(self) -> bool:
        return self.sizes[-1:] == [[]]

    def read_block(self, block: str) -> None:
        """Read whole lines."""
        usual, firsts, counts, end = [], [], [], 0
        for run in _USUAL[self.side].finditer(block):
            self._read_lines(block[end : run.start()])
            end = run.start()
            if self.names and not self.awaits_size:
                end = run.end()
                usual.append(run[0])
                firsts.append(self.line + 1)
                counts.append(run[0].count("\n"))
                self.line += counts[-1]
        self._read_lines(block[end:])
        if usual:
            lines = ranges(np.array(firsts), np.array(counts))
            self.usual.append(_objects("".join(usual), self.side, lines))

    def _read_lines(self, lines: str) -> None:
        for line in map(str.strip, lines.split("\n")[:-1]):
            self.line += 1
            if not line:
                continue
            if "," in line and _OBJECT_LIKE.match(line):
                self.others += self.file.each([(self.line, line)], self._parse)
            elif self.awaits_size and _SIZE_LIKE.fullmatch(line):
                self.sizes[-1] = self._size(line)
            else:
                self.names.append(line)
                self.name_lines.append(self.line)
                self.sizes.append([] if self.side == "gt" else [0.0, 0.0])

    def _size(self, line: str) -> list[float]:
        """Return height and width; zeros for what is wrong, which is logged."""
        try:
            size = [number(value) for value in line.split(",")]
            if len(size) != 2 or min(size) <= 0:
                raise FormatError(quote(line), f"{_SIZE}, both above 0")
        except FormatError as error:
            self.file.log(error, self.line)
            return [0.0, 0.0]
        return size

    def _parse(self, line: str) -> TextObject:
        """Return the object of a line; raises `FormatError`."""
        if not self.names:
            found = f"object line {quote(line)} before any image name"
            raise FormatError(found, "an image name")
        parts = _ANY[self.side].fullmatch(line)
        if parts is None:
            raise FormatError(quote(line), LAYOUT[self.side])
        *before, coordinates = parts.groups()
        is_rejected = self.side == "gt" and before.pop() == "t"
        *ids, quoted, bare = before
        points = [number(value) for value in coordinates[1:].split(",")]
        if len(points) == 4:
            x, y, width, height = points
            points = [x, y, x + width, y + height]
            if points[2] <= x or points[3] <= y:
                raise FormatError(f"width {width:g}, height {height:g}", "both above 0")
        else:
            polygon(points)
        text = bare.strip() if quoted is None else quoted
        return TextObject(points, text, is_rejected, id=int(ids[0]), region=int(ids[-1]))


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Source]:
    reader = _Reader(file, side)
    text, start = f"{file.text}\n", 0
    while start < len(text):
        end = text.find("\n", start + BLOCK) + 1 or len(text)
        reader.read_block(text[start:end])
        start = end
    objects = concatenate([*reader.usual, objects_of([reader.others])])
    lines = np.asarray(objects.places)
    order = np.argsort(lines, kind="stable")
    lines = lines[order]
    offsets = np.append(np.searchsorted(lines, reader.name_lines), len(lines))
    objects = take(objects, order, offsets) if reader.others else replace(objects, offsets=offsets)
    rows = np.lexsort((objects.ids, objects.image))
    ids, image = objects.ids[rows], objects.image[rows]
    for k in np.flatnonzero((np.diff(ids) == 0) & (np.diff(image) == 0)).tolist():
        first, again = lines[rows[k : k + 2]].tolist()
        expected = f"IDs used once in an image (it stands in line {first} too)"
        file.log(FormatError(f"ID {ids[k]} again", expected), again)
    bad = list(bad_names(reader.names))
    for k, found, expected in bad:
        file.log(FormatError(found, expected), reader.name_lines[k])
    for k, size in enumerate(reader.sizes):
        if not size:
            found = f"image {quote(reader.names[k])} without a size"
            file.log(FormatError(found, f"{_SIZE} after its name"), reader.name_lines[k])
    sizes = np.array([size or [0.0, 0.0] for size in reader.sizes]).reshape(-1, 2)
    source = Source(reader.names, sizes, objects, [file.place] * len(sizes))
    yield source.part(np.delete(np.arange(len(sizes)), [k for k, *_ in bad])) if bad else source


EVALTEX = Format(
    "evaltex",
    "EvaLTex .txt: many images in one file",
    _read,
    lambda head: "the name of an image and its size or objects" * bool(_BEGINNING.match(head.text)),
    (".txt",),
    layout='ID,region,"text",t|f,x,y,w,h; detections ID,"text",x,y,w,h; or vertices',
    one_document=True,
)
