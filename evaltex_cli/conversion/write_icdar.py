"""ICDAR-style archives and folders: ``gt_NAME.txt`` or ``res_NAME.txt``, with one object in each
line.

`POLYGONS` writes ``x1,y1,...,xn,yn[,confidence][,transcription]``, boxes as their four corners
(ICDAR 2015, Total-Text); `BOXES` writes ``x0,y0,x1,y1[,confidence][,transcription]``, polygons as
their bounding boxes (ICDAR 2013).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress, pairwise

import numpy as np

from evaltex_cli.conversion.archives import Entry, write_files
from evaltex_cli.conversion.base import (
    Block,
    Job,
    Writer,
    numbers_of,
    quoted,
    renumbered,
    some_outlines,
)
from evaltex_cli.old_formats.base import DONT_CARE
from evaltex_cli.records import Objects, Outlines, count_texts, offsets_of

WORDS_LOST = (
    "{count} transcription[s] of don't-care objects left out: " + f"{DONT_CARE} replaces [it|them]"
)
BECAME_DONT_CARE = "{count} object[s] became don't care: [its|their] transcription is " + DONT_CARE
REGIONS_LOST = "{count} object[s] lost [its|their] region: an ICDAR-style file holds none"
IDS_LOST = "{count} object[s] [is|are] numbered again: an ICDAR-style file holds no IDs"
SIZES_LOST = "{count} image size[s] left out: an ICDAR-style file holds none"
SHORT = "{count} object[s] of fewer than three vertices left out"
LINE_BREAKS = "{count} transcription[s] got blanks for line breaks"
CONFIDENCES_LOST = "{count} confidence[s] left out: not all objects have one in [0, 1]"
BOXED = "{count} polygon[s] written as [its bounding box|their bounding boxes]"
MIXED = (
    "{count} object[s] [is a polygon|are polygons] of other than four corners: read the target with"
    " the format polygon"
    " (--gt-format or --det-format)"
)
FEW = 0.05
_CORNERS = [0, 1, 2, 1, 2, 3, 0, 3]
"""Columns of a box (x0, y0, x1, y1) that are its corners."""
_NEEDS_QUOTES = re.compile(r'[\s"#+\-.0-9]|[^,]*[\x00-\x1f]|(?i:nan|inf)|\w+\s*,|.*\s\Z', re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Layout:
    """What the lines of an archive have: boxes for polygons, confidences, transcriptions."""

    as_boxes: bool
    confidences: bool
    texts: bool


def _write(job: Job, every: Iterable[Block], as_boxes: bool = False) -> None:
    blocks = list(every)
    texts = job.side == "gt" or any(count_texts(block.images.objects.texts) for block in blocks)
    layout = _Layout(as_boxes, _have_confidences(job, blocks), texts)
    write_files(job, "icdar2015", _entries(job, blocks, layout), always_prefixed=True)
    others = job.written
    for block in blocks:
        corners = block.images.objects.outlines.counts
        others -= int(((corners == 0) | (corners == 4)).sum())
    if not as_boxes and texts and 0 < others < FEW * job.written:
        job.lost[MIXED] += others


def _entries(job: Job, blocks: Iterable[Block], layout: _Layout) -> Iterator[Entry]:
    for block in blocks:
        _count_lost(job, block, layout.as_boxes)
        for k, name in enumerate(block.names):
            yield Entry(name, _lines(job, block.images.objects, k, layout))


def _have_confidences(job: Job, blocks: Sequence[Block]) -> bool:
    """Whether all objects have a confidence that the reader takes; lines of
    one archive have one or none has.
    """
    columns = [block.images.objects.confidences for block in blocks if block.images.objects.count]
    given = np.concatenate([column for column in columns if column is not None] or [np.zeros(0)])
    complete = len(given) > 0 and all(column is not None for column in columns)
    if job.side == "det" and complete and ((given >= 0) & (given <= 1)).all():
        return True
    job.lost[CONFIDENCES_LOST] += int((~np.isnan(given)).sum())
    return False


def _count_lost(job: Job, block: Block, as_boxes: bool) -> None:
    objects = block.images.objects
    job.lost[IDS_LOST] += renumbered(objects)
    job.lost[SIZES_LOST] += int((block.images.sizes > 0).all(axis=1).sum())
    if job.side == "gt":
        job.lost[REGIONS_LOST] += int((objects.regions != objects.ids).sum())
    if as_boxes:
        job.lost[BOXED] += int((objects.outlines.counts > 0).sum())


def _lines(job: Job, objects: Objects, image: int, layout: _Layout) -> Iterator[str]:
    first, last = objects.offsets[image : image + 2].tolist()
    some = slice(first, last)
    drawn = some_outlines(objects.outlines, some)
    dont_care = objects.dont_care[some] & (job.side == "gt")
    is_short = (drawn.counts > 0) & (drawn.counts < 3) & ~dont_care & (not layout.as_boxes)
    job.lost[SHORT] += int(is_short.sum())
    job.written += int((~is_short).sum())
    written = partial(compress, selectors=(~is_short).tolist())
    fields: list[Iterable[str]] = [written(_places(drawn, layout.as_boxes))]
    if layout.confidences and objects.confidences is not None:
        fields.append(map(repr, written(objects.confidences[some].tolist())))
    if layout.texts:
        texts = written(zip(objects.texts[some], dont_care.tolist(), strict=True))
        fields.append(_transcription(job, *one) for one in texts)
    yield from (",".join(line) + "\n" for line in zip(*fields, strict=True))


def _places(drawn: Outlines, as_boxes: bool) -> Iterator[str]:
    """The coordinates in each object's line."""
    if as_boxes:
        every, lengths = drawn.boxes.ravel(), np.full(len(drawn.boxes), 4)
    else:
        is_box = drawn.counts == 0
        lengths = np.where(is_box, 8, 2 * drawn.counts)
        of_boxes = np.repeat(is_box, lengths)
        every = np.empty(len(of_boxes))
        every[of_boxes] = drawn.boxes[is_box][:, _CORNERS].ravel()
        every[~of_boxes] = drawn.vertices.ravel()
    numbers = numbers_of(every)
    return (",".join(numbers[start:stop]) for start, stop in pairwise(offsets_of(lengths).tolist()))


def _transcription(job: Job, text: str, dont_care: bool) -> str:
    """The last field of a line, in quotes where it would else be read as something else."""
    if dont_care:
        job.lost[WORDS_LOST] += text not in ("", DONT_CARE)
        return DONT_CARE
    if "\n" in text:
        job.lost[LINE_BREAKS] += 1
        text = text.replace("\n", " ")
    if job.side == "gt":
        job.lost[BECAME_DONT_CARE] += text == DONT_CARE
    if not _NEEDS_QUOTES.match(text):
        return text
    return quoted(text)


POLYGONS = Writer(
    "icdar2015",
    "ICDAR-style .txt files of quadrilaterals or polygons, one per image",
    _write,
    ".zip",
)
BOXES = Writer(
    *("icdar2013", "ICDAR-style .txt files of boxes, one per image"),
    partial(_write, as_boxes=True),
    ".zip",
)
