"""``evaltex merge RESULT... RES_DIR``."""

from __future__ import annotations

from pathlib import Path

import click

from evaltex_cli.cli.options import quiet_option
from evaltex_cli.cli.output import echo_err, echo_lines, error_exit, warn
from evaltex_cli.cli.paths import OUTPUT_FOLDER, RESULTS, force_option


@click.argument("results", type=RESULTS, nargs=-1, required=True, metavar="RESULT RESULT ...")
@click.argument("res_dir", type=OUTPUT_FOLDER)
@force_option
@quiet_option
def command(results: tuple[Path, ...], res_dir: Path, quiet: bool) -> None:
    """Merge the results of runs over disjoint images into RES_DIR.

    A RESULT is a .json, or a folder of them. With the results of images in all parts (runs with -a), the merged result
    is that of one run over all images, to the last bit. RES_DIR is never a part of itself, so the same command may be
    repeated.
    """
    with error_exit():
        from evaltex_cli.results.beginnings import is_result
        from evaltex_cli.results.merge import files_of_images, merge, results_in
        from evaltex_cli.results.result_document import Extras
        from evaltex_cli.results.text_tables import score_table
        from evaltex_cli.results.writer import ResultWriter, result_names
        from evaltex_cli.runtime.atomic_output import staged
        from evaltex_cli.runtime.outputs import without

        merged = merge(results, res_dir)
        earlier = results_in(results, res_dir)
        evaluations = [one.evaluation for one in merged]
        owned = [file for evaluation in evaluations for file in result_names(evaluation.protocol)]
        with without(earlier), staged(res_dir, owned, is_result) as folder, ResultWriter(folder) as writer:
            for one in merged:
                for made in files_of_images(one):
                    writer.take(one.run, made)
                writer.finish(one.evaluation, Extras(merged_from=one.ground_truths))
        warn([warning for evaluation in evaluations for warning in evaluation.warnings])
        if not quiet:
            if earlier:
                echo_err(
                    f"note: {res_dir} has the result of an earlier merge, which is no part of this one: it is replaced"
                )
            echo_lines([score_table(evaluations, {}), f"Results: {res_dir}"])
