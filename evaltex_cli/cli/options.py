"""Options that commands share, and groups of them that a command gets as one record."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click
from click.core import ParameterSource

from evaltex_cli import formats
from evaltex_cli.cli.paths import CONFIG, INPUT, PICTURES, ImageList, OutputFile, find_config
from evaltex_cli.errors import ConfigError, quote
from evaltex_cli.errors.suggestions import nearest
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

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Decorator: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]
HELP_OPTIONS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
ALL = "all"
FORMS = ("table", "json", "csv", "markdown", "latex")
"""What every command that prints results can print; the first is the default."""


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


class Number(click.FloatRange):
    """A number of a range; NaN, which no comparison keeps out, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class Classes(click.ParamType[tuple[str, ...]]):
    """Names of classes, with commas between them."""

    name = "NAME,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the names."""
        if isinstance(value, tuple):
            return value
        return tuple(filter(None, map(str.strip, str(value).split(","))))


def choice(names: Sequence[str]) -> click.Choice[str]:
    """Return the type of an option that is one of a few names, in any case."""
    return click.Choice(names, case_sensitive=False)


def _taken_by(
    parse: Callable[[str], str],
) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Return a callback that gives an option what is parsed of it, and
    refuses what raises `ConfigError`.
    """

    def callback(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
        try:
            return None if value is None else parse(value)
        except ConfigError as error:
            raise click.BadParameter(str(error), ctx, param) from error

    return callback


def _columns(text: str) -> str:
    column_mapping(text)
    return text


# Options ------------------------------------------------------------------------------------------


def default_option(
    name: str, kind: click.ParamType[Any], default: Any, help_text: str
) -> Decorator:
    """Return an option whose help shows its default."""
    return click.option(name, type=kind, default=default, show_default=True, help=help_text)


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


preset_option = click.option(
    "--preset",
    type=Name("preset", list(PRESETS)),
    help="Official rules of a data set (`evaltex protocols`).",
)
config_option = click.option(
    "--config",
    "config_path",
    type=CONFIG,
    help="File of parameters.  [default: ./evaltex.ini, if there]",
)
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a parameter, such as iou.iou=0.7; repeatable.",
)


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
    """Return the option of the classes of the objects that are taken of an input, `what`."""
    return click.option(
        *names, type=Classes(), help=f"Take only objects of {what} of these classes."
    )


gt_format_option, det_format_option = (
    format_option("GT", "--gt-format"),
    format_option("DET", "--det-format"),
)
gt_level_option, det_level_option = (
    level_option("GT", "--gt-level"),
    level_option("DET", "--det-level"),
)
gt_classes_option, det_classes_option = (
    classes_option("GT", "--gt-classes"),
    classes_option("DET", "--det-classes"),
)
min_confidence_option = click.option(
    "--min-confidence",
    type=Number(0, 1),
    help="Leave out detections with a confidence below N.",
)
only_option = click.option(
    "--only",
    type=ImageList(),
    help="Take only the images that this file names, one per line.",
)
invalid_option = click.option(
    "--invalid",
    type=choice(INVALID_POLYGONS),
    default=INVALID_POLYGONS[0],
    show_default=True,
    help="What to do with invalid polygons.",
)

dont_care_option = click.option(
    "--dont-care",
    type=choice(DONT_CARE_OBJECTS),
    default=DONT_CARE_OBJECTS[0],
    show_default=True,
    help="What to do with don't-care objects.",
)
lines_option = click.option(
    "--lines",
    type=INPUT,
    help="Ground truth of lines of the same images, for tiou.",
)


coordinates_option = click.option(
    "--coordinates",
    callback=_taken_by(lambda text: str(Coordinates.parse(text))),
    help="Boxes of a chat model: yxyx:1000, xyxy:pixels etc.",
)


columns_option = click.option(
    "--columns",
    callback=_taken_by(_columns),
    help="Columns of a table: image=file,x0=left etc.",
)


def images_option(help_text: str) -> Decorator:
    """Return the option of the folder of the images' pictures."""
    return click.option("--images", type=PICTURES, help=help_text)


embed_option = click.option(
    "--embed", is_flag=True, help="Put the pictures into the report, instead of links."
)
diagnose_option = click.option(
    "--diagnose/--no-diagnose",
    default=True,
    show_default=True,
    help="Show in the report where the score is lost (takes longer).",
)
resamples_option = default_option(
    "--resamples", click.IntRange(1, 1_000_000), 2000, "Random subsets of the images."
)
seed_option = default_option("--seed", click.IntRange(min=0), 0, "Seed of the random subsets.")


def ci_option(name: str, default: float | None, help_text: str) -> Decorator:
    """Return the option of the level of bootstrap intervals."""
    return click.option(
        "--ci",
        name,
        type=Number(0, 1, min_open=True, max_open=True),
        is_flag=False,
        flag_value=0.95,
        default=default,
        metavar="[N]",
        help=help_text,
    )


all_scores_option = click.option(
    "--all-scores", is_flag=True, help="Print all scores, not only the headline scores."
)
label_option = click.option(
    "--label",
    "labels",
    multiple=True,
    help="Name of a detector, in order.  [default: file name]",
)
quiet_option = click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")


def output_option(kind: str) -> Decorator:
    """Return the option of the file to write, of a kind that `marks` recognises."""
    return click.option(
        "--output", type=OutputFile(kind), help="Write to this file instead of stdout."
    )


