"""Folders and archives of one text file an image whose objects are collected one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from evaltex_cli.errors import FaultLog, InputError, not_utf8
from evaltex_cli.formats import archive, collected
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.collected import CollectedImage, CollectedObject, Misfit
from evaltex_cli.formats.fingerprint import Fingerprint

Parser = Callable[[str, Side], Iterator[CollectedObject | Misfit]]
"""Yields a text's objects, and what is wrong with it; a `Misfit` bears its line."""


def index(format_name: str, parse: Parser, suffix: str, path: Path, side: Side, faults: FaultLog) -> Source:
    """Collect the objects of every file of an ending.

    Raises
    ------
    InputError
        When it cannot be read, is damaged or too large, or is ground truth without such files.
    """
    entries = archive.open_entries(path, suffix)
    if side == "gt" and not entries.entries:
        raise InputError(f"{path}: no {suffix} file in it; expected one for each image")
    fingerprint = Fingerprint(entries)
    images = []
    for entry, data in zip(entries.entries, entries.read_many(entries.entries), strict=True):
        fingerprint.add(entry, data)
        image = CollectedImage(entry.image, entries.place(entry))
        images.append(image)
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            faults.add(image.place, *not_utf8(error))
            continue
        for one in parse(text, side):
            if isinstance(one, Misfit):
                one.log(faults, image.place)
            else:
                image.objects.append(one)
    entries.refuse_bad_names(faults)
    made = collected.source(str(path), format_name, fingerprint.hexdigest(), images)
    return replace(made, warnings=(*entries.warnings, *made.warnings))
