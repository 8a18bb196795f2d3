"""Average precision against pycocotools, and against the scripts' rules in plain loops."""

from __future__ import annotations

import contextlib
import io
import random
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import evaluate, image_objects, sweep
from evaltex_cli.records import Objects


def rrc(found: Sequence[tuple[float, bool]], objects: int) -> float:
    """The competition's: precision at each pair, in the order of confidence, over the objects.
    Takes the confidence of each detection that counts, and whether it is a pair.
    """
    correct, total = 0, 0.0
    ordered = sorted(found, key=lambda one: -one[0])  # stable
    for rank, (_, matched) in enumerate(ordered, 1):
        if matched:
            correct += 1
            total += correct / rank
    return total / objects


def file_order(images: Sequence[tuple[list[shapely.Polygon], list[shapely.Polygon]]]) -> float:
    """CTW1500's, of ground truth and detections of each image."""
    flags: list[bool] = []
    objects = sum(len(gt) for gt, _ in images)
    for gt, det in images:
        used = [False] * len(gt)
        for one in det:
            ious = [one.intersection(other).area / one.union(other).area for other in gt]
            best = max(range(len(gt)), key=lambda k: (ious[k], -k), default=-1)
            flags.append(bool(gt) and ious[best] > 0.5 and not used[best])
            if flags[-1]:
                used[best] = True
    precision = [sum(flags[:rank]) / rank for rank in range(1, len(flags) + 1)]
    return sum(max(precision[k:]) / objects for k, flag in enumerate(flags) if flag)


SCENES = Path(__file__).parents[1] / "golden" / "scenes"
Scene = tuple[list[Objects], list[Objects]]
quick = settings(max_examples=40, deadline=None, derandomize=True)


def box(made: random.Random, whole: bool) -> list[float]:
    """Boxes that often share half or more of their area, and often exactly as much as others."""
    x, y = made.choice([0, 1, 2, 3, 5, 20]), made.choice([0, 1, 2, 20])
    width, height = made.choice([8, 9, 10, 12, 20]), made.choice([8, 10, 11])
    sides = [x, y, x + width, y + height]
    return [side + (0 if whole else made.random()) for side in map(float, sides)]


def scene(seed: int) -> Scene:
    made = random.Random(seed)
    whole = made.random() < 0.5
    gt, det = [], []
    for _ in range(made.randint(2, 6)):
        objects, found = made.choice([0, 1, 4, 6]), made.choice([0, 1, 5, 9])
        boxes = np.array([box(made, whole) for _ in range(objects)]).reshape(-1, 4)
        dont_care = [made.random() < 0.3 for _ in range(objects)]
        gt.append(image_objects(boxes, dont_care=dont_care))
        boxes = np.array([box(made, whole) for _ in range(found)]).reshape(-1, 4)
        confidences = [made.choice([0.1, 0.2, 0.3, 0.5, 0.9]) for _ in range(found)]
        det.append(image_objects(boxes, confidences=confidences))
    gt.append(image_objects([[0, 0, 10, 10]]))
    det.append(image_objects([[0, 0, 9, 10]], confidences=[0.4]))
    return gt, det


def by_pycocotools(gt: list[Objects], det: list[Objects], most: int) -> list[float]:
    coco = pytest.importorskip("pycocotools.coco")
    cocoeval = pytest.importorskip("pycocotools.cocoeval")
    annotations, results = [], []
    for image, (objects, found) in enumerate(zip(gt, det, strict=True)):
        for k in range(objects.count):
            x0, y0, x1, y1 = objects.boxes[k].tolist()
            box = {"image_id": image, "category_id": 1, "bbox": [x0, y0, x1 - x0, y1 - y0]}
            about = {"area": (x1 - x0) * (y1 - y0), "iscrowd": int(objects.dont_care[k])}
            annotations.append({"id": len(annotations) + 1, **box, **about})
        for k in range(found.count):
            x0, y0, x1, y1 = found.boxes[k].tolist()
            box = {"image_id": image, "category_id": 1, "bbox": [x0, y0, x1 - x0, y1 - y0]}
            results.append({**box, "score": float(found.confidences[k])})  # type: ignore[index]
    with contextlib.redirect_stdout(io.StringIO()):
        truth = coco.COCO()
        truth.dataset = {
            "images": [{"id": image} for image in range(len(gt))],
            "annotations": annotations,
            "categories": [{"id": 1}],
        }
        truth.createIndex()
        run = cocoeval.COCOeval(truth, truth.loadRes(results), "bbox")
        run.params.maxDets = [most]
        run.params.areaRng, run.params.areaRngLbl = [[0, 1e10]], ["all"]
        run.evaluate()
        run.accumulate()
    precision = run.eval["precision"][:, :, 0, 0, 0]
    return [float(precision.mean()), float(precision[0].mean()), float(precision[5].mean())]


@quick
@given(seed=st.integers(0, 10**6), most=st.sampled_from([None, 1, 3]))
def test_coco_is_that_of_pycocotools(seed: int, most: int | None) -> None:
    gt, det = scene(seed)
    found = sweep(gt, det, "iou", max_detections=most).average_precision
    expected = by_pycocotools(gt, det, most or 10**6)
    assert [found["ap_coco"], found["ap_coco_50"], found["ap_coco_75"]] == pytest.approx(
        expected, abs=1e-9
    )


