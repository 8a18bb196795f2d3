"""DetEval and ICDAR 2013 once more, slowly and plainly: matrices, one image at a time, rule by
rule.

Written from the rules as docs/protocols/deteval.md states them, for boxes only; shares no code with
the package.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Setting:
    """p1 to p8 of Wolf's parameter string, and what else may be set."""

    variant: str
    oo_r: float
    oo_p: float
    om_sum_r: float
    om_each_p: float
    mo_sum_p: float
    mo_each_r: float
    center: float = 1.0
    border: bool = False
    split_weight: float = 0.8
    merge_weight: float = 0.8
    logarithm: bool = False
    theta: float = 0.4


def setting(variant: str, t_r: float, t_p: float, **others: Any) -> Setting:
    """All thresholds from two, and the variant's own defaults."""
    own: dict[str, Any] = {
        "oo_r": t_r,
        "oo_p": t_p,
        "om_sum_r": t_r,
        "om_each_p": t_p,
        "mo_sum_p": t_p,
        "mo_each_r": t_p if variant == "totaltext" else t_r,
        "merge_weight": 1.0 if variant in ("rrc", "icdar2013") else 0.8,
        "theta": 0.5 if variant == "totaltext" else t_p,
    }
    return Setting(variant, **(own | others))


def number(variant: str, value: float) -> Any:
    """A ratio or threshold in the variant's precision."""
    if variant == "totaltext":
        return float(np.round(value, 2))
    return np.float32(value) if variant == "wolf" else float(value)


def sides(box: Box, one_more: int) -> tuple[float, float]:
    return box[2] - box[0] + one_more, box[3] - box[1] + one_more


def common(a: Box, b: Box, one_more: int) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0]) + one_more
    height = min(a[3], b[3]) - max(a[1], b[1]) + one_more
    return width * height if width > 0 and height > 0 else 0.0


