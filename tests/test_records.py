"""Columns of objects: some of them taken, some batches joined, each against a
plain loop over the objects.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import Accumulator, image_objects
from evaltex_cli.records import (
    Objects,
    Outlines,
    Texts,
    chunks,
    concatenate,
    offsets_of,
    ranges,
    take,
)

quick = settings(deadline=None, derandomize=True, max_examples=80)
seeds = st.integers(0, 2**32)


def random_objects(seed: int) -> Objects:
    """A few images, some without objects; with or without polygons
    and confidences.
    """
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, rng.integers(1, 5))
    n = int(counts.sum())
    some: dict[str, Any] = {}
    drawn = Outlines.of_boxes(rng.random((n, 4)))
    if rng.random() < 0.6:
        vertex_counts = rng.choice([0, 3, 4, 7], n)
        drawn = Outlines(
            drawn.boxes, rng.normal(0, 9, (int(vertex_counts.sum()), 2)), offsets_of(vertex_counts)
        )
    if rng.random() < 0.5:
        some["confidences"] = rng.random(n)
    texts = ["".join(rng.choice(["a", "Ü", "日"], rng.integers(0, 4))) for _ in range(n)]
    return Objects(
        offsets=offsets_of(counts),
        ids=rng.permutation(n),
        outlines=drawn,
        regions=rng.integers(0, 9, n),
        dont_care=rng.random(n) < 0.5,
        texts=Texts.of(texts),
        **some,
    )


def rows(objects: Objects) -> list[list[Any]]:
    """Each object as plain values."""
    result = []
    for i in range(objects.count):
        vertices = objects.outlines.ring(i).tolist()
        confidence = None if objects.confidences is None else float(objects.confidences[i])
        columns = (objects.ids, objects.boxes, objects.regions, objects.dont_care)
        result.append([*(c[i].tolist() for c in columns), objects.texts[i], vertices, confidence])
    return result


@quick
@given(seeds, seeds)
def test_taken_objects_are_as_they_were(seed: int, chooser: int) -> None:
    objects, rng = random_objects(seed), np.random.default_rng(chooser)
    before = rows(objects)
    keep = rng.random(objects.count) < 0.6
    kept = take(objects, keep)
    assert rows(kept) == [before[i] for i in np.flatnonzero(keep)]
    assert kept.image.tolist() == objects.image[keep].tolist()
    assert len(kept.offsets) == len(objects.offsets)

    order = rng.permutation(objects.count)[: rng.integers(0, objects.count + 1)]
    picked = take(objects, order, np.array([0, 0, len(order)]))
    assert rows(picked) == [before[i] for i in order]
    assert picked.offsets.tolist() == [0, 0, len(order)]


def test_some_objects_of_an_image_in_memory() -> None:
    taken = take(image_objects([[0, 0, 1, 1], [2, 2, 3, 3]]), np.array([False, True]))
    assert taken.boxes.tolist() == [[2, 2, 3, 3]]


@quick
@given(st.lists(seeds, min_size=1, max_size=4))
def test_joined_batches_hold_all_objects(batch_seeds: list[int]) -> None:
    parts = [random_objects(seed) for seed in batch_seeds]
    joined = concatenate(parts)
    expected = [row for part in parts for row in rows(part)]
    if joined.confidences is not None:
        expected = [[*row[:-1], np.nan if row[-1] is None else row[-1]] for row in expected]
    assert str(rows(joined)) == str(expected)
    assert np.diff(joined.offsets).tolist() == [
        n for part in parts for n in np.diff(part.offsets).tolist()
    ]


def test_ranges_and_chunks() -> None:
    assert ranges(np.array([5, 0, 7]), np.array([2, 0, 3])).tolist() == [5, 6, 7, 8, 9]
    assert list(chunks(np.array([1, 2, 9, 1]), 3)) == [(0, 2), (2, 3), (3, 4)]


def test_an_accumulator_keeps_confidences() -> None:
    """CLEval reads two detections of the same characters by falling
    confidence: AB and CD, or CD and AB.
    """
    gt = image_objects([[0, 0, 40, 10]], texts=["ABCD"])
    det = image_objects([[0, 0, 40, 10]] * 2, texts=["AB", "CD"])
    credits = []
    for confidences in ([0.9, 0.1], [0.1, 0.9]):
        accumulator = Accumulator("cleval")
        accumulator.update(gt, replace(det, confidences=np.array(confidences)))
        accumulator.update(gt, image_objects())
        credits.append(accumulator.compute().totals["correct_characters"])
    assert credits == [4, 2]


def test_lengths_of_texts_are_in_characters() -> None:
    words = ["", "ascii", "caf\u00e9", "\u6f22\u5b57", "\U0001f600!", "\ud800", "end"]
    rows = np.array([3, 0, 3])
    for some in (words, words[:2] * 2):
        texts = Texts.of(some)[::-1]
        assert texts.lengths.tolist() == list(map(len, texts))
        assert texts.are_written.tolist() == list(map(bool, texts))
        assert list(texts[rows]) == [texts[k] for k in rows.tolist()]


def test_texts_are_those_that_were_packed() -> None:
    for texts in ([], ["a"], ["a", ""], ["é", "bc", "d"], ["", "a", "b", "c", "d"]):
        assert list(Texts.of(texts)) == texts
