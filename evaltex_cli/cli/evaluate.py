"""``evaltex GT DET RES_DIR``: the plain form."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Output, end, is_quiet, note, warn
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, PICTURES, OutputFile
from evaltex_cli.evaluation.extras import Bootstrap
from evaltex_cli.evaluation.groups import Grouping
from evaltex_cli.formats.options import MAX_PIXELS, MaskFolders
from evaltex_cli.runtime.outputs import write_file

EXAMPLES = (
    "evaltex gt.txt det.txt",
    "evaltex gt.txt det.txt results -a --protocol iou,tiou --report",
)


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@click.argument("res_dir", type=OUTPUT_FOLDER, required=False)
@click.argument("gt_img_dir", type=PICTURES, required=False)
@click.argument("det_img_dir", type=PICTURES, required=False)
@click.option("-a", "per_image", is_flag=True, help="Also write the results of each image.")
@opt.output_options("scores")
@click.option(
    "--objects", type=OutputFile("objects"), help="Write a .csv file with one row per object."
)
@click.option("--plots", is_flag=True, help="Write curves as SVG, for protocols that have any.")
@click.option("--report", is_flag=True, help="Write RES_DIR/report.html, a page of images.")
@opt.report_options
@opt.scoring_options("evaltex")
@opt.default_option(
    "--max-pixels", click.IntRange(min=1), MAX_PIXELS, "Refuse label pictures with more pixels."
)
@opt.resampling_options()
@opt.grouping_options()
@opt.all_scores_option
@click.option("--score", help="Print only the number of this score: hmean, or iou.recall.")
@opt.gate_options(
    "Exit with 1 if true: hmean<0.7, recall:-0.5% etc.; repeatable.",
    "Earlier result, a .json or a folder; repeatable.",
)
def command(
    gt: Path,
    det: Path,
    res_dir: Path | None,
    gt_img_dir: Path | None,
    det_img_dir: Path | None,
    per_image: bool,
    out: Output,
    objects: Path | None,
    plots: bool,
    report: bool,
    shown: dict[str, Any],
    scoring: opt.Scoring,
    max_pixels: int,
    grouping: Grouping,
    all_scores: bool,
    score: str | None,
    fail_if: tuple[str, ...],
    baselines: tuple[Path, ...],
    junit: Path | None,
    unclear: str,
    **sampling: Any,
) -> None:
    """Score the text detections DET against the ground truth GT.

    GT and DET may have any format in `evaltex formats`. Scores are printed. If RES_DIR is given,
    they are also written there, to PROTOCOL.txt and PROTOCOL.json, and with -a to
    PROTOCOL/IMAGE.txt. With GT_IMG_DIR and DET_IMG_DIR, objects are labelled masks.
    """
    if (gt_img_dir is None) != (det_img_dir is None):
        raise click.UsageError(
            "GT_IMG_DIR and DET_IMG_DIR go together: evaltex GT DET RES_DIR GT_IMG_DIR DET_IMG_DIR."
        )
    if res_dir is None and (per_image or plots or report):
        raise click.UsageError(
            "-a, --plots and --report need a result folder: evaltex GT DET RES_DIR."
        )
    if any(shown.values()) and not report:
        raise click.UsageError(f"{'--embed' if shown['embed'] else '--all-images'} needs --report.")
    from evaltex_cli.comparison import gates
    from evaltex_cli.evaluation import evaluate
    from evaltex_cli.evaluation.evaluation import object_table
    from evaltex_cli.evaluation.inputs import open_inputs
    from evaltex_cli.results import scores, writer
    from evaltex_cli.results.by_group import with_slices
    from evaltex_cli.results.result_document import of_evaluation
    from evaltex_cli.results.significance import with_intervals
    from evaltex_cli.tables import in_csv

    options = scoring.options
    if gt_img_dir is not None and det_img_dir is not None:
        options = replace(options, masks=MaskFolders(gt_img_dir, det_img_dir, max_pixels))
    runs = evaluate.runs_of(scoring.parameters)
    conditions = gates.prepare(fail_if, baselines, runs, units=grouping.units)
    is_tested = sampling["level"] is not None
    if opt.is_given("unit") and not is_tested and not any(gate.level for gate in conditions):
        warn(["--unit has no effect without --ci, or a gate by evidence such as hmean:-1pt@95"])
    of_slices = gates.slices_of(conditions)
    if of_slices and options.masks is not None:
        raise click.UsageError("Gates on slices do not work with label pictures.")
    slices = None
    if of_slices:
        from evaltex_cli.diagnosis.breakdown import SliceRecalls

        slices = SliceRecalls(of_slices)
    if objects is not None and objects.suffix.lower() not in (".csv", ".txt", ""):
        raise click.UsageError("--objects writes CSV: give it a file that ends in .csv.")
    page = ""
    with ExitStack() as stack:
        results = None
        if res_dir is not None:
            protocols = [run.protocol for run in runs]
            results = stack.enter_context(writer.result_folder(res_dir, protocols))
        ordered_map = stack.enter_context(scoring.workers)
        inputs = open_inputs(gt, det, options, ordered_map)
        sinks = [] if slices is None else [slices.sink]
        has_images = per_image or report or objects is not None
        evaluations = evaluate.evaluate_inputs(
            inputs, runs, sinks, None, ordered_map, per_image=has_images
        )
        subjects = [gates.of_run(one, slices.recalls(one) if slices else {}) for one in evaluations]
        verdicts = gates.decide(conditions, subjects, grouping.units)
        warn(gates.warnings_of(conditions, subjects))
        bootstrap = None
        if is_tested:
            bootstrap = Bootstrap(**sampling, units=grouping.units)
            evaluations = [with_intervals(one, bootstrap) for one in evaluations]
        warn(grouping.warnings(inputs.gt.names, is_tested))
        evaluations = with_slices(evaluations, inputs, runs, grouping, bootstrap, ordered_map)
        for k, one in enumerate(evaluations) if verdicts else ():
            own = [verdict for verdict in verdicts if verdict.protocol == one.protocol.name]
            evaluations[k] = replace(one, gates=own)
        if results is not None and res_dir is not None:
            for one in evaluations:
                results.write(one if per_image else replace(one, images=()), has_plots=plots)
            if report:
                from evaltex_cli import report as reports

                documents = {one.protocol.name: of_evaluation(one) for one in evaluations}
                label = Path(os.path.realpath(res_dir)).name
                detector = reports.Detector(label, documents, inputs)
                detectors = reports.with_diagnoses([detector], ordered_map)
                file = results.folder / "report.html"
                page = reports.make(file, detectors, options.images, page_folder=res_dir, **shown)
            results.write_scores(evaluations)
        if objects is not None:
            write_file(objects, in_csv(object_table(evaluations)))
        if junit is not None:
            write_file(junit, gates.junit(verdicts, unclear))
    run = scores.RunScores(evaluations, all_scores=all_scores)
    are_shown = out.format not in ("csv", "json") and not is_quiet()
    warn([text for text in run.warnings if not (are_shown and text.startswith(scores.NO_INTERVAL))])
    if score is not None:
        click.echo(repr(scores.named(evaluations, score)))
    else:
        out.show(run, schema=scores.SCHEMA)
    if not (res_dir or objects or junit or out.output):
        note("no files written; evaltex GT DET RES_DIR writes them to RES_DIR")
    left_out = evaluate.left_out(scoring.parameters, inputs)
    lines = [f"Left out: {name} ({reason})" for name, reason in left_out.items()]
    if page:
        lines.append(f"Report: {res_dir}/report.html ({page})")
    if res_dir is not None:
        name = evaluations[0].protocol.name if len(evaluations) == 1 else "PROTOCOL"
        files = [f"{name}.txt", f"{name}.json", *([f"{name}/*.txt"] if per_image else [])]
        lines.append(f"Results: {', '.join(str(res_dir / file) for file in files)}")
    end([] if score else lines, out, verdicts, unclear)
