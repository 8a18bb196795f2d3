"""``evaltex diagnose``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Output, warn
from evaltex_cli.cli.paths import INPUT

EXAMPLES = (
    "evaltex diagnose gt.txt det.txt",
    "evaltex diagnose gt.txt det.txt --protocol iou --format json",
)


def _limit(name: str, default: float, help_text: str) -> Any:
    return opt.default_option(f"--{name}", float, default, help_text)


def numbers(text: str) -> tuple[float, ...]:
    """Return the numbers between commas."""
    try:
        return tuple(map(float, text.split(",")))
    except ValueError:
        raise click.BadParameter(f"'{text}'; expected rising numbers such as 8,16,32") from None


def _bins(name: str, default: str, what: str) -> Any:
    return opt.default_option(f"--{name}", numbers, default, f"Bins of {what}.")


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@opt.scoring_options("evaltex")
@opt.group(
    "limits",
    dict,
    overlap=_limit("overlap", 0.1, "Objects touch from this overlap of the smaller area."),
    tight=_limit("tight", 0.8, "A detection is too tight if it covers less of its object."),
    loose=_limit("loose", 0.8, "A detection is too loose if less of it is text."),
    surplus=_limit("surplus", 0.1, "A duplicate adds at most this share of its object."),
)
@opt.group(
    "edges",
    dict,
    heights=_bins("heights", "8,16,32,64,128", "height"),
    aspect_ratios=_bins("aspect-ratios", "0.5,1,2,4,8", "width/height"),
    lengths=_bins("lengths", "1,2,4,7,11", "length of the text"),
)
@opt.all_scores_option
@opt.output_options("diagnosis")
def command(
    gt: Path,
    det: Path,
    scoring: opt.Scoring,
    limits: dict[str, float],
    edges: dict[str, tuple[float, ...]],
    all_scores: bool,
    out: Output,
) -> None:
    """Show where the score is lost: by error type, and by height, aspect ratio and length of the
    text.

    The share of a type is how much the score would rise if only that type of error were fixed.
    Shares plus "interaction" and "unexplained" add up to the loss.
    """
    from evaltex_cli.diagnosis import breakdown, diagnosis, error_types
    from evaltex_cli.evaluation.evaluate import left_out
    from evaltex_cli.evaluation.evaluation import of_protocols
    from evaltex_cli.evaluation.inputs import open_inputs
    from evaltex_cli.tables.record import Several

    thresholds, bins = error_types.Thresholds(**limits), breakdown.Edges(*edges.values())
    with scoring.workers as ordered_map:
        inputs = open_inputs(gt, det, scoring.options, ordered_map)
        diagnoses = diagnosis.diagnose_inputs(
            inputs, scoring.parameters, thresholds, bins, ordered_map
        )
    missing = left_out(scoring.parameters, inputs)
    warn([f"left out: {name} ({reason})" for name, reason in missing.items()])
    warn(of_protocols((one.protocol, one.warnings) for one in diagnoses))
    tables = [table for one in diagnoses for table in one.tables(all_scores)]
    out.show(Several(diagnoses), tables)
