"""Options that commands share, and groups of them that a command gets as one record."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click
from click.core import ParameterSource

from evaltex_cli import formats
from evaltex_cli.cli.output import Output, stop, warn
from evaltex_cli.cli.paths import INPUT, PICTURES, OutputFile, find_config
from evaltex_cli.errors import ConfigError, counted, nearest, quote
from evaltex_cli.formats.options import (
    DONT_CARE_OBJECTS,
    INVALID_POLYGONS,
    LEVELS,
    Coordinates,
    InputOptions,
    column_mapping,
)
from evaltex_cli.protocols import PROTOCOLS, plain
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.runtime import OrderedMap, cores

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
ALL = "all"
FORMS = ("table", "json", "csv", "markdown", "latex", "html")
"""What every command that prints results can print; the first is the default."""
MAX_JOBS = 4096


# Types of options ---------------------------------------------------------------------------------


class Name(click.Choice[str]):
    """One of some names, in any case and with `_` or `-`; a mistake is answered by the nearest one.

    Parameters
    ----------
    name : {'protocol', 'preset', 'format'}
        What they are the names of.
    known : sequence of str
        In lower case.
    listed_by : str, optional
        The command that lists them, if there are too many for a message.
    """

    def __init__(self, name: str, known: Sequence[str], listed_by: str = "") -> None:
        super().__init__(known)
        self.name, self.known = name, known
        self.listed = f"`{listed_by}` lists them" if listed_by else f"known: {', '.join(known)}"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name as it is known."""
        name = plain(value)
        if name not in self.known:
            is_format = self.name == "format"
            hint = formats.meant(name) if is_format else nearest(name, self.known)
            other = "protocol" if self.name == "preset" else "preset"
            if name in (PROTOCOLS if other == "protocol" else PRESETS):
                hint = f", which is a {other} (--{other} {name})"
            self.fail(f"unknown {self.name} {quote(value)}{hint}; {self.listed}", param, ctx)
        return name

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Return what a help page has in place of all names."""
        return self.name.upper()

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so."""
        return super().shell_complete(ctx, param, plain(incomplete))


class Names(Name):
    """Several names with commas between them, as a tuple in which each is once."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the names as they are known."""
        given = value.split(",") if isinstance(value, str) else value
        return tuple(dict.fromkeys(super(Names, self).convert(one, param, ctx) for one in given))


class Count(click.IntRange):
    """An integer of a range."""

    name = "integer"


class Number(click.FloatRange):
    """A number of a range; NaN, which no comparison keeps out, is none."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


def choice(names: Sequence[str]) -> click.Choice[str]:
    """Return the type of an option that is one of a few names, in any case."""
    return click.Choice(names, case_sensitive=False)


def _parsed(parse: Callable[[str], Any]) -> Callable[..., Any]:
    """Return a callback that gives an option what `parse` makes of its text."""

    def callback(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
        try:
            return None if value is None else parse(value)
        except ConfigError as error:
            raise click.BadParameter(str(error), ctx, param) from error

    return callback


def _columns(text: str) -> str:
    column_mapping(text)
    return text


def _classes(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))


def together(*options: Decorator) -> Decorator:
    """Return the decorator that adds several options to a command."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def group(name: str, record: Callable[..., Any], **options: Decorator) -> Decorator:
    """Return a decorator that adds options to a command, which gets their values as one record of
    this name.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_record(**given: Any) -> None:
            values = {field: given.pop(field) for field in options}
            command(**given, **{name: record(**values)})

        return together(*options.values())(with_record)

    return add


def option_of(name: str) -> str:
    """Return the option of a parameter."""
    return f"--{name.replace('_', '-')}"


def is_given(name: str) -> bool:
    """Whether the user gave this parameter of the current command."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def default_option(name: str, kind: click.ParamType[Any], default: Any, text: str) -> Decorator:
    """Return an option whose help shows its default."""
    return click.option(name, type=kind, default=default, show_default=True, help=text)


