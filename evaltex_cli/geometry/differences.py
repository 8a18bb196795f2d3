"""What remains of shapes of which others are cut out."""

from __future__ import annotations

import numpy as np

from evaltex_cli import geometry
from evaltex_cli.geometry import shapes
from evaltex_cli.geometry.overlaps import touching_boxes
from evaltex_cli.geometry.shapes import Shapes
from evaltex_cli.records import Bools, Geometries, Ints, distinct


def uncovered(of: Shapes, offsets: Ints, dont_care: Bools, which: Ints) -> Geometries:
    """Return what some don't-care objects have to themselves: objects of their image that count
    are cut out of them.

    Parameters
    ----------
    of : Shapes
        Of all n objects.
    offsets : (images + 1,) int64
        Which image owns which.
    dont_care : (n,) bool
    which : (k,) int64
        Don't-care objects, ascending.

    Returns
    -------
    (n,) geometries
        None where nothing was cut out.
    """
    counting = np.flatnonzero(~dont_care)
    of_which, of_counting = (np.searchsorted(side, offsets) for side in (which, counting))
    target, other = touching_boxes(of.boxes[which], of_which, of.boxes[counting], of_counting)
    target, other = which[target], counting[other]
    overlap = shapes.meet(of, target, of, other)
    target, other = target[overlap], other[overlap]
    result: Geometries = np.full(len(of.boxes), None, dtype=object)
    if not len(target):
        return result
    touched = distinct(target)
    result[touched] = shapes.geometries(of, touched)
    others = np.split(shapes.geometries(of, other), np.searchsorted(target, touched[1:]))
    for row, some in zip(touched.tolist(), others, strict=True):
        # One cut of all together: each of many cuts takes as long as what remains has vertices.
        together = geometry.geos.union_all(some.tolist())
        result[row] = geometry.geos.difference(result[row], together)
    return result
