"""TedEval, one image at a time, in plain Python: what the array code has to agree with.

Only areas, differences and centroids of polygons are shapely's. An object is its vertices (whole
numbers), its text, and whether it is don't care.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from shapely import Polygon

Point = tuple[float, float]


@dataclass(frozen=True)
class Word:
    points: tuple[Point, ...]
    text: str = ""
    dont_care: bool = False


@dataclass(frozen=True)
class Result:
    recall: list[float]
    precision: list[float]
    ignored: list[bool]
    pairs: set[tuple[int, int]]


def middle(p: Point, q: Point) -> Point:
    return (p[0] + q[0]) / 2, (p[1] + q[1]) / 2


def character_centres(word: Word) -> list[Point]:
    if word.dont_care:
        return []
    p1, p2, p3, p4 = word.points
    width = max(x for x, _ in word.points) - min(x for x, _ in word.points)
    height = max(y for _, y in word.points) - min(y for _, y in word.points)
    if width and height / width > 1.5:
        p1, p2, p3, p4 = p4, p1, p2, p3
    a, b = middle(p1, p4), middle(p2, p3)
    n = len(word.text)
    return [
        (a[0] + (b[0] - a[0]) * (q + 0.5) / n, a[1] + (b[1] - a[1]) * (q + 0.5) / n)
        for q in range(n)
    ]


def crosses(ring: list[Point], x: float, y: float) -> bool:
    inside = False
    for (x0, y0), (x1, y1) in zip([ring[-1], *ring], ring, strict=False):
        if (y0 <= y) != (y1 <= y) and x < (x0 - x1) * (y - y1) / (y0 - y1) + x1:
            inside = not inside
    return inside


def contains(shape: Polygon, x: float, y: float) -> bool:
    inside = False
    for part in getattr(shape, "geoms", [shape]):
        for ring in [part.exterior, *part.interiors] if not part.is_empty else []:
            inside ^= crosses(list(ring.coords)[:-1], x, y)
    return inside


def on_several_lines(words: list[Word]) -> bool:
    pivots = []
    for word in words:
        centre = Polygon(word.points).centroid
        pivots.append((middle(word.points[0], word.points[3]), (centre.x, centre.y)))
    for x, (left, own) in enumerate(pivots):
        for y, (_, other) in enumerate(pivots):
            if x == y:
                continue
            turn = math.degrees(
                math.atan2(own[1] - other[1], own[0] - other[0])
                - math.atan2(left[1] - other[1], left[0] - other[0])
            )
            turn = turn + 360 if turn < 0 else turn
            turn = 360 - turn if turn > 180 else turn
            if min(turn, 180 - turn) >= 45:
                return True
    return False


def diagonal(word: Word) -> float:
    p1, p2, p3, p4 = word.points
    return (math.dist(p1, p3) + math.dist(p2, p4)) / 2


class Image:
    """An image with don't care cut off: shapes, ignored detections, and
    (recall, precision) of pairs that overlap.
    """

    def __init__(self, gt: list[Word], det: list[Word], t_r: float, t_p: float) -> None:
        self.gt, self.det = gt, det
        self.gt_shapes = [Polygon(word.points) for word in gt]
        self.det_shapes = [Polygon(word.points) for word in det]
        self.care = [i for i, word in enumerate(gt) if not word.dont_care]
        self.dont_care = [i for i, word in enumerate(gt) if word.dont_care]
        for i in self.dont_care:
            for k in self.care:
                if self.gt_shapes[i].intersection(self.gt_shapes[k]).area > 0:
                    self.gt_shapes[i] = self.gt_shapes[i].difference(self.gt_shapes[k])
        self.ignored = [self.cut_off(j, t_r, t_p) for j in range(len(det))]
        self.counting = [j for j in range(len(det)) if not self.ignored[j]]
        share = {(i, j): self.ratios(i, j) for i in self.care for j in range(len(det))}
        self.share = {pair: found for pair, found in share.items() if found[0] > 0}

    def ratios(self, i: int, j: int) -> tuple[float, float]:
        common = self.gt_shapes[i].intersection(self.det_shapes[j]).area
        own, other = self.gt_shapes[i].area, self.det_shapes[j].area
        return common / own if own else 0.0, common / other if other else 0.0

    def cut_off(self, j: int, t_r: float, t_p: float) -> bool:
        """Cut don't care off a detection; return whether it was one of don't care."""
        shares = {i: self.ratios(i, j) for i in self.dont_care}
        for i, (recall, _) in shares.items():
            if recall > 0:
                self.det_shapes[j] = self.det_shapes[j].difference(self.gt_shapes[i])
        covered = [precision for recall, precision in shares.values() if recall > t_r]
        single = any(precision > t_p for _, precision in shares.values())
        return single or bool(covered and sum(covered) >= t_p)


def one_to_one(image: Image, t_r: float, t_p: float, center: float) -> set[tuple[int, int]]:
    ok = {
        pair
        for pair, (recall, precision) in image.share.items()
        if recall >= t_r and precision >= t_p
    }
    found = set()
    for i, j in ok:
        alone = sum(a == i for a, _ in ok) == 1 and sum(b == j for _, b in ok) == 1
        if alone and not image.ignored[j]:
            distance = image.gt_shapes[i].centroid.distance(image.det_shapes[j].centroid)
            if distance / (diagonal(image.gt[i]) + diagonal(image.det[j])) * 2 < center:
                found.add((i, j))
    return found


def merges(image: Image, t_r: float, t_p: float) -> set[tuple[int, int]]:
    found = set()
    for j in image.counting:
        group = [i for i in image.care if (i, j) in image.share and image.share[i, j][0] >= t_r]
        enough = sum(image.share[i, j][1] for i in group) >= t_p
        if len(group) >= 2 and enough and not on_several_lines([image.gt[i] for i in group]):
            found |= {(i, j) for i in group}
    return found


def splits(image: Image, t_r: float, t_p: float) -> set[tuple[int, int]]:
    found = set()
    for i in image.care:
        group = [j for j in image.counting if (i, j) in image.share and image.share[i, j][1] >= t_p]
        enough = sum(image.share[i, j][0] for j in group) >= t_r
        if len(group) >= 2 and enough and not on_several_lines([image.det[j] for j in group]):
            found |= {(i, j) for j in group}
    return found


def evaluate(
    gt: list[Word], det: list[Word], t_r: float = 0.4, t_p: float = 0.4, center: float = 1.0
) -> Result:
    image = Image(gt, det, t_r, t_p)
    pairs = one_to_one(image, t_r, t_p, center) | merges(image, t_r, t_p) | splits(image, t_r, t_p)
    centres = [character_centres(word) if word.text else [] for word in gt]
    inside = {
        (i, j): [contains(image.det_shapes[j], x, y) for x, y in centres[i]] for i, j in pairs
    }
    recall, precision = [0.0] * len(gt), [0.0] * len(det)
    for i in image.care:
        seen = [
            sum(column)
            for column in zip(
                *(inside[pair] for pair in sorted(pairs) if pair[0] == i), strict=True
            )
        ]
        if seen:
            recall[i] = seen.count(1) / len(seen)
    for j in range(len(det)):
        held = [flag for pair in sorted(pairs) if pair[1] == j for flag in inside[pair]]
        if held:
            precision[j] = sum(held) / len(held)
    return Result(recall, precision, image.ignored, pairs)
