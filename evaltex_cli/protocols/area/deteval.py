"""DetEval (Wolf & Jolion, IJDAR 8(4), 2006): objects found and right, by thresholds on area recall
and area precision.

Task: text localisation by boxes (or polygons, masks). Equation, figure and section numbers are the
paper's. Three programs have the name; `variant` chooses:

- ``wolf``: the authors' program, evaldetection/readdeteval: ratios are 32 bit floats, centres whole
  pixels
- ``rrc``: the script of the ICDAR Robust Reading Competition: merges cost nothing, sums are rounded
  to 4 decimals
- ``totaltext``: the script of Total-Text: polygons, ratios rounded to 2 decimals, thresholds 0.7
  and 0.6

Where we differ from them:

1. Pairs have to overlap, splits and merges need a partner. The programs do without where a
   threshold is 0, and then score above 1.
2. Wolf's program knows no don't care. Its variant leaves out don't-care objects and, by `rrc`'s
   rule, detections there.
3. Generality series: images without text are added as if each had their mean number of detections;
   the program adds them in the order of their names. First and last point, and every point of a set
   with one such image, agree.
4. Total-Text's figures were made without the one object of its ground truth whose outline crosses
   itself: `totaltext` leaves such objects out.
5. Of evaldetection's options, `-z` is `zero_rectangles`, `-m` is always on, `-o` (object types to
   read) does not exist.

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
from functools import lru_cache, reduce
from itertools import chain
from operator import add

import numpy as np

from evaltex_cli.geometry import outlines
from evaltex_cli.protocols.area import matching, pairs
from evaltex_cli.protocols.area.deteval_parameters import (
    Parameters,
    convention,
    curve_points,
    fixed_thresholds,
    rules_of,
    steps,
    thresholds_at,
    weights_of,
)
from evaltex_cli.protocols.area.matching import AreaTally, described, empty_image_scores, tally_of
from evaltex_cli.protocols.area.pairs import Thresholds, with_plain_areas, without_zero_rectangles
from evaltex_cli.protocols.base import Evidence, Plot, Protocol, Scores, per_image
from evaltex_cli.protocols.matches import mean_of
from evaltex_cli.protocols.ratios import (
    Number,
    harmonic_mean,
    rate,
    ratio,
    recall_precision,
    scores_of,
    where,
)
from evaltex_cli.protocols.tally import Count, Sum, require
from evaltex_cli.records import Floats, ImageBatch, Overlaps


@dataclass(frozen=True, eq=False)
class Tally(AreaTally):
    """Evidence of DetEval: that of the fixed thresholds; images without text; credits at each
    setting of the graphs.

    Credits of graphs are (images, settings): the settings of ``curve`` and of ``grid`` in
    `_series`.
    """

    images: Count
    images_without_text: Count
    detections_without_text: Count
    curve_recall_credit: Sum | None = None
    curve_precision_credit: Sum | None = None
    grid_recall_credit: Sum | None = None
    grid_precision_credit: Sum | None = None

    def check(self) -> None:
        super().check()
        require(self.images_without_text <= self.images, "more images without text than images")
        require(
            self.detections_without_text <= self.counted_detections,
            "more detections without text than detections",
        )

    def credits(self, series: str) -> tuple[list[float], list[float]]:
        """Credits towards recall and precision of all settings of ``curve`` or ``grid``."""
        return getattr(self, f"{series}_recall_credit"), getattr(self, f"{series}_precision_credit")


@lru_cache(maxsize=4)  # scores are made thousands of times for intervals
def _series(parameters: Parameters) -> dict[str, list[tuple[Scores, Thresholds]]]:
    """Settings of the graphs and of the grid: their columns in the scores, and the thresholds."""
    t, (t_r, t_p) = steps(parameters), fixed_thresholds(parameters)
    points = [("t_r", value, t_p) for value in t] + [("t_p", t_r, value) for value in t]
    curve: list[tuple[Scores, Thresholds]]
    curve = [
        ({"varied": v, "t_r": r, "t_p": p}, thresholds_at(parameters, r, p, (v,)))
        for v, r, p in points
    ]
    grid: list[tuple[Scores, Thresholds]]
    grid = [
        ({"t_r": r, "t_p": p}, thresholds_at(parameters, r, p, ("t_r", "t_p")))
        for r in t
        for p in t
    ]
    series = {"curve": curve, "grid": grid if parameters.grid else []}
    return {name: settings for name, settings in series.items() if settings}


def evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool
) -> Evidence:
    """Match a batch by the fixed thresholds and by those of the graphs, and
    sum what its images contribute.
    """
    rules, weights, images = rules_of(parameters), weights_of(parameters), len(batch.names)
    taken, left_out = np.ones(images, dtype=bool), np.zeros(batch.gt.count, dtype=bool)
    if parameters.variant == "totaltext":
        taken = batch.named_in_detections
        left_out = ~taken[batch.gt.image]
        if not batch.has_masks:
            overlaps = with_plain_areas(batch, overlaps)
            left_out[outlines.self_crossing(batch.gt.outlines)[0]] = True
    overlaps, gt_zero, det_zero = without_zero_rectangles(batch, overlaps, parameters)
    left_out |= gt_zero
    fixed, series = thresholds_at(parameters, *fixed_thresholds(parameters)), _series(parameters)
    scene = pairs.scene(
        batch,
        overlaps,
        convention(parameters),
        rules,
        left_out,
        np.array([fixed, *(thresholds for _, thresholds in chain(*series.values()))]).ravel(),
    )
    scene = scene._replace(det_counts=scene.det_counts & ~det_zero)
    credits = matching.credit(scene, rules, fixed, weights)
    tally = tally_of(batch, scene, credits)
    no_text = taken & (tally.counted_gt_objects == 0)
    swept: dict[str, Floats] = {}
    gt_image, det_image = batch.gt.image, batch.det.image
    for name, settings in series.items():
        found = (matching.credit(scene, rules, setting, weights) for _, setting in settings)
        of_images = [
            (
                per_image(one.gt, gt_image, images),
                per_image(one.det, det_image, images),
            )
            for one in found
        ]
        of_gt, of_det = zip(*of_images, strict=True)
        swept[f"{name}_recall_credit"] = np.stack(of_gt, axis=1)
        swept[f"{name}_precision_credit"] = np.stack(of_det, axis=1)
    tally = Tally(
        **tally.as_dict(),
        images=taken.astype(np.int64),
        images_without_text=no_text.astype(np.int64),
        detections_without_text=np.where(no_text, tally.counted_detections, 0),
        **swept,
    )
    return Evidence(tally, described(scene, credits) if with_matches else None)


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Object recall and precision (Eq. 12), R_OV, P_OV, Perf_OV (Eq. 13, 14), generality (5)."""
    gt, det = tally.counted_gt_objects, tally.counted_detections
    result = recall_precision(tally.recall_credit, gt, tally.precision_credit, det)
    overall = _overall(tally, parameters, gt, det)
    if parameters.preset == "auc":
        result = {name: overall[f"{name}_overall"] for name in result}
    result |= overall
    result["generality"] = rate(gt, tally.images)
    return result


