"""What a report shows of the images of a run, gathered while they are evaluated: then neither the
inputs nor the results are read again for it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.evaluation.evaluate import BatchImages, Run, Sink
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.records import Ints, offsets_of
from evaltex_cli.report import image_columns
from evaltex_cli.report.image_columns import Columns, Values
from evaltex_cli.results.image_table import NO_IMAGES, ImageTable, joined, table_of

_OBJECTS = ""
"""In place of a protocol's name: what all protocols share."""


class RunImages(ExitStack):
    """Gathers what a report shows of images; on disk, but for some hundred bytes of each.

    Parameters
    ----------
    folder : Path
        Where there is room for it until this is closed.
    runs : sequence of Run
    invalid : str
        The policy for invalid polygons. With `skip` objects are read again, as the report draws
        those that are skipped, too.

    Attributes
    ----------
    sink : Sink
    """

    def __init__(self, folder: Path, runs: Sequence[Run], invalid: str) -> None:
        super().__init__()
        names = [run.protocol.name for run in runs]
        self._has_objects = invalid != "skip"
        self._chunks = {name: self.enter_context(_Chunks(folder)) for name in (_OBJECTS, *names)}
        self._tables: dict[str, list[ImageTable]] = {name: [] for name in names}
        self.sink = Sink(partial(_of_batch, names[0] if self._has_objects else None), self._take)

    def _take(self, run: Run, made: Sequence[Any]) -> None:
        table, matches, objects = made
        self._tables[run.protocol.name].append(table)
        ends = offsets_of(np.diff(table.offsets) + table.detections)
        self._chunks[run.protocol.name].add(matches, ends)
        if objects:
            self._chunks[_OBJECTS].add(objects, ends)

    def table(self, name: str) -> ImageTable:
        """Return the images' table of a protocol."""
        self._tables[name] = [joined(self._tables[name])]
        return self._tables[name][0]

    def chunks(self, names: Sequence[str], inputs: Inputs) -> Iterator[image_columns.Chunk]:
        """Yield all images with the matches of some protocols, in the order of the ground truth."""
        objects = (
            self._chunks[_OBJECTS].texts()
            if self._has_objects
            else (
                image_columns.objects_of_inputs([inputs], start, stop)[0]
                for start, stop in pairwise(image_columns.chunk_starts([self.table(names[0])]))
            )
        )
        rows = (self._chunks[name].texts() for name in names)
        for one, *matches in zip(objects, *rows, strict=True):
            yield [one], [[row] for row in matches]


class _Chunks(ExitStack):
    """Columns of batches, cut into chunks that do not depend on these; each a line on disk."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._file = self.enter_context(
            tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=folder)  # noqa: SIM115
        )
        self._parts: list[Values] = []
        self._images = self._objects = 0

    def add(self, columns: Columns, ends: Ints) -> None:
        """Add the columns of some images, which follow those before; `ends` is as for
        `image_columns.chunk_stop`.
        """
        start = 0
        while start < len(ends) - 1:
            stop = image_columns.chunk_stop(ends, start, self._images, self._objects)
            self._parts.append(image_columns.of_images(columns, start, stop))
            self._images += stop - start
            self._objects += int(ends[stop] - ends[start])
            start = stop
            if image_columns.is_full(self._images, self._objects):
                self._write()

    def _write(self) -> None:
        self._file.write(image_columns.text(self._parts))
        self._file.write("\n")
        self._parts, self._images, self._objects = [], 0, 0

    def texts(self) -> Iterator[str]:
        """Yield what `image_columns.text` returns of each chunk; nothing is added any more."""
        if self._images:
            self._write()
        self._file.seek(0)
        return (line.rstrip("\n") for line in self._file)


def _of_batch(first: str | None, images: BatchImages) -> tuple[ImageTable, Columns, Columns]:
    """Return the table of a batch and its columns; those of objects only by the first protocol."""
    table, batch = table_of(images)._replace(objects=NO_IMAGES.objects), images.batch
    rows = table.rows._replace(names=list(map(_written, batch.names)))
    is_first = images.run.protocol.name == first
    objects = image_columns.of_objects(batch.gt, batch.det, batch.sizes) if is_first else {}
    return table._replace(rows=rows), image_columns.of_matches(images), objects


def _written(name: str) -> str:
    """Return a name as a result's .json has it: names of files need not be Unicode."""
    return name if name.isascii() else name.encode("utf-8", "replace").decode("utf-8")
