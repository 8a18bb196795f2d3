"""Folders and archives of one text file an image whose objects are collected one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from evaltex_cli.errors import FaultLog, FormatError, InputError, Position, not_utf8
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.documents import document_files
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.files.text_lines import refuse_excess
from evaltex_cli.formats.parsed import CollectedImage, CollectedObject

Parser = Callable[[str, Side], Iterator[CollectedObject | FormatError]]
"""Yields a text's objects, and what is wrong with it; a `FormatError` has its line."""


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
    return document_files.index_each(format_name, suffix, partial(_collect, parse), path, side, faults)


def _collect(parse: Parser, data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
    """Give an image the objects of its text."""
    try:
        refuse_excess(data)
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line, found, expected = not_utf8(error)
        raise FormatError(found, expected, at=Position(line)) from error
    for one in parse(text, side):
        if isinstance(one, FormatError):
            one.log(faults, image.place)
        else:
            image.objects.append(one)
