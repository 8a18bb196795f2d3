"""IoU, IoU+CRW and TIoU once more, slowly and plainly: lists, one image at a time, pair by pair.

Written from the rules' statements, whose numbers (I, E, Ti, R) are next to them; the rules share
no code with the package. After them, random scenes and the official figures, for the tests of all
three protocols.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import shapely

from evaltex_cli.evaluation.arrays import image_objects
from evaltex_cli.evaluation.evaluation import ImageResult
from evaltex_cli.evaluation.tally import Run, add_batch, image_results
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.config import checked
from evaltex_cli.records import ImageBatch, Objects
from evaltex_cli.records.rows import concatenate

Numbers = tuple[float, ...]
SPECIAL = "!?.:,*\"()·[]/'"


@dataclass(frozen=True)
class Thing:
    """An object or a detection: x0, y0, x1, y1 or vertices x, y, x, y, ..."""

    numbers: Numbers
    dont_care: bool = False
    text: str = ""
    region: int = 0


def points(numbers: Numbers, truncate: bool) -> list[tuple[float, float]]:
    values = [float(math.trunc(value)) for value in numbers] if truncate else list(numbers)
    if len(values) == 4:
        x0, y0, x1, y1 = values
        return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    return list(zip(values[::2], values[1::2], strict=True))


def shape(numbers: Numbers, truncate: bool) -> Any:
    """The polygon; one that crosses itself keeps all its lobes."""
    made = shapely.make_valid(shapely.Polygon(points(numbers, truncate)))
    parts = [part for part in shapely.get_parts(made) for part in shapely.get_parts(part)]
    return shapely.union_all([part for part in parts if part.geom_type == "Polygon"])


def common(*shapes: Any) -> float:
    return float(shapely.intersection_all(shapes).area)


def iou_of(a: Any, b: Any) -> float:
    union = a.area + b.area - common(a, b)
    return common(a, b) / union if union > 0 else 0.0


class Image:
    """One image: shapes, and who counts (R4, R5)."""

    def __init__(self, gt: list[Thing], det: list[Thing], s: dict[str, Any]) -> None:
        self.things, self.detections = gt, det
        truncate, theta = s.get("truncate", True), s.get("dont_care_overlap", 0.5)
        self.threshold: float = s.get("iou", 0.5)
        self.theta = theta
        self.gt = [shape(thing.numbers, truncate) for thing in gt]
        self.det = [shape(thing.numbers, truncate) for thing in det]
        self.dont_care = [thing.dont_care for thing in gt]
        if s.get("word_spotting"):
            self.dont_care = [thing.dont_care or not in_dictionary(thing.text) for thing in gt]
        ignores_invalid = s.get("self_crossing", "ignored") == "ignored"
        self.gt_counts = []
        for thing, dont_care in zip(gt, self.dont_care, strict=True):
            drawn = shapely.Polygon(points(thing.numbers, False))
            crosses = not drawn.is_valid and shapely.make_valid(drawn).area > 0
            left_out = len(thing.numbers) > 4 and ignores_invalid and crosses
            self.gt_counts.append(not dont_care and not left_out)
        self.det_counts = []
        for d in self.det:
            inside = [g for g, dont_care in zip(self.gt, self.dont_care, strict=True) if dont_care]
            self.det_counts.append(
                not any(d.area > 0 and common(g, d) / d.area > theta for g in inside)
            )

    def pairs(self, gt_done: set[int], det_done: set[int]) -> list[tuple[int, int]]:
        """I1."""
        found = []
        for i in range(len(self.gt)):
            for j in range(len(self.det)):
                free = (
                    self.gt_counts[i]
                    and self.det_counts[j]
                    and i not in gt_done
                    and j not in det_done
                )
                if free and iou_of(self.gt[i], self.det[j]) > self.threshold:
                    gt_done.add(i)
                    det_done.add(j)
                    found.append((i, j))
        return found

    def counts(self) -> dict[str, Any]:
        return {
            "counted_gt_objects": sum(self.gt_counts),
            "counted_detections": sum(self.det_counts),
        }


def iou_totals(gt: list[Thing], det: list[Thing], s: dict[str, Any]) -> dict[str, Any]:
    image = Image(gt, det, s)
    return image.counts() | {"one_to_one": len(image.pairs(set(), set()))}


# IoU + CRW ----------------------------------------------------------------------------------------


def cleaned(text: str) -> str:
    if text[-2:] in ("'s", "'S"):
        text = text[:-2]
    text = text.strip("-")
    for character in SPECIAL:
        text = text.replace(character, " ")
    return text.strip()


def in_dictionary(text: str) -> bool:
    """E3."""
    text = cleaned(text)
    ranges = [("a", "z"), ("A", "Z"), ("À", "ƿ"), ("Ǆ", "ɿ"), ("Ά", "Ͽ"), ("-", "-")]
    if " " in text or len(text) < 3:
        return False
    return all(any(a <= c <= b for a, b in ranges) and c not in "×÷·" for c in text)


def same_text(gt: str, det: str, s: dict[str, Any]) -> bool:
    """E2, E3."""
    if s.get("word_spotting"):
        return cleaned(gt).upper() == det.upper()
    gt, det = gt.upper(), det.upper()
    if s.get("strip", "gt") == "both":
        while gt and gt[0] in SPECIAL:
            gt = gt[1:]
        while gt and gt[-1] in SPECIAL:
            gt = gt[:-1]
        while det and det[0] in SPECIAL:
            det = det[1:]
        while det and det[-1] in SPECIAL:
            det = det[:-1]
        return gt == det
    if gt == det:
        return True
    if not gt:
        return False
    first, last = gt[0] in SPECIAL, gt[-1] in SPECIAL
    return (
        (first and gt[1:] == det)
        or (last and gt[:-1] == det)
        or (first and last and gt[1:-1] == det)
    )


def iou_crw_totals(gt: list[Thing], det: list[Thing], s: dict[str, Any]) -> dict[str, Any]:
    """E1."""
    image = Image(gt, det, s)
    pairs = image.pairs(set(), set())
    right = [pair for pair in pairs if same_text(gt[pair[0]].text, det[pair[1]].text, s)]
    return image.counts() | {"one_to_one": len(pairs), "correctly_read": len(right)}


# TIoU ---------------------------------------------------------------------------------------------


def f(share: float, s: dict[str, Any]) -> float:
    return 1.0 if share <= s.get("tolerance", 0.01) else 1.0 - share


def kept_of_cut(g: Any, d: Any, s: dict[str, Any]) -> float:
    """f(Ct / |G|) of Ti1."""
    return f(max(g.area - common(g, d), 0.0) / g.area, s)


def kept_of_foreign(outline: Any, d: Any, others: list[Any], s: dict[str, Any]) -> float:
    """f(Ot / |D|) of Ti1 and Ti2."""
    everything = shapely.union_all(others)
    inside = shapely.union_all([shapely.intersection_all([d, outline, other]) for other in others])
    return f(max(common(d, everything) - inside.area, 0.0) / d.area, s)


def tiou_totals(gt: list[Thing], det: list[Thing], s: dict[str, Any]) -> dict[str, Any]:
    image = Image(gt, det, s)
    sums = dict.fromkeys(("siou_recall", "siou_precision", "tiou_recall", "tiou_precision"), 0.0)
    gt_done: set[int] = set()
    det_done: set[int] = set()
    lines, sums_of_lines = 0, {}
    if s.get("lines") == "file":
        lines, line_words = match_lines(image, s, gt_done, det_done, sums)
        sums_of_lines = {"line_words": line_words}
    pairs = image.pairs(gt_done, det_done)
    for i, j in pairs:
        g, d = image.gt[i], image.det[j]
        iou = iou_of(g, d)
        sums["siou_recall"] += iou
        sums["siou_precision"] += iou
        sums["tiou_recall"] += iou * kept_of_cut(g, d, s)
        others = [image.gt[k] for k in range(len(gt)) if k != i]
        sums["tiou_precision"] += iou * kept_of_foreign(g, d, others, s)
    credits = {f"{name}_credit": value for name, value in sums.items()}
    return image.counts() | {"one_to_one": len(pairs), "lines": lines} | credits | sums_of_lines


def match_lines(
    image: Image, s: dict[str, Any], gt_done: set[int], det_done: set[int], sums: dict[str, float]
) -> tuple[int, int]:
    """Ti3 as it stands; `s` has the lines."""
    lines = (
        [shape(line.numbers, s.get("truncate", True)) for line in s["of_file"]] if image.gt else []
    )
    matched, found_words = 0, []
    for number, outline in enumerate(lines):
        members = [i for i, g in enumerate(image.gt) if share_of(g, outline) >= 0.5]
        for j, d in enumerate(image.det):
            if j not in det_done and image.det_counts[j] and iou_of(outline, d) > image.threshold:
                matched += 1
                det_done.add(j)
                others = [g for k, g in enumerate(image.gt) if k != number]
                sums["siou_precision"] += iou_of(outline, d)
                sums["tiou_precision"] += iou_of(outline, d) * kept_of_foreign(
                    outline, d, others, s
                )
                for i in [i for i in members if share_of(image.gt[i], d) > 0.5]:
                    credit = (
                        share_of(image.gt[i], d) if len(members) > 1 else iou_of(image.gt[i], d)
                    )
                    sums["siou_recall"] += credit
                    sums["tiou_recall"] += credit * kept_of_cut(image.gt[i], d, s)
                    gt_done.add(i)
                    found_words.append(i)
                break
    for i in found_words:
        for j, d in enumerate(image.det):
            free = j not in det_done and image.det_counts[j]
            if free and d.area > 0 and common(image.gt[i], d) / d.area > image.theta:
                image.det_counts[j] = False
                break
    return matched, len(found_words)


def lines_of(seed: int, gt: list[Thing]) -> list[Thing]:
    """Lines around neighbours, some of which overlap, have one word or none."""
    rng = random.Random(seed)
    lines = []
    for _ in range(rng.randint(0, 4) if gt else rng.randint(0, 1)):
        first = rng.randrange(len(gt)) if gt else 0
        x0, y0, x1, y1 = around(gt[first : first + rng.randint(1, 4)]) if gt else (0, 0, 9, 9)
        moved = [value + rng.randint(-1, 1) for value in (x0, y0, x1, y1)]
        lines.append(Thing(ordered(moved)))
    return lines


def share_of(g: Any, d: Any) -> float:
    return common(g, d) / g.area if g.area > 0 else 0.0


TOTALS = {"iou": iou_totals, "iou-crw": iou_crw_totals, "tiou": tiou_totals}


# Scores -------------------------------------------------------------------------------------------


def rph(recall: float, precision: float) -> tuple[float, float, float]:
    return (
        recall,
        precision,
        2 * recall * precision / (recall + precision) if recall + precision else 0.0,
    )


CREDITS = {
    "iou": {"": ("one_to_one", "one_to_one")},
    "iou-crw": {"": ("correctly_read", "correctly_read")},
    "tiou": {
        "": ("tiou_recall_credit", "tiou_precision_credit"),
        "iou_": ("found", "found"),
        "siou_": ("siou_recall_credit", "siou_precision_credit"),
    },
}


def scores(protocol: str, totals: dict[str, Any], of_image: bool) -> dict[str, float]:
    """R4, or for an image R6."""
    totals = totals | {"found": totals["one_to_one"] + totals.get("lines", 0)}
    gt, det = totals["counted_gt_objects"], totals["counted_detections"]
    result: dict[str, float] = {}
    for prefix, (recall, precision) in CREDITS[protocol].items():
        if gt == 0 and of_image:
            values = rph(1.0, 0.0 if det else 1.0)
        else:
            credits = totals[recall] / gt if gt else 0.0, totals[precision] / det if det else 0.0
            values = rph(*(min(credit, 1.0) for credit in credits))
        names = (f"{prefix}{name}" for name in ("recall", "precision", "hmean"))
        result |= dict(zip(names, values, strict=True))
    return result


# Scenes -------------------------------------------------------------------------------------------

WORDS = (
    "Hotel",
    "hotel",
    "(Hotel)",
    "Hotel!!",
    "Tom's",
    "Tom",
    "-on-",
    "50%",
    "a b",
    "ÀÉ-Ω",
    "x×yz",
    ".",
    "",
    "l'été",
)


def scene(seed: int, polygons: bool) -> tuple[list[Thing], list[Thing]]:
    """Crowded objects, some don't care, on a few lines; detections that
    repeat, move, cut or join them.
    """
    rng = random.Random(seed)
    step = rng.choice((1, 1, 4))
    gt = []
    for line in range(rng.randint(0, 3)):
        x = rng.randint(-3, 5)
        for _ in range(rng.randint(0, 4)):
            width = rng.randint(3, 14)
            box = (x, line * 5 + rng.randint(-2, 2), x + width, line * 5 + rng.randint(3, 9))
            numbers = drawn(rng, box, step, polygons)
            gt.append(
                Thing(
                    numbers, rng.random() < 0.2, rng.choice(WORDS), rng.choice((line, 10 + len(gt)))
                )
            )
            x += width + rng.randint(-3, 3)
    det = []
    for thing in gt:
        box = around([thing])
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            moved = [value + rng.randint(-2, 2) for value in box]
            text = thing.text if rng.random() < 0.6 else rng.choice(WORDS)
            det.append(Thing(drawn(rng, ordered(moved), step, polygons), text=text))
    for _ in range(rng.randint(0, 2) if gt else 0):
        first = rng.randrange(len(gt))
        box = around(
            [thing for thing in gt if thing.region == gt[first].region]
            + gt[first : first + rng.randint(1, 2)]
        )
        det.append(Thing(drawn(rng, box, step, polygons), text=rng.choice(WORDS)))
    rng.shuffle(det)
    return gt, det


def ordered(box: Sequence[float]) -> Numbers:
    x0, y0, x1, y1 = box
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def around(things: list[Thing]) -> Numbers:
    xs, ys = [], []
    for thing in things:
        xs += thing.numbers[::2]
        ys += thing.numbers[1::2]
    return min(xs), min(ys), max(xs), max(ys)


def drawn(rng: random.Random, box: Sequence[float], step: int, polygons: bool) -> Numbers:
    """The box, or a quadrilateral near it, which may cross itself; on whole
    or on quarter pixels.
    """
    x0, y0, x1, y1 = box
    if not polygons or rng.random() < 0.3:
        numbers: Sequence[float] = box
        jitter = [0.0] * 4
    else:
        numbers = (x0, y0, x1, y0, x1, y1, x0, y1)
        jitter = [rng.randint(-2, 2) for _ in numbers]
        if rng.random() < 0.1:
            numbers = (x0, y0, x1, y1, x1, y0, x0, y1)
    moved = [
        value + shift + rng.randrange(step) / step
        for value, shift in zip(numbers, jitter, strict=True)
    ]
    return ordered(moved) if len(moved) == 4 else tuple(moved)


def objects(things: list[Thing]) -> Objects:
    """The things as the package's objects: boxes first, as `image_objects` wants them."""
    in_order = boxes_first(things)
    return image_objects(
        [thing.numbers for thing in in_order if len(thing.numbers) == 4],
        [points(thing.numbers, False) for thing in in_order if len(thing.numbers) > 4],
        regions=[thing.region for thing in in_order],
        dont_care=[thing.dont_care for thing in in_order],
        texts=[thing.text for thing in in_order],
    )


