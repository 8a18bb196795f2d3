"""Options that commands share, and groups of them that a command gets as one record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import click
from click.core import ParameterSource

from evaltex_cli import formats
from evaltex_cli.cli.output import Output, stop, warn
from evaltex_cli.cli.paths import INPUT, PICTURES, OutputFile, find_config
from evaltex_cli.errors import counted, nearest, quote
from evaltex_cli.evaluation.groups import IMAGE, Grouping, grouping_of
from evaltex_cli.formats.options import DONT_CARE_OBJECTS, INVALID_POLYGONS, LEVELS, InputOptions
from evaltex_cli.protocols import PROTOCOLS, plain
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.runtime import OrderedMap

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
ALL = "all"
FORMS = ("table", "json", "csv", "markdown", "latex", "html")
"""What every command that prints results can print; the first is the default."""


# Types of options ---------------------------------------------------------------------------------


class Name(click.Choice[str]):
    """One of the names of what `name` says, in any case and with `_` or `-`."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(known, case_sensitive=False)
        self.name = name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name as it is known."""
        name = plain(value)
        if name not in self.choices:
            hint, known = nearest(name, self.choices), f"known: {', '.join(self.choices)}"
            if self.name == "format":
                hint, known = formats.meant(name), "`evaltex formats` lists them"
            other = "protocol" if self.name == "preset" else "preset"
            if name in (PROTOCOLS if other == "protocol" else PRESETS):
                hint = f", which is a {other} (--{other} {name})"
            self.fail(f"unknown {self.name} {quote(value)}{hint}; {known}", param, ctx)
        return name

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Return what a help page has in place of all names."""
        return self.name.upper()


class Names(Name):
    """Several names with commas between them, as a tuple."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the names as they are known."""
        return tuple(super(Names, self).convert(one, param, ctx) for one in value.split(","))


def choice(names: Sequence[str]) -> click.Choice[str]:
    """Return the type of an option that is one of a few names, in any case."""
    return click.Choice(names, case_sensitive=False)


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


