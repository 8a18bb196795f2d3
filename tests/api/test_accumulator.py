"""Objects in memory: the scores of the same objects in files, however they
come; and what is refused.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_iou
import scenes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from limits import HANG_SECONDS

from evaltex_cli import (
    Accumulator,
    ConfigError,
    EvaltexWarning,
    InputError,
    evaluate,
    formats,
    image_objects,
)
from evaltex_cli.api import accumulator
from evaltex_cli.errors import FaultLog
from evaltex_cli.geometry import outlines
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.records import Objects

Image = tuple[Objects, Objects]


def in_memory(objects: Objects, k: int) -> Objects:
    """Image k of a batch by way of `image_objects`, boxes before polygons."""
    own = slice(int(objects.offsets[k]), int(objects.offsets[k + 1]))
    counts = objects.outlines.counts
    order = sorted(range(own.start, own.stop), key=lambda i: counts[i] > 0)
    rings = [objects.outlines.ring(i) for i in order if counts[i]]
    return image_objects(
        objects.boxes[[i for i in order if not counts[i]]],
        rings,
        ids=objects.ids[order],
        regions=objects.regions[order],
        dont_care=objects.dont_care[order],
        texts=[objects.texts[i] for i in order],
    )


def images_of(folder: Path, seed: int, polygons: bool = False) -> list[Image]:
    """A scene, written to gt.txt and det.txt in a folder; its images as they
    are read, then taken to memory.
    """
    gt, det = scenes.random_scene(seed, images=5, polygons=polygons)
    (folder / "gt.txt").write_text(gt, encoding="utf-8", newline="")
    (folder / "det.txt").write_text(det, encoding="utf-8", newline="")
    log = FaultLog()
    sides = [formats.open_source(folder / f"{side}.txt", side, log) for side in ("gt", "det")]  # type: ignore[arg-type]
    images = [source.read(np.arange(len(source.names))) for source in sides]
    log.extend(*(one.faults for one in images))
    gt_read, det_read = (one.objects for one in images)
    log.raise_if_any()
    at = {name: k for k, name in enumerate(sides[1].names)}
    nothing = image_objects()
    return [
        (in_memory(gt_read, k), in_memory(det_read, at[name]) if name in at else nothing)
        for k, name in enumerate(sides[0].names)
    ]


def accumulated(images: list[Image], protocol: str = "evaltex", **parameters: Any) -> Accumulator:
    accumulator = Accumulator(protocol, **parameters)
    for gt, det in images:
        accumulator.update(gt, det)
    return accumulator


def assert_close(found: Any, expected: Any, where: str) -> None:
    """Equal to 1e-9, lists and rows of curves throughout."""
    if isinstance(expected, dict):
        assert list(found) == list(expected), where
        for name, value in expected.items():
            assert_close(found[name], value, f"{where}.{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for k, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert_close(a, b, f"{where}[{k}]")
    else:
        assert found == (expected if expected is None else pytest.approx(expected, abs=1e-9)), where


@pytest.mark.few_fast(8)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("polygons", [False, True], ids=["boxes", "polygons"])
def test_scores_are_those_of_the_same_objects_in_files(
    tmp_path: Path, protocol: str, polygons: bool
) -> None:
    images = images_of(tmp_path, 5, polygons)
    expected = evaluate(tmp_path / "gt.txt", tmp_path / "det.txt", protocol)
    found = accumulated(images, protocol).compute()
    assert_close(found.scores, expected.scores, "scores")
    assert_close(found.totals, expected.totals, "totals")
    for name in ("images", "objects", "dont_care", "transcriptions"):
        assert getattr(found.gt, name) == getattr(expected.gt, name)
    assert found.signature.split("|gt:")[1].startswith("memory|")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_order_flushes_and_merges_change_no_bit(
    tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One run; images reversed; a flush after every image; three runs merged either way."""
    images = images_of(tmp_path, 6)
    expected = accumulated(images, protocol).compute()
    assert accumulated(images[::-1], protocol).compute().totals == expected.totals
    monkeypatch.setattr(accumulator, "FLUSH_OBJECTS", 1)
    assert accumulated(images, protocol).compute().totals == expected.totals
    for left_first in (True, False):
        a, b, c = (
            accumulated(images[part], protocol) for part in (slice(2), slice(2, 3), slice(3, None))
        )
        if left_first:
            a.merge(b)
            a.merge(c)
        else:
            b.merge(c)
            a.merge(b)
        found = a.compute()
        assert found.totals == expected.totals
        assert found.scores == expected.scores
        assert (found.gt, found.det) == (expected.gt, expected.det)


