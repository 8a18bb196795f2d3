"""A whole input read into columns: any format, any number of files, here or in processes."""

from __future__ import annotations

import gc
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import ConfigError, FaultLog, FormatError, InputError, counted
from evaltex_cli.formats import MEMORY, load
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, Source
from evaltex_cli.formats.columns import columns, confidences_in_unit, joined
from evaltex_cli.formats.detection import EVALTEX, detect, other_format
from evaltex_cli.formats.files import Entry, Listing, open_listing
from evaltex_cli.formats.names import bad_names
from evaltex_cli.formats.options import Coordinates, InputOptions, Reading, column_mapping
from evaltex_cli.formats.sizes import in_pixels
from evaltex_cli.geometry import outlines
from evaltex_cli.records import take
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.progress import tracked

IMAGES_AT_ONCE = 1024
"""Images that are Python objects at a time."""
FILES_AT_ONCE = 256
"""Files that a worker reads at a time."""
_METADATA = re.compile(rb"<(?:mets:)?mets\b|<trpDocMetadata\b", re.IGNORECASE)
_LEFT_OUT = "{count} file[s] of METS or metadata [was|were] left out"


class _Part(NamedTuple):
    """What came of some files."""

    source: Source
    digests: list[str]
    notes: Counter[str]
    faults: FaultLog

    @property
    def is_empty(self) -> bool:
        return not (self.source.objects.count or self.faults)


def read(
    path: Path,
    side: Side,
    options: InputOptions,
    faults: FaultLog,
    ordered_map: OrderedMap = map,
    preferred: Sequence[str] = (),
) -> Source:
    """Read an input: a file, a folder, a .zip archive, or a pattern of EvaLTex files.

    Its content decides its format, unless one is named; where lines of numbers fit several, the
    `preferred` ones do, such as those of a preset. All that is wrong in its files is logged and
    left out. `ordered_map` reads many files (`runtime.workers`). Raises `InputError` for what
    cannot be read, or has no known format.
    """
    listing = open_listing(path)
    has_pattern = listing.kind == "file" and len(listing.entries) > 1
    named = EVALTEX if has_pattern else getattr(options, f"{side}_format")
    mapping = column_mapping(options.columns) if options.columns else {}
    form, why, note = (load(named), "named", "") if named else detect(listing, side, preferred)
    chosen, left_out = listing.chosen(form.endings)
    if not chosen.entries:
        found = f"no {form.endings[0]} file in it, expected one for each image"
        raise InputError(f"{path}: {found}; {left_out}")
    if form.one_document and len(chosen.entries) > 1 and not has_pattern:
        found = f"{len(chosen.entries)} {form.endings[0]} files in it"
        raise InputError(f"{path}: {found}; expected one of all images: give that file")
    level = getattr(options, f"{side}_level")
    if level and level not in form.levels:
        known = ", ".join(form.levels) or "one level alone"
        raise InputError(f"{path}: format {form.name} has no level {level}; it has {known}")
    coordinates = Coordinates.parse(options.coordinates) if options.coordinates else None
    own = ReadOptions(level or "".join(form.levels[:1]), coordinates, mapping)
    part = _read(chosen, form, side, own, ordered_map)
    level_note = ""
    for other in form.levels if part.is_empty else ():
        at_other = _read(chosen, form, side, own._replace(level=other), ordered_map)
        if at_other.is_empty:
            continue
        level_note = f"no file has {own.level}s, so "
        if level is None:
            level_note += f"{other}s are read (--{side}-level names another level)"
            part, own = at_other, own._replace(level=other)
        else:
            level_note += f"there are no objects (--{side}-level {other} reads {other}s)"
        break
    source = part.source
    faults += part.faults
    content = other_format(chosen, form) if named and part.faults else ""
    if content:
        found = f"content of the format {content}"
        faults.add(str(path), None, found, f"{named}, which was named")
    if side == "gt" and not source.names and not part.faults:
        faults.add(str(path), None, "no image", "at least one in ground truth")
    for k, found, expected in bad_names(source.names):
        faults.add(source.files[k], None, found, expected)
    counts = [counted(count, text) for text, count in part.notes.items() if count]
    confidences, scale_note = confidences_in_unit(source.objects.confidences)
    notes = (left_out, note, *counts, level_note, scale_note)
    source = replace(
        source,
        objects=replace(source.objects, confidences=confidences),
        ids=source.ids or None,
        path=str(path),
        format=form.name,
        sha256=chosen.sha256(part.digests),
        warnings=tuple(f"{path}: {text}" for text in notes if text),
        level=own.level,
        why=why,
    )
    return _without_tangled(in_pixels(source, source.sizes), faults)


