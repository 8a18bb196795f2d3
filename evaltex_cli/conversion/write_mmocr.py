"""MMOCR 1.x: one JSON document of all images; ``ignore`` is don't care."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from evaltex_cli.conversion.base import Block, Holds, Job, Writer, plain, target_file, write_list
from evaltex_cli.conversion.holding import Shape, flat, picture_files, pictures
from evaltex_cli.marks import DATA_MARK
from evaltex_cli.old_formats.base import DONT_CARE

_HOLDS = Holds(dont_care=True, marks=(DONT_CARE,))
_ABOUT = (
    '"dataset_type": "TextSpottingDataset", "task_name": "textspotting", "category": [{"id":'
    ' 0, "name": "text"}]'
)


def _write(job: Job, blocks: Iterable[Block]) -> None:
    with target_file(job) as file:
        file.write(f'{{{json.dumps(DATA_MARK)[1:-1]},\n"metainfo": {{{_ABOUT}}},\n"data_list": ')
        write_list(file, _records(job, blocks))
        file.write("}\n")


def _records(job: Job, blocks: Iterable[Block]) -> Iterator[dict[str, Any]]:
    files = picture_files(job)
    for picture in pictures(job, blocks, _HOLDS):
        yield {
            "img_path": files[picture.name],
            "height": plain(picture.height),
            "width": plain(picture.width),
            "instances": list(map(_instance, picture.shapes())),
        }


def _instance(shape: Shape) -> dict[str, Any]:
    made = {
        "polygon": flat(shape),
        "bbox": list(map(plain, shape.bounds)),
        "bbox_label": 0,
        "text": shape.text,
        "ignore": shape.dont_care,
    }
    return made if shape.confidence is None else made | {"score": shape.confidence}


WRITER = Writer("mmocr", "MMOCR 1.x: JSON annotations", _write, ".json", _HOLDS)
