"""What a report shows of the images of a run, gathered while they are evaluated: then neither the
inputs nor the results are read again for it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.tally import BatchImages, ImageSink, Run
from evaltex_cli.records import ImageBatch
from evaltex_cli.report import image_json
from evaltex_cli.report.inputs import numbers, read_shapes
from evaltex_cli.results.image_table import (
    ImageTable,
    ImageTableBuilder,
    StoredRows,
    table_of_images,
)

_READ_IMAGES = 500
"""Number of images that are read again at a time."""
_OBJECTS = ""
"""In place of a protocol's name: what all protocols share, objects and size with a tab between."""


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
    sink : ImageSink
    """

    def __init__(self, folder: Path, runs: Sequence[Run], invalid: str) -> None:
        super().__init__()
        names = [run.protocol.name for run in runs]
        self._has_objects = invalid != "skip"
        self._files = {
            name: self.enter_context(
                tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n", dir=folder)  # noqa: SIM115
            )
            for name in (_OBJECTS, *names)
        }
        self._tables = {
            run.protocol.name: ImageTableBuilder(run.protocol.headline, with_objects=False)
            for run in runs
        }
        self.sink = ImageSink(
            partial(_of_batch, names[0] if self._has_objects else None), self._take
        )

    def _take(self, run: Run, made: Sequence[Any]) -> None:
        (rows, *columns), matches, objects = made  # lists if they come from a journal
        self._tables[run.protocol.name].add_table(ImageTable(StoredRows(*rows), *columns))
        self._files[run.protocol.name].write(matches)
        self._files[_OBJECTS].write(objects)

    def table(self, name: str) -> ImageTable:
        """Return the images' table of a protocol."""
        return self._tables[name].table()

    def lines(self, names: Sequence[str], inputs: Inputs) -> Iterator[image_json.Parts]:
        """Yield the images with the matches of some protocols, in the order of the ground truth."""
        shared = self._rows(_OBJECTS) if self._has_objects else _read_again(inputs)
        for one, *rows in zip(shared, *map(self._rows, names), strict=True):
            objects, _, size = one.partition("\t")
            yield objects, size, [[row] for row in rows]

    def _rows(self, name: str) -> Iterator[str]:
        file = self._files[name]
        file.seek(0)
        return (line.rstrip("\n") for line in file)


def _of_batch(first: str | None, run: Run, images: BatchImages) -> tuple[ImageTable, str, str]:
    """Return the table of a batch and its lines; those of objects only by the first protocol."""
    table = table_of_images(images)
    rows = table.rows._replace(names=list(map(_written, images.batch.names)))
    matches = "".join(line + "\n" for line in image_json.matches_of_batch(images))
    objects = _objects(images.batch) if run.protocol.name == first else ""
    return table._replace(rows=rows, objects=None), matches, objects


def _written(name: str) -> str:
    """Return a name as a result's .json has it: names of files need not be Unicode."""
    return name if name.isascii() else name.encode("utf-8", "replace").decode("utf-8")


def _objects(batch: ImageBatch) -> str:
    sizes = [
        f"[{width},{height}]" if width > 0 and height > 0 else "null"
        for height, width in numbers(batch.sizes)
    ]
    return "".join(
        f"{objects}\t{size}\n"
        for objects, size in zip(image_json.objects_of_batch(batch), sizes, strict=True)
    )


def _read_again(inputs: Inputs) -> Iterator[str]:
    """Yield the lines of `_objects`, with the objects that are skipped."""
    images = len(inputs.gt.names)
    for start in range(0, images, _READ_IMAGES):
        for one in read_shapes([inputs], start, min(start + _READ_IMAGES, images)):
            gt, det = (image_json.side(side.ids, side) for side in (one.gt, *one.det))
            yield f"{image_json.objects(gt, [det])}\t{image_json.text(one.size)}"
