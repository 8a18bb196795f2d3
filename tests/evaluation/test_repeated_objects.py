"""Objects that are there twice: a warning of every evaluation, with the count and an example."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from written_files import zipped

from evaltex_cli import (
    diagnose,
    evaluate,
    find_suspects,
    image_objects,
    rank,
    save_results,
    sweep,
    validate,
)
from evaltex_cli.evaluation import batches
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.reconciliation.figures import parsed
from evaltex_cli.reconciliation.search import search
from evaltex_cli.records import offsets_of
from evaltex_cli.records.rows import repeated

BOX = [[10, 10, 60, 30], [100, 10, 160, 30], [10, 50, 60, 70], [100, 50, 160, 70]]
SAME = "have the same box or polygon as an earlier object of their image"


def said(warnings: Any) -> list[str]:
    return [one for one in warnings if SAME in one]


def archive(path: Path, images: dict[str, list[list[float]]], confidence: str = "") -> Path:
    lines = {
        f"{name}.txt": "".join(",".join(map(str, box)) + f"{confidence}\n" for box in boxes)
        for name, boxes in images.items()
    }
    return zipped(path, lines)


def test_detections_that_are_there_twice(tmp_path: Path) -> None:
    gt = archive(tmp_path / "gt.zip", {"a": BOX, "b": BOX})
    det = archive(tmp_path / "det.zip", {"a": BOX, "b": BOX + BOX})
    found = evaluate(gt, det, "iou")
    assert said(found.warnings) == [
        "detections: 4 of 12 objects have the same box or polygon as an earlier object of their"
        " image (object 5 as object 1 in image 'b'); each of them counts, so remove what is there"
        " twice (`evaltex validate` lists all)"
    ]
    save_results(found, tmp_path / "results")
    stored = json.loads((tmp_path / "results" / "iou.json").read_text())
    assert said(stored["warnings"]) == said(found.warnings)
    listed = [one for one in validate(gt, det).problems if one.kind == "duplicate"]
    assert [(one.image, one.object) for one in listed] == [("b", k) for k in (5, 6, 7, 8)]


@pytest.mark.parametrize("protocol", ["evaltex", "iou"])
def test_every_command_says_so_once(tmp_path: Path, protocol: str) -> None:
    gt = archive(tmp_path / "gt.zip", {"a": BOX + BOX, "b": BOX})
    det = archive(tmp_path / "det.zip", {"a": BOX, "b": BOX}, ",0.5")
    for warnings in (
        evaluate(gt, det, protocol).warnings,
        evaluate(gt, det, protocol, jobs=2).warnings,
        sweep(gt, det, protocol).warnings,
        diagnose(gt, det, protocol).warnings,
        rank(gt, {"one": det, "other": det}, protocol).warnings,
        find_suspects(gt, {"one": det, "other": det}).warnings,
        search(gt, det, parsed({"recall": ".9"}), [protocol], InputOptions()).warnings,
    ):
        assert len(said(warnings)) == 1, warnings
    in_memory = evaluate({"x": np.array(BOX + BOX)}, {"x": np.array(BOX)}, protocol)
    assert "(object 5 as object 1 in image 'x')" in said(in_memory.warnings)[0]


@pytest.mark.parametrize(
    ("again", "others", "is_said"),
    [(2, 2, False), (3, 24, True), (3, 25, False), (3, 0, True), (0, 9, False)],
)
def test_three_and_a_tenth_are_many(again: int, others: int, is_said: bool) -> None:
    boxes = [[20 * k, 0, 20 * k + 9, 9] for k in range(others + 3)]
    found = evaluate({"a": np.array(boxes)}, {"a": np.array(boxes + boxes[:again])}, "iou")
    assert bool(said(found.warnings)) == is_said


def test_other_images_and_other_outlines_are_not_the_same() -> None:
    box, quad = BOX[0], [10, 10, 60, 10, 60, 30, 10, 30]
    turned = [60, 10, 60, 30, 10, 30, 10, 10]
    each = {str(k): np.array([box]) for k in range(9)}
    assert not said(evaluate(each, each, "iou").warnings)
    some = {"a": [np.reshape(one, (-1, 2)) for one in (quad, turned, [*quad[:6], 10, 29])]}
    assert not said(evaluate(some, some, "iou").warnings)
    same = {"a": [np.reshape(one, (-1, 2)) for one in (quad, turned, quad, quad, turned)]}
    (found,) = said(evaluate(each | {"a": np.array([box])}, same, "iou").warnings)
    assert "3 of 5 objects" in found and "(object 3 as object 1 in image 'a')" in found


def test_masks_may_have_the_same_box() -> None:
    corners = np.zeros((5, 20, 20), bool)
    for k in range(5):
        corners[k, [0, k, 19, 19 - k], [k, 19, 19 - k, 0]] = True
    assert not (corners.sum(axis=0) > 1).any()
    found = evaluate({"a": corners}, {"a": corners}, "iou")
    assert not said(found.warnings)


@pytest.mark.parametrize("most", [1, 3, 10_000])
@pytest.mark.parametrize("jobs", [1, 2])
def test_it_is_the_same_by_any_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, jobs: int
) -> None:
    images = {f"i{k}": BOX * (2 if k in (3, 7) else 1) for k in range(10)}
    gt = archive(tmp_path / "gt.zip", dict.fromkeys(images, BOX))
    det = archive(tmp_path / "det.zip", dict(reversed(images.items())))
    monkeypatch.setattr(batches, "BATCH_IMAGES", most)
    (found,) = said(evaluate(gt, det, "iou", jobs=jobs).warnings)
    assert "8 of 48 objects" in found and "(object 5 as object 1 in image 'i3')" in found


def test_repeated_objects_are_those_of_a_plain_search() -> None:
    rng = random.Random(5)
    for _ in range(50):
        boxes = [[float(rng.randrange(-2, 2)) for _ in range(4)] for _ in range(60)]
        objects = image_objects(np.array([[x, y, x + 3 + w, y + 3 + h] for x, y, w, h in boxes]))
        offsets = offsets_of(np.array([20, 0, 25, 15]))
        objects = type(objects)(
            **{name: getattr(objects, name) for name in objects.__dataclass_fields__}
            | {"offsets": offsets}
        )
        keys = list(zip(objects.image.tolist(), objects.boxes.tolist(), strict=True))
        firsts = [(row, keys.index(key)) for row, key in enumerate(keys)]
        assert repeated(objects) == [(row, first) for row, first in firsts if first != row]
