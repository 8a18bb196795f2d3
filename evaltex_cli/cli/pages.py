"""The help pages: options in groups, those that few need on a second page,
and examples at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from evaltex_cli.cli.other_tools import explained
from evaltex_cli.version import __version__

MOST_ROWS = 60
"""A page with more rows leaves out the options in `RARE`."""
ALL_OPTIONS = "evaltex.all_options"
"""The key in `click.Context.meta` of whether a page shows all options, however long it is."""
SECTIONS: Mapping[str, Sequence[str]] = {
    "Figures": ("--recall", "--precision", "--hmean"),
    "Scoring": ("--protocol", "--preset", "--set", "--config"),
    "Input": (
        *("--gt", "--det", "--kind", "--from", "--gt-format", "--det-format", "--images", "--only"),
        *("--min-confidence", "--invalid", "--dont-care", "--lines", "--coordinates", "--columns"),
        *("--max-pixels",),
    ),
    "Error types": ("--overlap", "--tight", "--loose", "--surplus"),
    "Audit": ("--suspicion",),
    "Levels": ("--points", "--folds", "--tolerance", "--max-detections"),
    "Bins": ("--heights", "--aspect-ratios", "--lengths"),
    "Output": (
        *("-a", "--objects", "--format", "--output", "--to", "--recipe", "--layout", "--regions"),
        *("--boxes", "--patch", "--masks", "--mask-format", "--report", "--embed", "--diagnose"),
        *("--plots", "--label", "--worst", "--all-scores", "--pairs", "--limit", "--force"),
    ),
    "Intervals and gates": (
        *("--ci", "--correction", "--pooled", "--resamples", "--seed"),
        *("--fail-if", "--baseline", "--junit"),
    ),
    "Work": ("--jobs", "--cluster", "--cluster-timeout", "--resume"),
    "Other": ("--all", "--all-faults", "--quiet", "--color", "--version", "--help"),
}
"""Title -> its options in the order of the page; a command shows those that it has."""
RARE = {
    *("--config", "--only", "--dont-care", "--lines", "--coordinates", "--columns", "--max-pixels"),
    *("--embed", "--diagnose", "--plots", "--resamples", "--seed", "--junit", "--cluster"),
    *("--cluster-timeout", "--resume", "--force", "--all-faults", "--overlap", "--tight"),
    *("--loose", "--surplus", "--mask-format", "--color"),
}


class Command(click.Command):
    """A command with a version, whose help is a page of groups of options.

    Attributes
    ----------
    examples : sequence of str
        Command lines, with `gt.txt` and other names of files.
    """

    def __init__(self, *given: Any, examples: Sequence[str] = (), **named: Any) -> None:
        super().__init__(*given, **named)
        self.examples = examples
        click.version_option(
            __version__, "-V", "--version", prog_name="evaltex", message="%(prog)s %(version)s"
        )(self)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an option of other tools is answered by the one of this command."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise explained(error, self) from error

    def get_help(self, ctx: click.Context) -> str:
        """Return the page: all options if they fit or were asked for, else
        those that are not rare.
        """
        asked = ctx.meta.get(ALL_OPTIONS, False)
        ctx.meta[ALL_OPTIONS] = True
        page = super().get_help(ctx)
        if asked or len(page.splitlines()) <= MOST_ROWS:
            return page
        ctx.meta[ALL_OPTIONS] = False
        return super().get_help(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups of options, their texts in one column."""
        groups = dict(self.groups(ctx, ctx.meta[ALL_OPTIONS]))
        width = max(len(names_of(option)) for options in groups.values() for option in options)
        for title, options in groups.items():
            more = title == "Other" and not ctx.meta[ALL_OPTIONS]
            name = "" if ctx.parent is None else f"{self.name} "
            with formatter.section(
                f"{title} (`evaltex help {name}--all` shows more options)" if more else title
            ):
                formatter.write_dl(
                    [(names_of(option).ljust(width), text_of(option)) for option in options]
                )

    def groups(
        self, ctx: click.Context, has_rare: bool
    ) -> Iterator[tuple[str, list[click.Option]]]:
        """Yield the titles of the groups of options, and these."""
        given = [
            param
            for param in self.get_params(ctx)
            if isinstance(param, click.Option) and not param.hidden
        ]
        options = {longest(option): option for option in given}
        for title, names in SECTIONS.items():
            shown = [
                options[name]
                for name in names
                if name in options and (has_rare or name not in RARE)
            ]
            if shown:
                yield title, shown

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")


def longest(option: click.Option) -> str:
    """Return the name of an option by which it is grouped."""
    return max(option.opts, key=len)


def names_of(option: click.Option) -> str:
    """Return an option as it is typed: its names, of a flag that is set the
    one that clears it, and its value.
    """
    names = (
        option.secondary_opts if option.secondary_opts and option.default is True else option.opts
    )
    return " ".join(filter(None, [", ".join(sorted(names, key=len)), metavar_of(option)]))


def metavar_of(option: click.Option) -> str:
    """Return what stands for the value of an option; nothing for a flag."""
    if option.is_flag or option.count:
        return ""
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Path):
        return "PATH"
    if isinstance(option.type, click.types.IntParamType | click.types.FloatParamType):
        return "N"
    return {"text": "TEXT"}.get(option.type.name, option.type.name.upper())


def text_of(option: click.Option) -> str:
    """Return the help of an option with its default."""
    text = option.help or ""
    if not option.show_default or option.default is None or option.is_flag:
        return text
    value = ",".join(option.default) if isinstance(option.default, list | tuple) else option.default
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{text}  [default: {shown}]"
