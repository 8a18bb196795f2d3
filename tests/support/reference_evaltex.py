"""EvaLTex restated: slow, obvious, and independent of ``evaltex_cli``; the tests compare the two.

Written from the project's protocol specification alone; the section numbers below are its own, the
equation numbers those of the paper (Calarasanu, Fabrizio, Dubuisson, Image and Vision Computing
2016).

=====================================  ========================================================
1 Input                                `parse`, `labelled_masks`
2 Matching: candidates, filter, names  `kept_objects`, `gt_match`, `det_match`
3 Local scores: margin, cases          `Margins`, `split_value`, `local_scores`
4 Global scores, histograms, EMD       `scores`, `histogram`, `emd_score`
=====================================  ========================================================

Areas come from one of three geometries with the same operations: `Rectangles` (images of boxes
only; exact rationals, so no tie is decided by rounding), `Polygons` (an image with any polygon;
shapely), `Masks` (pixel counts).
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import shapely

DEFAULTS: dict[str, Any] = {
    "region": True, "print_level": 0, "min_area": 0, "hist_bin_nb": 0, "split": True, "det_border": 0.01,
    "split_function": "tool", "overlap_filter": 0.1,
}  # fmt: skip
PRINTED_BINS, EMD_BINS, BIN_TOLERANCE = (
    10,
    100,
    1e-12,
)  # the bins are what hist_bin_nb = 0 stands for

NUMBER = r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*"
NUMBERS = rf"({NUMBER}(?:,{NUMBER}){{3,}})"
GT_LINE = re.compile(rf'([^,"]+),([^,"]*),\s*".*"\s*,\s*([tf])\s*,{NUMBERS}')
DET_LINE = re.compile(rf'([^,"]+),\s*".*"\s*,{NUMBERS}')
SIZE_LINE = re.compile(r"(\d+)\s*,\s*(\d+)")

Shape = Any  # whatever the geometry in use calls a shape
Number = Any  # int, Fraction or float
Geometry = Any  # Rectangles, Polygons or Masks


@dataclass(frozen=True)
class TextObject:
    """One object line; `numbers` are x, y, width, height or the coordinates
    of three or more vertices.
    """

    id: str
    region: str
    rejected: bool
    numbers: tuple[Fraction, ...]


@dataclass(frozen=True)
class Image:
    """One image of a file; `size` is (height, width), (0, 0) in a detection file."""

    size: tuple[int, int]
    objects: list[TextObject]

    def has_polygon(self) -> bool:
        return any(len(o.numbers) > 4 for o in self.objects)


def parse(text: str, is_gt: bool) -> dict[str, Image]:
    """Images of a well-formed file by name, in file order."""
    images: dict[str, Image] = {}
    name = None
    lines = iter([line.strip() for line in text.removeprefix("\ufeff").split("\n") if line.strip()])
    for line in lines:
        match = (GT_LINE if is_gt else DET_LINE).fullmatch(line)
        if match and name is not None:
            images[name].objects.append(text_object(match, is_gt))
        elif match or line in images:
            raise ValueError(f"an object before any name, or a name twice: {line}")
        else:
            name, size = line, SIZE_LINE.fullmatch(next(lines, "") if is_gt else "0,0")
            if not size:
                raise ValueError(f"no height,width after {name}")
            images[name] = Image((int(size[1]), int(size[2])), [])
    if any(len({o.id for o in image.objects}) < len(image.objects) for image in images.values()):
        raise ValueError("an ID twice in an image")
    return images


def text_object(match: re.Match[str], is_gt: bool) -> TextObject:
    """The object of one line; its transcription is skipped, EvaLTex does not score it."""
    numbers = tuple(Fraction(field.strip()) for field in match[match.lastindex or 0].split(","))
    if len(numbers) % 2 or (len(numbers) == 4 and min(numbers[2:]) <= 0):
        raise ValueError(f"bad geometry: {match[0]}")
    return TextObject(
        match[1].strip(), match[2].strip() if is_gt else "", is_gt and match[3] == "t", numbers
    )


def labelled_masks(image: Image, labels: np.ndarray, size: tuple[int, int]) -> list[Shape]:
    """The pixels of each object; every ID has some, every label has an object."""
    ids = [int(o.id) for o in image.objects]
    if labels.shape != size or {int(v) for v in np.unique(labels)} - {0} != set(ids):
        raise ValueError("the label picture's size or labels differ from the text")
    return [labels == i for i in ids]


class Rectangles:
    """Exact: a shape is a list of (x0, y0, x1, y1) with rational corners, read as their union."""

    def shape(self, o: TextObject) -> Shape:
        x, y, width, height = o.numbers
        return [(x, y, x + width, y + height)]

    def area(self, shape: Shape) -> Number:
        xs = sorted({x for x0, _, x1, _ in shape for x in (x0, x1)})
        ys = sorted({y for _, y0, _, y1 in shape for y in (y0, y1)})
        total = Fraction(0)
        for left, right in pairwise(xs):
            for top, bottom in pairwise(ys):
                if any(
                    x0 <= left and right <= x1 and y0 <= top and bottom <= y1
                    for x0, y0, x1, y1 in shape
                ):
                    total += (right - left) * (bottom - top)
        return total

    def intersection(self, a: Shape, b: Shape) -> Shape:
        pairs = [
            (max(p[0], q[0]), max(p[1], q[1]), min(p[2], q[2]), min(p[3], q[3]))
            for p in a
            for q in b
        ]
        return [(x0, y0, x1, y1) for x0, y0, x1, y1 in pairs if x0 < x1 and y0 < y1]

    def union(self, shapes: list[Shape]) -> Shape:
        return [rectangle for shape in shapes for rectangle in shape]

    def extent(self, shape: Shape) -> Number:
        [(x0, y0, x1, y1)] = self.bounding_box([shape])
        return max(x1 - x0, y1 - y0)

    def offset(self, shape: Shape, margin: Number, outwards: bool) -> Shape:
        [(x0, y0, x1, y1)] = shape
        e = margin if outwards else -margin
        return [(x0 - e, y0 - e, x1 + e, y1 + e)]

    def bounding_box(self, shapes: list[Shape]) -> Shape:
        x0s, y0s, x1s, y1s = zip(*self.union(shapes), strict=True)
        return [(min(x0s), min(y0s), max(x1s), max(y1s))]


class Polygons:
    """shapely's geometries, for images where some object is a polygon."""

    area, intersection, union = (
        staticmethod(f) for f in (shapely.area, shapely.intersection, shapely.union_all)
    )

    def shape(self, o: TextObject) -> Shape:
        n = [float(v) for v in o.numbers]
        if len(n) == 4:
            return shapely.box(n[0], n[1], n[0] + n[2], n[1] + n[3])
        polygon = shapely.Polygon(list(zip(n[::2], n[1::2], strict=True)))
        if not polygon.is_valid or polygon.area == 0:
            raise ValueError(f"object {o.id}: a polygon without area or crossing itself")
        return polygon

    def extent(self, shape: Shape) -> Number:
        x0, y0, x1, y1 = shape.bounds
        return max(x1 - x0, y1 - y0)

    def offset(self, shape: Shape, margin: Number, outwards: bool) -> Shape:
        distance = float(margin) if outwards else -float(margin)
        return (
            shapely.buffer(shape, distance, join_style="mitre", mitre_limit=5)
            if distance
            else shape
        )

    def bounding_box(self, shapes: list[Shape]) -> Shape:
        return shapely.box(*shapely.total_bounds(shapes))


