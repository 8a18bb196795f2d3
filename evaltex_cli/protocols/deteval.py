"""DetEval (Wolf & Jolion, IJDAR 8(4), 2006): objects found and right, by thresholds on area recall
and area precision.

Task: text localisation by boxes (or polygons, masks). Equation, figure and section numbers are the
paper's. Three programs have the name; `variant` chooses:

- ``wolf``: the authors' program: ratios are 32 bit floats, centres whole pixels
- ``rrc``: the script of the Robust Reading Competition: merges cost nothing
- ``totaltext``: the script of Total-Text: polygons, ratios of 2 decimals, thresholds 0.7 and 0.6

Where we differ from them: docs/protocols/deteval.md.

Empty cases: 0/0 is 0 in the dataset; in an image scores are as the variant's program prints them
(`image_scores`).

Examples
--------
One word is found as it is (credit 1), the other in two halves (0.8, and 0.8 for each half):

>>> from evaltex_cli import Accumulator
>>> accumulator = Accumulator("deteval")
>>> words = [[0, 0, 99, 19], [120, 0, 219, 19]]
>>> accumulator.update(words, [[0, 0, 99, 19], [120, 0, 169, 19], [170, 0, 219, 19]])
>>> scores = accumulator.compute().scores
>>> round(scores["recall"], 3), round(scores["precision"], 3)
(0.9, 0.867)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import shapely

from evaltex_cli.geometry import outlines
from evaltex_cli.protocols import area_matches, matching
from evaltex_cli.protocols.area_matches import AreaTally, Thresholds, optional, or_default
from evaltex_cli.protocols.base import Evidence, Plot, Protocol, Scores, parameter
from evaltex_cli.protocols.scores import Number, rate, recall_precision, scores_of, where
from evaltex_cli.protocols.tally import Count, Sum
from evaltex_cli.records import ImageBatch, Overlaps

NAMES = "recall", "precision", "hmean"
CURVE_POINTS = 20


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of DetEval; a number below 0 means the default that its help begins with."""

    variant: str = parameter("wolf", "whose program", choices=("wolf", "rrc", "totaltext"))
    preset: str = parameter(
        "none", "relaxed: thresholds 0; auc: the overall scores", choices=("none", "relaxed", "auc")
    )
    t_r: float = optional("0.8, totaltext 0.7; area recall threshold")
    t_p: float = optional("0.4, totaltext 0.6; area precision threshold")
    one_to_one_recall: float = optional("t_r; area recall of a one-to-one match (Wolf's 1st)")
    one_to_one_precision: float = optional("t_p; area precision of a one-to-one match (2nd)")
    one_to_many_recall: float = optional("t_r; summed area recall of a split (3rd)")
    one_to_many_precision: float = optional("t_p; area precision of each part of a split (4th)")
    many_to_one_precision: float = optional("t_p; summed area precision of a merge (5th)")
    many_to_one_recall: float = optional("t_r, totaltext t_p; area recall of a merge's parts (6th)")
    border: bool = parameter(False, "one-to-one: at most min(5 %, 8 pixels) cut on a side (7th)")
    center: float = parameter(1.0, "one-to-one: centres' distance / mean diagonal (8th)", min=0.0)
    split_weight: float = parameter(0.8, "credit of each part of a split", min=0.0, max=1.0)
    merge_weight: float = optional("0.8, rrc 1; credit of a merge's objects and detection")
    scatter: str = parameter(
        "constant", "f_sc(k): the two weights, or 1/(1+ln k)", choices=("constant", "logarithm")
    )
    dont_care_overlap: float = optional(
        "t_p, totaltext 0.5; share on a don't-care object above which a detection is ignored"
    )
    shape: str = parameter(
        "box", "polygons as boxes, or as they are; totaltext: polygon", choices=("box", "polygon")
    )
    zero_rectangles: str = area_matches.zero_rectangles_field()
    curve_points: int = parameter(CURVE_POINTS, "T, points of each graph or 0", min=0, max=100)
    grid: bool = parameter(False, "scores for every t_r and t_p of the graphs (section 4.5)")


def curve_points(parameters: Parameters) -> int:
    """Return T: as set, but never 0 where a preset needs the graphs."""
    return parameters.curve_points or (CURVE_POINTS if parameters.preset == "auc" else 0)


