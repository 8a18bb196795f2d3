"""HierText: one JSON document of all images. Regions are lines, of one
paragraph; don't care is not legible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evaltex_cli.conversion.base import Block, Holds, Job, Writer, plain, write_list
from evaltex_cli.conversion.holding import Shape, bounds, picture_files, pictures, vertices
from evaltex_cli.runtime.atomic_output import written

_HOLDS = Holds(regions=True, dont_care=True)


def _write(job: Job, blocks: Iterable[Block]) -> None:
    with written(job.target) as file:
        file.write('{"annotations": ')
        write_list(file, _records(job, blocks))
        file.write("}\n")


def _records(job: Job, blocks: Iterable[Block]) -> Iterator[dict[str, Any]]:
    picture_files(job)  # the reader takes IDs for names of files
    for picture in pictures(job, blocks, _HOLDS):
        lines = [_around(run, "words", list(map(_word, run))) for run in picture.runs()]
        for line, run in zip(lines, picture.runs(), strict=True):
            line["text"] = " ".join(shape.text for shape in run)
        yield {
            "image_id": picture.name,
            "image_width": plain(picture.width),
            "image_height": plain(picture.height),
            "paragraphs": [_around(picture.shapes, "lines", lines)] if lines else [],
        }


def _around(shapes: Sequence[Shape], key: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """A line or a paragraph: the bounding box of its words, legible if any of them is."""
    x0, y0, x1, y1 = map(plain, bounds(shapes))
    return {
        "vertices": [[x0, y0], [x1, y0], [x1, y1], [x0, y1]],
        "legible": not all(shape.dont_care for shape in shapes),
        key: parts,
    }


def _word(shape: Shape) -> dict[str, Any]:
    made = {"vertices": vertices(shape), "text": shape.text, "legible": not shape.dont_care}
    return made if shape.confidence is None else made | {"confidence": shape.confidence}


WRITER = Writer(
    "hiertext", "HierText: JSON of paragraphs, lines and words", _write, ".json", _HOLDS
)
