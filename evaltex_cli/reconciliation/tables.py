"""What a search has found, for reading and as JSON, CSV, Markdown and LaTeX."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaltex_cli.errors import counted
from evaltex_cli.protocols import config
from evaltex_cli.reconciliation.figures import Figure
from evaltex_cli.reconciliation.prediction import Scored
from evaltex_cli.reconciliation.search import Found
from evaltex_cli.results import markup
from evaltex_cli.results.screen import Screen, aligned, joined
from evaltex_cli.results.text_tables import JsonObject, json_document, printable


@dataclass(frozen=True, slots=True)
class Asked:
    """The figures, the inputs and the options that every command has, and the parameters that each
    protocol has without options.
    """

    figures: Mapping[str, Figure]
    inputs: Sequence[str]
    base: Mapping[str, Any]

    def command(self, one: Scored) -> list[str]:
        """Return the command that gives these scores."""
        options = one.setting.arguments(self.base[one.setting.protocol])
        return ["evaltex", *self.inputs, *options]


def table(found: Found, asked: Asked, screen: Screen) -> str:
    """Return what was found for reading; commands are not wrapped, so that they can be pasted."""
    lines = [*_head(found)]
    for one in found.fits or found.nearest:
        changes = counted(len(one.setting.changes), "{count} change[s]")
        lines += ["", screen.paint(f"{one.setting.protocol}, {changes}", "bold")]
        lines.append(f"  {printable(shlex.join(asked.command(one)))}")
        rows = [["", *asked.figures], ["  scores", *(_shown(one.scores, asked))]]
        if not found.fits:
            rows.append(
                ["  difference", *(f"{one.differences[name]:+.4f}" for name in asked.figures)]
            )
        lines += aligned(rows, (0,))
        if not found.fits and all(
            asked.figures[name].is_cut_from(one.scores[name]) for name in asked.figures
        ):
            lines.append("  This gives the figures with digits cut off instead of rounded.")
    if found.effects:
        protocol, last = found.nearest[0].setting.protocol, list(asked.figures)[-1]
        lines += ["", f"What changes {last} of {protocol} most:"]
        lines += [
            f"  {change[0]}={config.written(change[1])}: {effect:+.4f}"
            for change, effect in found.effects
        ]
    return joined(lines)


def _head(found: Found) -> list[str]:
    tried = counted(found.tried, "{count} setting[s]")
    if found.fits:
        return [counted(len(found.fits), f"{{count}} of {tried} [gives|give] these figures:")]
    return [f"None of {tried} gives these figures in all digits; the nearest:"]


def _shown(scores: Mapping[str, float], asked: Asked) -> list[str]:
    return [f"{scores[name]:.6f}" for name in asked.figures]


def document(found: Found, asked: Asked) -> str:
    """Return everything as JSON."""
    return json_document(
        "reconciliation",
        {
            "figures": {name: figure.text for name, figure in asked.figures.items()},
            "tried": found.tried,
            "fits": [_entry(one, asked) for one in found.fits],
            "nearest": [
                _entry(one, asked)
                | {"differences": {name: one.differences[name] for name in asked.figures}}
                for one in found.nearest
            ],
            "effects": [
                {"parameter": name, "value": value, "change": effect}
                for (name, value), effect in found.effects
            ],
        },
    )


def _entry(one: Scored, asked: Asked) -> JsonObject:
    return {
        "command": asked.command(one),
        "changes": len(one.setting.changes),
        "scores": one.scores,
    }


def _rows(found: Found, asked: Asked) -> list[Sequence[markup.Cell]]:
    rows: list[Sequence[markup.Cell]] = [["fits", "changes", *asked.figures, "command"]]
    for one in found.fits or found.nearest:
        scores = [one.scores[name] for name in asked.figures]
        fits = "yes" if found.fits else "no"
        rows.append([fits, len(one.setting.changes), *scores, shlex.join(asked.command(one))])
    return rows


FORMATS: dict[str, Callable[[Found, Asked], str]] = {
    "json": document,
    **markup.forms_of("reconciliation", _rows),
}
