"""Whoever does the work, and however it is cut, the results are the same bytes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from box_scenes import IMAGES, arguments_for, outcome, write_boxes

from evaltex_cli.evaluation import batches, inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.runtime import (
    worker_server,
    workers,
)

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize("kind", ["boxes", "polygons", "folders", "masks"])
def test_chunks_of_any_size_give_the_same_bytes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = arguments_for(kind)
    whole = outcome(*arguments)
    assert any(name.endswith(".txt") and "img_" in name for name in whole)
    for images in (1, 7):
        monkeypatch.setattr(batches, "BATCH_IMAGES", images)
        monkeypatch.setattr(batches, "MASK_BATCH_IMAGES", images)
        assert outcome(*arguments) == whole


@pytest.mark.parametrize(("kind", "count"), [("polygons", 2), ("folders", 3), ("masks", 2)])
def test_any_number_of_jobs_gives_the_same_bytes(
    kind: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = arguments_for(kind)
    alone = outcome(*arguments)
    monkeypatch.setattr(batches, "BATCH_IMAGES", 5)
    monkeypatch.setattr(batches, "MASK_BATCH_IMAGES", 5)
    assert outcome(*arguments, "--jobs", str(count)) == alone


@pytest.mark.parametrize("kind", ["boxes", "masks"])
def test_workers_import_what_decodes_pictures_where_there_are_any(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    preloaded: list[str] = []
    monkeypatch.setattr(worker_server, "prepare", lambda modules, **_: preloaded.extend(modules))
    monkeypatch.setattr(workers, "processes", lambda jobs: nullcontext(map))
    outcome(*arguments_for(kind), "--jobs", "2")
    assert ("evaltex_cli.formats.label_images" in preloaded) == (kind == "masks")


def test_faults_found_by_workers_are_reported_as_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, in the same order; equal ones once, unless each is asked for."""
    write_boxes()
    broken = Path("det.txt").read_text().replace('"word"', '"word')
    Path("det.txt").write_text(broken)
    monkeypatch.setattr(batches, "BATCH_IMAGES", 9)
    alone = outcome("gt.txt", "det.txt", "res", "-a", expected=2)
    assert outcome("gt.txt", "det.txt", "res", "-a", "--jobs", "2", expected=2) == alone
    assert (
        alone["stderr"].count(b"\n") == 3 and b" such faults, also at det.txt:" in alone["stderr"]
    )
    each = outcome("gt.txt", "det.txt", "res", "-a", "--all-faults", expected=2)
    assert (
        outcome("gt.txt", "det.txt", "res", "-a", "--all-faults", "--jobs", "2", expected=2) == each
    )
    assert each["stderr"].count(b"\n") == broken.count('"word')
    assert not Path("res").exists()


@pytest.mark.parametrize("kind", ["small", "large", "packed"])
def test_a_worker_indexes_detections_that_are_small_text(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meanwhile this process indexes the ground truth, and everything else."""
    paths = [Path(name) for name in write_boxes()]
    if kind == "packed":
        for path in paths:
            path.write_bytes(gzip.compress(path.read_bytes()))
    if kind == "large":
        monkeypatch.setattr(inputs, "SENT_BYTES", paths[1].stat().st_size - 1)
    sent = []

    def noted(function: Callable[[Any], Any], items: Iterable[Any], /) -> Iterator[Any]:
        sent.extend(item[0] for item in items)
        return map(function, items)

    opened = inputs.open_inputs(*paths, InputOptions(), noted)
    assert sent == (paths[1:] if kind == "small" else [])
    assert (len(opened.gt.names), len(opened.det.names), opened.faults.count) == (
        IMAGES,
        IMAGES * 4 // 5,
        0,
    )


def test_the_results_do_not_depend_on_the_jobs() -> None:
    outcome(*write_boxes(), "res", "--jobs", "2")
    assert "jobs" not in json.loads(Path("res/evaltex.json").read_text())
