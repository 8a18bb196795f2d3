"""What a writer is: a function from blocks of images to a file, which counts
what the file cannot contain.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np

from evaltex_cli.conversion import BY_SUFFIX, FILE_PER_IMAGE, WRITERS
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.errors.suggestions import unknown
from evaltex_cli.marks import is_of
from evaltex_cli.old_formats.base import ReadImages, Side
from evaltex_cli.records import Floats, Objects, Outlines
from evaltex_cli.runtime.outputs import force, output_file

in_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
"""Returns a value as JSON, letters as they are."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some images: their names, sizes and objects."""

    names: Sequence[str]
    images: ReadImages


@dataclass(slots=True)
class Job:
    """What is written and what came of it."""

    target: Path
    side: Side
    names: list[str]
    """All image names, in order."""
    place: str
    """The source, as messages name it."""
    faults: FaultLog
    """Gets what cannot be written at all."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Image name -> COCO's ID, if the source has IDs."""
    lost: Counter[str] = field(default_factory=Counter)
    """Sentence with ``{count}`` -> how often it is true: what the target does not contain as the
    source did."""
    written: int = 0
    """Objects in the target."""


@dataclass(frozen=True, slots=True)
class Holds:
    """What a format holds; IDs are in none of these."""

    texts: bool = True
    confidences: bool = True
    sizes: bool = True
    regions: bool = False
    dont_care: bool = False
    """`regions` and `dont_care` are of ground truth only."""
    needs_sizes: bool = False
    """Whether an image of unknown size cannot be written; the size itself may be left out."""
    most_vertices: int | None = None
    """Of a polygon: 0 if the format holds boxes only, None if any number."""
    boxes: bool = False
    """Whether a box is a box when it is read again, and not its four corners."""
    whole: bool = False
    """Whether coordinates are whole numbers from 0 up."""
    exact: bool = True
    """Whether coordinates and confidences are read again to the last bit."""
    marks: tuple[str, ...] = ()
    """Transcriptions that the reader takes for don't care."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A file that images can be written to."""

    name: str
    title: str
    write: Callable[[Job, Iterable[Block]], None]
    """``write(job, blocks)`` takes all blocks, of which the last may raise, and then puts the file
    in place."""
    ending: str
    """Of its targets, with the dot."""
    holds: Holds | None = None
    """What the format holds; None for writers that count what is lost by rules of their own."""
    format: str | None = None
    """The reader's name, if the content does not decide."""


def load(name: str) -> Writer:
    """Return a writer by name.

    Raises
    ------
    InputError
        When the registry has none of that name.
    """
    if name not in WRITERS:
        raise InputError(unknown("target format", name, list(WRITERS)))
    module, attribute = WRITERS[name]
    writer: Writer = getattr(import_module(module), attribute)
    return writer


def for_target(target: Path) -> Writer:
    """Return the writer that a target's ending asks for.

    Raises
    ------
    InputError
        When it is none of `BY_SUFFIX`.
    """
    name = BY_SUFFIX.get(target.suffix.lower())
    if name is None:
        raise InputError(
            f"{target}: its ending does not say what to write; end it in one of"
            f" {', '.join(BY_SUFFIX)}, or name the format: --to {', '.join(WRITERS)}; of these"
            f" {', '.join(FILE_PER_IMAGE)} can be a folder"
        )
    return load(name)


def target_file(job: Job) -> AbstractContextManager[TextIO]:
    """Return the target, to write to."""
    return output_file(job.target, is_own)


def is_own(path: Path) -> bool:
    """Whether a conversion may replace a file: one with its mark; from Python, any."""
    return force.get() is None or is_of("data")(path)


def vertices_of(objects: Objects, i: int) -> list[float] | None:
    """x1, y1, x2, y2, ... of a polygon; None for a box."""
    vertices = objects.outlines.ring(i)
    return vertices.ravel().tolist() if len(vertices) else None


def some_outlines(outlines: Outlines, some: slice) -> Outlines:
    """Return a stretch of outlines."""
    offsets = outlines.offsets[some.start : some.stop + 1]
    vertices = outlines.vertices[offsets[0] : offsets[-1]]
    return Outlines(outlines.boxes[some], vertices, offsets - offsets[0])


def rings_of(outlines: Outlines) -> Iterator[list[float]]:
    """x1, y1, x2, y2, ... of each polygon; nothing of a box."""
    numbers = outlines.vertices.ravel().tolist()
    for start, stop in pairwise((2 * outlines.offsets).tolist()):
        yield numbers[start:stop]


def renumbered(objects: Objects) -> int:
    """How many objects have another ID than their number in their image."""
    return sum(
        int((objects.ids[start:stop] != np.arange(1, stop - start + 1)).sum())
        for start, stop in pairwise(objects.offsets.tolist())
    )


def known_or_smallest_size(images: ReadImages, k: int) -> tuple[float, float, bool]:
    """Height and width of an image, and whether they are known; if not, the
    smallest that contains its objects.
    """
    height, width = images.sizes[k].tolist()
    if height > 0 and width > 0:
        return height, width, True
    objects = images.objects
    boxes = objects.boxes[objects.offsets[k] : objects.offsets[k + 1]]
    right, bottom = np.ceil(boxes[:, 2:].max(axis=0, initial=1.0)).tolist()
    return bottom, right, False


def extent(start: float, stop: float) -> float:
    """The width that, added to `start`, comes to `stop` in double precision,
    or as near as any does.
    """
    width = stop - start
    if start + width == stop:
        return width
    nearby = (width, math.nextafter(width, 0.0), math.nextafter(width, math.inf))
    return min(nearby, key=lambda candidate: abs(start + candidate - stop))


def number(value: float) -> str:
    """The shortest text that reads back as this value."""
    return str(int(value)) if value == int(value) else repr(value)


def numbers_of(values: Floats) -> list[str]:
    """`number` of each."""
    if (values == np.trunc(values)).all():
        return list(map(str, values.astype(np.int64).tolist()))
    return list(map(number, values.tolist()))


def plain(value: float) -> float | int:
    """A number as JSON has it: a whole one without a point."""
    return int(value) if value == int(value) else value


def write_list(file: IO[str], records: Iterable[Mapping[str, Any]]) -> None:
    """Write a JSON list, one item in each line, as they come."""
    file.writelines(list_pieces(records))


def list_pieces(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a JSON list in pieces, one item in each line."""
    separator = "["
    for record in records:
        yield f"{separator}\n{in_json(record)}"
        separator = ","
    yield "[]" if separator == "[" else "\n]"


def quoted(text: str) -> str:
    """A transcription in double quotes, as ICDAR-style files have it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
