"""Lines of text: EvaLTex .txt, ICDAR-style files, YOLO, and tables (CSV)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from evaltex_cli.conversion.writer import (
    Job,
    class_numbers,
    corners,
    extent,
    number,
)
from evaltex_cli.formats.base import DONT_CARE, Image, TextObject
from evaltex_cli.formats.evaltex import is_object_line
from evaltex_cli.formats.options import COORDINATE_LIMIT
from evaltex_cli.records import count_texts

LINE_BREAKS = "{count} transcription[s] got blanks for line breaks"


# EvaLTex ------------------------------------------------------------------------------------------

WITHOUT_AREA = "{count} object[s] without area left out: an EvaLTex file cannot hold [it|them]"


def evaltex(job: Job, images: Iterator[Image]) -> Iterator[str]:
    job.refuse_names(
        lambda name: name != name.strip() or is_object_line(name),
        "a name without outer blanks that does not read as an object line",
    )
    sides = job.objects.boxes[:, 2:] - job.objects.boxes[:, :2]
    has_area = ((sides > 0) & (sides <= COORDINATE_LIMIT)).all(axis=1)
    job.keep(has_area | (job.objects.outlines.counts > 0), WITHOUT_AREA)
    for image in images:
        yield f"{image.name}\n"
        if job.side == "gt":
            yield f"{number(image.height)},{number(image.width)}\n"
        yield from (_evaltex_line(job, word) for word in image.objects)
        yield "\n"


def _evaltex_line(job: Job, word: TextObject) -> str:
    text = " ".join(word.text.splitlines())
    job.lost[LINE_BREAKS] += text != word.text
    points = list(word.points)
    if len(points) == 4:
        points[2:] = extent(points[0], points[2]), extent(points[1], points[3])
    about = f'{word.id},"{text}"'
    if job.side == "gt":
        about = f'{word.id},{word.region},"{text}",{"t" if word.dont_care else "f"}'
    return f"{about},{','.join(map(number, points))}\n"


# ICDAR --------------------------------------------------------------------------------------------

DONT_CARE_TEXTS_LOST = (
    "{count} transcription[s] of don't-care objects left out: " + f"{DONT_CARE} replaces [it|them]"
)
SOME_CONFIDENCES_LOST = "{count} confidence[s] left out: not all objects have one in [0, 1]"
MIXED = (
    "{count} object[s] [is a polygon|are polygons] of other than four corners: read the target with"
    " the format polygon (--gt-format or --det-format)"
)
FEW = 0.05
_NEEDS_QUOTES = re.compile(r'[\s"#+\-.0-9]|[^,]*[\x00-\x1f]|(?i:nan|inf)|\w+\s*,|.*\s\Z', re.DOTALL)


def icdar2015(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield files of ``x1,y1,...,xn,yn[,confidence][,transcription]``, boxes as their corners."""
    counts = job.objects.outlines.counts
    others = int(((counts != 0) & (counts != 4)).sum())
    if _has_texts(job) and 0 < others < FEW * job.objects.count:
        job.lost[MIXED] += others
    return _icdar(job, images, corners)


def icdar2013(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield files of ``x0,y0,x1,y1[,confidence][,transcription]``."""
    return _icdar(job, images, lambda points: [points])


def _has_texts(job: Job) -> bool:
    return job.side == "gt" or count_texts(job.objects.texts) > 0


def _icdar(
    job: Job, images: Iterator[Image], vertices: Callable[[Sequence[float]], list[Sequence[float]]]
) -> Iterator[str]:
    given, has_texts = job.objects.confidences, _has_texts(job)
    if job.side == "det" and given is not None and not ((given >= 0) & (given <= 1)).all():
        job.lost[SOME_CONFIDENCES_LOST] += int((~np.isnan(given)).sum())
        job.source = replace(job.source, objects=replace(job.objects, confidences=None))
    for image in images:
        text = ""
        for word in image.objects:
            fields = [number(value) for vertex in vertices(word.points) for value in vertex]
            if word.confidence is not None:
                fields.append(repr(word.confidence))
            if has_texts:
                fields.append(DONT_CARE if word.dont_care else _icdar_text(job, word.text))
            job.lost[DONT_CARE_TEXTS_LOST] += word.dont_care and word.text not in ("", DONT_CARE)
            text += ",".join(fields) + "\n"
        yield text


def _icdar_text(job: Job, text: str) -> str:
    """Return a transcription, in quotes where it would else be read as something else."""
    line = re.sub(r"\r\n?|\n", " ", text)
    job.lost[LINE_BREAKS] += line != text
    if not _NEEDS_QUOTES.match(line):
        return line
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'


# YOLO ---------------------------------------------------------------------------------------------

OUTSIDE = (
    "{count} object[s] [reaches|reach] out of the picture: read the target with the format yolo"
    " (--gt-format or --det-format)"
)


def yolo(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield files of ``class x y width height [confidence]`` in fractions of the picture; if any
    object is a polygon, ``class x1 y1 x2 y2 ... [confidence]``, boxes by their corners.
    """
    numbers, as_polygons = class_numbers(job, 0), not job.objects.outlines.all_boxes
    for image in images:
        yield "".join(
            f"{numbers[word.label]} {_yolo_place(job, image, word, as_polygons)}\n"
            for word in image.objects
        )


def _yolo_place(job: Job, image: Image, word: TextObject, as_polygons: bool) -> str:
    fractions = np.array(corners(word.points)) / (image.width, image.height)
    job.lost[OUTSIDE] += bool(((fractions < 0) | (fractions > 1)).any())
    values: list[float] = fractions.ravel().tolist()
    if not as_polygons:
        first, last = fractions[0], fractions[2]
        values = [*((first + last) / 2).tolist(), *(last - first).tolist()]
    if word.confidence is not None:
        values.append(word.confidence)
    return " ".join(map(number, values))


# CSV ----------------------------------------------------------------------------------------------

BLANKS = "{count} transcription[s] lost outer blanks, carriage returns or NUL characters"


def table(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield one object in each row: x0, y0, x1, y1 of boxes, or a polygon if there is any."""
    boxes = job.objects.boxes
    if len(boxes) and boxes.min() >= 0 and boxes.max() <= 1:
        job.refuse("no coordinate above 1", "coordinates in pixels, as a table has no unit")
    job.refuse_names(lambda name: name != name.strip(), "a name without outer blanks")
    as_boxes = job.objects.outlines.all_boxes
    shape = ("x0", "y0", "x1", "y1") if as_boxes else ("polygon",)
    yield _row("image", "image_width", "image_height", *shape, "text", "dont_care", "confidence")
    for image in images:
        about = [image.name, number(image.width), number(image.height)]
        if not image.objects:
            yield _row(*about, *([""] * len(shape)), "", "", "")
        for word in image.objects:
            yield _row(*about, *_cells(job, word, as_boxes))


def _row(*cells: str) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _cells(job: Job, word: TextObject, as_boxes: bool) -> Iterator[str]:
    if as_boxes:
        yield from map(number, word.points)
    else:
        yield " ".join(number(value) for corner in corners(word.points) for value in corner)
    text = re.sub(r"\r\n?", "\n", word.text.replace("\0", "")).strip()
    job.lost[BLANKS] += text != word.text
    yield text
    yield str(int(word.dont_care))
    yield "" if word.confidence is None else repr(word.confidence)
