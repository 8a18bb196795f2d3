"""Written files in full, and what is reported because a format cannot hold it."""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path

import pytest
from evaltex_cli.conversion.base import extent, number
from evaltex_cli.conversion.holding import NAMES_CHANGED, RUNS_LOST
from hypothesis import given, settings
from hypothesis import strategies as st
from writing import one, read, write

from evaltex_cli.conversion import write_evaltex
from evaltex_cli.errors import InputError, counted
from evaltex_cli.old_formats.files.numbers import COORDINATE_LIMIT
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject


def test_an_icdar_archive_in_full(tmp_path: Path) -> None:
    path = tmp_path / "gt.zip"
    polygon = CollectedObject([0, 0, 9, 0, 9.5, 9, 0, 9, -1, 5], "60,000")
    images = [
        CollectedImage("img_2", "").with_objects([one('say "hi"'), one("", True)]),
        CollectedImage("img_1", ""),
    ]
    assert not write(path, "icdar2015", "gt", images)
    with zipfile.ZipFile(path) as packed:
        assert packed.namelist() == ["gt_img_2.txt", "gt_img_1.txt"]
        assert (
            packed.read("gt_img_2.txt")
            == b'1,2,30,2,30,40,1,40,say "hi"\n1,2,30,2,30,40,1,40,###\n'
        )
        assert packed.read("gt_img_1.txt") == b""
    write(tmp_path / "again.zip", "icdar2015", "gt", images)
    assert path.read_bytes() == (tmp_path / "again.zip").read_bytes()
    write(
        path,
        "icdar2015",
        "det",
        [CollectedImage("1", "").with_objects([polygon, one("", confidence=0.5)])],
    )
    with zipfile.ZipFile(path) as packed:
        assert (
            packed.read("res_1.txt") == b'0,0,9,0,9.5,9,0,9,-1,5,"60,000"\n1,2,30,2,30,40,1,40,\n'
        )


def test_what_an_icdar_archive_cannot_hold_is_reported(tmp_path: Path) -> None:
    objects = [
        one("word", True, id=7, region=1),
        one("###", id=2),
        CollectedObject([0, 0, 1, 1, 2, 2], "a\nb", id=3),
    ]
    lost = write(
        tmp_path / "gt.zip",
        "icdar2015",
        "gt",
        [CollectedImage("1", "", height=9, width=9).with_objects(objects)],
    )
    assert sorted(counted(count, sentence) for sentence, count in lost.items()) == [
        "1 image size left out: an ICDAR-style file holds none",
        "1 object became don't care: its transcription is ###",
        "1 object is numbered again: an ICDAR-style file holds no IDs",
        "1 object lost its region: an ICDAR-style file holds none",
        "1 transcription got blanks for line breaks",
        "1 transcription of don't-care objects left out: ### replaces it",
    ]
    some = [CollectedImage("1", "").with_objects([one(confidence=0.5), one()])]
    lost = write(tmp_path / "det.zip", "icdar2015", "det", some)
    assert [counted(n, s) for s, n in lost.items()] == [
        "1 confidence left out: not all objects have one in [0, 1]"
    ]
    lost = write(
        tmp_path / "box.zip", "icdar2013", "gt", [CollectedImage("1", "").with_objects(objects[2:])]
    )
    assert "1 polygon written as its bounding box" in [counted(n, s) for s, n in lost.items()]


@pytest.mark.parametrize("name", ["a/b", "../x", ""])
def test_names_that_an_archive_loses_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="rename the image"):
        write(
            tmp_path / "gt.zip", "icdar2015", "gt", [CollectedImage(name, "").with_objects([one()])]
        )
    assert list(tmp_path.iterdir()) == []


