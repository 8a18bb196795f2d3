"""Targets with one file per image: the files in a .zip archive, the same bytes for the same data; or the only file."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from typing import Any, NamedTuple

from evaltex_cli.conversion.base import Job
from evaltex_cli.errors import quote
from evaltex_cli.formats.files.image_names import (
    MOST_BYTES,
    bytes_of,
    image_names,
    leaves_result_folder,
    without_prefix,
)
from evaltex_cli.runtime import signals
from evaltex_cli.runtime.atomic_output import written

PREFIX = {"gt": "gt_", "det": "res_"}
NAME_LOST = "{count} image name[s] left out: [it is|they are] that of the file"
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644 << 16


class Entry(NamedTuple):
    """A file of a target: its image's name and its content."""

    image: str
    text: str


def write_archive(job: Job, ending: str, entries: Iterable[Entry], always_prefixed: bool = False) -> None:
    """Write a file of this ending for each image into a .zip archive.

    A target of this very ending is the file of the only image. A name that the reader would take a prefix off gets one,
    `always_prefixed` all names. Faults go to the job's log and are raised at the end.
    """
    names = {image: _entry_name(job, image, ending, always_prefixed) for image in job.names}
    alone = job.target.suffix.lower() == ending
    if alone:
        if len(job.names) > 1:
            found = f"{len(job.names)} images"
            job.faults.add(job.place, None, found, f"one for a {ending} file; end the target in .zip")
        job.lost[NAME_LOST] += job.names != [job.target.name.removesuffix(job.target.suffix)]
    else:
        _refuse_unreadable_names(job, list(names.values()), ending)
    job.faults.raise_if_any()
    with written(job.target) as text_file:
        if alone:
            for entry in entries:
                text_file.write(entry.text)
        else:
            file: Any = text_file
            with zipfile.ZipFile(file.buffer, "w") as packed:
                for entry in entries:
                    with signals.blocked():  # an archive cannot be closed within an entry
                        packed.writestr(_info(names[entry.image]), entry.text.encode("utf-8"))
        job.faults.raise_if_any()


def _refuse_unreadable_names(job: Job, entries: list[str], ending: str) -> None:
    """The reader must find the images' names again."""
    for name, entry, again in zip(job.names, entries, image_names(entries, ending), strict=True):
        size = max(map(bytes_of, entry.split("/")))
        if size > MOST_BYTES:
            found = f"image name {quote(name)} makes a file name of {size} bytes"
            job.faults.add(job.place, None, found, f"at most {MOST_BYTES}; shorten it")
        elif name != again or leaves_result_folder(name):
            expected = "a name without slashes that can be a file's; rename the image"
            job.faults.add(job.place, None, f"image name {quote(name)}", expected)


def _entry_name(job: Job, image: str, ending: str, always_prefixed: bool) -> str:
    """The prefix comes after the folders, which the reader keeps where names repeat without them."""
    folder, slash, name = image.rpartition("/")
    prefix = PREFIX[job.side] if always_prefixed or without_prefix(name) != name else ""
    return f"{folder}{slash}{prefix}{name}{ending}"


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _TIMESTAMP)
    info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, _MODE
    return info
