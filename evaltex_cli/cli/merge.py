"""``evaltex merge RESULT... RES_DIR``."""

from __future__ import annotations

from pathlib import Path

import click

from evaltex_cli.cli.messages import all_faults_option
from evaltex_cli.cli.options import form_option, quiet_option
from evaltex_cli.cli.output import echo_err, echo_lines, error_exit, warn, write_output
from evaltex_cli.cli.paths import OUTPUT_FOLDER, RESULTS, force_option
from evaltex_cli.cli.terminal import screen
from evaltex_cli.runtime.outputs import force, protected

EXAMPLES = ("evaltex merge results results-more merged",)


@click.argument("results", type=RESULTS, nargs=-1, required=True, metavar="RESULT...")
@click.argument("res_dir", type=OUTPUT_FOLDER)
@form_option
@force_option
@all_faults_option
@quiet_option
def command(results: tuple[Path, ...], res_dir: Path, form: str, quiet: bool) -> None:
    """Merge the results of runs over disjoint images into RES_DIR.

    A RESULT is a .json, or a folder of them. With the results of images in all parts (runs with
    -a), the merged result is that of one run over all images, to the last bit. RES_DIR is never a
    part of itself, so the same command may be repeated.
    """
    with error_exit():
        from evaltex_cli.evaluation.evaluation import of_protocols
        from evaltex_cli.results import merge, reader, score_forms, score_table, writer
        from evaltex_cli.results.extras import Extras

        merged = merge.merge(results, res_dir)
        earlier = merge.results_in(results, res_dir)
        given = [file for path in results for file in reader.files(path)]
        parts = [file for file in given if file not in earlier]
        evaluations = [one.evaluation for one in merged]
        extras = {
            one.evaluation.protocol.name: Extras(merged_from=one.ground_truths) for one in merged
        }
        protocols = [one.protocol for one in evaluations]
        with (
            protected(parts, bool(force.get())),
            writer.result_folder(res_dir, protocols) as into,
        ):
            for one in merged:
                for made in merge.files_of_images(one):
                    into.take(one.run, made)
                into.finish(one.evaluation, extras[one.evaluation.protocol.name])
            score_forms.write(into, evaluations, extras)
        warn(of_protocols((one.protocol.name, one.warnings) for one in evaluations))
        if not quiet:
            if earlier:
                replaced = (
                    f"{res_dir} has the result of an earlier merge, which is no part of this"
                    " one: it is replaced"
                )
                echo_err("note", replaced)
            if form == "table":
                echo_lines([*score_table.score_table(evaluations, screen()), f"Results: {res_dir}"])
            else:
                write_output(score_forms.FORMS[form](evaluations, extras), None)