def test_coco_annotations_in_full(tmp_path: Path) -> None:
    path = tmp_path / "gt.json"
    polygon = CollectedObject([0, 0, 9, 0, 9.5, 9], "curved", True)
    lost = write(
        path,
        "coco",
        "gt",
        [CollectedImage("12", "", height=40, width=50).with_objects([one(), polygon])],
    )
    assert not lost
    document = json.loads(path.read_text(encoding="utf-8"))
    common = {"image_id": 12, "category_id": 1}
    assert document == {
        "evaltex": "data",
        "images": [{"id": 12, "file_name": "12", "height": 40, "width": 50}],
        "categories": [{"id": 1, "name": "text"}],
        "annotations": [
            {
                "id": 1,
                **common,
                "bbox": [1, 2, 29, 38],
                "segmentation": [],
                "area": 1102,
                "iscrowd": 0,
                "ignore": 0,
            }
            | {"utf8_string": "word"},
            {
                "id": 2,
                **common,
                "bbox": [0, 0, 9.5, 9],
                "segmentation": [[0, 0, 9, 0, 9.5, 9]],
                "area": 40.5,
            }
            | {"iscrowd": 1, "ignore": 1, "utf8_string": "curved"},
        ],
    }


def test_coco_results_in_full(tmp_path: Path) -> None:
    path = tmp_path / "det.json"
    images = [CollectedImage("a", "").with_objects([one(confidence=0.25)]), CollectedImage("b", "")]
    lost = write(path, "coco", "det", images)
    assert json.loads(path.read_text()) == [
        {
            "image_id": "a",
            "category_id": 1,
            "bbox": [1, 2, 29, 38],
            "segmentation": [],
            "score": 0.25,
            "utf8_string": "word",
        }
    ]
    assert [counted(n, s) for s, n in lost.items()] == [
        "2 images have their name as image_id: convert the ground truth too, so that it has the same IDs",
        "1 image without objects left out: COCO results hold none",
    ]
    write(tmp_path / "none.json", "coco", "det", [CollectedImage("b", "")])
    assert json.loads((tmp_path / "none.json").read_text()) == []


def test_a_file_of_the_only_image(tmp_path: Path) -> None:
    images = [
        CollectedImage(name, "", height=9, width=9).with_objects([one()]) for name in ("a", "b")
    ]
    assert not write(tmp_path / "a.xml", "alto", "gt", images[:1])
    assert read(tmp_path / "a.xml", "gt")[0] == ["a"]
    lost = write(tmp_path / "other.xml", "alto", "gt", images[:1])
    assert [counted(count, sentence) for sentence, count in lost.items()] == [
        "1 image name left out: it is that of the file"
    ]
    with pytest.raises(
        InputError, match=r"2 images; expected one for a \.xml file; end the target in \.zip"
    ):
        write(tmp_path / "b.xml", "alto", "gt", images)
    assert not (tmp_path / "b.xml").exists()


def test_objects_of_a_region_that_others_divide(tmp_path: Path) -> None:
    """Their order counts for some protocols, so it stays, and the region does not."""
    objects = [
        one(text, region=region) for text, region in (("a", 1), ("b", 2), ("c", 1), ("d", 1))
    ]
    lost = write(
        tmp_path / "gt.zip",
        "page",
        "gt",
        [CollectedImage("1", "", height=9, width=9).with_objects(objects)],
    )
    assert lost[RUNS_LOST] == 2
    found = read(tmp_path / "gt.zip", "gt")[1].objects
    assert (list(found.texts), found.regions.tolist()) == (["a", "b", "c", "d"], [1, 2, 3, 3])


def test_names_of_pictures_in_documents(tmp_path: Path) -> None:
    """A name with an ending is that of its picture; what the reader will call it is counted."""
    images = [CollectedImage(name, "").with_objects([one()]) for name in ("a", "b.png")]
    lost = write(tmp_path / "Label.txt", "paddleocr", "gt", images)
    assert lost[NAMES_CHANGED] == 1
    lines = (tmp_path / "Label.txt").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines] == ["a.jpg", "b.png"]
    with pytest.raises(InputError, match="that does not begin with a bracket"):
        write(tmp_path / "Label.txt", "paddleocr", "gt", [CollectedImage("[1]", "")])