def settings_of(parameters: Parameters) -> list[Scores]:
    """Return t_r and t_p as they are fixed, of both graphs (section 4.4), and of the grid (section
    4.5).
    """
    t_r, t_p = (0.7, 0.6) if parameters.variant == "totaltext" else (0.8, 0.4)
    t_r, t_p = or_default(parameters.t_r, t_r), or_default(parameters.t_p, t_p)
    if parameters.preset == "relaxed":
        t_r = t_p = 0.0
    fixed, points = {"varied": "none", "t_r": t_r, "t_p": t_p}, curve_points(parameters)
    t = [step / points for step in range(1, points + 1)]
    graphs = [fixed | {"varied": name, name: value} for name in ("t_r", "t_p") for value in t]
    return [fixed, *graphs, *({"t_r": r, "t_p": p} for r in t for p in t if parameters.grid)]


def thresholds_at(parameters: Parameters, setting: Scores) -> Thresholds:
    """Return a setting's thresholds: the parameters' own, but for those that follow what varies."""
    last = "t_p" if parameters.variant == "totaltext" else "t_r"  # a slip of its script
    follows = "t_r", "t_p", "t_r", "t_p", "t_p", last
    values = []
    for name, followed in zip(Thresholds._fields, follows, strict=True):
        is_varied = setting.get("varied", followed) == followed or parameters.preset == "relaxed"
        own = -1.0 if is_varied else getattr(parameters, name)
        values.append(or_default(own, setting[followed]))
    return Thresholds(*(area_matches.single(values) if parameters.variant == "wolf" else values))


@dataclass(frozen=True, eq=False)
class Tally(AreaTally):
    """Evidence of DetEval; (images, settings) credits of the graphs and of the grid."""

    images: Count
    images_without_text: Count
    detections_without_text: Count
    curve_recall_credit: Sum = None
    curve_precision_credit: Sum = None
    grid_recall_credit: Sum = None
    grid_precision_credit: Sum = None


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Match a batch at the fixed thresholds and at those of the graphs."""
    takes_part = np.ones(len(batch.names), dtype=bool)
    left_out = np.zeros(batch.gt.count, dtype=bool)
    margin, share = 0.0, or_default(parameters.t_p, 0.4)
    if parameters.variant == "totaltext":  # its script passes over images without detections' file
        takes_part, margin, share = batch.named_in_detections, 1.0, 0.5
        left_out = ~takes_part[batch.gt.image]
        if not batch.has_masks:
            overlaps = with_plain_areas(batch, overlaps)
            left_out[outlines.self_crossing(batch.gt.outlines)[0]] = True
    overlaps, gt_zero, det_zero = area_matches.without_zero_rectangles(batch, overlaps, parameters)
    in_margin = overlaps._replace(det_area=overlaps.det_area + margin)
    share = or_default(parameters.dont_care_overlap, share)
    ignored = matching.in_dont_care(batch, in_margin, share)
    counts = ~(batch.gt.dont_care | left_out | gt_zero), ~(ignored | det_zero)

    pairs = area_matches.area_pairs(batch, counts, overlaps, parameters)
    settings = [thresholds_at(parameters, setting) for setting in settings_of(parameters)]
    found = (area_matches.match_pairs(pairs, t, parameters) for t in settings)
    fixed, series = next(found), np.empty((2, len(batch.names), len(settings) - 1))
    for k, each in enumerate(found):
        series[:, :, k] = matching.image_sums(batch, *area_matches.credits_of_objects(batch, each))

    _, gt_counted, _, det_counted = matching.object_counts(batch, *counts)
    without_text = takes_part & (gt_counted == 0)
    columns = {
        "images": takes_part.astype(np.int64),
        "images_without_text": without_text.astype(np.int64),
        "detections_without_text": np.where(without_text, det_counted, 0),
    }
    end = 2 * curve_points(parameters)
    for name, (recall, precision) in (("curve", series[..., :end]), ("grid", series[..., end:])):
        if recall.shape[1]:
            columns |= {f"{name}_recall_credit": recall, f"{name}_precision_credit": precision}
    return area_matches.evidence_of(batch, counts, fixed, Tally, **columns)


def with_plain_areas(batch: ImageBatch, overlaps: Overlaps) -> Overlaps:
    """Give detections whose outline crosses itself the areas of Total-Text's script: their own by
    the signed sum, in pairs those of buffer(0).
    """
    crossing, drawn = outlines.self_crossing(batch.det.outlines)
    det_area, area = overlaps.det_area.copy(), overlaps.area.copy()
    det_area[crossing] = shapely.area(drawn)
    rows = np.flatnonzero(np.isin(overlaps.det, crossing))
    lobes = shapely.buffer(drawn, 0)[np.searchsorted(crossing, overlaps.det[rows])]
    gt = overlaps.gt_shapes.geometries(overlaps.gt[rows])
    area[rows] = shapely.area(shapely.intersection(gt, lobes))
    return overlaps._replace(area=area, det_area=det_area).some(area > 0)


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Recall, precision, R_OV, P_OV, Perf_OV and generality (section 5); for the sums of a data set
    the graphs (section 4.4), the scores over generality and the grid (section 4.5), too.
    """
    result = single_scores(tally, parameters)
    result["generality"] = rate(tally.counted_gt_objects, tally.images)
    if isinstance(tally.images, np.ndarray):
        return result
    curves = zip(tally.curve_recall_credit or (), tally.curve_precision_credit or (), strict=True)
    grid = zip(tally.grid_recall_credit or (), tally.grid_precision_credit or (), strict=True)
    rows = [
        setting | scores_of(tally, *credit)
        for setting, credit in zip(settings_of(parameters)[1:], (*curves, *grid), strict=True)
    ]
    end = 2 * curve_points(parameters)
    result |= {"curves": rows[:end], "generality_series": list(over_generality(tally, parameters))}
    return result | {"grid": rows[end:]} if parameters.grid else result