@quick
@given(seed=st.integers(0, 10**6))
def test_rrc_is_the_rule_of_the_script(seed: int) -> None:
    gt, det = scene(seed)
    result = evaluate(gt, det, "iou", order="confidence", per_image=True)
    found = []
    for objects, image in zip(det, result.images, strict=True):
        for k, one in enumerate(image.detections):
            if one.match != "ignored":
                assert objects.confidences is not None
                found.append((float(objects.confidences[k]), bool(one.partners)))
    expected = rrc(found, result.totals["counted_gt_objects"])
    assert sweep(gt, det, "iou").average_precision["ap_rrc"] == pytest.approx(expected, abs=1e-12)


def test_the_script_of_rrc_sorts_before_it_pairs() -> None:
    """The first detection of the file takes the object; by falling confidence the second does."""
    gt = [[[10, 10, 110, 40]]]
    det = [image_objects([[10, 10, 100, 40], [10, 10, 110, 40]], confidences=[0.2, 0.9])]
    found = sweep(gt, det, "iou")
    assert found.average_precision["ap_rrc"] == 1.0
    assert found.scores["precision"] == [0.5, 1.0]  # of pairs in the order of the file
    assert sweep(gt, det, preset="icdar2015").average_precision["ap_rrc"] == 1.0
    assert sweep(gt, det, preset="mlt").average_precision["ap_rrc"] == 0.5


@quick
@given(seed=st.integers(0, 10**6))
def test_file_order_is_the_rule_of_the_script(seed: int) -> None:
    gt, det = (
        [image_objects(one.boxes, confidences=one.confidences) for one in side]
        for side in scene(seed)
    )
    shapes = ([[shapely.box(*box) for box in one.boxes] for one in side] for side in (gt, det))
    expected = file_order(list(zip(*shapes, strict=True)))
    found = sweep(gt, det, "iou").average_precision["ap_file_order"]
    assert found == pytest.approx(expected, abs=1e-12)


def test_polygons_by_their_exact_areas() -> None:
    """A triangle is half of the square that is found: right at 0.5, and at no higher threshold."""
    triangle = np.array([[0, 0], [10, 0], [0, 10]])
    gt = [image_objects(polygons=[triangle])]
    det = [image_objects([[0, 0, 10, 10]], confidences=[0.5])]
    found = sweep(gt, det, "iou").average_precision
    names = ("ap_coco_50", "ap_coco_75", "ap_coco")
    assert [found[name] for name in names] == pytest.approx([1.0, 0.0, 0.1], abs=1e-9)


@pytest.mark.parametrize("scale", [1.0, 0.1, 0.7, 123.456])
@pytest.mark.parametrize("twentieths", range(10, 20))
def test_an_iou_at_a_threshold_is_at_it_at_every_scale(twentieths: int, scale: float) -> None:
    gt = [np.array([[0, 0, 20, 1]]) * scale]
    det = [image_objects(np.array([[0, 0, twentieths, 1]]) * scale, confidences=[0.5])]
    found = sweep(gt, det, "iou").average_precision
    assert found["ap_coco"] == pytest.approx((twentieths - 9) / 10, abs=1e-9)
    assert found["ap_file_order"] == (twentieths > 10)


def test_a_polygon_that_crosses_itself_is_passed_over_in_file_order() -> None:
    bow = np.array([[0, 0], [10, 10], [10, 0], [0, 10]])
    gt = [image_objects([[0, 0, 10, 10]])]
    det = [image_objects([[0, 0, 10, 10]], [bow], confidences=[0.5, 0.9])]
    assert sweep(gt, det, "iou").average_precision["ap_file_order"] == 1.0


def test_detections_without_a_confidence_rank_first() -> None:
    gt = [[[0, 0, 10, 10]]]
    boxes = [[50, 50, 60, 60], [0, 0, 10, 10]]
    missing = image_objects(boxes, confidences=[np.nan, 0.9])
    low = image_objects(boxes, confidences=[0.1, 0.9])
    assert sweep(gt, [missing], "iou").average_precision["ap_rrc"] == 0.5
    assert sweep(gt, [low], "iou").average_precision["ap_rrc"] == 1.0


def test_without_objects_that_count_there_is_none() -> None:
    gt = [image_objects([[0, 0, 10, 10]], dont_care=[True])]
    det = [image_objects([[0, 0, 10, 10]], confidences=[0.9])]
    assert set(sweep(gt, det, "iou").average_precision.values()) == {None}


def test_only_iou_has_average_precision() -> None:
    assert sweep(*scene(1), "pq").average_precision == {}


def test_ctw1500_has_the_figure_of_its_program(tmp_path: Path) -> None:
    """The detections get confidences, which the program does not look at. It is the program of
    tests/golden/ctw1500.json.
    """
    made, path = random.Random(0), tmp_path / "det.zip"
    with (
        zipfile.ZipFile(SCENES / "ctw1500-det.zip") as given,
        zipfile.ZipFile(path, "w") as out,
    ):
        for name in given.namelist():
            lines = given.read(name).decode().split()
            out.writestr(name, "".join(f"{line},{made.random():.3f}\n" for line in lines))
    found = sweep(SCENES / "ctw1500-gt.zip", path, "iou", points=1).average_precision
    assert found["ap_file_order"] == pytest.approx(0.27997448021281596, abs=1e-9)