def boxes_first(things: list[Thing]) -> list[Thing]:
    return sorted(things, key=lambda thing: len(thing.numbers) > 4)


def assert_agrees(protocol: str, seeds: list[int], polygons: bool, **parameters: Any) -> None:
    """The package's evidence and scores of these images, one by one and
    together, are the reference's.
    """
    images = [tuple(map(boxes_first, scene(seed, polygons))) for seed in seeds]
    lines = [boxes_first(lines_of(seed, gt)) for seed, (gt, _) in zip(seeds, images, strict=True)]
    expected = [
        TOTALS[protocol](gt, det, parameters | {"of_file": of_file})
        for (gt, det), of_file in zip(images, lines, strict=True)
    ]
    gt, det = (concatenate([objects(image[side]) for image in images]) for side in (0, 1))
    names = [f"img_{k}" for k in range(len(images))]
    of_file = concatenate([objects(of_image) for of_image in lines])
    batch = ImageBatch(names, np.zeros((len(images), 2)), gt, det, gt_lines=of_file)
    run = Run(load(protocol), checked(protocol, parameters))
    found: list[ImageResult] = []
    add_batch(run, batch, lambda measured: found.extend(image_results(measured)))
    for image, totals in zip(found, expected, strict=True):
        assert {name: image.totals[name] for name in totals} == pytest.approx(totals, abs=1e-9)
        assert image.scores == pytest.approx(scores(protocol, totals, True), abs=1e-9)
    sums = {name: sum(totals[name] for totals in expected) for name in expected[0]}
    assert run.protocol.scores(run.rows().tally.sum(), run.parameters) == pytest.approx(
        scores(protocol, sums, False), abs=1e-9
    )
