"""One row for each object of either side and protocol, with its match: as CSV, or as Parquet.

A batch's rows are made where the batch is measured. They wait in temporary files, one for each
protocol, until the columns of all are known, so memory is bounded by a batch.
"""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np

from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.evaluate import BatchImages, Run, Sink, or_none
from evaltex_cli.marks import archive_comment
from evaltex_cli.progress import phase
from evaltex_cli.protocols.matching import MATCH_TYPES, SideMatches
from evaltex_cli.records import Ints, Objects
from evaltex_cli.results.markup import no_formula
from evaltex_cli.runtime.outputs import output_file, write_file

Columns: TypeAlias = dict[str, list[Any]]
"""Name -> one element for each object; of the protocol's own values None where they are undefined.
"""
FIRST = ("protocol", "image", "side", "id", "match", "partners")
BOX = ("x0", "y0", "x1", "y1")
LAST = ("text", *BOX)
"""The columns after those of the protocols' own values; `FIRST` are those before them."""
PARQUET = ".parquet"
"""The ending of a file that is not CSV."""
_OTHERS = (
    ".xlsx",
    ".xls",
    ".ods",
    ".json",
    ".jsonl",
    ".tsv",
    ".pq",
    ".feather",
    ".arrow",
    ".gz",
    ".zip",
)
"""Endings that promise something else."""


def columns_of(measured: BatchImages) -> Columns:
    """Return the rows of a batch: the objects of each image, then its
    detections; all columns but `protocol`.
    """
    batch, matches = measured.batch, measured.matches
    images = np.concatenate([batch.gt.image, batch.det.image])
    order = np.argsort(images, kind="stable").tolist()
    own = list(dict.fromkeys([*matches.gt.values, *matches.det.values]))
    of_gt = _of_side("gt", matches.gt, batch.gt, batch.det.ids, own)
    of_det = _of_side("det", matches.det, batch.det, batch.gt.ids, own)
    names = [_unicode(name) for name in batch.names]
    columns = {"image": [names[k] for k in images.tolist()]}
    columns |= {name: [*column, *of_det[name]] for name, column in of_gt.items()}
    return {name: [column[k] for k in order] for name, column in columns.items()}


def _of_side(
    side: str, own: SideMatches, objects: Objects, partner_ids: Ints, names: Sequence[str]
) -> Columns:
    linked, bounds = partner_ids[own.partners].tolist(), own.offsets.tolist()
    columns: Columns = {
        "side": [side] * objects.count,
        "id": objects.ids.tolist(),
        "match": [MATCH_TYPES[code] for code in own.types.tolist()],
        "partners": [linked[start:stop] for start, stop in pairwise(bounds)],
    }
    for name in names:
        known = name in own.values
        columns[name] = or_none(own.values[name]) if known else [None] * objects.count
    boxes = dict(zip(BOX, objects.boxes.T.tolist(), strict=True))
    return columns | {"text": list(map(_unicode, objects.texts))} | boxes


def _unicode(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


class ObjectTable:
    """The rows of all protocols of a run, and the file that they are written to.

    Raises `ConfigError` for a file whose ending promises another format, and for ``.parquet`` when
    pyarrow is not installed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_parquet = path.suffix.lower() == PARQUET
        if path.suffix.lower() in _OTHERS:
            raise ConfigError(
                f"{path}: objects are written as .csv or .parquet; give a file with one of these"
                " endings"
            )
        if self._is_parquet:
            _pyarrow()
        self._open = ExitStack()
        self._rows: dict[str, IO[str]] = {}
        self._values: dict[str, dict[str, None]] = {}
        self._objects: dict[str, int] = {}

    def __enter__(self) -> ObjectTable:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def sink(self) -> Sink:
        """What takes the rows of the batches."""
        return Sink(columns_of, self.take)

    def take(self, run: Run, made: Columns) -> None:
        """Keep the rows that `columns_of` has made of a batch; batches come
        in the order of the images.
        """
        name = run.protocol.name
        if name not in self._rows:
            file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115 (closed with the others)
            self._rows[name] = self._open.enter_context(file)
        self._values.setdefault(name, {}).update(dict.fromkeys(made))
        self._objects[name] = self._objects.get(name, 0) + len(made["id"])
        self._rows[name].write(json.dumps(made, separators=(",", ":")) + "\n")

    def write(self, protocols: Sequence[str]) -> None:
        """Write the rows of these protocols; raises `InputError` if the file cannot be written."""
        known = dict.fromkeys(
            name for protocol in protocols for name in self._values.get(protocol, {})
        )
        values = [name for name in known if name not in FIRST and name not in LAST]
        write = _write_parquet if self._is_parquet else _write_csv
        write(self.path, values, self._batches(protocols))

    def _batches(self, protocols: Sequence[str]) -> Iterator[Columns]:
        with phase(
            "writing the objects", "rows", sum(self._objects.get(name, 0) for name in protocols)
        ) as advance:
            for name in protocols:
                if name not in self._rows:
                    continue
                self._rows[name].seek(0)
                for line in self._rows[name]:
                    columns: Columns = json.loads(line)
                    yield {"protocol": [name] * len(columns["id"]), **columns}
                    advance(len(columns["id"]))


def _write_csv(path: Path, values: Sequence[str], batches: Iterable[Columns]) -> None:
    heads = (*FIRST, *values, *LAST)

    def pieces() -> Iterator[str]:
        yield ",".join(heads) + "\n"
        for columns in batches:
            text = io.StringIO()
            cells = columns | {
                "image": list(map(no_formula, columns["image"])),
                "partners": [" ".join(map(str, partners)) for partners in columns["partners"]],
                "text": list(map(no_formula, columns["text"])),
            }
            nothing = [None] * len(cells["id"])
            csv.writer(text, lineterminator="\n").writerows(
                zip(*(cells.get(name, nothing) for name in heads), strict=True)
            )
            yield text.getvalue()

    write_file(path, pieces())


def _write_parquet(path: Path, values: Sequence[str], batches: Iterable[Columns]) -> None:
    arrow = _pyarrow()
    from pyarrow import parquet

    text, number = arrow.string(), arrow.float64()
    kinds: Mapping[str, Any] = {
        **dict.fromkeys(("protocol", "image", "side", "match", "text"), text),
        "id": arrow.int64(),
        "partners": arrow.list_(arrow.int64()),
    }
    heads = (*FIRST, *values, *LAST)
    schema = arrow.schema(
        [(name, kinds.get(name, number)) for name in heads],
        metadata={b"content": archive_comment("objects")},
    )
    with output_file(path) as file, parquet.ParquetWriter(file.buffer, schema) as writer:
        for columns in batches:
            nothing = [None] * len(columns["id"])
            arrays = {name: columns.get(name, nothing) for name in heads}
            writer.write_table(arrow.table(arrays, schema=schema))


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ConfigError(
            "pyarrow is not installed; --objects FILE.parquet needs it: pip install"
            " 'evaltex[tables]', or give a .csv"
        ) from error
    return pyarrow
