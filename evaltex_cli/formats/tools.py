"""What annotation tools write: one document for each image, or for a whole project.

A transcription and flags of don't care are attributes, by their names (`TEXTS`, `FLAGS`). Circles
and ellipses become their bounding boxes; points and lines have no area and are left out. Both are
counted in a note.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

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
from evaltex_cli.formats.names import UPLOADED, names_of_pictures
from evaltex_cli.formats.parsing import (
    Number,
    Point,
    around,
    attributes,
    box,
    converted,
    flat,
    number,
    numbers,
    polygon,
    turned,
    with_lines,
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


def _ellipse(values: Sequence[float], angle: float = 0.0) -> list[float]:
    """Return the box around an ellipse x, y, radius x, radius y, turned by an angle in radians."""
    x, y, across, down = values
    width = math.hypot(across * math.cos(angle), down * math.sin(angle))
    height = math.hypot(across * math.sin(angle), down * math.cos(angle))
    return [x - width, y - height, x + width, y + height]


# Pascal VOC ---------------------------------------------------------------------------------------


def _read_voc(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.xml("annotation")

    def value(element: Any, name: str) -> float:
        text = element.findtext(name)
        if text is None:
            raise FormatError(f"{element.tag} without {name}", "a number there")
        return number(text)

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
    height, width = (
        number((root.findtext(f"size/{name}") or "").strip() or "0") for name in ("height", "width")
    )
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
    flags: dict[str, bool | int | None] | None = None


class _Labelme(msgspec.Struct, gc=False):
    shapes: list[_LabelmeShape]
    image_height: Number | None = msgspec.field(default=None, name="imageHeight")
    image_width: Number | None = msgspec.field(default=None, name="imageWidth")


def _read_labelme(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """The transcription is ``description``, and ``label`` the class; or, in a file without any
    description, ``label`` is the transcription.
    """
    document = file.json(_Labelme)
    has_classes = any(shape.description for shape in document.shapes)

    def read(shape: _LabelmeShape) -> TextObject | None:
        if shape.shape_type in ("point", "points", "line", "linestrip"):
            file.notes[LEFT_OUT] += 1
            return None
        label, text = shape.label or "", shape.description or ""
        flags = shape.flags or {}
        flagged = shape.difficult or shape.ignore or flags.get("difficult") or flags.get("ignore")
        dont_care = side == "gt" and (bool(flagged) or DONT_CARE in (label, text))
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
        return _ellipse([*vertices[:2], radius, radius])
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
    yield from _named_after_pictures(images)


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
    if shape.name == "circle":
        return _ellipse(needed("cx", "cy", "r", "r"))
    if shape.name != "ellipse":
        raise FormatError(f"shape {quote(shape.name)}", "rect, polygon, circle or ellipse")
    return _ellipse(needed("cx", "cy", "rx", "ry"), shape.theta or 0.0)


def _named_after_pictures(images: list[Image]) -> list[Image]:
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
            height, width = (number(element.get(name, "0")) for name in ("height", "width"))
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
    yield from _named_after_pictures(images)


def _cvat_points(shape: Any, dont_care: bool) -> Sequence[float]:
    angle = math.radians(number(shape.get("rotation", "0")))
    if shape.tag == "polygon":
        return polygon(numbers(shape.get("points", "").replace(";", " ")), dont_care=dont_care)
    if shape.tag == "ellipse":
        return _ellipse(attributes(shape, "cx", "cy", "rx", "ry"), angle)
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


# Label Studio -------------------------------------------------------------------------------------

_TASKS: Any = list[dict[str, Any]] | dict[str, Any]
_DONE = ("annotations", "completions")
_IMAGE_KEYS = ("image", "ocr", "img", "picture", "url")
_HOST_OR_FOLDER = re.compile(r"\A(?:[a-z0-9+.-]+://|.*[?&]d=)", re.IGNORECASE)
_SEVERAL = (
    "{count} task[s] [has|have] several annotations, of which the first that was not cancelled is"
    " read"
)
_TEXTS_LOST = (
    "{count} task[s] of JSON-MIN [has|have] another number of transcriptions than of shapes, and"
    " [is|are] read without; export JSON instead"
)


class _Value(msgspec.Struct, gc=False):
    x: Number | None = None
    y: Number | None = None
    width: Number | None = None
    height: Number | None = None
    rotation: Number | None = None
    points: list[Point] | None = None
    radius_x: Number | None = msgspec.field(default=None, name="radiusX")
    radius_y: Number | None = msgspec.field(default=None, name="radiusY")
    rle: Any = None
    text: str | list[str] | None = None
    rectanglelabels: list[str] | None = None
    polygonlabels: list[str] | None = None
    ellipselabels: list[str] | None = None
    labels: list[str] | None = None
    original_width: Number | None = None
    original_height: Number | None = None


class _Result(msgspec.Struct, gc=False):
    value: _Value = msgspec.field(default_factory=_Value)
    id: str | int | None = None
    original_width: Number | None = None
    original_height: Number | None = None
    image_rotation: Number | None = None
    score: Number | None = None


class _Annotation(msgspec.Struct, gc=False):
    result: list[Any] = []
    was_cancelled: bool | int | None = None


class _Region:
    """The results of one ID: a shape, its classes, its transcription."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.shape: _Result | None = None
        self.text = ""
        self.labels: list[str] = []
        self.score: float | None = None

    def add(self, result: _Result, place: str) -> None:
        value = result.value
        has_shape = value.x is not None or value.points is not None or value.rle is not None
        if has_shape and self.shape is None:
            self.shape, self.place = result, place
        text = " ".join(value.text) if isinstance(value.text, list) else value.text or ""
        self.text = self.text or text
        for some in (value.rectanglelabels, value.polygonlabels, value.ellipselabels, value.labels):
            self.labels += some or ()
        self.score = result.score if self.score is None else self.score


