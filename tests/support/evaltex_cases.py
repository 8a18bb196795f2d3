"""Boxes of one image in the text format of EvaLTex, and their local scores by the reference."""

from typing import Any

import pytest

PLAIN = {"det_border": 0, "region": False}


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


def objects_of(result: dict[str, Any], name: str = "img_1") -> dict[str, dict[str, Any]]:
    return {o["id"]: o for o in result["images"][name]["objects"]}


def local(result: dict[str, Any], i: int) -> tuple[str, float, float]:
    """Match, coverage without split, accuracy of an object."""
    o = objects_of(result)[str(i)]
    return (
        o["match"],
        pytest.approx(o["coverage_no_split"], abs=1e-12),
        pytest.approx(o["accuracy"], abs=1e-12),
    )


def det_matches(result: dict[str, Any]) -> dict[str, tuple[str, list[str]]]:
    return {d["id"]: (d["match"], d["objects"]) for d in result["images"]["img_1"]["detections"]}
