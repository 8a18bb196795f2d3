"""Parameters of DetEval, and the thresholds, rules and weights that they mean."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from evaltex_cli.protocols.area import pairs
from evaltex_cli.protocols.area.matching import Weights
from evaltex_cli.protocols.area.pairs import Rules, Thresholds, zero_rectangles_field
from evaltex_cli.protocols.base import parameter
from evaltex_cli.records import Convention

RULES = {
    "wolf": Rules(single_precision=True, typed=True),
    "rrc": Rules(dont_care_competes=True, single=pairs.SINGLE_IS_ONE_TO_ONE, sum_decimals=4),
    "totaltext": Rules(
        single_overlap=False, separate_tests=True, ratio_decimals=2, dont_care_margin=1.0
    ),
}


DEFAULT_CURVE_POINTS = 20


UNSET = -1.0


def _threshold(default: str) -> Any:
    return parameter(UNSET, f"{default} (below 0: that)", min=-1.0, max=1.0)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of DetEval; a number below 0 means the default that its help begins with."""

    variant: str = parameter(
        "wolf", "whose program is followed", choices=("wolf", "rrc", "totaltext")
    )
    preset: str = parameter(
        "none",
        "relaxed: all thresholds 0; auc: recall_overall, precision_overall in place of"
        " recall, precision",
        choices=("none", "relaxed", "auc"),
    )
    t_r: float = parameter(
        UNSET, "area recall threshold; below 0: 0.8, totaltext 0.7", min=-1.0, max=1.0
    )
    t_p: float = parameter(
        UNSET, "area precision threshold; below 0: 0.4, totaltext 0.6", min=-1.0, max=1.0
    )
    one_to_one_recall: float = _threshold(
        "as t_r; area recall of a one-to-one match (Wolf's 1st parameter)"
    )
    one_to_one_precision: float = _threshold("as t_p; area precision of a one-to-one match (2nd)")
    one_to_many_recall: float = _threshold("as t_r; summed area recall of a split (3rd)")
    one_to_many_precision: float = _threshold(
        "as t_p; area precision of each part of a split (4th)"
    )
    many_to_one_precision: float = _threshold("as t_p; summed area precision of a merge (5th)")
    many_to_one_recall: float = _threshold(
        "as t_r, totaltext t_p; area recall of each part of a merge (6th)"
    )
    border: bool = parameter(
        False, "one-to-one: at most min(5 %, 8 pixels) cut left and right (7th)"
    )
    center: float = parameter(
        1.0,
        "one-to-one: distance of centres below so many mean diagonals; not totaltext (8th)",
        min=0.0,
    )
    split_weight: float = parameter(
        0.8, "credit of a split's object and detections", min=0.0, max=1.0
    )
    merge_weight: float = parameter(
        UNSET, "credit of a merge's objects and detection; below 0: 0.8, rrc 1", min=-1.0, max=1.0
    )
    scatter: str = parameter(
        "constant", "f_sc(k): the two weights, or 1/(1+ln k)", choices=("constant", "logarithm")
    )
    dont_care_overlap: float = parameter(
        UNSET,
        "a detection with a larger share on a don't-care object is ignored; below 0:"
        " t_p, totaltext 0.5",
        min=-1.0,
        max=1.0,
    )
    shape: str = parameter(
        "box",
        "polygons as bounding boxes, or as they are; totaltext: polygon",
        choices=("box", "polygon"),
    )
    zero_rectangles: str = zero_rectangles_field()
    curve_points: int = parameter(
        DEFAULT_CURVE_POINTS, "T, points of each performance graph; 0 for none", min=0, max=100
    )
    grid: bool = parameter(False, "scores for every t_r and t_p of the graphs (section 4.5)")


def _or(value: float, default: float) -> float:
    return default if value < 0 else value


def fixed_thresholds(parameters: Parameters) -> tuple[float, float]:
    """t_r and t_p."""
    if parameters.preset == "relaxed":
        return 0.0, 0.0
    t_r, t_p = (0.7, 0.6) if parameters.variant == "totaltext" else (0.8, 0.4)
    return _or(parameters.t_r, t_r), _or(parameters.t_p, t_p)


def thresholds_at(
    parameters: Parameters, t_r: float, t_p: float, varied: Collection[str] = ()
) -> Thresholds:
    """Thresholds at t_r and t_p; where one of them is varied, a graph's, its
    parameters' own values give way.
    """
    by_precision = parameters.variant == "totaltext"

    def of(name: str, by: str) -> float:
        own = UNSET if by in varied or parameters.preset == "relaxed" else getattr(parameters, name)
        return _or(own, t_r if by == "t_r" else t_p)

    return Thresholds(
        one_to_one_recall=of("one_to_one_recall", "t_r"),
        one_to_one_precision=of("one_to_one_precision", "t_p"),
        one_to_many_recall=of("one_to_many_recall", "t_r"),
        one_to_many_precision=of("one_to_many_precision", "t_p"),
        many_to_one_precision=of("many_to_one_precision", "t_p"),
        many_to_one_recall=of("many_to_one_recall", "t_p" if by_precision else "t_r"),
    )


def curve_points(parameters: Parameters) -> int:
    """T: as set, but never 0 where a preset needs the graphs."""
    return parameters.curve_points or (DEFAULT_CURVE_POINTS if parameters.preset == "auc" else 0)


def steps(parameters: Parameters) -> list[float]:
    """1/T, 2/T, ..., 1."""
    points = curve_points(parameters)
    return [step / points for step in range(1, points + 1)]


def convention(parameters: Parameters) -> Convention:
    """Bounding boxes whose corners are pixels; continuous polygons for
    totaltext and where asked for.
    """
    if parameters.variant == "totaltext" or parameters.shape == "polygon":
        return Convention()
    return Convention(inclusive=True, truncated=parameters.variant == "wolf")


def rules_of(parameters: Parameters) -> Rules:
    """What the variant's program does, with the parameters that are set."""
    share = 0.5 if parameters.variant == "totaltext" else _or(parameters.t_p, 0.4)
    rules = RULES[parameters.variant]._replace(
        dont_care_overlap=_or(parameters.dont_care_overlap, share),
        center=None if parameters.variant == "totaltext" else parameters.center,
        border=parameters.border,
    )
    return pairs.exact_sums(rules) if parameters.shape == "polygon" else rules


def weights_of(parameters: Parameters) -> Weights:
    """Credits of splits and merges."""
    merge = _or(parameters.merge_weight, 1.0 if parameters.variant == "rrc" else 0.8)
    return Weights(parameters.split_weight, merge, parameters.scatter == "logarithm")
