"""``evaltex sweep``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaltex_cli.cli.evaluate import GATE_NOT_MET, baseline_option, fail_if_option, junit_option
from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    Chosen,
    Number,
    ci_option,
    default_option,
    form_option,
    input_options,
    output_option,
    protocol_options,
    quiet_option,
    resamples_option,
    seed_option,
)
from evaltex_cli.cli.output import echo_lines, error_exit, warn, write_output
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, force_option
from evaltex_cli.cli.terminal import screen
from evaltex_cli.cli.work import Work, work_options
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.results.screen import joined

if TYPE_CHECKING:
    from evaltex_cli.thresholds.result import Sweep

EXAMPLES = (
    "evaltex sweep gt.zip det.zip",
    "evaltex sweep gt.zip det.zip results --protocol iou,cleval --report",
)


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@click.argument("res_dir", type=OUTPUT_FOLDER, required=False)
@default_option("--points", click.IntRange(min=1), 100, "Levels to try, at most.")
@default_option("--folds", click.IntRange(min=2), 5, "Folds of the cross-validation.")
@ci_option("ci", None, "Bootstrap intervals of this level.  [default: 0.95]")
@resamples_option
@seed_option
@default_option("--tolerance", Number(0, 1), 0.005, "Loss of score on the plateau, at most.")
@click.option(
    "--max-detections",
    type=click.IntRange(min=1),
    help="Detections of an image for ap_coco, at most.  [default: all]",
)
@click.option("--plots", is_flag=True, help="Write the curves to RES_DIR as SVG.")
@click.option("--report", is_flag=True, help="Write RES_DIR/sweep.html with table and curves.")
@protocol_options("evaltex")
@input_options()
@form_option
@output_option("sweep")
@fail_if_option(
    "Exit with status 1 if EXPR is true, such as sweep.hmean:-0.5% against a baseline or"
    " optimism>0.02; repeatable."
)
@baseline_option("sweep.json of an earlier sweep; repeatable.")
@junit_option
@work_options
@force_option
@all_faults_option
@quiet_option
def command(
    gt: Path,
    det: Path,
    res_dir: Path | None,
    chosen: Chosen,
    options: InputOptions,
    work: Work,
    plots: bool,
    report: bool,
    form: str,
    output: Path | None,
    quiet: bool,
    ci: float | None,
    resamples: int,
    fail_if: tuple[str, ...],
    baselines: tuple[Path, ...],
    junit: Path | None,
    **given: Any,
) -> None:
    """Score detections at each confidence threshold, and show which to choose.

    DET has the detections with their confidences, none left out. The operating point is the level
    of the highest main score (hmean, fscore, pq). The cross-validated score is that of images at
    levels chosen on other images; optimism is what choosing the level on the same images adds.
    RES_DIR gets sweep.json, sweep.csv and sweep.md.
    """
    with error_exit():
        if res_dir is None and (plots or report):
            raise click.UsageError(
                "--plots and --report need a result folder: evaltex sweep GT DET RES_DIR."
            )
        from evaltex_cli.cli.run import gate_lines
        from evaltex_cli.comparison.gate import Gates
        from evaltex_cli.evaluation.evaluate import left_out, runs_of
        from evaltex_cli.evaluation.evaluation import of_protocols
        from evaltex_cli.evaluation.inputs import open_inputs
        from evaltex_cli.results.extras import Bootstrap
        from evaltex_cli.runtime.outputs import write_file
        from evaltex_cli.thresholds import files, gates
        from evaltex_cli.thresholds.sweep import SweepOptions, swept

        parameters, options = chosen.parameters(), chosen.with_preset(options)
        wanted = gates.prepare(fail_if, baselines)
        with (
            files.folder_for(res_dir, chosen.names()) as folder,
            work.workers(gt, det, options.images, options.lines) as ordered_map,
        ):
            inputs = open_inputs(gt, det, options, ordered_map)
            bootstrap = None if ci is None else Bootstrap(ci, resamples, given["seed"])
            own = SweepOptions(**given, bootstrap=bootstrap)
            sweeps = swept(inputs, runs_of(parameters), own, None, ordered_map)
            verdicts = wanted.verdicts(sweeps)
            if folder is not None:
                files.write(folder, sweeps, plots, report)
        if junit is not None:
            write_file(junit, Gates.junit(verdicts))
        missing = left_out(
            parameters, [one.protocol for one in sweeps], sweeps[0].gt, sweeps[0].det
        )
        warn(of_protocols((one.protocol, one.warnings) for one in sweeps))
        if output is not None or not quiet:
            write_output(_shown(sweeps, missing, form, output, ci), output)
        lines = [f"Results: {res_dir / 'sweep.json'}"] if res_dir is not None and not quiet else []
        failed = [verdict for verdict in verdicts if not verdict.passed]
        for verdict in failed if quiet else verdicts:
            lines += gate_lines(verdict, screen())
        echo_lines(lines, to_stderr=quiet or form != "table")
        if failed:
            sys.exit(GATE_NOT_MET)


def _shown(
    sweeps: Sequence[Sweep],
    missing: Mapping[str, str],
    form: str,
    output: Path | None,
    ci: float | None,
) -> str:
    """Return what is printed; a table also says which protocols are left out."""
    from evaltex_cli.thresholds import documents, terminal_table

    if form != "table":
        return documents.FORMS[form](sweeps)
    left_out = [f"Left out: {name} ({reason})" for name, reason in missing.items()]
    return joined([*terminal_table.table(sweeps, screen(output), ci), *left_out])