# Reading ------------------------------------------------------------------------------------------


def format_option(what: str, *names: str) -> Decorator:
    """Return the option of the format of an input, `what`."""
    return click.option(
        *names,
        type=Name("format", list(formats.FORMATS), "evaltex formats"),
        help=f"Format of {what} (`evaltex formats`).  [default: detected]",
    )


def level_option(what: str, *names: str) -> Decorator:
    """Return the option of the level at which an input, `what`, is read."""
    return click.option(
        *names,
        type=choice(LEVELS),
        metavar="LEVEL",
        help=f"Read {what} by word, line, paragraph, region or character.  [default: the finest]",
    )


def classes_option(what: str, *names: str) -> Decorator:
    """Return the option of the classes of objects that are read from an input, `what`."""
    return click.option(
        *names,
        callback=_parsed(_classes),
        metavar="NAME,...",
        help=f"Read only objects of {what} of these classes.",
    )


def images_option(help_text: str = "Folder of the pictures, for sizes GT does not have.") -> Any:
    """Return the option of the folder of the images' pictures."""
    return click.option("--images", type=PICTURES, help=help_text)


READING: dict[str, Decorator] = {
    "gt_format": format_option("GT", "--gt-format"),
    "det_format": format_option("DET", "--det-format"),
    "gt_level": level_option("GT", "--gt-level"),
    "det_level": level_option("DET", "--det-level"),
    "gt_classes": classes_option("GT", "--gt-classes"),
    "det_classes": classes_option("DET", "--det-classes"),
    "images": images_option(),
    "min_confidence": click.option(
        "--min-confidence", type=Number(0, 1), help="Skip detections with a confidence below this."
    ),
    "only": click.option(
        "--only", type=INPUT, help="Read only the images named in this file, one per line."
    ),
    "lines": click.option(
        "--lines", type=INPUT, help="Ground truth of lines of the same images, for tiou."
    ),
    "invalid": default_option(
        "--invalid",
        choice(INVALID_POLYGONS),
        INVALID_POLYGONS[0],
        "What to do with invalid polygons.",
    ),
    "dont_care": default_option(
        "--dont-care",
        choice(DONT_CARE_OBJECTS),
        DONT_CARE_OBJECTS[0],
        "What to do with don't-care objects.",
    ),
    "coordinates": click.option(
        "--coordinates",
        callback=_parsed(lambda text: str(Coordinates.parse(text))),
        help="Boxes from a chat model: yxyx:1000, xyxy:pixels etc.",
    ),
    "columns": click.option(
        "--columns", callback=_parsed(_columns), help="Columns of a table: image=file,x0=left etc."
    ),
}
"""The options of reading, by the fields of `InputOptions`."""


def read_by(only: Path | None = None, **others: Any) -> InputOptions:
    """Return how inputs are read; `only` is a file with names of images."""
    from evaltex_cli.formats.image_subset import read_names

    return InputOptions(only=None if only is None else read_names(only), **others)


def _reading(images_help: str, without: Sequence[str]) -> dict[str, Decorator]:
    own = {"images": images_option(images_help)} if images_help else {}
    return {name: option for name, option in (READING | own).items() if name not in without}


def input_options(images_help: str = "", without: Sequence[str] = ()) -> Decorator:
    """Return the decorator of a command that reads GT and DET: it gets an `InputOptions` as
    `options`; it may do without some of the options.
    """
    return group("options", read_by, **_reading(images_help, without))


