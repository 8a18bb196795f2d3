"""``evaltex audit``."""

from __future__ import annotations

from pathlib import Path

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Output, end, stop, warn
from evaltex_cli.cli.paths import INPUT, OutputFile
from evaltex_cli.errors import counted

EXAMPLES = (
    "evaltex audit gt.txt det.txt other.txt",
    "evaltex audit gt.txt det.txt other.txt --protocol iou,evaltex --format json",
    "evaltex audit gt.txt det.txt other.txt --images pictures --report audit.html",
)


@click.argument("paths", type=INPUT, nargs=-1, required=True, metavar="GT DET DET...")
@opt.default_option(
    "--suspicion", click.FloatRange(0, 1), 0.5, "Make suspects don't care from this suspicion on."
)
@opt.scoring_options(help_text="Protocols to rank by.  [default: evaltex]", without=["dont_care"])
@opt.label_option
@opt.output_options("audit")
@click.option("--report", type=OutputFile("audit"), help="Also write an HTML page of the suspects.")
@click.option(
    "--patch", "patch_file", type=OutputFile("patch"), help="Also write a patch for convert."
)
def command(
    paths: tuple[Path, ...],
    suspicion: float,
    scoring: opt.Scoring,
    labels: tuple[str, ...],
    out: Output,
    report: Path | None,
    patch_file: Path | None,
) -> None:
    """Find what may be wrong in the ground truth: where detectors agree, but not with it.

    Give the detections of two or more detectors. Each suspect has a suspicion from 0 to 1: an
    estimate of the probability that an annotator would change it. The ranking is shown with all
    objects, and with suspects as don't care.
    """
    gt, *detections = paths
    if len(detections) < 2:
        stop("an audit needs two or more detectors; give GT DET_A DET_B ...")
    named = opt.named_detectors(detections, labels)
    from evaltex_cli.audit.audit import SCHEMA, audit
    from evaltex_cli.audit.patches import Patch, write_patch
    from evaltex_cli.evaluation.inputs import open_inputs

    options = scoring.options
    with scoring.workers as ordered_map:
        inputs = {label: open_inputs(gt, det, options, ordered_map) for label, det in named.items()}
        found = audit(inputs, scoring.parameters, suspicion, ordered_map)
    patch = Patch(next(iter(inputs.values())).gt.sha256, found.suspects)
    if patch_file is not None:
        write_patch(patch_file, patch)
    if report is not None:
        from evaltex_cli.report import audit_page

        crops = audit_page.write(report, gt.name, found, patch, options.images)
        missing = min(len(found.suspects), audit_page.MOST_CROPS) - crops
        if options.images is not None and missing:
            text = counted(missing, "has no readable picture of {count} suspect[s]")
            warn([f"{options.images}: {text}"])
    warn(found.warnings)
    out.show(found, schema=SCHEMA)
    written = {"Report": report, "Patch": patch_file}
    end([f"{what}: {path}" for what, path in written.items() if path is not None], out)
