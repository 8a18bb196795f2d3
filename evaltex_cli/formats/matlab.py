"""Total-Text's .mat files: MATLAB 5, one an image, named after it.

Ground truth is the cell array ``polygt`` (``gt`` in its annotation tool) with rows ``'x:', xs,
'y:', ys, transcription, orientation``; the transcription or orientation ``#`` is don't care.
Detections are the cell array ``accuInf``, cells of rows ``x, y``. scipy's loadmat is not used:
damaged files end its process.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from struct import unpack_from
from typing import Any

import numpy as np

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import polygon

MAX_UNPACKED = 4 << 20
"""Most bytes that a file's variables unpack to: a hundred times Total-Text's."""
_VARIABLES = ("polygt", "gt", "accuInf")
_COMPRESSED = 15
_CELL, _TEXT, _NUMERIC = 1, 4, range(6, 16)
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8"}
_ENCODINGS = {2: "latin-1", 4: "utf-16-le", 16: "utf-8", 17: "utf-16-le"}


def _matrices(data: bytes) -> Iterator[memoryview]:
    """Yield each variable of a file, unpacked."""
    left = MAX_UNPACKED
    for kind, content in _elements(memoryview(data)[128:]):
        if kind != _COMPRESSED:
            yield content
            continue
        unpacked = zlib.decompressobj().decompress(content, left)
        left -= len(unpacked)
        if not left:
            raise ValueError(f"more than {MAX_UNPACKED} bytes, unpacked")
        yield from (matrix for _, matrix in _elements(memoryview(unpacked)))


def _elements(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield type and content of each element: a tag, and data padded to eight bytes."""
    start = 0
    while start + 8 <= len(data):
        kind, size = unpack_from("<II", data, start)
        in_tag = kind >> 16  # the size, of data of up to four bytes
        begin, size = (start + 4, in_tag) if in_tag else (start + 8, size)
        if begin + size > len(data):
            raise ValueError(f"an element of {size} bytes where {len(data) - begin} are left")
        yield kind & 0xFFFF, data[begin : begin + size]
        start = begin + size if kind == _COMPRESSED else -(-(begin + size) // 8) * 8


def _array(matrix: memoryview) -> tuple[str, Any]:
    """Return an array's name and value; None for kinds that are not read."""
    if not matrix:
        return "", np.empty((0, 0))
    (_, flags), (_, dimensions), (_, name), *parts = _elements(matrix)
    shape = np.frombuffer(dimensions, "<i4").tolist()
    value: Any = None
    if flags[0] == _CELL:
        value = np.empty(len(parts), object)
        value[:] = [_array(content)[1] for _, content in parts]
        value = value.reshape(shape, order="F")
    elif flags[0] == _TEXT:
        value = str(parts[0][1], _ENCODINGS[parts[0][0]])
    elif flags[0] in _NUMERIC:
        value = np.frombuffer(parts[0][1], _NUMBERS[parts[0][0]]).reshape(shape, order="F")
    return str(name, "latin-1"), value


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    try:
        arrays = dict(map(_array, _matrices(file.data)))
    except (zlib.error, ValueError, LookupError, RecursionError) as error:
        found = f"a damaged file ({quote(str(error))[1:-1]})"
        raise FormatError(found, "a whole MATLAB 5 .mat file") from error
    name = next((name for name in _VARIABLES if name in arrays), "")
    rows: Any = arrays.get(name)
    if np.ndim(rows) != 2 or (rows.size and rows.dtype != object):
        found = ", ".join(map(quote, arrays)) or "none"
        raise FormatError(f"the variables {found}", "a cell array polygt, gt or accuInf")

    if name == "accuInf":  # a column, or a row as scipy writes lists
        rows = rows.reshape(-1, 1)

    def read(row: Any) -> TextObject:
        try:
            xs, ys = np.transpose(row[0]) if name == "accuInf" else map(np.ravel, row[1:4:2])
            vertices = np.stack([xs, ys], axis=1, dtype=float).ravel().tolist()
        except (TypeError, ValueError) as error:
            raise FormatError("other cells", TOTALTEXT_MAT.layout) from error
        texts = [cell if isinstance(cell, str) else "" for cell in row[4:]] or [""]
        is_marked = "#" in texts
        points = polygon(vertices, dont_care=is_marked)
        return TextObject(points, texts[0], side == "gt" and is_marked)

    yield Image(file.stem, file.each(enumerate(rows), read, f"{name}[{{}}]"))


TOTALTEXT_MAT = Format(
    "totaltext-mat",
    "Total-Text: MATLAB 5 files, one per image",
    _read,
    lambda head: "the first bytes of MATLAB 5" if head.data.startswith(b"MATLAB 5.0 MAT") else "",
    (".mat",),
    layout="polygt or gt: rows 'x:', xs, 'y:', ys, text, orientation; detections accuInf: cells of"
    " rows x, y",
)
