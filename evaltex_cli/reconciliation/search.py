"""The search: each protocol as it is, then with one change, then the nearest one with two."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaltex_cli.errors import InputError, counted
from evaltex_cli.evaluation.evaluate import Run, evaluate_inputs
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import load
from evaltex_cli.reconciliation.figures import NAMES, Figure
from evaltex_cli.reconciliation.settings import Change, Setting, alternatives, settings
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.progress import tracked
from evaltex_cli.tables import Column, Table
from evaltex_cli.tables.record import Record

AT_ONCE = 256
"""Settings that are scored while the inputs are read once."""
NEAREST = 3


@dataclass(frozen=True, slots=True)
class Scored:
    """A setting, the command that gives it, its scores, and these less the figures."""

    setting: Setting
    command: list[str]
    scores: dict[str, float]
    differences: dict[str, float]

    @property
    def distance(self) -> float:
        """The largest difference."""
        return max(map(abs, self.differences.values()))

    def entry(self, *members: str) -> dict[str, Any]:
        """Return the entry of the JSON."""
        entry = {"command": self.command, "changes": len(self.setting.changes)}
        return entry | {name: getattr(self, name) for name in members}


@dataclass(frozen=True, slots=True, repr=False)
class Reconciliation(Record):
    """What a search has found."""

    figures: Mapping[str, Figure]
    fits: list[Scored]
    """Settings whose scores agree in all digits, those with the fewest changes first; none that
    only adds changes to another."""
    nearest: list[Scored]
    """If none fits, those whose largest difference is the least."""
    effects: list[tuple[Change, float]]
    """If none fits: what single changes of the nearest setting's protocol do to the last of the
    figures, the largest first."""
    tried: int
    warnings: list[str]
    """What the first evaluation says of the inputs."""

    def tables(self) -> list[Table]:
        """Return the settings, with their commands below, and the effects of single changes."""
        tried, shown = counted(self.tried, "{count} setting[s]"), self.fits or self.nearest
        title = f"None of {tried} gives these figures in all digits; the nearest:"
        if self.fits:
            title = counted(len(shown), f"{{count}} of {tried} [gives|give] these figures:")
        columns = [Column("", "number"), Column("protocol"), Column("changes", "number")]
        columns += [Column(name, "digits") for name in self.figures]
        rows: list[list[Any]] = []
        for k, scored in enumerate(shown, 1):
            row = [k, scored.setting.protocol, len(scored.setting.changes)]
            rows.append(row + [scored.scores[name] for name in self.figures])
        if not self.fits:
            columns += [Column(f"{name} off by", "change") for name in self.figures]
            for row, scored in zip(rows, shown, strict=True):
                row.extend(scored.differences.values())
        notes = [f"  {k}: {shlex.join(scored.command)}" for k, scored in enumerate(shown, 1)]
        cut = [
            str(k)
            for k, scored in enumerate(self.nearest, 1)
            if all(one.is_cut_from(scored.scores[name]) for name, one in self.figures.items())
        ]
        notes += [f"{', '.join(cut)}: the figures with digits cut off, not rounded."] if cut else []
        tables = [Table(title, columns, rows, notes)]
        if self.effects:
            protocol, last = self.nearest[0].setting.protocol, list(self.figures)[-1]
            tables.append(
                Table(
                    f"What changes {last} of {protocol} most:",
                    [Column("change"), Column(last, "change")],
                    [[f"{key}={config.written(value)}", by] for (key, value), by in self.effects],
                )
            )
        return tables

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return one row for each setting that fits, or that is nearest."""
        columns = [Column(name) for name in ("fits", "changes", *self.figures, "command")]
        rows = [
            [
                "yes" if self.fits else "no",
                len(scored.setting.changes),
                *(scored.scores[name] for name in self.figures),
                shlex.join(scored.command),
            ]
            for scored in self.fits or self.nearest
        ]
        return {"settings": lambda: Table("", columns, rows)}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "figures": {name: figure.text for name, figure in self.figures.items()},
            "tried": self.tried,
            "fits": [scored.entry("scores") for scored in self.fits],
            "nearest": [scored.entry("scores", "differences") for scored in self.nearest],
            "effects": [
                {"parameter": key, "value": value, "change": by}
                for (key, value), by in self.effects
            ],
        }


