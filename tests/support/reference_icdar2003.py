"""ICDAR 2003 written out plainly, one pair of rectangles after the other."""

from __future__ import annotations

import math

from reference_deteval import Box, common, sides

Scene = tuple[list[Box], list[bool], list[Box]]
"""Ground truth, which of it is don't care, and detections."""


def quality(a: Box, b: Box, match: str) -> float:
    """The match of two boxes, corners taken for pixels."""
    if not common(a, b, 1):
        return 0.0
    if match == "dice":
        return 2 * common(a, b, 1) / (math.prod(sides(a, 1)) + math.prod(sides(b, 1)))
    around = min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])
    return common(a, b, 1) / math.prod(sides(around, 1))


def plain_totals(scene: Scene, match: str, theta: float) -> dict[str, float]:
    gt, dont_care, det = scene
    cared = [g for g, ignored in zip(gt, dont_care, strict=True) if not ignored]
    others = [g for g, ignored in zip(gt, dont_care, strict=True) if ignored]
    counted = [
        d for d in det if all(common(g, d, 1) / math.prod(sides(d, 1)) <= theta for g in others)
    ]
    return {
        "counted_gt_objects": len(cared),
        "counted_detections": len(counted),
        "recall_credit": sum(
            max((quality(g, d, match) for d in counted), default=0) for g in cared
        ),
        "precision_credit": sum(
            max((quality(g, d, match) for g in cared), default=0) for d in counted
        ),
    }
