"""Objects that are left out: of other classes, of low confidence, don't care, or invalid polygons."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from evaltex_cli.errors import InputError
from evaltex_cli.formats.base import Image, Source, TextObject
from evaltex_cli.formats.columns import columns
from evaltex_cli.formats.filters import (
    NOWHERE,
    class_counts,
    only_classes,
    only_confident,
    treat_invalid,
    with_dont_care,
)

BOX, BOW_TIE = (0, 0, 9, 9), (0, 0, 9, 9, 9, 0, 0, 9)
FLAT = (0, 0, 5, 5, 9, 9)


def source(*images: list[TextObject]) -> Source:
    """Images a, b, ..., of these objects."""
    read = columns([Image("ab"[k], own) for k, own in enumerate(images)])
    return replace(read, path="gt.json", files=())


def left(found: Source) -> list[list[int]]:
    """The IDs of each image."""
    ends = found.objects.offsets
    return [found.objects.ids[a:b].tolist() for a, b in pairwise(ends)]


def test_only_some_classes() -> None:
    both = source(
        [TextObject(BOX, label=label) for label in ("text", "logo", "text")], [TextObject(BOX)]
    )
    assert class_counts(both) == {"text": 2, "logo": 1, "": 1}
    assert left(only_classes(both, ["text"])) == [[1, 3], []]
    assert left(only_classes(both, ["logo", "text"])) == [[1, 2, 3], []]
    with pytest.raises(InputError, match="no object of class 'txt', but text, logo"):
        only_classes(both, ["txt"])
    with pytest.raises(InputError, match="no object of class 'text', but none"):
        only_classes(source([TextObject(BOX)]), ["text"])


def test_only_confident() -> None:
    """Exactly the minimum stays, as does an object without a confidence."""
    objects = [TextObject(BOX, confidence=value) for value in (0.4, 0.5, None, 0.6)]
    found = only_confident(source(objects, objects[:1]), 0.5)
    assert (left(found), found.unconfident) == ([[2, 3, 4], []], 2)
    assert left(only_confident(source([TextObject(BOX)]), 1)) == [[1]]


@pytest.mark.parametrize(
    ("policy", "ids", "dont_care"),
    [("ignore", [1, 2], [False, True]), ("count", [1, 2], [False, False]), ("drop", [1], [False])],
)
def test_dont_care(policy: str, ids: list[int], dont_care: list[bool]) -> None:
    found = with_dont_care(source([TextObject(BOX), TextObject(BOX, dont_care=True)]), policy)
    assert (left(found), found.objects.dont_care.tolist()) == ([ids], dont_care)


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