def test_compute_can_be_asked_again_and_goes_on(tmp_path: Path) -> None:
    images = images_of(tmp_path, 7)
    accumulator = accumulated(images[:2])
    assert (
        accumulator.compute().scores
        == accumulator.compute().scores
        == accumulated(images[:2]).compute().scores
    )
    for gt, det in images[2:]:
        accumulator.update(gt, det)
    assert accumulator.compute().totals == accumulated(images).compute().totals


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_and_empty_images(protocol: str) -> None:
    nothing = Accumulator(protocol)
    assert nothing.compute().gt.images == 0
    assert set(nothing.compute().scores) >= {"recall", "precision"}
    nothing.merge(Accumulator(protocol))
    nothing.update([], np.zeros((0, 4)))
    assert (nothing.compute().gt.images, nothing.compute().det.empty) == (1, 1)


def test_merge_refuses_other_protocols_and_parameters() -> None:
    with pytest.raises(ConfigError, match="accumulators differ"):
        Accumulator(det_border=0.1).merge(Accumulator())
    with pytest.raises(ConfigError, match="accumulators differ"):
        Accumulator().merge(Accumulator("deteval"))


def test_buffers_may_be_used_again() -> None:
    """A training loop writes the next image into the same array; nothing is
    scored before `compute`.
    """
    boxes, ids, care = np.array([[0.0, 0, 10, 10]]), np.array([4]), np.array([False])
    ring = np.array([[20.0, 0], [30, 0], [30, 10]])
    accumulator = Accumulator()
    accumulator.update(boxes, boxes)
    accumulator.update(image_objects(polygons=[ring]), image_objects(polygons=[ring]))
    made = image_objects(boxes, ids=ids, regions=ids, dont_care=care)
    boxes[:], ids[:], care[:], ring[:] = 99, 99, True, 99
    assert accumulator.compute().scores["recall"] == 1
    assert (made.ids.tolist(), made.regions.tolist(), made.dont_care.tolist()) == (
        [4],
        [4],
        [False],
    )
    assert made.boxes.tolist() == [[0, 0, 10, 10]]


