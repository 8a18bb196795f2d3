"""CLEval against a slow reference, and what must hold of any input."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
import reference_cleval
from cleval_inputs import batch_of, evidence_of, scored
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.geometry import geos
from evaltex_cli.protocols.matches import MATCH_TYPES
from evaltex_cli.records import Objects

KINDS = ("ltrb", "quad", "polygon")
LETTERS = "abAB ß日"


def random_text(rng: random.Random) -> str:
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 7)))


def random_object(
    rng: random.Random, kind: str, box: tuple[float, ...], text: str, is_gt: bool
) -> dict[str, Any]:
    """An object around a box: the box, or a crooked quadrilateral or polygon,
    some of them crossed.
    """
    x0, y0, x1, y1 = box
    corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    if kind == "polygon":
        middle = [(x0 + (x1 - x0) * k / 3, y0 + 2 * math.sin(k)) for k in range(4)]
        lower = [(x, y + y1 - y0) for x, y in reversed(middle)]
        corners = rng.choice([corners, middle + lower, middle + lower[:3], corners[:3]])
    if kind != "ltrb":
        shake = rng.choice([0, 1, 3])
        corners = [
            (x + rng.uniform(-shake, shake), y + rng.uniform(-shake, shake)) for x, y in corners
        ]
        if kind == "quad" and rng.random() < 0.15:
            corners = rng.choice(
                [corners[1:] + corners[:1], [corners[1], corners[0], *corners[2:]]]
            )
    digits = rng.choice([0, 0, 1])
    points = [(float(round(x, digits)), float(round(y, digits))) for x, y in corners]
    if kind == "ltrb":
        (x0, y0), (x1, y1) = points[0], points[2]
        points = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    return {
        "points": points,
        "poly": kind == "polygon",
        "text": text,
        "dont_care": is_gt and text == "###",
    }


def random_detections(
    rng: random.Random, box: tuple[float, ...], text: str
) -> list[tuple[tuple[float, ...], str]]:
    """A word detected well, in pieces, with what follows, twice, or not; and
    perhaps a stray detection.
    """
    x0, y0, x1, y1 = box
    w, cut, slip = x1 - x0, rng.randint(0, len(text)), rng.uniform(-0.1, 0.2)
    share = cut / len(text)
    found: list[tuple[tuple[float, ...], str]] = rng.choice(
        [
            [(box, text)],
            [(box, random_text(rng))],
            [
                ((x0, y0, x0 + w * max(share + slip, 0.1), y1), text[:cut]),
                ((x0 + w * min(share - slip, 0.9), y0, x1, y1), text[cut:]),
            ],
            [((x0 - 2, y0 - 3, x0 + w * rng.uniform(1, 2.5), y1 + 3), text + random_text(rng))],
            [(box, text), ((x0 + 1, y0, x1 + 2, y1), text)],
            [],
        ]
    )
    stray = (x0, y0, x0 + rng.uniform(1, 40), y0 + rng.uniform(1, 40))
    return found + [(stray, rng.choice(["", random_text(rng)]))] * (rng.random() < 0.15)


def random_scene(
    rng: random.Random, kind: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Some lines of words, tall ones and don't care among them, and detections."""
    gt: list[dict[str, Any]] = []
    det: list[dict[str, Any]] = []
    for line in range(rng.randint(1, 3)):
        x, y, h = rng.uniform(0, 20), 22.0 * line, rng.uniform(6, 18)
        for _ in range(rng.randint(1, 4)):
            text = "###" if rng.random() < 0.2 else random_text(rng)
            w = h / 3 if rng.random() < 0.15 else max(4.0, len(text) * h * rng.uniform(0.3, 0.8))
            box = (x, y, x + w, y + h)
            gt.append(random_object(rng, kind, box, text, True))
            det += [
                random_object(rng, kind, *found, False)
                for found in random_detections(rng, box, text)
            ]
            x += w + rng.uniform(-3, 5)
    rng.shuffle(det)
    return gt, det


def objects_of(side: list[dict[str, Any]], kind: str) -> Objects:
    shapes = [one["points"] for one in side]
    return image_objects(
        [[*points[0], *points[2]] for points in shapes] if kind == "ltrb" else None,
        None if kind == "ltrb" else [np.array(points) for points in shapes],
        texts=[one["text"] for one in side],
        dont_care=[one["dont_care"] for one in side],
    )


CONFIGURATIONS: list[dict[str, Any]] = [
    {},
    {"area_precision": 0.5, "case_sensitive": False},
    {"reference": "paper", "recall_granularity_penalty": 2.0, "precision_granularity_penalty": 0.5},
]


