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
from evaltex_cli.geometry import outlines
from evaltex_cli.records import (
    Objects,
    Outlines,
    concatenate_texts,
    expanded,
    offsets_of,
    some_texts,
    text_lengths,
)
from evaltex_cli.records.rows import concatenate, take

quick = settings(deadline=None, derandomize=True, max_examples=80)
seeds = st.integers(0, 2**32)


def random_objects(seed: int) -> Objects:
    """A few images, some without objects; with or without polygons (of
    vertices or made), confidences, `Texts`.
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
            outlines.polygons(drawn)
    if rng.random() < 0.5:
        some["confidences"] = rng.random(n)
    texts = ["".join(rng.choice(["a", "Ü", "日"], rng.integers(0, 4))) for _ in range(n)]
    return Objects(
        offsets=offsets_of(counts),
        ids=rng.permutation(n),
        outlines=drawn,
        regions=rng.integers(0, 9, n),
        dont_care=rng.random(n) < 0.5,
        texts=concatenate_texts(texts) if rng.random() < 0.5 else texts,
        **some,
    )


def rows(objects: Objects) -> list[list[Any]]:
    """Each object as plain values."""
    result = []
    # Of a copy, so that what is made here is not made for the test.
    polygons = outlines.polygons(replace(objects.outlines, made=list(objects.outlines.made)))
    for i in range(objects.count):
        vertices = objects.outlines.ring(i).tolist()
        polygon = None if polygons[i] is None else polygons[i].wkb
        confidence = None if objects.confidences is None else float(objects.confidences[i])
        columns = (objects.ids, objects.boxes, objects.regions, objects.dont_care)
        result.append(
            [*(c[i].tolist() for c in columns), objects.texts[i], vertices, polygon, confidence]
        )
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


def test_expanded_numbers_the_repetitions() -> None:
    index, number = expanded(np.array([2, 0, 3]))
    assert index.tolist() == [0, 0, 2, 2, 2]
    assert number.tolist() == [0, 1, 0, 1, 2]


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


def test_texts_are_alike_packed_and_not():
    """Lengths are in characters; a text with half a character is kept as it is only in a list."""
    words = ["", "ascii", "caf\u00e9", "\u6f22\u5b57", "\U0001f600!", "\ud800", "end"]
    rows = np.array([3, 0, 3])
    for some in (words, words[:2] * 2):
        packed = concatenate_texts(some)[::-1]
        for texts in (packed, list(packed), some):
            assert text_lengths(texts).tolist() == list(map(len, texts))
            assert list(some_texts(texts, rows)) == [texts[k] for k in rows.tolist()]


def test_texts_are_those_that_were_packed() -> None:
    for texts in ([], ["a"], ["a", ""], ["é", "bc", "d"], ["", "a", "b", "c", "d"]):
        assert list(concatenate_texts(texts)) == texts
