"""``evaltex compare``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Output, stop, warn
from evaltex_cli.cli.paths import INPUT
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
@opt.resampling_options("level", 0.95, "Level of the confidence intervals.  [default: 0.95]")
@opt.all_scores_option
@click.option(
    "--worst",
    type=opt.Count(min=0),
    help="How many images and objects that got worse to list.  [default: 10; 0 for several"
    " protocols]",
)
@opt.output_options("comparison")
def command(
    paths: tuple[Path, ...],
    scoring: opt.Scoring,
    labels: tuple[str, ...],
    out: Output,
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
    from evaltex_cli.comparison.detectors import read_or_evaluate

    gt, detectors, protocols = given_detectors(paths, labels, scoring, "compare")
    with scoring.work.workers() as ordered_map:
        results = read_or_evaluate(gt, detectors, scoring.options, protocols, ordered_map)
    found, warnings = compare_all(results, protocols, **sampling)
    warn(warnings)
    if worst is None:
        worst = WORST if len(found) == 1 and out.form != "latex" else 0
    out.show(replace(found, all_scores=all_scores, worst=worst))


def given_detectors(
    paths: tuple[Path, ...], labels: tuple[str, ...], scoring: opt.Scoring, verb: str
) -> tuple[Path | None, dict[str, Path], dict[str, Any]]:
    """Return the ground truth, None if all detectors have results; label -> path of the detectors;
    and protocol -> parameters.
    """
    from evaltex_cli.comparison.detectors import is_result

    gt, detectors = (None, paths) if is_result(paths[0]) else (paths[0], paths[1:])
    if len(detectors) < 2:
        stop(f"nothing to {verb}; give GT DET_A DET_B, or two results of runs with -a")
    named = named_detectors(detectors, labels)
    if not all(map(is_result, detectors)):
        return gt, named, scoring.parameters()
    if given := scoring.given_options():
        stop(
            f"results were evaluated before; leave out {', '.join(given)}, or give the detections"
            " themselves"
        )
    scoring.work.warn_unused("on results, which were evaluated before")
    protocols = scoring.names() if scoring.protocols else list(PROTOCOLS)
    return gt, named, dict.fromkeys(protocols)


def named_detectors(paths: tuple[Path, ...], labels: tuple[str, ...]) -> dict[str, Path]:
    """Return label -> path of detectors; no two have the same label."""
    from evaltex_cli.comparison.detectors import labels_of

    opt.check_labels(labels, paths)
    if not all(map(str.strip, labels)):
        stop("a label is empty; give each detector a name by --label")
    named = dict(zip(labels or labels_of(paths), paths, strict=True))
    if len(named) < len(paths):
        stop("two detectors have the same name; give each its own by --label")
    return named
