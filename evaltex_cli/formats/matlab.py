"""Total-Text's .mat files: MATLAB 5, one an image, named after it.

Ground truth is the cell array ``polygt`` (``gt`` in its annotation tool) with rows ``'x:', xs,
'y:', ys, transcription, orientation``; the transcription or orientation ``#`` is don't care.
Detections are the cell array ``accuInf``, a column or row of cells of rows ``x, y``. scipy's
loadmat is not used: damaged files end its process.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import islice
from struct import unpack_from
from typing import Any

import numpy as np

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import polygon

MAX_UNPACKED = 4 << 20
"""Most bytes that a variable unpacks to: a hundred times Total-Text's."""
_CELL, _TEXT, _COMPRESSED = 1, 4, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8"}
_ENCODINGS = {2: "latin-1", 4: "utf-16-le", 16: "utf-8", 17: "utf-16-le"}


def _elements(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield type and content of each element: a tag, and data padded to eight bytes."""
    while len(data) >= 8:
        kind, size = unpack_from("<II", data)
        in_tag = kind >> 16  # the size, of data of up to four bytes
        begin, end = (4, 4 + in_tag) if in_tag else (8, 8 + size)
        if end > len(data):
            raise ValueError("cut off")
        yield kind & 0xFFFF, data[begin:end]
        data = data[end if kind == _COMPRESSED else -(-end // 8) * 8 :]


def _variables(data: memoryview) -> Iterator[tuple[str, memoryview]]:
    for kind, content in _elements(data):
        matrix = content
        if kind == _COMPRESSED:
            unpacked = zlib.decompressobj().decompress(content, MAX_UNPACKED)
            ((_, matrix),) = _elements(memoryview(unpacked))
        _, _, (_, name) = islice(_elements(matrix), 3)
        yield str(name, "latin-1"), matrix


def _value(matrix: memoryview) -> Any:
    """Return a text, or an array of numbers or of such values."""
    if not matrix:
        return np.empty((0, 0))
    (_, flags), (_, shape), _, *parts = _elements(matrix)
    if flags[0] == _TEXT:
        return str(parts[0][1], _ENCODINGS[parts[0][0]])
    if flags[0] == _CELL:
        values = np.fromiter((_value(content) for _, content in parts), object)
    else:
        values = np.frombuffer(parts[0][1], _NUMBERS[parts[0][0]])
    return values.reshape(np.frombuffer(shape, "<i4"), order="F")


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    rows: Any = None
    try:
        for name, matrix in _variables(memoryview(file.data)[128:]):
            if name in ("polygt", "gt", "accuInf"):
                rows = _value(matrix)
                break
    except (zlib.error, ValueError, LookupError, RecursionError) as error:
        raise FormatError(f"a damaged file ({error})", "MATLAB 5, at most 4 MB unpacked") from error
    if np.ndim(rows) != 2 or (rows.size and rows.dtype != object):
        raise FormatError("no cell array polygt, gt or accuInf", "one of them")

    def read(row: Any) -> TextObject:
        try:
            xs, ys = row.T if name == "accuInf" else map(np.ravel, row[1:4:2])
            vertices = np.stack([xs, ys], axis=1, dtype=float).ravel().tolist()
        except (AttributeError, TypeError, ValueError) as error:
            raise FormatError("other cells", TOTALTEXT_MAT.layout) from error
        texts = [cell if isinstance(cell, str) else "" for cell in row[4:]] or [""]
        points = polygon(vertices, dont_care="#" in texts)
        return TextObject(points, texts[0], side == "gt" and "#" in texts)

    items = enumerate(rows.ravel() if name == "accuInf" else rows)
    yield Image(file.stem, file.each(items, read, f"{name}[{{}}]"))


TOTALTEXT_MAT = Format(
    "totaltext-mat",
    "Total-Text: MATLAB 5 files, one per image",
    _read,
    lambda head: "the first bytes of MATLAB 5" if head.data.startswith(b"MATLAB 5.0 MAT") else "",
    (".mat",),
    layout="polygt or gt: rows 'x:', xs, 'y:', ys, text, orientation; accuInf: cells of rows x, y",
)
