"""The results of a run so far, batch by batch, in a file next to the result folder, so that a
killed run can go on.

The first line says what the run depends on; every further line is one batch. A line is only counted
once it is whole, by its checksum, so it does not matter when a run is killed, or what happens to
the file then.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, astuple
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.evaluation.batches import BatchResult
from evaltex_cli.evaluation.input_counts import InputCounts
from evaltex_cli.evaluation.inputs import Inputs, signature
from evaltex_cli.evaluation.tally import Gathered, Run
from evaltex_cli.protocols.object_warnings import ObjectWarning
from evaltex_cli.protocols.tally import ExactSum, Tally
from evaltex_cli.runtime import cluster_worker, input_files

OWN = ".evaltex-"
"""What the names of journals, staging folders and the cache of a ranking begin with."""
_LAYOUT = 6
"""Of the journal's lines."""
_BATCH = re.compile(rb'\{"crc32": (\d{1,10}), ("chunk": \[(\d{1,18}), (\d{1,18})\], )')
"""How a line of a batch begins; the checksum is that of what follows it, with the newline."""


def place(res_dir: Path) -> Path:
    """Where the journal of runs into a result folder is."""
    target = res_dir.absolute()
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    return target.parent / f".evaltex-resume-{digest}.jsonl"


def key(inputs: Inputs, runs: Sequence[Run], *wanted: bool) -> dict[str, Any]:
    """Everything that two runs must agree in for one to go on from the
    other's journal; `wanted`: of each sink.
    """
    gt, det, options = inputs.gt, inputs.det, inputs.options
    data = options, len(gt.names), gt.sha256
    masks, pictures = options.masks, options.images
    return {
        "version": dict(cluster_worker.versions()),
        "layout": _LAYOUT,
        "signatures": [signature(run.protocol, run.parameters, *data) for run in runs],
        "gt": [gt.format, gt.sha256],
        "det": [det.format, det.sha256],
        "lines": None if inputs.lines is None else [inputs.lines.format, inputs.lines.sha256],
        "label pictures": None
        if masks is None
        else [listing(masks.gt), listing(masks.det), masks.max_pixels],
        "pictures": None if pictures is None else listing(pictures),
        "results": [*wanted, *(run.keep_rows for run in runs)],
    }


def listing(folder: Path) -> str:
    """A digest of names, sizes and times of the files in a folder and below, but for what this tool
    keeps there while it works.
    """
    digest = hashlib.sha256()
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(OWN))
        for name in sorted(name for name in files if not name.startswith(OWN)):
            path = Path(root, name)
            status = path.stat() if path.exists() else path.lstat()
            digest.update(
                repr((root, name, status.st_size, status.st_mtime_ns)).encode("utf-8", "replace")
            )
    return digest.hexdigest()


@contextmanager
def opened(path: Path, key: Mapping[str, Any], runs: Sequence[Run]) -> Iterator[JournalFile]:
    """Give the journal of these runs at a path, new or of an earlier run.

    Raises
    ------
    InputError
        When it is of a run that differs from this one, cannot be read or written, or may be of
        another user.
    """
    try:
        descriptor = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600
        )
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error
    status = os.fstat(descriptor)
    is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1
    if not is_own or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        os.close(descriptor)
        raise InputError(
            f"{path}: is no file of your own that only you can write to, so its results cannot be"
            " trusted; remove it to begin again"
        )
    with os.fdopen(descriptor, "r+b") as file:
        yield JournalFile(path, file, key, [run.protocol.tally for run in runs])


