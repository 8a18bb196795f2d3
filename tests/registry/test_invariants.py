"""What must hold of every protocol in the registry, whatever it measures.

Scenes are integer boxes. Several protocols take candidates one after the other, first come, first
served, as their official programs do; so the order of objects is changed only where no two objects
compete for the same partner: each word lies in a cell of its own, with what was detected of it.
EvaLTex takes candidates by IoU; its objects may compete, only not tie: all sides are different
primes.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scenes
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import Accumulator, evaluate, image_objects
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.matching import MATCH_TYPES
from evaltex_cli.protocols.measured import Measured
from evaltex_cli.protocols.score_names import UNBOUNDED, scalars
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.records import NOTHING, ImageBatch, Objects, concatenate


def every_protocol(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test with each protocol, in the fast run with some."""
    return pytest.mark.few_fast(4)(pytest.mark.parametrize("protocol", PROTOCOLS)(test))


few = settings(deadline=None, derandomize=True, max_examples=15)

Word = tuple[tuple[int, int, int, int], str, bool]
"""A box x0, y0, x1, y1, its transcription, and whether it is rejected."""
Scene = tuple[list[Word], list[Word]]
PRIMES = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89)
TEXTS = ("word", "Word", "a", "###", "", "1996")


@st.composite
def scene(draw: st.DrawFn, most: int = 5) -> Scene:
    """An image: detections from the ground truth's boxes, or from nowhere;
    often touching, equal, nested.
    """
    number, side = st.integers(0, 60), st.integers(1, 30)
    boxes = [
        (x, y, x + w, y + h)
        for x, y, w, h in draw(st.lists(st.tuples(number, number, side, side), max_size=most))
    ]
    free = [
        (x, y, x + w, y + h)
        for x, y, w, h in draw(st.lists(st.tuples(number, number, side, side), max_size=2))
    ]
    kept = [box for box in boxes if draw(st.booleans())]
    halves = [(x0, y0, (x0 + x1 + 1) // 2, y1) for x0, y0, x1, y1 in boxes if draw(st.booleans())]
    text = st.sampled_from(TEXTS)
    gt = [(box, draw(text), draw(st.integers(0, 4)) == 0) for box in boxes]
    return gt, [(box, draw(text), False) for box in kept + halves + free]


@st.composite
def scene_without_ties(draw: st.DrawFn) -> Scene:
    """As `scene`, but no two boxes are alike: all their sides are different primes."""
    sides = draw(st.permutations(PRIMES))
    corners = draw(
        st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=len(PRIMES) // 2)
    )
    words = [
        ((x, y, x + sides[2 * k], y + sides[2 * k + 1]), TEXTS[k % len(TEXTS)], k % 5 == 4)
        for k, (x, y) in enumerate(corners)
    ]
    cut = draw(st.integers(0, len(words)))
    return words[:cut], [(box, text, False) for box, text, _ in words[cut:]]


@st.composite
def scene_without_competition(draw: st.DrawFn) -> Scene:
    """Words in cells of their own: found, found in part, in two parts,
    missed, merged; and false ones.
    """
    gt: list[Word] = []
    det: list[Word] = []
    kinds = ("same", "part", "halves", "missed", "false", "merged")
    for k, kind in enumerate(draw(st.lists(st.sampled_from(kinds), max_size=8))):
        x, y, w, h = 200 * k, 300 * (k % 3), draw(st.integers(6, 80)), draw(st.integers(5, 40))
        text = draw(st.sampled_from(TEXTS))
        word = ((x, y, x + w, y + h), text, draw(st.integers(0, 4)) == 0)
        gt += {
            "false": [],
            "merged": [word, ((x + w + 4, y, x + 2 * w + 4, y + h), text, word[2])],
        }.get(kind, [word])
        middle = x + w // 2
        found = {
            "part": [(x, y, x + draw(st.integers(1, w)), y + h)],
            "halves": [(x, y, middle, y + h), (middle, y, x + w, y + h)],
            "missed": [],
            "merged": [(x, y, x + 2 * w + 4, y + h)],
        }.get(kind, [word[0]])
        det += [(box, text, False) for box in found]
    return gt, det


def objects(words: list[Word], order: list[int] | None = None) -> Objects:
    words = words if order is None else [words[k] for k in order]
    ids = range(1, len(words) + 1) if order is None else [k + 1 for k in order]
    return image_objects(
        [box for box, _, _ in words],
        ids=np.array(ids, int),
        texts=[text for _, text, _ in words],
        dont_care=np.array([rejected for _, _, rejected in words], bool),
    )


def mapped(found: Scene, scale: int, dx: int, dy: int) -> Scene:
    def move(word: Word) -> Word:
        (x0, y0, x1, y1), text, rejected = word
        return (scale * x0 + dx, scale * y0 + dy, scale * x1 + dx, scale * y1 + dy), text, rejected

    return [move(word) for word in found[0]], [move(word) for word in found[1]]


def accumulated(protocol: str, images: list[Scene]) -> Accumulator:
    accumulator = Accumulator(protocol)
    for gt, det in images:
        accumulator.update(objects(gt), objects(det))
    return accumulator


def scores(protocol: str, images: list[Scene]) -> dict[str, Any]:
    return accumulated(protocol, images).compute().scores


def numbers(value: Any) -> Iterator[float]:
    """All numbers in a score, through lists and rows."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from numbers(part)
    elif isinstance(value, int | float):
        yield value


def assert_close(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert list(numbers(found[name])) == pytest.approx(list(numbers(value)), abs=1e-9), name


@every_protocol
@given(images=st.lists(scene(), max_size=3))
@few
def test_scores_lie_within_0_and_1(protocol: str, images: list[Scene]) -> None:
    """Of a data set and of each image; counts among the scores (splits, say) are not negative."""
    found = scores(protocol, images)
    for name in (*load(protocol).headline, "recall", "precision"):
        assert found[name] is None or 0 <= found[name] <= 1
    shares = set(scalars(found)) - {*UNBOUNDED}
    assert all(found[name] is None or 0 <= found[name] <= 1 for name in shares)
    assert all(value >= 0 and math.isfinite(value) for value in numbers(list(found.values())))


@every_protocol
@given(images=st.lists(scene(), min_size=1, max_size=4), data=st.data())
@few
def test_image_order_changes_no_bit(
    protocol: str, images: list[Scene], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(images))
    found, expected = (accumulated(protocol, order).compute() for order in (shuffled, images))
    assert (found.totals, found.scores) == (expected.totals, expected.scores)


def reordered_scores(protocol: str, found: Scene, data: st.DataObject) -> dict[str, Any]:
    accumulator = Accumulator(protocol)
    orders = [data.draw(st.permutations(range(len(side)))) for side in found]
    accumulator.update(*(objects(side, order) for side, order in zip(found, orders, strict=True)))
    return accumulator.compute().scores


@every_protocol
@given(found=scene_without_competition(), data=st.data())
@few
def test_object_order_does_not_matter_without_competition(
    protocol: str, found: Scene, data: st.DataObject
) -> None:
    assert_close(reordered_scores(protocol, found, data), scores(protocol, [found]))


@given(found=scene_without_ties(), data=st.data())
@settings(few, max_examples=40)
def test_object_order_does_not_matter_to_evaltex_without_ties(
    found: Scene, data: st.DataObject
) -> None:
    assert_close(reordered_scores("evaltex", found, data), scores("evaltex", [found]))


@every_protocol
@given(found=scene(), dx=st.integers(0, 5000), dy=st.integers(0, 5000))
@few
def test_translation_does_not_matter(protocol: str, found: Scene, dx: int, dy: int) -> None:
    assert_close(scores(protocol, [mapped(found, 1, dx, dy)]), scores(protocol, [found]))


@given(found=scene(), factor=st.integers(2, 40))
@few
def test_scaling_boxes_does_not_matter_to_cleval(found: Scene, factor: int) -> None:
    """`test_scaling` has the other protocols, also with polygons."""
    assert_close(scores("cleval", [mapped(found, factor, 0, 0)]), scores("cleval", [found]))


@every_protocol
@given(images=st.lists(scene(), max_size=4), cut=st.integers(0, 4))
@few
def test_totals_of_halves_add_up(protocol: str, images: list[Scene], cut: int) -> None:
    """Merged, the halves are the whole to the last bit; counts are plain sums."""
    whole, left, right = (
        accumulated(protocol, part) for part in (images, images[:cut], images[cut:])
    )
    parts = [half.compute().totals for half in (left, right)]
    left.merge(pickle.loads(pickle.dumps(right)))  # as of another process
    merged, expected = left.compute(), whole.compute()
    assert (merged.totals, merged.scores) == (expected.totals, expected.scores)
    assert (merged.gt, merged.det) == (expected.gt, expected.det)
    for name, value in whole.compute().totals.items():
        cells = [list(numbers(part[name])) for part in parts]
        assert list(numbers(value)) == pytest.approx(
            [a + b for a, b in zip(*cells, strict=True)], abs=1e-9
        ), name


@every_protocol
@pytest.mark.parametrize("seed", [1, 2])
def test_totals_are_the_sums_of_the_images(tmp_path: Path, protocol: str, seed: int) -> None:
    """And every object's match is there, with partners that know each other."""
    gt, det = scenes.random_scene(seed, images=5, polygons=seed == 2)
    (tmp_path / "gt.txt").write_text(gt, encoding="utf-8")
    (tmp_path / "det.txt").write_text(det, encoding="utf-8")
    found = evaluate(tmp_path / "gt.txt", tmp_path / "det.txt", protocol, per_image=True)
    for name, value in found.totals.items():
        cells = [list(numbers(image.totals[name])) for image in found.images]
        assert list(numbers(value)) == pytest.approx(
            [sum(column) for column in zip(*cells, strict=True)], abs=1e-9
        )
    assert sum(len(image.objects) for image in found.images) == found.gt.objects > 0
    assert sum(len(image.detections) for image in found.images) == found.det.objects > 0
    for image in found.images:
        forth = {(one.id, partner) for one in image.objects for partner in one.partners}
        back = {(partner, one.id) for one in image.detections for partner in one.partners}
        assert forth == back
        assert {one.match for one in image.objects + image.detections} <= set(MATCH_TYPES)
        for one in image.objects + image.detections:
            assert one.match not in ("missed", "false-positive") or not one.partners
        for name in load(protocol).headline:
            assert image.scores[name] is None or 0 <= image.scores[name] <= 1


@every_protocol
@given(images=st.lists(scene(), min_size=1, max_size=4))
@few
def test_evidence_of_an_image_does_not_depend_on_its_batch(
    protocol: str, images: list[Scene]
) -> None:
    """Nor do the columns' names, shapes and types, be the image empty: batches of all kinds add up."""
    together = columns(protocol, images)
    for k, alone in enumerate(columns(protocol, [image]) for image in images):
        assert list(alone) == list(together)
        for name, column in alone.items():
            assert column.dtype == together[name].dtype, name
            assert column[0].tolist() == pytest.approx(together[name][k].tolist(), abs=1e-9), name
    tallies = [evidence_of(protocol, part) for part in ([], images, [([], [])], images)]
    rows = type(tallies[0]).concatenate(tallies)
    sums = type(rows).total([tally.sum() for tally in tallies]).as_dict()
    for name, value in rows.sum().as_dict().items():
        assert sums[name] == pytest.approx(value, rel=1e-12), name


PARTS = (
    ("counted_gt_objects", "gt_objects"),
    ("counted_detections", "detections"),
    ("one_to_one", "counted_gt_objects"),
    ("one_to_one", "counted_detections"),
    ("pairs", "counted_gt_objects"),
    ("pairs", "counted_detections"),
    ("iou_sum", "pairs"),
    ("recall_credit", "found_characters", "counted_gt_objects"),
    ("precision_credit", "found_characters", "counted_detections"),
    ("found_characters", "gt_characters"),
    ("found_characters", "detected_characters"),
    ("correct_characters", "gt_characters"),
    ("removed_characters", "gt_characters"),
    ("removed_characters", "det_characters"),
    ("correctly_read", "one_to_one"),
    ("tiou_recall_credit", "siou_recall_credit"),
    ("siou_precision_credit", "one_to_one"),
    ("tiou_precision_credit", "siou_precision_credit"),
)
"""What is at most as much as something else: the first of these that a protocol has."""


@every_protocol
@given(images=st.lists(scene(), min_size=1, max_size=4))
@few
def test_no_part_of_the_evidence_exceeds_its_whole(protocol: str, images: list[Scene]) -> None:
    """Scores are clipped at 1, so they would not show a wrong credit."""
    found = columns(protocol, images)
    for name in load(protocol).tally.counts() & found.keys():
        assert (found[name] >= 0).all(), name
    for part, *wholes in PARTS:
        whole = next((name for name in wholes if name in found), None)
        if part in found and whole:
            assert (found[part] <= found[whole] + 1e-9 * (1 + found[whole])).all(), (part, whole)


def columns(protocol: str, images: list[Scene]) -> dict[str, Any]:
    """The columns of evidence of some images as one batch."""
    found = evidence_of(protocol, images).as_dict()
    for name, column in found.items():
        assert column.dtype in (np.int64, np.float64), name
        assert len(column) == len(images), name
    return found


def evidence_of(protocol: str, images: list[Scene]) -> Tally:
    gt, det = (
        concatenate([objects(image[side]) for image in images]) if images else NOTHING
        for side in (0, 1)
    )
    names = [f"i{k}" for k in range(len(images))]
    batch = ImageBatch(names, np.zeros((len(images), 2)), gt, det)
    kind = load(protocol)
    return Measured(batch).evidence(kind, kind.parameters()).tally


@every_protocol
@given(sizes=st.lists(st.tuples(st.integers(5, 30), st.integers(5, 30)), min_size=1, max_size=5))
@few
def test_disjoint_objects_against_themselves_are_perfect(
    protocol: str, sizes: list[tuple[int, int]]
) -> None:
    """Far apart and of the same text, so that nothing but one-to-one matches can arise."""
    words: list[Word] = [
        ((100 * k, 0, 100 * k + w, h), f"word{k}", False) for k, (w, h) in enumerate(sizes)
    ]
    found = scores(protocol, [(words, words)])
    for name in ("recall", "precision", load(protocol).headline[-1]):
        assert found[name] == pytest.approx(1, abs=1e-12), name
    if protocol == "evaltex":
        assert all(value == 1 for name, value in found.items() if "histogram" not in name)


@every_protocol
def test_nothing_detected_and_nothing_there(protocol: str) -> None:
    word: Word = ((0, 0, 30, 10), "word", False)
    assert scores(protocol, [([word], [])])["recall"] == 0
    assert scores(protocol, [([], [word])])["precision"] == 0
    assert scores(protocol, [([word], [((50, 50, 80, 60), "word", False)])])["recall"] == 0


@every_protocol
def test_rejected_objects_enter_no_mean(protocol: str) -> None:
    """A rejected object, found by nobody, changes nothing; nor does its own detection."""
    word: Word = ((0, 0, 30, 10), "word", False)
    rejected: Word = ((100, 0, 130, 10), "###", True)
    over_it: Word = ((100, 0, 130, 10), "word", False)
    expected = scores(protocol, [([word], [word])])
    for det in ([word], [word, over_it]):
        found = scores(protocol, [([word, rejected], det)])
        assert [found[name] for name in load(protocol).headline] == [
            expected[name] for name in load(protocol).headline
        ]