def series(tally: Tally, parameters: Parameters) -> Scores:
    """The graphs (section 4.4) and the grid."""
    result: Scores = {
        "curves": _rows(tally, "curve", parameters),
        "generality_series": list(_generality_rows(tally, parameters)),
    }
    return result | {"grid": _rows(tally, "grid", parameters)} if parameters.grid else result


def _overall(tally: Tally, parameters: Parameters, gt: Number, det: Number) -> Scores:
    points = 2 * curve_points(parameters)
    if not points:
        return dict.fromkeys(("recall_overall", "precision_overall", "hmean_overall"))
    recall, precision = (
        # Python's `sum` rounds numbers, from 3.12 on, in another way than columns.
        reduce(add, (ratio(credit, objects) for credit in credits)) / points
        for credits, objects in zip(tally.credits("curve"), (gt, det), strict=True)
    )
    hmean = where((recall > 0) | (precision > 0), harmonic_mean(recall, precision), None)
    return {"recall_overall": recall, "precision_overall": precision, "hmean_overall": hmean}


def _rows(tally: Tally, series: str, parameters: Parameters) -> list[Scores]:
    """The scores at each setting of ``curve`` or ``grid``."""
    settings = _series(parameters).get(series, [])
    credits = zip(*tally.credits(series), strict=True) if settings else ()
    return [
        columns | scores_of(tally, *credit)
        for (columns, _), credit in zip(settings, credits, strict=True)
    ]


