"""EvaLTex .txt files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from evaltex_cli.conversion.base import (
    Block,
    Job,
    Writer,
    extent,
    known_or_smallest_size,
    number,
    numbers_of,
    some_outlines,
    target_file,
)
from evaltex_cli.errors import quote
from evaltex_cli.old_formats.evaltex.lines import is_object_line
from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT
from evaltex_cli.records import Floats, Objects, Outlines

WITHOUT_AREA = "{count} object[s] without area left out: an EvaLTex file cannot hold [it|them]"
SIZE_GUESSED = "{count} image[s] of unknown size got the smallest that holds [its|their] objects"
NO_CONFIDENCES = "{count} confidence[s] left out: an EvaLTex file cannot hold [it|them]"
LINE_BREAKS = "{count} transcription[s] got blanks for line breaks"
ROUNDED = "{count} box[es] moved by rounding: an EvaLTex file holds width and height"


def _write(job: Job, blocks: Iterable[Block]) -> None:
    refuse_unwritable_names(job)
    with target_file(job) as file:
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
    some = slice(first, last)
    places = _places(job, some_outlines(objects.outlines, some))
    texts = _without_line_breaks(job, objects.texts[some], places)
    job.lost[WITHOUT_AREA] += places.count("")
    job.written += len(places) - places.count("")
    ids, regions, flags = (
        column[some].tolist() for column in (objects.ids, objects.regions, objects.dont_care)
    )
    rows = zip(ids, regions, flags, texts, places, strict=True)
    if job.side == "gt":
        yield from (
            f'{number_},{region},"{text}",{"t" if dont_care else "f"},{place}\n'
            for number_, region, dont_care, text, place in rows
            if place
        )
    else:
        yield from (f'{id_},"{text}",{place}\n' for id_, _, _, text, place in rows if place)


def _without_line_breaks(job: Job, texts: Sequence[str], places: Sequence[str]) -> Sequence[str]:
    """Return transcriptions with blanks for line breaks, which are counted for objects that have a
    place.
    """
    every = list(texts)
    if len(f"{''.join(every)}.".splitlines()) == 1:
        return every
    lines = [" ".join(text.splitlines()) for text in every]
    job.lost[LINE_BREAKS] += sum(
        line != text and place != "" for line, text, place in zip(lines, every, places, strict=True)
    )
    return lines


def _places(job: Job, drawn: Outlines) -> list[str]:
    """The coordinates in each object's line; none if it has no area, which the
    format cannot represent.
    """
    places = [""] * len(drawn.boxes)
    x0, y0, x1, y1 = drawn.boxes.T
    width, height = _extents(x0, x1), _extents(y0, y1)
    fits = (drawn.counts == 0) & (x1 > x0) & (y1 > y0)
    fits &= np.maximum(width, height) <= COORDINATE_LIMIT
    job.lost[ROUNDED] += int((fits & ((x0 + width != x1) | (y0 + height != y1))).sum())
    rows = np.flatnonzero(fits)
    columns = (numbers_of(column[rows]) for column in (x0, y0, width, height))
    for row, place in zip(rows.tolist(), map(",".join, zip(*columns, strict=True)), strict=True):
        places[row] = place
    numbers, offsets = numbers_of(drawn.vertices.ravel()), (2 * drawn.offsets).tolist()
    for row in np.flatnonzero(drawn.counts >= 3).tolist():
        places[row] = ",".join(numbers[offsets[row] : offsets[row + 1]])
    return places


def _extents(start: Floats, stop: Floats) -> Floats:
    """(n,) `extent` of each."""
    extents: Floats = stop - start
    for k in np.flatnonzero(start + extents != stop).tolist():
        extents[k] = extent(float(start[k]), float(stop[k]))
    return extents


WRITER = Writer("evaltex", "EvaLTex .txt: many images in one file", _write, ".txt")
