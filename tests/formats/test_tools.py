"""The documents of annotation tools: labelme, VIA, CVAT, VOC."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from reading import Read, read
from written_files import in_folder, written

from evaltex_cli.records import Labels

NOTES = [
    "1 circle, ellipse or mask taken for its bounding box",
    "1 point, line or mask left out: it has no area that can be read",
]


def labels(found: Read) -> list[str]:
    column = found.objects.labels
    return list(column) if isinstance(column, Labels) else []


# labelme ------------------------------------------------------------------------------------------


def shape(points: Any, kind: str | None = "rectangle", **others: Any) -> dict[str, Any]:
    return {"label": "word", "points": points, "shape_type": kind, "flags": {}} | others


TURNED = [[5, 0], [10, 5], [5, 10], [0, 5]]
BOX = [[10, 30], [60, 10]]


def test_labelme(tmp_path: Path) -> None:
    shapes = [
        shape(BOX),
        shape([[0, 0], [9, 0], [9, 5], [0, 5]], score=0.5),
        shape(TURNED, difficult=True),
        shape(TURNED, "quadrilateral", flags={"ignore": True}),
        shape(TURNED[:3], None, label="###"),
        shape([[50, 60], [53, 64]], "circle"),
        shape([[1, 2], [3, 4]], "line"),
    ]
    document = {"shapes": shapes, "imageHeight": 480, "imageWidth": 640}
    folder = in_folder(tmp_path / "gt", {"img_2.json": '{"shapes": [], "imageHeight": null}'})
    written(folder / "img_10.json", document)
    found = read(folder)
    assert (found.source.names, found.faults) == (["img_2", "img_10"], [])
    assert found.source.sizes.tolist() == [[0, 0], [480, 640]]
    assert found.objects.boxes.tolist() == [
        *([10, 10, 60, 30], [0, 0, 9, 5], [0, 0, 10, 10], [0, 0, 10, 10], [5, 0, 10, 10]),
        [45, 55, 55, 65],
    ]
    assert found.objects.outlines.counts.tolist() == [0, 0, 4, 4, 3, 0]
    assert found.texts == ["word"] * 4 + ["###", "word"]
    assert found.objects.dont_care.tolist() == [False, False, True, True, True, False]
    assert (found.warnings, labels(found)) == (NOTES, [])
    assert not read(folder, "det").objects.dont_care.any()


def test_labels_of_labelme_are_classes_where_there_are_descriptions(tmp_path: Path) -> None:
    shapes = [shape(BOX, label="sign", description="exit"), shape(BOX, label="###", description="")]
    found = read(written(tmp_path / "1.json", {"shapes": shapes}))
    assert (found.texts, labels(found)) == (["exit", "###"], ["sign", "###"])


def test_another_document_in_a_folder_is_no_empty_image(tmp_path: Path) -> None:
    folder = in_folder(tmp_path / "gt", {"a.json": '{"shapes": []}', "b.json": '{"regions": []}'})
    assert read(folder).faults == ["b.json: no key 'shapes'; expected it in each object"]
    folder = in_folder(tmp_path / "xml", {"a.xml": voc(), "b.xml": "<alto/>"})
    assert read(folder, "gt", "voc").faults == ["b.xml:1: root 'alto'; expected root annotation"]


# VIA ----------------------------------------------------------------------------------------------


def region(name: str = "rect", attributes: Any = None, **values: Any) -> dict[str, Any]:
    if name == "rect" and not values:
        values = {"x": 10, "y": 10, "width": 50, "height": 20}
    return {"shape_attributes": {"name": name} | values, "region_attributes": attributes}


@pytest.mark.parametrize("is_project", [False, True])
def test_via(tmp_path: Path, is_project: bool) -> None:
    regions = [
        region(attributes={"Text": "w", "ignore": "0", "Type": "sign"}),
        region("polygon", {"text": "###"}, all_points_x=[1, 20, 20], all_points_y=[1, 1, 30]),
        region("circle", cx=50, cy=60, r=7),
        region("polyline", all_points_x=[1, 2], all_points_y=[1, 2]),
        region("ellipse", cx=50, cy=60, rx=7, ry=3, theta=math.pi / 2),
    ]
    other = {"0": region(attributes={"difficult": "1"})}
    images = {
        "a.jpg12": {"filename": "a.jpg", "size": 12, "regions": regions},
        "b.jpg1": {"filename": "b.jpg", "size": 1, "regions": other},
    }
    project = {"_via_settings": {}, "_via_img_metadata": images}
    found = read(written(tmp_path / "via.json", project if is_project else images))
    assert (found.source.format, found.source.names, found.faults) == ("via", ["a", "b"], [])
    *others, ellipse, _ = boxes = found.objects.boxes.tolist()
    assert others == [[10, 10, 60, 30], [1, 1, 20, 30], [43, 53, 57, 67]]
    assert (ellipse, boxes[-1]) == (pytest.approx([47, 53, 53, 67]), boxes[0])
    assert found.objects.offsets.tolist() == [0, 4, 5]
    assert (found.texts, labels(found)) == (["w", "###", "", "", ""], ["sign", "", "", "", ""])
    assert found.objects.dont_care.tolist() == [False, True, False, False, True]
    assert found.warnings == [
        "2 circles, ellipses or masks taken for their bounding boxes",
        NOTES[1],
    ]


# CVAT ---------------------------------------------------------------------------------------------


def cvat(shapes: str, attributes: str = 'name="a/img_1.jpg" width="640" height="480"') -> str:
    return f"<annotations><version>1.1</version>\n<image {attributes}>\n{shapes}\n</image></annotations>"


def test_cvat(tmp_path: Path) -> None:
    shapes = """<box label="sign" xtl="10" ytl="10" xbr="60" ybr="30" rotation="90">
        <attribute name="Text"> one </attribute></box>
        <polygon label="text" points="1.5,2;30,4;6,50"><attribute name="illegible">true</attribute></polygon>
        <ellipse label="###" cx="50" cy="60" rx="5" ry="6"/><points points="1,2"/><tag label="y"/>"""
    path = written(tmp_path / "annotations.xml", cvat(shapes))
    found = read(path)
    assert (found.source.names, found.faults) == (["img_1"], [])
    assert found.source.sizes.tolist() == [[480, 640]]
    turned, *others = found.objects.boxes.tolist()
    assert turned == pytest.approx([25, -5, 45, 45])  # about its centre
    assert others == [[1.5, 2, 30, 50], [45, 54, 55, 66]]
    assert (found.texts, labels(found)) == (["one", "", ""], ["sign", "text", "###"])
    assert found.objects.dont_care.tolist() == [False, True, True]
    assert found.warnings == NOTES
    assert not read(path, "det").objects.dont_care.any()


def test_images_of_cvat(tmp_path: Path) -> None:
    path = tmp_path / "1.xml"
    found = read(written(path, "<annotations><track/></annotations>"))
    assert "tracks of a video; expected an export as 'CVAT for images'" in found.faults[0]
    found = read(written(path, cvat("", 'name="a.jpg" width="x"')), "det")
    assert "1.xml:2: width 'x'; expected a finite number" in found.faults[0]
    image = '<image name="img_1.jpg" width="9" height="9" subset="{}"/>'
    same = f"<annotations>{image.format('train')}{image.format('test')}</annotations>"
    found = read(written(path, same))
    assert (found.source.names, found.faults) == (["train/img_1", "test/img_1"], [])


# VOC ----------------------------------------------------------------------------------------------

BNDBOX = "<bndbox><xmin>10</xmin><ymin>20.5</ymin><ymax>50</ymax><xmax>110</xmax></bndbox>"
ROBNDBOX = "<robndbox><cx>100</cx><cy>50</cy><w>40</w><h>20</h><angle>{}</angle></robndbox>"


def voc(*objects: str, size: str = "") -> str:
    listed = "".join(f"<object><name>text</name>\n{one}</object>" for one in objects)
    return f"<annotation><filename>x.jpg</filename>{size}{listed}</annotation>"


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("", [0, 0]),
        ("<size/>", [0, 0]),
        ("<size><width>640</width><height> </height></size>", [0, 640]),
        ("<size><width>640</width><height>480</height><depth>3</depth></size>", [480, 640]),
    ],
)
def test_voc(tmp_path: Path, size: str, expected: list[int]) -> None:
    objects = [
        f"<difficult/>{BNDBOX}",
        f"<difficult>1</difficult>{BNDBOX}".replace("10<", "100<"),
        ROBNDBOX.format(math.pi / 2),
    ]
    path = written(tmp_path / "gt_1.xml", voc(*objects, size=size).replace("text", "sign", 1))
    found = read(path)
    assert (found.source.names, found.source.sizes.tolist()) == (["1"], [expected])
    assert (found.faults, found.texts, labels(found)) == ([], [""] * 3, ["sign", "text", "text"])
    assert found.objects.dont_care.tolist() == [False, True, False]
    assert found.objects.boxes[0].tolist() == [10, 20.5, 110, 50]
    assert found.objects.boxes[2].tolist() == pytest.approx([90, 30, 110, 70])
    first = found.objects.outlines.ring(2)[0].tolist()
    assert first == pytest.approx([110, 30])  # its own upper left corner
    assert not read(path, "det").objects.dont_care.any()


# Faults -------------------------------------------------------------------------------------------

GOOD: dict[str, Any] = {
    "labelme": shape(BOX),
    "via": region(),
    "cvat": '<box xtl="1" ytl="1" xbr="6" ybr="3"/>',
    "voc": BNDBOX,
    "label-studio": {"value": {"x": 1, "y": 2, "width": 3, "height": 4}},
    "ctw1500-xml": '<box left="1" top="1" width="6" height="3"/>',
}


def document(name: str, objects: list[Any]) -> Any:
    if name == "via":
        return {"a.jpg": {"filename": "a.jpg", "regions": objects}}
    if name == "label-studio":
        return [{"id": 1, "data": {}, "annotations": [{"result": objects}]}]
    if name == "ctw1500-xml":
        return "<Annotations><image>" + "\n".join(objects) + "</image></Annotations>"
    if name == "labelme":
        return {"shapes": objects}
    return cvat("\n".join(objects)) if name == "cvat" else voc(*objects)


@pytest.mark.parametrize(
    ("name", "faulty", "fault"),
    [
        ("labelme", shape([[1, 2]]), "[1]: shape_type 'rectangle' of 1 points; expected polygon"),
        ("labelme", shape([[1, 2]] * 2, "polygon"), "[1]: 2 vertices; expected three or more"),
        ("labelme", shape([[1, 2], [3, "4"]]), "[1].points[1][1]: '4'; expected a number"),
        ("labelme", shape(BOX, "star"), "[1]: shape_type 'star' of 2 points; expected polygon, or"),
        ("via", region("rect", x=1), "regions[1].shape_attributes.y: null; expected a number"),
        ("via", region("star"), "shape 'star'; expected rect, polygon, circle or ellipse"),
        ("via", {}, "a.jpg.regions[1]: no key 'shape_attributes'; expected it in each object"),
        ("via", 7, "a.jpg.regions[1]: 7; expected an object"),
        ("cvat", '<box xtl="7" ytl="1" xbr="6" ybr="3"/>', ":4: a box from 7, 1 to 6, 3; expected"),
        ("cvat", '<box ytl="1" xbr="6" ybr="3"/>', ":4: box without xtl; expected a number there"),
        ("cvat", '<polygon points="1,2;3,4"/>', ":4: 2 vertices; expected three or more"),
        ("cvat", "<star/>", ":4: the shape star; expected box, polygon or ellipse"),
        ("voc", BNDBOX.replace("10<", "1e13<", 1), ":2: bndbox/xmin '1e13'; expected a finite"),
        ("voc", "", ":2: object without bndbox/xmin; expected a number there"),
        ("voc", f"<difficult>yes</difficult>{BNDBOX}", ":2: difficult 'yes'; expected a finite"),
        ("voc", ROBNDBOX.format(0).replace("40", "-4"), ":2: width -4, height 20; expected both"),
        ("label-studio", {"value": {"x": 1}}, "[1].value: a shape without x and y; expected both"),
        ("label-studio", {"value": {"x": "1"}}, "[1].value.x: '1'; expected a number"),
        ("label-studio", {"image_rotation": 90, "value": {"x": 1}}, "a picture that was turned by"),
        ("label-studio", 7, "[0].annotations[0].result[1]: 7; expected an object"),
        ("ctw1500-xml", "<box><segs>1,x</segs></box>", ":2: 'x'; expected a finite number"),
        ("ctw1500-xml", "<box><segs>1,2,3</segs></box>", ":2: 3 coordinates; expected an even"),
        ("ctw1500-xml", "<box/>", ":2: box without left; expected a number there"),
    ],
)  # fmt: skip
def test_a_fault_hides_no_other_object(tmp_path: Path, name: str, faulty: Any, fault: str) -> None:
    ending = ".xml" if isinstance(GOOD[name], str) else ".json"
    content = document(name, [GOOD[name], faulty, GOOD[name]])
    found = read(written(tmp_path / f"a{ending}", content))
    assert (found.source.format, found.objects.count, found.fault_count) == (name, 2, 1)
    assert fault in found.faults[0]
