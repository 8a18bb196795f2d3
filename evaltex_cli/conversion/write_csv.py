"""A table with a header, one object in each row: x0, y0, x1, y1 of boxes, or
a column of polygons if there is any.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

import numpy as np

from evaltex_cli.conversion.base import Block, Holds, Job, Writer, number, target_file
from evaltex_cli.conversion.holding import Picture, Shape, pictures
from evaltex_cli.errors import quote
from evaltex_cli.old_formats.base import DONT_CARE

BLANKS = "{count} transcription[s] lost outer blanks, or NUL characters"
_HOLDS = Holds(dont_care=True, marks=(DONT_CARE,))
_CORNERS = ("x0", "y0", "x1", "y1")


def _write(job: Job, blocks: Iterable[Block]) -> None:
    kept = list(blocks)
    _refuse_what_is_read_otherwise(job, kept)
    shapes: tuple[str, ...] = _CORNERS
    if any((block.images.objects.outlines.counts > 0).any() for block in kept):
        shapes = ("polygon",)
    with target_file(job) as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(
            ("image", "image_width", "image_height", *shapes, "text", "dont_care", "confidence")
        )
        for picture in pictures(job, kept, _HOLDS):
            table.writerows(_rows(job, picture, shapes))


def _refuse_what_is_read_otherwise(job: Job, blocks: Iterable[Block]) -> None:
    """Names are read without outer blanks, and coordinates as fractions if
    all of them may be such.
    """
    for name in job.names:
        if name != name.strip():
            job.faults.add(
                job.place,
                None,
                f"image name {quote(name)}",
                "a name without outer blanks; rename the image",
            )
    boxes = np.concatenate([np.zeros((0, 4)), *(block.images.objects.boxes for block in blocks)])
    if len(boxes) and boxes.min() >= 0 and boxes.max() <= 1:
        job.faults.add(
            job.place,
            None,
            "no coordinate above 1",
            "coordinates in pixels, as a table has no unit",
        )
    job.faults.raise_if_any()


def _rows(job: Job, picture: Picture, shapes: tuple[str, ...]) -> Iterator[list[str]]:
    about = [picture.name, number(picture.width), number(picture.height)]
    if not picture.count:
        yield [*about, *([""] * len(shapes)), "", "", ""]
    for shape in picture.shapes():
        text = shape.text.replace("\0", "").strip()
        job.lost[BLANKS] += text != shape.text
        confidence = "" if shape.confidence is None else repr(shape.confidence)
        yield [*about, *_cells(shape, shapes), text, str(int(shape.dont_care)), confidence]


def _cells(shape: Shape, shapes: tuple[str, ...]) -> list[str]:
    if shapes == _CORNERS:
        return list(map(number, shape.coordinates))
    return [" ".join(number(value) for vertex in shape.corners for value in vertex)]


WRITER = Writer("csv", "CSV: a table with one object in each row", _write, ".csv", _HOLDS)
