"""Evidence of earlier rankings in a folder, one file for each protocol of two inputs.

A file is named by everything that it depends on: the content of both inputs, the protocol's
version and parameters, the options of reading and the version of this tool. So nothing in the
folder is ever out of date, and it may be removed at any time. A file that is damaged or
renamed, or that another user may have written, is passed over, and its evidence measured again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.errors import EvaltexError, InputError
from evaltex_cli.evaluation.resume import listing
from evaltex_cli.formats import image_subset
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import EvidenceRows, Protocol
from evaltex_cli.ranking.entry import Entry, Subsets, drawn_of
from evaltex_cli.results.significance import Replicates
from evaltex_cli.runtime import input_files
from evaltex_cli.version import __version__

FOLDER = ".evaltex-cache"
_LAYOUT = 2
_DAMAGED = (
    *(OSError, EOFError, ValueError, LookupError, TypeError, ArithmeticError),
    *(AttributeError, RuntimeError, MemoryError, AssertionError, EvaltexError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
"""What reading a damaged archive of arrays may raise."""


@dataclass(frozen=True, slots=True)
class Key:
    """What evidence depends on, and the subsets of the images that were scored with it."""

    name: str
    protocol: Protocol
    subsets: Subsets


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The input has not what the protocol needs: texts."""


class Inputs:
    """The content of input files and folders, each read once."""

    def __init__(self) -> None:
        self.digest = cache(_digest)
        self.listing = cache(listing)

    def key(
        self,
        gt: Path,
        det: Path,
        options: InputOptions,
        protocol: Protocol,
        parameters: Any,
        subsets: Subsets,
    ) -> Key:
        """Return the key of a protocol's evidence of two inputs.

        Raises
        ------
        InputError
            When one cannot be read.
        """
        lines, pictures = options.lines, options.images
        depends_on = {
            "layout": _LAYOUT,
            "version": __version__,
            "protocol": [protocol.name, protocol.version],
            "parameters": asdict(parameters),
            "options": [
                *(options.gt_format, options.det_format, options.min_confidence),
                *(options.invalid, options.coordinates, options.columns, options.preset),
                options.dont_care,
                None if options.only is None else image_subset.digest(options.only),
            ],
            "gt": self.digest(gt),
            "det": self.digest(det),
            "lines": None if lines is None else self.digest(lines),
            "pictures": None if pictures is None else self.listing(pictures),
        }
        encoded = json.dumps(depends_on, sort_keys=True).encode()
        return Key(hashlib.sha256(encoded).hexdigest()[:40], protocol, subsets)


def _digest(path: Path) -> str:
    """A SHA-256 of the names and the bytes of a file, of those of a pattern, or in a folder."""
    whole = hashlib.sha256()
    for file in _files(path):
        try:
            with file.open("rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{file}: cannot be read ({error.strerror or error})") from error
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        whole.update(repr((name, digest)).encode("utf-8", "backslashreplace"))
    return whole.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    for given in input_files.files_of(path):
        if not given.is_dir():
            yield given
        for root, folders, files in os.walk(given):
            folders.sort()
            yield from (Path(root, name) for name in sorted(files))


def find(folder: Path | None, key: Key) -> Entry | LeftOut | None:
    """Return the evidence of a key; None where there is none that can be trusted."""
    if folder is None:
        return None
    try:
        opened = os.open(_place(folder, key), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(opened, "rb") as file:
            if not _is_own(os.fstat(file.fileno())):
                return None
            with np.load(file, allow_pickle=False) as stored:
                return _decoded({name: stored[name] for name in stored.files}, key)
    except _DAMAGED:
        return None


def add(folder: Path | None, key: Key, entry: Entry | LeftOut) -> None:
    """Store the evidence of a key.

    Raises
    ------
    InputError
        When the folder cannot be written.
    """
    if folder is None:
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, new = tempfile.mkstemp(prefix=".new-", dir=folder)  # of this user only
        try:
            with os.fdopen(descriptor, "wb") as file:
                np.savez(file, **_encoded(entry, key))
            Path(new).replace(_place(folder, key))
        except BaseException:
            Path(new).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror or error}); give --cache another folder"
        ) from error


def _place(folder: Path, key: Key) -> Path:
    return folder / f"{key.protocol.name}-{key.name}.npz"


def _is_own(status: os.stat_result) -> bool:
    """Whether a file is regular, and only this user may have written it."""
    is_private = not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and is_private


def _encoded(entry: Entry | LeftOut, key: Key) -> dict[str, Any]:
    if isinstance(entry, LeftOut):
        return {"about": _packed({"key": key.name, "left_out": True})}
    drawn = entry.drawn
    about = {
        "key": key.name,
        "names": list(entry.rows.names),
        "parameters": asdict(entry.parameters),
        "signature": entry.signature,
        "scores": entry.scores,
        "warnings": entry.warnings,
        "subsets": asdict(key.subsets),
        "of_all": drawn.of_all,
        "of_none": drawn.of_none,
        "is_exact": drawn.is_exact,
    }
    columns = {f"column {name}": column for name, column in entry.rows.tally.as_dict().items()}
    scored = {f"subsets {name}": values for name, values in drawn.values.items()}
    return {"about": _packed(about), "has_evidence": drawn.has_evidence, **columns, **scored}


def _packed(about: Mapping[str, Any]) -> Any:
    return np.frombuffer(json.dumps(about).encode("ascii"), np.uint8)


def _decoded(stored: Mapping[str, Any], key: Key) -> Entry | LeftOut:
    about = json.loads(stored["about"].tobytes())
    if about["key"] != key.name:
        raise ValueError("evidence of another key, that was given this name")
    if "left_out" in about:
        return LeftOut()
    protocol = key.protocol
    parameters = config.checked(protocol.name, about["parameters"])
    columns = _named(stored, "column ")
    rows = EvidenceRows(about["names"], protocol.tally.of_columns(columns))
    if {len(column) for column in columns.values()} != {len(rows.names)}:
        raise ValueError("columns of other lengths than the names")
    if about["subsets"] == asdict(key.subsets):
        drawn = Replicates(
            _named(stored, "subsets "),
            about["of_all"],
            about["of_none"],
            stored["has_evidence"],
            about["is_exact"],
        )
    else:
        drawn = drawn_of(protocol, parameters, rows, key.subsets)
    return Entry(
        protocol,
        parameters,
        about["signature"],
        about["scores"],
        rows,
        drawn,
        about["warnings"],
    )


def _named(stored: Mapping[str, Any], beginning: str) -> dict[str, Any]:
    return {
        name.removeprefix(beginning): values
        for name, values in stored.items()
        if name.startswith(beginning)
    }