# Protocols and workers ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """Where the work is done: in this process, in several, or on a cluster."""

    jobs: int = 1
    cluster: str | None = None
    cluster_timeout: float = 60.0

    def __post_init__(self) -> None:
        if self.cluster is not None and self.jobs != 1:
            raise click.UsageError("--jobs and --cluster exclude each other: give one of them.")

    def warn_unused(self, why: str) -> None:
        """Warn if options of the work were given that have no effect, and say why."""
        if self.jobs != 1 or self.cluster is not None:
            option = "--jobs" if self.cluster is None else "--cluster"
            warn([f"{option} has no effect {why}"])

    @contextmanager
    def workers(self) -> Iterator[OrderedMap]:
        """Yield an `OrderedMap`."""
        from evaltex_cli.runtime import cluster, workers

        if self.cluster is not None:
            with cluster.workers_of(self.cluster, self.cluster_timeout) as ordered_map:
                yield ordered_map
        elif self.jobs == 1:
            yield map
        else:
            with workers.processes(self.jobs or cores()) as ordered_map:
                yield ordered_map


class Scoring(NamedTuple):
    """The protocols and parameters that the user named, which may be none; how inputs are read; and
    where the work is done.
    """

    protocols: tuple[str, ...]
    preset: str | None
    config_path: Path | None
    settings: tuple[str, ...]
    options: InputOptions
    work: Work

    def given_options(self) -> list[str]:
        """Return the options of reading and scoring that the user gave."""
        names = [option_of(name) for name in READING if is_given(name)]
        has_parameters = self.settings or self.preset is not None or is_given("config_path")
        return names + (["--set, --config or --preset"] if has_parameters else [])

    def names(self) -> list[str]:
        """Return the names of the protocols, each once; of every one for `all`."""
        return list(PROTOCOLS) if ALL in self.protocols else list(self.protocols or ("evaltex",))

    def parameters(self) -> dict[str, Any]:
        """Return name -> parameters record of these protocols; raises `ConfigError`."""
        from evaltex_cli.protocols import config

        names = self.names()
        settings = [config.parse_set(argument, names) for argument in self.settings]
        for section in sorted({one.protocol for one in settings}):  # checked for any protocol
            config.parameters_of(section, settings)
        config.refuse_others(settings, names)
        if self.preset is not None:
            return {name: config.parameters_of_preset(self.preset, settings) for name in names}
        of_file = config.read_config(self.config_path) if self.config_path else []
        given = [*of_file, *settings]
        return {name: config.parameters_of(name, given) for name in names}


def _scoring(
    protocols: tuple[tuple[str, ...], ...],
    preset: str | None,
    config_path: Path | None,
    settings: tuple[str, ...],
    **others: Any,
) -> Scoring:
    """Return what the user chose; a preset names its protocol and some options of reading, and no
    file changes its parameters.
    """
    work = Work(**{name: others.pop(name) for name in WORK})
    names = tuple(dict.fromkeys(name for listed in protocols for name in listed))
    if preset is not None:
        rules = PRESETS[preset]
        if is_given("protocols") and names != (rules.protocol,):
            raise click.UsageError(
                f"The preset {preset} uses the protocol {rules.protocol}; remove --protocol or"
                " --preset."
            )
        if is_given("config_path"):
            raise click.UsageError(
                f"The preset {preset} sets all parameters; remove --config or --preset."
            )
        names = (rules.protocol,)
        wanted = {"invalid": rules.invalid, "dont_care": DONT_CARE_OBJECTS[0], **rules.levels}
        for name, value in wanted.items():
            if is_given(name) and others[name] != value:
                option = option_of(name)
                raise click.UsageError(
                    f"The preset {preset} uses {option} {value}; remove {option} or --preset."
                )
        others |= {**wanted, "preset": preset}
    return Scoring(names, preset, config_path, settings, read_by(**others), work)


def protocol_option(default: Sequence[str], help_text: str) -> Decorator:
    """Return the option of the protocols; without a default, the help must name it."""
    return click.option(
        "--protocol",
        "protocols",
        multiple=True,
        default=default or None,
        show_default=bool(default),
        type=Names("protocol", [*PROTOCOLS, ALL]),
        metavar="NAME,...",
        help=help_text,
    )


