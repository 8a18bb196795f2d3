"""EvaLTex .txt files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from evaltex_cli.conversion.base import (
    Block,
    Job,
    Writer,
    extent,
    known_or_smallest_size,
    number,
    rings_of,
    slices,
    some_outlines,
)
from evaltex_cli.errors import quote
from evaltex_cli.formats.evaltex.lines import is_object_line
from evaltex_cli.formats.files.numbers import COORDINATE_LIMIT
from evaltex_cli.records import Objects
from evaltex_cli.runtime.atomic_output import written

WITHOUT_AREA = "{count} object[s] without area left out: an EvaLTex file cannot hold [it|them]"
SIZE_GUESSED = "{count} image[s] of unknown size got the smallest that holds [its|their] objects"
NO_CONFIDENCES = "{count} confidence[s] left out: an EvaLTex file cannot hold [it|them]"
LINE_BREAKS = "{count} transcription[s] got blanks for line breaks"
ROUNDED = "{count} box[es] moved by rounding: an EvaLTex file holds width and height"


def _write(job: Job, blocks: Iterable[Block]) -> None:
    refuse_unwritable_names(job)
    with written(job.target) as file:
        for block in blocks:
            objects = block.images.objects
            if objects.confidences is not None:
                job.lost[NO_CONFIDENCES] += int((~np.isnan(objects.confidences)).sum())
            for k, name in enumerate(block.names):
                file.write(f"{name}\n")
                if job.side == "gt":
                    height, width, known = known_or_smallest_size(block.images, k)
                    file.write(f"{number(height)},{number(width)}\n")
                    job.lost[SIZE_GUESSED] += not known
                file.writelines(_object_lines(job, objects, k))
                file.write("\n")


def refuse_unwritable_names(job: Job) -> None:
    """An EvaLTex file takes a line for a name only where it cannot be anything else."""
    for name in job.names:
        if name != name.strip() or is_object_line(name, job.side):
            expected = (
                "a name without outer blanks that does not read as an object line; rename the file"
            )
            job.faults.add(job.place, None, f"image name {quote(name)}", expected)


def _object_lines(job: Job, objects: Objects, image: int) -> Iterator[str]:
    first, last = objects.offsets[image : image + 2].tolist()
    for some in slices(first, last):
        columns = (objects.ids, objects.regions, objects.dont_care, objects.outlines.boxes)
        rows = zip(*(column[some].tolist() for column in columns), objects.texts[some], strict=True)
        rings = rings_of(some_outlines(objects.outlines, some))
        for (number_, region, dont_care, box, original), ring in zip(rows, rings, strict=True):
            coordinates = _coordinates(job, box, ring)
            if coordinates is None:
                job.lost[WITHOUT_AREA] += 1
                continue
            text = " ".join(original.splitlines())
            job.lost[LINE_BREAKS] += text != original
            job.written += 1
            leading = f"{number_},{region}" if job.side == "gt" else f"{number_}"
            reject = ("t," if dont_care else "f,") if job.side == "gt" else ""
            yield f'{leading},"{text}",{reject}{",".join(map(number, coordinates))}\n'


def _coordinates(job: Job, box: list[float], ring: list[float]) -> list[float] | None:
    """The numbers of one object's line; None where it has no area, which the
    format cannot represent.
    """
    if ring:
        return ring if len(ring) >= 6 else None
    x0, y0, x1, y1 = box
    if not (x1 > x0 and y1 > y0):
        return None
    width, height = extent(x0, x1), extent(y0, y1)
    if max(width, height) > COORDINATE_LIMIT:
        return None
    job.lost[ROUNDED] += (x0 + width, y0 + height) != (x1, y1)
    return [x0, y0, width, height]


WRITER = Writer("evaltex", "EvaLTex .txt: many images in one file", _write, ".txt")
