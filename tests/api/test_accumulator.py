"""Objects in memory: the scores of the same objects in files, however they
come; and what is refused.
"""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_memory import accumulated, assert_close, images_of

from evaltex_cli import Accumulator, ConfigError, InputError, evaluate, image_objects
from evaltex_cli.api import accumulator
from evaltex_cli.evaluation import tally
from evaltex_cli.geometry import outlines
from evaltex_cli.protocols import PROTOCOLS


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
        ({"boxes": [[0, 0, 1, 1]] * 2, "texts": "ab"}, "texts: 1 of them; expected 2"),
        pytest.param({"boxes": [[0, 0, 10**400, 1]]}, "boxes: not an array of numbers", id="huge"),
        ({"boxes": [[0, 0, 1, 1]], "ids": np.array([2**63], np.uint64)}, "ids: holds 9223372036"),
        ({"masks": np.array([[2**63, 0]], np.uint64)}, "masks: holds 9223372036854775808; exp"),
        ({"masks": [[1, 2]], "ids": [1.0, 2.0]}, "ids: of type float64; expected integers"),
        ({"masks": [[1, 2]], "ids": [[1, 2]]}, r"ids: shape \(1, 2\); expected \(2,\)"),
        ({"masks": np.eye(2, dtype=bool)[:, None], "ids": [0, 1]}, "ids: 0 is where no mask is"),
        ({"masks": np.eye(2, dtype=bool)[:, None], "ids": [3, 3]}, "ids repeat; expected IDs"),
        ({"masks": [[[True, False]], [[True, True]]], "ids": [-3, 5]}, "masks 0 and 1 share pix"),
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


def test_masks_and_boxes_are_not_merged() -> None:
    masks, boxes = Accumulator("iou"), Accumulator("iou")
    masks.update(np.ones((1, 5, 5), bool), np.ones((1, 5, 5), bool))
    boxes.update([[0, 0, 9, 9]], [[0, 0, 9, 9]])
    with pytest.raises(InputError, match="some images have masks, others boxes or polygons"):
        masks.merge(boxes)
    boxes.merge(Accumulator("iou"))


def test_a_name_may_be_a_number() -> None:
    images = Accumulator("iou", per_image=True)
    images.update([[0, 0, 9, 9]], [[0, 0, 9, 9]], name=5)  # type: ignore[arg-type]
    assert images.compute().images[0].name == "5"
    with pytest.raises(InputError, match="image '5' was added before"):
        images.update([], [], name="5")


@pytest.mark.parametrize("merges", [False, True])
def test_an_interrupt_waits_until_all_protocols_have_added_the_images(
    merges: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    images, merged = Accumulator(["iou", "deteval"]), Accumulator(["iou", "deteval"])
    images.update([[0, 0, 100, 20]], [[0, 0, 100, 20]])
    if merges:
        images.compute()
    add = tally.Gathered.add

    def interrupted(*arguments: Any) -> None:
        add(*arguments)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(tally.Gathered, "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            merged.merge(images) if merges else images.compute()
    found = (merged if merges else images).compute()
    assert [one.totals["gt_objects"] for one in found.values()] == [1, 1]


def test_what_is_interrupted_adds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by Ctrl-C between two protocols; the images are scored with the next ones."""
    accumulator = Accumulator(["iou", "deteval"])
    accumulator.update([[0, 0, 100, 20]], [[0, 0, 100, 20]])
    add, added = tally.add_batch, []

    def add_one(*arguments: Any) -> Any:
        added.append(add(*arguments))
        if len(added) == 2:
            raise KeyboardInterrupt
        return added[-1]

    with monkeypatch.context() as patch:
        patch.setattr(tally, "add_batch", add_one)
        with pytest.raises(KeyboardInterrupt):
            accumulator.compute()
    accumulator.update([[0, 0, 100, 20]], [[500, 0, 600, 20]])
    for found in accumulator.compute().values():
        assert (found.totals["gt_objects"], found.scores["recall"]) == (2, 0.5)