def test_an_entry_too_large_for_the_form_of_its_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    image = CollectedImage("a", "", height=9, width=8)
    write(tmp_path / "gt.zip", "icdar2015", "gt", [image.with_objects([one()] * 9)])
    with pytest.raises(InputError, match="image 'a' makes a file of more than 2 GiB; give a fold"):
        write(tmp_path / "gt.zip", "icdar2015", "gt", [image.with_objects([one()] * 99)])


def line_of(one: CollectedObject, id_: int) -> str:
    """One line of detections, made of the object alone; none if it has no area, or is
    too large."""
    numbers = list(one.coordinates)
    if len(numbers) == 4:
        x0, y0, x1, y1 = numbers
        if x1 <= x0 or y1 <= y0:
            return ""
        numbers = [x0, y0, extent(x0, x1), extent(y0, y1)]
        if max(numbers[2:]) > COORDINATE_LIMIT:
            return ""
    return f'{id_},"{" ".join(one.text.splitlines())}",{",".join(map(number, numbers))}\n'


WRITTEN_NUMBERS = st.one_of(
    st.integers(-99, 99).map(float), st.floats(-1e5, 1e5), st.sampled_from([-0.0, 1e-7, 1e12])
)
WRITTEN_OBJECTS = st.builds(
    CollectedObject,
    st.one_of(
        st.tuples(*[WRITTEN_NUMBERS] * 4).map(
            lambda one: [*map(min, one[:2], one[2:]), *map(max, one[:2], one[2:])]
        ),
        st.lists(WRITTEN_NUMBERS, min_size=8, max_size=8),
    ),
    st.sampled_from(["", "word", "two\nlines", "ends\r\n", "\x85", "a\u2028b"]),
)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(objects=st.lists(WRITTEN_OBJECTS, max_size=5))
def test_lines_of_an_evaltex_file(objects: list[CollectedObject]) -> None:
    """Those that are made together are those of each object alone."""
    lines = [line_of(one, id_) for id_, one in enumerate(objects, 1)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "det.txt"
        lost = write(path, "evaltex", "det", [CollectedImage("a", "").with_objects(objects)])
        assert path.read_text(encoding="utf-8") == f"a\n{''.join(lines)}\n"
    broken = [one.text != " ".join(one.text.splitlines()) for one in objects]
    assert lost[write_evaltex.WITHOUT_AREA] == lines.count("")
    assert lost[write_evaltex.LINE_BREAKS] == sum(map(bool, map(min, broken, map(bool, lines))))


def test_an_evaltex_file(tmp_path: Path) -> None:
    """Boxes and polygons, and an image between others."""
    polygon = CollectedObject([0, 0, 9, 0, 9.5, 9, 0, 9, -1, 5], "p", id=7)
    triangle = CollectedObject([0, 0, 4, 0, 4, 4], "t", True, id=8)
    images = [
        CollectedImage("a", "", height=9, width=8).with_objects([one(id=3), polygon, one(id=4)]),
        CollectedImage("none", "", height=9, width=8),
        CollectedImage("b", "", height=9, width=8).with_objects([triangle, polygon]),
    ]
    write(tmp_path / "gt.txt", "evaltex", "gt", images)
    assert (tmp_path / "gt.txt").read_text(encoding="utf-8").splitlines() == [
        *("a", "9,8", '3,3,"word",f,1,2,29,38', '7,7,"p",f,0,0,9,0,9.5,9,0,9,-1,5'),
        *('4,4,"word",f,1,2,29,38', "", "none", "9,8", "", "b", "9,8"),
        *('8,8,"t",t,0,0,4,0,4,4', '7,7,"p",f,0,0,9,0,9.5,9,0,9,-1,5', ""),
    ]
