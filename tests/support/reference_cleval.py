"""CLEval, slow and plain: one image at a time, loops over everything, as its statements read.

An object is a dict: `points` (list of (x, y)), `poly` (a polygon, else a quadrilateral), `text`,
`dont_care`.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import shapely

Object = dict[str, Any]
Point = tuple[float, float]


def evaluate(
    gt: list[Object],
    det: list[Object],
    official: bool = True,
    threshold: float | None = None,
    recall_penalty: float = 1.0,
    precision_penalty: float = 1.0,
    case_sensitive: bool = True,
) -> dict[str, Any]:
    """Counts of one image, and of each of its objects."""
    limit = threshold or (0.3 if official else 0.5)
    gt_texts = [g["text"] if case_sensitive else g["text"].upper() for g in gt]
    det_texts = [d["text"] if case_sensitive else d["text"].upper() for d in det]
    gt_texts = [
        "#" * pseudo_length(g, official) if g["dont_care"] else t
        for g, t in zip(gt, gt_texts, strict=True)
    ]
    det_texts = [
        "#" * pseudo_length(d, official) if t == "###" else t
        for d, t in zip(det, det_texts, strict=True)
    ]
    care = [i for i, g in enumerate(gt) if not g["dont_care"]]

    points = [centres(g, len(t), official) for g, t in zip(gt, gt_texts, strict=True)]
    inside = [[[includes(d, c) for c in points[i]] for d in det] for i in range(len(gt))]
    precision = area_precision(gt, det, official)
    kept = kept_detections(
        precision,
        inside,
        [i for i, g in enumerate(gt) if g["dont_care"]],
        len(det),
        limit,
        official,
    )
    matched = match(precision, inside, care, kept, limit, official)

    partners = [[j for j in range(len(det)) if (i, j) in matched] for i in range(len(gt))]
    objects = [[i for i in range(len(gt)) if (i, j) in matched] for j in range(len(det))]
    times = [
        [sum(inside[i][j][k] for j in partners[i]) for k in range(len(points[i]))]
        for i in range(len(gt))
    ]
    found = [sum(t > 0 for t in row) for row in times]
    included = sum(map(sum, times))
    false_positives = sum(false_positive_length(det[j], official) for j in kept if not objects[j])
    split_penalty = sum(recall_penalty * max(len(partners[i]) - 1, 0) for i in care)
    merge_penalty = sum(precision_penalty * max(len(objects[j]) - 1, 0) for j in kept)
    gt_credit, det_credit = eliminate(gt_texts, det_texts, partners, inside, official)
    tp = sum(gt_credit)

    def clipped(value: float) -> float:
        return value if official else max(value, 0.0)

    return {
        "matched": sorted(matched),
        "dropped": [j for j in range(len(det)) if j not in kept],
        "found": found,
        "gt_credit": gt_credit,
        "det_credit": det_credit,
        "columns": {
            "gt_characters": sum(len(gt_texts[i]) for i in care),
            "detected_characters": included + false_positives,
            "found_characters": sum(found),
            "missed_characters": sum(len(gt_texts[i]) for i in care) - sum(found),
            "overlapped_characters": included - sum(found),
            "false_positive_characters": false_positives,
            "splits": sum(len(p) > 1 for p in partners),
            "merges": sum(len(o) > 1 for o in objects),
            "recall_credit": clipped(sum(found) - split_penalty),
            "precision_credit": clipped(sum(found) - merge_penalty),
            "recognised_characters": sum(len(det_texts[j]) for j in kept),
            "correct_characters": tp,
            "e2e_recall_credit": clipped(tp - split_penalty),
            "e2e_precision_credit": clipped(tp - merge_penalty),
            "matched_characters": sum(
                max(len(det_texts[j]), sum(sum(inside[i][j]) for i in objects[j]))
                for j in kept
                if objects[j]
            ),
        },
    }


def area_precision(gt: list[Object], det: list[Object], official: bool) -> list[list[float]]:
    """Which share of each detection lies in each object; don't-care objects
    have no part in the others.
    """
    shapes = [geometry(g) for g in gt]
    for i, g in enumerate(gt):
        for k, other in enumerate(gt):
            if g["dont_care"] and not other["dont_care"]:
                shapes[i] = areal(shapely.difference(shapes[i], shapes[k]))
    result = [[0.0] * len(det) for _ in gt]
    for i, shape in enumerate(shapes):
        for j, d in enumerate(det):
            if area(d) > 0:
                share = shapely.area(shapely.intersection(shape, geometry(d))) / area(d)
                result[i][j] = float(np.float32(share)) if official else share
    return result


def kept_detections(
    precision: list[list[float]],
    inside: list[list[list[bool]]],
    ignored: list[int],
    detections: int,
    limit: float,
    official: bool,
) -> list[int]:
    """Detections that are not of don't-care objects."""
    kept = []
    for j in range(detections):
        shares = [precision[i][j] for i in ignored if any(inside[i][j])]
        total = sum(shares)
        largest = max((precision[i][j] for i in ignored), default=0.0)
        if official:
            single = sum(map(np.float32, shares), np.float32(0))
            dropped = max(largest, single) >= np.float32(limit)
        else:
            dropped = largest > limit or total > limit
        if not dropped:
            kept.append(j)
    return kept


