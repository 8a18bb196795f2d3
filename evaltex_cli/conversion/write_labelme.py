"""labelme: a JSON file for each image. Boxes are rectangles; don't care is the flag ``difficult``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from evaltex_cli.conversion.archives import Entry, write_archive
from evaltex_cli.conversion.base import Block, Holds, Job, Writer, plain
from evaltex_cli.conversion.holding import Shape, picture_files, pictures, vertices
from evaltex_cli.formats.base import DONT_CARE

_HOLDS = Holds(dont_care=True, boxes=True, marks=(DONT_CARE,))


def _write(job: Job, blocks: Iterable[Block]) -> None:
    write_archive(job, ".json", _entries(job, blocks))


def _entries(job: Job, blocks: Iterable[Block]) -> Iterator[Entry]:
    files = picture_files(job)
    for picture in pictures(job, blocks, _HOLDS):
        document: dict[str, Any] = {
            "version": "5.4.1",
            "flags": {},
            "shapes": list(map(_shape, picture.shapes)),
            "imagePath": files[picture.name],
            "imageData": None,
            "imageHeight": plain(picture.height),
            "imageWidth": plain(picture.width),
        }
        yield Entry(picture.name, json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


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


WRITER = Writer("labelme", "labelme: a .zip of JSON files, one per image", _write, ".zip", _HOLDS)
