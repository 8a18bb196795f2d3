"""Lines of text: EvaLTex .txt, ICDAR-style files, YOLO, and tables (CSV)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from evaltex_cli.conversion.writer import Job, class_numbers, flat, number, with_extents
from evaltex_cli.formats.base import DONT_CARE, Image, TextObject
from evaltex_cli.records import take

WITHOUT_AREA = "{count} object[s] without area left out: an EvaLTex file cannot hold [it|them]"


def evaltex(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield each image's name, size (of ground truth) and objects."""
    objects = job.objects
    has_area = (objects.boxes[:, 2:] > objects.boxes[:, :2]).all(axis=1)
    fits = has_area | (objects.outlines.counts > 0)
    job.lost[WITHOUT_AREA] += int((~fits).sum())
    job.source = replace(job.source, objects=take(objects, fits))
    for image in images:
        yield f"{image.name}\n"
        if job.side == "gt":
            yield f"{number(image.height)},{number(image.width)}\n"
        yield from (_evaltex_line(job, word) for word in image.objects)
        yield "\n"


def _evaltex_line(job: Job, word: TextObject) -> str:
    points = with_extents(word.points) if len(word.points) == 4 else word.points
    place, text = ",".join(map(number, points)), " ".join(word.text.splitlines())
    if job.side == "det":
        return f'{word.id},"{text}",{place}\n'
    return f'{word.id},{word.region},"{text}",{"t" if word.dont_care else "f"},{place}\n'


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
    return _icdar(job, images, flat)


def icdar2013(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield files of ``x0,y0,x1,y1[,confidence][,transcription]``."""
    return _icdar(job, images, list)


def _has_texts(job: Job) -> bool:
    return job.side == "gt" or bool(job.objects.texts.are_written.any())


def _icdar(
    job: Job, images: Iterator[Image], numbers: Callable[[Sequence[float]], Sequence[float]]
) -> Iterator[str]:
    given, has_texts = job.objects.confidences, _has_texts(job)
    if job.side == "det" and given is not None and not ((given >= 0) & (given <= 1)).all():
        job.lost[SOME_CONFIDENCES_LOST] += int((~np.isnan(given)).sum())
        job.source = replace(job.source, objects=replace(job.objects, confidences=None))
    for image in images:
        text = ""
        for word in image.objects:
            fields = list(map(number, numbers(word.points)))
            if word.confidence is not None:
                fields.append(repr(word.confidence))
            if has_texts:
                fields.append(DONT_CARE if word.dont_care else _icdar_text(word.text))
            job.lost[DONT_CARE_TEXTS_LOST] += word.dont_care and word.text not in ("", DONT_CARE)
            text += ",".join(fields) + "\n"
        yield text


def _icdar_text(text: str) -> str:
    """Return a transcription, in quotes where it would else be read as something else."""
    line = re.sub(r"\r\n?|\n", " ", text)
    if not _NEEDS_QUOTES.match(line):
        return line
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'


OUTSIDE = (
    "{count} object[s] [reaches|reach] out of the picture: read the target with the format yolo"
    " (--gt-format or --det-format)"
)


def yolo(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield files of ``class x y width height [confidence]`` in fractions of the picture; if any
    object is a polygon, ``class x1 y1 x2 y2 ... [confidence]``, boxes by their corners.
    """
    job.refuse_unknown_sizes(np.diff(job.objects.offsets) > 0)
    numbers, only_boxes = class_numbers(job, 0), job.objects.outlines.all_boxes
    for image in images:
        text = ""
        for word in image.objects:
            points = np.reshape(flat(word.points), (-1, 2)) / (image.width, image.height)
            job.lost[OUTSIDE] += bool(((points < 0) | (points > 1)).any())
            if only_boxes:
                points = np.array([(points[0] + points[2]) / 2, points[2] - points[0]])
            values: list[float] = points.ravel().tolist()
            if word.confidence is not None:
                values.append(word.confidence)
            text += f"{numbers[word.label]} {' '.join(map(number, values))}\n"
        yield text


def table(job: Job, images: Iterator[Image]) -> Iterator[str]:
    """Yield one object in each row: x0, y0, x1, y1 of boxes, or a polygon if there is any."""
    only_boxes = job.objects.outlines.all_boxes
    shape = ("x0", "y0", "x1", "y1") if only_boxes else ("polygon",)
    yield _row("image", "image_width", "image_height", *shape, "text", "dont_care", "confidence")
    for image in images:
        about = [image.name, number(image.width), number(image.height)]
        if not image.objects:
            yield _row(*about, *([""] * len(shape)), "", "", "")
        for word in image.objects:
            numbers = list(map(number, word.points if only_boxes else flat(word.points)))
            place = numbers if only_boxes else [" ".join(numbers)]
            text = re.sub(r"\r\n?", "\n", word.text.replace("\0", "")).strip()
            score = "" if word.confidence is None else repr(word.confidence)
            yield _row(*about, *place, text, str(int(word.dont_care)), score)


def _row(*cells: str) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
