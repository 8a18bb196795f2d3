"""Total-Text's .mat files: one image a file, named after it (``poly_gt_img1.mat`` is of ``img1``).

Ground truth is the cell array ``polygt``, or ``gt`` as its annotation tool has it, rows of ``'x:',
xs, 'y:', ys, transcription, orientation``; the transcription or orientation ``#`` is don't care,
and may have fewer than three vertices, also where the file is given as detections. Detections are
the cell array ``accuInf``, cells of rows ``x, y``. Both are MATLAB 5 files, which scipy reads
(extra ``mat``).

A MATLAB 5 file is a header of 128 bytes and elements: a tag of type and length, and data padded to
eight bytes. Arrays are elements of elements: flags, dimensions, name, then numbers or characters
or, in a cell array, more arrays. scipy trusts what they say of themselves: types that do not exist
and deep nesting crash it, and dimensions take memory that the file does not fill. So it gets only
an array whose elements have been checked here (`_refuse_hostile`).
"""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evaltex_cli.errors import FaultLog, FormatError, InputError, quote
from evaltex_cli.old_formats.base import Format, Side, Source
from evaltex_cli.old_formats.coordinates import polygon
from evaltex_cli.old_formats.documents import document_files, recognition
from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

MAX_BYTES = 1 << 20
"""Largest file, a hundred times Total-Text's."""
MAX_UNPACKED = 64 << 20
"""Bytes of all variables of a file, uncompressed."""
MAX_DEPTH = 20
"""Deepest nesting of cell arrays."""
_MAGIC = b"MATLAB 5.0 MAT-file"
_ANNOTATED, _DETECTED = ("polygt", "gt"), ("accuInf",)
"""Names of the variables, of the data set and of its annotation tool; of detections."""
_HEADER_BYTES = 128
_HEADERS = {b"IM": ("<", b"\0\1IM"), b"MI": (">", b"\1\0MI")}
_MATRIX, _COMPRESSED = 14, 15
_PLAIN_DATA = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18}
_CELL, _PLAIN_ARRAYS = 1, {4, *range(6, 16)}
_KIND = 0x8FF
"""The bits of an array's flags that are its class, and whether its numbers are complex."""


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    if len(data) > MAX_BYTES:
        raise FormatError(f"{len(data)} bytes", f"at most {MAX_BYTES} of one image")
    order, variables = _variables(data)
    known = _ANNOTATED + _DETECTED if side == "gt" else _DETECTED + _ANNOTATED
    name = next((name for name in known if name in variables), None)
    if name is None:
        others = ", ".join(quote(other) for other in variables) or "none"
        raise FormatError(f"the variables {others}", known[0])
    read = _annotated if name in _ANNOTATED else _detected
    cells = _array(variables[name], name, order)
    if cells.size and (cells.dtype != object or cells.ndim != 2):
        raise FormatError(f"{name} of type {cells.dtype}", "a cell array", (name,))
    for k, row in enumerate(cells if cells.size else ()):
        with faults.catching(image.place, name, k):
            image.add(read(row, side))


def _annotated(row: Any, side: Side) -> CollectedObject:
    if len(row) < 5:
        raise FormatError(f"{len(row)} cells", "'x:', xs, 'y:', ys, transcription, orientation")
    xs, ys = _numbers(row[1], 1), _numbers(row[3], 3)
    if len(xs) != len(ys):
        raise FormatError(f"{len(xs)} x and {len(ys)} y", "as many x as y")
    text = _text(row[4])
    is_marked = "#" in (text, _text(row[5]) if len(row) > 5 else "")
    vertices = [value for point in zip(xs, ys, strict=True) for value in point]
    return CollectedObject(polygon(vertices, is_marked), text, side == "gt" and is_marked)


def _detected(row: Any, side: Side) -> CollectedObject:
    vertices = np.asarray(row[0])
    if vertices.ndim != 2 or vertices.shape[1] != 2:
        raise FormatError(f"an array of shape {vertices.shape}", "rows x, y")
    return CollectedObject(polygon(_numbers(vertices, 0), dont_care=False))


def _numbers(cell: Any, k: int) -> list[float]:
    array = np.asarray(cell)
    if array.dtype.kind not in "iuf":
        raise FormatError(f"a cell of type {array.dtype}", "numbers", (k,))
    values = array.astype(np.float64).ravel()
    if not (np.abs(values) <= COORDINATE_LIMIT).all():
        raise FormatError(
            "a number that is not finite or beyond 1e12",
            "finite numbers (at most 1e12 in magnitude)",
            (k,),
        )
    listed: list[float] = values.tolist()
    return listed


def _text(cell: Any) -> str:
    """Text of a cell, which may be empty, nested, or of several rows."""
    return "".join(_strings(cell))


def _strings(cell: Any) -> Iterator[str]:
    for one in np.asarray(cell).ravel().tolist():
        if isinstance(one, str):
            yield one
        elif isinstance(one, np.ndarray):
            yield from _strings(one)


class _Element(NamedTuple):
    kind: int
    data: memoryview


def _variables(data: bytes) -> tuple[str, dict[str, memoryview]]:
    """Return the byte order of a file, and the arrays in it, unpacked, by name."""
    if len(data) < _HEADER_BYTES or data[126:128] not in _HEADERS:
        raise _damaged("its header is cut off or has no byte order")
    order, _ = _HEADERS[data[126:128]]
    variables: dict[str, memoryview] = {}
    left = MAX_UNPACKED
    for element in _elements(memoryview(data)[_HEADER_BYTES:], order):
        if element.kind == _COMPRESSED:
            unpacked = _unpacked(element.data, left)
            left -= len(unpacked)
            element = next(_elements(memoryview(unpacked), order), element)  # noqa: PLW2901
        if element.kind != _MATRIX:
            raise _damaged(f"an element of type {element.kind} where a variable belongs")
        name = next(islice(_elements(element.data, order), 2, None), None)
        variables["" if name is None else bytes(name.data).decode("latin-1")] = element.data
    return order, variables


