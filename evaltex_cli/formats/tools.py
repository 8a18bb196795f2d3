"""What annotation tools write: one document for each image, or for a whole project.

A transcription and flags of don't care are attributes, by their names (`TEXTS`, `FLAGS`). Circles
and ellipses become their bounding boxes; points and lines have no area and are left out. Both are
counted in a note.
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
    Head,
    Image,
    ReadOptions,
    Side,
    TextObject,
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
    number,
    numbers,
    polygon,
    turned,
    with_lines,
    within,
)

TEXTS = ("transcription", "text", "utf8_string", "ocr", "word", "content", "value")
"""Names of attributes that are the transcription, the first counts; capitals do not matter."""
FLAGS = ("ignore", "difficult", "illegible", "illegibility", "dont_care", "dontcare")
"""Names of attributes that make an object don't care, if they are true."""
CLASSES = ("label", "class", "category", "type")
"""Names of attributes that are the class."""
BOXED = "{count} circle[s], ellipse[s] or mask[s] taken for [its bounding box|their bounding boxes]"
LEFT_OUT = (
    "{count} point[s], line[s] or mask[s] left out: [it has|they have] no area that can be read"
)


def _named(values: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first attribute of these names that is text, whatever its capitals."""
    texts = {name.lower(): value for name, value in values.items() if isinstance(value, str)}
    return next((texts[name] for name in names if name in texts), "")


def _is_flagged(values: Mapping[str, Any]) -> bool:
    flags = {name.lower(): str(value).lower() for name, value in values.items()}
    return any(flags.get(name) in ("true", "1", "yes") for name in FLAGS)


# Pascal VOC ---------------------------------------------------------------------------------------


def _read_voc(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.xml("annotation")

    def value(element: Any, name: str, default: float | None = None) -> float:
        text = (element.findtext(name) or "").strip()
        if not text and default is not None:
            return default
        if not text:
            raise FormatError(f"{element.tag} without {name}", "a number there")
        try:
            return number(text)
        except FormatError as error:
            raise FormatError(f"{name} {error.found}", error.expected) from error

    def read(element: Any) -> TextObject:
        corners, turned_box = element.find("bndbox"), element.find("robndbox")
        points: Sequence[float]
        if corners is not None:
            points = [value(corners, name) for name in ("xmin", "ymin", "xmax", "ymax")]
        elif turned_box is not None:
            x, y, width, height, angle = (
                value(turned_box, name) for name in ("cx", "cy", "w", "h", "angle")
            )
            points = turned(box(x - width / 2, y - height / 2, width, height), angle)
        else:
            raise FormatError("object without bndbox", "one")
        flag = (element.findtext("difficult") or "").strip() or "0"
        if flag not in ("0", "1"):
            raise FormatError(f"difficult {quote(flag)}", "0 or 1")
        label = (element.findtext("name") or "").strip()
        return TextObject(points, dont_care=side == "gt" and flag == "1", label=label)

    objects = file.each(with_lines(root.findall("object")), read)
    height, width = (value(root, f"size/{name}", 0.0) for name in ("height", "width"))
    yield Image(file.stem, objects, height, width)


VOC = Format(
    "voc",
    "Pascal VOC and roLabelImg: XML, one per image",
    _read_voc,
    lambda head: "root annotation" if head.root == "annotation" else "",
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
    ignore: bool | int | None = None
    flags: Any = None


class _Labelme(msgspec.Struct, gc=False):
    shapes: list[Any]
    image_height: Number | None = msgspec.field(default=None, name="imageHeight")
    image_width: Number | None = msgspec.field(default=None, name="imageWidth")


def _read_labelme(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """The transcription is ``description``, and ``label`` the class; or, in a file without any
    description, ``label`` is the transcription.
    """
    document = file.json(_Labelme)
    has_classes = any(within(shape, "description") for shape in document.shapes)

    def read(item: Any) -> TextObject | None:
        shape = converted(item, _LabelmeShape)
        if shape.shape_type in ("point", "points", "line", "linestrip"):
            file.notes[LEFT_OUT] += 1
            return None
        label, text = shape.label or "", shape.description or ""
        flags = [within(shape.flags, name) for name in ("difficult", "ignore")]
        is_flagged = any((shape.difficult, shape.ignore, *flags))
        dont_care = side == "gt" and (is_flagged or DONT_CARE in (label, text))
        points = _labelme_points(shape, dont_care)
        if shape.shape_type in ("circle", "mask"):
            file.notes[BOXED] += 1
        return TextObject(
            points,
            text or label,
            dont_care,
            confidence=shape.score,
            label=label if has_classes else "",
        )

    objects = file.each(enumerate(document.shapes), read, "shapes[{}]")
    yield Image(file.stem, objects, document.image_height or 0, document.image_width or 0)


def _labelme_points(shape: _LabelmeShape, dont_care: bool) -> Sequence[float]:
    kind, vertices = shape.shape_type or "polygon", flat(shape.points)
    count = f"{len(shape.points)} points"
    if kind in ("polygon", "rotation", "quadrilateral"):
        return polygon(vertices, dont_care=dont_care)
    if kind == "circle":
        if len(vertices) != 4:
            raise FormatError(count, "the centre of a circle and a point on it", ("points",))
        radius = math.dist(*shape.points)
        return ellipse(vertices[0], vertices[1], radius, radius)
    if kind not in ("rectangle", "mask"):
        raise FormatError(f"shape_type {quote(kind)}", "polygon or rectangle", ("shape_type",))
    if len(vertices) not in (4, 8):
        raise FormatError(count, "two opposite corners of a rectangle", ("points",))
    is_turned = len(set(vertices[::2])) > 2 or len(set(vertices[1::2])) > 2
    return vertices if is_turned else around(vertices)


LABELME = Format(
    "labelme",
    "labelme: JSON, one per image",
    _read_labelme,
    lambda head: "the key shapes" if isinstance(head.json, dict) and "shapes" in head.json else "",
    (".json",),
    layout='{"shapes": [{"label", "points", "shape_type"}], "imageHeight", "imageWidth"}',
)


# VGG Image Annotator ------------------------------------------------------------------------------

_VIA_PROJECT = "_via_img_metadata"


class _ViaShape(msgspec.Struct, gc=False):
    name: str
    x: Number | None = None
    y: Number | None = None
    width: Number | None = None
    height: Number | None = None
    all_points_x: list[Number] = []
    all_points_y: list[Number] = []
    cx: Number | None = None
    cy: Number | None = None
    r: Number | None = None
    rx: Number | None = None
    ry: Number | None = None
    theta: Number | None = None


class _ViaRegion(msgspec.Struct, gc=False):
    shape_attributes: _ViaShape
    region_attributes: Any = None


class _ViaImage(msgspec.Struct, gc=False):
    filename: str
    regions: list[Any] | dict[str, Any]


def _read_via(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.json(dict[str, Any])
    is_project = _VIA_PROJECT in root
    records = converted(root[_VIA_PROJECT], dict[str, Any]) if is_project else root

    def read(item: Any) -> TextObject | None:
        region = converted(item, _ViaRegion)
        values = region.region_attributes if isinstance(region.region_attributes, dict) else {}
        text = _named(values, TEXTS)
        dont_care = side == "gt" and (text == DONT_CARE or _is_flagged(values))
        if region.shape_attributes.name in ("point", "line", "polyline"):
            file.notes[LEFT_OUT] += 1
            return None
        points = _via_points(region.shape_attributes, dont_care)
        if region.shape_attributes.name in ("circle", "ellipse"):
            file.notes[BOXED] += 1
        return TextObject(points, text, dont_care, label=_named(values, CLASSES))

    images = []
    for key, record in records.items():
        place = f"{_VIA_PROJECT}.{key}" if is_project else key
        try:
            image = converted(record, _ViaImage)
        except FormatError as error:
            file.log(error, place)
            continue
        if isinstance(image.regions, dict):
            objects = file.each(image.regions.items(), read, f"{place}.regions.{{}}")
        else:
            objects = file.each(enumerate(image.regions), read, f"{place}.regions[{{}}]")
        images.append(Image(image.filename, objects))
    yield from named_after_pictures(images)


def _via_points(shape: _ViaShape, dont_care: bool) -> Sequence[float]:
    def needed(*names: str) -> list[float]:
        for name in names:
            if getattr(shape, name) is None:
                where = ("shape_attributes", name)
                raise FormatError(f"no {name} in a {shape.name}", "a number", where)
        return [getattr(shape, name) for name in names]

    if shape.name == "rect":
        return box(*needed("x", "y", "width", "height"))
    if shape.name == "polygon":
        xs, ys = shape.all_points_x, shape.all_points_y
        if len(xs) != len(ys):
            raise FormatError(f"{len(xs)} x and {len(ys)} y", "as many x as y")
        return polygon(flat(zip(xs, ys, strict=True)), dont_care=dont_care)
    if shape.name not in ("circle", "ellipse"):
        raise FormatError(f"shape {quote(shape.name)}", "rect, polygon, circle or ellipse")
    radii = ("r", "r") if shape.name == "circle" else ("rx", "ry")
    x, y, across, down = needed("cx", "cy", *radii)
    return ellipse(x, y, across, down, shape.theta or 0.0)


def named_after_pictures(images: list[Image]) -> list[Image]:
    names = names_of_pictures([image.name for image in images])
    for image, name in zip(images, names, strict=True):
        image.name = name
    return images


def _is_via(head: Head) -> str:
    if not isinstance(head.json, dict):
        return ""
    if _VIA_PROJECT in head.json:
        return f"the key {_VIA_PROJECT}"
    first = next(iter(head.json.values()), None)
    is_via = isinstance(first, dict) and "filename" in first and "regions" in first
    return "objects with the keys filename and regions" if is_via else ""


VIA = Format(
    "via",
    "VGG Image Annotator (VIA) 1 and 2: JSON",
    _read_via,
    _is_via,
    (".json",),
    layout='{key: {"filename", "regions": [{"shape_attributes": {"name", "x", "y", "width",'
    ' "height", "all_points_x", ...}, "region_attributes": {"text"}}]}}',
    one_document=True,
)


# CVAT ---------------------------------------------------------------------------------------------


def _read_cvat(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.xml("annotations")
    track = root.find("track")
    if track is not None:
        expected = "an export as 'CVAT for images', which has each image"
        raise FormatError("tracks of a video", expected, at=track.sourceline)

    def read(shape: Any) -> TextObject | None:
        if shape.tag in ("points", "polyline", "mask", "cuboid", "skeleton"):
            file.notes[LEFT_OUT] += 1
            return None
        if shape.tag in ("tag", "attribute"):
            return None
        values = {
            one.get("name", ""): (one.text or "").strip() for one in shape.findall("attribute")
        }
        text, label = _named(values, TEXTS), shape.get("label", "")
        dont_care = side == "gt" and (DONT_CARE in (text, label) or _is_flagged(values))
        points = _cvat_points(shape, dont_care)
        if shape.tag == "ellipse":
            file.notes[BOXED] += 1
        return TextObject(points, text, dont_care, label=label)

    images, subsets = [], []
    for element in root.findall("image"):
        try:
            height, width = (attribute(element, name, 0.0) for name in ("height", "width"))
        except FormatError as error:
            file.log(error, element.sourceline)
            continue
        objects = file.each(with_lines(element), read)
        images.append(Image(element.get("name", ""), objects, height, width))
        subsets.append(element.get("subset", "default"))
    if len({image.name for image in images}) < len(images):
        # Tasks of a project may have the same pictures in different subsets.
        for image, subset in zip(images, subsets, strict=True):
            image.name = f"{subset}/{image.name}"
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
    lambda head: "root annotations" if head.root == "annotations" else "",
    (".xml",),
    layout="annotations / image name width height / box xtl ytl xbr ybr rotation, polygon points;"
    " attribute name",
    one_document=True,
)
