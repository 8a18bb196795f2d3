"""Boxes of one image in the text format of EvaLTex, and what EvaLTex says of its objects."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from PIL import Image

import evaltex_cli
from evaltex_cli.results.result_document import json_of

PLAIN = {"det_border": 0, "region": False}
Labels = dict[str, np.ndarray]
"""Label pictures by the names of their images."""


def gt(*objects: str, name: str = "img_1") -> str:
    """A ground truth of one image; an object is 'x,y,w,h' (region 1) or
    'region:x,y,w,h', with '!' first a reject.
    """
    lines = []
    for i, text in enumerate(objects, start=1):
        region, _, numbers = text.lstrip("!").rpartition(":")
        lines.append(f'{i},{region or 1},"",{"t" if text.startswith("!") else "f"},{numbers}')
    return "\n".join([name, "200,300", *lines, ""])


def det(*objects: str, name: str = "img_1") -> str:
    return "\n".join(
        [name, *(f'{j},"",{numbers}' for j, numbers in enumerate(objects, start=1)), ""]
    )


def evaluate(
    gt: str,
    det: str,
    parameters: dict[str, Any] | None = None,
    gt_labels: Labels | None = None,
    det_labels: Labels | None = None,
) -> dict[str, Any]:
    """The scores of both texts, and the scores, objects and detections of each image; with label
    pictures the objects are their pixels.
    """
    with TemporaryDirectory() as place:
        folder, pictures = Path(place), {}
        for side, text, labels in (("gt", gt, gt_labels), ("det", det, det_labels)):
            (folder / f"{side}.txt").write_text(text, encoding="utf-8")
            if labels is not None:
                pictures[f"{side}_images"] = save(folder / side, labels)
        found = evaltex_cli.evaluate(
            *(folder / "gt.txt", folder / "det.txt"),
            gt_format="evaltex",
            det_format="evaltex",
            per_image=True,
            **pictures,
            params=parameters,
        )
    images = {
        image.name: {key: json_of(image)[key] for key in ("scores", "objects", "detections")}
        for image in found.images
    }
    return {"scores": found.scores, "images": images}


def save(folder: Path, labels: Labels) -> Path:
    folder.mkdir()
    for name, picture in labels.items():
        Image.fromarray(picture).save(folder / f"{name}.png")
    return folder


def objects_of(result: dict[str, Any], name: str = "img_1") -> dict[int, dict[str, Any]]:
    return {one["id"]: one for one in result["images"][name]["objects"]}


def local(result: dict[str, Any], i: int) -> tuple[str, float, float]:
    """Match, coverage without split, accuracy of an object."""
    one = objects_of(result)[i]
    return (
        one["match"],
        pytest.approx(one["coverage_no_split"], abs=1e-12),
        pytest.approx(one["accuracy"], abs=1e-12),
    )


def det_matches(result: dict[str, Any]) -> dict[int, tuple[str, list[int]]]:
    return {
        one["id"]: (one["match"], one["objects"]) for one in result["images"]["img_1"]["detections"]
    }
