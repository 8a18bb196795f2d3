"""Images in columns: what is appended is read again, merged, looked up and taken in parts."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.base import ReadImages
from evaltex_cli.old_formats.collected import Images, columns
from evaltex_cli.old_formats.narrow import Records
from evaltex_cli.old_formats.parsed import ROW, CollectedImage, CollectedObject

NAMES = st.sampled_from(["ab", "ba", "a", "", "a\nb", "\0", "\0n", "\n", "é", "\ud800", "aé"])
OBJECTS = st.builds(
    CollectedObject,
    st.lists(st.integers(0, 9) | st.floats(0, 9), min_size=8, max_size=8)
    | st.tuples(*[st.integers(0, 4)] * 2, *[st.integers(5, 9)] * 2),
    st.sampled_from(["", "w", "é\n"]),
    st.booleans(),
    id=st.none() | st.integers(0, 10**12),
    region=st.none() | st.integers(-3, 3),
    confidence=st.none() | st.sampled_from([0.5, 0.1]),
    pixels=st.none() | st.just((0.0, 0.0, 1.5, 2.0)),
    at=st.sampled_from([(), ("a", 1), 3, 70_000]),
)
IMAGES = st.lists(
    st.builds(
        lambda name, place, at, size, objects: CollectedImage(
            name, place, at, *size, in_fractions=size[0] == 0
        ).with_objects(objects),
        NAMES,
        st.sampled_from(["f", "g"]),
        st.sampled_from([(), ("k", 2), 5, 9]),
        st.sampled_from([(0, 0), (9.5, 300)]),
        st.lists(OBJECTS, max_size=3),
    ),
    max_size=6,
)


def values(read: ReadImages) -> list[Any]:
    own = read.objects
    arrays = [own.offsets, own.ids, own.boxes, own.outlines.vertices, own.outlines.offsets]
    arrays += [own.regions, own.dont_care, read.sizes, own.confidences, own.pixels]
    arrays.append(read.in_fractions)
    return [None if one is None else np.nan_to_num(one, nan=-1).tolist() for one in arrays] + [
        list(own.texts)
    ]


def places(images: Images) -> list[Any]:
    return [(place.file, place.at, list(place.objects)) for place in images.places()]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(listed=IMAGES, data=st.data())
def test_parts_are_what_their_images_are(listed: list[CollectedImage], data: st.DataObject) -> None:
    images = Images(listed)
    assert list(images.names) == [image.name for image in listed]
    assert [(place, at) for place, at, _ in places(images)] == [
        (image.place, image.at) for image in listed
    ]
    chosen = data.draw(st.lists(st.sampled_from(range(len(listed))), unique=True)) if listed else []
    some = images.part(np.array(chosen, np.int64))
    assert values(some.read()) == values(columns(listed[k] for k in chosen))
    again = pickle.loads(pickle.dumps(some))
    assert (values(again.read()), places(again)) == (values(some.read()), places(some))
    assert places(some) == [places(images)[k] for k in chosen]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(listed=IMAGES)
def test_images_of_one_name_become_the_first_with_the_objects_of_all(
    listed: list[CollectedImage],
) -> None:
    images = Images(listed)
    images.merge()
    merged: dict[str, list[CollectedImage]] = {}
    for image in listed:
        merged.setdefault(image.name, []).append(image)
    assert list(images.names) == list(merged)
    wanted = ["none", *reversed(list(merged))]
    positions = [-1, *reversed(range(len(merged)))]
    assert images.lookup()(wanted).tolist() == positions
    own = Images()
    for group in merged.values():
        first = CollectedImage(group[0].name, group[0].place, group[0].at)
        first.height, first.width = group[0].height, group[0].width
        first.in_fractions = group[0].in_fractions
        for image in group:
            first.extend(bytes(image.rows), image.numbers.tobytes(), bytes(image.strings))
        own.append(first)
    assert (values(images.read()), places(images)) == (values(own.read()), places(own))


def test_a_first_bad_name_and_a_repeated_one_are_reported_in_their_order() -> None:
    faults = FaultLog()
    listed = [CollectedImage(name, "f", k + 1) for k, name in enumerate("ab\nab")]
    Images(listed).refuse_bad_names(faults)
    assert [(one.line, one.found) for one in faults.shown] == [
        (3, r"image name '\n'"),
        (4, "image name 'a' again"),
        (5, "image name 'b' again"),
    ]


@pytest.mark.parametrize(
    "name", ["", "/a", "a/../b", "c:x", "..", ".", "a\x7f", "a\0", "a" * 4097, "\udc80"]
)
def test_a_bad_name_is_reported_among_plain_ones(name: str) -> None:
    for listed in ([name, "b.1", "c d-2"], ["b", "é", name]):
        faults = FaultLog()
        Images(CollectedImage(one, "f") for one in listed).refuse_bad_names(faults)
        assert faults.count == 1
    plain = FaultLog()
    Images(CollectedImage(one, "f") for one in ("a", "img_1.b", "c d-2")).refuse_bad_names(plain)
    assert not plain.count


def test_images_added_together_are_those_added_one_by_one() -> None:
    listed = [
        CollectedImage(name, "f", ("images", k), height=k / 3, width=1e9 * k)
        for k, name in enumerate(("a", "é", "b\nc", "", "\udc80"))
    ]
    together = Images()
    together.append_all(
        [image.name for image in listed],
        "f",
        [f'["images",{k}]' for k in range(len(listed))],
        [(image.height, image.width) for image in listed],
    )
    one_by_one = Images(listed)
    assert list(together.names) == list(one_by_one.names)
    assert (values(together.read()), places(together)) == (
        values(one_by_one.read()),
        places(one_by_one),
    )


@settings(deadline=None, derandomize=True, max_examples=50)
@given(
    st.lists(st.integers(-(10**18), 10**18) | st.integers(0, 300), max_size=9),
    st.lists(st.floats(width=32) | st.floats(), max_size=9),
    st.integers(1, 4),
)
def test_columns_hold_every_value_exactly(
    whole: list[int], decimal: list[float], staged: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evaltex_cli.old_formats.narrow._STAGED", staged * ROW.itemsize)
        records = Records(ROW)
        rows = np.zeros(min(len(whole), len(decimal)), ROW)
        rows["id"], rows["confidence"] = whole[: len(rows)], decimal[: len(rows)]
        for row in rows:
            records.extend(row.tobytes())
        assert len(records) == len(rows)
        if len(rows):
            assert records.taken(slice(None)).tobytes() == rows.tobytes()
