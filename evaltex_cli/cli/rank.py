"""``evaltex rank``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.compare import given_detectors
from evaltex_cli.cli.output import Output, stop, warn
from evaltex_cli.cli.paths import Board, OutputFile, is_board_file

CORRECTIONS = ("max-t", "holm")
"""Those of `ranking.board`, which is not imported for a help page."""
EXAMPLES = (
    "evaltex rank gt.txt det.txt other.txt --protocol iou,evaltex",
    "evaltex rank board.toml --report ranking.html",
)


@click.argument(
    "paths",
    type=Board(),
    nargs=-1,
    required=True,
    metavar="GT DET DET... | RESULT RESULT... | BOARD",
)
@opt.scoring_options(
    help_text="Protocols to rank by.  [default: evaltex; for results: all; for a board: its own]"
)
@opt.label_option
@opt.resampling_options("level", 0.95, "Level of the intervals and the tests.  [default: 0.95]")
@opt.default_option(
    "--correction", opt.choice(CORRECTIONS), CORRECTIONS[0], "Correction of p-values for all pairs."
)
@click.option("--pooled", is_flag=True, help="Also rank over all data sets together.")
@click.option("--report", type=OutputFile("ranking"), help="Also write an HTML page.")
@opt.output_options("ranking")
def command(
    paths: tuple[Path, ...],
    scoring: opt.Scoring,
    labels: tuple[str, ...],
    out: Output,
    report: Path | None,
    **settings: Any,
) -> None:
    """Rank detectors: scores and ranks with intervals, ties, and where protocols disagree.

    Give the ground truth and two or more detections, the results of earlier runs made with -a, or a
    board: a TOML file of detectors, data sets and protocols. Detectors that share a letter do not
    differ significantly; p-values are corrected for all pairs.
    """
    from evaltex_cli.comparison.detectors import by_protocol, name_of, read_or_evaluate
    from evaltex_cli.ranking import board, page
    from evaltex_cli.ranking.rank import rank, rank_board

    reports: dict[tuple[str, str], Path] = {}
    if len(paths) == 1 and is_board_file(paths[0]):
        if in_board := [*scoring.given_options(), *(["--label"] if labels else [])]:
            stop(f"{', '.join(in_board)}: the board says this for each data set; write it there")
        own = {name: value for name, value in settings.items() if opt.is_given(name)}
        own |= {"protocols": scoring.names()} if scoring.protocols else {}
        opened = board.read(paths[0], own)
        reports = opened.reports
        with scoring.work.workers() as mapped:
            ranking, left_out = rank_board(opened, mapped)
    else:
        gt, detectors, protocols = given_detectors(paths, labels, scoring, "rank")
        with scoring.work.workers() as mapped:
            results = read_or_evaluate(gt, detectors, scoring.options, protocols, mapped, False)
        groups, reasons = by_protocol(results, protocols)
        left_out = [f"left out: {name} ({reason})" for name, reason in reasons.items()]
        ranking = rank({name_of(groups): groups}, list(detectors), board.Settings(**settings))
    warn([*left_out, *ranking.warnings])
    if report is not None:
        page.write(report, ranking, reports)
    out.show(ranking)
