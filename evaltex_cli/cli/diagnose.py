"""``evaltex diagnose``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    Chosen,
    Number,
    all_scores_option,
    default_option,
    form_option,
    group,
    input_options,
    output_option,
    protocol_options,
)
from evaltex_cli.cli.output import error_exit, stop, warn, write_output
from evaltex_cli.cli.paths import INPUT, PICTURES, force_option
from evaltex_cli.cli.terminal import screen
from evaltex_cli.cli.work import Work, work_options
from evaltex_cli.formats.options import InputOptions

EXAMPLES = (
    "evaltex diagnose gt.txt det.txt",
    "evaltex diagnose gt.txt det.txt --protocol iou --format json",
)


def _limit(name: str, default: float, help_text: str) -> Any:
    return default_option(f"--{name}", Number(), default, help_text)


def _bins(name: str, default: str, what: str) -> Any:
    return click.option(
        f"--{name}", metavar="N,...", default=default, show_default=True, help=f"Bins of {what}."
    )


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@click.argument("mask_folders", type=PICTURES, nargs=-1, metavar="")
@protocol_options("evaltex")
@input_options()
@work_options
@group(
    "limits",
    dict,
    overlap=_limit("overlap", 0.1, "Overlap, of the smaller area, from which objects touch."),
    tight=_limit("tight", 0.8, "Share of an object below which its detection is tight."),
    loose=_limit("loose", 0.8, "Share of text below which a detection is loose."),
    surplus=_limit("surplus", 0.1, "Share of an object that a duplicate adds at most."),
)
@group(
    "edges",
    dict,
    heights=_bins("heights", "8,16,32,64,128", "height"),
    aspect_ratios=_bins("aspect-ratios", "0.5,1,2,4,8", "width/height"),
    lengths=_bins("lengths", "1,2,4,7,11", "length of the text"),
)
@form_option
@all_scores_option
@output_option("diagnosis")
@force_option
@all_faults_option
def command(
    gt: Path,
    det: Path,
    mask_folders: tuple[Path, ...],
    chosen: Chosen,
    options: InputOptions,
    work: Work,
    limits: dict[str, float],
    edges: dict[str, str],
    all_scores: bool,
    form: str,
    output: Path | None,
) -> None:
    """Show where the score is lost: by error type, and by height, aspect ratio and length of the
    text.

    The share of a type is how much the score would rise if only that type of error were fixed.
    Shares plus "interaction" and "unexplained" add up to the loss.
    """
    with error_exit():
        if mask_folders:
            stop(
                "diagnose works on the boxes and polygons of GT and DET; leave out the folders of"
                " label pictures"
            )
        from evaltex_cli.diagnosis import breakdown, diagnosis, error_types, tables, terminal_table
        from evaltex_cli.evaluation.evaluate import left_out
        from evaltex_cli.evaluation.evaluation import of_protocols
        from evaltex_cli.evaluation.inputs import open_inputs

        parameters, options = chosen.parameters(), chosen.with_preset(options)
        bins = [_edges(f"--{name.replace('_', '-')}", text) for name, text in edges.items()]
        diagnostician = diagnosis.Diagnostician(
            error_types.Thresholds(**limits), breakdown.Edges(*bins)
        )
        with work.workers(gt, det, options.images, options.lines) as ordered_map:
            inputs = open_inputs(gt, det, options, ordered_map)
            diagnoses = diagnosis.diagnosed(
                inputs, parameters, diagnostician, ordered_map=ordered_map
            )
        missing = left_out(
            parameters, [one.protocol for one in diagnoses], diagnoses[0].gt, diagnoses[0].det
        )
        warn([f"left out: {name} ({reason})" for name, reason in missing.items()])
        warn(of_protocols((one.protocol, one.warnings) for one in diagnoses))
        shown = (
            terminal_table.table(diagnoses, screen(output), all_scores)
            if form == "table"
            else tables.FORMATS[form](diagnoses)
        )
        write_output(shown, output)


def _edges(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(",") if number.strip())
    except ValueError:
        stop(f"{option} is '{text}'; expected increasing numbers, e.g. 8,16,32")