form_option = click.option(
    "--format",
    "form",
    type=choice(FORMS),
    default=FORMS[0],
    show_default=True,
    help="Format of the output.",
)


# Groups of options --------------------------------------------------------------------------------


def group(name: str, record: Callable[..., Any], **options: Decorator) -> Decorator:
    """Return a decorator that adds options to a command, which gets their
    values as one record of this name.
    """

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_record(**given: Any) -> None:
            values = {field: given.pop(field) for field in options}
            command(**given, **{name: record(**values)})

        added: Callable[..., Any] = with_record
        for option in reversed(options.values()):
            added = option(added)
        return added

    return add


def input_options(
    images_help: str = "Folder of the pictures, for sizes GT does not have.",
    without: Sequence[str] = (),
) -> Decorator:
    """Return the decorator of a command that reads GT and DET: it gets an
    `InputOptions`, `options`; it may do without some of the options.
    """
    options: dict[str, Decorator] = {
        "gt_format": gt_format_option,
        "det_format": det_format_option,
        "gt_level": gt_level_option,
        "det_level": det_level_option,
        "gt_classes": gt_classes_option,
        "det_classes": det_classes_option,
        "images": images_option(images_help),
        "min_confidence": min_confidence_option,
        "only": only_option,
        "lines": lines_option,
        "invalid": invalid_option,
        "dont_care": dont_care_option,
        "coordinates": coordinates_option,
        "columns": columns_option,
    }
    return group(
        "options",
        InputOptions,
        **{name: option for name, option in options.items() if name not in without},
    )


class Chosen(NamedTuple):
    """The protocols and parameters that the user named, which may be none."""

    protocols: tuple[str, ...]
    config_path: Path | None
    settings: tuple[str, ...]
    preset: str | None = None

    @property
    def has_parameters(self) -> bool:
        """Whether a parameter, a file of them or a preset was given."""
        return bool(self.settings) or self.config_path is not None or self.preset is not None

    def with_preset(self, options: InputOptions) -> InputOptions:
        """Return the options of reading with those of the preset.

        Raises
        ------
        UsageError
            When another policy for invalid polygons, or another level, was given.
        """
        if self.preset is None:
            return options
        invalid, levels = PRESETS[self.preset].invalid, PRESETS[self.preset].levels
        if is_given("invalid") and options.invalid != invalid:
            raise click.UsageError(
                f"The preset {self.preset} uses --invalid {invalid}; remove --invalid or --preset."
            )
        if options.dont_care != DONT_CARE_OBJECTS[0]:
            raise click.UsageError(
                f"The preset {self.preset} ignores don't-care objects; remove --dont-care or"
                " --preset."
            )
        for name, level in levels.items():
            if getattr(options, name) not in (None, level):
                option = "--" + name.replace("_", "-")
                raise click.UsageError(
                    f"The preset {self.preset} uses {option} {level}; remove {option} or --preset."
                )
        return replace(options, invalid=invalid, preset=self.preset, **levels)

    def names(self) -> list[str]:
        """Return the names of the protocols, each once; of every one for `all`."""
        return list(PROTOCOLS) if ALL in self.protocols else list(self.protocols or ("evaltex",))

    def parameters(self) -> dict[str, Any]:
        """Return name -> parameters record of these protocols.

        Raises
        ------
        ConfigError
        """
        from evaltex_cli.protocols import config

        settings = [config.parse_set(argument, self.names()) for argument in self.settings]
        for section in sorted(
            {setting.protocol for setting in settings}
        ):  # these are checked for any protocol
            config.parameters_of(section, settings)
        config.refuse_others(settings, self.names())
        if self.preset is not None:
            return {
                name: config.parameters_of_preset(self.preset, settings) for name in self.names()
            }
        file = find_config(self.config_path)
        given = [*(config.read_config(file) if file else []), *settings]
        return {name: config.parameters_of(name, given) for name in self.names()}


def _chosen(
    protocols: tuple[tuple[str, ...], ...],
    preset: str | None,
    config_path: Path | None,
    settings: Any,
) -> Chosen:
    """Return what the user chose; a preset names its protocol, no file changes its parameters."""
    names = tuple(dict.fromkeys(name for listed in protocols for name in listed))
    if preset is None:
        return Chosen(names, config_path, settings)
    own = (PRESETS[preset].protocol,)
    if is_given("protocols") and names != own:
        raise click.UsageError(
            f"The preset {preset} uses the protocol {own[0]}; remove --protocol or --preset."
        )
    if config_path is not None:
        raise click.UsageError(
            f"The preset {preset} has all parameters; remove --config or --preset."
        )
    return Chosen(own, None, settings, preset)


def is_given(name: str) -> bool:
    """Whether the user gave this parameter of the current command."""
    return click.get_current_context().get_parameter_source(name) is not ParameterSource.DEFAULT


def protocol_options(*default: str, help_text: str = "Protocols to score by, or all.") -> Decorator:
    """Return the decorator of a command that scores by protocols: it gets a `Chosen`, `chosen`."""
    option = protocol_option(default, help_text)
    return group(
        "chosen",
        _chosen,
        protocols=option,
        preset=preset_option,
        config_path=config_option,
        settings=set_option,
    )