def is_given(name: str) -> bool:
    """Whether the user gave this parameter of the current command."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def default_option(name: str, kind: Any, default: Any, text: str) -> Decorator:
    """Return an option whose help shows its default."""
    return click.option(name, type=kind, default=default, show_default=True, help=text)


def choice_option(name: str, names: Sequence[str], text: str) -> Decorator:
    """Return an option that is one of a few names, the first by default."""
    return default_option(name, choice(names), names[0], text)


# Reading ------------------------------------------------------------------------------------------


def _listed(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))


def side_options(what: str, side: str, format_name: str) -> dict[str, Decorator]:
    """Return the options of one input, `what`: format, level and classes, after the name of the
    `side`.
    """
    return {
        f"{side}_format": click.option(
            format_name,
            f"{side}_format",
            type=Name("format", list(formats.FORMATS)),
            help=f"Format of {what} (`evaltex formats`).  [default: detected]",
        ),
        f"{side}_level": click.option(
            f"--{side}-level",
            type=choice(LEVELS),
            metavar="LEVEL",
            help=f"Read {what} by word, line, paragraph, region or character."
            "  [default: the finest]",
        ),
        f"{side}_classes": click.option(
            f"--{side}-classes",
            type=_listed,
            metavar="NAME,...",
            help=f"Read only objects of {what} of these classes.",
        ),
    }


READING: dict[str, Decorator] = {
    **side_options("GT", "gt", "--gt-format"),
    **side_options("DET", "det", "--det-format"),
    "images": click.option("--images", type=PICTURES, help="Pictures, for sizes and reports."),
    "min_confidence": click.option(
        "--min-confidence", type=click.FloatRange(0, 1), help="Skip less confident detections."
    ),
    "only": click.option("--only", type=INPUT, help="File of images to read, one per line."),
    "lines": click.option("--lines", type=INPUT, help="Ground truth of lines, for tiou."),
    "invalid": choice_option("--invalid", INVALID_POLYGONS, "What to do with invalid polygons."),
    "dont_care": choice_option("--dont-care", DONT_CARE_OBJECTS, "What to do with don't care."),
    "coordinates": click.option("--coordinates", help="Boxes of a chat model: yxyx:1000 etc."),
    "columns": click.option("--columns", help="Columns of a table: image=file,x0=left etc."),
}
"""The options of reading, by the fields of `InputOptions`."""


def read_by(only: Path | None = None, **others: Any) -> InputOptions:
    """Return how inputs are read; `only` is a file with names of images."""
    from evaltex_cli.formats.image_subset import read_names

    return InputOptions(only=None if only is None else read_names(only), **others)


def reading(without: Sequence[str]) -> dict[str, Decorator]:
    """Return the options of reading but some."""
    return {name: option for name, option in READING.items() if name not in without}


def input_options(*without: str) -> Decorator:
    """Return the decorator of a command that reads GT and DET: it gets an `InputOptions` as
    `options`.
    """
    return group("options", read_by, **reading(without))


# Protocols and workers ----------------------------------------------------------------------------


Workers: TypeAlias = AbstractContextManager[OrderedMap]
"""What gives the map that does the work."""


def _workers(jobs: int, cluster: str | None = None, cluster_timeout: float = 0) -> Workers:
    """Return the workers: this process, several, or a cluster."""
    if cluster is None:
        from evaltex_cli.runtime import workers

        return workers.processes(jobs)
    if jobs != 1:
        raise click.UsageError("--jobs and --cluster exclude each other: give one of them.")
    from evaltex_cli.runtime.cluster import workers_of

    return workers_of(cluster, cluster_timeout)


class Scoring(NamedTuple):
    """What a command scores by, how it reads its inputs, and where the work is done."""

    parameters: Mapping[str, Any]
    """Protocol -> parameters."""
    options: InputOptions
    workers: Workers


def given_scoring_options(*more: str) -> list[str]:
    """Return the options of reading and scoring, and `more` parameters, that the user gave, but
    `--protocol`.
    """
    names = (*READING, "settings", "config_path", "preset", *more)
    options = click.get_current_context().command.params
    return [one.opts[0] for one in options if one.name in names and is_given(one.name)]


def names_of(protocols: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of protocols that were given, each once; of every one for `all`."""
    names = list(dict.fromkeys(name for listed in protocols for name in listed))
    return list(PROTOCOLS) if ALL in names else names


def _scoring(
    protocols: Sequence[Sequence[str]],
    preset: str | None,
    config_path: Path | None,
    settings: tuple[str, ...],
    **others: Any,
) -> Scoring:
    """Return what the user chose. A preset adds its protocol and some options of reading, and no
    file changes its parameters.
    """
    from evaltex_cli.protocols import config

    workers = _workers(**{name: others.pop(name) for name in WORK})
    names = names_of(protocols) or [config.DEFAULT_SECTION]
    if preset is not None:
        if is_given("config_path"):
            raise click.UsageError(
                f"The preset {preset} sets all parameters; remove --config or --preset."
            )
        given = {name: value for name, value in others.items() if is_given(name)}
        rules = config.rules_of_preset(preset, given)
        names = [rules.protocol, *(names if is_given("protocols") else ())]
        others |= {"preset": preset, "invalid": rules.invalid, **rules.levels}
    changes = [config.parse_set(text, names) for text in settings]
    config.refuse_others(changes, names)
    in_file = [] if preset or config_path is None else config.read_config(config_path)
    parameters = config.parameters_by_protocol(names, [*in_file, *changes], preset)
    return Scoring(parameters, read_by(**others), workers)


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
    "jobs": default_option("--jobs", click.IntRange(0), 1, "Worker processes; 0: one per core."),
    "cluster": click.option("--cluster", metavar="ADDRESS", help="Dask cluster: tcp://HOST:8786."),
    "cluster_timeout": default_option(
        "--cluster-timeout", click.FloatRange(min=1), 60, "Seconds to wait for its workers."
    ),
}
"""The options of the work, by the parameters of `_workers`."""
work_options = group("workers", _workers, **WORK)
jobs_options = group("workers", _workers, jobs=WORK["jobs"])


