"""The command line. Only this module imports click; heavy modules are imported inside the commands."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from evaltex_cli import __version__
from evaltex_cli.errors import EvaltexError
from evaltex_cli.formats import FORMATS
from evaltex_cli.protocols import PROTOCOLS

MAX_PIXELS = 100_000_000
BAR_AFTER_SECONDS = 1.0
HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
PATH = click.Path(path_type=Path)


class Entry(click.Group):
    """A group whose plain form, ``evaltex gt.txt det.txt res_dir``, is the command `evaluate`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            args = [EVALUATE, *args]
        return super().parse_args(ctx, args)


EVALUATE = "evaluate"
ALL = "all"


class PlainForm(click.Command):
    """`evaluate`, which shows itself as plain ``evaltex`` and lists the other commands in its help."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> Any:
        return super().make_context("evaltex", args, parent=None, **extra)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        others = [(name, command) for name, command in main.commands.items() if name != EVALUATE]
        with formatter.section("Commands (evaltex COMMAND --help tells more)"):
            formatter.write_dl([(name, command.get_short_help_str(limit=70)) for name, command in others])


@click.group(cls=Entry, context_settings=HELP_OPTIONS)
def main() -> None:
    """Evaluate text detections."""


@main.command(EVALUATE, cls=PlainForm, context_settings=HELP_OPTIONS, hidden=True)
@click.argument("gt", type=PATH)
@click.argument("det", type=PATH)
@click.argument("res_dir", type=PATH)
@click.argument("gt_img_dir", type=PATH, required=False, metavar="[GT_IMG_DIR")
@click.argument("det_img_dir", type=PATH, required=False, metavar="DET_IMG_DIR]")
@click.option("-a", "per_image", is_flag=True, help="Write a result file for each image too.")
@click.option("--plots", is_flag=True, help="Draw the curves of protocols that have any, as RES_DIR/PROTOCOL-*.svg.")
@click.option(
    "--protocol",
    "protocols",
    multiple=True,
    default=("evaltex",),
    show_default=True,
    type=click.Choice([*PROTOCOLS, ALL]),
    help="Protocol to score by; repeatable. all: every one that the input allows.",
)
@click.option("--config", "config_path", type=PATH, help="Parameter file.  [default: ./evaltex.ini if there is one]")
@click.option("--set", "settings", multiple=True, metavar="[PROTOCOL.]KEY=VALUE", help="Set one parameter; repeatable.")
@click.option("--gt-format", type=click.Choice(list(FORMATS)), help="Format of GT, where content should not decide.")
@click.option("--det-format", type=click.Choice(list(FORMATS)), help="Format of DET, where content should not decide.")
@click.option(
    "--max-pixels",
    type=click.IntRange(min=1),
    default=MAX_PIXELS,
    show_default=True,
    help="Refuse label pictures with more pixels.",
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.version_option(__version__, prog_name="evaltex", message="%(prog)s %(version)s")
def evaluate_command(**options: Any) -> None:
    """Evaluate the text detections DET against the ground truth GT; write results to RES_DIR.

    GT and DET are EvaLTex .txt files, or folders or .zip archives of ICDAR-style .txt files. With GT_IMG_DIR and
    DET_IMG_DIR, objects are the labelled masks in these folders' pictures.

    Results: RES_DIR/PROTOCOL.txt and .json; with -a also RES_DIR/PROTOCOL/IMAGE.txt.
    """
    with told_errors():
        _evaluate(**options)


def _evaluate(
    gt: Path,
    det: Path,
    res_dir: Path,
    gt_img_dir: Path | None,
    det_img_dir: Path | None,
    per_image: bool,
    plots: bool,
    protocols: tuple[str, ...],
    config_path: Path | None,
    settings: tuple[str, ...],
    gt_format: str | None,
    det_format: str | None,
    max_pixels: int,
    quiet: bool,
) -> None:
    if gt_img_dir is not None and det_img_dir is None:
        raise click.UsageError(
            "GT_IMG_DIR and DET_IMG_DIR go together: give both folders of label pictures, or neither."
        )
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from evaltex_cli import config
    from evaltex_cli.evaluation import MaskFolders, Run, evaluate_sources, open_sources
    from evaltex_cli.protocols import load
    from evaltex_cli.results.staging import staged
    from evaltex_cli.results.table import table
    from evaltex_cli.results.writer import ResultWriter, result_names

    found = config.find_config(config_path)
    given = [*(config.read_config(found) if found else []), *(config.parse_set(argument) for argument in settings)]
    for section in {setting.protocol for setting in given}:
        config.parameters_of(section, given)
    masks = MaskFolders(gt_img_dir, det_img_dir, max_pixels) if gt_img_dir and det_img_dir else None
    wanted = dict.fromkeys(PROTOCOLS if ALL in protocols else protocols)
    runs = [Run(load(name), config.parameters_of(name, given)) for name in wanted]
    left_out: dict[str, str] = {}
    if ALL in protocols and masks is not None:
        left_out = dict.fromkeys(
            (r.protocol.name for r in runs if not r.protocol.takes_masks), "takes no label pictures"
        )
        runs = [run for run in runs if run.protocol.name not in left_out]
    with staged(res_dir, [name for protocol in wanted for name in result_names(load(protocol))]) as folder:
        writer = ResultWriter(folder)
        try:
            gt_source, det_source, faults = open_sources(gt, det, gt_format, det_format)
            sink = writer.add if per_image else None
            with progress_bar(quiet) as progress:
                evaluations = evaluate_sources(gt_source, det_source, faults, runs, masks, sink, progress)
            if ALL in protocols and not evaluations[0].det.transcriptions:
                textual = [run.protocol.name for run in runs if run.protocol.needs_texts]
                left_out |= dict.fromkeys(textual, "no detection bears a transcription")
                evaluations = [e for e in evaluations if e.protocol.name not in textual]
            for evaluation in evaluations:
                writer.finish(evaluation)
                if plots:
                    writer.draw(evaluation)
            writer.drop(left_out)
        finally:
            writer.close()
    for warning in dict.fromkeys(warning for evaluation in evaluations for warning in evaluation.warnings):
        click.echo(f"evaltex: warning: {warning}", err=True)
    if not quiet:
        click.echo(table(evaluations))
        for name, reason in left_out.items():
            click.echo(f"Left out: {name} ({reason})")
        click.echo(_places(res_dir, [evaluation.protocol.name for evaluation in evaluations], per_image))


def _places(res_dir: Path, names: list[str], per_image: bool) -> str:
    """Where the results are, in one line."""
    name = names[0] if len(names) == 1 else f"{{{','.join(names)}}}"
    images = f", {res_dir / name / '*.txt'}" if per_image else ""
    return f"Results: {res_dir / f'{name}.txt'}, {res_dir / f'{name}.json'}{images}"


@main.command("convert", context_settings=HELP_OPTIONS)
@click.argument("src", type=PATH)
@click.argument("dst", type=PATH, metavar="DST.txt")
@click.option("--kind", type=click.Choice(["gt", "det"]), required=True, help="Ground truth or detections.")
@click.option(
    "--format", "format_name", type=click.Choice(list(FORMATS)), help="Format of SRC, where content should not decide."
)
@click.option(
    "--regions",
    type=click.Choice(["own", "lines"]),
    default="own",
    show_default=True,
    help="Region of an object: as SRC says, else its own ID; or the line of aligned words of similar height.",
)
@click.option("--boxes", is_flag=True, help="Write polygons as their bounding boxes.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def convert_command(
    src: Path, dst: Path, kind: str, format_name: str | None, regions: str, boxes: bool, quiet: bool
) -> None:
    """Write SRC as an EvaLTex .txt file.

    SRC is a folder or .zip archive of ICDAR-style .txt files, or an EvaLTex .txt file.
    """
    with told_errors():
        from evaltex_cli.convert import convert

        side: Any = kind
        done = convert(src, dst, side, format_name=format_name, lines_as_regions=regions == "lines", as_boxes=boxes)
        for note in done.notes():
            click.echo(f"evaltex: warning: {note}", err=True)
        if not quiet:
            click.echo(f"{dst}: {done.images} images, {done.objects} objects")


@contextmanager
def progress_bar(quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function to call with images done and images in all; a bar on a terminal, for work over a second."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    began = time.monotonic()
    bars: list[Any] = []

    def show(done: int, images: int) -> None:
        if not bars and time.monotonic() - began > BAR_AFTER_SECONDS:
            bars.append(click.progressbar(length=images, label="images", file=sys.stderr).__enter__())
        for bar in bars:
            bar.update(done - bar.pos)

    try:
        yield show
    finally:
        for bar in bars:
            bar.__exit__(None, None, None)


@contextmanager
def told_errors() -> Iterator[None]:
    """Turn whatever goes wrong into one message and an exit status: 2 for bad input, 130 when interrupted."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        yield
    except EvaltexError as error:
        _stop(str(error))
    except KeyboardInterrupt:
        click.echo("evaltex: interrupted; nothing was written", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 (the interpreter flushes stdout once more at exit)
        sys.exit(0)
    except MemoryError:
        _stop("out of memory; nothing was written")
    except (click.exceptions.Exit, click.ClickException, SystemExit):
        raise
    except Exception as error:
        if os.environ.get("EVALTEX_DEBUG"):
            raise
        _stop(f"internal error ({type(error).__name__}: {error}); please report it, with EVALTEX_DEBUG=1 for details")


def _stop(message: str) -> NoReturn:
    for line in message.split("\n"):
        click.echo(f"evaltex: error: {line}", err=True)
    sys.exit(2)
