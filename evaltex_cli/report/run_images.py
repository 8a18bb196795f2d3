"""What a report shows of the images of a run, gathered while they are evaluated: then neither the
inputs nor the results are read again for it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from evaltex_cli.evaluation.tally import BatchImages, ImageSink, Run
from evaltex_cli.records import ImageBatch
from evaltex_cli.report import image_json
from evaltex_cli.report.inputs import numbers
from evaltex_cli.results.image_table import ImageTable, ImageTableBuilder, table_of_images

_OBJECTS = ""
"""In place of a protocol's name: what all protocols share, objects and size with a tab between."""


class RunImages(ExitStack):
    """Gathers what a report shows of images; on disk, but for some hundred bytes of each.

    Parameters
    ----------
    folder : Path
        Where there is room for it until this is closed.
    runs : sequence of Run

    Attributes
    ----------
    sink : ImageSink
    """

    def __init__(self, folder: Path, runs: Sequence[Run]) -> None:
        super().__init__()
        names = [run.protocol.name for run in runs]
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
        self.sink = ImageSink(partial(_of_batch, names[0]), self._take)

    def _take(self, run: Run, made: tuple[ImageTable, str, str]) -> None:
        table, matches, objects = made
        self._tables[run.protocol.name].add_table(table)
        self._files[run.protocol.name].write(matches)
        self._files[_OBJECTS].write(objects)

    def table(self, name: str) -> ImageTable:
        """Return the images' table of a protocol."""
        return self._tables[name].table()

    def lines(self, names: Sequence[str]) -> Iterator[image_json.Parts]:
        """Yield the images with the matches of some protocols, in the order of the ground truth."""
        files = [self._files[name] for name in (_OBJECTS, *names)]
        for file in files:
            file.seek(0)
        for shared, *rows in zip(*files, strict=True):
            objects, _, size = shared.rstrip("\n").partition("\t")
            yield objects, size, [[row.rstrip("\n")] for row in rows]


def _of_batch(first: str, run: Run, images: BatchImages) -> tuple[ImageTable, str, str]:
    """Return the table of a batch and its lines; those of objects only by the first protocol."""
    table = table_of_images(run, images)
    rows = table.rows._replace(names=list(map(_written, images.batch.names)))
    matches = "".join(line + "\n" for line in image_json.matches_of_batch(images))
    objects = _objects(images.batch) if run.protocol.name == first else ""
    return table._replace(rows=rows, objects=None), matches, objects


def _written(name: str) -> str:
    """Return a name as a result's .json has it: names of files need not be Unicode."""
    return name if name.isascii() else name.encode("utf-8", "replace").decode("utf-8")


def _objects(batch: ImageBatch) -> str:
    sizes = [
        [width, height] if width > 0 and height > 0 else None
        for height, width in numbers(batch.sizes)
    ]
    return "".join(
        f"{objects}\t{image_json.text(size)}\n"
        for objects, size in zip(image_json.objects_of_batch(batch), sizes, strict=True)
    )