def center_distance(a: Box, b: Box, whole_pixels: bool) -> float:
    (aw, ah), (bw, bh) = sides(a, 1), sides(b, 1)
    if whole_pixels:
        dx = int(a[0] + aw // 2) - int(b[0] + bw // 2)
        dy = int(a[1] + ah // 2) - int(b[1] + bh // 2)
        distance: float = int(math.sqrt(dx * dx + dy * dy))
    else:
        distance = math.hypot(a[0] + aw / 2 - b[0] - bw / 2, a[1] + ah / 2 - b[1] - bh / 2)
    return 2 * distance / (math.sqrt(aw * aw + ah * ah) + math.sqrt(bw * bw + bh * bh))


def keeps_borders(gt: Box, det: Box) -> bool:
    slack = max(-sides(gt, 1)[0] / 20, -8)
    return gt[0] - det[0] >= slack and det[2] - gt[2] >= slack


def pixels_of(x: str, y: str, width: str, height: str) -> Box:
    """A rectangle of ICDAR XML as Wolf's program reads it: four integers, cut
    one by one, then added.
    """
    left, top, columns, rows = (int(float(number)) for number in (x, y, width, height))
    return left, top, left + columns - 1, top + rows - 1


def types_match(a: int, b: int) -> bool:
    """-1, no type, matches any."""
    return a == b or -1 in (a, b)


class Image:
    """One image in the making: matrices, who is cared for, who is matched, credits."""

    def __init__(
        self,
        gt: list[Box],
        dont_care: list[bool],
        det: list[Box],
        s: Setting,
        types: tuple[list[int], list[int]] | None,
    ) -> None:
        self.s = s
        gt_types, det_types = (
            types if types and s.variant == "wolf" else ([-1] * len(gt), [-1] * len(det))
        )
        one_more = 0 if s.variant == "totaltext" else 1
        margin = 1.0 if s.variant == "totaltext" else 0.0
        gt_area = [math.prod(sides(box, one_more)) for box in gt]
        det_area = [math.prod(sides(box, one_more)) for box in det]
        inter = [[common(g, d, one_more) for d in det] for g in gt]
        det_ignored = [
            any(
                dont_care[i]
                and det_area[j] + margin > 0
                and inter[i][j] / (det_area[j] + margin) > s.theta
                for i in range(len(gt))
            )
            for j in range(len(det))
        ]
        if s.variant in ("wolf", "totaltext"):  # as if they were not there
            keep_i = [i for i in range(len(gt)) if not dont_care[i]]
            keep_j = [j for j in range(len(det)) if not det_ignored[j]]
        else:
            keep_i, keep_j = list(range(len(gt))), list(range(len(det)))
        self.gt, self.det = [gt[i] for i in keep_i], [det[j] for j in keep_j]
        self.alike = [[types_match(gt_types[i], det_types[j]) for j in keep_j] for i in keep_i]
        self.gt_care = [not dont_care[i] for i in keep_i]
        self.det_care = [not det_ignored[j] for j in keep_j]
        self.over = [[inter[i][j] > 0 for j in keep_j] for i in keep_i]
        self.sigma = [
            [number(s.variant, inter[i][j] / gt_area[i]) if inter[i][j] else 0 for j in keep_j]
            for i in keep_i
        ]
        self.tau = [
            [number(s.variant, inter[i][j] / det_area[j]) if inter[i][j] else 0 for j in keep_j]
            for i in keep_i
        ]
        self.gt_credit: dict[int, float] = {}
        self.det_credit: dict[int, float] = {}
        self.kinds: list[str] = []
        self.I, self.J = range(len(self.gt)), range(len(self.det))

    def overlaps_of_gt(self, i: int) -> int:
        return sum(self.sigma[i][j] > 0 and self.det_care[j] for j in self.J)

    def overlaps_of_det(self, j: int) -> int:
        return sum(self.tau[i][j] > 0 and self.gt_care[i] for i in self.I)

    def threshold(self, value: float) -> Any:
        return np.float32(value) if self.s.variant == "wolf" else value

    def agrees(self, i: int, j: int) -> bool:
        """Both thresholds of a one-to-one match."""
        passes = self.sigma[i][j] >= self.threshold(self.s.oo_r) and self.tau[i][
            j
        ] >= self.threshold(self.s.oo_p)
        return bool(self.over[i][j] and passes)

    def one_to_one(self) -> None:
        for i in self.I:
            for j in self.J:
                if not (self.gt_care[i] and self.det_care[j]):
                    continue
                if (
                    self.totaltext_pair(i, j)
                    if self.s.variant == "totaltext"
                    else self.plain_pair(i, j)
                ):
                    self.take([i], [j], 1.0, "one-to-one")

    def plain_pair(self, i: int, j: int) -> bool:
        """With the single-overlap test of the RRC and Wolf's programs, and border verification."""
        s = self.s
        row, column = sum(self.agrees(i, k) for k in self.J), sum(self.agrees(k, j) for k in self.I)
        if not self.agrees(i, j) or row != 1 or column != 1 or not self.alike[i][j]:
            return False
        if s.variant != "icdar2013" and (
            self.overlaps_of_gt(i) != 1 or self.overlaps_of_det(j) != 1
        ):
            return False
        if s.border and not keeps_borders(self.gt[i], self.det[j]):
            return False
        return bool(
            center_distance(self.gt[i], self.det[j], s.variant == "wolf") < self.threshold(s.center)
        )

    def totaltext_pair(self, i: int, j: int) -> bool:
        """Total-Text: each threshold passed by one detection, not necessarily the same."""
        a = [k for k in self.J if self.sigma[i][k] > self.s.oo_r]
        b = [k for k in self.J if self.tau[i][k] > self.s.oo_p]
        if a != [j] or len(b) != 1:
            return False
        column_a = sum(self.sigma[k][j] > self.s.oo_r for k in self.I)
        column_b = sum(self.tau[k][b[0]] > self.s.oo_p for k in self.I)
        return column_a == 1 and column_b == 1

    def many(self, of_gt: bool) -> None:
        """Splits of every object, or merges of every detection, in order."""
        for one in self.I if of_gt else self.J:
            cared = self.gt_care[one] if of_gt else self.det_care[one]
            several = (self.overlaps_of_gt(one) if of_gt else self.overlaps_of_det(one)) >= 2
            matched = one in (self.gt_credit if of_gt else self.det_credit)
            if cared and not matched and (several or self.s.variant == "icdar2013"):
                pairs = self.partners(one, of_gt)
                if pairs and self.assembles(pairs, of_gt):
                    self.take_many(pairs, of_gt)

    def partners(self, one: int, of_gt: bool) -> list[tuple[int, int]]:
        """The pairs (i, j) with what is still free and qualifies by itself."""
        needed = self.threshold(self.s.om_each_p if of_gt else self.s.mo_each_r)
        pairs = [(one, j) for j in self.J] if of_gt else [(i, one) for i in self.I]
        each = self.tau if of_gt else self.sigma
        return [
            (i, j)
            for i, j in pairs
            if self.over[i][j]
            and self.alike[i][j]
            and each[i][j] >= needed
            and (
                self.det_care[j] and j not in self.det_credit
                if of_gt
                else self.gt_care[i] and i not in self.gt_credit
            )
        ]

    def assembles(self, pairs: list[tuple[int, int]], of_gt: bool) -> bool:
        """The test of the sum, or of a single partner where the variant has one."""
        if len(pairs) == 1 and self.s.variant in ("wolf", "totaltext"):
            return self.agrees(*pairs[0])
        share = self.sigma if of_gt else self.tau
        total = np.float32(0) if self.s.variant == "wolf" else 0.0
        for i, j in pairs:
            total = total + share[i][j]
        if self.s.variant == "rrc":
            total = np.round(total, 4)
        return bool(total >= self.threshold(self.s.om_sum_r if of_gt else self.s.mo_sum_p))

    def take_many(self, pairs: list[tuple[int, int]], of_gt: bool) -> None:
        gts, dets = sorted({i for i, _ in pairs}), sorted({j for _, j in pairs})
        if len(pairs) == 1 and self.s.variant != "icdar2013":
            self.take(gts, dets, 1.0, "one-to-one")
            return
        constant = self.s.split_weight if of_gt else self.s.merge_weight
        weight = 1 / (1 + math.log(len(pairs))) if self.s.logarithm else constant
        self.take(gts, dets, weight, "one-to-many" if of_gt else "many-to-one")

    def take(self, gts: list[int], dets: list[int], weight: float, kind: str) -> None:
        assert not set(gts) & set(self.gt_credit) and not set(dets) & set(self.det_credit)
        self.gt_credit.update(dict.fromkeys(gts, weight))
        self.det_credit.update(dict.fromkeys(dets, weight))
        self.kinds.append(kind)


def image_totals(
    gt: list[Box],
    dont_care: list[bool],
    det: list[Box],
    s: Setting,
    types: tuple[list[int], list[int]] | None = None,
) -> dict[str, Any]:
    """Counts and credits of one image."""
    image = Image(gt, dont_care, det, s, types)
    image.one_to_one()
    image.many(of_gt=True)
    image.many(of_gt=False)
    return {
        "counted_gt_objects": sum(image.gt_care),
        "counted_detections": sum(image.det_care),
        "recall_credit": sum(image.gt_credit.values()),
        "precision_credit": sum(image.det_credit.values()),
        "one_to_one": image.kinds.count("one-to-one"),
        "one_to_many": image.kinds.count("one-to-many"),
        "many_to_one": image.kinds.count("many-to-one"),
    }
