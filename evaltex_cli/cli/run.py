"""One run of the plain form: everything between the command line and its last line of output."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from evaltex_cli.cli.options import ALL, Chosen
from evaltex_cli.cli.output import echo_err, echo_lines, warn, write_output
from evaltex_cli.cli.terminal import screen
from evaltex_cli.cli.work import Work
from evaltex_cli.evaluation import evaluate
from evaltex_cli.evaluation.evaluate import Run, Sink
from evaltex_cli.evaluation.evaluation import Evaluation, of_protocols
from evaltex_cli.evaluation.inputs import Inputs, open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols.base import load
from evaltex_cli.results.extras import Bootstrap, Extras, Intervals, Verdict
from evaltex_cli.results.writer import REPORT

if TYPE_CHECKING:
    from evaltex_cli.comparison.gate import Gates
    from evaltex_cli.diagnosis.diagnosis import Diagnosis, Diagnostician
    from evaltex_cli.diagnosis.slices import SliceRecalls
    from evaltex_cli.report.page import Pictures
    from evaltex_cli.report.run_images import RunImages
    from evaltex_cli.results.object_table import ObjectTable
    from evaltex_cli.results.screen import Screen
    from evaltex_cli.results.writer import ResultWriter


class Request(NamedTuple):
    """The command line of one run; `res_dir` None to write no results, `bootstrap` None for no
    intervals.
    """

    gt: Path
    det: Path
    options: InputOptions
    chosen: Chosen
    work: Work
    fail_if: tuple[str, ...]
    baselines: tuple[Path, ...]
    res_dir: Path | None
    per_image: bool
    plots: bool
    report: bool
    embed: bool
    diagnose: bool
    bootstrap: Bootstrap | None
    junit: Path | None
    objects: Path | None
    quiet: bool
    all_scores: bool
    form: str


def run(request: Request) -> list[Verdict]:
    """Evaluate, write all results and print a summary; return what the gates say.

    Raises
    ------
    EvaltexError
    """
    _refuse_conflicts(request)
    runs, left_out = _runs(request)
    made, gates = "", None
    if request.baselines and not request.fail_if:
        warn(["--baseline has no effect without a gate; add one, such as --fail-if hmean:-1%"])
    if request.fail_if or request.baselines or request.junit is not None:
        from evaltex_cli.comparison import gate

        gates = gate.prepare(request.fail_if, request.baselines, runs)
    with (
        _writer(request) as writer,
        _object_table(request.objects) as table,
        _run_images(request, writer, runs) as images,
    ):
        diagnostician, slices = _diagnostician(request), _slices(request, gates)
        others = [one.sink for one in (diagnostician, slices, table) if one]
        inputs, evaluations = _evaluated(request, runs, writer, others, images)
        left_out |= _left_out(runs, evaluations)
        recalls = {one.protocol.name: slices.of(one) for one in evaluations} if slices else {}
        verdicts = [] if gates is None else gates.verdicts(evaluations, recalls)
        intervals: dict[str, Intervals] = {}
        if request.bootstrap is not None:
            from evaltex_cli.results.significance import with_intervals

            evaluations, intervals = with_intervals(evaluations, request.bootstrap)
        extras = {
            one.protocol.name: _extras(request, intervals, verdicts, one) for one in evaluations
        }
        if writer is not None:
            for one in evaluations:
                writer.finish(one, extras[one.protocol.name], has_plots=request.plots)
            if images is not None:
                diagnoses = list(map(diagnostician.diagnosis, evaluations)) if diagnostician else []
                made = _report(writer.folder, request, inputs, diagnoses, images)
            from evaltex_cli.results import score_forms

            score_forms.write(writer, evaluations, extras)
        if table is not None:
            table.write([one.protocol.name for one in evaluations])
        _write_junit(request.junit, gates, verdicts)
    warn(of_protocols((one.protocol.name, one.warnings) for one in evaluations))
    shown = screen()
    lines: list[str] = []
    if not request.quiet:
        if request.form == "table":
            from evaltex_cli.results.score_table import score_table

            lines += score_table(
                evaluations, shown, intervals, request.bootstrap, request.all_scores
            )
        else:
            from evaltex_cli.results.score_forms import FORMS

            write_output(FORMS[request.form](evaluations, extras), None)
        lines += [
            line
            for name, why in left_out.items()
            for line in shown.wrapped(f"Left out: {name} ({why})")
        ]
        places = _places(request, [evaluation.protocol.name for evaluation in evaluations], made)
        lines += [line for place in places for line in shown.wrapped(place, indent=" " * 9)]
    lines += [
        line
        for verdict in verdicts
        if not (request.quiet and verdict.passed)
        for line in gate_lines(verdict, shown)
    ]
    echo_lines(lines, to_stderr=request.quiet or request.form != "table")
    _note_if_nothing_is_written(request)
    return verdicts


def _refuse_conflicts(request: Request) -> None:
    """Refuse options that need others."""
    if request.res_dir is None and (request.per_image or request.plots or request.report):
        raise click.UsageError(
            "-a, --plots and --report need a result folder: evaltex GT DET RES_DIR."
        )
    if request.embed and not request.report:
        raise click.UsageError("--embed needs --report.")
    if request.embed and request.options.images is None:
        raise click.UsageError("--embed needs --images DIR.")


def _note_if_nothing_is_written(request: Request) -> None:
    if not (request.res_dir or request.objects or request.junit or request.quiet):
        echo_err("note", "no files written; evaltex GT DET RES_DIR writes them to RES_DIR")


@contextmanager
def _writer(request: Request) -> Iterator[ResultWriter | None]:
    """Yield what writes the results, if there is a folder for them."""
    res_dir = request.res_dir
    if res_dir is None:
        yield None
        return
    from evaltex_cli.results.writer import result_folder

    with result_folder(res_dir, list(map(load, request.chosen.names()))) as writer:
        yield writer


@contextmanager
def _object_table(path: Path | None) -> Iterator[ObjectTable | None]:
    """Yield what writes one row for each object, if there is a file for them."""
    if path is None:
        yield None
        return
    from evaltex_cli.results.object_table import ObjectTable

    with ObjectTable(path) as table:
        yield table


@contextmanager
def _run_images(
    request: Request, writer: ResultWriter | None, runs: Sequence[Run]
) -> Iterator[RunImages | None]:
    """Yield what gathers the report's images while they are evaluated, if there is to be one."""
    if writer is None or not request.report:
        yield None
        return
    from evaltex_cli.report.run_images import RunImages

    with RunImages(writer.folder, runs, request.options.invalid) as images:
        yield images


