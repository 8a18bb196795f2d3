"""``evaltex compare``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Output, stop, warn
from evaltex_cli.cli.paths import INPUT
from evaltex_cli.evaluation.groups import Grouping
from evaltex_cli.protocols import PROTOCOLS

EXAMPLES = (
    "evaltex compare gt.txt det.txt other.txt",
    "evaltex compare results results-other --protocol iou --format markdown",
)


@click.argument(
    "paths", type=INPUT, nargs=-1, required=True, metavar="GT DET DET... | RESULT RESULT..."
)
@opt.scoring_options(help_text="Protocols to compare by.  [default: evaltex; for results: all]")
@opt.label_option
@opt.resampling_options(0.95)
@opt.grouping_options()
@opt.all_scores_option
@click.option(
    "--worst",
    type=click.IntRange(min=0),
    help="How many images and objects that got worse to list.  [default: 10; 0 for several"
    " protocols]",
)
@opt.output_options("comparison")
def command(
    paths: tuple[Path, ...],
    scoring: opt.Scoring,
    labels: tuple[str, ...],
    out: Output,
    grouping: Grouping,
    all_scores: bool,
    worst: int | None,
    **sampling: Any,
) -> None:
    """Compare detectors: differences, intervals, p-values, and what got worse.

    Give the ground truth and two or more detections, or the results of earlier runs made with -a.
    Differences are to the first detector. Intervals and p-values: paired permutation test over
    images.
    """
    from evaltex_cli.comparison.compare import WORST, compare_all
    from evaltex_cli.comparison.detectors import read_or_evaluate, results_by_class
    from evaltex_cli.evaluation.extras import Bootstrap

    gt, detectors, protocols = given_detectors(paths, labels, scoring, "compare")
    with scoring.workers as ordered_map:
        arguments = gt, detectors, scoring.options, protocols, ordered_map
        results = read_or_evaluate(*arguments)
        classes = results_by_class(*arguments) if grouping.has_class else []
    bootstrap = Bootstrap(**sampling, units=grouping.units)
    found, warnings = compare_all(results, protocols, bootstrap, grouping, classes)
    warn(warnings)
    if worst is None:
        worst = WORST if len(found) == 1 and out.format != "latex" else 0
    out.show(found, found.tables(all_scores, worst))


def given_detectors(
    paths: tuple[Path, ...], labels: tuple[str, ...], scoring: opt.Scoring, verb: str
) -> tuple[Path | None, dict[str, Path], Mapping[str, Any]]:
    """Return the ground truth, None if all detectors have results; label -> path of the detectors;
    and protocol -> parameters.
    """
    from evaltex_cli.comparison.detectors import is_result

    gt, detectors = (None, paths) if is_result(paths[0]) else (paths[0], paths[1:])
    if len(detectors) < 2:
        stop(f"nothing to {verb}; give GT DET_A DET_B, or two results of runs with -a")
    named = opt.named_detectors(detectors, labels)
    if not all(map(is_result, detectors)):
        return gt, named, scoring.parameters
    if given := opt.given_scoring_options():
        stop(
            f"results were evaluated before; leave out {', '.join(given)}, or give the detections"
            " themselves"
        )
    names = scoring.parameters if opt.is_given("protocols") else PROTOCOLS
    return gt, named, dict.fromkeys(names)
