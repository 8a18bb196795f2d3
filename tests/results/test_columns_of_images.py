"""Columns of a batch's images, for reports and tables, are those of each image's results."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import pytest
import scenes

from evaltex_cli.evaluation.evaluate import Sink, evaluate_inputs, image_results, runs_of
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.report import image_columns
from evaltex_cli.results import image_table


@pytest.mark.parametrize("level", [0, 2], ids=["short", "long"])
def test_images_in_bulk_are_as_one_by_one(tmp_path: Path, level: int) -> None:
    paths = tmp_path / "gt.txt", tmp_path / "det.txt"
    for path, text in zip(paths, scenes.random_scene(level, images=12, polygons=True), strict=True):
        path.write_text(text, encoding="utf-8")
    runs = runs_of(
        {
            name: config.checked(name, {"print_level": level} if name == "evaltex" else {})
            for name in PROTOCOLS
        }
    )
    in_bulk, one_by_one = {}, {}

    def lines_of(images):
        return shown(images), image_table.table_of(images)

    def slowly(images):
        run, results = images.run, image_results(images)
        table = image_table.of_images(results, run.protocol.headline)
        return image_columns.of_results(results), table

    def take(into, run, made):
        into.setdefault(run.protocol.name, []).append(made)

    sinks = [Sink(lines_of, partial(take, in_bulk)), Sink(slowly, partial(take, one_by_one))]
    evaluate_inputs(open_inputs(*paths, InputOptions()), runs, sinks)
    assert set(in_bulk) == set(one_by_one) >= {"evaltex", "iou", "cleval", "popeval"}
    for name, made in in_bulk.items():
        for ours, theirs in zip(made, one_by_one[name], strict=True):
            assert ours[0] == theirs[0]
            assert plain(ours[1]) == plain(theirs[1])


def shown(images):
    columns = image_columns.of_matches(images)
    return image_columns.text([image_columns.of_images(columns, 0, len(images.batch.names))])


def plain(table):
    """A table as lists, None for NaN."""
    rows = table.rows
    columns = {**rows.columns, **table.scores, **table.objects.values}
    numbers = {
        name: [None if math.isnan(value) else value for value in column.ravel().tolist()]
        for name, column in columns.items()
    }
    counts, offsets = table.counts.tolist(), table.offsets.tolist()
    return list(rows.names), numbers, counts, offsets, table.objects.ids.tolist()
