"""``evaltex GT DET RES_DIR``: the plain form."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Output, echo_err, is_set, print_below, warn
from evaltex_cli.cli.paths import INPUT, PICTURES, OutputFile, OutputFolder
from evaltex_cli.formats.options import MAX_PIXELS, MaskFolders
from evaltex_cli.results.extras import Bootstrap, Extras, Intervals

GATE_NOT_MET = 1
EXAMPLES = (
    "evaltex gt.txt det.txt",
    "evaltex gt.txt det.txt results -a --protocol iou,tiou --report",
)


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@click.argument(
    "res_dir", type=OutputFolder(" (`evaltex compare` takes several detections)"), required=False
)
@click.argument("gt_img_dir", type=PICTURES, required=False)
@click.argument("det_img_dir", type=PICTURES, required=False)
@click.option("-a", "per_image", is_flag=True, help="Also write the results of each image.")
@opt.output_options("scores")
@click.option(
    "--objects",
    type=OutputFile("objects"),
    help="Write one row per object to a .csv or .parquet file.",
)
@click.option("--plots", is_flag=True, help="Write curves as SVG, for protocols that have any.")
@click.option("--report", is_flag=True, help="Write RES_DIR/report.html, a page of images.")
@opt.report_options
@opt.scoring_options("evaltex", images_help="Folder of the pictures, for sizes and the report.")
@opt.default_option(
    "--max-pixels", opt.Count(min=1), MAX_PIXELS, "Refuse label pictures with more pixels."
)
@opt.resampling_options("level", None, "Add confidence intervals, of level 0.95 without N.")
@opt.all_scores_option
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
    diagnose: bool,
    scoring: opt.Scoring,
    max_pixels: int,
    all_scores: bool,
    fail_if: tuple[str, ...],
    baselines: tuple[Path, ...],
    junit: Path | None,
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
    options = scoring.options
    if shown["embed"] and options.images is None:
        raise click.UsageError("--embed needs --images DIR.")
    from evaltex_cli.comparison.gates import junit as in_junit
    from evaltex_cli.comparison.gates import prepare
    from evaltex_cli.evaluation import evaluate
    from evaltex_cli.evaluation.evaluate import Sink
    from evaltex_cli.evaluation.evaluation import of_protocols
    from evaltex_cli.evaluation.inputs import open_inputs
    from evaltex_cli.protocols.base import load
    from evaltex_cli.results import image_table, scores
    from evaltex_cli.results.result_document import of_evaluation
    from evaltex_cli.runtime.outputs import write_file

    masks = None
    if gt_img_dir is not None and det_img_dir is not None:
        masks = MaskFolders(gt_img_dir, det_img_dir, max_pixels)
        options = replace(options, masks=masks)
    bootstrap = None if sampling["level"] is None else Bootstrap(**sampling)
    runs, left_out = evaluate.runs_of(scoring.parameters()), {}
    if opt.ALL in scoring.protocols and masks is not None:
        left_out = {
            run.protocol.name: "it takes no label pictures"
            for run in runs
            if "outlines" in run.protocol.needs
        }
        runs = [run for run in runs if run.protocol.name not in left_out]
    slices, diagnostician, writer, table = None, None, None, None
    if baselines and not fail_if:
        warn(["--baseline has no effect without a gate; add one, such as --fail-if hmean:-1%"])
    gates = prepare(fail_if, baselines, runs)
    sinks: list[Sink] = []
    image_tables: dict[str, list[image_table.ImageTable]] = defaultdict(list)
    with ExitStack() as stack:
        if res_dir is not None:
            from evaltex_cli.results.writer import result_folder

            protocols = [load(name) for name in scoring.names()]
            writer = stack.enter_context(result_folder(res_dir, protocols))
        if objects is not None:
            from evaltex_cli.results.object_table import ObjectTable

            table = ObjectTable(objects)
            sinks.append(table.sink)
        if report and diagnose and masks is None:
            from evaltex_cli.diagnosis.diagnosis import Diagnostician

            diagnostician = Diagnostician()
            sinks.append(diagnostician.sink)
        if gates.slices:
            if masks is not None:
                raise click.UsageError("Gates on slices do not work with label pictures.")
            from evaltex_cli.diagnosis.breakdown import SliceRecalls

            slices = SliceRecalls(gates.slices)
            sinks.append(slices.sink)
        if report:
            sinks.append(
                Sink(
                    image_table.table_of,
                    lambda run, images: image_tables[run.protocol.name].append(images),
                )
            )
        with scoring.work.workers() as ordered_map:
            inputs = open_inputs(gt, det, options, ordered_map)
            if writer is not None and per_image:
                from evaltex_cli.results.writer import image_files, log_unfit_names

                log_unfit_names(inputs.gt, inputs.faults)
                sinks.append(Sink(image_files, writer.take))
            evaluations = evaluate.evaluate_inputs(inputs, runs, sinks, None, ordered_map)
        left_out |= evaluate.left_out([run.protocol.name for run in runs], inputs)
        recalls = {one.protocol.name: slices.of(one) for one in evaluations} if slices else {}
        verdicts = gates.verdicts(evaluations, recalls)
        intervals: dict[str, Intervals] = {}
        if bootstrap is not None:
            from evaltex_cli.results.significance import with_intervals

            evaluations, intervals = with_intervals(evaluations, bootstrap)
        names = [one.protocol.name for one in evaluations]
        extras = {
            name: Extras(
                intervals=intervals.get(name),
                bootstrap=bootstrap,
                gates=[one for one in verdicts if one.protocol == name] if verdicts else None,
            )
            for name in names
        }
        page = ""
        if writer is not None and res_dir is not None:
            for one in evaluations:
                writer.finish(one, extras[one.protocol.name], has_plots=plots)
            if report:
                from evaltex_cli import report as reports

                documents, diagnoses = {}, {}
                for one in evaluations:
                    name = one.protocol.name
                    table_of_images = image_table.joined(image_tables[name])
                    documents[name] = replace(
                        of_evaluation(one, table_of_images), extras=extras[name]
                    )
                    if diagnostician is not None:
                        diagnoses[name] = diagnostician.diagnosis(one)
                label = Path(os.path.realpath(res_dir)).name
                detectors = [reports.Detector(label, documents, inputs, diagnoses)]
                if diagnose and diagnostician is None:
                    detectors = reports.with_diagnoses(detectors)
                page = reports.make(
                    writer.folder / "report.html",
                    detectors,
                    options.images,
                    page_folder=res_dir,
                    **shown,
                )
            scores.write(writer, evaluations, extras)
        if table is not None:
            table.write(names)
        if junit is not None:
            write_file(junit, in_junit(verdicts))
    warnings = of_protocols((one.protocol.name, one.warnings) for one in evaluations)
    are_shown = out.form not in ("csv", "json") and not is_set("quiet")
    warn([text for text in warnings if not (are_shown and text.startswith(scores.NO_INTERVAL))])
    out.show(scores.RunScores(evaluations, extras, all_scores=all_scores), schema=scores.SCHEMA)
    lines = [f"Left out: {name} ({reason})" for name, reason in left_out.items()]
    if page:
        lines.append(f"Report: {res_dir}/report.html ({page})")
    if res_dir is not None:
        name = names[0] if len(names) == 1 else "PROTOCOL"
        files = [f"{name}.txt", f"{name}.json", *([f"{name}/*.txt"] if per_image else [])]
        lines.append(f"Results: {', '.join(str(res_dir / file) for file in files)}")
    print_below(lines, out, verdicts)
    if not (res_dir or objects or junit or out.output or is_set("quiet")):
        echo_err("note", "no files written; evaltex GT DET RES_DIR writes them to RES_DIR")
    if not all(verdict.passed for verdict in verdicts):
        sys.exit(GATE_NOT_MET)