@pytest.mark.few_fast(3)
@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_the_reference(kind: str, parameters: dict[str, Any]) -> None:
    """Every count of every image, and the matches and characters of every object."""
    rng = random.Random(f"{kind}{parameters}")
    scenes = [random_scene(rng, kind) for _ in range(60)]
    annotation = "polygon" if kind == "polygon" else "quad"
    batch = batch_of([(objects_of(g, kind), objects_of(d, kind)) for g, d in scenes])
    found = evidence_of(batch, annotation=annotation, **parameters)
    options = {
        "official": parameters.get("reference") != "paper",
        "threshold": parameters.get("area_precision"),
        "recall_penalty": parameters.get("recall_granularity_penalty", 1.0),
        "precision_penalty": parameters.get("precision_granularity_penalty", 1.0),
        "case_sensitive": parameters.get("case_sensitive", True),
    }
    assert found.matches is not None
    first_gt = first_det = 0
    kinds = set()
    for k, (gt, det) in enumerate(scenes):
        expected = reference_cleval.evaluate(gt, det, **options)
        row = list(found.tally.rows())[k].as_dict()
        assert {name: row[name] for name in expected["columns"]} == expected["columns"], k
        is_read = any(d["text"] for d in det)
        side = found.matches.gt
        for i in range(len(gt)):
            own = first_gt + i
            partners = side.partners[side.offsets[own] : side.offsets[own + 1]] - first_det
            assert partners.tolist() == [j for a, j in expected["matched"] if a == i]
            kinds.add(MATCH_TYPES[side.types[own]])
            if not gt[i]["dont_care"]:
                assert side.values["found_characters"][own] == expected["found"][i]
                credited = expected["gt_credit"][i] if is_read else math.nan
                np.testing.assert_equal(side.values["credited_characters"][own], credited)
        side = found.matches.det
        for j in range(len(det)):
            own = first_det + j
            assert (MATCH_TYPES[side.types[own]] == "ignored") == (j in expected["dropped"])
            if j not in expected["dropped"]:
                credited = expected["det_credit"][j] if is_read else math.nan
                np.testing.assert_equal(side.values["credited_characters"][own], credited)
        first_gt += len(gt)
        first_det += len(det)
    assert kinds >= {"one-to-one", "one-to-many", "many-to-one", "missed", "ignored"}


BOX = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 40), st.integers(0, 20))
SIDE = st.lists(st.tuples(BOX, st.sampled_from(["", "a", "ab", "abba", "###", "ß日b"])), max_size=6)


def boxes_of(entries: list[tuple[tuple[int, int, int, int], str]], is_gt: bool) -> Objects:
    return image_objects(
        [[x, y, x + w, y + h] for (x, y, w, h), _ in entries],
        texts=[text for _, text in entries],
        dont_care=[is_gt and text == "###" for _, text in entries],
    )


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    images=st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=4),
    reference=st.sampled_from(["official", "paper"]),
)
def test_scores_are_shares_and_evidence_adds_up(images: list[Any], reference: str) -> None:
    """Scores lie in [0, 1]; image order and batches do not matter."""
    pairs = [(boxes_of(g, True), boxes_of(d, False)) for g, d in images]
    whole, turned = (
        Accumulator("cleval", reference=reference),
        Accumulator("cleval", reference=reference),
    )
    for pair in pairs:
        whole.update(*pair)
    for pair in reversed(pairs):
        part = Accumulator("cleval", reference=reference)
        part.update(*pair)
        turned.merge(part)
    result = whole.compute()
    assert result.totals == turned.compute().totals
    counts = {
        "splits",
        "merges",
        "missed_characters",
        "overlapped_characters",
        "false_positive_characters",
    }
    for name, value in result.scores.items():
        assert value is None or (value >= 0 and (name in counts or value <= 1)), name


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    grid=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1),
    reference=st.sampled_from(["official", "paper"]),
    data=st.data(),
)
def test_ground_truth_against_itself_is_perfect(
    grid: set[tuple[int, int]], reference: str, data: st.DataObject
) -> None:
    """Where no two objects overlap."""
    texts = data.draw(
        st.lists(st.text("abß日", min_size=1), min_size=len(grid), max_size=len(grid))
    )
    gt = image_objects(
        [[30 * x, 20 * y, 30 * x + 28, 20 * y + 9] for x, y in sorted(grid)], texts=texts
    )
    scores = scored(gt, gt, reference=reference)
    perfect = (
        "recall",
        "precision",
        "hmean",
        "e2e_recall",
        "e2e_precision",
        "e2e_hmean",
        "recognition_score",
    )
    assert {scores[name] for name in perfect} == {1.0}


def crowd(rng: random.Random, kind: str, count: int, text: str) -> list[dict[str, Any]]:
    """Objects of 20 to 60 by 10 to 30 pixels in one place."""
    corners = [(rng.randint(0, 30), rng.randint(0, 30)) for _ in range(count)]
    boxes = [(x, y, x + rng.randint(20, 60), y + rng.randint(10, 30)) for x, y in corners]
    return [random_object(rng, kind, box, text, True) for box in boxes]


@pytest.mark.parametrize("reference", ["official", "paper"])
@pytest.mark.parametrize("kind", KINDS)
def test_crowds_of_dont_care_objects_agree_with_the_reference(kind: str, reference: str) -> None:
    rng = random.Random(f"{kind}{reference}")
    for _ in range(15):
        gt = crowd(rng, kind, 6, "###") + crowd(rng, kind, 6, "word")
        det = crowd(rng, kind, 12, "word")
        batch = batch_of([(objects_of(gt, kind), objects_of(det, kind))])
        annotation = "polygon" if kind == "polygon" else "quad"
        found = evidence_of(batch, annotation=annotation, reference=reference)
        expected = reference_cleval.evaluate(gt, det, official=reference == "official")
        row = next(iter(found.tally.rows())).as_dict()
        assert {name: row[name] for name in expected["columns"]} == expected["columns"]


@pytest.mark.parametrize("detections", [1, 40])
def test_words_are_cut_out_of_a_dont_care_object_once(
    detections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    united = []
    union_all = geos.union_all
    monkeypatch.setattr(geos, "union_all", lambda some: united.append(some) or union_all(some))
    rng = random.Random(1)
    gt = crowd(rng, "quad", 5, "###") + crowd(rng, "quad", 7, "word")
    det = crowd(rng, "quad", detections, "word")
    evidence_of(batch_of([(objects_of(gt, "quad"), objects_of(det, "quad"))]))
    assert len(united) <= 5
    assert sum(map(len, united)) <= 5 * 7
