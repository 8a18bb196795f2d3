"""MATLAB 5 files: numbers, text and cell arrays, read within bounds; whatever else is in them has no value.

A file is a header of 128 bytes and elements: a tag of type and length, and data padded to eight bytes. Arrays are
elements of elements: flags, dimensions, name, then numbers or, in a cell array, more arrays.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FormatError, counted

MAX_BYTES = 64 << 20
"""Of all variables, uncompressed."""
MAX_DEPTH = 20
"""Deepest nesting of cell arrays."""
_HEADER_BYTES = 128
_ARRAY, _COMPRESSED = 14, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CELL, _CHARACTERS, _NUMERIC = 1, 4, range(6, 16)
_NOTHING = np.zeros((0, 0), dtype=object)


def load(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the variables of a file by name.

    Returns
    -------
    dict
        Numbers as arrays of the type they are stored in, text as an array of its rows, cell arrays as arrays of
        objects; an empty array of objects for anything else.

    Raises
    ------
    FormatError
        When the file is damaged, unpacks to more than `MAX_BYTES`, or is nested deeper than `MAX_DEPTH`.
    """
    orders = {b"IM": "<", b"MI": ">"}
    if len(data) < _HEADER_BYTES or data[126:128] not in orders:
        raise _damaged("its header is cut off or has no byte order")
    order = orders[data[126:128]]
    variables: dict[str, NDArray[Any]] = {}
    left = MAX_BYTES
    for element in _elements(data, _HEADER_BYTES, order):
        if element.kind == _COMPRESSED:
            unpacked = _unpacked(element.data, left)
            left -= len(unpacked)
            element = next(_elements(unpacked, 0, order), element)  # noqa: PLW2901
        if element.kind != _ARRAY:
            raise _damaged(f"an element of type {element.kind} where a variable belongs")
        name, value = _array(element.data, order, 0)
        variables[name] = value
    return variables


@dataclass(frozen=True, slots=True)
class _Element:
    kind: int
    data: bytes


def _elements(data: bytes, start: int, order: str) -> Iterator[_Element]:
    """Yield the elements from `start` to the end."""
    while start + 8 <= len(data):
        kind, size = (int(value) for value in np.frombuffer(data, f"{order}u4", 2, start))
        if kind >> 16:  # data of up to four bytes stands in the tag
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


def _unpacked(data: bytes, most: int) -> bytes:
    packed = zlib.decompressobj()
    try:
        found = packed.decompress(data, most + 1)
    except zlib.error as error:
        raise _damaged(str(error)) from error
    if len(found) > most:
        raise FormatError(f"more than {MAX_BYTES} bytes, unpacked", "the annotations of one image")
    return found


def _array(data: bytes, order: str, depth: int) -> tuple[str, NDArray[Any]]:
    """Return name and value of an array."""
    if depth > MAX_DEPTH:
        raise FormatError(f"cell arrays nested deeper than {MAX_DEPTH}", "the nesting of an annotation")
    parts = _elements(data, 0, order)
    flags, dimensions, name = (next(parts, None) for _ in range(3))
    if flags is None:
        return "", _NOTHING
    if dimensions is None or name is None or len(flags.data) != 8 or len(dimensions.data) % 4:
        raise _damaged("an array without flags, dimensions or name")
    kind = int(np.frombuffer(flags.data, f"{order}u4", 1)[0]) & 0xFF
    shape = tuple(np.frombuffer(dimensions.data, f"{order}i4").tolist())
    count = math.prod(shape)
    if not 2 <= len(shape) <= 8 or min(shape) < 0 or count > len(data):
        raise _damaged(f"an array of dimensions {shape[:9]} in {len(data)} bytes")
    decoded_name = name.data.decode("latin-1")
    if kind == _CELL:
        cells = np.empty(count, dtype=object)
        for k in range(count):
            part = next(parts, None)
            if part is None or part.kind != _ARRAY:
                raise _damaged(f"a cell array with {k} of {count} cells")
            cells[k] = _array(part.data, order, depth + 1)[1]
        return decoded_name, cells.reshape(shape, order="F")
    if kind == _CHARACTERS:
        return decoded_name, _text(next(parts, None), shape, order)
    if kind in _NUMERIC:
        return decoded_name, _numbers(next(parts, None), shape, order)
    return decoded_name, _NOTHING


def _numbers(part: _Element | None, shape: tuple[int, ...], order: str) -> NDArray[Any]:
    if part is None or part.kind not in _NUMBERS:
        raise _damaged("an array without numbers")
    kind = np.dtype(order + _NUMBERS[part.kind])
    if len(part.data) != math.prod(shape) * kind.itemsize:
        raise _damaged(f"{len(part.data)} bytes of numbers for dimensions {shape}")
    return np.frombuffer(part.data, kind).astype(kind.newbyteorder("=")).reshape(shape, order="F")


def _text(part: _Element | None, shape: tuple[int, ...], order: str) -> NDArray[Any]:
    """The rows of a text, whose characters stand column by column."""
    if part is None or part.kind not in _TEXTS:
        raise _damaged("a text without characters")
    encoding = _TEXTS[part.kind]
    if encoding.startswith("utf-") and encoding != "utf-8":
        encoding += "-le" if order == "<" else "-be"
    text = part.data.decode(encoding, "replace")
    rows = shape[0]
    if text and rows > len(text):
        raise _damaged(f"{counted(len(text), '{count} character[s]')} for dimensions {shape}")
    return np.array([text[row::rows] for row in range(rows)] if text else [], dtype=np.str_)


def _damaged(what: str) -> FormatError:
    return FormatError(f"a damaged file ({what})", "a whole MATLAB 5 .mat file")
