"""What is packed into a report comes back as it was, in the least that holds it."""

from __future__ import annotations

import base64
import json
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from report_pages import images_of, numbers

from evaltex_cli.records import Objects, Outlines, concatenate_texts, offsets_of
from evaltex_cli.report import image_columns
from evaltex_cli.report.image_columns import packed_numbers

EDGES = [127, 128, 32767, 32768, 2**31 - 2, 2**31 - 1, 2**31, 2**53, 327.67, 327.68, 21474.83647]


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    st.lists(
        st.sampled_from([*EDGES, *(-edge for edge in EDGES), 0.0, -0.0, math.inf, 1e308, 5e-324])
        | st.just(math.nan)
        | st.integers(-300, 300)
        | st.integers(-(10**7), 10**7).map(lambda k: k / 100)
        | st.floats(0, 1).map(lambda value: round(value, 5))
        | st.floats(),
        min_size=1,
    )
)
@example([math.nan])
@example([0.5, 0.5])
def test_numbers_are_what_they_were(values):
    packed = packed_numbers(np.array(values, np.float64))
    assert numbers(packed) == [None if math.isnan(value) else value for value in values]


@pytest.mark.parametrize(
    ("values", "kind", "scale"),
    [
        ([1, 126, math.nan], "i1", 1),
        ([1, 127], "i2", 1),
        ([-32766, 5], "i2", 1),
        ([32767, 5], "i4", 1),
        ([2**31 - 2, 5], "i4", 1),
        ([2**31, 5], "f8", 1),
        ([1.25, 300], "i2", 100),
        ([1 / 3, 1], "f8", 1),
    ],
)
def test_numbers_take_the_least_that_holds_them(values, kind, scale):
    assert packed_numbers(np.array(values))[:2] == [kind, scale]


def test_equal_numbers_are_kept_once():
    assert packed_numbers(np.full(1000, 7)) == ["i1", 1, base64.b64encode(b"\x07").decode(), 1000]


coordinates = st.floats(-1e4, 1e4) | st.integers(-1000, 1000).map(float)
shapes = st.lists(coordinates, min_size=2, max_size=2).map(
    lambda low: [*low, low[0] + 10, low[1] + 5]
) | st.integers(3, 6).flatmap(lambda n: st.lists(coordinates, min_size=2 * n, max_size=2 * n))
one_object = st.tuples(
    st.integers(1, 2**40), shapes, st.text(), st.none() | st.floats(0, 1) | st.just(math.inf)
)
sides_of_images = st.lists(st.tuples(*[st.lists(one_object, max_size=3)] * 2), min_size=1)


def objects_of(images):
    """The objects of one side, as a reader makes them."""
    entries = [one for image in images for one in image]
    rings = [[] if len(shape) == 4 else shape for _, shape, _, _ in entries]
    boxes = [
        shape
        if len(shape) == 4
        else [min(shape[::2]), min(shape[1::2]), max(shape[::2]), max(shape[1::2])]
        for _, shape, _, _ in entries
    ]
    vertices = np.array([number for ring in rings for number in ring]).reshape(-1, 2)
    ids = np.array([id for id, *_ in entries], np.int64)
    sure = [math.nan if one is None else one for *_, one in entries]
    return Objects(
        offsets_of(list(map(len, images))),
        ids,
        Outlines(
            np.array(boxes).reshape(-1, 4), vertices, offsets_of([len(r) // 2 for r in rings])
        ),
        ids,
        np.zeros(len(ids), dtype=bool),
        concatenate_texts([text for _, _, text, _ in entries]),
        None if all(map(math.isnan, sure)) else np.array(sure),
    )


def drawn(side):
    """What a page should have of one side of an image, an object at a time."""
    found = {
        "id": [id for id, *_ in side],
        "shape": [[float(np.round(number, 2)) for number in shape] for _, shape, _, _ in side],
        "text": [
            text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
            for _, _, text, _ in side
        ],
    }
    sure = [None if one is None or math.isinf(one) else one for *_, one in side]
    return found if set(sure) <= {None} else {**found, "confidence": sure}


@settings(deadline=None, derandomize=True, max_examples=150)
@given(sides_of_images, st.data())
def test_objects_of_parts_are_those_of_each_image(images, data):
    cut = data.draw(st.integers(0, len(images)))
    sizes = np.array(
        data.draw(
            st.lists(
                st.sampled_from([(0, 0), (0, 5), (100, 200), (10.25, 7.126)]),
                min_size=len(images),
                max_size=len(images),
            )
        ),
        np.float64,
    )
    gt, det = (objects_of([image[side] for image in images]) for side in (0, 1))
    columns = image_columns.of_objects(gt, det, sizes)
    ends = [0, cut, len(images)]
    parts = [image_columns.of_images(columns, ends[k], ends[k + 1]) for k in (0, 1)]
    chunk = {
        "objects": [json.loads(image_columns.text(parts))],
        "matches": [[None]],
        "picture": [None] * len(images),
    }
    expected = [
        {
            "gt": drawn(gt_side),
            "det": [drawn(det_side)],
            "matches": [[None]],
            "picture": None,
            "size": [round(width, 2), round(height, 2)] if width > 0 and height > 0 else None,
        }
        for (gt_side, det_side), (height, width) in zip(images, sizes.tolist(), strict=True)
    ]
    assert images_of(chunk) == expected
