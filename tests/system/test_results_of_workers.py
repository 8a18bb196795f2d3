"""Whoever does the work, and however it is cut, the results are the same bytes."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from box_scenes import arguments_for, outcome, write_boxes
from sweep_images import scene

from evaltex_cli import diagnose, evaluate, sweep
from evaltex_cli.evaluation import evaluate as evaluation

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize("kind", ["boxes", "polygons", "folders", "masks"])
def test_chunks_of_any_size_give_the_same_bytes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = arguments_for(kind)
    whole = outcome(*arguments)
    assert any(name.endswith(".txt") and "img_" in name for name in whole)
    for images in (1, 7):
        monkeypatch.setattr(evaluation, "BATCH_OBJECTS", images)
        monkeypatch.setattr(evaluation, "MASK_BATCH_IMAGES", images)
        assert outcome(*arguments) == whole


@pytest.mark.parametrize(("kind", "count"), [("polygons", 2), ("folders", 3), ("masks", 2)])
def test_any_number_of_jobs_gives_the_same_bytes(
    kind: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = arguments_for(kind)
    alone = outcome(*arguments)
    monkeypatch.setattr(evaluation, "BATCH_OBJECTS", 5)
    monkeypatch.setattr(evaluation, "MASK_BATCH_IMAGES", 5)
    assert outcome(*arguments, "--jobs", str(count)) == alone


def test_faults_found_by_workers_are_reported_as_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, in the same order; equal ones once."""
    write_boxes()
    broken = Path("det.txt").read_text().replace('"word"', '"word')
    Path("det.txt").write_text(broken)
    monkeypatch.setattr(evaluation, "BATCH_OBJECTS", 9)
    alone = outcome("gt.txt", "det.txt", "res", "-a", expected=2)
    assert outcome("gt.txt", "det.txt", "res", "-a", "--jobs", "2", expected=2) == alone
    assert (
        alone["stderr"].count(b"\n") == 3 and b" such faults, also at det.txt:" in alone["stderr"]
    )
    assert not Path("res").exists()


@pytest.mark.parametrize("function", [evaluate, sweep, diagnose])
def test_neither_the_order_of_images_nor_the_jobs_change_a_bit(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "BATCH_OBJECTS", 23)
    gt: dict[str, Any] = {}
    det: dict[str, Any] = {}
    for seed in range(12):
        for whole, part in zip((gt, det), scene(seed), strict=True):
            whole |= {f"{seed} {name}": objects for name, objects in part.items()}
    names = list(gt)
    found = []
    for jobs in (1, 2, 1):
        sides = ({name: side[name] for name in names if name in side} for side in (gt, det))
        found.append(function(*sides, ["evaltex", "tiou", "deteval"], jobs=jobs).to_dict())
        random.Random(3).shuffle(names)
    assert found[0] == found[1] == found[2]
