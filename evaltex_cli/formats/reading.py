"""A whole input read into columns: any format, any number of files, here or in processes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import ConfigError, FaultLog, FormatError, InputError, counted
from evaltex_cli.formats import MEMORY, load
from evaltex_cli.formats.base import (
    Columns,
    File,
    Format,
    Head,
    Image,
    ReadOptions,
    Side,
    Source,
)
from evaltex_cli.formats.columns import columns, confidences_in_unit, joined
from evaltex_cli.formats.detection import EVALTEX, detect, other_format
from evaltex_cli.formats.files import Entry, Listing, open_listing, several_files
from evaltex_cli.formats.names import bad_names
from evaltex_cli.formats.options import Coordinates, InputOptions, column_mapping
from evaltex_cli.geometry import outlines
from evaltex_cli.progress import tracked
from evaltex_cli.records.rows import take
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.input_files import files_of

IMAGES_AT_ONCE = 1024
"""Images that are Python objects at a time."""
FILES_AT_ONCE = 256
"""Files that a worker reads at a time."""
_METADATA = ("mets", "METS", "trpDocMetadata")
_LEFT_OUT = "{count} file[s] of METS or metadata [was|were] left out"


class _Task(NamedTuple):
    """Some files of an input, fit to be sent to another process."""

    listing: Listing
    entries: Sequence[Entry]
    format: str
    side: Side
    options: ReadOptions


class _Part(NamedTuple):
    """What came of some files."""

    columns: Columns
    digests: list[str]
    notes: Counter[str]
    faults: FaultLog


def read(
    path: Path,
    side: Side,
    options: InputOptions,
    faults: FaultLog,
    ordered_map: OrderedMap = map,
    preferred: Sequence[str] = (),
) -> Source:
    """Read an input, detecting its format by content unless one is named.

    What is wrong in its files is logged, all of it; the source then lacks it.

    Parameters
    ----------
    path : Path
        A file, a folder, a .zip archive, or a pattern of EvaLTex files.
    ordered_map : callable
        What reads many files; see `runtime.workers`.
    preferred : sequence of str
        Formats that decide where lines of numbers fit several, as those of a preset do.

    Raises
    ------
    InputError
        When there is no such file or folder, it cannot be read, or no format fits it.
    """
    paths = files_of(path)
    several = paths != [path]
    listing = several_files(path, paths) if several else open_listing(path)
    named = EVALTEX if several else options.format_of(side)
    if named is None and options.columns is not None:
        from evaltex_cli.formats.table import has_columns

        named = "table" if has_columns(listing, column_mapping(options.columns)) else None
    form, why, note = (load(named), "named", "") if named else detect(listing, side, preferred)
    chosen, left_out = listing.chosen(form.endings)
    _refuse_none(chosen, left_out, form, side)
    own = ReadOptions(
        level=options.level_of(side) or (form.levels[0] if form.levels else ""),
        coordinates=Coordinates.parse(options.coordinates) if options.coordinates else None,
        columns=column_mapping(options.columns) if options.columns else {},
    )
    if own.level and own.level not in form.levels:
        known = ", ".join(form.levels) or "one level alone"
        raise InputError(f"{path}: format {form.name} has no level {own.level}; it has {known}")
    part = _read(chosen, form, side, own, ordered_map)
    level_note = ""
    if form.levels and not part.columns.objects.count and not part.faults.count:
        other, level = _first_level_of_objects(chosen, form, side, own, ordered_map)
        if level and options.level_of(side) is None:
            level_note = (
                f"no file has {own.level}s, so {level}s are read (--{side}-level names another"
                " level)"
            )
            part, own = other, own._replace(level=level)
        elif level:
            level_note = (
                f"no file has {own.level}s, so there are no objects (--{side}-level {level} reads"
                f" {level}s)"
            )
    counts = [counted(count, text) for text, count in part.notes.items() if count]
    notes = [f"{path}: {text}" for text in (note, *counts, level_note) if text]
    faults.extend(part.faults)
    if named and part.faults.count:
        content = other_format(chosen, form)
        if content:
            found = f"content of the format {content}"
            faults.add(str(path), None, found, f"{named}, which was named")
    if side == "gt" and not part.columns.names and not part.faults.count:
        faults.add(str(path), None, "no image", "at least one in ground truth")
    for k, found, expected in bad_names(part.columns.names):
        faults.add(part.columns.files[k], None, found, expected)
    sha256 = chosen.sha256(part.digests)
    source = _source(path, form, sha256, part.columns, (*left_out, *notes), own, why)
    return _without_tangled(source, faults)


def _without_tangled(source: Source, faults: FaultLog) -> Source:
    """Return an input without polygons that cross themselves too often, which are logged."""
    rows = outlines.tangled(source.objects.outlines)
    for row in rows.tolist():
        file, line, where = source.location(row)
        found = f"a polygon that crosses itself more than {outlines.MOST_CROSSINGS} times"
        faults.add(
            file, line, found, "an outline: put its vertices in order", (where,) if where else ()
        )
    is_kept = ~np.isin(np.arange(source.objects.count), rows)
    return replace(source, objects=take(source.objects, is_kept)) if len(rows) else source


def _source(
    path: Path,
    form: Format,
    sha256: str,
    read: Columns,
    warnings: tuple[str, ...],
    options: ReadOptions,
    why: str,
) -> Source:
    confidences, warning = confidences_in_unit(read.objects.confidences)
    return Source(
        path=str(path),
        format=form.name,
        sha256=sha256,
        names=read.names,
        sizes=read.sizes,
        objects=replace(read.objects, confidences=confidences),
        files=read.files,
        fractions=read.fractions if read.fractions.any() else None,
        warnings=(*warnings, f"{path}: {warning}") if warning else warnings,
        level=options.level,
        why=why,
        ids=read.ids or None,
        has_file_names=read.has_file_names,
    )


def _refuse_none(chosen: Listing, left_out: Sequence[str], form: Format, side: Side) -> None:
    """Refuse an input without any file of the format, and several where one has all images."""
    path, count = chosen.path, len(chosen.entries)
    ending = form.endings[0]
    if not count:
        others = "".join(warning.removeprefix(f"{path}: ") for warning in left_out)
        found = f"no {ending} file in it" + (f" ({others})" if others else "")
        also = " (an image without detections has an empty one)" if side == "det" else ""
        raise InputError(f"{path}: {found}; expected one for each image{also}")
    if form.one_document and count > 1 and chosen.kind != "several":
        raise InputError(
            f"{path}: {count} {ending} files in it; expected one of all images: give that file"
        )


def _read(
    listing: Listing, form: Format, side: Side, options: ReadOptions, ordered_map: OrderedMap
) -> _Part:
    """Read all files of a listing."""
    is_declared = bool(form.option and getattr(options, form.option))
    if form.survey is not None and not is_declared:
        try:
            options = options._replace(surveyed=form.survey(opened(listing), side))
        except FormatError as error:
            raise InputError(f"{listing.path}: {error.found}; expected {error.expected}") from error
    entries = listing.entries
    if ordered_map is map or len(entries) <= FILES_AT_ONCE:
        watched = tracked(entries, "reading", "files", len(entries))
        parts = [_read_some(_Task(listing, entries, form.name, side, options), watched)]
    else:
        tasks = [
            _Task(listing, entries[k : k + FILES_AT_ONCE], form.name, side, options)
            for k in range(0, len(entries), FILES_AT_ONCE)
        ]
        done = ordered_map(_read_some, tasks)
        parts = list(tracked(done, "reading", "parts", len(tasks)))
    faults, notes = FaultLog(), Counter[str]()
    for part in parts:
        faults.extend(part.faults)
        notes.update(part.notes)
    digests = [digest for part in parts for digest in part.digests]
    return _Part(joined([part.columns for part in parts]), digests, notes, faults)


def _read_some(task: _Task, entries: Iterable[Entry] | None = None) -> _Part:
    """Read the files of a task; `entries` are the same, and count how far reading has come."""
    faults, notes, digests = FaultLog(), Counter[str](), []
    form = load(task.format)
    parts: list[Columns] = []
    images: list[Image] = []
    files: list[str] = []

    def to_columns() -> None:
        if images:
            parts.append(columns(images, files))
            images.clear()
            files.clear()

    is_alone = len(task.listing.entries) == 1
    for entry, data in zip(entries or task.entries, task.listing.read(task.entries), strict=True):
        if task.listing.kind != "zip":
            digests.append(hashlib.sha256(data).hexdigest())
        place = task.listing.place(entry)
        file = File(place, entry.image, data, faults, notes, is_alone=is_alone)
        if (
            not is_alone
            and ".xml" in form.endings
            and Head(entry.name, data[: 1 << 14]).root in _METADATA
        ):
            notes[_LEFT_OUT] += 1
            continue
        for image in _images(file, form, task.side, task.options):
            if isinstance(image, Columns):
                to_columns()
                parts.append(image)
            else:
                images.append(image)
                files.append(place)
            if len(images) == IMAGES_AT_ONCE:
                to_columns()
    to_columns()
    return _Part(joined(parts), digests, notes, faults)


def _images(
    file: File, form: Format, side: Side, options: ReadOptions
) -> Iterator[Image | Columns]:
    """Yield the images of a file; one without objects where it cannot be read."""
    if side == "det" and not (file.is_alone or form.one_document or file.data.strip()):
        yield Image(file.stem)  # nothing was detected, in any format
        return
    has_images = False
    try:
        for image in form.read(file, side, options):
            has_images = True
            yield image
    except FormatError as error:
        file.log(error)
        if not form.one_document and not has_images:
            yield Image(file.stem)


def refuse_unused(options: InputOptions, *sources: Source) -> None:
    """Refuse options of formats that none of the inputs has; raises `ConfigError`."""
    used = {load(source.format).option for source in sources if source.format != MEMORY}
    found = ", ".join(f"{source.path} ({source.format})" for source in sources)
    if options.coordinates is not None and "coordinates" not in used:
        raise ConfigError(
            f"coordinates {options.coordinates}: no input has boxes of format chat-boxes, but"
            f" {found}"
        )
    if options.columns is not None and "columns" not in used:
        raise ConfigError(
            f"columns {options.columns}: no input is a table with these columns, but {found}"
        )


def opened(listing: Listing) -> Iterator[File]:
    """Yield the files of a listing, for a look at all of them."""
    log = FaultLog()
    for entry, data in zip(listing.entries, listing.read(), strict=True):
        yield File(listing.place(entry), entry.image, data, log)


def _first_level_of_objects(
    listing: Listing, form: Format, side: Side, options: ReadOptions, ordered_map: OrderedMap
) -> tuple[_Part, str]:
    """Return an input at the first level at which it has objects, and this level; an empty one if
    it has none.
    """
    part = _Part(joined([]), [], Counter(), FaultLog())
    for level in form.levels:
        if level != options.level:
            part = _read(listing, form, side, options._replace(level=level), ordered_map)
            if part.columns.objects.count or part.faults.count:
                return part, level
    return part, ""
