"""``evaltex GT DET RES_DIR``: the plain form."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaltex_cli.cli.options import (
    ALL,
    Chosen,
    NumberRange,
    Work,
    diagnose_option,
    embed_option,
    group,
    input_options,
    protocol_options,
    quiet_option,
    resamples_option,
    seed_option,
    work_options,
)
from evaltex_cli.cli.output import echo_lines, error_exit, progress_bar, warn
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, PICTURES, RESULTS, OutputFile, force_option
from evaltex_cli.formats.options import MAX_PIXELS, InputOptions, MaskFolders
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.version import __version__

if TYPE_CHECKING:
    from evaltex_cli.compare.gate import Gates
    from evaltex_cli.diagnose.diagnosis import Diagnosis, Diagnostician
    from evaltex_cli.evaluation.inputs import Inputs
    from evaltex_cli.evaluation.tally import Evaluation, Run
    from evaltex_cli.results.result_document import Verdict
    from evaltex_cli.results.writer import ResultWriter

GATE_NOT_MET = 1
REPORT = "report.html"


class Level(NumberRange):
    """The value of an option that needs none, and takes the word after it for one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is no level between 0 and 1; for 0.95, put the option after the paths.", param, ctx)


@dataclass(frozen=True, slots=True)
class Results:
    """Which results to write: `bootstrap` has level, resamples and seed of the intervals."""

    res_dir: Path
    per_image: bool
    plots: bool
    report: bool
    embed: bool
    diagnose: bool
    bootstrap: dict[str, Any]
    junit: Path | None
    resume: bool
    quiet: bool

    def __post_init__(self) -> None:
        if self.embed and not self.report:
            raise click.UsageError("--embed is of the report: give --report too.")


@dataclass(frozen=True, slots=True)
class Request:
    """The command line of one run."""

    gt: Path
    det: Path
    options: InputOptions
    chosen: Chosen
    work: Work
    results: Results


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@click.argument("res_dir", type=OUTPUT_FOLDER)
@click.argument("gt_img_dir", type=PICTURES, required=False, metavar="[GT_IMG_DIR")
@click.argument("det_img_dir", type=PICTURES, required=False, metavar="DET_IMG_DIR]")
@click.option("-a", "per_image", is_flag=True, help="Also write per-image results.")
@click.option("--plots", is_flag=True, help="Write performance curves, of protocols that have any, as SVG.")
@click.option("--report", is_flag=True, help="Write an HTML report to RES_DIR/report.html (implies -a).")
@embed_option
@diagnose_option
@protocol_options("evaltex")
@input_options("Folder of the images' pictures; used for sizes that GT does not have, and in the report.")
@click.option(
    "--max-pixels",
    type=click.IntRange(min=1),
    default=MAX_PIXELS,
    show_default=True,
    help="Refuse label pictures with more pixels.",
)
@group(
    "bootstrap",
    dict,
    level=click.option(
        "--confidence",
        "level",
        type=Level(0, 1, min_open=True, max_open=True),
        is_flag=False,
        flag_value=0.95,
        metavar="[LEVEL]",
        help="Show confidence intervals at this level.  [default level: 0.95]",
    ),
    resamples=resamples_option,
    seed=seed_option,
)
@click.option(
    "--fail-if",
    multiple=True,
    metavar="EXPR",
    help="Exit with status 1 if EXPR is true: fscore<0.7, or against a baseline recall:-0.5% or recall:-0.005; prefix"
    " PROTOCOL. when several are run. Repeatable.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    type=RESULTS,
    help="Result .json (or folder) of an earlier run. Repeatable.",
)
@click.option("--junit", type=OutputFile("junit"), help="Write the gates' verdicts to this file as JUnit XML.")
@work_options
@click.option(
    "--resume", is_flag=True, help="Save progress, so that the same command continues a run that was interrupted."
)
@force_option
@quiet_option
@click.version_option(__version__, prog_name="evaltex", message="%(prog)s %(version)s")
def command(
    gt: Path,
    det: Path,
    gt_img_dir: Path | None,
    det_img_dir: Path | None,
    options: InputOptions,
    chosen: Chosen,
    work: Work,
    max_pixels: int,
    fail_if: tuple[str, ...],
    baselines: tuple[Path, ...],
    **results: Any,
) -> None:
    """Evaluate the text detections DET against the ground truth GT; write results to RES_DIR.

    GT and DET are EvaLTex .txt files, folders or .zip archives of ICDAR-style .txt files, or a data set's XML, JSON or
    .mat files. With GT_IMG_DIR and DET_IMG_DIR, objects are the labelled masks in these folders' pictures.

    Results: RES_DIR/PROTOCOL.txt and .json; with -a also RES_DIR/PROTOCOL/IMAGE.txt.
    """
    with error_exit():
        results["per_image"] |= results["report"]
        if gt_img_dir is not None and det_img_dir is not None:
            options = replace(options, masks=MaskFolders(gt_img_dir, det_img_dir, max_pixels))
        request = Request(gt, det, options, chosen, work, Results(**results))
        if (gt_img_dir is None) != (det_img_dir is None):
            raise click.UsageError(
                "GT_IMG_DIR and DET_IMG_DIR go together: give both folders of label pictures, or neither."
            )
        work.prepare(*_modules_of_work(request))
        runs, left_out = _runs(request)
        from evaltex_cli.protocols.base import load
        from evaltex_cli.results.writer import result_names

        owned = [*(file for name in chosen.names() for file in result_names(load(name))), REPORT]
        gates = None
        if fail_if or baselines:
            from evaltex_cli.compare import gate

            gates = gate.prepare(fail_if, baselines, [request.results.res_dir / name for name in owned], runs)
        verdicts = _evaluate(request, runs, left_out, owned, gates)
        if not all(verdict.passed for verdict in verdicts):
            sys.exit(GATE_NOT_MET)


