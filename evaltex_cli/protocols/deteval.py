"""DetEval (Wolf & Jolion, IJDAR 8(4), 2006): objects found and right, by thresholds on area recall
and area precision.

Task: text localisation by boxes (or polygons, masks). Equation, figure and section numbers are the
paper's. Three programs have the name; `variant` chooses:

- ``wolf``: the authors' program: ratios are 32 bit floats, centres whole pixels
- ``rrc``: the script of the Robust Reading Competition: merges cost nothing
- ``totaltext``: the script of Total-Text: polygons, ratios of 2 decimals, thresholds 0.7 and 0.6

Where we differ from them: docs/protocols/deteval.md, section 6.

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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import shapely

from evaltex_cli.geometry import outlines
from evaltex_cli.protocols import area_matches, matching
from evaltex_cli.protocols.area_matches import AreaPair, AreaTally, Thresholds, optional, or_default
from evaltex_cli.protocols.base import Evidence, Plot, Protocol, Scores, parameter
from evaltex_cli.protocols.icdar2003 import without_zero_rectangles, zero_rectangles_field
from evaltex_cli.protocols.matching import MANY_TO_ONE, ONE_TO_MANY, above, at_least
from evaltex_cli.protocols.scores import Number, rate, recall_precision, scores_of, where
from evaltex_cli.protocols.tally import Count, Sum
from evaltex_cli.records import ImageBatch, Overlaps

OVERALL = "recall_overall", "precision_overall", "hmean_overall"
CURVE_POINTS = 20


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of DetEval; a number below 0 means the default that its help begins with."""

    variant: str = parameter("wolf", "whose program", choices=("wolf", "rrc", "totaltext"))
    preset: str = parameter(
        "none",
        "relaxed: all thresholds 0; auc: recall, precision are recall_overall, precision_overall",
        choices=("none", "relaxed", "auc"),
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
    center: float = parameter(
        1.0, "one-to-one: distance of centres below so many mean diagonals (8th)", min=0.0
    )
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
    zero_rectangles: str = zero_rectangles_field()
    curve_points: int = parameter(CURVE_POINTS, "T, points of each graph or 0", min=0, max=100)
    grid: bool = parameter(False, "scores for every t_r and t_p of the graphs (section 4.5)")


# Thresholds ---------------------------------------------------------------------------------------


def fixed_setting(parameters: Parameters) -> Scores:
    """Return t_r and t_p where none is varied."""
    t_r, t_p = (0.7, 0.6) if parameters.variant == "totaltext" else (0.8, 0.4)
    t_r, t_p = or_default(parameters.t_r, t_r), or_default(parameters.t_p, t_p)
    if parameters.preset == "relaxed":
        t_r = t_p = 0.0
    return {"varied": "none", "t_r": t_r, "t_p": t_p}


def curve_points(parameters: Parameters) -> int:
    """Return T: as set, but never 0 where a preset needs the graphs."""
    return parameters.curve_points or (CURVE_POINTS if parameters.preset == "auc" else 0)


def settings_of_series(parameters: Parameters) -> list[Scores]:
    """Return the settings of both graphs (section 4.4) and then of the grid (section 4.5)."""
    points, fixed = curve_points(parameters), fixed_setting(parameters)
    t = [step / points for step in range(1, points + 1)]
    curves = [fixed | {"varied": name, name: value} for name in ("t_r", "t_p") for value in t]
    return curves + [{"t_r": r, "t_p": p} for r in t for p in t if parameters.grid]


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


# Evidence -----------------------------------------------------------------------------------------


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


def credits_at_settings(
    pairs: list[AreaPair], settings: list[tuple[float, Thresholds]], parameters: Parameters
) -> Iterator[tuple[float, float]]:
    """Yield the credits of an image at each setting: the threshold that varies, and all."""
    ratios = [ratio for pair in pairs for ratio in (pair.recall, pair.precision)]
    last = until = 0.0
    for varied, t in settings:
        # While the threshold rises, the matches stay until a ratio, or a sum, reaches it no longer.
        if varied <= last or not above(until, varied):
            found, sums = area_matches.match_image(pairs, t, parameters)
            until = min((each for each in ratios + sums if at_least(each, varied)), default=inf)
            recall = precision = 0.0
            for match in found:
                credit, (kind, parts) = area_matches.credit_of(match, parameters), match
                recall += credit * (len(parts) if kind == MANY_TO_ONE else 1)
                precision += credit * (len(parts) if kind == ONE_TO_MANY else 1)
        last = varied
        yield recall, precision


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
    overlaps, gt_zero, det_zero = without_zero_rectangles(batch, overlaps, parameters)
    in_margin = overlaps._replace(det_area=overlaps.det_area + margin)
    share = or_default(parameters.dont_care_overlap, share)
    ignored = matching.in_dont_care(batch, in_margin, share)
    counts = ~(batch.gt.dont_care | left_out | gt_zero), ~(ignored | det_zero)
    fixed, settings = thresholds_at(parameters, fixed_setting(parameters)), []
    for row in settings_of_series(parameters):
        t = thresholds_at(parameters, row)
        is_recall = row.get("varied") == "t_r"
        settings.append((t.one_to_one_recall if is_recall else t.one_to_one_precision, t))
    found, credits = [], np.zeros((2, len(batch.names), len(settings)))
    for k, pairs in area_matches.area_pairs(batch, counts, overlaps, parameters):
        found += area_matches.match_image(pairs, fixed, parameters)[0]
        if settings:
            credits[:, k] = np.transpose([*credits_at_settings(pairs, settings, parameters)])
    tally, matches = area_matches.tally_and_matches(batch, counts, found, parameters)
    without_text = takes_part & (tally.counted_gt_objects == 0)
    (recall, precision), end = credits, 2 * curve_points(parameters)
    series = {
        "curve_recall_credit": recall[:, :end],
        "curve_precision_credit": precision[:, :end],
        "grid_recall_credit": recall[:, end:],
        "grid_precision_credit": precision[:, end:],
    }
    result = Tally(
        **tally.as_dict(),
        images=takes_part.astype(np.int64),
        images_without_text=without_text.astype(np.int64),
        detections_without_text=np.where(without_text, tally.counted_detections, 0),
        **{name: column for name, column in series.items() if column.shape[1]},
    )
    return Evidence(result, matches)


# Scores -------------------------------------------------------------------------------------------


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """The scores that are one number, and for the sums of a data set the graphs."""
    result = single_scores(tally, parameters)
    is_columns = isinstance(tally.images, np.ndarray)
    return result if is_columns else result | graphs(tally, parameters)


def single_scores(tally: Tally, parameters: Parameters) -> Scores:
    """Object recall and precision (Eq. 12), R_OV, P_OV, Perf_OV (Eq. 13, 14), generality (5)."""
    overall = overall_scores(tally, parameters, tally.counted_detections)
    result = scores_of(tally, tally.recall_credit, tally.precision_credit)
    if parameters.preset == "auc":
        result = {name: overall[f"{name}_overall"] for name in result}
    return result | overall | {"generality": rate(tally.counted_gt_objects, tally.images)}


def overall_scores(tally: Tally, parameters: Parameters, det: Number) -> Scores:
    """Return R_OV, P_OV and Perf_OV for a number of detections."""
    points = 2 * curve_points(parameters)
    if not points:
        return dict.fromkeys(OVERALL)
    recall, precision = sum(tally.curve_recall_credit), sum(tally.curve_precision_credit)
    result = recall_precision(recall, points * tally.counted_gt_objects, precision, points * det)
    is_defined = (result["recall"] > 0) | (result["precision"] > 0)
    result["hmean"] = where(is_defined, result["hmean"], None)
    return {f"{name}_overall": value for name, value in result.items()}


def image_scores(tally: Tally, parameters: Parameters) -> Scores:
    """An image's scores as the variant's program prints them; without the graphs.

    ``wolf``: 1 where there are neither objects nor detections. ``rrc``: `as_competition`.
    """
    result = single_scores(tally, parameters)
    del result["generality"]
    if parameters.variant == "wolf":
        has_any = (tally.counted_gt_objects > 0) | (tally.counted_detections > 0)
        result = {name: where(has_any, value, 1.0) for name, value in result.items()}
    elif parameters.variant == "rrc":
        result = area_matches.as_competition(tally, result)
    return result if curve_points(parameters) else result | dict.fromkeys(OVERALL)


def graphs(tally: Tally, parameters: Parameters) -> Scores:
    """The graphs (section 4.4), the scores over generality (section 5), the grid (section 4.5)."""
    points = 2 * curve_points(parameters)
    credits: list[Any] = []
    if points:
        credits += zip(tally.curve_recall_credit, tally.curve_precision_credit, strict=True)
    if points and parameters.grid:
        credits += zip(tally.grid_recall_credit, tally.grid_precision_credit, strict=True)
    rows = [
        row | scores_of(tally, *credit)
        for row, credit in zip(settings_of_series(parameters), credits, strict=True)
    ]
    series = list(over_generality(tally, parameters))
    result: Scores = {"curves": rows[:points], "generality_series": series}
    return result | {"grid": rows[points:]} if parameters.grid else result


def over_generality(tally: Tally, parameters: Parameters) -> Iterator[Scores]:
    """Images with text, then one without more each row, until these are as many (Fig. 7)."""
    gt, void = tally.counted_gt_objects, tally.images_without_text
    with_text = tally.images - void
    det_with_text = tally.counted_detections - tally.detections_without_text
    for added in range(min(void, with_text) + 1):
        det = det_with_text + (tally.detections_without_text * added / void if void else 0)
        yield {
            "images": with_text + added,
            "inverse_generality": rate(with_text + added, gt),
            **recall_precision(tally.recall_credit, gt, tally.precision_credit, det),
            **overall_scores(tally, parameters, det),
        }


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


def lines(rows: Sequence[Scores]) -> dict[str, list[float]]:
    """Return the curves of the three scores."""
    return {name: [row[name] for row in rows] for name in ("recall", "precision", "hmean")}


PROTOCOL = Protocol(
    name="deteval",
    title="DetEval: matches by area, splits and merges too",
    version=1,
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=area_matches.convention,
    image_scores=image_scores,
    plots=plots,
    object_credit=matching.mean_of("credit"),
)
