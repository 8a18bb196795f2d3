"""PaddleOCR's label file: ``image TAB JSON``, one image in each line;
``difficult`` is don't care.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evaltex_cli.conversion.base import Block, Holds, Job, Writer, in_json, target_file
from evaltex_cli.conversion.holding import Shape, picture_files, pictures, vertices
from evaltex_cli.errors import quote
from evaltex_cli.old_formats.base import DONT_CARE

_HOLDS = Holds(sizes=False, dont_care=True, marks=(DONT_CARE, "*"))


def _write(job: Job, blocks: Iterable[Block]) -> None:
    for name in job.names:
        if name != name.strip() or name.startswith("["):
            expected = (
                "a name without outer blanks that does not begin with a bracket; rename the image"
            )
            job.faults.add(job.place, None, f"image name {quote(name)}", expected)
    job.faults.raise_if_any()
    files = picture_files(job)
    with target_file(job) as file:
        for picture in pictures(job, blocks, _HOLDS):
            listed = in_json([_object(job, shape) for shape in picture.shapes()])
            file.write(f"{files[picture.name]}\t{listed}\n")


def _object(job: Job, shape: Shape) -> dict[str, Any]:
    made: dict[str, Any] = {"transcription": shape.text, "points": vertices(shape)}
    if job.side == "gt":
        made["difficult"] = shape.dont_care
    return made if shape.confidence is None else made | {"score": shape.confidence}


WRITER = Writer(
    "paddleocr", "PaddleOCR: lines of image, tab, JSON (Label.txt)", _write, ".txt", _HOLDS
)
