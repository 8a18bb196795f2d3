"""Total-Text's .mat files: one image a file, named after it (``poly_gt_img1.mat`` is of ``img1``).

Ground truth is the cell array ``polygt``, rows of ``'x:', xs, 'y:', ys, transcription, orientation``; the transcription
or orientation ``#`` is don't care. Detections are the cell array ``accuInf``, cells of rows ``x, y``. Both are MATLAB 5
files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.errors import FaultLog, FormatError, quote
from evaltex_cli.formats.base import Format, Side, Source
from evaltex_cli.formats.documents import document_files, matlab5
from evaltex_cli.formats.files.numbers import COORDINATE_LIMIT
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject, polygon

MAX_BYTES = 1 << 20
"""Largest file, a hundred times Total-Text's: what it unpacks to is only bounded by a factor of a thousand."""
_MAGIC = b"MATLAB 5.0 MAT-file"
_VARIABLE = {"gt": "polygt", "det": "accuInf"}


def _parse(data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    variables = matlab5.load(data)
    name = next((name for name in (_VARIABLE[side], *_VARIABLE.values()) if name in variables), None)
    if name is None:
        others = ", ".join(quote(other) for other in variables) or "none"
        raise FormatError(f"the variables {others}", _VARIABLE[side])
    read = _annotated if name == "polygt" else _detected
    cells = variables[name]
    if cells.size and (cells.dtype != object or cells.ndim != 2):
        raise FormatError(f"{name} of type {cells.dtype}", "a cell array", (name,))
    for k, row in enumerate(cells if cells.size else ()):
        try:
            image.objects.append(read(row, side))
        except FormatError as error:
            error.log(faults, image.place, name, k)


def _annotated(row: Any, side: Side) -> CollectedObject:
    if len(row) < 5:
        raise FormatError(f"{len(row)} cells", "'x:', xs, 'y:', ys, transcription, orientation")
    xs, ys = _numbers(row[1], 1), _numbers(row[3], 3)
    if len(xs) != len(ys):
        raise FormatError(f"{len(xs)} x and {len(ys)} y", "as many x as y")
    text = _text(row[4])
    dont_care = side == "gt" and "#" in (text, _text(row[5]) if len(row) > 5 else "")
    vertices = [value for point in zip(xs, ys, strict=True) for value in point]
    return CollectedObject(polygon(vertices, dont_care), text, dont_care)


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
            "a number that is not finite or beyond 1e12", "finite numbers (at most 1e12 in magnitude)", (k,)
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


def _index(path: Path, side: Side, faults: FaultLog) -> Source:
    return document_files.index_each("totaltext-mat", ".mat", _parse, path, side, faults, MAX_BYTES)


def recognises(path: Path) -> bool:
    """Whether a path holds MATLAB 5 files."""
    return document_files.first_bytes(path, ".mat").startswith(_MAGIC)


FORMAT = Format("totaltext-mat", "Total-Text: MATLAB files, one an image", recognises, _index)
