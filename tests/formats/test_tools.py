"""The documents of annotation tools: labelme, VIA, CVAT, VOC."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import Read, read
from written_files import in_folder, written

from evaltex_cli.records import Labels

TURNED = [[5, 0], [10, 5], [5, 10], [0, 5]]
BOX = [[10, 30], [60, 10]]
BNDBOX = "<bndbox><xmin>10</xmin><ymin>20.5</ymin><ymax>50</ymax><xmax>110</xmax></bndbox>"
ROBNDBOX = "<robndbox><cx>100</cx><cy>50</cy><w>40</w><h>20</h><angle>{}</angle></robndbox>"
XTL = 'xtl="10" ytl="10" xbr="60" ybr="30"'
FLAG = '<attribute name="illegible">true</attribute>'


def shape(points: Any, kind: str | None = "rectangle", **others: Any) -> dict[str, Any]:
    return {"label": "word", "points": points, "shape_type": kind, "flags": {}} | others


def region(name: str = "rect", attributes: Any = None, **values: Any) -> dict[str, Any]:
    if name == "rect" and not values:
        values = {"x": 10, "y": 10, "width": 50, "height": 20}
    return {"shape_attributes": {"name": name} | values, "region_attributes": attributes}


GOOD: dict[str, Any] = {
    "labelme": shape(BOX),
    "via": region(),
    "cvat": f"<box {XTL}/>",
    "voc": BNDBOX,
    "label-studio": {"value": {"x": 1, "y": 2, "width": 3, "height": 4}},
    "ctw1500-xml": "<box><segs>1,1,7,1,7,4,1,4</segs></box>",
}


def document(name: str, *objects: Any, size: str = "") -> Any:
    if name == "via":
        return {"a.jpg": {"filename": "a.jpg", "regions": list(objects)}}
    if name == "label-studio":
        return [{"id": 1, "data": {}, "annotations": [{"result": list(objects)}]}]
    if name == "labelme":
        return {"shapes": list(objects), "imageHeight": 480, "imageWidth": None}
    listed = "\n".join(objects)
    if name == "ctw1500-xml":
        return f"<Annotations><image>{listed}</image></Annotations>"
    if name == "cvat":
        image = 'name="a/1.jpg" width="640" height="480"'
        return f"<annotations><version/>\n<image {image}>\n{listed}\n</image></annotations>"
    listed = "".join(f"<object><name>word</name>\n{one}</object>" for one in objects)
    return f"<annotation><filename>x.jpg</filename>{size}{listed}</annotation>"


def read_objects(
    tmp_path: Path, name: str, *objects: Any, side: Any = "gt", size: str = ""
) -> Read:
    ending = ".xml" if isinstance(GOOD[name], str) else ".json"
    found = read(written(tmp_path / f"1{ending}", document(name, *objects, size=size)), side)
    assert found.source.format == name
    return found


@pytest.mark.parametrize(
    ("name", "item", "outline", "text", "label", "is_dont_care"),
    [
        ("labelme", shape(BOX), [10, 10, 60, 30], "word", "", False),
        ("labelme", shape(TURNED, difficult=True), TURNED, "word", "", True),
        ("labelme", shape(TURNED, "quadrilateral", flags={"ignore": 1}), TURNED, "word", "", True),
        ("labelme", shape(TURNED[:3], None, label="###"), TURNED[:3], "###", "", True),
        ("labelme", shape([[50, 60], [53, 64]], "circle"), [45, 55, 55, 65], "word", "", False),
        ("labelme", shape(BOX, description="exit"), [10, 10, 60, 30], "exit", "word", False),
        ("via", region(attributes={"Text": "w", "ignore": "0", "Type": "s"}), None, "w", "s", False),
        ("via", region(attributes={"ignore": {"on": True}}), [10, 10, 60, 30], "", "", True),
        ("via", region(attributes={"flags": {"difficult": True}}), None, "", "", True),
        ("via", region("polygon", {"text": "###"}, all_points_x=[1, 20, 20], all_points_y=[1, 1, 3]),
         [[1, 1], [20, 1], [20, 3]], "###", "", True),
        ("via", region("circle", cx=50, cy=60, r=7), [43, 53, 57, 67], "", "", False),
        ("via", region("ellipse", cx=50, cy=60, rx=7, ry=3, theta=math.pi / 2), [47, 53, 53, 67],
         "", "", False),
        ("cvat", f'<box label="s" {XTL}><attribute name="Text"> a </attribute></box>',
         [10, 10, 60, 30], "a", "s", False),
        ("cvat", f'<box {XTL} rotation="90"/>', [[45, -5], [45, 45], [25, 45], [25, -5]], "", "",
         False),
        ("cvat", f'<polygon points="1.5,2;30,4;6,50">{FLAG}</polygon>',
         [[1.5, 2], [30, 4], [6, 50]], "", "", True),
        ("cvat", '<ellipse label="###" cx="50" cy="60" rx="5" ry="6"/>', [45, 54, 55, 66], "", "###",
         True),
        ("voc", f"<difficult>1</difficult>{BNDBOX}", [10, 20.5, 110, 50], "", "word", True),
        ("voc", ROBNDBOX.format(math.pi / 2), [[110, 30], [110, 70], [90, 70], [90, 30]], "", "word",
         False),
    ],
)  # fmt: skip
def test_objects(
    tmp_path: Path, name: str, item: Any, outline: Any, text: str, label: str, is_dont_care: bool
) -> None:
    found = read_objects(tmp_path, name, item)
    assert (found.source.names, found.faults, found.texts) == (
        ["1" if name != "via" else "a"],
        [],
        [text],
    )
    (ring,), (box,) = found.rings, found.objects.boxes.tolist()
    assert np.allclose(ring or box, outline or [10, 10, 60, 30])
    assert label == (
        "".join(found.objects.labels) if isinstance(found.objects.labels, Labels) else ""
    )
    assert found.objects.dont_care.tolist() == [is_dont_care]
    assert not read_objects(tmp_path, name, item, side="det").objects.dont_care.any()


@pytest.mark.parametrize(
    ("name", "ellipse", "point"),
    [
        ("labelme", shape([[50, 60], [53, 64]], "circle"), shape([[1, 2], [3, 4]], "line")),
        ("via", region("circle", cx=50, cy=60, r=7), region("polyline")),
        (
            "cvat",
            '<ellipse cx="5" cy="6" rx="5" ry="6"/>',
            '<points points="1,2"/><tag label="y"/>',
        ),
    ],
)
def test_notes(tmp_path: Path, name: str, ellipse: Any, point: Any) -> None:
    found = read_objects(tmp_path, name, ellipse, point)
    assert (found.faults, found.objects.count) == ([], 1)
    assert found.warnings == [
        "1 circle, ellipse or mask taken for its bounding box",
        "1 point, line or mask left out: it has no area that can be read",
    ]


@pytest.mark.parametrize(
    ("name", "size", "expected"),
    [
        ("cvat", "", [480, 640]),
        ("voc", "<size><width>640</width><height> </height></size>", [0, 640]),
        ("voc", "<size><width>640</width><height>480</height></size>", [480, 640]),
    ],
)
def test_sizes(tmp_path: Path, name: str, size: str, expected: list[int]) -> None:
    found = read_objects(tmp_path, name, GOOD[name], size=size)
    assert (found.source.sizes.tolist(), found.faults) == ([expected], [])


def test_another_document_in_a_folder_is_no_empty_image(tmp_path: Path) -> None:
    folder = in_folder(tmp_path / "gt", {"a.json": '{"shapes": []}', "b.json": '{"info": []}'})
    assert read(folder).faults == ["b.json: no key 'shapes'; expected it next to 'info'"]
    folder = in_folder(tmp_path / "xml", {"a.xml": document("voc"), "b.xml": "<alto/>"})
    assert read(folder, "gt", "voc").faults == ["b.xml:1: root 'alto'; expected root annotation"]


def test_projects_of_via_and_lists_that_are_objects(tmp_path: Path) -> None:
    images = {"a.jpg12": {"filename": "a.jpg", "size": 12, "regions": {"0": region()}}}
    project = {"_via_settings": {}, "_via_img_metadata": images}
    found = read(written(tmp_path / "via.json", project))
    assert (found.source.names, found.faults, found.objects.count) == (["a"], [], 1)


def test_images_of_cvat(tmp_path: Path) -> None:
    path = tmp_path / "1.xml"
    found = read(written(path, "<annotations><track/></annotations>"))
    assert "tracks of a video; expected an export as 'CVAT for images'" in found.faults[0]
    found = read(written(path, document("cvat").replace("640", "x")), "det")
    assert "1.xml:2: width 'x'; expected a finite number" in found.faults[0]
    image = '<image name="img_1.jpg" width="9" height="9" subset="{}"/>'
    same = f"<annotations>{image.format('train')}{image.format('test')}</annotations>"
    found = read(written(path, same))
    assert (found.source.names, found.faults) == (["train/img_1", "test/img_1"], [])


@pytest.mark.parametrize(
    ("name", "faulty", "fault"),
    [
        ("labelme", shape([[1, 2]]), "[1]: 1 vertices; expected three or more"),
        ("via", region("rect", x=1), "a.jpg.regions[1]: null; expected a number"),
        ("cvat", '<box xtl="7" ytl="1" xbr="6" ybr="3"/>', ":4: a box from 7, 1 to 6, 3; expected"),
        ("voc", BNDBOX.replace("10<", "1e13<", 1), ":2: bndbox/xmin '1e13'; expected a finite"),
        ("voc", f"<difficult>yes</difficult>{BNDBOX}", ":2: difficult 'yes'; expected a finite"),
        ("label-studio", {"value": {"x": "1"}}, "[1]: '1'; expected a number"),
        ("label-studio", {"image_rotation": 90, "value": {"x": 1}}, "a picture that was turned; exp"),
        ("ctw1500-xml", "<box><segs>1,x</segs></box>", ":2: 'x'; expected a finite number"),
    ],
)  # fmt: skip
def test_a_fault_hides_no_other_object(tmp_path: Path, name: str, faulty: Any, fault: str) -> None:
    found = read_objects(tmp_path, name, GOOD[name], faulty, GOOD[name])
    assert (found.objects.count, found.fault_count) == (2, 1)
    assert fault in found.faults[0]
