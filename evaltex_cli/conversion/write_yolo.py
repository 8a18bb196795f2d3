"""YOLO: a text file for each image, ``class x y width height [confidence]`` in fractions of the
picture.

If any object of the input is a polygon, all are ``class x1 y1 x2 y2 ... [confidence]``, boxes by
their corners.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from evaltex_cli.conversion.archives import Entry, write_files
from evaltex_cli.conversion.base import Block, Holds, Job, Writer, number
from evaltex_cli.conversion.holding import Picture, Shape, pictures

OUTSIDE = (
    "{count} object[s] [reaches|reach] out of the picture: read the target with the format yolo"
    " (--gt-format or --det-format)"
)
_HOLDS = Holds(texts=False, sizes=False, needs_sizes=True, exact=False)


def _write(job: Job, blocks: Iterable[Block]) -> None:
    kept = list(blocks)
    as_polygons = any((block.images.objects.outlines.counts > 0).any() for block in kept)
    write_files(job, "yolo", _entries(job, kept, as_polygons))


def _entries(job: Job, blocks: Iterable[Block], as_polygons: bool) -> Iterator[Entry]:
    for picture in pictures(job, blocks, _HOLDS):
        yield Entry(
            picture.name, (_line(job, picture, shape, as_polygons) for shape in picture.shapes())
        )


def _line(job: Job, picture: Picture, shape: Shape, as_polygons: bool) -> str:
    fractions = np.array(shape.corners) / (picture.width, picture.height)
    job.lost[OUTSIDE] += bool(((fractions < 0) | (fractions > 1)).any())
    if as_polygons:
        numbers = fractions.ravel().tolist()
    else:
        first, last = fractions[0], fractions[2]
        numbers = [*((first + last) / 2).tolist(), *(last - first).tolist()]
    confidence = [] if shape.confidence is None else [shape.confidence]
    return " ".join(["0", *map(number, [*numbers, *confidence])]) + "\n"


WRITER = Writer("yolo", "YOLO: .txt files, one per image", _write, ".zip", _HOLDS, "yolo")
