"""``evaltex audit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evaltex_cli.cli.compare import named_detectors
from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import (
    Chosen,
    Number,
    default_option,
    form_option,
    input_options,
    label_option,
    output_option,
    protocol_options,
)
from evaltex_cli.cli.output import error_exit, stop, warn, write_output
from evaltex_cli.cli.paths import INPUT, OutputFile, force_option
from evaltex_cli.cli.terminal import screen
from evaltex_cli.cli.work import Work, work_options
from evaltex_cli.errors import counted
from evaltex_cli.formats.options import InputOptions

if TYPE_CHECKING:
    from evaltex_cli.audit.audit import Audit
    from evaltex_cli.audit.patches import Patch

EXAMPLES = (
    "evaltex audit gt.txt det.txt other.txt",
    "evaltex audit gt.txt det.txt other.txt --protocol iou,evaltex --format json",
    "evaltex audit gt.txt det.txt other.txt --images pictures --report audit.html",
)


@click.argument("paths", type=INPUT, nargs=-1, required=True, metavar="GT DET DET...")
@default_option(
    "--suspicion",
    Number(0, 1),
    0.5,
    "Suspicion from which the second ranking leaves suspects out.",
)
@protocol_options(help_text="Protocols to rank by.  [default: evaltex]")
@input_options("Folder of the pictures, for the page and sizes.", without=["dont_care"])
@work_options
@label_option
@form_option
@output_option("audit")
@click.option(
    "--report", type=OutputFile("audit"), help="Write a page to decide the suspects, too."
)
@click.option(
    "--patch",
    "patch_file",
    type=OutputFile("patch"),
    help="Write the suspects as a patch, to accept some and apply it by convert.",
)
@force_option
@all_faults_option
def command(
    paths: tuple[Path, ...],
    suspicion: float,
    chosen: Chosen,
    options: InputOptions,
    work: Work,
    labels: tuple[str, ...],
    form: str,
    output: Path | None,
    report: Path | None,
    patch_file: Path | None,
) -> None:
    """Find what may be wrong in the ground truth: where detectors agree, but not with it.

    Give the detections of two or more detectors. Each suspect has a suspicion from 0 to 1: an
    estimate of the probability that an annotator would change it. The ranking is shown with all
    objects, and with suspects as don't care.
    """
    with error_exit():
        gt, *detections = paths
        if len(detections) < 2:
            stop("an audit needs two or more detectors; give GT DET_A DET_B ...")
        named = named_detectors(tuple(detections), labels)
        from evaltex_cli.audit import audit, tables, terminal_table
        from evaltex_cli.audit.patches import Patch, write_patch
        from evaltex_cli.evaluation.inputs import open_inputs

        parameters, options = chosen.parameters(), chosen.with_preset(options)
        with work.workers(gt, *detections, options.images, options.lines) as ordered_map:
            inputs = {
                label: open_inputs(gt, det, options, ordered_map) for label, det in named.items()
            }
            found = audit.audit(inputs, parameters, suspicion, ordered_map)
        if report is not None or patch_file is not None:
            entries = [one.entry for one in found.suspects]
            patch = Patch(inputs[next(iter(inputs))].gt.sha256, entries)
            if patch_file is not None:
                write_patch(patch_file, patch)
            if report is not None:
                _write_page(report, found, patch, (gt.name, options.images))
        warn(found.warnings)
        if form == "table":
            write_output(terminal_table.table(found, screen(output)), output)
        else:
            write_output(tables.FORMATS[form](found), output)


def _write_page(report: Path, found: Audit, patch: Patch, gt: tuple[str, Path | None]) -> None:
    """Write the page; the ground truth has a name and may have a folder of pictures."""
    from evaltex_cli.audit.patches import in_json
    from evaltex_cli.report import audit_page
    from evaltex_cli.report.audit_reasons import Detectors
    from evaltex_cli.report.surroundings import around

    name, pictures = gt
    nearby = around(found.suspects, found.scene, found.detectors)
    counting = Detectors(tuple(found.detectors), len(found.independent), len(found.readers))
    shown = audit_page.Audit(name, counting, found.suspects, in_json(patch), nearby)
    made = audit_page.write(report, shown, pictures)
    missing = min(made.suspects, audit_page.MOST_CROPS) - made.crops
    if pictures is not None and missing:
        warn([counted(missing, f"{pictures}: has no readable picture of {{count}} suspect[s]")])
