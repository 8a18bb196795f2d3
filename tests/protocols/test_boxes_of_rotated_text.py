"""Protocols that take bounding boxes say so where text is rotated or curved, and for what share."""

from __future__ import annotations

import math

import pytest

from evaltex_cli import evaluate
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load

OF_BOXES = ["deteval", "icdar2013", "icdar2003"]
WORD = (100.0, 20.0)


def turned(degrees: float, width: float = WORD[0], height: float = WORD[1]) -> list[float]:
    """Corners of a rectangle about (300, 300)."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = ((-width, -height), (width, -height), (width, height), (-width, height))
    return [v for x, y in corners for v in (300 + (c * x - s * y) / 2, 300 + (s * x + c * y) / 2)]


def warned(protocol: str, *objects: list[float], **parameters: object) -> list[str]:
    """What is said of bounding boxes; each object is in an image of its own, and found."""
    shapes = [[one] for one in objects]
    found = evaluate(shapes, shapes, protocol, **parameters).warnings
    return [text for text in found if "bounding box" in text]


@pytest.mark.parametrize("protocol", OF_BOXES)
def test_rotated_text(protocol: str) -> None:
    assert warned(protocol, turned(0), turned(30), turned(-30), turned(2)) == [
        f"{protocol}: 2 rotated or curved objects (50%) are scored by their bounding boxes, more"
        " than 1.5 times as large; set shape=polygon to score what is drawn"
    ]


@pytest.mark.parametrize("protocol", OF_BOXES)
def test_upright_text_in_four_corners_and_slightly_turned_text(protocol: str) -> None:
    assert warned(protocol, turned(0), turned(2), turned(-1.5, 250)) == []
    assert warned(protocol, [10, 10, 110, 30]) == []


def test_no_other_protocol_takes_the_boxes() -> None:
    without_texts = [name for name in PROTOCOLS if "texts" not in load(name).needs]
    by_boxes = []
    for name in without_texts:
        convention = load(name).convention(load(name).parameters())
        by_boxes += [name] if convention and (convention.as_boxes or convention.inclusive) else []
    assert [name for name in without_texts if warned(name, turned(30))] == by_boxes
    assert set(OF_BOXES) <= set(by_boxes)