def image_scores(tally: Tally, parameters: Parameters) -> Scores:
    """An image's scores as the variant's program prints them (`area_matches`)."""
    result = single_scores(tally, parameters)
    if parameters.variant == "wolf":
        result = area_matches.one_without_any(tally, result)
    elif parameters.variant == "rrc":
        result = area_matches.as_competition(tally, result)
    if not curve_points(parameters):
        result |= {f"{name}_overall": None for name in NAMES}
    return result


def single_scores(tally: Tally, parameters: Parameters) -> Scores:
    """Object recall and precision (Eq. 12), R_OV, P_OV and Perf_OV (Eq. 13, 14)."""
    result = scores_with(tally, parameters, tally.counted_detections)
    if parameters.preset == "auc":
        result |= {name: result[f"{name}_overall"] for name in NAMES}
    return result


def scores_with(tally: Tally, parameters: Parameters, det: Number) -> Scores:
    """Return the same scores for a number of detections."""
    gt, points = tally.counted_gt_objects, 2 * curve_points(parameters)
    result = recall_precision(tally.recall_credit, gt, tally.precision_credit, det)
    if not points:
        return result | {f"{name}_overall": None for name in NAMES}
    credits = sum(tally.curve_recall_credit), sum(tally.curve_precision_credit)
    overall = recall_precision(credits[0], points * gt, credits[1], points * det)
    is_defined = (overall["recall"] > 0) | (overall["precision"] > 0)
    overall["hmean"] = where(is_defined, overall["hmean"], None)
    return result | {f"{name}_overall": value for name, value in overall.items()}


def over_generality(tally: Tally, parameters: Parameters) -> Iterator[Scores]:
    """Images with text, then one without more each row, until these are as many (Fig. 7)."""
    gt, void = tally.counted_gt_objects, tally.images_without_text
    with_text = tally.images - void
    det_with_text = tally.counted_detections - tally.detections_without_text
    for added in range(min(void, with_text) + 1):
        det = det_with_text + (tally.detections_without_text * added / void if void else 0)
        images = with_text + added
        row = {"images": images, "inverse_generality": rate(images, gt)}
        yield row | scores_with(tally, parameters, det)


def plots(scores: Scores) -> Iterator[Plot]:
    """The performance graphs (section 4.4), and the scores over generality (section 5)."""
    for varied, fixed in (("t_r", "t_p"), ("t_p", "t_r")):
        rows = [row for row in scores["curves"] if row["varied"] == varied]
        if rows:
            title = f"DetEval over {varied}, {fixed} = {rows[0][fixed]:g}"
            yield Plot(varied, title, varied, "score", [row[varied] for row in rows], lines(rows))
    rows = [row for row in scores["generality_series"] if row["inverse_generality"] is not None]
    if len(rows) > 1:
        x = [row["inverse_generality"] for row in rows]
        title = "DetEval over generality"
        yield Plot("generality", title, "images / objects", "score", x, lines(rows))


def lines(rows: list[Scores]) -> dict[str, list[float]]:
    """Return the curves of the three scores."""
    return {name: [row[name] for row in rows] for name in NAMES}


PROTOCOL = Protocol(
    name="deteval",
    title="DetEval: matches by area, splits and merges too",
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=area_matches.convention,
    image_scores=image_scores,
    plots=plots,
    object_credit=matching.mean_of("credit"),
)
