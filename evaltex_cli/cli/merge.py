"""``evaltex merge RESULT... RES_DIR``."""

from __future__ import annotations

from pathlib import Path

import click

from evaltex_cli.cli import options as opt
from evaltex_cli.cli.output import Output, end, warn
from evaltex_cli.cli.paths import INPUT, OUTPUT_FOLDER
from evaltex_cli.runtime.outputs import protect

EXAMPLES = ("evaltex merge results results-more merged",)


@click.argument("results", type=INPUT, nargs=-1, required=True, metavar="RESULT...")
@click.argument("res_dir", type=OUTPUT_FOLDER)
@opt.output_options("scores")
def command(results: tuple[Path, ...], res_dir: Path, out: Output) -> None:
    """Merge the results of runs over disjoint images into RES_DIR.

    A RESULT is a .json, or a folder of them. If all parts have the results of their images (runs
    with -a), the merged result is the same, to the last bit, as that of one run over all images.
    RES_DIR is never one of its own parts, so the command may be repeated.
    """
    from evaltex_cli.results import merge, scores, writer

    evaluations, parts = merge.merge(results, res_dir)
    protocols = [one.protocol for one in evaluations]
    protect(parts)
    with writer.result_folder(res_dir, protocols) as into:
        for one in evaluations:
            into.write(one)
        into.write_scores(evaluations)
    run = scores.RunScores(evaluations)
    warn(run.warnings)
    out.show(run, schema=scores.SCHEMA)
    end([f"Results: {res_dir}"], out)
