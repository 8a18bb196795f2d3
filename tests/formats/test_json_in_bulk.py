"""Annotations of JSON that are read by hundreds are what they are one by one,
with the same faults and places.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.documents import json_windows, safe_json
from evaltex_cli.old_formats.parsed import CollectedImage

NUMBERS = st.integers(-5, 99) | st.floats(0, 99, width=16)
RINGS = st.sampled_from([6, 8, 8, 8, 10]).flatmap(
    lambda count: st.lists(NUMBERS, min_size=count, max_size=count)
)
GOOD: dict[str, st.SearchStrategy[Any]] = {
    "image_id": st.sampled_from([1, 2, "2", "x"]),
    "bbox": st.lists(st.integers(0, 50), min_size=4, max_size=4),
    "segmentation": st.tuples(RINGS).map(list),
    "iscrowd": st.sampled_from([0, 1, None, True]),
    "utf8_string": st.text(max_size=3) | st.none(),
    "text": st.text(max_size=2),
    "score": st.sampled_from([0.5, 1, None]),
}
FAULTY = st.sampled_from(
    [
        None,
        -1,
        "",
        "a",
        [],
        {},
        [[]],
        [[1, 2, 3]],
        [[1, 2, 3, 4]],
        [[0, 0, 9, 0, 9, 9], [1, 1, 5, 1, 5, 5]],
        10**13,
        0.5,
    ]
)


@st.composite
def annotations(draw: st.DrawFn) -> list[Any]:
    """Windows of good ones, and others; all polygons, all boxes, or either."""
    needed = [
        {"image_id", "segmentation"},
        {"image_id", "bbox"},
        {"image_id", "bbox", "segmentation"},
    ]
    listed: list[Any] = []
    for k in range(draw(st.integers(0, 9))):
        keys = draw(st.sampled_from(needed if draw(st.integers(0, 5)) == 0 else needed[:1]))
        optional = set(GOOD) - {"image_id", "bbox", "segmentation"}
        one = {
            key: draw(GOOD[key])
            for key in GOOD
            if key in keys or (key in optional and draw(st.booleans()))
        }
        listed.append({"id": k, **one})
    if listed and draw(st.integers(0, 2)) == 0:
        broken = draw(st.sampled_from(listed))
        broken[draw(st.sampled_from(["id", *GOOD]))] = draw(FAULTY)
    return listed


def read(path: Path, name: str, side: Side) -> Any:
    faults = FaultLog()
    try:
        source = formats.open_source(path, side, faults, name)
    except InputError as error:
        return str(error)
    found = source.read(np.arange(len(source.names)))
    objects = found.objects
    columns = [
        objects.offsets,
        objects.ids,
        objects.boxes,
        objects.outlines.vertices,
        objects.outlines.offsets,
    ]
    columns += [objects.regions, objects.dont_care, found.sizes]
    confidences = (
        None if objects.confidences is None else np.nan_to_num(objects.confidences, nan=-1).tolist()
    )
    return (
        source.names,
        [column.tolist() for column in columns],
        list(objects.texts),
        confidences,
        [(place.file, place.at, list(place.objects)) for place in source.content.places()],
        [str(fault) for fault in faults.shown],
        source.warnings,
    )


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    listed=annotations(),
    window=st.integers(1, 6),
    side=st.sampled_from(["gt", "det"]),
    form=st.integers(0, 1),
)
def test_in_bulk_as_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, listed: list[Any], window: int, side: Side, form: int
) -> None:
    images = [
        {"id": 1, "width": 9, "height": 8, "file_name": "a.jpg"},
        {"id": 2},
        {"id": "x", "width": None},
    ]
    document = [listed, {"images": images, "annotations": listed}][form]
    path = tmp_path_factory.mktemp("bulk") / "a.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    name = ["coco-res", "coco"][form]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_windows, "_AT_ONCE", window)
        in_bulk = read(path, name, side)
        patch.setattr(json_windows, "_decoded", lambda *_: None)
        assert in_bulk == read(path, name, side)


RING = [10, 10, 60, 12.5, 60, 30, 10, 28]
QUAD = [RING[k : k + 2] for k in range(0, 8, 2)]
WORD = {"vertices": QUAD, "legible": True, "text": "a", "confidence": 0.5}
DOCUMENTS: dict[str, Any] = {
    "art": {
        "gt_1": [
            {"points": QUAD, "transcription": "é", "illegibility": False},
            {"points": QUAD, "transcription": "###", "confidence": 0.5},
        ],
        "gt_2": [],
        "3": [{"points": QUAD, "illegibility": 1}],
    },
    "coco-text": {
        "imgs": {"5": {"width": 9, "height": 8, "set": "val"}, "6": {"set": "train"}},
        "anns": {
            "1": {"image_id": 5, "mask": RING, "legibility": "illegible", "utf8_string": "w"},
            "20": {"image_id": "6", "mask": RING, "bbox": [1, 2, 3, 4]},
            "3": {"image_id": 5, "mask": RING},
        },
    },
    "textocr": {
        "imgs": {"a": {"width": 9, "height": 8}, "b": {}},
        "anns": {
            "a_1": {"image_id": "a", "points": RING, "utf8_string": "."},
            "b_1": {"image_id": "b", "points": RING, "utf8_string": "w"},
        },
    },
    "hiertext": {
        "annotations": [
            {
                "image_id": "i.jpg",
                "image_width": 9,
                "paragraphs": [
                    {**WORD, "lines": [{**WORD, "words": []}, {**WORD, "words": [WORD, WORD]}]},
                    {**WORD, "lines": [{**WORD, "words": [{**WORD, "legible": False}]}]},
                ],
            },
            {"image_id": 2, "image_height": 8, "paragraphs": []},
        ]
    },
}
DOCUMENTS["hiertext-line"] = DOCUMENTS["hiertext-para"] = DOCUMENTS["hiertext"]


def ways(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for step in value if isinstance(value, dict) else range(len(value)):
        yield (*way, step)
        if isinstance(value[step], dict | list):
            yield from ways(value[step], (*way, step))


@settings(deadline=None, derandomize=True, max_examples=75)
@given(name=st.sampled_from(sorted(DOCUMENTS)), side=st.sampled_from(["gt", "det"]), data=st.data())
def test_documents_of_other_formats_in_bulk_as_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, name: str, side: Side, data: st.DataObject
) -> None:
    document = copy.deepcopy(DOCUMENTS[name])
    if data.draw(st.integers(0, 3)):
        *way, last = data.draw(st.sampled_from(list(ways(document))))
        inner = document
        for step in way:
            inner = inner[step]
        inner[last] = data.draw(FAULTY)
    path = tmp_path_factory.mktemp("bulk") / "a.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_windows, "_AT_ONCE", data.draw(st.integers(1, 3)))
        in_bulk = read(path, name, side)
        patch.setattr(json_windows, "_decoded", lambda *_: None)
        assert in_bulk == read(path, name, side)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_plain_documents_of_other_formats_are_read_in_bulk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(DOCUMENTS[name]))
    monkeypatch.setattr(CollectedImage, "add", lambda *_: pytest.fail("an object one by one"))
    assert not read(path, name, "gt")[5]


def test_the_faults_of_images_come_before_that_of_the_annotations(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"images": [{"id": []}, {"id": 1}, {"id": 1}], "annotations": 0}')
    assert [fault.partition(": ")[2] for fault in read(path, "coco", "gt")[5]] == [
        "images[0].id: a list of 0; expected an ID: a whole number or a string",
        "images[2].id: ID '1' again; expected IDs used once",
        "annotations: 0; expected a list [...]",
    ]


def test_very_many_are_read_in_bulk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = [0, 0, 9, 0, 9, 9, 0, 9]
    listed = [{"id": k, "image_id": k % 3, "segmentation": [ring]} for k in range(2000)]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"images": [{"id": k} for k in range(3)], "annotations": listed}))
    one_by_one: list[int] = []
    inner = safe_json.take
    monkeypatch.setattr(safe_json, "take", lambda *given: one_by_one.append(1) or inner(*given))
    (names, columns, *_, faults, _) = read(path, "coco", "gt")
    assert (names, faults, one_by_one) == (["0", "1", "2"], [], [])
    assert columns[0] == [0, 667, 1334, 2000]
    assert columns[1][:3] == [0, 3, 6]
