"""HierText: one JSON document of all images. Regions are lines, of one
paragraph; don't care is not legible.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from evaltex_cli.conversion.base import Block, Holds, Job, Writer, plain, target_file, write_list
from evaltex_cli.conversion.holding import Picture, Run, Shape, picture_files, pictures, vertices
from evaltex_cli.marks import DATA_MARK

_HOLDS = Holds(regions=True, dont_care=True)


def _write(job: Job, blocks: Iterable[Block]) -> None:
    with target_file(job) as file:
        file.write(f'{{{json.dumps(DATA_MARK)[1:-1]},\n"annotations": ')
        write_list(file, _records(job, blocks))
        file.write("}\n")


def _records(job: Job, blocks: Iterable[Block]) -> Iterator[dict[str, Any]]:
    picture_files(job)  # the reader takes IDs for names of files
    for picture in pictures(job, blocks, _HOLDS):
        yield {
            "image_id": picture.name,
            "image_width": plain(picture.width),
            "image_height": plain(picture.height),
            "paragraphs": [_around(picture.all, "lines", list(_lines(picture)))]
            if picture.count
            else [],
        }


def _lines(picture: Picture) -> Iterator[dict[str, Any]]:
    """Yield the lines."""
    shapes = picture.shapes()
    for run in picture.runs():
        line = _around(run, "words", list(map(_word, islice(shapes, len(run.texts)))))
        yield line | {"text": " ".join(run.texts)}


def _around(run: Run, key: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """A line or a paragraph: the bounding box of its words, legible if any of them is."""
    x0, y0, x1, y1 = map(plain, run.bounds)
    corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
    return {"vertices": corners, "legible": not run.dont_care, key: parts}


def _word(shape: Shape) -> dict[str, Any]:
    made = {"vertices": vertices(shape), "text": shape.text, "legible": not shape.dont_care}
    return made if shape.confidence is None else made | {"confidence": shape.confidence}


WRITER = Writer(
    "hiertext", "HierText: JSON of paragraphs, lines and words", _write, ".json", _HOLDS
)