def test_fields_and_their_defaults() -> None:
    found = image_objects(
        [[0, 0, 2, 1]], [[(3, 3), (5, 3), (4, 6)]], texts=["a", "日本"], dont_care=[0, 1]
    )
    assert found.offsets.tolist() == [0, 2]
    assert (found.ids.tolist(), found.regions.tolist()) == ([1, 2], [1, 2])
    assert found.boxes.tolist() == [[0, 0, 2, 1], [3, 3, 5, 6]]
    assert (found.dont_care.tolist(), list(found.texts)) == ([False, True], ["a", "日本"])
    polygons = outlines.polygons(found.outlines)
    assert polygons[0] is None
    assert polygons[1].area == 3
    assert image_objects(ids=[], dont_care=[], texts=[]).count == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"boxes": [[0, 0, 1]]}, r"boxes: shape \(1, 3\); expected \(n, 4\)"),
        ({"boxes": [0, 0, 1, 1]}, r"boxes: shape \(4,\); expected \(n, 4\)"),
        ({"boxes": [[0, 0, 1, 1], [0]]}, "boxes: not an array of numbers"),
        ({"boxes": [["a", 0, 1, 1]]}, "boxes: not an array of numbers"),
        ({"boxes": [[0, 0, np.nan, 1]]}, "boxes: holds NaN or infinity"),
        ({"boxes": [[0, 0, np.inf, 1]]}, "boxes: holds NaN or infinity"),
        (
            {"boxes": [[0, 0, 1e300, 1]]},
            "boxes: holds a number beyond 1e12 in magnitude; expected pixels",
        ),
        (
            {"boxes": [[0, 0, 1, 1], [5, 0, 1, 1]]},
            r"box 1 is \[5.0, 0.0, 1.0, 1.0\]; expected x0, y0, x1, y1 with",
        ),
        ({"polygons": [[(0, 0), (1, 1)]]}, "polygon 0 has fewer than three vertices"),
        ({"polygons": [[]]}, "polygon 0 has fewer than three vertices"),
        (
            {"polygons": [[(0, 0, 1), (1, 1, 1), (2, 1, 1)]]},
            r"polygon 0: shape \(3, 3\); expected \(n, 2\)",
        ),
        (
            {"boxes": [[0, 0, 1, 1]] * 2, "ids": [3, 3]},
            "ids repeat; expected IDs used once in an image",
        ),
        (
            {"boxes": [[0, 0, 1, 1]], "ids": [1, 2]},
            r"ids: shape \(2,\); expected \(1,\), one an object",
        ),
        ({"boxes": [[0, 0, 1, 1]], "ids": [1.5]}, "ids: of type float64; expected integers"),
        ({"boxes": [[0, 0, 1, 1]], "regions": ["a"]}, "regions: of type <U1; expected integers"),
        (
            {"boxes": [[0, 0, 1, 1]], "dont_care": ["f"]},
            "dont_care: of type <U1; expected booleans",
        ),
        ({"boxes": [[0, 0, 1, 1]], "dont_care": []}, r"dont_care: shape \(0,\); expected \(1,\)"),
        (
            {"boxes": [[0, 0, 1, 1]], "texts": ["a", "b"]},
            "texts: 2 of them; expected 1, one an object",
        ),
        ({"boxes": [[0, 0, 1, 1]], "texts": [None]}, "texts: holds something else than strings"),
        (
            {"boxes": [[0, 0, 1, 1]], "confidences": [0.5, 0.5]},
            r"confidences: shape \(2,\); expected \(1,\), one an obj",
        ),
        (
            {"boxes": [[0, 0, 1, 1]], "confidences": ["sure"]},
            "confidences: not an array of numbers",
        ),
        (
            {"boxes": [[0, 0, 1, 1]], "confidences": [97]},
            "confidences: holds 97; expected numbers from 0 to 1",
        ),
        (
            {"boxes": [[0, 0, 1, 1]], "confidences": [-np.inf]},
            "confidences: holds -inf; expected numbers from 0 to 1",
        ),
    ],
    ids=str,
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        image_objects(**given)


def test_a_refused_image_leaves_the_accumulator_as_it_was() -> None:
    accumulator = Accumulator()
    accumulator.update([[0, 0, 10, 10]], [[0, 0, 10, 10]])
    with pytest.raises(InputError):
        accumulator.update([[0, 0, 10, 10]], [[np.nan, 0, 10, 10]])
    assert (accumulator.compute().gt.images, accumulator.compute().scores["fscore"]) == (1, 1)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_coordinates_at_the_limit_raise_no_warning(protocol: str) -> None:
    """Large, small and without area; a warning would be an error here."""
    boxes = [[-1e12, -1e12, 1e12, 1e12], [0, 0, 1e-9, 1e-9], [5, 5, 5, 5], [1e12, 1e12, 1e12, 1e12]]
    accumulator = Accumulator(protocol)
    accumulator.update(boxes, boxes)
    assert 0 <= accumulator.compute().scores["recall"] <= 1


def test_unknown_protocols_and_parameters() -> None:
    with pytest.raises(
        ConfigError,
        match=r"unknown protocol 'evaltx' \(did you mean 'evaltex'\?\); known: evaltex, ",
    ):
        Accumulator("evaltx")
    with pytest.raises(
        ConfigError, match=r"unknown option 'border' \(did you mean 'det_border'\?\)"
    ):
        Accumulator(border=1)


# Sizes and confidences ----------------------------------------------------------------------------

SIZE = (240, 320)
WANTED: dict[str, dict[str, Any]] = {
    "cleval": {"scale_bins": "0,0.02,0.05,1"},
    **{name: {"order": "confidence"} for name in ("iou", "iou-crw", "tiou", "tedeval")},
}


