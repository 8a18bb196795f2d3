"""What annotation tools write: one document for each image, or for a whole project.

A transcription and flags of don't care are attributes, by their names (`TEXTS`, `FLAGS`). Circles
and ellipses become their bounding boxes; points and lines are left out. Notes count both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

from evaltex_cli.errors import FormatError
from evaltex_cli.formats import base, parsing
from evaltex_cli.formats.base import DONT_CARE, File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.names import names_of_pictures
from evaltex_cli.formats.parsing import Number, Point, attribute, attributes, converted, within
from evaltex_cli.formats.word_records import follow, has, listed, size_of

# Names of attributes, whatever their capitals; of texts and classes the first that is there counts.
TEXTS = ("transcription", "text", "utf8_string", "ocr", "word", "content", "value")
CLASSES = ("label", "class", "category", "type")
FLAGS = ("ignore", "difficult", "illegible", "illegibility", "dont_care", "dontcare")
BOXED = "{count} circle[s], ellipse[s] or mask[s] taken for [its bounding box|their bounding boxes]"
LEFT_OUT = (
    "{count} point[s], line[s] or mask[s] left out: [it has|they have] no area that can be read"
)


def named(values: Mapping[str, Any], names: Sequence[str]) -> str:
    texts = {name.lower(): value for name, value in values.items() if isinstance(value, str)}
    return next((texts[name] for name in names if name in texts), "")


def is_flagged(values: Mapping[str, Any]) -> bool:
    for name, value in values.items():
        is_choice = isinstance(value, dict)  # of VIA's checkboxes
        is_set = any(value.values()) if is_choice else str(value).lower() in ("true", "1", "yes")
        if (is_set and name.lower() in FLAGS) or (is_choice and is_flagged(value)):
            return True
    return False


def named_after_pictures(images: Sequence[Image]) -> Iterator[Image]:
    for image, name in zip(images, names_of_pictures([one.name for one in images]), strict=True):
        image.name = name
        yield image


def _read_voc(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.xml("annotation")

    def read(element: Any) -> TextObject:
        turned = element.find("robndbox")
        if turned is None:
            points = attributes(element, "bndbox/xmin", "bndbox/ymin", "bndbox/xmax", "bndbox/ymax")
        else:
            x, y, width, height, angle = attributes(turned, "cx", "cy", "w", "h", "angle")
            straight = parsing.box(x - width / 2, y - height / 2, width, height)
            points = parsing.turned(straight, angle)
        dont_care = side == "gt" and attribute(element, "difficult", 0.0) != 0
        return TextObject(points, dont_care=dont_care, label=element.findtext("name", "").strip())

    objects = file.each(parsing.with_lines(root.findall("object")), read)
    height, width = (attribute(root, f"size/{key}", 0.0) for key in ("height", "width"))
    yield Image(file.stem, objects, height, width)


VOC = Format(
    "voc",
    "Pascal VOC and roLabelImg: XML, one per image",
    _read_voc,
    base.has_root("annotation"),
    (".xml",),
    layout="annotation / object / bndbox / xmin ymin xmax ymax, or robndbox / cx cy w h angle",
)


class _LabelmeShape(msgspec.Struct, gc=False):
    points: list[Point]
    label: str | None = None
    description: str | None = None
    shape_type: str | None = None
    score: Number | None = None


def _read_labelme(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """The transcription is ``description``, or ``label`` in a file that has no other."""
    shapes = list(listed(file, "shapes"))
    has_classes = any(
        within(shape, "description") not in (None, "", within(shape, "label"))
        for _, shape in shapes
    )

    def read(item: Any) -> TextObject | None:
        shape = converted(item, _LabelmeShape)
        if shape.shape_type in ("point", "points", "line", "linestrip", "cuboid"):
            file.notes[LEFT_OUT] += 1
            return None
        label, text = shape.label or "", shape.description or ""
        dont_care = side == "gt" and (DONT_CARE in (label, text) or is_flagged(item))
        label, text = (label, text) if has_classes else ("", label)
        file.notes[BOXED] += shape.shape_type in ("circle", "mask")
        return TextObject(_labelme_points(shape), text, dont_care, shape.score, label=label)

    size = size_of(file.json(dict[str, Any]), "imageHeight", "imageWidth")
    yield Image(file.stem, file.each(shapes, read), *size)


def _labelme_points(shape: _LabelmeShape) -> Sequence[float]:
    points = parsing.flat(shape.points)
    if shape.shape_type == "circle" and len(points) == 4:
        radius = math.dist(*shape.points)  # of the centre and a point on it
        return parsing.ellipse(*shape.points[0], radius, radius)
    if shape.shape_type in ("rectangle", "mask") and len(points) > 2:
        is_turned = len(set(points[::2])) > 2 or len(set(points[1::2])) > 2
        return points if is_turned else parsing.around(points)
    return parsing.polygon(points)


LABELME = Format(
    "labelme",
    "labelme: JSON, one per image",
    _read_labelme,
    has("shapes"),
    layout='{"shapes": [{"label", "points", "shape_type"}], "imageHeight", "imageWidth"}',
)


def _read_via(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.json(dict[str, Any])

    def read(region: Any) -> TextObject | None:
        values = converted(within(region, "region_attributes"), dict[str, Any] | None) or {}
        shape = converted(within(region, "shape_attributes"), dict[str, Any])
        if shape.get("name") not in ("rect", "polygon", "circle", "ellipse"):
            file.notes[LEFT_OUT] += 1
            return None
        text = named(values, TEXTS)
        dont_care = side == "gt" and (text == DONT_CARE or is_flagged(values))
        file.notes[BOXED] += shape.get("name") in ("circle", "ellipse")
        return TextObject(_via_points(shape), text, dont_care, label=named(values, CLASSES))

    images = []
    for key, record in converted(root.get("_via_img_metadata", root), dict[str, Any]).items():
        with file.catching(key):
            name, regions = converted(within(record, "filename"), str), within(record, "regions")
            items = regions.values() if isinstance(regions, dict) else converted(regions, list[Any])
            images.append(Image(name, file.each(enumerate(items), read, f"{key}.regions[{{}}]")))
    yield from named_after_pictures(images)


def _via_points(shape: dict[str, Any]) -> Sequence[float]:
    def values(*keys: str, kind: Any = Number) -> list[Any]:
        return [converted(shape.get(key), kind) for key in keys]

    if shape["name"] == "rect":
        return parsing.box(*values("x", "y", "width", "height"))
    if shape["name"] == "polygon":
        lists = values("all_points_x", "all_points_y", kind=list[Number])
        return parsing.polygon(parsing.flat(zip_longest(*lists, fillvalue=math.nan)))
    radii = ("r", "r") if shape["name"] == "circle" else ("rx", "ry")
    x, y, across, down = values("cx", "cy", *radii)
    return parsing.ellipse(x, y, across, down, converted(shape.get("theta", 0.0), Number))


VIA = Format(
    "via",
    "VGG Image Annotator (VIA) 1 and 2: JSON",
    _read_via,
    has("*.filename *.regions", "_via_img_metadata.*.filename _via_img_metadata.*.regions"),
    layout='{key: {"filename", "regions": [{"shape_attributes", "region_attributes": {"text"}}]}}',
    one_document=True,
)


def _read_darwin(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    def read(item: Any) -> TextObject | None:
        box, paths = within(item, "bounding_box"), within(item, "polygon", "paths") or []
        if len(paths) == 1:
            points = parsing.outline(paths[0])
        elif box:
            file.notes[BOXED] += len(paths) > 1
            points = parsing.box(*converted([within(box, key) for key in "xywh"], parsing.Bounds))
        elif ellipse := within(item, "ellipse"):
            file.notes[BOXED] += 1
            parts = ("center.x", "center.y", "radius.x", "radius.y", "angle")
            numbers = converted([follow(ellipse, part) for part in parts], list[Number])
            points = parsing.ellipse(*numbers)
        else:
            file.notes[LEFT_OUT] += 1
            return None
        text = converted(within(item, "text", "text"), str | None) or ""
        label = converted(within(item, "name"), str | None) or ""
        return TextObject(points, text, side == "gt" and DONT_CARE in (text, label), label=label)

    size = size_of(follow(file.json(Any), "item.slots.0"))
    yield Image(file.stem, file.each(listed(file, "annotations"), read), *size)


DARWIN = Format(
    "darwin",
    "V7 Darwin 2: JSON, one per image",
    _read_darwin,
    has("item.slots annotations"),
    layout='{"item": {"name"}, "annotations": [{"name", "bounding_box": {"x", "y", "w", "h"}}]}',
)


def _read_cvat(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.xml("annotations")
    if root.find("track") is not None:
        raise FormatError("tracks of a video", "an export as 'CVAT for images'")

    def read(shape: Any) -> TextObject | None:
        if shape.tag not in ("box", "polygon", "ellipse"):
            file.notes[LEFT_OUT] += 1
            return None
        values = {one.get("name", ""): (one.text or "").strip() for one in shape}
        text, label = named(values, TEXTS), shape.get("label", "")
        dont_care = side == "gt" and (DONT_CARE in (text, label) or is_flagged(values))
        file.notes[BOXED] += shape.tag == "ellipse"
        return TextObject(_cvat_points(shape), text, dont_care, label=label)

    images = []
    for element in root.findall("image"):
        with file.catching(element.sourceline):
            name = f"{element.get('subset', 'default')}/{element.get('name', '')}"
            height, width = (attribute(element, key, 0.0) for key in ("height", "width"))
            shapes = parsing.with_lines(one for one in element if one.tag != "tag")
            images.append(Image(name, file.each(shapes, read), height, width))
    yield from named_after_pictures(images)


def _cvat_points(shape: Any) -> Sequence[float]:
    angle = math.radians(attribute(shape, "rotation", 0.0))
    if shape.tag == "polygon":
        return parsing.polygon(parsing.numbers(shape.get("points", "").replace(";", " ")))
    if shape.tag == "ellipse":
        x, y, across, down = attributes(shape, "cx", "cy", "rx", "ry")
        return parsing.ellipse(x, y, across, down, angle)
    corners = attributes(shape, "xtl", "ytl", "xbr", "ybr")
    return parsing.turned(corners, angle) if angle else corners


CVAT = Format(
    "cvat",
    "CVAT for images: one XML file",
    _read_cvat,
    base.has_root("annotations"),
    (".xml",),
    layout="annotations / image name width height / box xtl ytl xbr ybr rotation, polygon points",
    one_document=True,
)
