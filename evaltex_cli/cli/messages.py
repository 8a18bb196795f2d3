"""How errors, warnings and hints are worded on standard error."""

from __future__ import annotations

import click

from evaltex_cli.errors import FaultsError, escaped

_ALL_FAULTS = "evaltex.all_faults"


def _keep_all_faults(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[_ALL_FAULTS] = value


all_faults_option = click.option(
    "--all-faults",
    is_flag=True,
    expose_value=False,
    callback=_keep_all_faults,
    help="List every fault of the inputs, not each kind once.",
)


def all_faults() -> bool:
    """Whether the running command is to list every fault."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(_ALL_FAULTS, False)


def message(kind: str, text: str) -> list[str]:
    """Return the lines of a message; further lines of the text are indented."""
    first, *more = text.split("\n")
    return [
        f"evaltex: {kind}: {escaped(first)}",
        *(f"  {escaped(line.strip())}" for line in more),
    ]


def of_error(error: Exception) -> list[str]:
    """Return the lines of an error: of faults each kind once, and what to do to see more."""
    if not isinstance(error, FaultsError):
        return [line for text in str(error).split("\n") for line in message("error", text)]
    log, every = error.log, all_faults()
    hints = list(log.hints)
    if log.count > 1 and not every:
        hints.append("--all-faults lists every fault; `evaltex validate` says more")
    texts = [("error", text) for text in (map(str, log.faults) if every else log.paragraphs())]
    texts += [("hint", hint) for hint in hints]
    return [line for kind, text in texts for line in message(kind, text)]
