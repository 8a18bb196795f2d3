"""``evaltex compare``."""

from __future__ import annotations

from pathlib import Path

import click

from evaltex_cli.cli.options import (
    ALL,
    NumberRange,
    chosen_protocols,
    config_option,
    det_format_option,
    form_option,
    give,
    gt_format_option,
    min_confidence_option,
    output_option,
    read_settings,
    resamples_option,
    seed_option,
    set_option,
    stop,
    told_errors,
    warn,
)
from evaltex_cli.cli.paths import INPUT, force_option
from evaltex_cli.errors import counted
from evaltex_cli.protocols import PROTOCOLS


@click.argument(
    "paths", type=INPUT, nargs=-1, required=True, metavar="GT DET_A DET_B [DET_C ...] | RESULT_A RESULT_B ..."
)
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    type=click.Choice([*PROTOCOLS, ALL]),
    help="Protocol to compare by; repeatable.  [default: evaltex; of results, all that they share]",
)
@config_option
@set_option
@gt_format_option
@det_format_option
@min_confidence_option
@click.option("--label", "labels", multiple=True, help="Name of a detector, in their order.  [default: of its file]")
@resamples_option
@seed_option
@click.option(
    "--confidence",
    type=NumberRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of the intervals.",
)
@form_option("table", "json", "csv", "markdown", "latex")
@click.option("--worst", type=click.IntRange(min=0), default=10, show_default=True, help="Images and objects to list.")
@output_option("comparison")
@force_option
def command(
    paths: tuple[Path, ...],
    protocols: tuple[str, ...],
    config_path: Path | None,
    settings: tuple[str, ...],
    gt_format: str | None,
    det_format: str | None,
    min_confidence: float | None,
    labels: tuple[str, ...],
    resamples: int,
    seed: int,
    confidence: float,
    form: str,
    worst: int,
    output: Path | None,
) -> None:
    """Compare detectors: differences, intervals, p-values, and what got worse.

    Give the ground truth and two or more detections, or result folders (or .json files) of earlier runs made with -a;
    or such results alone.
    Differences are to the first detector; intervals and p-values are of a sign-flip test over images.
    """
    with told_errors():
        from evaltex_cli.compare import comparison, tables
        from evaltex_cli.protocols import config
        from evaltex_cli.results import significance

        stored = [comparison.is_result(path) for path in paths]
        detectors = paths if stored[0] else paths[1:]
        if len(detectors) < 2:
            stop("nothing to compare; give GT DET_A DET_B, or two results of runs with -a")
        if labels and len(labels) != len(detectors):
            named = counted(len(labels), "{count} label[s]")
            stop(f"{named} for {len(detectors)} detectors; give one a detector, or none")
        if all(stored[-len(detectors) :]) and (settings or config_path or min_confidence is not None):
            stop(
                "results have their parameters; leave out --set, --config and --min-confidence, or give the detections"
                " themselves"
            )
        wanted = chosen_protocols(protocols or ("evaltex",))
        given = read_settings(config_path, settings)
        parameters = {name: config.parameters_of(name, given) for name in wanted}
        systems = [
            comparison.stored(path, label)
            if comparison.is_result(path)
            else comparison.evaluated(paths[0], path, label, parameters, gt_format, det_format, min_confidence)
            for path, label in zip(detectors, labels or _labels(detectors), strict=True)
        ]
        if not stored[0]:
            comparison.refuse_other_ground_truth(paths[0], gt_format, systems)
        if protocols:
            systems = [[system for system in group if system.protocol.name in wanted] for group in systems]
        groups, left_out = comparison.by_protocol(systems)
        warn([f"{system.label}: {text}" for group in groups for system in group for text in system.warnings])
        warn([f"left out: {name} ({reason})" for name, reason in left_out.items()])
        comparisons = [comparison.compare(group, resamples=resamples, seed=seed, level=confidence) for group in groups]
        few = [significance.few_images(one.compared_images) for one in comparisons]
        warn([warning for warning in few if warning])
        give(tables.FORMATS[form](comparisons, worst, confidence), output)


def _labels(paths: tuple[Path, ...]) -> list[str]:
    """Short names that differ: file names, or whole paths where these repeat."""
    short = [path.name for path in paths]
    return short if len(set(short)) == len(short) else [str(path) for path in paths]