def _elements(data: memoryview, order: str) -> Iterator[_Element]:
    start = 0
    while start + 8 <= len(data):
        kind, size = (int(value) for value in np.frombuffer(data, f"{order}u4", 2, start))
        if kind >> 16:  # data of up to four bytes is in the tag
            size, kind = kind >> 16, kind & 0xFFFF
            if size > 4:
                raise _damaged(f"{size} bytes in a tag that holds 4")
            yield _Element(kind, data[start + 4 : start + 4 + size])
            start += 8
            continue
        start += 8
        if size > len(data) - start:
            raise _damaged(f"an element of {size} bytes where {len(data) - start} are left")
        yield _Element(kind, data[start : start + size])
        start += size if kind == _COMPRESSED else -(-size // 8) * 8


def _unpacked(data: memoryview, most: int) -> bytes:
    try:
        unpacked = zlib.decompressobj().decompress(data, most + 1)
    except zlib.error as error:
        raise _damaged(str(error)) from error
    if len(unpacked) > most:
        raise FormatError(
            f"more than {MAX_UNPACKED} bytes, unpacked", "the annotations of one image"
        )
    return unpacked


def _array(matrix: memoryview, name: str, order: str) -> Any:
    """Return what scipy reads from a file of one array, which is checked first."""
    from scipy.io import loadmat

    _refuse_hostile(matrix, order)
    ends = next(ends for known, ends in _HEADERS.values() if known == order)
    tag = np.array([_MATRIX, len(matrix)], f"{order}u4").tobytes()
    try:
        array = loadmat(io.BytesIO(_MAGIC.ljust(124) + ends + tag + matrix))[name]
    except Exception as error:  # scipy raises anything at all on damaged files
        raise _damaged(quote(str(error) or type(error).__name__)[1:-1]) from error
    if not isinstance(array, np.ndarray):
        raise _damaged("a variable that cannot be read")
    return array


def _refuse_hostile(matrix: memoryview, order: str) -> None:
    """Refuse an array that is nested too deep, or whose elements are not
    exactly those that its flags announce.
    """
    pending = [(matrix, 0)]
    while pending:
        data, depth = pending.pop()
        if not data:
            continue
        if depth > MAX_DEPTH:
            raise FormatError(
                f"cell arrays nested deeper than {MAX_DEPTH}", "the nesting of an annotation"
            )
        kind, count, elements = _described(data, order)
        parts = list(islice(elements, count + 1 if kind == _CELL else 2))
        if kind == _CELL:
            if len(parts) != count or any(
                part.kind != _MATRIX or len(part.data) % 8 for part in parts
            ):
                raise _damaged(f"a cell array without {count} cells")
            pending += [(part.data, depth + 1) for part in parts]
        elif len(parts) != 1 or parts[0].kind not in _PLAIN_DATA:
            raise _damaged("an array without numbers or characters")


def _described(data: memoryview, order: str) -> tuple[int, int, Iterator[_Element]]:
    """Return an array's kind and size, which come first in it, and its other elements."""
    elements = _elements(data, order)
    flags, dimensions, name = (next(elements, None) for _ in range(3))
    if (
        flags is None
        or dimensions is None
        or name is None
        or len(flags.data) != 8
        or len(dimensions.data) % 4
    ):
        raise _damaged("an array without flags, dimensions or name")
    kind = int(np.frombuffer(flags.data, f"{order}u4", 1)[0]) & _KIND
    shape = tuple(np.frombuffer(dimensions.data, f"{order}i4").tolist())
    if not 2 <= len(shape) <= 8 or min(shape) < 0 or math.prod(shape) > len(data):
        raise _damaged(f"an array of dimensions {shape[:9]} in {len(data)} bytes")
    if kind != _CELL and kind not in _PLAIN_ARRAYS:
        raise _damaged(f"an array of kind {kind}, which is no real numbers, text or cells")
    return kind, math.prod(shape), elements


def _damaged(what: str) -> FormatError:
    return FormatError(f"a damaged file ({what})", "a whole MATLAB 5 .mat file")


def _index(path: Path, side: Side, faults: FaultLog) -> Source:
    if find_spec("scipy") is None:
        raise InputError(
            f"{path}: .mat files need the package scipy; install it (pip install 'evaltex[mat]')"
        )
    return document_files.index_each("totaltext-mat", ".mat", _parse)(path, side, faults)


def recognises(path: Path) -> bool:
    """Whether a path holds MATLAB 5 files."""
    return recognition.first_bytes(path, ".mat").startswith(_MAGIC)


def _sample() -> bytes:
    from scipy.io import savemat

    xs, ys = np.array([[10, 60, 60, 10]]), np.array([[10, 10, 30, 30]])
    rows = np.empty((1, 6), dtype=object)
    rows[0] = ["x:", xs, "y:", ys, "word", "h"]
    file = io.BytesIO()
    savemat(file, {"polygt": rows})
    return file.getvalue()


FORMAT = Format(
    "totaltext-mat",
    "Total-Text: MATLAB 5 files, one per image",
    recognises,
    _index,
    recognised_by="the first bytes of MATLAB 5 files",
    layout="polygt or gt: rows 'x:', xs, 'y:', ys, text, orientation; detections accuInf: cells of"
    " rows x, y",
    sample=_sample,
    ending=".mat",
)
