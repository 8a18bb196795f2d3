"""Writers: what a format holds is read back the same, what it does not hold is counted."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nested import close
from writing import INEXACT, READ_AS, ending, notes, one, read, source_of, write
from written_files import contents

from evaltex_cli.conversion import WRITERS, Writer, write_text, writer
from evaltex_cli.errors import InputError
from evaltex_cli.formats.base import Image, Side, Source, TextObject
from evaltex_cli.formats.sizes import in_pixels
from evaltex_cli.records import Objects

EXACT_TEXTS = ("coco", "labelme", "paddleocr", "mmocr", "hiertext", "label-studio")
"""Targets with transcriptions as they are; others change white space and control characters."""
EXTENTS = ("evaltex", "coco", "alto")
"""Targets with widths and heights, whose sums can be off in the last bit."""
AS_BOXES = (*EXTENTS, "icdar2013", "labelme", "hocr", "cvat", "label-studio")
"""Targets in which a box is a box when it is read again, and not its four corners."""


def described(source: Source) -> list[list[tuple[Any, ...]]]:
    """Each image's objects: shape (boxes by their corners), transcription, don't care, confidence."""
    objects, rows = source.objects, []
    for i, (x0, y0, x1, y1) in enumerate(objects.boxes.tolist()):
        shape = objects.outlines.ring(i).tolist() or [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
        confidence = np.nan if objects.confidences is None else float(objects.confidences[i])
        rows.append((shape, objects.texts[i], bool(objects.dont_care[i]), confidence))
    return [rows[start:stop] for start, stop in pairwise(objects.offsets.tolist())]


def held(row: tuple[Any, ...], holds: Writer, side: Side) -> tuple[Any, ...]:
    """What a format holds of an object; a box by its corners."""
    shape, text, dont_care, confidence = row
    if not holds.polygons:
        (x0, y0), (x1, y1) = np.min(shape, axis=0).tolist(), np.max(shape, axis=0).tolist()
        shape = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
    if holds.whole:
        shape = np.maximum(np.floor(np.add(shape, 0.5)), 0).tolist()
    if side == "gt":
        dont_care = holds.dont_care and (dont_care or text in holds.marks)
    has_confidence = side in holds.confidences
    return shape, text if holds.texts else "", dont_care, confidence if has_confidence else np.nan


def plain(text: str) -> str:
    """A transcription without control characters and more than single blanks."""
    return " ".join(re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd-\uffff]", " ", text).split())


def runs(objects: Objects) -> list[bool]:
    """Whether each object is of another region than the one before it in its image."""
    others = np.diff(objects.regions, prepend=-1) != 0
    others[objects.offsets[:-1][np.diff(objects.offsets) > 0]] = True
    return others.tolist()


NUMBERS: st.SearchStrategy[float] = st.one_of(
    st.integers(-9999, 9999).map(float),
    st.floats(-1e4, 1e4, width=32),
    st.sampled_from([0.1, 1e-7]),
)
WORDS = "word 1996 60,000 0.5 Latin,word a\"b \\ \\\" , ### #### ##::x nan -inf, ###a +5 t,1,2,3,4 [u'c'] *"
TEXTS = st.one_of(
    st.sampled_from(
        [*WORDS.split(), '"q"', "", " ", " x ", "x\t", "\ufeffx", "\0", "Ünï 語", "a\nb"]
    ),
    st.text(
        st.characters(exclude_categories=["Cs", "Zl", "Zp"], exclude_characters="\0"), max_size=9
    ),
)


@st.composite
def text_objects(draw: st.DrawFn, side: Side, numbers: Any) -> TextObject:
    if draw(st.booleans()):
        vertices = st.lists(st.tuples(numbers, numbers), min_size=3, max_size=7, unique=True)
        points = [value for vertex in draw(vertices) for value in vertex]
    else:
        x, y = draw(numbers), draw(numbers)
        width, height = draw(st.integers(1, 4000)) / 8, draw(st.integers(1, 4000)) / 8
        points = [x, y, x + width, y + height]
    dont_care, region = side == "gt" and draw(st.booleans()), draw(st.integers(1, 3))
    confidence = draw(st.floats(0, 1)) if side == "det" else None
    return TextObject(points, draw(TEXTS), dont_care, confidence, region=region)


def scenes(side: Side, numbers: Any = NUMBERS) -> st.SearchStrategy[list[Image]]:
    lists = st.lists(text_objects(side, numbers), min_size=1, max_size=4)
    return st.lists(st.tuples(lists, st.integers(500, 999)), min_size=1, max_size=3).map(
        lambda images: [
            Image(f"img_{k}", objects, height, 640) for k, (objects, height) in enumerate(images, 1)
        ]
    )


@pytest.mark.few_fast(4)
@pytest.mark.parametrize("side", ["gt", "det"])
@pytest.mark.parametrize("name", WRITERS)
@settings(deadline=None, derandomize=True, max_examples=12)
@given(data=st.data())
def test_what_a_format_holds_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, side: Side, data: st.DataObject
) -> None:
    """What `Writer` declares, and nothing of the rest."""
    holds = WRITERS[name]
    # YOLO's fractions are of the picture.
    numbers = st.integers(0, 9).map(float) if name == "yolo" else NUMBERS
    images = data.draw(scenes(side, numbers))
    path = tmp_path_factory.mktemp("written") / f"file{ending(name)}"
    expected = source_of(images)
    boxes = expected.objects.boxes
    assume(name != "csv" or boxes.min() < 0 or boxes.max() > 1)  # these are fractions
    lost = write(path, name, side, images)
    found = read(path, side, READ_AS.get(name))
    if name == "yolo":
        found = in_pixels(found, expected.sizes)
    assert list(found.names) == [image.name for image in images]
    wanted = [[held(row, holds, side) for row in image] for image in described(expected)]
    got = described(found)
    if name.startswith("icdar") and side == "gt":  # ### replaces their transcription
        wanted = [[(s, "###" if d else t, d, c) for s, t, d, c in image] for image in wanted]
    if name not in EXACT_TEXTS:
        wanted = [[(s, plain(t), d, c) for s, t, d, c in image] for image in wanted]
        got = [[(s, plain(t), d, c) for s, t, d, c in image] for image in got]
    assert close(got, wanted, 1e-9 if name in INEXACT + EXTENTS else 0)
    boxes_again = (found.objects.outlines.counts == 0).tolist()
    if name in AS_BOXES and holds.polygons:
        assert boxes_again == (expected.objects.outlines.counts == 0).tolist()
    assert all(boxes_again) or holds.polygons
    if side in holds.sizes:
        assert found.sizes.tolist() == expected.sizes.tolist()
    if name == "evaltex":
        assert found.objects.ids.tolist() == expected.objects.ids.tolist()
    if side == "gt" and holds.regions and not lost[writer.REGION_LOST]:
        assert runs(found.objects) == runs(expected.objects)


@pytest.mark.parametrize(
    ("name", "side", "again"),
    [
        ("coco", "gt", ["word", "logo", "word"]),
        ("coco", "det", ["2", "1", "2"]),
        ("cvat", "gt", ["word", "logo", "word"]),
        ("yolo", "det", ["1", "0", "1"]),
    ],
)
def test_classes_are_written(tmp_path: Path, name: str, side: Side, again: list[str]) -> None:
    cases = ((("word", "logo", "word"), again), (("18", "1"), ["18", "1"]))
    for k, (labels, expected) in enumerate(cases):
        objects = [one(label=label) for label in labels]
        path = tmp_path / f"{k}{ending(name)}"
        lost = write(path, name, side, [Image("1", objects, 50, 40)])
        assert not any("class" in sentence for sentence in lost)
        assert list(read(path, side, READ_AS.get(name)).objects.labels or ()) == expected


POLYGON = [0, 0, 9, 0, 9.5, 9, 0, 9, -1, 5]


def test_an_evaltex_file_in_full(tmp_path: Path) -> None:
    images = [
        Image("a", [TextObject(POLYGON, "two\nlines", id=7, region=3), one(id=4)], 9, 8),
        Image("b", [TextObject([0, 0, 0, 4], "flat"), one('say "hi"', True, id=8)]),
    ]
    assert notes(write(tmp_path / "gt.txt", "evaltex", "gt", images)) == [
        "1 image of unknown size got the smallest that holds its objects",
        "1 object without area left out: an EvaLTex file cannot hold it",
    ]
    assert (tmp_path / "gt.txt").read_text(encoding="utf-8").splitlines() == [
        *("a", "9,8", '7,3,"two lines",f,0,0,9,0,9.5,9,0,9,-1,5', '4,4,"word",f,1,2,29,38', ""),
        *("b", "40,30", '8,8,"say "hi"",t,1,2,29,38', ""),
    ]


def test_an_icdar_archive_in_full(tmp_path: Path) -> None:
    words = [one('say "hi"'), one("", True), one("it", True)]
    images = [Image("img_2", words, 9, 9), Image("img_1")]
    assert notes(write(tmp_path / "gt.zip", "icdar2015", "gt", images)) == [
        "1 transcription of don't-care objects left out: ### replaces it"
    ]
    place = "1,2,30,2,30,40,1,40"
    assert contents(tmp_path / "gt.zip") == {
        "gt_img_2.txt": f'{place},say "hi"\n{place},###\n{place},###\n',
        "gt_img_1.txt": "",
    }
    images = [Image("1", [TextObject(POLYGON, "60,000"), one(confidence=0.5)])]
    assert notes(write(tmp_path / "det.zip", "icdar2013", "det", images)) == [
        "1 confidence left out: not all objects have one in [0, 1]",
        "1 polygon written as its bounding box",
    ]
    assert contents(tmp_path / "det.zip") == {"res_1.txt": '-1,0,9.5,9,"60,000"\n1,2,30,40,word\n'}


def test_coco_in_full(tmp_path: Path) -> None:
    curved = TextObject([0, 0, 9, 0, 9.5, 9], "curved", True, label="sign")
    path = tmp_path / "gt.json"
    assert not write(path, "coco", "gt", [Image("12", [one(), curved], 40, 50)])
    common = {"image_id": 12}
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "evaltex": "data",
        "images": [{"id": 12, "file_name": "12", "height": 40, "width": 50}],
        "categories": [{"id": 1, "name": "text"}, {"id": 2, "name": "sign"}],
        "annotations": [
            {"id": 1, **common, "category_id": 1, "bbox": [1, 2, 29, 38], "segmentation": []}
            | {"area": 1102, "iscrowd": 0, "ignore": 0, "utf8_string": "word"},
            {"id": 2, **common, "category_id": 2, "bbox": [0, 0, 9.5, 9]}
            | {"segmentation": [[0, 0, 9, 0, 9.5, 9]], "area": 40.5}
            | {"iscrowd": 1, "ignore": 1, "utf8_string": "curved"},
        ],
    }
    images = [Image("a", [one(confidence=0.25), one("")]), Image("b")]
    assert notes(write(path, "coco", "det", images)) == [
        "1 image without objects left out: COCO results hold none",
        "2 images have their name as image_id: convert the ground truth too, so that it has the"
        " same IDs",
    ]
    about = {"image_id": "a", "category_id": 1, "bbox": [1, 2, 29, 38], "segmentation": []}
    expected = [about | {"score": 0.25, "utf8_string": "word"}, about]
    assert json.loads(path.read_text()) == expected


NOW_COUNTS = "1 don't-care object counts now: the format has no mark for don't care"
LOSSES = {
    "page": [
        NOW_COUNTS,
        "1 object lost its region",
        "1 object moved by rounding: the format holds whole pixels from 0 up",
    ],
    "yolo": [
        NOW_COUNTS,
        write_text.OUTSIDE.replace("{count} object[s] [reaches|reach]", "1 object reaches"),
        "2 objects lost their region",
        "4 transcriptions left out: the format holds none",
    ],
    "cvat": [
        "1 confidence left out: the format holds none",
        "1 object became don't care by its transcription",
        "2 objects lost their region",
    ],
}


@pytest.mark.parametrize("name", LOSSES)
def test_what_formats_do_not_hold_is_counted(tmp_path: Path, name: str) -> None:
    objects = [
        one("###", region=7, id=7),
        one("word", True, confidence=0.5, region=7, id=8),
        TextObject([0.5, 0, 9, -1, 9, 9], "\x01", id=9),
        one(region=7, id=10),
    ]
    path = tmp_path / f"{name}{ending(name)}"
    assert notes(write(path, name, "gt", [Image("1", objects, 50, 40)])) == LOSSES[name]
    if name == "page":
        assert read(path, "gt").objects.regions.tolist() == [1, 1, 2, 3]


@pytest.mark.parametrize("name", ["icdar2015", "page"])
def test_names_that_a_target_loses_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="rename the image"):
        write(tmp_path / "gt.zip", name, "gt", [Image("a/b", [one()], 9, 9)])
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_the_only_image(tmp_path: Path) -> None:
    images = [Image(name, [one()], 9, 9) for name in ("a", "b")]
    assert not write(tmp_path / "a.xml", "alto", "gt", images[:1])
    assert read(tmp_path / "a.xml", "gt").names == ["a"]
    with pytest.raises(InputError, match=r"b\.xml: can have one image only; end it in \.zip"):
        write(tmp_path / "b.xml", "alto", "gt", images)
    assert not (tmp_path / "b.xml").exists()


def test_yolo_needs_sizes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="image '1' without height and width"):
        write(tmp_path / "a.zip", "yolo", "gt", [Image("1", [one()])])
    write(tmp_path / "a.zip", "yolo", "gt", [Image("1")])


def test_the_page_on_conversion_says_what_each_target_holds() -> None:
    page = (Path(__file__).parents[2] / "docs" / "convert.md").read_text(encoding="utf-8")
    table = page.partition("\n--to ")[2].partition("\n```")[0]
    rows = [re.split(" {2,}", line) for line in table.splitlines()[1:]]
    assert [row[0] for row in rows] == list(WRITERS)
    sides = {("gt", "det"): "yes", ("gt",): "ground truth", ("det",): "detections", (): "no"}
    for name, _, boxes, polygons, dont_care, text, confidence, region, label, size in rows:
        holds = WRITERS[name]
        as_boxes = name in (*AS_BOXES, "yolo", "csv")  # if there is no polygon
        assert boxes == ("yes" if as_boxes else "as corners"), name
        assert polygons == ("yes" if holds.polygons else "as boxes"), name
        assert (dont_care != "no") == holds.dont_care, name
        assert (text == "yes") == holds.texts, name
        assert confidence.replace("percent", "yes") == sides[holds.confidences], name
        assert (region != "no") == holds.regions, name
        assert (label == "yes") == holds.labels, name
        assert size == ("needed" if name == "yolo" else sides[holds.sizes]), name
