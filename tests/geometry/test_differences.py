"""What don't-care objects have to themselves, beside one difference after another."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from evaltex_cli.geometry import differences, shapes
from evaltex_cli.geometry.differences import cuts


@pytest.mark.parametrize("at_once", [1, 50, 1 << 15])
@pytest.mark.parametrize("seed", range(10))
def test_what_remains_is_what_one_difference_after_another_leaves(
    seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differences, "_VERTICES_AT_ONCE", at_once)
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
    cut = cuts(of, offsets, dont_care, which)
    made = [cut.remains(*part) for part in cut.parts()]
    remains = dict(zip(cut.rows.tolist(), np.concatenate(made) if made else [], strict=True))
    for i in range(14):
        image = slice(0, 8) if i < 8 else slice(8, 14)
        others = outlines[image][~dont_care[image]]
        expected = outlines[i]
        for other in others:
            expected = shapely.difference(expected, other)
        if i not in which or shapely.area(expected) == pytest.approx(shapely.area(outlines[i])):
            assert i not in remains
        else:
            assert shapely.area(remains[i]) == pytest.approx(shapely.area(expected))
            assert shapely.area(shapely.symmetric_difference(remains[i], expected)) < 1e-9
