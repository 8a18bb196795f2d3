"""PopEval, one image at a time, candidates found again at every step: what the protocol's lists, which
are updated, have to agree with.

Hulls, areas and inner points are shapely's. An object is its vertices (whole numbers), its text,
and whether it is don't care.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from shapely import MultiPoint
from shapely.geometry.base import BaseGeometry


@dataclass(frozen=True)
class Word:
    points: tuple[tuple[float, float], ...]
    text: str
    dont_care: bool = False

    @property
    def hull(self) -> BaseGeometry:
        return MultiPoint(self.points).convex_hull


@dataclass(frozen=True)
class Result:
    gt_characters: int
    det_characters: int
    removed: list[tuple[int, int, int]]


def in_dont_care(word: Word, gt: list[Word]) -> bool:
    area = word.hull.area
    return any(
        other.dont_care and area > 0 and other.hull.intersection(word.hull).area / area > 0.5
        for other in gt
    )


def evaluate(gt: list[Word], det: list[Word]) -> Result:
    objects = {i: list(word.text) for i, word in enumerate(gt) if not word.dont_care and word.text}
    detections = {j: list(word.text) for j, word in enumerate(det) if not in_dont_care(word, gt)}
    gt_characters, det_characters = (sum(map(len, side.values())) for side in (objects, detections))
    gt_hulls, det_hulls = [word.hull for word in gt], [word.hull for word in det]
    inner = [hull.representative_point() for hull in gt_hulls]
    distance = [math.hypot(point.x, point.y) for point in inner]
    meets = {(i, j) for i in objects for j in detections if gt_hulls[i].intersects(det_hulls[j])}
    removed = []

    def cross_out(i: int, j: int) -> None:
        common = Counter(objects[i]) & Counter(detections[j])
        for character in common.elements():
            objects[i].remove(character)
            detections[j].remove(character)
        if common:
            removed.append((i, j, common.total()))

    while True:
        candidates = {
            i: [j for j in detections if (i, j) in meets and set(objects[i]) & set(detections[j])]
            for i in objects
        }
        single = [(distance[i], i) for i, found in candidates.items() if len(found) == 1]
        several = [(distance[i], i) for i, found in candidates.items() if len(found) > 1]
        if single:
            i = min(single)[1]
            cross_out(i, candidates[i][0])
        elif several:
            i = min(several)[1]
            area = gt_hulls[i].area
            share = {
                j: det_hulls[j].intersection(gt_hulls[i]).area / area if area else 0
                for j in candidates[i]
            }
            for j in [j for j in candidates[i] if share[j] == max(share.values())]:
                cross_out(i, j)
        else:
            return Result(gt_characters, det_characters, removed)
