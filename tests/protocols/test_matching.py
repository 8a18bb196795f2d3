"""Kinds of matches, partners and values of objects, against a scene whose
every relation is known.
"""

from __future__ import annotations

import numpy as np
import pytest

from evaltex_cli.protocols.matching import (
    MATCH_TYPES,
    matches,
    mean_of,
)

PAIRS = ((0, 0), (1, 2), (1, 1), (3, 3), (2, 3), (4, 5), (5, 5), (4, 4))
"""One to one; one object, two detections; two objects, one detection; and a
chain 4 - 5 of two and two.
"""
GT_TYPES = [
    *("one-to-one", "one-to-many", "many-to-one", "many-to-one", "many-to-many", "many-to-one"),
    *("missed", "ignored", "missed"),
]
DET_TYPES = [
    *("one-to-one", "one-to-many", "one-to-many", "many-to-one", "one-to-many", "many-to-many"),
    *("false-positive", "ignored"),
]
GT, DET = np.array(PAIRS, np.int64).T
GT_COUNTS, DET_COUNTS = (
    np.array([kind != "ignored" for kind in GT_TYPES]),
    np.arange(len(DET_TYPES)) != 7,
)


def named(kinds: np.ndarray) -> list[str]:
    assert kinds.dtype == np.uint8
    return [MATCH_TYPES[kind] for kind in kinds.tolist()]


def test_types_partners_and_values_of_both_sides() -> None:
    """Of objects 4 and 5 and detections 4 and 5, only those that have two
    partners on both sides are many to many.
    """
    values = {"area": np.arange(9.0)}, {"rank": np.arange(8), "is_first": np.arange(8) == 0}
    found = matches(GT, DET, GT_COUNTS, DET_COUNTS, *values)
    gt, det = found
    assert (named(gt.types), named(det.types)) == (GT_TYPES, DET_TYPES)
    assert gt.offsets.tolist() == [0, 1, 3, 4, 5, 7, 8, 8, 8, 8]
    assert gt.partners.tolist() == [0, 1, 2, 3, 3, 4, 5, 5]
    assert det.offsets.tolist() == [0, 1, 2, 3, 5, 6, 8, 8, 8]
    assert det.partners.tolist() == [0, 1, 1, 2, 3, 4, 4, 5]
    np.testing.assert_array_equal(gt.values["area"], [0, 1, 2, 3, 4, 5, 6, np.nan, 8])
    np.testing.assert_array_equal(det.values["rank"], [0, 1, 2, 3, 4, 5, 6, np.nan])
    np.testing.assert_array_equal(det.values["is_first"], [1, 0, 0, 0, 0, 0, 0, np.nan])
    assert list(det.values) == ["rank", "is_first"]


@pytest.mark.parametrize(("names", "expected"), [(("a",), [1, 0, 0]), (("a", "b"), [0.75, 1, 0])])
def test_a_mean_takes_undefined_values_as_zero(
    names: tuple[str, ...], expected: list[float]
) -> None:
    values = {"a": np.array([1, np.nan, 0]), "b": np.array([0.5, 2, np.nan])}
    assert mean_of(*names)(np.zeros(3, np.uint8), values).tolist() == expected