def _modules_of_work(request: Request) -> list[str]:
    """Return what the work most probably needs, for workers to find imported."""
    protocols = (PROTOCOLS[name] for name in request.chosen.names())
    modules = ["evaltex_cli.evaluation.batches", *protocols]
    modules.append(f"evaltex_cli.formats.{'icdar' if request.gt.is_dir() else 'evaltex'}.format")
    modules += ["evaltex_cli.formats.label_images"] if request.options.masks else []
    modules += ["evaltex_cli.results.writer"] if request.results.per_image else []
    return modules


def _runs(request: Request) -> tuple[list[Run], dict[str, str]]:
    """Return the protocols to run, and those left out of `all` with the reason."""
    from evaltex_cli.evaluation.evaluate import runs_of

    runs = runs_of(request.chosen.parameters(), keep_rows=request.results.bootstrap["level"] is not None)
    if ALL not in request.chosen.protocols or request.options.masks is None:
        return runs, {}
    unfit = [run.protocol.name for run in runs if not run.protocol.takes_masks]
    return [run for run in runs if run.protocol.takes_masks], dict.fromkeys(unfit, "it takes no label pictures")


def _evaluate(
    request: Request, runs: Sequence[Run], left_out: dict[str, str], owned: Sequence[str], gates: Gates | None
) -> list[Verdict]:
    """Evaluate, write all results and print a summary; a protocol without transcriptions is added to `left_out`."""
    from evaltex_cli.results.beginnings import is_result
    from evaltex_cli.results.text_tables import score_table
    from evaltex_cli.results.writer import ResultWriter
    from evaltex_cli.runtime.atomic_output import staged, write_file

    results, made = request.results, ""
    with staged(results.res_dir, owned, is_result) as folder, ResultWriter(folder) as writer:
        diagnostician = _diagnostician(request)
        inputs, evaluations = _evaluated(request, runs, writer, diagnostician)
        if ALL in request.chosen.protocols and not evaluations[0].det.transcriptions:
            textual = [run.protocol.name for run in runs if run.protocol.needs_texts]
            left_out |= dict.fromkeys(textual, "no detection bears a transcription")
            evaluations = [e for e in evaluations if e.protocol.name not in left_out]
            writer.drop(textual)
        if inputs.options.masks is None and any(evaluation.is_nearly_zero for evaluation in evaluations):
            from evaltex_cli.validate import coordinate_mixups

            evaluations = coordinate_mixups.explained(evaluations, inputs)
        verdicts = [] if gates is None else gates.verdicts(evaluations)
        intervals: dict[str, dict[str, Any]] = {}
        if results.bootstrap["level"] is not None:
            from evaltex_cli.results.significance import with_intervals

            evaluations, intervals = with_intervals(evaluations, **results.bootstrap)
        _write(writer, results, evaluations, intervals, verdicts)
        if results.report:
            diagnoses = [diagnostician.diagnosis(one) for one in evaluations] if diagnostician else []
            made = _report(folder, request, inputs, diagnoses)
        if results.junit is not None:
            from evaltex_cli.compare.gate import junit

            write_file(results.junit, junit(verdicts))
    if results.resume:
        from evaltex_cli.evaluation import resume

        resume.place(results.res_dir).unlink(missing_ok=True)
    warn([warning for evaluation in evaluations for warning in evaluation.warnings])
    lines = [f"Gate {verdict}" for verdict in verdicts if not (results.quiet and verdict.passed)]
    if not results.quiet:
        lines.append(score_table(evaluations, intervals))
        lines += [f"Left out: {name} ({reason})" for name, reason in left_out.items()]
        lines += [f"Report: {results.res_dir / REPORT} ({made})"] if results.report else []
        lines.append(_places(results, [evaluation.protocol.name for evaluation in evaluations]))
    echo_lines(lines, to_stderr=results.quiet)
    return verdicts


