"""ICDAR 2013 segmentation: colour pictures, and next to each a .txt file that says which colour is
which character.

``N_GT.bmp`` (or .png) has one colour a character on white. A line of ``N_GT.txt`` is ``R G B
centre_x centre_y x0 y0 x1 y1 "c"``, with ``#`` before it for don't care; a blank line ends a word.

`WORDS` makes an object of each word, `CHARACTERS` one of each character. Boxes are those of the
.txt files, as they stand; `Source.labels` are the colours as object IDs, which ``evaltex convert
--masks`` writes as label pictures.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.errors import ChangedError, FaultLog, FormatError, InputError, Position, quote
from evaltex_cli.formats.base import Format, Side, Source
from evaltex_cli.formats.collected import Images, source
from evaltex_cli.formats.decoders import unlimited_and_silent
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.files.entries import Entries, Entry
from evaltex_cli.formats.files.fingerprint import Fingerprint
from evaltex_cli.formats.files.numbers import parse_number
from evaltex_cli.formats.files.text_lines import numbered_lines, refuse_excess
from evaltex_cli.formats.icdar import survey as icdar_survey
from evaltex_cli.formats.icdar.lines import bare_line, unquoted
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject
from evaltex_cli.records import Ints

MAX_PIXELS = 100_000_000
_LAYOUT = 'R G B centre_x centre_y x0 y0 x1 y1 "character"'
_SUFFIXES = (".bmp", ".png")
_WHITE = 0xFFFFFF
_LINE = re.compile(r'\s*(#?)\s*((?:[^\s",]++[\s,]++){9})(".*")\s*', re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Character:
    colour: int
    box: tuple[float, float, float, float]
    text: str
    dont_care: bool
    line: int


def _words(
    data: bytes, place: str, faults: FaultLog, by_character: bool
) -> Iterator[list[_Character]]:
    """Yield the characters of each word, or each of them by itself."""
    try:
        refuse_excess(data)
    except FormatError as error:
        error.log(faults, place)
        return
    word: list[_Character] = []
    before = -1
    for number, line in numbered_lines(data):
        bare = bare_line(line)
        if not bare:
            continue
        if word and (by_character or number != before + 1):  # blank lines between
            yield word
            word = []
        before = number
        try:
            word.append(_character(bare, number + 1))
        except FormatError as error:
            faults.add(place, number + 1, error.found, error.expected)
    if word:
        yield word


def _character(line: str, number: int) -> _Character:
    match = _LINE.fullmatch(line)
    if not match:
        raise FormatError(quote(line), _LAYOUT)
    values = [parse_number(field) for field in match[2].replace(",", " ").split()]
    if len(values) != 9 or not all(value in range(256) for value in values[:3]):
        raise FormatError(quote(line), f"a colour of three whole numbers up to 255: {_LAYOUT}")
    x0, y0, x1, y1 = values[5:]
    if x1 < x0 or y1 < y0:
        raise FormatError(
            f"a box from ({x0:g}, {y0:g}) to ({x1:g}, {y1:g})", f"x0 <= x1 and y0 <= y1: {_LAYOUT}"
        )
    red, green, blue = map(int, values[:3])
    return _Character(
        red | green << 8 | blue << 16, (x0, y0, x1, y1), unquoted(match[3]), bool(match[1]), number
    )


def _object(characters: list[_Character], side: Side) -> CollectedObject:
    boxes = np.array([one.box for one in characters])
    coordinates = [*boxes[:, :2].min(axis=0).tolist(), *boxes[:, 2:].max(axis=0).tolist()]
    dont_care = side == "gt" and all(one.dont_care for one in characters)
    text = "".join(one.text for one in characters)
    return CollectedObject(coordinates, text, dont_care, at=Position(characters[0].line, 1))


def _index(name: str, by_character: bool, path: Path, side: Side, faults: FaultLog) -> Source:
    entries = archive.open_entries(path)
    if not entries.entries:
        raise InputError(f"{path}: no .txt file in it; expected N_GT.txt next to each N_GT.bmp")
    fingerprint = Fingerprint(entries)
    images: list[CollectedImage] = []
    colours: list[dict[int, int]] = []
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        fingerprint.add(entry, data)
        place = entries.place(entry)
        image = CollectedImage(re.sub(r"_GT\Z", "", entry.image, flags=re.IGNORECASE), place)
        owner: dict[int, int] = {}
        for number, characters in enumerate(_words(data, place, faults, by_character), 1):
            image.add(_object(characters, side))
            for one in characters:
                if owner.setdefault(one.colour, number) != number:
                    shown = (
                        f"colour {one.colour & 255} {one.colour >> 8 & 255} {one.colour >> 16}"
                        " of two objects"
                    )
                    faults.add(place, None, shown, "one colour an object")
        images.append(image)
        colours.append(owner)
    Images(images).refuse_bad_names(faults)
    entries.refuse_bad_names(faults)
    checksums: list[int] = []
    for image, entry in zip(images, entries.entries, strict=True):
        picture, checksum = _picture(path, entry.name)
        checksums.append(checksum)
        if picture is not None:
            image.width, image.height = picture.size
    made = source(str(path), name, fingerprint.hexdigest(), Images(images))
    return replace(
        made,
        labels=partial(
            _labels, path, [entry.name for entry in entries.entries], colours, checksums
        ),
    )


@contextmanager
def _readable(place: str) -> Iterator[None]:
    """Turn whatever a decoder raises on a broken picture into one message."""
    try:
        with unlimited_and_silent():
            yield
    except (InputError, MemoryError):
        raise
    except Exception as error:  # decoders raise anything at all on broken files
        reason = str(error or type(error).__name__).splitlines()[0]
        raise InputError(
            f"{place}: cannot be read ({quote(reason)[1:-1]}); expected a picture"
        ) from error


def _picture(path: Path, text_name: str) -> tuple[Any, int]:
    """The picture next to a .txt file, opened but not decoded, and its CRC-32;
    None and 0 where there is none.
    """
    from PIL import Image

    stem = text_name[: -len(".txt")]
    for suffix in _SUFFIXES:
        with _readable(f"{path}/{stem}{suffix}"):
            if path.is_dir():
                file = path / (stem + suffix)
                if not file.is_file():
                    continue
                data = file.read_bytes()
            else:
                pictures, entry_of = _packed_pictures(path, suffix, archive.state(path))
                entry = entry_of.get(stem + suffix)
                if entry is None:
                    continue
                data = pictures.read(entry)
            picture = Image.open(io.BytesIO(data), formats=("BMP", "PNG"))
        if picture.width * picture.height > MAX_PIXELS:
            raise InputError(f"{path}/{stem}{suffix}: more than {MAX_PIXELS} pixels")
        return picture, zlib.crc32(data)
    return None, 0


@lru_cache(maxsize=len(_SUFFIXES))
def _packed_pictures(path: Path, suffix: str, state: int) -> tuple[Entries, dict[str, Entry]]:
    """The pictures of an ending in an archive in this state
    (`archive.state`), and by name the first of each.
    """
    pictures = archive.open_entries(path, suffix)
    return pictures, {entry.name: entry for entry in reversed(pictures.entries)}


def _labels(
    path: Path, names: list[str], colours: list[dict[int, int]], checksums: list[int], position: int
) -> Ints:
    place = f"{path}/{names[position]}"
    picture, checksum = _picture(path, names[position])
    if checksum != checksums[position]:
        raise ChangedError(f"the picture next to {place}")
    if picture is None:
        raise InputError(f"{place}: no picture next to it; expected one of {' '.join(_SUFFIXES)}")
    with _readable(f"the picture next to {place}"):
        rgba = np.frombuffer(picture.convert("RGBA").tobytes(), "<u4").reshape(
            picture.height, picture.width
        )
    packed = (rgba & np.uint32(_WHITE)).astype(np.int64)
    owner = colours[position]
    listed = np.array(sorted(owner), np.int64)
    labels = np.zeros(packed.shape, np.int64)
    if len(listed):
        at = np.minimum(np.searchsorted(listed, packed), len(listed) - 1)
        known = (listed[at] == packed) & (packed != _WHITE)
        labels[known] = np.array([owner[colour] for colour in listed.tolist()], np.int64)[at[known]]
    return labels


def _format(name: str, what: str, by_character: bool) -> Format:
    detected = "icdar2013-seg" if not by_character else ""
    title = f"ICDAR 2013 segmentation: colour pictures, by {what}"
    return Format(
        name,
        title,
        icdar_survey.recognises(detected),
        partial(_index, name, by_character),
        four_corners=True,
        recognised_by="lines of three colours, a centre, a box and a character" if detected else "",
        layout='R G B centre_x centre_y x0 y0 x1 y1 "c"',
        sample=_sample,
    )


def _sample() -> dict[str, str | bytes]:
    from PIL import Image

    picture = io.BytesIO()
    Image.new("RGB", (4, 4), (200, 0, 0)).save(picture, "BMP")
    return {"img_1_GT.txt": '200 0 0 35 20 10 10 60 30 "w"\n', "img_1_GT.bmp": picture.getvalue()}


WORDS = _format("icdar2013-seg", "word", False)
CHARACTERS = _format("icdar2013-seg-chars", "character", True)