class Masks:
    """A shape is the set of its pixels, a boolean picture; areas are pixel counts."""

    intersection, union = staticmethod(np.logical_and), staticmethod(np.logical_or.reduce)

    def area(self, shape: Shape) -> Number:
        return int(shape.sum())

    def extent(self, shape: Shape) -> Number:
        return max(int(axis.max() - axis.min()) for axis in np.nonzero(shape)) + 1

    def offset(self, shape: Shape, margin: Number, outwards: bool) -> Shape:
        """Dilation or erosion with a square of 2r + 1 pixels; outside the picture is background."""
        r = math.floor(margin + Fraction(1, 2))
        height, width = shape.shape
        padded, steps = np.pad(shape, r), range(2 * r + 1)
        shifted = [padded[y : y + height, x : x + width] for y in steps for x in steps]
        return (np.logical_or if outwards else np.logical_and).reduce(shifted)


def ratio(numerator: Number, denominator: Number) -> float:
    return float(Fraction(numerator) / Fraction(denominator))


def kept_objects(geo: Geometry, gts: list[Shape], det: Shape, p: dict[str, Any]) -> list[int]:
    """Eq. 3 to 5: the candidates of a detection, by decreasing IoU, but those
    an object already kept stands in for.
    """

    def common(a: Shape, b: Shape) -> Fraction:
        return Fraction(geo.area(geo.intersection(a, b)))

    shared, areas = [common(gt, det) for gt in gts], [Fraction(geo.area(gt)) for gt in gts]
    iou = [
        both / (area + Fraction(geo.area(det)) - both)
        for both, area in zip(shared, areas, strict=True)
    ]
    candidates = [i for i in range(len(gts)) if shared[i] > Fraction(str(p["min_area"]))]
    t = Fraction(str(p["overlap_filter"]))
    kept: list[int] = []
    for i in sorted(candidates, key=lambda i: (-iou[i], i)):
        if not any(shared[i] - common(gts[k], gts[i]) <= t * areas[i] for k in kept):
            kept.append(i)
    return sorted(kept)


