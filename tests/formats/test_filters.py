"""Objects that are left out: of other classes, of low confidence, don't care, or invalid polygons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evaltex_cli.formats.base import Image, Source, TextObject
from evaltex_cli.formats.columns import columns
from evaltex_cli.formats.filters import (
    NOWHERE,
    treat_invalid,
)

BOX, BOW_TIE = (0, 0, 9, 9), (0, 0, 9, 9, 9, 0, 0, 9)
FLAT = (0, 0, 5, 5, 9, 9)


def source(*images: list[TextObject]) -> Source:
    """Images a, b, ..., of these objects."""
    read = columns([Image("ab"[k], own) for k, own in enumerate(images)])
    return replace(read, path="gt.json", files=())


@pytest.mark.parametrize(
    ("policy", "side", "boxes", "counts"),
    [
        ("repair", "gt", [BOX, BOX, BOX], (1, 0, 1)),
        ("drop", "gt", [BOX], (0, 2, 0)),
        ("skip", "det", [BOX], (0, 2, 0)),
        ("skip", "gt", [BOX, [NOWHERE] * 4, [NOWHERE] * 4], (0, 2, 0)),
    ],
)
def test_invalid_polygons(policy: str, side: str, boxes: list, counts: tuple[int, ...]) -> None:
    """What nothing can match has a region of its own."""
    objects = source([TextObject(BOX), TextObject(BOW_TIE, region=1), TextObject(FLAT)]).objects
    found, counted, why = treat_invalid(objects, policy, side)  # type: ignore[arg-type]
    assert (counted.repaired, counted.dropped, counted.zero_area) == counts
    np.testing.assert_array_equal(found.boxes, boxes)
    assert why == {} and len(set(found.regions.tolist())) == len(boxes) - (policy == "repair")


def test_invalid_polygons_are_explained() -> None:
    objects = source([TextObject(BOX), TextObject(BOW_TIE)]).objects
    assert "crosses or touches itself" in treat_invalid(objects, "error", "gt")[2][1]
