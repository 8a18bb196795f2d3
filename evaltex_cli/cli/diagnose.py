"""``evaltex diagnose``."""

from __future__ import annotations

from pathlib import Path

import click

from evaltex_cli.cli.options import (
    chosen_protocols,
    config_option,
    det_format_option,
    form_option,
    give,
    gt_format_option,
    min_confidence_option,
    output_option,
    protocol_option,
    read_settings,
    set_option,
    stop,
    told_errors,
    warn,
)
from evaltex_cli.cli.paths import INPUT, PICTURES, force_option

EDGES = "EDGE,EDGE,..."


@click.argument("gt", type=INPUT)
@click.argument("det", type=INPUT)
@click.argument("mask_folders", type=PICTURES, nargs=-1, metavar="")
@protocol_option
@config_option
@set_option
@gt_format_option
@det_format_option
@min_confidence_option
@click.option("--overlap", type=float, default=0.1, show_default=True, help="Share of either's area that is a contact.")
@click.option("--tight", type=float, default=0.8, show_default=True, help="Less of the object covered is tight.")
@click.option("--loose", type=float, default=0.8, show_default=True, help="Less text in the detection is loose.")
@click.option(
    "--surplus", type=float, default=0.1, show_default=True, help="What duplicates add at most, of the object's area."
)
@click.option("--heights", metavar=EDGES, default="8,16,32,64,128", show_default=True, help="Bins of height, pixels.")
@click.option("--aspect-ratios", metavar=EDGES, default="0.5,1,2,4,8", show_default=True, help="Bins of width/height.")
@click.option("--lengths", metavar=EDGES, default="1,2,4,7,11", show_default=True, help="Bins of transcription length.")
@form_option("table", "json", "csv")
@output_option("diagnosis")
@force_option
def command(
    gt: Path,
    det: Path,
    mask_folders: tuple[Path, ...],
    protocols: tuple[str, ...],
    config_path: Path | None,
    settings: tuple[str, ...],
    gt_format: str | None,
    det_format: str | None,
    min_confidence: float | None,
    overlap: float,
    tight: float,
    loose: float,
    surplus: float,
    heights: str,
    aspect_ratios: str,
    lengths: str,
    form: str,
    output: Path | None,
) -> None:
    """Tell where the score is lost: by kinds of mistakes, and by height, aspect ratio and length of the text.

    Every kind's share is the change of the score when that kind alone is repaired; with what several kinds do together
    and what none explains, the shares sum to the loss.
    """
    with told_errors():
        if mask_folders:
            stop("diagnose works on the boxes and polygons of GT and DET; leave out the folders of label pictures")
        from evaltex_cli.diagnose import tables
        from evaltex_cli.diagnose.breakdown import Edges
        from evaltex_cli.diagnose.diagnosis import diagnosed
        from evaltex_cli.diagnose.error_types import Thresholds
        from evaltex_cli.protocols import config

        given = read_settings(config_path, settings)
        diagnoses = diagnosed(
            gt,
            det,
            {name: config.parameters_of(name, given) for name in chosen_protocols(protocols)},
            Thresholds(overlap=overlap, tight=tight, loose=loose, surplus=surplus),
            Edges(_edges("--heights", heights), _edges("--aspect-ratios", aspect_ratios), _edges("--lengths", lengths)),
            gt_format,
            det_format,
            min_confidence,
        )
        warn([warning for one in diagnoses for warning in one.warnings])
        text = tables.FORMATS[form](diagnoses)
        give(text, output)


def _edges(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(",") if number.strip())
    except ValueError:
        stop(f"{option} is '{text}'; expected numbers that rise, 8,16,32 say")
