"""What all commands share: options, the progress bar, and how errors are told."""

from __future__ import annotations

import io
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from evaltex_cli.cli.paths import CONFIG, OutputFile, rules
from evaltex_cli.errors import EvaltexError
from evaltex_cli.evaluation.signature import INVALID_POLYGONS
from evaltex_cli.formats import FORMATS
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.runtime import signals

if TYPE_CHECKING:
    from evaltex_cli.protocols.config import Setting

BAR_AFTER_SECONDS = 1.0
HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}


class NumberRange(click.FloatRange):
    """Numbers of a range; NaN, which no comparison keeps out, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return found


class Level(NumberRange):
    """The value of an option that needs none, and takes the word after it for one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"{value!r} is no level between 0 and 1; for 0.95, put the option after the paths.", param, ctx)


ALL = "all"

protocol_option = click.option(
    "--protocol",
    "protocols",
    multiple=True,
    default=("evaltex",),
    show_default=True,
    type=click.Choice([*PROTOCOLS, ALL]),
    help="Protocol to score by; repeatable. all: every one that the input allows.",
)
config_option = click.option(
    "--config", "config_path", type=CONFIG, help="Parameter file.  [default: ./evaltex.ini if there is one]"
)
set_option = click.option(
    "--set", "settings", multiple=True, metavar="[PROTOCOL.]KEY=VALUE", help="Set one parameter; repeatable."
)
gt_format_option = click.option(
    "--gt-format", type=click.Choice(list(FORMATS)), help="Format of GT, where content should not decide."
)
det_format_option = click.option(
    "--det-format", type=click.Choice(list(FORMATS)), help="Format of DET, where content should not decide."
)
invalid_option = click.option(
    "--invalid",
    type=click.Choice(INVALID_POLYGONS),
    default=INVALID_POLYGONS[0],
    show_default=True,
    help="What becomes of invalid polygons: repaired, every lobe kept; left out; or refused.",
)
min_confidence_option = click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    metavar="C",
    help="Leave out the detections whose confidence is below C; those without one stay.",
)
embed_option = click.option(
    "--embed", is_flag=True, help="Put the pictures into the report instead of linking to them."
)
diagnose_option = click.option(
    "--diagnose/--no-diagnose",
    default=True,
    show_default=True,
    help="Show in the report where the score is lost; for this GT and DET are scored anew.",
)
resamples_option = click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=2000,
    show_default=True,
    help="Random subsets of the images, for intervals and p-values.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random subsets."
)
quiet_option = click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")


def output_option(kind: str) -> Callable[[Any], Any]:
    """Return the option of the file to write, of a kind in `outputs.KINDS`."""
    return click.option("--output", type=OutputFile(kind), help="Write to this file instead of stdout.")


def form_option(*forms: str, told: str = "Form of the output.") -> Callable[[Any], Any]:
    """Return the option of the output's form; the first is the default."""
    return click.option("--format", "form", type=click.Choice(forms), default=forms[0], show_default=True, help=told)


def chosen_protocols(given: Sequence[str]) -> list[str]:
    """Return the protocols that the user named, each once; every one for `all`."""
    return list(PROTOCOLS) if ALL in given else list(dict.fromkeys(given))


def read_settings(config_path: Path | None, arguments: Sequence[str]) -> list[Setting]:
    """The parameters that the user gave, from the file and then from `--set`.

    Those of `--set` are checked here, of whatever protocol; those of the file where their protocol is asked for its
    parameters, so that no other protocol need be imported.

    Raises
    ------
    ConfigError
    """
    from evaltex_cli.protocols import config

    found = config.find_config(config_path)
    asked = [config.parse_set(argument) for argument in arguments]
    for section in sorted({setting.protocol for setting in asked}):
        config.parameters_of(section, asked)
    return [*(config.read_config(found) if found else []), *asked]


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
    """Check where a command is to write, and report whatever goes wrong in one message.

    The exit status is 2 for bad input and 130 when interrupted.
    SIGTERM gives 143, SIGHUP 129 unless the process was started without it, by nohup say.
    """
    handlers = {number: signal.getsignal(number) for number in signals.ENDING}
    for number, handler in handlers.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, _end)
    try:
        with _told():
            from evaltex_cli.runtime.outputs import guarded

            with guarded(rules()):
                yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _end(number: int, _: object) -> NoReturn:
    """End what is under way; further signals (`timeout` sends two) do not disturb the clearing up."""
    for each in signals.ENDING:
        signal.signal(each, signal.SIG_IGN)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


@contextmanager
def _told() -> Iterator[None]:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of files need not be Unicode
    try:
        yield
    except EvaltexError as error:
        stop(str(error))
    except KeyboardInterrupt as interrupt:
        tell(f"interrupted; {str(interrupt) or 'nothing was written'}")
        sys.exit(130)
    except BrokenPipeError:
        _abandon_stdout()
        sys.exit(0)
    except OSError as error:
        stop(str(error))
    except MemoryError:
        stop("out of memory; nothing was written")
    except (click.exceptions.Exit, click.ClickException, SystemExit):
        raise
    except Exception as error:
        if os.environ.get("EVALTEX_DEBUG"):
            raise
        stop(f"internal error ({type(error).__name__}: {error}); please report it, with EVALTEX_DEBUG=1 for details")


def stop(message: str) -> NoReturn:
    """End with an error message and exit status 2."""
    for line in message.split("\n"):
        tell(f"error: {line}")
    sys.exit(2)


def tell(line: str) -> None:
    """Print a line to standard error, unless nothing can be told there: that cannot be told either."""
    with suppress(OSError):
        click.echo(f"evaltex: {line}", err=True)


def say(lines: Sequence[str], to_stderr: bool = False) -> None:
    """Print lines; a reader who has gone away is no error."""
    try:
        for line in lines:
            click.echo(line, err=to_stderr)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_stdout()


def give(text: str | Iterable[str], output: Path | None) -> None:
    """Write what a command makes, a text or its pieces, to a file or to stdout."""
    if output is None:
        for piece in [text] if isinstance(text, str) else text:
            click.echo(piece, nl=False)
        return
    from evaltex_cli.runtime.atomic_output import write_file

    write_file(output, text)


def _abandon_stdout() -> None:
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 (the interpreter flushes stdout once more at exit)


def warn(warnings: Sequence[str]) -> None:
    """Tell each warning once."""
    for warning in dict.fromkeys(warnings):
        tell(f"warning: {warning}")
