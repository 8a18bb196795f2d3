"""What annotation tools write: one document for each image, or for a whole project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.base import File, Format, Image, ReadOptions, Side, TextObject
from evaltex_cli.formats.parsing import number, with_lines

# Pascal VOC ---------------------------------------------------------------------------------------


def _read_voc(file: File, side: Side, options: ReadOptions) -> Iterator[Image]:
    root = file.xml()

    def read(element: Any) -> TextObject:
        box = element.find("bndbox")
        if box is None:
            raise FormatError("object without bndbox", "one")
        corners = [number(box.findtext(name) or "") for name in ("xmin", "ymin", "xmax", "ymax")]
        dont_care = side == "gt" and (element.findtext("difficult") or "0").strip() == "1"
        return TextObject(corners, dont_care=dont_care, label=element.findtext("name") or "")

    objects = file.each(with_lines(root.findall("object")), read)
    height, width = (number(root.findtext(f"size/{name}") or "0") for name in ("height", "width"))
    yield Image(file.stem, objects, height, width)


VOC = Format(
    "voc",
    "Pascal VOC: XML of labelImg and others, one per image",
    _read_voc,
    lambda head: "root annotation" if head.root == "annotation" else "",
    (".xml",),
    layout="object: name, difficult, bndbox: xmin, ymin, xmax, ymax",
)
