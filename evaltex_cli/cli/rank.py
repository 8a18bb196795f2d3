"""``evaltex rank``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.compare import given_detectors
from evaltex_cli.cli.output import Output, stop, warn
from evaltex_cli.cli.paths import INPUT, OutputFile
from evaltex_cli.evaluation.groups import Grouping
from evaltex_cli.runtime.outputs import protect

EXAMPLES = (
    "evaltex rank gt.txt det.txt other.txt --protocol iou,evaltex",
    "evaltex rank board.toml --report ranking.html",
)


@click.argument(
    "paths", type=INPUT, nargs=-1, required=True, metavar="GT DET DET... | RESULT RESULT... | BOARD"
)
@opt.scoring_options(
    help_text="Protocols to rank by.  [default: evaltex; for results: all; for a board: its own]"
)
@opt.label_option
@opt.resampling_options(0.95)
@opt.choice_option("--correction", ["max-t", "holm"], "Correction of p-values for all pairs.")
@opt.grouping_options("unit", "groups")
@click.option("--report", type=OutputFile("ranking"), help="Also write an HTML page.")
@opt.output_options("ranking")
def command(
    paths: tuple[Path, ...],
    scoring: opt.Scoring,
    labels: tuple[str, ...],
    out: Output,
    report: Path | None,
    grouping: Grouping,
    **settings: Any,
) -> None:
    """Rank detectors: scores and ranks with intervals, ties, and where protocols disagree.

    Give the ground truth and two or more detections, the results of earlier runs made with -a, or a
    board: a TOML file of detectors, data sets and protocols. Detectors that share a letter do not
    differ significantly; p-values are corrected for all pairs.
    """
    from evaltex_cli.ranking import page
    from evaltex_cli.ranking.board import Board, DataSet, Settings, read
    from evaltex_cli.ranking.rank import rank

    if len(paths) == 1 and paths[0].suffix.lower() == ".toml":
        if in_board := opt.given_scoring_options("labels", "groups"):
            stop(f"{', '.join(in_board)}: the board says this for each data set; write it there")
        own = {name: value for name, value in settings.items() if opt.is_given(name)}
        own |= {"protocols": list(scoring.parameters)} if opt.is_given("protocols") else {}
        own |= {"unit": grouping.units.name} if opt.is_given("unit") else {}
        board = read(paths[0], own)
        protect([paths[0], *board.files])
    else:
        gt, detectors, protocols = given_detectors(paths, labels, scoring, "rank")
        groups = grouping.groups and grouping.groups.path
        dataset = DataSet("", gt, scoring.options, protocols, detectors, groups)
        board = Board([dataset], Settings(**settings, unit=grouping.units.name))
    with scoring.workers as ordered_map:
        ranking = rank(board, ordered_map)
    warn(ranking.warnings)
    if report is not None:
        page.write(report, ranking, board)
    out.show(ranking)
