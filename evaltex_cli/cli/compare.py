"""``evaltex compare``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    Chosen,
    all_scores_option,
    ci_option,
    form_option,
    input_options,
    label_option,
    output_option,
    protocol_options,
    resamples_option,
    seed_option,
)
from evaltex_cli.cli.output import error_exit, stop, warn, write_output
from evaltex_cli.cli.paths import INPUT, force_option
from evaltex_cli.cli.terminal import screen
from evaltex_cli.cli.work import Work, work_options
from evaltex_cli.errors import counted
from evaltex_cli.formats.options import DONT_CARE_OBJECTS, INVALID_POLYGONS, InputOptions

WORST = 10
"""Images and objects that are listed."""
EXAMPLES = (
    "evaltex compare gt.txt det.txt other.txt",
    "evaltex compare results results-other --protocol iou --format markdown",
)


@click.argument(
    "paths", type=INPUT, nargs=-1, required=True, metavar="GT DET DET... | RESULT RESULT..."
)
@protocol_options(help_text="Protocols to compare by.  [default: evaltex; of results: all]")
@input_options()
@work_options
@label_option
@resamples_option
@seed_option
@ci_option("level", 0.95, "Level of the confidence intervals.  [default: 0.95]")
@form_option
@all_scores_option
@click.option(
    "--worst",
    type=click.IntRange(min=0),
    help="Images and objects to list.  [default: 10; 0 of several protocols]",
)
@output_option("comparison")
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
    form: str,
    all_scores: bool,
    worst: int | None,
    output: Path | None,
) -> None:
    """Compare detectors: differences, intervals, p-values, and what got worse.

    Give the ground truth and two or more detections, or the results of earlier runs made with -a.
    Differences are to the first detector. Intervals and p-values: paired permutation test over
    images.
    """
    with error_exit():
        from evaltex_cli.comparison import comparison, detector_results, tables, terminal_table

        stored = [detector_results.is_result(path) for path in paths]
        detectors = paths if stored[0] else paths[1:]
        if len(detectors) < 2:
            stop("nothing to compare; give GT DET_A DET_B, or two results of runs with -a")
        named = list(zip(_labels(detectors, labels), detectors, strict=True))
        are_all_stored = all(stored[-len(detectors) :])
        if are_all_stored:
            _refuse_for_results(chosen, options)
            work.warn_unused("results were evaluated before")
        parameters, options = chosen.parameters(), chosen.with_preset(options)
        with (
            Work().workers()
            if are_all_stored
            else work.workers(*paths, options.images, options.lines) as ordered_map
        ):
            systems = [
                detector_results.systems_of(path, label, paths[0], options, parameters, ordered_map)
                for label, path in named
            ]
        if not stored[0]:
            comparison.refuse_other_ground_truth(paths[0], options, systems)
        if chosen.protocols:
            wanted = chosen.names()
            systems = [
                [system for system in systems_of if system.protocol.name in wanted]
                for systems_of in systems
            ]
        groups, left_out = comparison.by_protocol(systems)
        warn(comparison.warnings_of(groups))
        warn([f"left out: {name} ({reason})" for name, reason in left_out.items()])
        comparisons = [
            comparison.compare(group, resamples=resamples, seed=seed, level=level)
            for group in groups
        ]
        warn([warning for one in comparisons if (warning := one.warning)])
        if form == "table":
            listed = (0 if len(comparisons) > 1 else WORST) if worst is None else worst
            write_output(
                terminal_table.table(comparisons, listed, level, screen(output), all_scores), output
            )
        else:
            write_output(
                tables.FORMATS[form](comparisons, WORST if worst is None else worst, level), output
            )


def _refuse_for_results(chosen: Chosen, options: InputOptions) -> None:
    """Refuse options that say how to evaluate where all detectors were evaluated before."""
    if chosen.has_parameters or options.min_confidence is not None:
        stop(
            "results have their parameters; leave out --set, --config and --min-confidence, and"
            " --preset, or give the detections themselves"
        )
    read_by = (options.images, options.only, options.coordinates, options.columns, options.lines)
    policies = (options.invalid, options.dont_care)
    if any(option is not None for option in read_by) or policies != (
        INVALID_POLYGONS[0],
        DONT_CARE_OBJECTS[0],
    ):
        stop(
            "results were evaluated before; leave out --images, --only, --coordinates, --columns,"
            " --lines, --invalid and --dont-care, or give the detections themselves"
        )


def named_detectors(paths: tuple[Path, ...], labels: tuple[str, ...]) -> dict[str, Path]:
    """Return label -> path of detectors, of which no two have one label."""
    named = dict(zip(_labels(paths, labels), paths, strict=True))
    if len(named) < len(paths):
        stop("two detectors have one name; give each its own by --label")
    return named


def _labels(paths: tuple[Path, ...], labels: tuple[str, ...]) -> Sequence[str]:
    """Return the labels that were given, which differ, or else short names."""
    if labels and len(labels) != len(paths):
        given = counted(len(labels), "{count} label[s]")
        stop(f"{given} for {len(paths)} detectors; give one a detector, or none")
    if not all(map(str.strip, labels)):
        stop("a label is empty; give each detector a name by --label")
    if len(set(labels)) < len(labels):
        stop("two detectors have one label; give each its own by --label")
    return labels or labels_of(paths)


def labels_of(paths: tuple[Path, ...]) -> list[str]:
    """Short names that differ: file names, or paths from the folder that all
    are in if file names repeat.
    """
    short = [path.name for path in paths]
    if len(set(short)) == len(short) or len(set(paths)) == 1:
        return short
    whole = [path.absolute() for path in paths]
    common = os.path.commonpath([path.parent for path in whole])
    return [path.relative_to(common).as_posix() for path in whole]
