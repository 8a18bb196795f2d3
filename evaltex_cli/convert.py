"""Any readable source to an EvaLTex .txt file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from evaltex_cli import formats
from evaltex_cli.errors import FaultLog, quote
from evaltex_cli.formats.base import Side
from evaltex_cli.formats.evaltex_lines import is_object_line
from evaltex_cli.records import Ints, Objects, ReadImages
from evaltex_cli.results.staging import written

BLOCK_IMAGES = 1024


@dataclass(frozen=True, slots=True)
class Converted:
    """What a conversion wrote, and what EvaLTex files cannot hold."""

    images: int
    objects: int
    without_area: int
    sizes_guessed: int
    confidences_lost: int
    warnings: tuple[str, ...]

    def notes(self) -> list[str]:
        """What the EvaLTex file does not hold as the source did, one sentence each."""
        notes = []
        if self.without_area:
            notes.append(f"{self.without_area} objects without area left out: an EvaLTex file cannot hold them")
        if self.sizes_guessed:
            notes.append(f"{self.sizes_guessed} images of unknown size got the smallest that holds their objects")
        if self.confidences_lost:
            notes.append(f"{self.confidences_lost} confidences left out: an EvaLTex file cannot hold them")
        return notes


def convert(
    source: Path,
    target: Path,
    side: Side,
    *,
    format_name: str | None = None,
    lines_as_regions: bool = False,
    as_boxes: bool = False,
) -> Converted:
    """Write an EvaLTex file of everything a source holds.

    Parameters
    ----------
    source, target : Path
        Any input of a known format; the .txt file to write.
    side : {'gt', 'det'}
    format_name : str, optional
        The source's format, where content should not decide.
    lines_as_regions : bool
        Group aligned words of similar height into regions (paper, section 3.1); otherwise regions stay as they are,
        which is the object's own ID where the source has none.
    as_boxes : bool
        Write polygons' bounding boxes.

    Returns
    -------
    Converted

    Raises
    ------
    InputError
        For a faulty source, or a target that cannot be written; the target is then left as it was.
    """
    faults = FaultLog()
    opened = formats.open_source(source, side, faults, format_name)
    done = Converted(0, 0, 0, 0, 0, opened.warnings)
    with written(target) as file:
        for start in range(0, len(opened.names), BLOCK_IMAGES):
            names = opened.names[start : start + BLOCK_IMAGES]
            _refuse_unwritable_names(opened.path, names, side, faults)
            read = opened.read(np.arange(start, start + len(names)), faults)
            done = _write_block(file, names, read, side, lines_as_regions, as_boxes, done)
        faults.raise_if_any()
    return done


def _refuse_unwritable_names(path: str, names: list[str], side: Side, faults: FaultLog) -> None:
    """An EvaLTex file takes a line for a name only where it cannot be anything else."""
    for name in names:
        if name != name.strip() or is_object_line(name, side):
            expected = "a name without outer blanks that does not read as an object line; rename the file"
            faults.add(path, None, f"image name {quote(name)}", expected)


def _write_block(
    file: IO[str], names: list[str], read: ReadImages, side: Side, lines: bool, as_boxes: bool, done: Converted
) -> Converted:
    objects = read.objects
    regions = _line_regions(objects) if lines else objects.regions
    written = guessed = 0
    for k, name in enumerate(names):
        file.write(f"{name}\n")
        if side == "gt":
            size, known = _size(read, k)
            file.write(f"{_number(size[0])},{_number(size[1])}\n")
            guessed += not known
        for line in _object_lines(objects, regions, k, side, as_boxes):
            file.write(line)
            written += 1
        file.write("\n")
    lost = int((~np.isnan(objects.confidences)).sum()) if objects.confidences is not None else 0
    return Converted(
        done.images + len(names),
        done.objects + written,
        done.without_area + objects.count - written,
        done.sizes_guessed + guessed,
        done.confidences_lost + lost,
        done.warnings,
    )


def _object_lines(objects: Objects, regions: Ints, image: int, side: Side, as_boxes: bool) -> Iterator[str]:
    for i in range(int(objects.offsets[image]), int(objects.offsets[image + 1])):
        coordinates = _coordinates(objects, i, as_boxes)
        if coordinates is None:
            continue
        text = " ".join(objects.texts[i].splitlines())
        leading = f"{objects.ids[i]},{regions[i]}" if side == "gt" else f"{objects.ids[i]}"
        reject = ("t," if objects.dont_care[i] else "f,") if side == "gt" else ""
        yield f'{leading},"{text}",{reject}{",".join(map(_number, coordinates))}\n'


def _coordinates(objects: Objects, i: int, as_boxes: bool) -> list[float] | None:
    """The numbers of one object's line; None where it has no area, which the format cannot hold."""
    if objects.vertices is not None and objects.vertex_offsets is not None and not as_boxes:
        vertices = objects.vertices[objects.vertex_offsets[i] : objects.vertex_offsets[i + 1]]
        if len(vertices):
            return vertices.ravel().tolist() if len(vertices) >= 3 else None
    x0, y0, x1, y1 = objects.boxes[i].tolist()
    return [x0, y0, x1 - x0, y1 - y0] if x1 > x0 and y1 > y0 else None


def _size(read: ReadImages, image: int) -> tuple[tuple[float, float], bool]:
    """The image's height and width; where unknown, the smallest that holds its objects."""
    height, width = read.sizes[image].tolist()
    if height > 0 and width > 0:
        return (height, width), True
    objects = read.objects
    boxes = objects.boxes[objects.offsets[image] : objects.offsets[image + 1]]
    right, bottom = np.ceil(boxes[:, 2:].max(axis=0, initial=1.0)).tolist()
    return (bottom, right), False


def _line_regions(objects: Objects) -> Ints:
    from evaltex_cli.regions import group_lines

    regions = np.zeros(objects.count, np.int64)
    for start, stop in zip(objects.offsets[:-1].tolist(), objects.offsets[1:].tolist(), strict=True):
        regions[start:stop] = group_lines(objects.boxes[start:stop])
    return regions


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