def _without_tangled(source: Source, faults: FaultLog) -> Source:
    """Return an input without polygons that cross themselves too often, which are logged."""
    rows = outlines.tangled(source.objects.outlines)
    found = f"a polygon that crosses itself more than {outlines.MOST_CROSSINGS} times"
    for row in rows.tolist():
        file, line, where = source.location(row)
        expected = "an outline: put its vertices in order"
        faults.add(file, line, found, expected, (where,) * bool(where))
    is_left = ~np.isin(np.arange(source.objects.count), rows)
    return replace(source, objects=take(source.objects, is_left)) if len(rows) else source


def _read(
    listing: Listing, form: Format, side: Side, options: ReadOptions, ordered_map: OrderedMap
) -> _Part:
    """Read all files of a listing."""
    is_declared = bool(form.option and getattr(options, form.option))
    if form.survey is not None and not is_declared:
        log, read = FaultLog(), zip(listing.entries, listing.read(), strict=True)
        files = (File(listing.place(entry), entry.image, data, log) for entry, data in read)
        try:
            options = options._replace(surveyed=form.survey(files, side))
        except FormatError as error:
            raise InputError(f"{listing.path}: {error.found}; expected {error.expected}") from error
    entries = listing.entries
    read_some = partial(_read_some, listing, form.name, side, options)
    reading = options.surveyed if isinstance(options.surveyed, Reading) else None
    if ordered_map is map or len(entries) <= FILES_AT_ONCE:
        part = read_some(entries)
        return part._replace(source=replace(part.source, reading=reading))
    some = [entries[k : k + FILES_AT_ONCE] for k in range(0, len(entries), FILES_AT_ONCE)]
    label = f"reading {listing.path.name}"
    sources, digests, notes, logs = zip(
        *tracked(ordered_map(read_some, some), label, "parts", len(some)), strict=True
    )
    faults = FaultLog()
    for log in logs:
        faults += log
    source = replace(joined(sources), reading=reading)
    return _Part(source, list(chain(*digests)), sum(notes, Counter()), faults)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Pause the garbage collector, which finds nothing and takes half of the time of reading."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_without_collector()
def _read_some(
    listing: Listing, name: str, side: Side, options: ReadOptions, entries: Sequence[Entry]
) -> _Part:
    """Read some files of a listing, in a format of this name."""
    faults, notes, digests = FaultLog(), Counter[str](), list[str]()
    form, is_alone = load(name), len(listing.entries) == 1

    def read_files() -> Iterator[Image | Source]:
        watched = tracked(entries, f"reading {listing.path.name}", "files", len(entries))
        for entry, data in zip(watched, listing.read(entries), strict=True):
            if listing.kind != "zip":
                digests.append(hashlib.sha256(data).hexdigest())
            file = File(listing.place(entry), entry.image, data, faults, notes, is_alone=is_alone)
            if ".xml" in form.endings and not is_alone and _METADATA.search(data[: 1 << 10]):
                notes[_LEFT_OUT] += 1
            else:
                yield from _images(file, form, side, options)

    parts, read = list[Source](), read_files()
    while some := list(islice(read, IMAGES_AT_ONCE)):  # all are images, or all are sources
        sources = [one for one in some if isinstance(one, Source)]
        parts += sources or [columns([one for one in some if isinstance(one, Image)])]
    return _Part(joined(parts or [columns([])]), digests, notes, faults)


def _images(file: File, form: Format, side: Side, options: ReadOptions) -> Iterator[Image | Source]:
    """Yield the images of a file; one without objects where it cannot be read."""
    if side == "det" and not (file.is_alone or form.one_document or file.data.strip()):
        file.notes[form.empty_file] += bool(form.empty_file)
        yield Image(file.stem, file=file.place)  # nothing was detected, in any format
        return
    has_images = False
    try:
        for image in form.read(file, side, options):
            has_images = True
            if isinstance(image, Image):
                image.file = file.place
            yield image
    except FormatError as error:
        file.log(error)
        if not form.one_document and not has_images:
            yield Image(file.stem, file=file.place)


def refuse_unused(options: InputOptions, *sources: Source) -> None:
    """Refuse options of formats that none of the inputs has; raises `ConfigError`."""
    used = {load(source.format).option for source in sources if source.format != MEMORY}
    found = ", ".join(f"{source.path} ({source.format})" for source in sources)
    for option, value in (("coordinates", options.coordinates), ("columns", options.columns)):
        if value is not None and option not in used:
            raise ConfigError(f"{option} {value}: no input has a format that uses it: {found}")
