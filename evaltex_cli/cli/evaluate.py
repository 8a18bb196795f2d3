"""``evaltex GT DET RES_DIR``: the plain form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from evaltex_cli.cli.options import (
    ALL,
    Level,
    NumberRange,
    chosen_protocols,
    config_option,
    det_format_option,
    diagnose_option,
    embed_option,
    gt_format_option,
    invalid_option,
    min_confidence_option,
    progress_bar,
    protocol_option,
    quiet_option,
    read_settings,
    resamples_option,
    say,
    seed_option,
    set_option,
    told_errors,
    warn,
)
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER, PICTURES, RESULTS, OutputFile, force_option
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.version import __version__

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from evaltex_cli.compare.gate import Verdict
    from evaltex_cli.errors import FaultLog
    from evaltex_cli.evaluation.batches import MaskFolders
    from evaltex_cli.evaluation.tally import Evaluation, Run
    from evaltex_cli.formats.base import Source
    from evaltex_cli.results.writer import ResultWriter
    from evaltex_cli.runtime.workers import InOrder

MAX_PIXELS = 100_000_000
MAX_JOBS = 4096
GATE_NOT_MET = 1
REPORT = "report.html"


class Request(NamedTuple):
    """The command line of one run."""

    gt: Path
    det: Path
    res_dir: Path
    gt_img_dir: Path | None
    det_img_dir: Path | None
    per_image: bool
    plots: bool
    report: bool
    pictures: Path | None
    embed: bool
    diagnose: bool
    protocols: tuple[str, ...]
    config_path: Path | None
    settings: tuple[str, ...]
    gt_format: str | None
    det_format: str | None
    min_confidence: float | None
    invalid: str
    max_pixels: int
    confidence: float | None
    resamples: int
    seed: int
    fail_if: tuple[str, ...]
    baselines: tuple[Path, ...]
    junit: Path | None
    jobs: int
    cluster: str | None
    cluster_timeout: float
    resume: bool
    quiet: bool

    @property
    def paths(self) -> list[Path]:
        """All input files and folders."""
        from evaltex_cli.runtime.input_files import files_of

        given = (self.gt, self.det, self.gt_img_dir, self.det_img_dir, self.pictures)
        return [file for path in given if path is not None for file in files_of(path)]


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@click.argument("res_dir", type=OUTPUT_FOLDER)
@click.argument("gt_img_dir", type=PICTURES, required=False, metavar="[GT_IMG_DIR")
@click.argument("det_img_dir", type=PICTURES, required=False, metavar="DET_IMG_DIR]")
@click.option("-a", "per_image", is_flag=True, help="Write a result file for each image too.")
@click.option("--plots", is_flag=True, help="Draw the curves of protocols that have any, as RES_DIR/PROTOCOL-*.svg.")
@click.option("--report", is_flag=True, help="Write RES_DIR/report.html, which shows it all; implies -a.")
@click.option(
    "--images",
    "pictures",
    type=PICTURES,
    metavar="DIR",
    help="Folder of the images' pictures: their sizes, where GT states none, and what the report links to.",
)
@embed_option
@diagnose_option
@protocol_option
@config_option
@set_option
@gt_format_option
@det_format_option
@min_confidence_option
@invalid_option
@click.option(
    "--max-pixels",
    type=click.IntRange(min=1),
    default=MAX_PIXELS,
    show_default=True,
    help="Refuse label pictures with more pixels.",
)
@click.option(
    "--confidence",
    type=Level(0, 1, min_open=True, max_open=True),
    is_flag=False,
    flag_value=0.95,
    metavar="[LEVEL]",
    help="Add confidence intervals of the scores, of this level (0.95 if none is given).",
)
@resamples_option
@seed_option
@click.option(
    "--fail-if",
    multiple=True,
    metavar="EXPR",
    help="End with status 1 where this holds: fscore<0.7, or against a baseline recall:-0.5% or recall:-0.005;"
    " with PROTOCOL. before it where there are several. Repeatable.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    type=RESULTS,
    help="Result .json (or folder) of an earlier run. Repeatable.",
)
@click.option("--junit", type=OutputFile("junit"), help="Write the gates' verdicts to this file as JUnit XML.")
@click.option(
    "--jobs",
    type=click.IntRange(min=0, max=MAX_JOBS),
    default=1,
    show_default=True,
    metavar="N",
    help="Work in this many processes; 0: one for each processor. Results are the same.",
)
@click.option("--cluster", metavar="ADDRESS", help="Work on the Dask cluster of this scheduler: tcp://HOST:8786, say.")
@click.option(
    "--cluster-timeout", type=NumberRange(min=1), default=60.0, show_default=True, help="Seconds to wait for workers."
)
@click.option(
    "--resume",
    is_flag=True,
    help="Keep a journal beside RES_DIR while it runs: after a kill, the same command goes on from there.",
)
@force_option
@quiet_option
@click.version_option(__version__, prog_name="evaltex", message="%(prog)s %(version)s")
def command(**options: Any) -> None:
    """Evaluate the text detections DET against the ground truth GT; write results to RES_DIR.

    GT and DET are EvaLTex .txt files, folders or .zip archives of ICDAR-style .txt files, or a data set's XML, JSON or
    .mat files. With GT_IMG_DIR and DET_IMG_DIR, objects are the labelled masks in these folders' pictures.

    Results: RES_DIR/PROTOCOL.txt and .json; with -a also RES_DIR/PROTOCOL/IMAGE.txt.
    """
    with told_errors():
        request = Request(**options | {"per_image": options["per_image"] or options["report"]})
        if request.embed and not request.report:
            raise click.UsageError("--embed is of the report: give --report too.")
        if request.cluster is not None and request.jobs != 1:
            raise click.UsageError("--jobs and --cluster exclude each other: give one of them.")
        if (request.gt_img_dir is None) != (request.det_img_dir is None):
            raise click.UsageError(
                "GT_IMG_DIR and DET_IMG_DIR go together: give both folders of label pictures, or neither."
            )
        verdicts = _evaluate(request)
        if not all(verdict.passed for verdict in verdicts):
            sys.exit(GATE_NOT_MET)


def _evaluate(request: Request) -> list[Verdict]:
    from evaltex_cli.runtime import workers

    if request.cluster is None:
        workers.prepare(request.jobs, _modules_of_work(request))
    from evaltex_cli.evaluation.batches import MaskFolders
    from evaltex_cli.protocols.base import load
    from evaltex_cli.results.score_table import table
    from evaltex_cli.results.writer import ResultWriter, result_names
    from evaltex_cli.runtime.atomic_output import staged, write_file
    from evaltex_cli.runtime.outputs import is_result

    runs, left_out = _runs(request)
    masks = (
        MaskFolders(request.gt_img_dir, request.det_img_dir, request.max_pixels)
        if request.gt_img_dir and request.det_img_dir
        else None
    )
    owned = [file for name in [*(run.protocol.name for run in runs), *left_out] for file in result_names(load(name))]
    owned.append(REPORT)
    decide = _gates(request, runs, owned) if request.fail_if or request.baselines else None
    with staged(request.res_dir, owned, is_result) as folder, ResultWriter(folder) as writer:
        sources, evaluations = _evaluated(request, runs, masks, writer)
        if ALL in request.protocols and not evaluations[0].det.transcriptions:
            textual = [run.protocol.name for run in runs if run.protocol.needs_texts]
            left_out |= dict.fromkeys(textual, "no detection bears a transcription")
            evaluations = [e for e in evaluations if e.protocol.name not in left_out]
            writer.drop(textual)
        if masks is None and any(evaluation.is_nearly_zero for evaluation in evaluations):
            from evaltex_cli.validate import coordinate_mixups

            evaluations = coordinate_mixups.explained(evaluations, *sources[:2])
        verdicts = [] if decide is None else decide(evaluations)
        evaluations, intervals = _with_intervals(request, evaluations)
        _write(writer, request, evaluations, intervals, verdicts)
        if request.report:
            from evaltex_cli import report

            made = report.make(
                folder / REPORT,
                [folder],
                labels=[request.res_dir.resolve().name],
                gt=request.gt,
                det=[request.det],
                pictures=request.pictures,
                embed=request.embed,
                diagnose=request.diagnose,
                page_folder=request.res_dir,
            )
        if request.junit is not None:
            from evaltex_cli.compare import junit

            write_file(request.junit, junit.document(verdicts))
    if request.resume:
        from evaltex_cli.evaluation import resume

        resume.place(request.res_dir).unlink(missing_ok=True)
    warn([warning for evaluation in evaluations for warning in evaluation.warnings])
    lines = [f"Gate {verdict}" for verdict in verdicts if not (request.quiet and verdict.passed)]
    if not request.quiet:
        lines.append(table(evaluations, intervals))
        lines += [f"Left out: {name} ({reason})" for name, reason in left_out.items()]
        lines += [f"Report: {request.res_dir / REPORT} ({made})"] if request.report else []
        lines.append(_places(request, [evaluation.protocol.name for evaluation in evaluations]))
    say(lines, to_stderr=request.quiet)
    return verdicts


def _gates(
    request: Request, runs: Sequence[Run], owned: Sequence[str]
) -> Callable[[Sequence[Evaluation]], list[Verdict]]:
    """Refuse gates and baselines that can be refused before any work; return what decides them."""
    from evaltex_cli.compare import gate

    gates = [gate.parse(expression) for expression in request.fail_if]
    baselines = gate.read_baselines(request.baselines)
    gate.refuse_replaced_baselines(request.baselines, [request.res_dir / name for name in owned])
    gate.refuse_undecidable(gates, runs, baselines)

    def decide(evaluations: Sequence[Evaluation]) -> list[Verdict]:
        gate.refuse_other_baselines(evaluations, baselines)
        return gate.verdicts(gates, evaluations, baselines)

    return decide


def _modules_of_work(request: Request) -> list[str]:
    """What the work most probably needs, for workers to find imported."""
    protocols = (PROTOCOLS[name] for name in chosen_protocols(request.protocols))
    modules = ["evaltex_cli.evaluation.batches", *protocols]
    modules.append(f"evaltex_cli.formats.{'icdar' if request.gt.is_dir() else 'evaltex'}.format")
    if request.gt_img_dir:
        modules.append("evaltex_cli.formats.label_images")
    if request.per_image:
        modules.append("evaltex_cli.results.writer")
    return modules


def _workers(request: Request) -> AbstractContextManager[InOrder]:
    if request.cluster is None:
        from evaltex_cli.runtime import workers

        return workers.processes(request.jobs)
    from evaltex_cli.runtime import dask_cluster

    return dask_cluster.workers_of(request.cluster, request.paths, request.cluster_timeout, lambda line: warn([line]))


def _evaluated(
    request: Request, runs: Sequence[Run], masks: MaskFolders | None, writer: ResultWriter
) -> tuple[tuple[Source, Source, FaultLog], list[Evaluation]]:
    """Do the work, wherever it is to be done."""
    from contextlib import ExitStack
    from functools import partial

    from evaltex_cli.evaluation.evaluate import evaluate_sources, open_sources
    from evaltex_cli.formats import refuse_changed, refuse_packed, stamps
    from evaltex_cli.results.writer import image_files, log_unfit_names

    if request.cluster is not None:
        refuse_packed([request.gt, request.det])
    with ExitStack() as stack:
        in_order = stack.enter_context(_workers(request))
        before = stamps(request.paths)
        sources = open_sources(
            request.gt,
            request.det,
            request.gt_format,
            request.det_format,
            request.min_confidence,
            request.pictures,
            in_order if request.cluster is None else map,
        )
        if request.per_image:
            log_unfit_names(writer.folder, runs, sources[0], sources[2])
        kept = None
        if request.resume:
            from evaltex_cli.evaluation import resume

            key = resume.key(runs, *sources[:2], masks, request.pictures, request.invalid, request.per_image)
            kept = stack.enter_context(resume.opened(resume.place(request.res_dir), key))
        is_seen = request.cluster is None and not request.resume
        sink = partial(image_files, writer.folder if is_seen else None) if request.per_image else None
        progress = stack.enter_context(progress_bar(request.quiet))
        evaluations = evaluate_sources(
            *sources, runs, masks, sink, progress, request.invalid, in_order, writer.take, kept
        )
        refuse_changed(before)
        return sources, evaluations


def _runs(request: Request) -> tuple[list[Run], dict[str, str]]:
    """The protocols to run, and those left out of `all` with the reason."""
    from evaltex_cli.evaluation.tally import Run
    from evaltex_cli.protocols import config
    from evaltex_cli.protocols.base import load

    given = read_settings(request.config_path, request.settings)
    wanted, keep_rows = chosen_protocols(request.protocols), request.confidence is not None
    runs = [Run(load(name), config.parameters_of(name, given), keep_rows) for name in wanted]
    if ALL not in request.protocols or request.gt_img_dir is None:
        return runs, {}
    unfit = [run.protocol.name for run in runs if not run.protocol.takes_masks]
    return [run for run in runs if run.protocol.takes_masks], dict.fromkeys(unfit, "it takes no label pictures")


def _with_intervals(
    request: Request, evaluations: list[Evaluation]
) -> tuple[list[Evaluation], dict[str, dict[str, Any]]]:
    """Return protocol -> score -> interval, empty unless asked for; and the evaluations, warned of what is missing."""
    if request.confidence is None:
        return evaluations, {}
    from evaltex_cli.results import significance

    made = {
        one.protocol.name: significance.intervals(
            one.rows, one.score, request.confidence, request.resamples, request.seed
        )
        for one in evaluations
        if one.rows is not None
    }
    warned = [replace(one, warnings=[*one.warnings, *made[one.protocol.name][1]]) for one in evaluations]
    return warned, {name: intervals for name, (intervals, _) in made.items()}


def _write(
    writer: ResultWriter,
    request: Request,
    evaluations: Sequence[Evaluation],
    intervals: Mapping[str, Mapping[str, Any]],
    verdicts: Sequence[Verdict],
) -> None:
    for evaluation in evaluations:
        name = evaluation.protocol.name
        extras: dict[str, Any] = {}
        if name in intervals:
            bootstrap = {"level": request.confidence, "resamples": request.resamples, "seed": request.seed}
            extras |= {"intervals": intervals[name], "bootstrap": bootstrap}
        if verdicts:
            extras["gates"] = [asdict(verdict) for verdict in verdicts if verdict.protocol == name]
        writer.finish(evaluation, extras)
        if request.plots:
            writer.draw(evaluation)


def _places(request: Request, names: Sequence[str]) -> str:
    """Where the results are, in one line."""
    name = names[0] if len(names) == 1 else f"{{{','.join(names)}}}"
    images = f", {request.res_dir / name / '*.txt'}" if request.per_image else ""
    return f"Results: {request.res_dir / f'{name}.txt'}, {request.res_dir / f'{name}.json'}{images}"
