"""What annotation tools write: one document for each image, or for a whole project.

A transcription and flags of don't care are attributes, by their names (`TEXTS`, `FLAGS`). Circles
and ellipses become their bounding boxes; points and lines are left out. Notes count both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from evaltex_cli.errors import FormatError, quote
from evaltex_cli.formats.base import (
    DONT_CARE,
    File,
    Format,
    Image,
    ReadOptions,
    Side,
    TextObject,
    has_root,
)
from evaltex_cli.formats.names import names_of_pictures
from evaltex_cli.formats.parsing import (
    Number,
    Point,
    around,
    attribute,
    attributes,
    box,
    converted,
    ellipse,
    flat,
    numbers,
    polygon,
    turned,
    under,
    with_lines,
    within,
)

# Names of attributes, whatever their capitals: of a transcription and a class, of which the first
# that is there counts, and of flags that make an object don't care.
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
    options = [value for value in values.values() if isinstance(value, dict)]  # of VIA's checkboxes
    flags = {
        name.lower(): str(any(value.values()) if value in options else value).lower()
        for name, value in values.items()
    }
    is_flag = any(flags.get(name) in ("true", "1", "yes") for name in FLAGS)
    return is_flag or any(map(is_flagged, options))


def named_after_pictures(images: Sequence[Image]) -> Iterator[Image]:
    for image, name in zip(images, names_of_pictures([one.name for one in images]), strict=True):
        image.name = name
        yield image


# Pascal VOC ---------------------------------------------------------------------------------------


def _read_voc(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.xml("annotation")

    def read(element: Any) -> TextObject:
        turned_box = element.find("robndbox")
        if turned_box is None:
            points = attributes(element, "bndbox/xmin", "bndbox/ymin", "bndbox/xmax", "bndbox/ymax")
        else:
            x, y, width, height, angle = attributes(turned_box, "cx", "cy", "w", "h", "angle")
            points = turned(box(x - width / 2, y - height / 2, width, height), angle)
        dont_care = side == "gt" and attribute(element, "difficult", 0.0) != 0
        return TextObject(points, dont_care=dont_care, label=element.findtext("name", "").strip())

    objects = file.each(with_lines(root.findall("object")), read)
    height, width = (attribute(root, f"size/{name}", 0.0) for name in ("height", "width"))
    yield Image(file.stem, objects, height, width)


VOC = Format(
    "voc",
    "Pascal VOC and roLabelImg: XML, one per image",
    _read_voc,
    has_root("annotation"),
    (".xml",),
    layout="annotation / object / bndbox / xmin ymin xmax ymax, or robndbox / cx cy w h angle",
)


# labelme ------------------------------------------------------------------------------------------


class _LabelmeShape(msgspec.Struct, gc=False):
    points: list[Point]
    label: str | None = None
    description: str | None = None
    shape_type: str | None = None
    score: Number | None = None
    difficult: bool | int | None = None
    flags: dict[str, Any] | None = None


class _Labelme(msgspec.Struct, gc=False):
    shapes: list[Any]
    image_height: Number | None = msgspec.field(default=None, name="imageHeight")
    image_width: Number | None = msgspec.field(default=None, name="imageWidth")


def _read_labelme(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """The transcription is ``description``, or ``label`` in a file that has no other."""
    document = file.json(_Labelme)
    has_classes = any(
        within(shape, "description") not in (None, "", within(shape, "label"))
        for shape in document.shapes
    )

    def read(item: Any) -> TextObject | None:
        shape = converted(item, _LabelmeShape)
        if shape.shape_type in ("point", "points", "line", "linestrip"):
            file.notes[LEFT_OUT] += 1
            return None
        label, text = shape.label or "", shape.description or ""
        flags = {"difficult": shape.difficult} | (shape.flags or {})
        dont_care = side == "gt" and (DONT_CARE in (label, text) or is_flagged(flags))
        points = _labelme_points(shape, dont_care)
        file.notes[BOXED] += shape.shape_type in ("circle", "mask")
        label_of_class = label if has_classes else ""
        text = text if has_classes else label
        return TextObject(points, text, dont_care, shape.score, label=label_of_class)

    objects = file.each(enumerate(document.shapes), read, "shapes[{}]")
    yield Image(file.stem, objects, document.image_height or 0, document.image_width or 0)


def _labelme_points(shape: _LabelmeShape, dont_care: bool) -> Sequence[float]:
    kind, vertices = shape.shape_type or "polygon", flat(shape.points)
    if kind in ("polygon", "rotation", "quadrilateral"):
        return polygon(vertices, dont_care=dont_care)
    if len(shape.points) not in {"rectangle": (2, 4), "mask": (2,), "circle": (2,)}.get(kind, ()):
        found = f"shape_type {quote(kind)} of {len(shape.points)} points"
        raise FormatError(found, "polygon, or rectangle or circle of two points")
    if kind == "circle":
        radius = math.dist(*shape.points)  # of the centre and a point on it
        return ellipse(*shape.points[0], radius, radius)
    is_turned = len(set(vertices[::2])) > 2 or len(set(vertices[1::2])) > 2
    return vertices if is_turned else around(vertices)


LABELME = Format(
    "labelme",
    "labelme: JSON, one per image",
    _read_labelme,
    lambda head: "the key shapes" if isinstance(head.json, dict) and "shapes" in head.json else "",
    layout='{"shapes": [{"label", "points", "shape_type"}], "imageHeight", "imageWidth"}',
)


# VGG Image Annotator ------------------------------------------------------------------------------


class _ViaRegion(msgspec.Struct, gc=False):
    shape_attributes: dict[str, Any]
    region_attributes: dict[str, Any] | None = None


class _ViaImage(msgspec.Struct, gc=False):
    filename: str
    regions: list[Any] | dict[str, Any]


def _read_via(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.json(dict[str, Any])

    def read(item: Any) -> TextObject | None:
        region = converted(item, _ViaRegion)
        values, shape = region.region_attributes or {}, region.shape_attributes.get("name")
        if shape in ("point", "line", "polyline"):
            file.notes[LEFT_OUT] += 1
            return None
        text = named(values, TEXTS)
        dont_care = side == "gt" and (text == DONT_CARE or is_flagged(values))
        points = _via_points(region.shape_attributes, dont_care)
        file.notes[BOXED] += shape in ("circle", "ellipse")
        return TextObject(points, text, dont_care, label=named(values, CLASSES))

    images = []
    for key, record in converted(root.get("_via_img_metadata", root), dict[str, Any]).items():
        with file.catching(key):
            image = converted(record, _ViaImage)
            regions = image.regions
            items = enumerate(regions.values() if isinstance(regions, dict) else regions)
            images.append(Image(image.filename, file.each(items, read, f"{key}.regions[{{}}]")))
    yield from named_after_pictures(images)


def _via_points(shape: dict[str, Any], dont_care: bool) -> Sequence[float]:
    def values(*names: str) -> Iterator[Any]:
        for name in names:
            with under("shape_attributes", name):
                kind: Any = list[Number] if name.startswith("all_points") else Number
                yield converted(shape.get(name), kind)

    name = shape.get("name")
    if name == "rect":
        return box(*values("x", "y", "width", "height"))
    if name == "circle":
        return ellipse(*values("cx", "cy", "r", "r"))
    if name == "ellipse":
        shape.setdefault("theta", 0.0)
        return ellipse(*values("cx", "cy", "rx", "ry", "theta"))
    if name != "polygon":
        raise FormatError(f"shape {quote(str(name))}", "rect, polygon, circle or ellipse")
    xs, ys = values("all_points_x", "all_points_y")
    if len(xs) != len(ys):
        raise FormatError(f"{len(xs)} x and {len(ys)} y", "as many of the one as of the other")
    return polygon(flat(zip(xs, ys, strict=True)), dont_care=dont_care)


def _is_via(document: Any) -> bool:
    images = within(document, "_via_img_metadata") or document
    first = next(iter(images.values()), None) if isinstance(images, dict) else None
    return isinstance(first, dict) and {"filename", "regions"} <= first.keys()


VIA = Format(
    "via",
    "VGG Image Annotator (VIA) 1 and 2: JSON",
    _read_via,
    lambda head: "objects with the keys filename and regions" if _is_via(head.json) else "",
    layout='{key: {"filename", "regions": [{"shape_attributes": {"name", "x", "y", "width",'
    ' "height", "all_points_x", ...}, "region_attributes": {"text"}}]}}',
    one_document=True,
)


# CVAT ---------------------------------------------------------------------------------------------


def _read_cvat(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.xml("annotations")
    if root.find("track") is not None:
        raise FormatError("tracks of a video", "an export as 'CVAT for images'")

    def read(shape: Any) -> TextObject | None:
        if shape.tag in ("points", "polyline", "mask", "cuboid", "skeleton"):
            file.notes[LEFT_OUT] += 1
            return None
        values = {one.get("name", ""): (one.text or "").strip() for one in shape}
        text, label = named(values, TEXTS), shape.get("label", "")
        dont_care = side == "gt" and (DONT_CARE in (text, label) or is_flagged(values))
        points = _cvat_points(shape, dont_care)
        file.notes[BOXED] += shape.tag == "ellipse"
        return TextObject(points, text, dont_care, label=label)

    images = []
    elements = root.findall("image")
    has_twins = len({one.get("name") for one in elements}) < len(elements)  # in other subsets
    for element in elements:
        with file.catching(element.sourceline):
            name = element.get("name", "")
            height, width = (attribute(element, key, 0.0) for key in ("height", "width"))
            shapes = with_lines(one for one in element if one.tag != "tag")
            if has_twins:
                name = f"{element.get('subset', 'default')}/{name}"
            images.append(Image(name, file.each(shapes, read), height, width))
    yield from named_after_pictures(images)


def _cvat_points(shape: Any, dont_care: bool) -> Sequence[float]:
    angle = math.radians(attribute(shape, "rotation", 0.0))
    if shape.tag == "polygon":
        return polygon(numbers(shape.get("points", "").replace(";", " ")), dont_care=dont_care)
    if shape.tag == "ellipse":
        x, y, across, down = attributes(shape, "cx", "cy", "rx", "ry")
        return ellipse(x, y, across, down, angle)
    if shape.tag != "box":
        raise FormatError(f"the shape {shape.tag}", "box, polygon or ellipse")
    corners = attributes(shape, "xtl", "ytl", "xbr", "ybr")
    return turned(corners, angle) if angle else corners


CVAT = Format(
    "cvat",
    "CVAT for images: one XML file",
    _read_cvat,
    has_root("annotations"),
    (".xml",),
    layout="annotations / image name width height / box xtl ytl xbr ybr rotation, polygon points",
    one_document=True,
)
