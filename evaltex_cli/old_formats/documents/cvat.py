"""CVAT's XML for images: ``annotations / image / box, polygon``, all images of a task in one
document.

A box may have a ``rotation`` in degrees, clockwise, about its centre. An ``attribute`` is the
transcription, or a flag of don't care, by its name (`annotation_tools.TEXTS`,
`annotation_tools.FLAGS`). Of an ellipse the bounding box is taken; points, polylines and masks are
left out, with a warning.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from evaltex_cli.errors import FaultLog, FormatError
from evaltex_cli.old_formats.base import Format, Side
from evaltex_cli.old_formats.collected import Images
from evaltex_cli.old_formats.coordinates import polygon, turned
from evaltex_cli.old_formats.documents import document_files, recognition, safe_xml
from evaltex_cli.old_formats.documents.annotation_tools import (
    Others,
    ellipse,
    is_dont_care,
    text_of,
)
from evaltex_cli.old_formats.documents.document_files import Collected, Document
from evaltex_cli.old_formats.documents.safe_xml import Element
from evaltex_cli.old_formats.files.image_names import names_of_pictures
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

_WITHOUT_AREA = ("points", "polyline", "mask", "cuboid", "skeleton")
_NO_SHAPES = ("tag", "attribute")


def _collect(document: Document, side: Side, faults: FaultLog) -> Collected:
    root, place = document.value, document.place
    if root.child("track"):
        at = root.needed("track").at
        raise FormatError(
            "tracks of a video", "an export as 'CVAT for images', which has each image", at=at
        )
    images, others = Images(), Others()
    subsets: dict[str, int] = {}
    numbers = array("i")
    for element in root:
        if element.name != "image":
            continue
        try:
            height, width = (element.number(one, 0.0) for one in ("height", "width"))
            image = CollectedImage(
                element.attributes.get("name", ""), place, element.at, height, width
            )
        except FormatError as error:
            error.log(faults, place)
            continue
        subset = element.attributes.get("subset", "default")
        numbers.append(subsets.setdefault(subset, len(subsets)))
        _add_objects(image, element, side, others, faults)
        images.append(image)
    if len(set(images.names)) < len(
        images
    ):  # tasks of a project may have the same pictures in different subsets
        of = list(subsets)
        images.rename(f"{of[k]}/{name}" for k, name in zip(numbers, images.names, strict=True))
    images.rename(names_of_pictures(images.names))
    return images, others.warnings(place)


def _add_objects(
    image: CollectedImage, element: Element, side: Side, others: Others, faults: FaultLog
) -> None:
    for shape in element:
        if shape.name in _WITHOUT_AREA:
            others.left_out += 1
        elif shape.name not in _NO_SHAPES:
            with faults.catching(image.place):
                image.add(_object(shape, side, others))


def _object(shape: Element, side: Side, others: Others) -> CollectedObject:
    attributes = {
        one.attributes.get("name", ""): one.text.strip() for one in shape if one.name == "attribute"
    }
    text = text_of(attributes)
    dont_care = side == "gt" and is_dont_care(attributes, text, shape.attributes.get("label", ""))
    with safe_xml.about(shape):
        return CollectedObject(_coordinates(shape, dont_care, others), text, dont_care, at=shape.at)


def _coordinates(shape: Element, dont_care: bool, others: Others) -> Sequence[float]:
    angle = math.radians(shape.number("rotation", 0.0))
    if shape.name == "polygon":
        text = shape.attributes.get("points", "").replace(";", " ")
        return polygon(safe_xml.numbers(text, "points", shape), dont_care)
    if shape.name == "ellipse":
        others.boxed += 1
        x, y, across, down = (shape.number(name) for name in ("cx", "cy", "rx", "ry"))
        return ellipse((x, y), (across, down), angle)
    if shape.name != "box":
        raise FormatError(f"the shape {shape.name}", "box, polygon or ellipse")
    x0, y0, x1, y1 = (shape.number(name) for name in ("xtl", "ytl", "xbr", "ybr"))
    if x1 < x0 or y1 < y0:
        raise FormatError(
            f"a box from ({x0:g}, {y0:g}) to ({x1:g}, {y1:g})", "xtl <= xbr and ytl <= ybr"
        )
    return turned((x0, y0, x1, y1), angle) if angle else (x0, y0, x1, y1)


FORMAT = Format(
    "cvat",
    "CVAT for images: one XML file",
    lambda path: recognition.has_root(path, "annotations"),
    document_files.index_xml("cvat", _collect),
    recognised_by="root annotations",
    layout="annotations / image name width height / box xtl ytl xbr ybr rotation, polygon points;"
    " attribute name",
    sample='<annotations><image id="0" name="img_1.jpg" width="640" height="480"><box label="text"'
    ' xtl="10" ytl="10" xbr="60" ybr="30"><attribute'
    ' name="transcription">word</attribute></box></image></annotations>',
    ending=".xml",
)
