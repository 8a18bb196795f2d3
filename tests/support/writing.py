"""Objects written by one writer, and read back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
from evaltex_cli.conversion.base import Block, Job, load

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.base import ReadImages, Side
from evaltex_cli.old_formats.collected import columns
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject


def write(path: Path, name: str, side: Side, images: list[CollectedImage]) -> Counter[str]:
    """Write images and return what was lost, by sentence."""
    return write_columns(path, name, side, [image.name for image in images], columns(images))


def write_columns(
    path: Path, name: str, side: Side, names: list[str], images: ReadImages
) -> Counter[str]:
    job = Job(path, side, names, "memory", FaultLog())
    load(name).write(job, iter([Block(names, images)]))
    job.faults.raise_if_any()
    return Counter({sentence: count for sentence, count in job.lost.items() if count})


def read(path: Path, side: Side, format_name: str | None = None) -> tuple[list[str], ReadImages]:
    log = FaultLog()
    source = formats.open_source(path, side, log, format_name)
    found = source.part(np.arange(len(source.names))).read_in_any_unit()
    log.extend(found.faults)
    log.raise_if_any()
    return source.names, found


def one(text: str = "word", dont_care: bool = False, **more: object) -> CollectedObject:
    return CollectedObject([1.0, 2.0, 30.0, 40.0], text, dont_care, **more)  # type: ignore[arg-type]
