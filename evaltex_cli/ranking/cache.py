"""Evidence of earlier rankings in a folder, one file for each protocol of two inputs.

A file is named by everything that it depends on: the content of both inputs, the protocol's
version and parameters, the options of reading, the code of this tool and its libraries. So nothing
in the folder is ever out of date, and it may be removed at any time. A file that is damaged or
renamed, or that another user may have written, is passed over, and its evidence measured again.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np

from evaltex_cli.errors import EvaltexError, InputError
from evaltex_cli.evaluation.resume import OWN, listing
from evaltex_cli.formats import image_subset
from evaltex_cli.formats.files import archive
from evaltex_cli.formats.files.entries import unreadable
from evaltex_cli.formats.files.listing import walk
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import EvidenceRows, Protocol
from evaltex_cli.ranking.board import Board
from evaltex_cli.ranking.entry import Entry, Subsets, drawn_of
from evaltex_cli.results.significance import Replicates
from evaltex_cli.runtime import cluster_worker, input_files, outputs
from evaltex_cli.runtime.outputs import Rules

FOLDER = ".evaltex-cache"
_NEW = ".evaltex-new-"
"""How files begin that are being written; they are locked meanwhile."""
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
        self._content = cache(_content)
        self._listing = cache(listing)

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
            "version": dict(cluster_worker.versions()),
            "protocol": [protocol.name, protocol.version],
            "parameters": asdict(parameters),
            "options": [
                *(options.gt_format, options.det_format, options.min_confidence),
                *(options.invalid, options.coordinates, options.columns, options.preset),
                options.dont_care,
                None if options.only is None else image_subset.digest(options.only),
            ],
            "gt": self._content(gt)[0],
            "det": self._content(det)[0],
            "lines": None if lines is None else self._content(lines)[0],
            "pictures": None if pictures is None else self._listing(pictures),
        }
        encoded = json.dumps(depends_on, sort_keys=True).encode()
        return Key(hashlib.sha256(encoded).hexdigest()[:40], protocol, subsets)

    def refuse_changed(self, gt: Path, det: Path, options: InputOptions) -> None:
        """Refuse inputs that are no longer, or were not all the time, what the keys are of."""
        for path in (gt, det, options.lines):
            if path is not None and _content(path) != self._content(path):
                raise input_files.changed(path)
        if options.images is not None and listing(options.images) != self._listing(options.images):
            raise input_files.changed(options.images)


def _content(path: Path) -> tuple[str, list[int]]:
    """A SHA-256 of the names and the bytes of a file, of those of a pattern, or in a folder; and
    their state before they were read, by which it is seen if they change and change back.
    """
    states = [archive.state(given) for given in input_files.files_of(path)]
    whole = hashlib.sha256()
    try:
        for file in _files(path):
            with input_files.open_regular(file, "a file") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            whole.update(repr((name, digest)).encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise unreadable(str(path), error) from error
    return whole.hexdigest(), states


def _files(path: Path) -> Iterator[Path]:
    """The regular files of a file, a pattern, or a folder."""
    for given in input_files.files_of(path):
        if given.is_dir():
            yield from (given / name for name, _ in walk(given))
        else:
            yield given


def prepare(folder: Path | None, board: Board) -> None:
    """Look at the folder before any work, and remove files from it that killed rankings were
    writing.

    Raises
    ------
    InputError
        When it cannot be written, or is in an input: in a folder of pictures under a name that
        `listing` does not leave out.
    """
    if folder is None:
        return
    inputs = board.inputs if folder.name.startswith(OWN) else board.paths
    with outputs.guarded(Rules(inputs, board.pictures, folders=[folder])):
        for path in folder.glob(f"{_NEW}*"):
            with suppress(OSError), _opened(path) as file:
                if _is_own(os.fstat(file.fileno())):
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()


def find(folder: Path | None, key: Key) -> Entry | LeftOut | None:
    """Return the evidence of a key; None where there is none that can be trusted."""
    if folder is None:
        return None
    try:
        with _opened(_place(folder, key)) as file:
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
        descriptor, new = tempfile.mkstemp(prefix=_NEW, dir=folder)  # of this user only
        try:
            with os.fdopen(descriptor, "wb") as file:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                np.savez(file, **_encoded(entry, key))
                with suppress(FileNotFoundError):  # removed just before it was locked
                    Path(new).replace(_place(folder, key))
        except BaseException:
            Path(new).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written ({error.strerror or error}); give --cache another folder"
        ) from error


def _opened(path: Path) -> IO[bytes]:
    """Open a file that may be anything, but no link."""
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")


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
