"""labelme: a JSON file for each image. Boxes are rectangles; don't care is
the flag ``difficult``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from evaltex_cli.conversion.archives import writer
from evaltex_cli.conversion.base import Holds, Job, plain
from evaltex_cli.conversion.holding import Picture, Shape, vertices
from evaltex_cli.marks import DATA_MARK
from evaltex_cli.old_formats.base import DONT_CARE

_HOLDS = Holds(dont_care=True, boxes=True, marks=(DONT_CARE,))
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=1).encode


def _document(_: Job, picture: Picture, file: str) -> Iterator[str]:
    document: dict[str, Any] = {
        **DATA_MARK,
        "version": "5.4.1",
        "flags": {},
        "shapes": [],
        "imagePath": file,
        "imageData": None,
        "imageHeight": plain(picture.height),
        "imageWidth": plain(picture.width),
    }
    before, shapes, after = _JSON(document).partition('"shapes": []')
    yield before + shapes[:-1]
    separator = "\n  "
    for shape in picture.shapes():
        yield separator + _JSON(_shape(shape)).replace("\n", "\n  ")
        separator = ",\n  "
    yield ("\n ]" if picture.count else "]") + after + "\n"


def _shape(shape: Shape) -> dict[str, Any]:
    corners = vertices(shape)
    made = {
        "label": shape.text,
        "points": [corners[0], corners[2]] if shape.is_box else corners,
        "group_id": None,
        "description": shape.text,
        "shape_type": "rectangle" if shape.is_box else "polygon",
        "flags": {"difficult": True} if shape.dont_care else {},
    }
    return made if shape.confidence is None else made | {"score": shape.confidence}


WRITER = writer("labelme", "labelme: JSON files, one per image", _HOLDS, _document)
