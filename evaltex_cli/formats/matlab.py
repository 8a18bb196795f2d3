"""Total-Text's .mat files: MATLAB 5, one an image, named after it.

Ground truth is the cell array ``polygt`` (``gt`` in its annotation tool) with rows ``'x:', xs,
'y:', ys, transcription, orientation``; the transcription or orientation ``#`` is don't care.
Detections are the cell array ``accuInf``, cells of rows ``x, y``.

scipy's loadmat is not used: it trusts a file's types, sizes and nesting, and damaged files end the
process.
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
_ANNOTATED, _DETECTED = ("polygt", "gt"), ("accuInf",)
_MAGIC = b"MATLAB 5.0 MAT-file"
_HEADER_BYTES = 128
_ORDERS = {b"IM": "<", b"MI": ">"}
_MATRIX, _COMPRESSED = 14, 15
_CELL, _TEXT = 1, 4
_EMPTY = np.zeros((0, 0))
_NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}


# Level 5 files ------------------------------------------------------------------------------------


def variables(data: bytes) -> dict[str, Any]:
    """Return the variables of a MATLAB 5 file: arrays of numbers, texts, or arrays of such cells.

    Raises `FormatError` for a damaged file; variables of other kinds are left out.
    """
    order = _ORDERS.get(data[126:128], "")
    if not order:
        raise _damaged("its header is cut off or has no byte order")
    arrays = {}
    left = MAX_UNPACKED
    try:
        for element in _elements(memoryview(data)[_HEADER_BYTES:], order):
            kind, content = element
            if kind == _COMPRESSED:
                unpacked = zlib.decompressobj().decompress(content, left + 1)
                left -= len(unpacked)
                if left < 0:
                    found = f"more than {MAX_UNPACKED} bytes, unpacked"
                    raise FormatError(found, "the annotations of one image")
                kind, content = next(_elements(memoryview(unpacked), order))
            if kind == _MATRIX:
                name, value = _array(content, order)
                arrays[name] = value
    except (
        zlib.error,
        ValueError,
        IndexError,
        StopIteration,
        RecursionError,
        LookupError,
    ) as error:
        raise _damaged(quote(str(error) or type(error).__name__)[1:-1]) from error
    return arrays


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield type and content of each element: a tag, and data padded to eight bytes."""
    start = 0
    while start + 8 <= len(data):
        kind, size = unpack_from(f"{order}II", data, start)
        if kind >> 16:  # data of up to four bytes is in the tag
            yield kind & 0xFFFF, data[start + 4 : start + 4 + (kind >> 16)]
            start += 8
            continue
        start += 8
        if size > len(data) - start:
            raise ValueError(f"an element of {size} bytes where {len(data) - start} are left")
        yield kind, data[start : start + size]
        start += size if kind == _COMPRESSED else -(-size // 8) * 8


def _array(matrix: memoryview, order: str) -> tuple[str, Any]:
    """Return an array's name and value; None for kinds that are not read."""
    if not matrix:
        return "", _EMPTY
    elements = _elements(matrix, order)
    (_, flags), (_, dimensions), (_, name) = next(elements), next(elements), next(elements)
    kind = int(np.frombuffer(flags, f"{order}u4", 1)[0]) & 0xFF
    shape = np.frombuffer(dimensions, f"{order}i4").tolist()
    value: Any = None
    if kind == _CELL:
        cells = [_array(content, order)[1] for _, content in elements]
        value = np.empty(len(cells), object)
        value[:] = cells
        value = value.reshape(shape, order="F")
    elif kind == _TEXT:
        type_, content = next(elements)
        ending = {"<": "-le", ">": "-be"}[order] if type_ in (4, 17, 18) else ""
        letters = bytes(content).decode(_ENCODINGS[type_] + ending)
        value = "".join(np.array([*letters]).reshape(shape, order="F").ravel().tolist())
    elif 6 <= kind <= 15:
        type_, content = next(elements)
        value = np.frombuffer(content, order + _NUMBERS[type_]).reshape(shape, order="F")
    return bytes(name).decode("latin-1"), value


def _damaged(what: str) -> FormatError:
    return FormatError(f"a damaged file ({what})", "a whole MATLAB 5 .mat file")


# Total-Text ---------------------------------------------------------------------------------------


def _read(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    arrays = variables(file.data)
    known = _ANNOTATED + _DETECTED if side == "gt" else _DETECTED + _ANNOTATED
    name = next((name for name in known if name in arrays), None)
    if name is None:
        others = ", ".join(quote(other) for other in arrays) or "none"
        raise FormatError(f"the variables {others}", known[0])
    cells = arrays[name]
    if not isinstance(cells, np.ndarray) or (
        cells.size and (cells.dtype != object or cells.ndim != 2)
    ):
        raise FormatError(f"{name} is no cell array", "one of two dimensions")

    def annotated(row: Any) -> TextObject:
        if len(row) < 5:
            raise FormatError(f"{len(row)} cells", "'x:', xs, 'y:', ys, transcription, orientation")
        xs, ys = _numbers(row[1], 1), _numbers(row[3], 3)
        if len(xs) != len(ys):
            raise FormatError(f"{len(xs)} x and {len(ys)} y", "as many x as y")
        text = _text(row[4])
        is_marked = "#" in (text, _text(row[5]) if len(row) > 5 else "")
        vertices = np.stack([xs, ys], axis=1).ravel().tolist()
        return TextObject(polygon(vertices, dont_care=is_marked), text, side == "gt" and is_marked)

    def detected(row: Any) -> TextObject:
        if np.ndim(row[0]) != 2 or row[0].shape[1] != 2:
            raise FormatError(f"an array of shape {np.shape(row[0])}", "rows x, y")
        return TextObject(polygon(_numbers(row[0], 0).tolist()))

    read = annotated if name in _ANNOTATED else detected
    rows = enumerate(cells if cells.size else ())
    yield Image(file.stem, file.each(rows, read, f"{name}[{{}}]"))


def _numbers(cell: Any, k: int) -> Any:
    if not isinstance(cell, np.ndarray) or cell.dtype == object:
        raise FormatError("a cell without numbers", "numbers", (k,))
    return cell.astype(np.float64).ravel()


def _text(cell: Any) -> str:
    """Return the text of a cell, which may be empty or nested."""
    if isinstance(cell, str):
        return cell
    is_nested = isinstance(cell, np.ndarray) and cell.dtype == object
    return "".join(_text(one) for one in cell.ravel()) if is_nested else ""


TOTALTEXT_MAT = Format(
    "totaltext-mat",
    "Total-Text: MATLAB 5 files, one per image",
    _read,
    lambda head: "the first bytes of MATLAB 5 files" if head.data.startswith(_MAGIC) else "",
    (".mat",),
    layout="polygt or gt: rows 'x:', xs, 'y:', ys, text, orientation; detections accuInf: cells of"
    " rows x, y",
)
