"""Average precision as the competition's script and CTW1500's compute it, in plain loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import shapely


@dataclass
class Found:
    """A detection that counts: its confidence, and whether it is a pair of the script."""

    confidence: float
    matched: bool


def rrc(found: Sequence[Found], objects: int) -> float:
    """The competition's: precision at each pair, in the order of confidence, over the objects."""
    correct, total = 0, 0.0
    ordered = sorted(found, key=lambda one: -one.confidence)  # stable
    for rank, one in enumerate(ordered, 1):
        if one.matched:
            correct += 1
            total += correct / rank
    return total / objects


def file_order(images: Sequence[tuple[list[shapely.Polygon], list[shapely.Polygon]]]) -> float:
    """CTW1500's, of ground truth and detections of each image."""
    flags: list[bool] = []
    objects = sum(len(gt) for gt, _ in images)
    for gt, det in images:
        used = [False] * len(gt)
        for one in det:
            if not one.is_valid:
                continue
            ious = [
                one.intersection(other).area / one.union(other).area if other.is_valid else 0.0
                for other in gt
            ]
            best = max(range(len(gt)), key=lambda k: (ious[k], -k)) if gt else -1
            right = bool(gt) and ious[best] > 0.5 and not used[best]
            if right:
                used[best] = True
            flags.append(right)
    recall, precision, right_so_far = [0.0], [0.0], 0
    for rank, flag in enumerate(flags, 1):
        right_so_far += flag
        recall.append(right_so_far / objects)
        precision.append(right_so_far / rank)
    recall.append(1.0)
    precision.append(0.0)
    for k in range(len(precision) - 2, -1, -1):
        precision[k] = max(precision[k], precision[k + 1])
    return sum(
        (recall[k + 1] - recall[k]) * precision[k + 1]
        for k in range(len(recall) - 1)
        if recall[k + 1] != recall[k]
    )