WORK: dict[str, Decorator] = {
    "jobs": default_option(
        "--jobs", Count(min=0, max=MAX_JOBS), 1, "Worker processes; 0: one per processor."
    ),
    "cluster": click.option(
        "--cluster", metavar="ADDRESS", help="Dask cluster to work on, such as tcp://HOST:8786."
    ),
    "cluster_timeout": default_option(
        "--cluster-timeout", Number(min=1), 60, "Seconds to wait for the cluster's workers."
    ),
}
"""The options of the work, by the fields of `Work`."""
work_options = group("work", Work, **WORK)
jobs_options = group("work", Work, jobs=WORK["jobs"])


def scoring_options(
    *default: str,
    help_text: str = "Protocols to score by, or all.",
    images_help: str = "",
    without: Sequence[str] = (),
) -> Decorator:
    """Return the decorator of a command that scores DET against GT by protocols: it gets a
    `Scoring`, `scoring`.
    """
    return group(
        "scoring",
        _scoring,
        protocols=protocol_option(default, help_text),
        preset=click.option(
            "--preset",
            type=Name("preset", list(PRESETS)),
            help="Official rules of a data set (`evaltex protocols`).",
        ),
        config_path=click.option(
            "--config",
            "config_path",
            type=INPUT,
            default=find_config,
            help="File of parameters.  [default: ./evaltex.ini, if there]",
        ),
        settings=click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="KEY=VALUE",
            help="Set a parameter, such as iou.iou=0.7; repeatable.",
        ),
        **_reading(images_help, without),
        **WORK,
    )


# Intervals, reports and output --------------------------------------------------------------------


def resampling_options(name: str, default: float | None, help_text: str) -> Decorator:
    """Return the decorator that adds --resamples, --seed and --ci, the parameter `name`."""
    return together(
        default_option(
            "--resamples", Count(1, 1_000_000), 2000, "Number of resamples of the images."
        ),
        default_option("--seed", Count(min=0), 0, "Seed of the resampling."),
        click.option(
            "--ci",
            name,
            type=Number(0, 1, min_open=True, max_open=True),
            is_flag=False,
            flag_value=0.95,
            default=default,
            metavar="[N]",
            help=help_text,
        ),
    )


all_scores_option = click.option(
    "--all-scores", is_flag=True, help="Print all scores, not only the headline scores."
)
label_option = click.option(
    "--label",
    "labels",
    multiple=True,
    help="Name of a detector, in order.  [default: name of its file or folder]",
)


def check_labels(labels: Sequence[str], paths: Sequence[Path]) -> None:
    """Refuse labels of which there is not one for each detector."""
    if labels and len(labels) != len(paths):
        given = counted(len(labels), "{count} label[s]")
        stop(f"{given} for {len(paths)} detectors; give each detector a label, or none")


report_options = together(
    group(
        "shown",
        dict,
        embed=click.option("--embed", is_flag=True, help="Copy the pictures into the report."),
        all_images=click.option(
            "--all-images", is_flag=True, help="Show all images, not only the 300 worst."
        ),
    ),
    click.option(
        "--diagnose/--no-diagnose",
        default=True,
        show_default=True,
        help="Show in the report where the score is lost (takes longer).",
    ),
)


def gate_options(fail_if: str, baseline: str) -> Decorator:
    """Return the decorator that adds the options of gates, with these helps."""
    junit = "Write the verdicts of the gates as JUnit XML."
    return together(
        click.option("--fail-if", multiple=True, metavar="EXPR", help=fail_if),
        click.option("--baseline", "baselines", multiple=True, type=INPUT, help=baseline),
        click.option("--junit", type=OutputFile("junit"), help=junit),
    )


def output_options(kind: str) -> Decorator:
    """Return the decorator of a command that prints a result of a kind that `marks` recognises: it
    gets an `Output`, `out`.
    """
    return group(
        "out",
        lambda form, output: Output(kind, form, output),
        form=click.option(
            "--format",
            "form",
            type=choice(FORMS),
            default=FORMS[0],
            show_default=True,
            help="Format of the output.",
        ),
        output=click.option(
            "-o", "--output", type=OutputFile(kind), help="Write to this file instead of stdout."
        ),
    )