def match(
    precision: list[list[float]],
    inside: list[list[list[bool]]],
    care: list[int],
    kept: list[int],
    limit: float,
    official: bool,
) -> set[tuple[int, int]]:
    """One-to-one, one-to-many and many-to-one matches."""
    single = float(np.float32(limit)) if official else limit
    strong = [
        [share >= single and any(included) for share, included in zip(*rows, strict=True)]
        for rows in zip(precision, inside, strict=True)
    ]
    matched = set()
    for i in care:
        pieces = [j for j in kept if strong[i][j]]
        if len(pieces) >= 2:
            matched |= {(i, j) for j in pieces}
        matched |= {
            (i, j) for j in pieces if sum(strong[i]) == 1 and sum(row[j] for row in strong) == 1
        }
    for j in kept:
        words = [i for i in care if any(inside[i][j])]
        if len(words) >= 2 and sum(precision[i][j] for i in words) >= limit:
            matched |= {(i, j) for i in words}
    return matched


def eliminate(
    gt_texts: list[str],
    det_texts: list[str],
    partners: list[list[int]],
    inside: list[list[list[bool]]],
    official: bool,
) -> tuple[list[int], list[int]]:
    """Algorithm 1: credited characters of objects and detections."""
    left = list(det_texts)
    credit = [0] * len(gt_texts)
    for i, text in enumerate(gt_texts):
        if not partners[i]:
            continue
        waiting, order = list(partners[i]), []
        for k in range(len(text)):
            if len(waiting) == 1:
                break
            taker = next((j for j in waiting if inside[i][j][k]), None)
            if taker is not None:
                order.append(taker)
                waiting.remove(taker)
        order.append(waiting[0])
        common = subsequence(text, "".join(left[j] for j in order), ties_left=official)
        credit[i] = len(common)
        for character in common:
            j = next(j for j in order if character in left[j])
            left[j] = left[j].replace(character, "", 1)
    return credit, [len(before) - len(after) for before, after in zip(det_texts, left, strict=True)]


def subsequence(a: str, b: str, ties_left: bool) -> str:
    """The longest common subsequence by the table of strings."""
    table = [[""] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            up, left = table[i - 1][j], table[i][j - 1]
            if x == y:
                table[i][j] = table[i - 1][j - 1] + x
            elif ties_left:
                table[i][j] = up if len(up) > len(left) else left
            else:
                table[i][j] = left if len(left) > len(up) else up
    return table[-1][-1]


def four(one: Object) -> list[Point]:
    points = list(one["points"])
    return [*points, (points[0][0], points[2][1])] if one["poly"] and len(points) == 3 else points


def outline(one: Object) -> list[Point]:
    return four(one) if one["poly"] else [(math.trunc(x), math.trunc(y)) for x, y in one["points"]]


def areal(shape: Any) -> Any:
    parts = [p for p in shapely.get_parts(shape) if shapely.get_dimensions(p) == 2]
    return shapely.union_all(parts)


def geometry(one: Object) -> Any:
    polygon = shapely.Polygon(outline(one))
    return shapely.buffer(polygon, 0) if one["poly"] else areal(shapely.make_valid(polygon))


def area(one: Object) -> float:
    if one["poly"]:
        return float(shapely.area(geometry(one)))
    ring = outline(one)
    return abs(sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairwise([*ring, ring[0]]))) / 2


def includes(one: Object, point: Point) -> bool:
    if one["poly"]:
        return bool(shapely.contains_xy(geometry(one), *point))
    x, y = point
    odd = False
    ring = outline(one)
    for (x0, y0), (x1, y1) in zip(ring, [ring[-1], *ring[:-1]], strict=True):
        if (y0 <= y < y1 or y1 <= y < y0) and x < (x1 - x0) * (y - y0) / (y1 - y0) + x0:
            odd = not odd
    return odd


def aspect(one: Object, official: bool) -> float:
    if not official:
        xs, ys = zip(*outline(one), strict=True)
        width, height = max(xs) - min(xs), max(ys) - min(ys)
        return height / width if width else (1e9 if height else 1.0)
    if one["poly"]:
        return 1e5
    a, b, c, d = one["points"]
    return ((math.dist(a, b) + math.dist(c, d)) / 2 + 1e-5) / (
        (math.dist(b, c) + math.dist(d, a)) / 2 + 1e-5
    )


def pseudo_length(one: Object, official: bool) -> int:
    a = aspect(one, official)
    return min(round(0.5 + max(a, 1 / max(a, 1e-9))), 10)


def false_positive_length(one: Object, official: bool) -> int:
    return min(round(0.5 + 1 / (1e-5 + aspect(one, official))), 10)


def centres(one: Object, length: int, official: bool) -> list[Point]:
    if one["poly"]:
        return polygon_centres(four(one), length)
    a = aspect(one, official)
    p1, p2, p3, p4 = one["points"]
    start, stop = (p1, p4), (p2, p3)
    if (a < 0.5) if official else (a >= 1.5):
        start, stop = (p4, p3), (p1, p2)
    result = []
    for k in range(length):
        point = []
        for axis in (0, 1):
            first, last = ((ends[0][axis] + ends[1][axis]) / 2 for ends in (start, stop))
            step = (last - first) / length
            point.append(first + step / 2 + step * k)
        result.append((point[0], point[1]))
    return result


def polygon_centres(points: list[Point], length: int) -> list[Point]:
    half = len(points) // 2
    chains = []
    for chain in (points[:half], points[half:][::-1]):
        line = []
        for section in range(half - 1):
            (x0, y0), (x1, y1) = chain[section], chain[section + 1]
            line.append((x0, y0))
            steps = [
                ((x1 - x0) / length * part, (y1 - y0) / length * part) for part in range(1, length)
            ]
            line += [(math.trunc(x0 + dx), math.trunc(y0 + dy)) for dx, dy in steps]
        chains.append([*line, chain[-1]])
    result = []
    for k in range(length):
        corners = [chain[at * (half - 1)] for chain in chains for at in (k, k + 1)]
        result.append((sum(c[0] for c in corners) / 4, sum(c[1] for c in corners) / 4))
    return result