class JournalFile:
    """A journal; see `evaluate.Journal`. Batches that are done stay in the
    file until they are asked for.
    """

    def __init__(
        self, path: Path, file: IO[bytes], key: Mapping[str, Any], tallies: Sequence[type[Tally]]
    ) -> None:
        self.path, self._file, self._tallies = path, file, tallies
        self._done: dict[tuple[int, int], int] = {}
        head = file.readline()
        if not head.endswith(b"\n"):
            self._end = self._write(0, json.dumps(key).encode("ascii") + b"\n")
        else:
            self._refuse_other(head, key)
            self._end = self._index(len(head))

    def _refuse_other(self, head: bytes, key: Mapping[str, Any]) -> None:
        try:
            theirs = json.loads(head)
            differing = [
                name for name in key if theirs.get(name) != json.loads(json.dumps(key[name]))
            ]
        except (ValueError, AttributeError, RecursionError):
            differing = ["what it is"]
        if differing:
            raise InputError(
                f"{self.path}: the journal of a run that differs from this one in"
                f" {', '.join(differing)}; give the"
                " same input and options to go on with that run, or remove the file to begin again"
            )

    def _index(self, end: int) -> int:
        """Find the batches that were finished; return where the last of them ends."""
        for line in self._file:
            batch = _batch_of(line)
            if batch is None:
                break
            self._done[batch] = end
            end += len(line)
        return end

    def _write(self, position: int, data: bytes) -> int:
        self._file.seek(position)
        self._file.truncate()
        self._file.write(data)
        self._file.flush()
        return position + len(data)

    def has(self, start: int, stop: int) -> bool:
        """Whether the images of this range are done."""
        return (start, stop) in self._done

    def find(self, start: int, stop: int) -> BatchResult:
        """Return their result."""
        self._file.seek(self._done[start, stop])
        line = self._file.readline()
        if _batch_of(line) != (start, stop):
            raise input_files.changed(self.path)
        return _decoded(json.loads(line, object_hook=_with_array), self._tallies)

    def add(self, start: int, stop: int, result: BatchResult) -> None:
        """Save their result, unless anything was wrong."""
        if result.gathered:
            batch = {"chunk": [start, stop]} | _encoded(result)
            line = json.dumps(batch, default=_array).encode("ascii")[1:] + b"\n"
            self._end = self._write(self._end, b'{"crc32": %d, %b' % (zlib.crc32(line), line))

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


def _batch_of(line: bytes) -> tuple[int, int] | None:
    """The batch of a line, if the line is whole."""
    found = _BATCH.match(line)
    if found is None or zlib.crc32(memoryview(line)[found.start(2) :]) != int(found[1]):
        return None
    return int(found[3]), int(found[4])


def _encoded(result: BatchResult) -> dict[str, Any]:
    return {
        "gt": asdict(result.gt),
        "det": asdict(result.det),
        "lines": asdict(result.lines),
        "kept": result.made,
        "gathered": [
            {
                "sums": {name: _parts(value) for name, value in one.sums.as_dict().items()},
                "warnings": [astuple(warning) for warning in one.warnings],
                "columns": [part.as_dict() for part in one.columns],
                "names": one.names,
            }
            for one in result.gathered
            if one.sums is not None
        ],
    }


def _array(values: NDArray[Any]) -> dict[str, Any]:
    """Return a column in what JSON keeps exactly."""
    return {"dtype": values.dtype.str, "values": values.tolist()}


def _with_array(value: dict[str, Any]) -> Any:
    """Return the column that gave this; anything else as it is."""
    is_array = value.keys() == {"dtype", "values"}
    return np.array(value["values"], value["dtype"]) if is_array else value


def _parts(sums: Any) -> Any:
    """Sums in what JSON keeps exactly: whole numbers as they are, others as their parts."""
    if isinstance(sums, list):
        return [*map(_parts, sums)]
    return {"parts": sums.parts} if isinstance(sums, ExactSum) else sums


def _sums(parts: Any) -> Any:
    """Return the sums that gave these parts."""
    if isinstance(parts, list):
        return [*map(_sums, parts)]
    return ExactSum(parts["parts"]) if isinstance(parts, dict) else parts


def _decoded(line: Mapping[str, Any], tallies: Sequence[type[Tally]]) -> BatchResult:
    gathered = [
        Gathered(
            tally(**{name: _sums(value) for name, value in one["sums"].items()}),
            [
                ObjectWarning(text, count, tuple(images), others)
                for text, count, images, others in one["warnings"]
            ],
            [tally(**part) for part in one["columns"]],
            one["names"],
        )
        for tally, one in zip(tallies, line["gathered"], strict=True)
    ]
    gt, det, lines = (InputCounts(**line[name]) for name in ("gt", "det", "lines"))
    return BatchResult(gathered, line["kept"], gt, det, FaultLog(), lines=lines)
