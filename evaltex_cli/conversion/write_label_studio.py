"""Label Studio: one JSON document of tasks, annotations of ground truth and predictions of
detections.

Coordinates are percent of the picture. The label ``###`` is don't care.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from evaltex_cli.conversion.base import Block, Holds, Job, Writer, plain, target_file, write_list
from evaltex_cli.conversion.holding import Picture, Shape, picture_files, pictures
from evaltex_cli.old_formats.base import DONT_CARE

SIZES_LOST = "{count} image size[s] left out: Label Studio has sizes of images with objects only"
_HOLDS = Holds(dont_care=True, boxes=True, exact=False, marks=(DONT_CARE,))
_SETS = {"gt": "annotations", "det": "predictions"}


def _write(job: Job, blocks: Iterable[Block]) -> None:
    with target_file(job) as file:
        write_list(file, _tasks(job, blocks))
        file.write("\n")


def _tasks(job: Job, blocks: Iterable[Block]) -> Iterator[dict[str, Any]]:
    files = picture_files(job)
    for k, picture in enumerate(pictures(job, blocks, _HOLDS), 1):
        job.lost[SIZES_LOST] += not picture.count
        results = [
            result
            for i, shape in enumerate(picture.shapes(), 1)
            for result in _results(picture, shape, i)
        ]
        yield {
            "id": k,
            "data": {"image": quote(files[picture.name], "/ ")},
            _SETS[job.side]: [{"result": results}],
        }


def _results(picture: Picture, shape: Shape, i: int) -> Iterator[dict[str, Any]]:
    """Yield the shape with its label, and its transcription."""
    kind = "rectangle" if shape.is_box else "polygon"
    across, down = 100 / picture.width, 100 / picture.height
    value: dict[str, Any] = {"points": [[x * across, y * down] for x, y in shape.corners]}
    if shape.is_box:
        x0, y0, x1, y1 = shape.coordinates
        value = {
            "x": x0 * across,
            "y": y0 * down,
            "width": (x1 - x0) * across,
            "height": (y1 - y0) * down,
        }
        value["rotation"] = 0
    common = {
        "id": str(i),
        "to_name": "image",
        "original_width": plain(picture.width),
        "original_height": plain(picture.height),
        "image_rotation": 0,
    }
    score = {} if shape.confidence is None else {"score": shape.confidence}
    label = {f"{kind}labels": [DONT_CARE if shape.dont_care else "Text"]}
    yield {**common, **score, "type": f"{kind}labels", "from_name": "label", "value": value | label}
    if shape.text:
        text = {"text": [shape.text]}
        yield {
            **common,
            **score,
            "type": "textarea",
            "from_name": "transcription",
            "value": value | text,
        }


WRITER = Writer("label-studio", "Label Studio: JSON of tasks", _write, ".json", _HOLDS)
