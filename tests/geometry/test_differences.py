"""What don't-care objects have to themselves, beside one difference after another."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.differences import uncovered


@pytest.mark.parametrize("seed", range(20))
def test_uncovered_is_what_is_left_by_one_difference_after_another(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 30, (14, 2))
    boxes = np.concatenate([first, first + rng.integers(1, 30, (14, 2))], axis=1).astype(float)
    outlines = shapely.box(*boxes.T)
    diamonds = seed % 2 == 1
    if diamonds:
        x0, y0, x1, y1 = boxes.T
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        corners = np.stack([x, y0, x1, y, x, y1, x0, y], axis=1).reshape(-1, 4, 2)
        outlines = shapely.polygons(corners)
    dont_care, offsets = rng.random(14) < 0.5, np.array([0, 8, 14])
    of = shapes.from_geometries(boxes, outlines) if diamonds else shapes.Shapes(boxes)
    which = np.flatnonzero(dont_care)[:-1]
    remains = uncovered(of, offsets, dont_care, which)
    for i in range(14):
        image = slice(0, 8) if i < 8 else slice(8, 14)
        others = outlines[image][~dont_care[image]]
        expected = outlines[i]
        for other in others:
            expected = shapely.difference(expected, other)
        if i not in which or shapely.area(expected) == pytest.approx(shapely.area(outlines[i])):
            assert remains[i] is None
        else:
            assert shapely.area(remains[i]) == pytest.approx(shapely.area(expected))
            assert shapely.area(shapely.symmetric_difference(remains[i], expected)) < 1e-9