def _generality_rows(tally: Tally, parameters: Parameters) -> Iterator[Scores]:
    """Images with text only, then one image without text more each row, until
    these are as many (section 5, Fig. 7).
    """
    gt, void = tally.counted_gt_objects, tally.images_without_text
    with_text = tally.images - void
    detections = tally.counted_detections - tally.detections_without_text
    for added in range(min(void, with_text) + 1):
        det = detections + (tally.detections_without_text * added / void if void else 0)
        yield {
            "images": with_text + added,
            "inverse_generality": (with_text + added) / gt if gt else None,
            **recall_precision(tally.recall_credit, gt, tally.precision_credit, det),
            **_overall(tally, parameters, gt, det),
        }


def image_scores(tally: Tally, parameters: Parameters) -> Scores:
    """An image's scores as the variant's program prints them; without the graphs.

    Notes
    -----
    ``wolf``: 1 where there are neither objects nor detections, 0 where only one side is empty.
    ``rrc``: without an object that counts recall is 1, and precision is 1 without detections, else
    0; both are 0 in an image the detections do not name. ``totaltext``: 0/0 is 0.
    """
    gt, det = tally.counted_gt_objects, tally.counted_detections
    overall = _overall(tally, parameters, gt, det)
    result = recall_precision(tally.recall_credit, gt, tally.precision_credit, det)
    if parameters.preset == "auc":
        result = {name: overall[f"{name}_overall"] for name in result}
    result |= overall
    if parameters.variant == "totaltext":
        return result
    is_wolf = parameters.variant == "wolf"
    is_empty = (gt == 0) & (det == 0) if is_wolf else gt == 0
    recall, precision = (1.0, 1.0) if is_wolf else empty_image_scores(tally)
    empty = {"recall": recall, "precision": precision, "hmean": harmonic_mean(recall, precision)}
    with_curves = curve_points(parameters) > 0
    return {
        name: where(is_empty, empty[name.partition("_")[0]], value)
        if with_curves or name in empty
        else None
        for name, value in result.items()
    }


def plots(scores: Scores) -> Iterator[Plot]:
    """The performance graphs (section 4.4), and the scores as images without
    text are added (section 5).
    """
    for varied, fixed in (("t_r", "t_p"), ("t_p", "t_r")):
        rows = [row for row in scores["curves"] if row["varied"] == varied]
        if rows:
            title = f"DetEval over {varied}, {fixed} = {rows[0][fixed]:g}"
            yield Plot(varied, title, varied, "score", [row[varied] for row in rows], _lines(rows))
    rows = [row for row in scores["generality_series"] if row["inverse_generality"] is not None]
    if len(rows) > 1:
        x = [row["inverse_generality"] for row in rows]
        yield Plot(
            "generality", "DetEval over generality", "images / objects", "score", x, _lines(rows)
        )


def _lines(rows: Sequence[Scores]) -> dict[str, list[float]]:
    return {name: [row[name] for row in rows] for name in ("recall", "precision", "hmean")}


PROTOCOL = Protocol(
    name="deteval",
    title="DetEval",
    measures="matches by area, splits and merges too",
    version=1,
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    series=series,
    convention=convention,
    image_scores=image_scores,
    plots=plots,
    plot_names=("t_r", "t_p", "generality"),
    object_credit=mean_of("credit"),
    unbounded=("generality",),
)