def as_coco(sides: list[Objects]) -> dict[str, Any]:
    """One side as a COCO file, which has sizes, confidences, and images without objects."""
    annotations = []
    for image, objects in enumerate(sides, 1):
        for k, (x0, y0, x1, y1) in enumerate(objects.boxes.tolist()):
            one = {"id": len(annotations), "image_id": image, "bbox": [x0, y0, x1 - x0, y1 - y0]}
            one |= {"text": objects.texts[k], "iscrowd": int(objects.dont_care[k])}
            ring = objects.outlines.ring(k)
            one |= {"segmentation": [ring.ravel().tolist()]} if len(ring) else {}
            if objects.confidences is not None:
                one |= {"score": objects.confidences[k]}
            annotations.append(one)
    names = [{"id": k, "height": SIZE[0], "width": SIZE[1]} for k in range(1, len(sides) + 1)]
    return {"images": names, "annotations": annotations}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
@settings(
    deadline=None,
    derandomize=True,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(seeds=st.lists(st.integers(0, 2**32), min_size=1, max_size=4), polygons=st.booleans())
def test_sizes_and_confidences_are_as_in_files(
    tmp_path: Path, protocol: str, seeds: list[int], polygons: bool
) -> None:
    images = []
    for seed in seeds:
        gt, det = map(reference_iou.boxes_first, reference_iou.scene(seed, polygons))
        sure = np.random.default_rng(seed).choice([0.1, 0.25, 0.5, 0.9], len(det))
        words = reference_iou.objects(gt)
        images.append(
            (
                replace(words, regions=words.ids),
                replace(reference_iou.objects(det), confidences=sure),
            )
        )
    for name, side in zip(("gt", "det"), zip(*images, strict=True), strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps(as_coco(list(side))), encoding="utf-8")
    parameters = WANTED.get(protocol, {})
    expected = evaluate(tmp_path / "gt.json", tmp_path / "det.json", protocol, **parameters)
    accumulator = Accumulator(protocol, **parameters)
    for gt, det in images:
        accumulator.update(gt, det, size=SIZE)
    found = accumulator.compute()
    assert_close(found.scores, expected.scores, "scores")
    assert_close(found.totals, expected.totals, "totals")
    for name in ("images", "objects", "dont_care", "transcriptions", "confidences"):
        assert getattr(found.gt, name) == getattr(expected.gt, name)
        assert getattr(found.det, name) == getattr(expected.det, name)


def test_sizes_are_height_and_width() -> None:
    """A word 10 high is a tenth of the longer side, 100, whichever that is."""
    for size in ((100, 50), (50.0, 100.0), np.array([100, 20])):
        accumulator = Accumulator("cleval", scale_bins="0.05,0.15,1")
        accumulator.update(
            image_objects([[0, 0, 60, 10]], texts=["abcdef"]), [[0, 0, 60, 10]], size=size
        )
        assert [row["recall"] for row in accumulator.compute().scores["scale_wise"]] == [1.0, 0.0]


@pytest.mark.parametrize(
    "size",
    [(0, 5), (5, -1), (5,), 7, (1, 2, 3), (float("nan"), 1), ("a", 1), (1e13, 1), ((1, 2), 3)],
)
def test_sizes_that_are_none(size: Any) -> None:
    with pytest.raises(
        InputError, match=r"size: .*; expected \(height, width\) in pixels, both above 0"
    ):
        Accumulator().update([], [], size=size)


@pytest.mark.parametrize(
    ("protocol", "parameters", "message"),
    [
        (
            "cleval",
            {"scale_bins": "0,1"},
            r"an image in memory has no height and width, .* in Python size=\(height, width\)",
        ),
        (
            "iou",
            {"order": "confidence"},
            "an image in memory: detection 1 has no confidence, which order=confidence needs",
        ),
    ],
)
def test_what_is_needed_is_refused_at_once(
    protocol: str, parameters: dict[str, str], message: str
) -> None:
    """And the images before stay."""
    word = image_objects([[0, 0, 60, 10]], texts=["abcdef"], confidences=[0.5])
    accumulator = Accumulator(protocol, **parameters)
    accumulator.update(word, word, size=(20, 100))
    with pytest.raises(InputError, match=message):
        accumulator.update(word, [[0, 0, 60, 10]])
    accumulator.update(image_objects(), image_objects())
    assert (accumulator.compute().gt.images, accumulator.compute().scores["recall"]) == (2, 1.0)


def test_none_is_no_confidence() -> None:
    found = image_objects([[0, 0, 1, 1]] * 3, confidences=[None, 1, float("nan")])
    accumulator = Accumulator("cleval")
    accumulator.update(found, found)
    assert accumulator.compute().det.confidences == 1


def test_a_polygon_that_comes_late_counts_for_all_images():
    """Under CLEval, which takes four vertices for a polygon where any object
    has others; in parts and merged too.
    """
    tall = [[[0, 0], [10, 0], [10, 60], [0, 60]]]
    late = [[[0, 0], [10, 0], [20, 5], [10, 60], [0, 60]]]
    nothing = image_objects()
    parts = [Accumulator("cleval") for _ in range(2)]
    parts[0].update(nothing, image_objects(polygons=tall))
    assert parts[0].compute().scores["false_positive_characters"] == 6
    parts[1].update(nothing, image_objects(polygons=late))
    parts[0].merge(parts[1])
    assert parts[0].compute().scores["false_positive_characters"] == 2
    parts[0].update(nothing, image_objects(polygons=tall))
    assert parts[0].compute().scores["false_positive_characters"] == 3


# Several protocols, images with names, masks ------------------------------------------------------

BOXES = [[0, 0, 100, 20], [0, 40, 60, 60]]


def test_several_protocols_at_once(tmp_path: Path) -> None:
    images = images_of(tmp_path, 8, polygons=True)
    every: Accumulator[Any] = Accumulator("all")
    parts: list[Accumulator[Any]] = [Accumulator("all") for _ in range(2)]
    for k, (gt, det) in enumerate(images):
        every.update(gt, det)
        parts[k % 2].update(gt, det)
    parts[0].merge(parts[1])
    assert list(every.compute()) == list(PROTOCOLS)
    for name, one in every.compute().items():
        alone = accumulated(images, name).compute()
        assert one.totals == alone.totals == parts[0].compute()[name].totals
        assert one.signature == alone.signature


def test_parameters_of_several_protocols() -> None:
    accumulator = Accumulator(["iou", "evaltex"], params={"iou": {"iou": 0.95}})
    accumulator.update(BOXES, [[0, 0, 90, 20], [0, 40, 60, 60]])
    found = accumulator.compute()
    assert (found["iou"].scores["recall"], found["iou"].parameters.iou) == (0.5, 0.95)
    with pytest.raises(ConfigError, match="accumulators differ"):
        accumulator.merge(Accumulator(["iou", "evaltex"]))
    with pytest.raises(ConfigError, match="accumulators differ"):
        Accumulator("iou").merge(Accumulator("iou", min_confidence=0.5))


def test_images_have_results_and_names_that_are_used_once() -> None:
    accumulator = Accumulator("iou", per_image=True)
    accumulator.update(BOXES, BOXES[:1], name="a")
    accumulator.update(image_objects(BOXES, texts=["x", "y"]), [], name="b")
    with pytest.raises(
        InputError, match=r"image 'a' was added before; reset\(\) begins a new data set"
    ):
        accumulator.update(BOXES, BOXES, name="a")
    found = accumulator.compute()
    assert [(image.name, image.scores["recall"]) for image in found.images] == [
        ("a", 0.5),
        ("b", 0.0),
    ]
    assert [(one.box, one.text) for one in found.images[1].objects] == [
        (tuple(BOXES[0]), "x"),
        (tuple(BOXES[1]), "y"),
    ]
    other = Accumulator("iou", per_image=True)
    other.update(BOXES, BOXES, name="a")
    with pytest.warns(
        EvaltexWarning, match="1 image was added to both accumulators, and counts twice: 'a'"
    ):
        accumulator.merge(other)
    assert [image.name for image in accumulator.compute().images] == ["a", "b", "a"]


def test_reset_forgets_everything() -> None:
    accumulator = Accumulator("cleval")
    accumulator.update(
        image_objects(polygons=[[(0, 0), (5, 0), (5, 5), (2, 7), (0, 5)]]), BOXES, name="a"
    )
    before = Accumulator("cleval")
    for one in (accumulator, before):
        one.reset()
        one.update(image_objects(BOXES, texts=["ab", "c"]), BOXES, name="a")
    assert accumulator.compute().to_dict() == before.compute().to_dict()
    assert repr(accumulator) == "Accumulator(cleval: 1 image)"


def test_confidences_below_the_minimum_are_left_out() -> None:
    accumulator = Accumulator("iou", min_confidence=0.5)
    accumulator.update(BOXES, image_objects(BOXES, confidences=[0.5, 0.4]))
    found = accumulator.compute()
    assert (found.scores["recall"], found.det.unconfident) == (0.5, 1)
    assert "|min_confidence:0.5|" in found.signature
    expected = evaluate(
        [BOXES], [image_objects(BOXES, confidences=[0.5, 0.4])], "iou", min_confidence=0.5
    )
    assert (found.scores, found.warnings, found.signature) == (
        expected.scores,
        expected.warnings,
        expected.signature,
    )


def test_masks_score_as_evaluate_scores_them() -> None:
    gt, det = np.zeros((2, 30, 90), bool), np.zeros((1, 30, 90), bool)
    gt[0, :10, :80], gt[1, 20:, :40], det[0, :10, :60] = True, True, True
    accumulator = Accumulator(["evaltex", "iou"])
    for _ in range(3):
        accumulator.update(gt, det)
        accumulator.update([], [])
    found = accumulator.compute()
    expected = evaluate([gt, []] * 3, [det, []] * 3, ["evaltex", "iou"])
    assert {name: one.totals for name, one in found.items()} == {
        name: one.totals for name, one in expected.items()
    }
    assert found["iou"].signature == expected["iou"].signature
    with pytest.raises(InputError, match="some images have masks, others boxes or polygons"):
        accumulator.update(BOXES, BOXES)
    with pytest.raises(InputError, match="protocol cleval does not work on masks"):
        Accumulator("cleval").update(gt, det)


def test_warnings_are_issued() -> None:
    accumulator = Accumulator("iou")
    accumulator.update([[[0, 0], [10, 10], [10, 0], [0, 10]]], BOXES)
    with pytest.warns(EvaltexWarning, match="ground truth: 1 invalid polygon repaired") as issued:
        found = accumulator.compute()
    assert [str(one.message) for one in issued] == found.warnings
    assert issued[0].filename == __file__


def test_gathered_without_a_process_group_is_a_copy() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    accumulator = Accumulator("iou")
    accumulator.update(BOXES, BOXES)
    copied = accumulator.gather()
    copied.update(BOXES, [])
    assert (copied.compute().gt.images, accumulator.compute().gt.images) == (2, 1)


GATHERING = """
import sys
from torch import distributed
from evaltex_cli import Accumulator
rank, folder = int(sys.argv[1]), sys.argv[2]
distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
accumulator = Accumulator(["iou", "evaltex"], per_image=True)
for k in range(rank, 5, 2):
    accumulator.update([[0, 0, 100, 20], [0, 40, 60, 60]], [[0, 0, 100, 10 + k]], name=f"image {k}")
found = accumulator.gather().compute()
assert accumulator.compute()["iou"].gt.images == 3 - rank
print(found["iou"].scores["recall"], found["evaltex"].totals, [image.name for image in found["iou"].images])
distributed.destroy_process_group()
"""


@pytest.mark.slow
def test_ranks_gather_what_one_process_has(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    command = [sys.executable, "-c", GATHERING]
    ranks = [
        subprocess.Popen([*command, str(rank), str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    printed = [rank.communicate(timeout=HANG_SECONDS)[0] for rank in ranks]
    accumulator = Accumulator(["iou", "evaltex"])
    for k in (0, 2, 4, 1, 3):
        accumulator.update(BOXES, [[0, 0, 100, 10 + k]])
    found = accumulator.compute()
    names = [f"image {k}" for k in (0, 2, 4, 1, 3)]
    expected = f"{found['iou'].scores['recall']} {found['evaltex'].totals} {names}\n"
    assert printed == [expected, expected]