@dataclass(slots=True)
class _Search:
    """Scores settings of two inputs."""

    gt: Path
    det: Path
    figures: Mapping[str, Figure]
    options: InputOptions
    inputs: Sequence[str]
    base: Mapping[str, Any]
    ordered_map: OrderedMap
    has_confidences: bool = False
    has_dont_care: bool = False
    warnings: Sequence[str] | None = None

    def fit(self, scored: Sequence[Scored]) -> list[Scored]:
        """Return those whose figures all agree, those with the fewest changes first."""
        agreeing = [
            one
            for one in scored
            if all(figure.agrees(one.scores[name]) for name, figure in self.figures.items())
        ]
        return sorted(agreeing, key=lambda one: len(one.setting.changes))

    def score(self, tried: Sequence[Setting]) -> list[Scored]:
        """Score settings, those that are read in the same way together."""
        by_reading: dict[tuple[Change, ...], list[Setting]] = {}
        for setting in tried:
            by_reading.setdefault(setting.reading, []).append(setting)
        parts = [
            same[start : start + AT_ONCE]
            for same in by_reading.values()
            for start in range(0, len(same), AT_ONCE)
        ]
        return [
            scored
            for part in tracked(parts, "trying settings", "batches", len(parts))
            for scored in self._of_part(part)
        ]

    def _of_part(self, part: Sequence[Setting]) -> Iterator[Scored]:
        options = replace(self.options, **dict(part[0].reading))
        inputs = open_inputs(self.gt, self.det, options, self.ordered_map)
        runs = [Run(load(setting.protocol), setting.measured) for setting in part]
        waiting = list(evaluate_inputs(inputs, runs, ordered_map=self.ordered_map))
        for setting in part:
            # A protocol that needs texts is left out where there are none.
            if not waiting or waiting[0].protocol.name != setting.protocol:
                continue
            evaluation = waiting.pop(0)
            if self.warnings is None:
                self.warnings = evaluation.warnings
            self.has_confidences |= bool(evaluation.det.confidences)
            self.has_dont_care |= bool(evaluation.gt.dont_care)
            main = evaluation.protocol.main_score
            given = {n: evaluation.scores.get(main if n == "hmean" else n) for n in NAMES}
            scores = {n: float(one) for n, one in given.items() if isinstance(one, int | float)}
            if len(scores) == len(NAMES):
                arguments = setting.arguments(self.base[setting.protocol])
                off = {name: scores[name] - figure.value for name, figure in self.figures.items()}
                yield Scored(setting, ["evaltex", *self.inputs, *arguments], scores, off)


def search(
    gt: Path,
    det: Path,
    figures: Mapping[str, Figure],
    protocols: Sequence[str],
    options: InputOptions,
    inputs: Sequence[str] = (),
    base: Mapping[str, Any] | None = None,
    ordered_map: OrderedMap = map,
) -> Reconciliation:
    """Search for the settings of some protocols that give some figures.

    Every setting is scored by the engine that its command runs, so a setting that fits is one whose
    command prints these figures. `options` say how inputs are read where a setting does not change
    it; `inputs` are the beginning of every command, paths and options of reading; `base` is
    protocol -> the parameters that it has without options.

    Raises `InputError` when inputs cannot be read.
    """
    plain = {name: Setting(name).parameters for name in protocols}
    work = _Search(gt, det, figures, options, inputs, base or plain, ordered_map)
    scored = work.score([Setting(name) for name in protocols])
    if not scored:
        raise InputError("no protocol has these scores for these inputs; choose others")
    able = list(dict.fromkeys(one.setting.protocol for one in scored))
    changes = {name: alternatives(name, work.has_confidences, work.has_dont_care) for name in able}
    if not work.fit(scored):
        scored += work.score([one for name in able for one in settings(name, changes[name], 1)])
    if not work.fit(scored):
        name = min(scored, key=_by_distance).setting.protocol
        scored += work.score(list(settings(name, changes[name], 2)))
    fits = _simplest(work.fit(scored))
    nearest = [] if fits else sorted(scored, key=_by_distance)[:NEAREST]
    effects = _effects(nearest[0].setting.protocol, scored) if nearest else []
    return Reconciliation(figures, fits, nearest, effects, len(scored), list(work.warnings or ()))


def _by_distance(scored: Scored) -> tuple[float, int]:
    return scored.distance, len(scored.setting.changes)


def _simplest(fits: Sequence[Scored]) -> list[Scored]:
    """Return those that do not only add changes to one before."""
    simple: list[Scored] = []
    for one in fits:
        if not any(
            other.setting.protocol == one.setting.protocol
            and set(other.setting.changes) <= set(one.setting.changes)
            for other in simple
        ):
            simple.append(one)
    return simple


def _effects(name: str, scored: Sequence[Scored]) -> list[tuple[Change, float]]:
    of_protocol = [one for one in scored if one.setting.protocol == name]
    plain = next(one for one in of_protocol if not one.setting.changes)
    last = list(plain.differences)[-1]
    effects = [
        (one.setting.changes[0], one.differences[last] - plain.differences[last])
        for one in of_protocol
        if len(one.setting.changes) == 1
    ]
    return sorted(effects, key=lambda effect: -abs(effect[1]))[:NEAREST]
