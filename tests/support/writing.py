"""Objects written by one writer, and read back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from evaltex_cli.conversion import FILE_PER_IMAGE, WRITERS, writer
from evaltex_cli.conversion.writer import Job
from evaltex_cli.errors import FaultLog, counted
from evaltex_cli.formats import reading
from evaltex_cli.formats.base import Image, Side, Source, TextObject
from evaltex_cli.formats.columns import columns
from evaltex_cli.formats.options import InputOptions

READ_AS = {"icdar2015": "polygon", "icdar2013": "ltrb", "yolo": "yolo"}
"""Target -> the reader's name of its format, if the content does not decide."""
INEXACT = ("hocr", "label-studio", "yolo")
"""Targets that hold fractions of the picture, or percent: read again to 1e-9."""


def source_of(images: list[Image]) -> Source:
    """Images as an input in memory."""
    read = columns(images)
    return Source(read.names, read.sizes, read.objects, ids=read.ids, path="memory")


def write(path: Path, name: str, side: Side, images: list[Image]) -> Counter[str]:
    """Write images and return what was lost, by sentence."""
    job = Job(path, side, source_of(images))
    writer.write(job, name)
    return Counter({sentence: count for sentence, count in job.lost.items() if count})


def notes(lost: Counter[str]) -> list[str]:
    """What was lost, as it is said."""
    return sorted(counted(count, sentence) for sentence, count in lost.items())


def read(path: Path, side: Side, format_name: str | None = None) -> Source:
    log = FaultLog()
    options = InputOptions(gt_format=format_name, det_format=format_name)
    source = reading.read(path, side, options, log)
    log.raise_if_any()
    return source


def one(text: str = "word", dont_care: bool = False, **more: Any) -> TextObject:
    return TextObject([1.0, 2.0, 30.0, 40.0], text, dont_care, **more)


def ending(name: str) -> str:
    """The ending of a target in a format."""
    return ".zip" if name in FILE_PER_IMAGE else WRITERS[name].files
