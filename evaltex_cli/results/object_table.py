"""One row for each object of either side and protocol, with its match: as CSV, or as Parquet.

A batch's rows are made where the batch is measured, and wait until the columns of all are known.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.evaluate import BatchImages, Run, Sink, or_none
from evaltex_cli.protocols.matching import MATCH_TYPES, SideMatches
from evaltex_cli.records import Ints, Objects
from evaltex_cli.runtime.outputs import output_file, write_file
from evaltex_cli.tables import no_formula

Columns: TypeAlias = dict[str, list[Any]]
"""Name -> one element for each object; of the protocol's own values None where they are undefined.
"""
FIRST = ("protocol", "image", "side", "id", "match", "partners")
BOX = ("x0", "y0", "x1", "y1")
LAST = ("text", *BOX)
"""The columns after those of the protocols' own values; `FIRST` are those before them."""
PARQUET, ENDINGS = ".parquet", (".csv", ".txt", "")
"""Endings of files of Parquet, and of CSV."""


def columns_of(measured: BatchImages) -> Columns:
    """Return the rows of a batch: the objects of each image, then its
    detections; all columns but `protocol`.
    """
    batch, matches = measured.batch, measured.evidence.matches
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
        self.path, self.sink = path, Sink(columns_of, self.take)
        self._is_parquet = path.suffix.lower() == PARQUET
        if self._is_parquet:
            _pyarrow()
        elif path.suffix.lower() not in ENDINGS:
            raise ConfigError(
                f"{path}: objects are written as .csv or .parquet; give a file with one of these"
                " endings"
            )
        self._batches: dict[str, list[Columns]] = defaultdict(list)

    def take(self, run: Run, made: Columns) -> None:
        """Keep the rows of a batch; batches come in the order of the images."""
        name = run.protocol.name
        self._batches[name].append({"protocol": [name] * len(made["id"]), **made})

    def write(self, protocols: Sequence[str]) -> None:
        """Write the rows of these protocols; raises `InputError` if the file cannot be written."""
        batches = [columns for name in protocols for columns in self._batches[name]]
        own = (name for columns in batches for name in columns if name not in (*FIRST, *LAST))
        heads = (*FIRST, *dict.fromkeys(own), *LAST)
        tables = [
            {name: columns.get(name, [None] * len(columns["id"])) for name in heads}
            for columns in batches
        ]
        if self._is_parquet:
            _write_parquet(self.path, heads, tables)
        else:
            write_file(self.path, [",".join(heads) + "\n", *map(_in_csv, tables)])


def _in_csv(columns: Columns) -> str:
    cells = columns | {
        "image": list(map(no_formula, columns["image"])),
        "partners": [" ".join(map(str, partners)) for partners in columns["partners"]],
        "text": list(map(no_formula, columns["text"])),
    }
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(zip(*cells.values(), strict=True))
    return text.getvalue()


def _write_parquet(path: Path, heads: Sequence[str], tables: Sequence[Columns]) -> None:
    arrow = _pyarrow()
    from pyarrow import parquet

    kinds = {
        **dict.fromkeys(heads, arrow.float64()),
        **dict.fromkeys(("protocol", "image", "side", "match", "text"), arrow.string()),
        "id": arrow.int64(),
        "partners": arrow.list_(arrow.int64()),
    }
    schema = arrow.schema(kinds, metadata={b"content": b"evaltex objects"})
    with output_file(path) as file, parquet.ParquetWriter(file.buffer, schema) as writer:
        for columns in tables:
            writer.write_table(arrow.table(columns, schema=schema))


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ConfigError(
            "pyarrow is not installed; --objects FILE.parquet needs it: pip install"
            " pyarrow, or give a .csv"
        ) from error
    return pyarrow
