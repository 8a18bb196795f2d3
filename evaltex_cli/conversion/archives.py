"""Targets with one file per image: an archive (the same bytes for the same
data), a folder, or the only file.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from evaltex_cli.conversion import FILE_PER_IMAGE, is_folder
from evaltex_cli.conversion.base import Block, Holds, Job, Writer, is_own, target_file
from evaltex_cli.conversion.holding import Picture, picture_files, pictures
from evaltex_cli.errors import InputError, quote
from evaltex_cli.marks import archive_comment
from evaltex_cli.old_formats.files.image_names import (
    MOST_BYTES,
    bytes_of,
    image_names,
    leaves_result_folder,
    unfit_for_files,
    without_prefix,
)
from evaltex_cli.runtime.outputs import output_folder

PREFIX = {"gt": "gt_", "det": "res_"}
NAME_LOST = "{count} image name[s] left out: [it is|they are] that of the file"
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644 << 16


class Entry(NamedTuple):
    """A file of a target: its image's name, and its content, made when it is asked for."""

    image: str
    pieces: Iterable[str]


def writer(
    name: str, title: str, holds: Holds, document: Callable[[Job, Picture, str], Iterable[str]]
) -> Writer:
    """Return the writer of a format with one document per image.

    `document` yields the pieces of one; it gets the image, and what its picture is called.
    """

    def entries(job: Job, blocks: Iterable[Block]) -> Iterator[Entry]:
        files = picture_files(job)
        for picture in pictures(job, blocks, holds):
            yield Entry(picture.name, document(job, picture, files[picture.name]))

    def write(job: Job, blocks: Iterable[Block]) -> None:
        write_files(job, name, entries(job, blocks))

    return Writer(name, title, write, ".zip", holds)


def write_files(
    job: Job, format_name: str, entries: Iterable[Entry], always_prefixed: bool = False
) -> None:
    """Write a file for each image, with the ending that the format's files have.

    The target is a .zip archive, or a folder; a target of this very ending is the file of the only
    image. A name that the reader would take a prefix off gets one, `always_prefixed` all names.
    Faults go to the job's log and are raised at the end.
    """
    ending = FILE_PER_IMAGE[format_name]
    names = {image: _entry_name(job, image, ending, always_prefixed) for image in job.names}
    alone = not is_folder(job.target, format_name) and job.target.suffix.lower() == ending
    if alone:
        if len(job.names) > 1:
            found = f"{len(job.names)} images"
            expected = f"one for a {ending} file; end the target in .zip, or give a folder"
            job.faults.add(job.place, None, found, expected)
        job.lost[NAME_LOST] += job.names != [job.target.name.removesuffix(job.target.suffix)]
    else:
        _refuse_unreadable_names(job, list(names.values()), ending)
    job.faults.raise_if_any()
    if is_folder(job.target, format_name):
        _write_folder(job, ending, names, entries)
        return
    with target_file(job) as text_file:
        if alone:
            for entry in entries:
                text_file.writelines(entry.pieces)
        else:
            file: Any = text_file
            with zipfile.ZipFile(file.buffer, "w") as packed:
                packed.comment = archive_comment("data")
                for entry in entries:
                    packed.writestr(_info(names[entry.image]), _content(job, entry))
        job.faults.raise_if_any()


def _content(job: Job, entry: Entry) -> bytes:
    """Return what an archive's entry contains."""
    content = "".join(entry.pieces).encode()
    if len(content) > zipfile.ZIP64_LIMIT:
        raise InputError(
            f"{job.place}: image {quote(entry.image)} makes a file of more than 2 GiB; give a"
            " folder, not a .zip archive"
        )
    return content


def _write_folder(job: Job, ending: str, names: dict[str, str], entries: Iterable[Entry]) -> None:
    files = set(names.values())
    others = sorted(path.name for path in job.target.glob(f"*{ending}") if path.name not in files)
    if others:
        raise InputError(
            f"{job.target}: has {quote(others[0])}, which would be read as one of its images; give"
            " an empty folder"
        )
    with output_folder(job.target, is_own) as folder:
        for file, (found, expected) in unfit_for_files(
            files, folder.parent, folder.name, ""
        ).items():
            job.faults.add(job.place, None, f"an image name {found} ({quote(file)})", expected)
        job.faults.raise_if_any()
        for entry in entries:
            path = folder / names[entry.image]
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", encoding="utf-8", newline="\n") as text_file:
                text_file.writelines(entry.pieces)
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
    """The prefix comes after the folders, which the reader keeps where names
    repeat without them.
    """
    folder, slash, name = image.rpartition("/")
    prefix = PREFIX[job.side] if always_prefixed or without_prefix(name) != name else ""
    return f"{folder}{slash}{prefix}{name}{ending}"


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _TIMESTAMP)
    info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, _MODE
    return info