def _diagnostician(request: Request) -> Diagnostician | None:
    """Return what diagnoses the images while they are evaluated, if the
    report shows where the score is lost.
    """
    if not request.report or not request.diagnose or request.options.masks is not None:
        return None
    from evaltex_cli.diagnosis.diagnosis import Diagnostician

    return Diagnostician()


def _slices(request: Request, gates: Gates | None) -> SliceRecalls | None:
    """Return what gathers the slices that gates are of."""
    if gates is None or not gates.slices:
        return None
    if request.options.masks is not None:
        raise click.UsageError(
            "Gates on slices do not work on label pictures: leave out one of them."
        )
    from evaltex_cli.diagnosis.slices import SliceRecalls

    return SliceRecalls(gates.slices)


def _evaluated(
    request: Request,
    runs: Sequence[Run],
    writer: ResultWriter | None,
    others: Sequence[Sink],
    images: RunImages | None,
) -> tuple[Inputs, list[Evaluation]]:
    """Do the work, wherever it is to be done."""
    options, masks = request.options, request.options.masks
    with ExitStack() as stack:
        folders = (options.images, options.lines, masks and masks.gt, masks and masks.det)
        ordered_map = stack.enter_context(request.work.workers(request.gt, request.det, *folders))
        inputs = open_inputs(request.gt, request.det, options, ordered_map)
        # What keeps most of a batch comes last.
        sinks = [*others, *([] if images is None else [images.sink])]
        if writer is not None and request.per_image:
            from evaltex_cli.results.writer import image_files, log_unfit_names

            log_unfit_names(inputs.gt, inputs.faults)
            is_seen = request.work.cluster is None
            make_files = partial(image_files, writer.folder if is_seen else None)
            sinks.append(Sink(make_files, writer.take))
        evaluations = evaluate.evaluate_inputs(inputs, runs, sinks, None, ordered_map)
    if writer is not None:
        writer.drop(_left_out(runs, evaluations))
    return inputs, evaluations