def scoring_options(
    *default: str, help_text: str = "Protocols to score by, or all.", without: Sequence[str] = ()
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
            help="Official rules of a data set (`evaltex protocols`); or ocr: CER and WER.",
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
        **reading(without),
        **WORK,
    )


# Intervals, reports and output --------------------------------------------------------------------


def resampling_options(default: float | None = None) -> Decorator:
    """Return the decorator that adds --resamples, --seed and --ci, the parameter `level`."""
    use = "default: none; 0.95 without N" if default is None else f"default: {default}"
    return together(
        default_option("--resamples", click.IntRange(1, 10**6), 2000, "Resamples of the images."),
        default_option("--seed", click.IntRange(min=0), 0, "Seed of the resampling."),
        click.option(
            "--ci",
            "level",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            is_flag=False,
            flag_value=0.95,
            default=default,
            metavar="[N]",
            help=f"Level of the confidence intervals.  [{use}]",
        ),
    )


def _units(unit: str, groups: Path | None, by: tuple[str, ...] = ()) -> Grouping:
    """Return the units of the statistics, the attributes to show, and the file of both."""
    if groups is not None and unit == IMAGE and not by:
        warn(["--groups has no effect without --unit or --by; name a column by one of them"])
    return grouping_of(unit, groups, by)


GROUPS: dict[str, Decorator] = {
    "unit": default_option(
        "--unit",
        str,
        IMAGE,
        "What was drawn at random: image, page (images are pages of documents), or a column of"
        " --groups.",
    ),
    "groups": click.option(
        "--groups", type=INPUT, help="CSV of attributes of images, with a column `image`."
    ),
    "by": click.option(
        "--by",
        multiple=True,
        metavar="COLUMN",
        help="Also score each value of this column of --groups, or each class (--by class);"
        " repeatable.",
    ),
}
"""The options of groups of images, by the parameters of `_units`."""


def grouping_options(*names: str) -> Decorator:
    """Return the decorator that adds some options of `GROUPS`: a command gets a `Grouping`."""
    return group("grouping", _units, **{name: GROUPS[name] for name in names or GROUPS})


all_scores_option = click.option("--all-scores", is_flag=True, help="Print all scores.")
label_option = click.option(
    "--label", "labels", multiple=True, help="Name of a detector, in order.  [default: its file's]"
)


def named_detectors(paths: Sequence[Path], labels: Sequence[str]) -> dict[str, Path]:
    """Return label -> path of detectors, no two of the same label."""
    from evaltex_cli.comparison.detectors import labels_of

    if labels and len(labels) != len(paths):
        given = counted(len(labels), "{count} label[s]")
        stop(f"{given} for {len(paths)} detectors; give each detector a label, or none")
    named = dict(zip(labels or labels_of(paths), paths, strict=True))
    if len(named) < len(paths):
        stop("two detectors have the same name; give each its own by --label")
    return named


def _shown(embed: bool, all_images: bool) -> dict[str, bool]:
    if embed and click.get_current_context().params["images"] is None:
        raise click.UsageError("--embed needs --images DIR.")
    return {"embed": embed, "all_images": all_images}


report_options = group(
    "shown",
    _shown,
    embed=click.option("--embed", is_flag=True, help="Copy the pictures into the report."),
    all_images=click.option("--all-images", is_flag=True, help="Show more than the 300 worst."),
)


def gate_options(fail_if: str, baseline: str) -> Decorator:
    """Return the decorator that adds the options of gates, with these helps."""
    junit = "Write the verdicts of the gates as JUnit XML."
    return together(
        click.option("--fail-if", multiple=True, metavar="EXPR", help=fail_if),
        click.option("--baseline", "baselines", multiple=True, type=INPUT, help=baseline),
        click.option("--junit", type=OutputFile("junit"), help=junit),
        choice_option("--unclear", ["pass", "fail"], "What an unclear gate (@95) does."),
    )


def output_options(kind: str) -> Decorator:
    """Return the decorator of a command that prints a result of a kind that `marks` recognises: it
    gets an `Output`, `out`.
    """
    return group(
        "out",
        partial(Output, kind),
        format=choice_option("--format", FORMS, "Format of the output."),
        output=click.option("-o", "--output", type=OutputFile(kind), help="Write to this file."),
    )
