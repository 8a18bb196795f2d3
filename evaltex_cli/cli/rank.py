"""``evaltex rank``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaltex_cli.cli.compare import named_detectors
from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    Chosen,
    choice,
    ci_option,
    default_option,
    form_option,
    input_options,
    is_given,
    label_option,
    output_option,
    protocol_options,
    resamples_option,
    seed_option,
)
from evaltex_cli.cli.output import error_exit, stop, warn, write_output
from evaltex_cli.cli.paths import BOARD, OutputFile, force_option, is_board_file
from evaltex_cli.cli.terminal import screen
from evaltex_cli.cli.work import Work, work_options
from evaltex_cli.formats.options import InputOptions

if TYPE_CHECKING:
    from evaltex_cli.ranking.board import Board

CORRECTIONS = ("max-t", "holm")
"""Those of `ranking.board`, which is not imported for a help page."""
EXAMPLES = (
    "evaltex rank gt.txt det.txt other.txt --protocol iou,evaltex",
    "evaltex rank board.toml --report ranking.html",
)


@click.argument("paths", type=BOARD, nargs=-1, required=True, metavar="GT DET DET... | BOARD")
@protocol_options(help_text="Protocols to rank by.  [default: evaltex; of a board: its own]")
@input_options()
@work_options
@label_option
@resamples_option
@seed_option
@ci_option("level", 0.95, "Level of the intervals and the tests.  [default: 0.95]")
@default_option(
    "--correction",
    choice(CORRECTIONS),
    CORRECTIONS[0],
    "Correction of p-values for all pairs.",
)
@click.option("--pooled", is_flag=True, help="Also sum the evidence over all data sets.")
@form_option
@click.option("--report", type=OutputFile("ranking"), help="Write the ranking as a page, too.")
@output_option("ranking")
@force_option
@all_faults_option
def command(
    paths: tuple[Path, ...],
    chosen: Chosen,
    options: InputOptions,
    work: Work,
    labels: tuple[str, ...],
    resamples: int,
    seed: int,
    level: float,
    correction: str,
    pooled: bool,
    form: str,
    report: Path | None,
    output: Path | None,
) -> None:
    """Rank detectors: scores and ranks with intervals, ties, and where protocols disagree.

    Give the ground truth and two or more detections, or a board: a TOML file of detectors, data
    sets and protocols. Detectors that share a letter do not differ significantly; p-values are
    corrected for all pairs.
    """
    with error_exit():
        given = {
            "level": level,
            "resamples": resamples,
            "seed": seed,
            "correction": correction,
            "pooled": pooled,
        }
        is_board = len(paths) == 1 and is_board_file(paths[0])
        if not is_board and len(paths) < 3:
            stop("nothing to rank; give GT DET_A DET_B ..., or a board (evaltex rank board.toml)")
        from evaltex_cli.ranking import measuring, page, ranking, tables, terminal_table

        if is_board:
            _refuse_with_board(chosen, labels)
            board = _board(
                paths[0], chosen, {name: given[name] for name in given if is_given(name)}
            )
        else:
            board = _of_paths(paths, labels, chosen, options, given)
        with work.workers(*board.paths) as ordered_map:
            entries, left_out = measuring.entries_of(board, ordered_map)
        ranked = ranking.rank(entries, board.detectors, board.settings)
        warn([*left_out, *ranked.warnings])
        if report is not None:
            page.write(report, ranked, board.reports)
        if form == "table":
            write_output(terminal_table.table(ranked, screen(output)), output)
        else:
            write_output(tables.FORMATS[form](ranked), output)


def _refuse_with_board(chosen: Chosen, labels: tuple[str, ...]) -> None:
    """Refuse options that the board has for each data set."""
    names = (
        *("gt_format", "det_format", "gt_level", "det_level", "gt_classes", "det_classes"),
        *("images", "only", "min_confidence", "lines", "invalid", "dont_care"),
        *("coordinates", "columns"),
    )
    given = [f"--{name.replace('_', '-')}" for name in names if is_given(name)]
    given += ["--label"] if labels else []
    given += ["--set, --config or --preset"] if chosen.has_parameters else []
    if given:
        stop(f"{', '.join(given)}: the board says this for each data set; write it there")


def _board(path: Path, chosen: Chosen, given: dict[str, Any]) -> Board:
    from evaltex_cli.ranking import board_file

    return board_file.read(
        path, given | ({"protocols": chosen.names()} if chosen.protocols else {})
    )


def _of_paths(
    paths: tuple[Path, ...],
    labels: tuple[str, ...],
    chosen: Chosen,
    options: InputOptions,
    given: dict[str, Any],
) -> Board:
    """Return the board of one data set, named after its ground truth."""
    from evaltex_cli.ranking.board import Board, DataSet, Settings

    gt, *detections = paths
    named = named_detectors(tuple(detections), labels)
    dataset = DataSet(gt.name, gt, chosen.with_preset(options), chosen.parameters(), named)
    return Board([dataset], Settings(**given))
