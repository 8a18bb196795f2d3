"""``evaltex sweep``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Output, end, warn
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER
from evaltex_cli.evaluation.groups import Grouping

EXAMPLES = (
    "evaltex sweep gt.zip det.zip",
    "evaltex sweep gt.zip det.zip results --protocol iou,cleval --report",
)


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@click.argument("res_dir", type=OUTPUT_FOLDER, required=False)
@opt.default_option("--points", click.IntRange(min=1), 100, "Most levels to try.")
@opt.default_option("--folds", click.IntRange(min=2), 5, "Folds of the cross-validation.")
@opt.resampling_options()
@opt.default_option("--tolerance", click.FloatRange(0, 1), 0.005, "Most loss on the plateau.")
@click.option(
    "--max-detections", type=click.IntRange(min=1), help="Most detections of an image for ap_coco."
)
@click.option("--plots", is_flag=True, help="Write the curves to RES_DIR as SVG.")
@click.option("--report", is_flag=True, help="Write RES_DIR/sweep.html with table and curves.")
@opt.grouping_options("unit", "groups")
@opt.scoring_options("evaltex")
@opt.output_options("sweep")
@opt.gate_options(
    "Exit with 1 if true: sweep.hmean:-0.5%, optimism>0.02 etc.; repeatable.",
    "sweep.json of an earlier sweep; repeatable.",
)
def command(
    gt: Path,
    det: Path,
    res_dir: Path | None,
    scoring: opt.Scoring,
    plots: bool,
    report: bool,
    out: Output,
    level: float | None,
    resamples: int,
    fail_if: tuple[str, ...],
    baselines: tuple[Path, ...],
    junit: Path | None,
    unclear: str,
    grouping: Grouping,
    **sweeping: Any,
) -> None:
    """Score detections at each confidence threshold, and show which to choose.

    DET must contain all detections with their confidences, unfiltered. The operating point is the
    level with the highest main score (hmean, or pq of the protocol pq). The cross-validated score
    (crossval) scores each image at a level that was chosen on other images; optimism is how much
    the score gains from choosing the level on the same images. RES_DIR gets sweep.json, sweep.csv
    and sweep.md.
    """
    if res_dir is None and (plots or report):
        raise click.UsageError(
            "--plots and --report need a result folder: evaltex sweep GT DET RES_DIR."
        )
    from evaltex_cli.comparison import gates
    from evaltex_cli.evaluation.evaluate import left_out, runs_of
    from evaltex_cli.evaluation.evaluation import of_protocols
    from evaltex_cli.evaluation.extras import Bootstrap
    from evaltex_cli.evaluation.inputs import open_inputs
    from evaltex_cli.runtime.marks import is_of
    from evaltex_cli.runtime.outputs import output_folder, write_file
    from evaltex_cli.thresholds import files
    from evaltex_cli.thresholds.result import Sweeps
    from evaltex_cli.thresholds.sweep import swept

    runs = runs_of(scoring.parameters)
    conditions = gates.prepare(fail_if, baselines, runs, in_sweep=True)
    units = grouping.units
    bootstrap = None if level is None else Bootstrap(level, resamples, sweeping["seed"], units)
    with ExitStack() as stack:
        folder = None
        if res_dir is not None:
            names = files.names_of(list(scoring.parameters))
            folder = stack.enter_context(output_folder(res_dir, is_of("sweep", "plot"), names))
        ordered_map = stack.enter_context(scoring.workers)
        inputs = open_inputs(gt, det, scoring.options, ordered_map)
        found = swept(
            inputs, runs, bootstrap=bootstrap, units=units, ordered_map=ordered_map, **sweeping
        )
        subjects = gates.of_sweep({one.protocol: one.to_dict() for one in found})
        verdicts = gates.decide(conditions, subjects)
        warn(gates.warnings_of(conditions, subjects))
        missing = left_out(scoring.parameters, inputs)
        notes = [f"Left out: {name} ({reason})" for name, reason in missing.items()]
        sweeps = Sweeps(found, notes, bootstrap)
        if folder is not None:
            files.write(folder, sweeps, plots, report)
    if junit is not None:
        write_file(junit, gates.junit(verdicts, unclear))
    warn(grouping.warnings(inputs.gt.names))
    warn(of_protocols((one.protocol, one.warnings) for one in found))
    out.show(sweeps)
    lines = [f"Results: {res_dir / 'sweep*'}"] if res_dir is not None else []
    end(lines, out, verdicts, unclear)