def gt_match(rejected: bool, merge_levels: list[int]) -> str:
    """Match name of a GT object from the m of each detection that keeps it."""
    if rejected or not merge_levels:
        return "ignored" if rejected else "missed"
    names = (
        ("one-to-one", "many-to-one") if len(merge_levels) == 1 else ("one-to-many", "many-to-many")
    )
    return names[max(merge_levels) > 1]


def det_match(rejected: list[bool], split_levels: list[int]) -> str:
    """Match name of a detection from the reject flag and the s of each GT object it keeps."""
    if all(rejected):
        return "ignored" if rejected else "false-positive"
    names = (
        ("one-to-one", "one-to-many") if len(split_levels) == 1 else ("many-to-one", "many-to-many")
    )
    return names[max(split_levels) > 1]


class Margins:
    """Eq. 6, 7, 8: every GT object of an image grown (Ge) and shrunk (Gr),
    and the box of each region's Ge.
    """

    def __init__(self, geo: Geometry, image: Image, gts: list[Shape], p: dict[str, Any]) -> None:
        margins = [Fraction(str(p["det_border"])) * geo.area(gt) / geo.extent(gt) for gt in gts]
        self.grown = [geo.offset(gt, me, True) for gt, me in zip(gts, margins, strict=True)]
        shrunk = [geo.offset(gt, me, False) for gt, me in zip(gts, margins, strict=True)]
        self.shrunk = [
            small if geo.area(small) > 0 else gt for small, gt in zip(shrunk, gts, strict=True)
        ]
        self.text = self.grown  # what counts as text in a merge: each Ge, or the box of its region
        if p["region"] and not isinstance(geo, Masks) and not image.has_polygon():
            named = [(o.region, g) for o, g in zip(image.objects, self.grown, strict=True)]
            self.text = [
                geo.bounding_box([g for name, g in named if name == o.region])
                for o in image.objects
            ]


def split_value(s: int, function: str) -> float:
    if s == 0:
        return 0.0
    return {"tool": 0.6 / (1 + math.log(s) ** 2) + 0.4, "paper": 1 / (1 + math.log(s))}[function]


def local_scores(geo: Geometry, i: int, dets: list[Shape], kept: list[list[int]], margins: Margins,
                 p: dict[str, Any]) -> dict[str, float | None]:  # fmt: skip
    """The table of section 3 for GT object `i`; `kept[j]` lists the objects
    that detection j keeps.
    """
    keepers = [j for j, objects in enumerate(kept) if i in objects]
    split = split_value(len(keepers), p["split_function"])
    if not keepers:
        return {"coverage": 0.0, "coverage_no_split": 0.0, "accuracy": None, "split": split}
    matched = geo.union([dets[j] for j in keepers])
    coverage = ratio(
        geo.area(geo.intersection(margins.shrunk[i], matched)), geo.area(margins.shrunk[i])
    )  # Eq. 10, 12
    if len(keepers) == 1 and len(kept[keepers[0]]) > 1:
        text = geo.union([margins.text[k] for k in kept[keepers[0]]])  # Eq. 16, 20
    else:
        text = margins.grown[i]  # Eq. 9, 14
    penalised = coverage * split if p["split"] else coverage  # Eq. 11
    accuracy = ratio(geo.area(geo.intersection(text, matched)), geo.area(matched))
    return {
        "coverage": penalised,
        "coverage_no_split": coverage,
        "accuracy": accuracy,
        "split": split,
    }


def histogram(values: list[float], bins: int) -> list[float]:
    """Share of the values in [b/n, (b+1)/n), 1 in the last bin; all zero without values."""
    counts = [0] * bins
    for value in values:
        counts[max(b for b in range(bins) if b / bins <= value + BIN_TOLERANCE)] += 1
    return [count / len(values) if values else 0.0 for count in counts]


def emd_score(values: list[float], bins: int) -> float:
    """1 - EMD to all mass in the last bin; 0 without values."""
    shares = histogram(values, bins)
    return 1 - sum(h * (bins - 1 - b) / bins for b, h in enumerate(shares)) if values else 0.0