def _left_out(runs: Sequence[Run], evaluations: Sequence[Evaluation]) -> dict[str, str]:
    one, done = evaluations[0], {evaluation.protocol.name for evaluation in evaluations}
    return evaluate.left_out([run.protocol.name for run in runs], done, one.gt, one.det)


def _extras(
    request: Request,
    intervals: Mapping[str, Intervals],
    verdicts: Sequence[Verdict],
    evaluation: Evaluation,
) -> Extras:
    name = evaluation.protocol.name
    return Extras(
        intervals=intervals.get(name),
        bootstrap=request.bootstrap,
        gates=[verdict for verdict in verdicts if verdict.protocol == name] if verdicts else None,
    )


def _write_junit(file: Path | None, gates: Gates | None, verdicts: Sequence[Verdict]) -> None:
    if file is not None and gates is not None:
        from evaltex_cli.runtime.outputs import write_file

        write_file(file, gates.junit(verdicts))


def _report(
    folder: Path,
    request: Request,
    inputs: Inputs,
    diagnoses: Sequence[Diagnosis],
    images: RunImages,
) -> str:
    """Write the report of the results in a folder; return what it contains."""
    from evaltex_cli import report

    place = request.res_dir
    assert place is not None
    subject = report.of_run(folder, Path(os.path.realpath(place)).name, inputs, diagnoses, images)
    if request.diagnose and not diagnoses:  # label pictures
        subject = subject.with_losses()
    return str(report.make(folder / REPORT, subject, _pictures(request)))


def _pictures(request: Request) -> Pictures:
    from evaltex_cli.report.page import Pictures

    return Pictures(request.options.images, request.embed, request.res_dir)


def gate_lines(verdict: Verdict, shown: Screen) -> Iterator[str]:
    """What a gate says, in lines that fit the terminal."""
    first, *more = shown.wrapped(f"Gate {verdict}", indent=" " * 13)
    yield first.replace(
        verdict.state, shown.paint(verdict.state, "green" if verdict.passed else "red"), 1
    )
    yield from more


def _places(request: Request, names: Sequence[str], made: str) -> list[str]:
    """Where the report and the results are; nothing if none were written."""
    if request.res_dir is None:
        return []
    name = names[0] if len(names) == 1 else "PROTOCOL"
    images = f", {request.res_dir / name / '*.txt'}" if request.per_image else ""
    report = [f"Report: {request.res_dir / REPORT} ({made})"] if request.report else []
    return [
        *report,
        f"Results: {request.res_dir / f'{name}.txt'}, {request.res_dir / f'{name}.json'}{images}",
    ]


def _runs(request: Request) -> tuple[list[Run], dict[str, str]]:
    """Return the protocols to run, and those left out of `all` with the reason."""
    runs = evaluate.runs_of(request.chosen.parameters())
    if ALL not in request.chosen.protocols or request.options.masks is None:
        return runs, {}
    unfit = [run.protocol.name for run in runs if "outlines" in run.protocol.needs]
    return [run for run in runs if "outlines" not in run.protocol.needs], dict.fromkeys(
        unfit, "it takes no label pictures"
    )
