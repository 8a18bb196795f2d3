"""The documents of annotation tools: Label Studio, CVAT, VIA and ReCTS."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from reading import Read, read

from evaltex_cli.old_formats.image_sizes import with_sizes

DOCUMENTS = Path(__file__).parent / "annotations"
ENDINGS = {"cvat": ".xml"}
NAMES = ("label-studio", "cvat", "via", "rects")


def saved(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def document(name: str) -> str:
    return (DOCUMENTS / f"{name}{ENDINGS.get(name, '.json')}").read_text(encoding="utf-8")


def rounded(found: Read) -> list[list[float]]:
    return [np.round(box, 3).tolist() for box in found.objects.boxes]


@pytest.mark.parametrize("name", NAMES)
def test_each_is_recognised_in_file_folder_and_archive(tmp_path: Path, name: str) -> None:
    ending = ENDINGS.get(name, ".json")
    folder = tmp_path / "folder"
    folder.mkdir()
    path = saved(folder / f"img{ending}", document(name))
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as file:
        file.write(path, f"labels/img{ending}")
        file.writestr("pictures/img.jpg", b"")
    found = [read(one) for one in (path, folder, tmp_path / "in.zip")]
    for one in found:
        assert (one.source.format, one.faults) == (name, [])
        assert (one.texts, rounded(one)) == (found[0].texts, rounded(found[0]))


def label_studio(*results: dict[str, Any], **task: Any) -> list[dict[str, Any]]:
    size = {"original_width": 200, "original_height": 100}
    return [
        {
            "id": 1,
            "data": {"image": "a.png"},
            "annotations": [{"result": [size | one for one in results]}],
        }
        | task
    ]


def test_label_studio_joins_the_results_of_an_id(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.json", document("label-studio"))
    found = read(path)
    assert (found.source.names, found.images.sizes.tolist()) == (["b 1"], [[100, 200]])
    assert found.texts == ["two words", "", ""]
    assert found.objects.dont_care.tolist() == [False, True, False]
    corners = found.objects.outlines.ring(0).round(3).tolist()
    assert corners == [
        [20, 20],
        [71.962, 50],
        [69.462, 54.33],
        [17.5, 24.33],
    ]  # about the upper left corner
    assert rounded(found)[1:] == [[20, 10, 100, 50], [90, 40, 110, 60]]
    assert found.source.warnings == (
        f"{path}: 1 circle, ellipse or mask taken for its bounding box",
        f"{path}: 1 point, line or mask left out: it has no area that can be read",
    )


def test_label_studio_predictions_are_the_detections(tmp_path: Path) -> None:
    found = read(saved(tmp_path / "t.json", document("label-studio")), "det")
    assert (rounded(found), found.objects.confidences) == ([[2, 2, 8, 6]], [0.5])
    only = label_studio({"value": {"x": 1, "y": 2, "width": 3, "height": 4}}, predictions=[])
    assert rounded(read(saved(tmp_path / "t.json", only), "det")) == [[2, 2, 8, 6]]


def test_label_studio_reads_the_first_annotation_that_was_not_cancelled(tmp_path: Path) -> None:
    task = label_studio({"value": {"x": 1, "y": 2, "width": 3, "height": 4}})[0]
    other = {"was_cancelled": True, "result": []}
    task["annotations"] = [other, *task["annotations"], {"result": []}]
    found = read(saved(tmp_path / "t.json", [task]))
    assert (found.objects.count, found.faults) == (1, [])
    assert "1 task has several annotations, of which the first" in found.source.warnings[0]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ({"image": "/data/upload/3/0a1b2c3d-img_7.jpg"}, "img_7"),
        ({"image": "/data/local-files/?d=sets/a/img%207.png"}, "img 7"),
        ({"captioning": "s3://bucket/dir/img_7.tif"}, "img_7"),
        ({"image": "https://host/img_7.jpg?X-Signature=a/b"}, "img_7"),
        ({"image": "data:image/png;base64,AAAA"}, "1"),
        ({}, "1"),
    ],
)
def test_label_studio_names_images_by_their_files(
    tmp_path: Path, data: dict[str, str], name: str
) -> None:
    tasks = label_studio({"value": {"x": 1, "y": 2, "width": 3, "height": 4}}, data=data)
    assert read(saved(tmp_path / "t.json", tasks)).source.names == [name]


def test_label_studio_without_sizes_is_in_fractions(tmp_path: Path) -> None:
    value = {"x": 10, "y": 20, "width": 30, "height": 40}
    tasks: Any = [{"data": {"image": "a.png"}, "predictions": [{"result": [{"value": value}]}]}]
    path = saved(tmp_path / "t.json", tasks)
    assert "fractions of the page" in read(path, "det").faults[0]
    Image.new("L", (200, 50)).save(tmp_path / "a.png")
    images = with_sizes(read(path, "det").source, tmp_path).read(np.arange(1))
    assert images.objects.boxes.round(6).tolist() == [[20, 10, 80, 30]]
    value["rotation"] = 5
    assert "a turned shape, and no size of the picture" in read(saved(path, tasks), "det").faults[0]


def test_label_studio_minimal(tmp_path: Path) -> None:
    shape = {"x": 1, "y": 2, "width": 3, "height": 4, "original_width": 200, "original_height": 100}
    task = {
        "image": "/d/a.png",
        "id": 1,
        "bbox": [shape, shape | {"x": 50}],
        "transcription": ["one", "###"],
    }
    found = read(saved(tmp_path / "t.json", [task | {"annotator": 1, "annotation_id": 2}]))
    assert (found.source.format, found.source.names, found.texts) == (
        "label-studio",
        ["a"],
        ["one", "###"],
    )
    assert rounded(found) == [[2, 2, 8, 6], [100, 2, 106, 6]]
    assert found.objects.dont_care.tolist() == [False, True]


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        (
            {"value": {"x": 1, "width": 3, "height": 4}},
            "value: a shape without x and y; expected both, in percent",
        ),
        (
            {"value": {"x": "1", "y": 2}},
            "value.x: '1'; expected a finite number (at most 1e12 in magnitude)",
        ),
        ({"value": {"points": [[1, 2], [3, 4]]}}, "2 vertices; expected three or more"),
        (
            {"value": {"x": 1, "y": 2, "width": -3, "height": 4}},
            "value: width -6, height 4; expected both at least 0",
        ),
        (
            {"image_rotation": 90, "value": {"x": 1, "y": 2, "width": 3, "height": 4}},
            "turned by 90 degrees",
        ),
    ],
)
def test_label_studio_faults_have_their_place(
    tmp_path: Path, result: dict[str, Any], fault: str
) -> None:
    (found,) = read(saved(tmp_path / "t.json", label_studio(result))).faults
    assert found.startswith("[0].annotations[0].result[0]")
    assert fault in found


def test_cvat(tmp_path: Path) -> None:
    path = saved(tmp_path / "annotations.xml", document("cvat"))
    found = read(path)
    assert (found.source.names, found.images.sizes.tolist()) == (
        ["img_1", "img_2"],
        [[480, 640], [10, 10]],
    )
    assert (found.texts, found.objects.dont_care.tolist()) == (
        ["one", "", ""],
        [False, True, False],
    )
    assert found.objects.outlines.ring(0).mean(axis=0).round(6).tolist() == [
        35,
        20,
    ]  # turned about its centre
    assert found.objects.outlines.ring(0)[0].round(3).tolist() == [18.535, -1.305]
    assert rounded(found)[1:] == [[1.5, 2, 30, 50], [45, 54, 55, 66]]
    assert found.source.warnings == (
        f"{path}: 1 circle, ellipse or mask taken for its bounding box",
        f"{path}: 1 point, line or mask left out: it has no area that can be read",
    )
    assert not read(path, "det").objects.dont_care.any()


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (
            'xbr="60"',
            'xbr="6"',
            "annotations.xml:3: a box from (10, 10) to (6, 30); expected xtl <= xbr and ytl <= ybr",
        ),
        (";6,50", "", "annotations.xml:4: 2 vertices; expected three or more"),
        ("<tag ", "<star ", "annotations.xml:5: the shape star; expected box, polygon or ellipse"),
        (
            "<image id=",
            "<track><image/></track><image id=",
            "tracks of a video; expected an export as 'CVAT for images'",
        ),
        ("img_2", "img_1", "image name 'b/img_1'"),
        ('width="640"', 'width="x"', "annotations.xml:3: width = 'x'; expected a finite number"),
    ],
)
def test_cvat_faults(tmp_path: Path, old: str, new: str, fault: str) -> None:
    text = document("cvat").replace(old, new, 1)
    if old == "img_2":
        assert read(saved(tmp_path / "annotations.xml", text)).source.names == [
            "a/img_1",
            "b/img_1",
        ]
        return
    found = read(saved(tmp_path / "annotations.xml", text), "det")
    assert (
        fault in f"annotations.xml{found.faults[0].removeprefix(str(tmp_path / 'annotations.xml'))}"
    )


def test_cvat_pictures_of_the_same_name_in_other_subsets(tmp_path: Path) -> None:
    image = '<image name="img_1.jpg" width="9" height="9" subset="{}"/>'
    text = f"<annotations>{image.format('train')}{image.format('test')}</annotations>"
    found = read(saved(tmp_path / "annotations.xml", text))
    assert (found.source.names, found.faults) == (["train/img_1", "test/img_1"], [])


def test_via(tmp_path: Path) -> None:
    path = saved(tmp_path / "via.json", document("via"))
    found = read(path)
    assert (found.source.names, found.faults) == (["a", "b"], [])
    assert rounded(found)[:4] == [
        [10, 10, 60, 30],
        [1, 1, 20, 30],
        [43, 53, 57, 67],
        [43.691, 55.735, 56.309, 64.265],
    ]
    assert found.texts[0] == "w"
    assert np.diff(found.objects.offsets).tolist() == [4, 1]
    assert found.source.warnings == (
        f"{path}: 2 circles, ellipses or masks taken for their bounding boxes",
        f"{path}: 1 point, line or mask left out: it has no area that can be read",
    )
    assert found.objects.dont_care.tolist() == [False] * 4 + [True]


def test_via_faults(tmp_path: Path) -> None:
    (fault,) = read(
        saved(tmp_path / "via.json", document("via").replace('"r": 7', '"q": 7'))
    ).faults
    assert fault.startswith(
        "_via_img_metadata.a.jpg12.regions[2].shape_attributes.r: no r in a circle"
    )


def test_rects(tmp_path: Path) -> None:
    path = saved(tmp_path / "img_1.json", document("rects"))
    lines, characters = read(path), read(path, "gt", "rects-chars")
    assert (lines.source.format, lines.texts, lines.objects.dont_care.tolist()) == (
        *("rects", ["字", "###"]),
        [False, True],
    )
    assert (characters.texts, characters.objects.dont_care.tolist()) == (
        ["字", "字"],
        [False, True],
    )