def _diagnostician(request: Request) -> Diagnostician | None:
    """Return what diagnoses the images while they are evaluated, if the report shows where the score is lost."""
    results = request.results
    if not results.report or not results.diagnose or results.resume or request.options.masks is not None:
        return None
    from evaltex_cli.diagnose.diagnosis import Diagnostician

    return Diagnostician()


def _evaluated(
    request: Request, runs: Sequence[Run], writer: ResultWriter, diagnostician: Diagnostician | None
) -> tuple[Inputs, list[Evaluation]]:
    """Do the work, wherever it is to be done."""
    from evaltex_cli.evaluation.evaluate import evaluate_inputs
    from evaltex_cli.evaluation.inputs import open_inputs
    from evaltex_cli.evaluation.tally import Sink
    from evaltex_cli.results.writer import image_files, log_unfit_names

    options, results, masks = request.options, request.results, request.options.masks
    with ExitStack() as stack:
        folders = (options.images, masks and masks.gt, masks and masks.det)
        in_order = stack.enter_context(request.work.workers(request.gt, request.det, *folders))
        inputs = open_inputs(request.gt, request.det, options, in_order if request.work.cluster is None else map)
        if results.per_image:
            log_unfit_names(writer.folder, runs, inputs.gt, inputs.faults)
        journal = None
        if results.resume:
            from evaltex_cli.evaluation import resume

            key = resume.key(inputs, runs, results.per_image)
            journal = stack.enter_context(resume.opened(resume.place(results.res_dir), key, runs))
        is_seen = request.work.cluster is None and not results.resume
        sink = Sink(partial(image_files, writer.folder if is_seen else None), writer.take)
        sink = sink.and_also(diagnostician.sink) if diagnostician else sink
        progress = stack.enter_context(progress_bar(results.quiet))
        return inputs, evaluate_inputs(inputs, runs, sink if results.per_image else None, progress, in_order, journal)


def _write(
    writer: ResultWriter,
    results: Results,
    evaluations: Sequence[Evaluation],
    intervals: Mapping[str, Mapping[str, Any]],
    verdicts: Sequence[Verdict],
) -> None:
    from evaltex_cli.results.result_document import Bootstrap, Extras

    for evaluation in evaluations:
        name = evaluation.protocol.name
        extras = Extras(
            intervals=intervals.get(name),
            bootstrap=Bootstrap(**results.bootstrap) if name in intervals else None,
            gates=[verdict for verdict in verdicts if verdict.protocol == name] if verdicts else None,
        )
        writer.finish(evaluation, extras)
        if results.plots:
            writer.draw(evaluation)


def _report(folder: Path, request: Request, inputs: Inputs, diagnoses: Sequence[Diagnosis]) -> str:
    """Write the report of the results in a folder; return what it contains."""
    from evaltex_cli import report

    results = request.results
    subject = report.of_run(folder, results.res_dir.resolve().name, inputs, diagnoses)
    if results.diagnose and not diagnoses:  # neither a journal nor label pictures go with a diagnosis
        subject = subject.with_losses()
    pictures = report.Pictures(request.options.images, results.embed, results.res_dir)
    return str(report.make(folder / REPORT, subject, pictures))


def _places(results: Results, names: Sequence[str]) -> str:
    """Where the results are, in one line."""
    name = names[0] if len(names) == 1 else f"{{{','.join(names)}}}"
    images = f", {results.res_dir / name / '*.txt'}" if results.per_image else ""
    return f"Results: {results.res_dir / f'{name}.txt'}, {results.res_dir / f'{name}.json'}{images}"
