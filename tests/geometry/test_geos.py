"""Overlays of shapes whose numbers are too far apart for GEOS, and the
silence of what it does with zeros and NaN.
"""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from evaltex_cli.geometry import geos, polygons

LEAF = shapely.Polygon(
    [
        (0.23416153200212453, -0.08756926932673359),
        (0.22113210019051524, -0.04615585868048883),
        (0.13523330148866025, 0.2102663885847596),
        (0.001342903253185594, 0.24999554714763453),
        (-0.03738290879488442, 0.24652528012514643),
    ]
)
WIDE = 1 - 2.0**-53


def box(bottom: float) -> shapely.Polygon:
    return shapely.box(-WIDE, bottom, WIDE, 0.25)


ALMOST_ZERO, ZERO = box(-1e-308), box(0.0)


def test_the_overlay_that_fails() -> None:
    """If it no longer does, with any version, this module has nothing left to do."""
    with pytest.raises(shapely.GEOSException):
        shapely.intersection(LEAF, ALMOST_ZERO)


@pytest.mark.parametrize("overlay", [geos.intersection, geos.union, geos.difference])
def test_numbers_too_far_apart_are_moved_to_a_grid(overlay: object) -> None:
    found = overlay(np.array([LEAF, LEAF]), np.array([ALMOST_ZERO, ZERO]))
    assert shapely.area(found[0]) == pytest.approx(shapely.area(found[1]), rel=1e-9)
    assert found[1] == overlay(LEAF, ZERO)  # is what it is without the other
    assert shapely.area(overlay(LEAF, ALMOST_ZERO)) == shapely.area(found[0])


def test_union_of_many() -> None:
    found = geos.union_all([LEAF, ALMOST_ZERO])
    assert shapely.area(found) == pytest.approx(
        shapely.area(shapely.union_all([LEAF, ZERO])), rel=1e-9
    )


def test_unions_of_rows_do_not_depend_on_a_row_that_fails():
    rows = np.array([[LEAF, ZERO], [LEAF, ALMOST_ZERO], [ZERO, ZERO]])
    with pytest.raises(shapely.GEOSException):
        shapely.union_all(rows, axis=1)
    found = geos.unions(rows)
    for row, union in zip(rows, found, strict=True):
        assert union.wkb == geos.union_all(row).wkb
    assert [one.wkb for one in geos.unions(rows[::2])] == [one.wkb for one in found[::2]]


def test_what_fails_on_the_grid_too_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise shapely.GEOSException("no")

    sure = geos._never_failing_each(fails)
    assert sure(LEAF, ZERO).is_empty
    assert [shape.is_empty for shape in sure(np.array([LEAF, LEAF]), np.array([ZERO, ZERO]))] == [
        True,
        True,
    ]


def test_what_cannot_be_made_valid_is_made_so_on_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    bow_tie = shapely.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)])
    real = shapely.make_valid

    def fails(shapes: object) -> object:
        if np.ndim(shapes) or shapes == bow_tie:
            raise shapely.GEOSException("no")
        return real(shapes)

    found = geos._never_failing_each(fails)(np.array([bow_tie, ZERO]))
    assert shapely.is_valid(found).all()
    assert found[1] == ZERO


def test_offsets_of_sides_too_short_for_parallels() -> None:
    """They are what GEOS can make of them, with some version on the grid;
    others are not changed.
    """
    short = shapely.make_valid(
        shapely.Polygon([(0.0, 0.0), (1.0, 0.5), (0.0, 1e-12), (1.175494351e-38, 0.0)])
    )
    square = shapely.box(0, 0, 1, 1)
    found = polygons.offset(np.array([short, square]), np.array([1e-14, 0.1]))
    assert shapely.area(found[0]) == pytest.approx(shapely.area(short), rel=0.1)
    assert found[1] == polygons.offset(np.array([square]), np.array([0.1]))[0]


def test_division_by_zero_on_the_way_is_no_warning() -> None:
    """Every warning fails a test here."""
    ring = np.array([(0.0, 0.0), (0.0, 1e-12), (1.0, 0.0), (1.4901161193847656e-08, 0.25)])
    shape = polygons.repair(np.array([shapely.Polygon(ring)]))
    assert shapely.area(polygons.offset(shape, np.array([0.01])))[0] > shapely.area(shape)[0]