def _read_label_studio(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    """Coordinates are percent of the picture; detections are the ``predictions``, if a task has
    any. Images are named after their files, without the digits that an upload gets.
    """
    document = file.json(_TASKS)
    tasks = document if isinstance(document, list) else [document]
    predicted = side == "det" and any(task.get("predictions") for task in tasks)
    images = []
    for k, task in enumerate(tasks):
        place = f"[{k}]" if document is tasks else ""
        done = next((key for key in _DONE if key in task), "")
        try:
            image = Image(_picture(task))
            if "data" not in task and not done:
                regions = _minimal_regions(file, task, place)
            else:
                key = "predictions" if predicted or not done else done
                regions = _regions(file, task.get(key), f"{place}.{key}")
        except FormatError as error:
            file.log(error, place)
            continue
        _add_regions(file, image, regions, side)
        images.append(image)
    yield from _named_after_pictures(images)


def _picture(task: Mapping[str, Any]) -> str:
    """Return the path of a task's picture; its ID if it has no URL."""
    data = converted(task["data"], dict[str, Any]) if "data" in task else task
    texts = {key: value for key, value in data.items() if isinstance(value, str)}
    keys = [*_IMAGE_KEYS, *(texts if "data" in task else ())]
    url = next((texts[key] for key in keys if key in texts), "")
    if not url or url.startswith("data:"):
        if "id" not in task:
            raise FormatError("a task without a picture and id", "one of them")
        return str(task["id"])
    path = unquote(_HOST_OR_FOLDER.sub("", url).partition("?")[0])
    folder, slash, name = path.rpartition("/")
    if "upload" in folder.split("/"):
        name = UPLOADED.sub("", name)
    return folder + slash + name


def _regions(file: File, sets: Any, place: str) -> list[_Region]:
    """Return the regions of the first annotation that was not cancelled."""
    regions: dict[Any, _Region] = {}
    annotations = [
        (k, annotation)
        for k, annotation in enumerate(converted(sets or [], list[_Annotation]))
        if not annotation.was_cancelled
    ]
    file.notes[_SEVERAL] += len(annotations) > 1
    for k, annotation in annotations[:1]:
        for j, item in enumerate(annotation.result):
            at = f"{place}[{k}].result[{j}]"
            try:
                result = converted(item, _Result)
            except FormatError as error:
                file.log(error, at)
                continue
            regions.setdefault(at if result.id is None else result.id, _Region(at)).add(result, at)
    return list(regions.values())


def _minimal_regions(file: File, task: Mapping[str, Any], place: str) -> list[_Region]:
    """Return the regions of a task of JSON-MIN, which has a list of shapes for each control: a
    shape is in the list of boxes, and again in that of its labels.
    """
    regions: dict[Any, _Region] = {}
    texts = task.get("transcription") or []
    texts = texts if isinstance(texts, list) else [texts]
    has_texts = not texts
    for key, shapes in task.items():
        is_shapes = isinstance(shapes, list) and shapes and isinstance(shapes[0], dict)
        if not is_shapes or "original_width" not in shapes[0]:
            continue
        times: dict[Any, int] = {}
        for k, shape in enumerate(shapes):
            at = f"{place}.{key}[{k}]"
            try:
                value = converted(shape, _Value)
            except FormatError as error:
                file.log(error, at)
                continue
            if len(texts) == len(shapes) and isinstance(texts[k], str):
                value.text, has_texts = texts[k], True
            box_and_turn = (value.x, value.y, value.width, value.height, value.rotation)
            outline = (box_and_turn, value.radius_x, value.radius_y, tuple(value.points or ()))
            times[outline] = times.get(outline, 0) + 1
            result = _Result(value, None, value.original_width, value.original_height)
            regions.setdefault((outline, times[outline]), _Region(at)).add(result, at)
    file.notes[_TEXTS_LOST] += not has_texts
    return list(regions.values())


def _add_regions(file: File, image: Image, regions: Sequence[_Region], side: Side) -> None:
    shapes = [region.shape for region in regions if region.shape is not None]
    sizes = ((shape.original_width or 0, shape.original_height or 0) for shape in shapes)
    image.width, image.height = next((size for size in sizes if all(size)), (0, 0))
    image.fractions = bool(shapes) and not image.width
    scale = (image.width or 1) / 100, (image.height or 1) / 100

    def read(region: _Region) -> TextObject | None:
        if region.shape is None:
            return None
        points = _label_studio_points(file, region.shape, scale, image.fractions)
        if points is None:
            return None
        return TextObject(
            points,
            region.text,
            side == "gt" and DONT_CARE in (region.text, *region.labels),
            confidence=region.score,
            label=next(iter(region.labels), ""),
        )

    image.objects = file.each(((region.place, region) for region in regions), read)


def _label_studio_points(
    file: File, shape: _Result, scale: tuple[float, float], in_fractions: bool
) -> Sequence[float] | None:
    """Return a shape's points; None if it has no area."""
    value, (by_x, by_y) = shape.value, scale
    if shape.image_rotation:
        found = f"a picture that was turned by {shape.image_rotation:g} degrees"
        raise FormatError(found, "0: annotate the picture as its file has it", ("image_rotation",))
    if value.points is not None:
        return polygon(flat((x * by_x, y * by_y) for x, y in value.points))
    angle = math.radians(value.rotation or 0)
    if angle and in_fractions:
        expected = "original_width and original_height"
        raise FormatError("a turned shape, and no size of the picture", expected)
    if value.rle is None and (value.x is None or value.y is None):
        raise FormatError("a shape without x and y", "both, in percent of the picture", ("value",))
    x, y = (value.x or 0) * by_x, (value.y or 0) * by_y
    if value.radius_x is not None and value.radius_y is not None:
        file.notes[BOXED] += 1
        return _ellipse((x, y, value.radius_x * by_x, value.radius_y * by_y), angle)
    if value.rle is not None or value.width is None or value.height is None:
        file.notes[LEFT_OUT] += 1
        return None
    straight = box(x, y, value.width * by_x, value.height * by_y)
    return turned(straight, angle, (x, y)) if angle else straight


def _is_label_studio(head: Head) -> str:
    task = head.json[0] if isinstance(head.json, list) and head.json else head.json
    if not isinstance(task, dict):
        return ""
    if "data" in task and any(isinstance(task.get(key), list) for key in (*_DONE, "predictions")):
        return "tasks with the keys data and annotations (or predictions)"
    is_minimal = task is not head.json and "annotator" in task and "annotation_id" in task
    return "tasks with the keys annotator and annotation_id" if is_minimal else ""


LABEL_STUDIO = Format(
    "label-studio",
    "Label Studio: JSON or JSON-MIN of tasks",
    _read_label_studio,
    _is_label_studio,
    (".json",),
    layout='[{"data": {"image"}, "annotations": [{"result": [{"id", "original_width",'
    ' "original_height", "value": {"x", "y", "width", "height", "rotation", "text"}}]}]}]',
    one_document=True,
)
