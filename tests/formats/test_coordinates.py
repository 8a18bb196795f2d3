"""The scale and order of a model's boxes: real boxes come back from each way to write them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaltex_cli import image_objects
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.pairing import without_other_pages
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.coordinates import CANDIDATES, decided
from evaltex_cli.formats.memory import source
from evaltex_cli.formats.options import Coordinates, Reading
from evaltex_cli.records import Outlines

HEIGHT, WIDTH = 600, 900


def ground_truth(seed: int = 1, count: int = 12) -> Source:
    draw = np.random.default_rng(seed)
    corner = draw.uniform([20, 20], [600, 500], (count, 2))
    boxes = np.hstack([corner, corner + draw.uniform([40, 15], [250, 60], (count, 2))])
    return source("gt", {"a": image_objects(boxes)}, {"a": (HEIGHT, WIDTH)})


def written_as(gt: Source, coordinates: Coordinates, *known: Coordinates) -> Source:
    """The ground truth's boxes as a model would write them."""
    x0, y0, x1, y1 = (gt.objects.boxes / np.array([WIDTH, HEIGHT, WIDTH, HEIGHT])).T
    if coordinates.scale is None:
        x0, y0, x1, y1 = gt.objects.boxes.T
    numbers = {
        "xyxy": (x0, y0, x1, y1),
        "yxyx": (y0, x0, y1, x1),
        "xywh": (x0, y0, x1 - x0, y1 - y0),
        "cxcywh": ((x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0),
    }[coordinates.order]
    outlines = Outlines.of_boxes(np.round(np.array(numbers).T * (coordinates.scale or 1), 3))
    reading = Reading(known, "the key 'box_2d'")
    return replace(gt, objects=replace(gt.objects, outlines=outlines), reading=reading, path="det")


def read(det: Source, gt: Source) -> Any:
    return decided(det, gt, np.zeros(1, np.int64))


@pytest.mark.parametrize("coordinates", CANDIDATES, ids=str)
def test_boxes_come_back_from_each_reading(coordinates: Coordinates) -> None:
    gt = ground_truth()
    found = read(written_as(gt, coordinates), gt)
    assert found.coordinates == str(coordinates)
    assert found.reading is found.fractions is None
    assert np.abs(found.objects.boxes - gt.objects.boxes).max() < 1
    assert f"are read as {coordinates}, by their fit" in found.warnings[0]


def test_a_default_is_checked_and_never_switched() -> None:
    gt = ground_truth()
    ours, other = Coordinates("yxyx", 1000.0), Coordinates("xyxy", 1000.0)
    found = read(written_as(gt, ours, ours), gt)
    assert "the default for the key 'box_2d' (mean best IoU 1.00)" in found.warnings[0]
    with pytest.raises(InputError, match=r"are yxyx:1000 by the key .* xyxy:1000 fits far better"):
        read(written_as(gt, other, ours), gt)


def test_what_fits_nothing_and_a_scale_of_1024_are_refused() -> None:
    gt = ground_truth()
    with pytest.raises(InputError, match=r"are not known .*--coordinates"):
        read(written_as(ground_truth(seed=2), Coordinates("xyxy", 1000.0)), gt)
    with pytest.raises(InputError, match="or xyxy:1024"):
        read(written_as(gt, Coordinates("xyxy", 1024.0)), gt)


def test_pages_that_only_the_detections_have_are_counted() -> None:
    gt = source("gt", {"doc-2": image_objects([])}, {})
    pages = {name: image_objects([]) for name in ("doc-1", "doc-2", "doc-10", "img-3")}
    files = ["det/doc.json"] * 3 + ["det/img-3.json"]
    det = replace(source("det", pages, {}), files=files)
    found = without_other_pages(gt, det)
    assert list(found.names) == ["doc-2", "img-3"]
    (warning,) = found.warnings
    assert (
        "2 pages of documents are not in the ground truth and were left out: 'doc-1', 'doc-10'"
        in warning
    )
