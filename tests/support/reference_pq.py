"""PQ of one image written out plainly, with shapely: an object is a list of
polygons that belong together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import shapely

Ring = Sequence[tuple[float, float]]
Object = tuple[list[Ring], str, bool]
"""The polygons of a word, line or paragraph, its text, and whether it is don't care."""


def plain_totals(gt: list[Object], det: list[Object], text: bool = False) -> dict[str, float]:
    """The counts and the sum of IoUs of an image."""
    cared = [(union(rings), read) for rings, read, dont_care in gt if not dont_care]
    others = [union(rings) for rings, _, dont_care in gt if dont_care]
    found = [(union(rings), read) for rings, read, _ in det]
    counted = [
        (shape, read)
        for shape, read in found
        if all(shape.intersection(g).area <= 0.5 * shape.area for g in others)
    ]
    table = [[iou(g, d) for d, _ in counted] for g, _ in cared]
    pairs = []
    for i, row in enumerate(table):
        for j, value in enumerate(row):
            column = [other[j] for other in table]
            if value > 0.5 and row.index(max(row)) == j and column.index(max(column)) == i:
                pairs.append((i, j))
    if text:
        pairs = [(i, j) for i, j in pairs if cared[i][1] == counted[j][1]]
    return {
        "counted_gt_objects": len(cared),
        "counted_detections": len(counted),
        "pairs": len(pairs),
        "iou_sum": sum(table[i][j] for i, j in pairs),
    }


def union(rings: list[Ring]) -> Any:
    return shapely.union_all([shapely.Polygon(ring) for ring in rings])


def iou(one: Any, other: Any) -> float:
    value: float = one.intersection(other).area / one.union(other).area
    return round(value, 9)