def divide(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0


def harmonic_mean(a: float, b: float) -> float:
    return divide(2 * a * b, a + b)


def scores(
    objects: list[dict[str, Any]], detections: list[dict[str, Any]], p: dict[str, Any]
) -> dict[str, Any]:
    """Scores of the pooled objects and detections of one or all images."""
    counted = [o for o in objects if o["match"] != "ignored"]
    covered = [o["coverage"] for o in counted]
    plain = [o["coverage_no_split"] for o in counted]
    accurate = [o["accuracy"] for o in counted if o["match"] != "missed"]
    pooled = accurate + [0.0 for d in detections if d["match"] == "false-positive"]
    n, tp, entries = len(counted), len(accurate), len(pooled)
    bins, emd_bins = p["hist_bin_nb"] or PRINTED_BINS, p["hist_bin_nb"] or EMD_BINS
    recall, recall_plain, precision = (
        divide(sum(covered), n),
        divide(sum(plain), n),
        divide(sum(accurate), entries),
    )
    emd_recall, emd_plain, emd_precision = (
        emd_score(values, emd_bins) for values in (covered, plain, pooled)
    )
    return {
        "recall": recall, "recall_no_split": recall_plain, "precision": precision,
        "split": divide(sum(o["split"] for o in counted), n),
        "fscore": harmonic_mean(recall, precision), "fscore_no_split": harmonic_mean(recall_plain, precision),
        "quantity_recall": divide(tp, n), "quantity_precision": divide(tp, entries),
        "quality_recall": divide(sum(covered), tp), "quality_recall_no_split": divide(sum(plain), tp),
        "quality_precision": divide(sum(accurate), tp),
        "coverage_histogram": histogram(covered, bins), "accuracy_histogram": histogram(pooled, bins),
        "emd_recall": emd_recall, "emd_recall_no_split": emd_plain, "emd_precision": emd_precision,
        "emd_fscore": harmonic_mean(emd_recall, emd_precision),
        "emd_fscore_no_split": harmonic_mean(emd_plain, emd_precision),
    }  # fmt: skip


def evaluate_image(geo: Geometry, gt: Image, det: Image, gts: list[Shape], dets: list[Shape],
                   p: dict[str, Any]) -> dict[str, Any]:  # fmt: skip
    """Objects, detections and scores of one image."""
    margins = Margins(geo, gt, gts, p)
    kept = [kept_objects(geo, gts, d, p) for d in dets]
    keepers = [[j for j in range(len(dets)) if i in kept[j]] for i in range(len(gts))]
    undefined = dict.fromkeys(("coverage", "coverage_no_split", "accuracy", "split"))
    objects = [
        {"id": o.id, "match": gt_match(o.rejected, [len(kept[j]) for j in keepers[i]]),
         "detections": [det.objects[j].id for j in keepers[i]],
         **(undefined if o.rejected else local_scores(geo, i, dets, kept, margins, p))}
        for i, o in enumerate(gt.objects)
    ]  # fmt: skip
    detections = [
        {"id": o.id, "match": det_match([gt.objects[i].rejected for i in kept[j]], [len(keepers[i]) for i in kept[j]]),
         "objects": [gt.objects[i].id for i in kept[j]]}
        for j, o in enumerate(det.objects)
    ]  # fmt: skip
    return {"scores": scores(objects, detections, p), "objects": objects, "detections": detections}


def evaluate(gt_text: str, det_text: str, parameters: dict[str, Any] | None = None,
             gt_labels: dict[str, np.ndarray] | None = None,
             det_labels: dict[str, np.ndarray] | None = None) -> dict[str, Any]:  # fmt: skip
    """Scores of all images pooled and of each; with label pictures (by image
    name) the objects are their pixels.
    """
    p = {**DEFAULTS, **(parameters or {})}
    gt_images, det_images = parse(gt_text, True), parse(det_text, False)
    if not gt_images or set(det_images) - set(gt_images) or set(p) - set(DEFAULTS):
        raise ValueError("no GT image, detections of unknown images, or an unknown parameter")
    images = {}
    for name, gt in gt_images.items():
        det = det_images.get(name, Image((0, 0), []))
        if gt_labels is not None and det_labels is not None:
            geo: Geometry = Masks()
            gts, dets = (
                labelled_masks(gt, gt_labels[name], gt.size),
                labelled_masks(det, det_labels[name], gt.size),
            )
        else:
            geo = Polygons() if gt.has_polygon() or det.has_polygon() else Rectangles()
            gts, dets = ([geo.shape(o) for o in image.objects] for image in (gt, det))
        images[name] = evaluate_image(geo, gt, det, gts, dets, p)
    objects, detections = (
        [x for image in images.values() for x in image[key]] for key in ("objects", "detections")
    )
    return {"scores": scores(objects, detections, p), "images": images}
