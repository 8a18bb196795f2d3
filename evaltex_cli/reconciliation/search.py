"""The search: each protocol as it is, then with one change, then the nearest one with two."""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from evaltex_cli.errors import InputError, counted
from evaltex_cli.evaluation.evaluate import Run, evaluate_inputs, left_out
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import load
from evaltex_cli.reconciliation.figures import NAMES, Figure
from evaltex_cli.reconciliation.settings import Change, Setting, settings
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.progress import tracked
from evaltex_cli.tables import Cell, Column, Table
from evaltex_cli.tables.record import Record

NEAREST = 3


@dataclass(frozen=True, slots=True)
class Scored:
    """A setting, the command that gives it, its scores, and these less the figures."""

    setting: Setting
    command: list[str]
    scores: dict[str, float]
    differences: dict[str, float]

    @property
    def changes(self) -> int:
        """How many changes the setting has."""
        return len(self.setting.changes)

    def distance(self) -> tuple[float, int]:
        """Return the largest difference and the number of changes."""
        return max(map(abs, self.differences.values())), self.changes

    def to_dict(self) -> dict[str, Any]:
        """Return the members that JSON has of all settings."""
        return {"command": self.command, "changes": self.changes, "scores": self.scores}


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
        rows: list[list[Cell]] = []
        for k, one in enumerate(shown, 1):
            scores = [one.scores[name] for name in self.figures]
            off = [] if self.fits else one.differences.values()
            rows.append([k, one.setting.protocol, one.changes, *scores, *off])
        if not self.fits:
            columns += [Column(f"{name} off by", "change") for name in self.figures]
        notes = [f"  {k}: {shlex.join(one.command)}" for k, one in enumerate(shown, 1)]
        if not self.effects:
            return [Table(title, columns, rows, notes)]
        last = list(self.figures)[-1]
        effects = Table(
            f"What changes {last} of {shown[0].setting.protocol} most:",
            [Column("change"), Column(last, "change")],
            [[f"{key}={config.written(value)}", by] for (key, value), by in self.effects],
        )
        return [Table(title, columns, rows, notes), effects]

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return one row for each setting that fits, or that is nearest."""
        columns = [Column(name) for name in ("fits", "changes", *self.figures, "command")]
        rows: list[list[Cell]] = []
        for one in self.fits or self.nearest:
            scores = [one.scores[name] for name in self.figures]
            fits = "yes" if self.fits else "no"
            rows.append([fits, one.changes, *scores, shlex.join(one.command)])
        return {"settings": lambda: Table("", columns, rows)}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        names = ("parameter", "value", "change")
        return {
            "figures": {name: figure.text for name, figure in self.figures.items()},
            "tried": self.tried,
            "fits": [one.to_dict() for one in self.fits],
            "nearest": [one.to_dict() | {"differences": one.differences} for one in self.nearest],
            "effects": [dict(zip(names, (*one, by), strict=True)) for one, by in self.effects],
        }


@dataclass(frozen=True, slots=True)
class _Search:
    """Scores settings of two inputs."""

    gt: Path
    det: Path
    figures: Mapping[str, Figure]
    options: InputOptions
    inputs: Sequence[str]
    ordered_map: OrderedMap

    def evaluate(self, tried: Iterable[Setting]) -> Iterator[tuple[Setting, Evaluation]]:
        """Evaluate settings, those that are read in the same way together."""
        by_reading: dict[tuple[Change, ...], list[Setting]] = defaultdict(list)
        for setting in tried:
            by_reading[tuple(setting.reading.items())].append(setting)
        groups = tracked(by_reading.values(), "trying settings", "readings", len(by_reading))
        for same in groups:
            options = replace(self.options, **same[0].reading)
            inputs = open_inputs(self.gt, self.det, options, self.ordered_map)
            missing = left_out([setting.protocol for setting in same], inputs)
            able = [setting for setting in same if setting.protocol not in missing]
            runs = [Run(load(one.protocol), without_graphs(one.parameters)) for one in able]
            if runs:
                evaluations = evaluate_inputs(inputs, runs, ordered_map=self.ordered_map)
                yield from zip(able, evaluations, strict=True)

    def score(self, evaluated: Iterable[tuple[Setting, Evaluation]]) -> list[Scored]:
        """Compare evaluations with the figures, but those without one of `NAMES`."""
        result = []
        scores: dict[str, Any]
        for setting, evaluation in evaluated:
            main = evaluation.protocol.main_score
            scores = {n: evaluation.scores.get(main if n == "hmean" else n) for n in NAMES}
            if None in scores.values():
                continue
            off = {name: scores[name] - figure.value for name, figure in self.figures.items()}
            command = ["evaltex", *self.inputs, *setting.arguments()]
            result.append(Scored(setting, command, scores, off))
        return result

    def fits(self, scored: Iterable[Scored]) -> list[Scored]:
        """Return those that agree in all digits, but those that only add changes to another."""
        simple: list[Scored] = []
        for one in sorted(scored, key=lambda one: one.changes):
            agrees = all(figure.agrees(one.scores[name]) for name, figure in self.figures.items())
            if agrees and not any(one.setting.adds_to(other.setting) for other in simple):
                simple.append(one)
        return simple


def search(
    gt: Path,
    det: Path,
    figures: Mapping[str, Figure],
    protocols: Sequence[str],
    options: InputOptions,
    inputs: Sequence[str] = (),
    ordered_map: OrderedMap = map,
) -> Reconciliation:
    """Search for the settings of some protocols that give some figures.

    Every setting is scored by the engine that its command runs, so a setting that fits is one whose
    command prints these figures. `options` say how inputs are read where a setting does not change
    it; `inputs` are the beginning of every command, paths and options of reading.

    Raises `InputError` when inputs cannot be read.
    """
    work = _Search(gt, det, figures, options, inputs, ordered_map)
    plain = list(work.evaluate(map(Setting, protocols)))
    scored = work.score(plain)
    if not scored:
        raise InputError("no protocol has these scores for these inputs; choose others")
    first, able = plain[0][1], [one.setting.protocol for one in scored]
    has_confidences, has_dont_care = bool(first.det.confidences), bool(first.gt.dont_care)
    for count in (1, 2):
        if not work.fits(scored):
            names = able if count == 1 else [min(scored, key=Scored.distance).setting.protocol]
            tried = (settings(name, count, has_confidences, has_dont_care) for name in names)
            scored += work.score(work.evaluate(chain.from_iterable(tried)))
    fits = work.fits(scored)
    nearest = [] if fits else sorted(scored, key=Scored.distance)[:NEAREST]
    effects = [] if fits else _effects(nearest[0].setting.protocol, scored)
    return Reconciliation(figures, fits, nearest, effects, len(scored), first.warnings)


def without_graphs(parameters: Any) -> Any:
    """Return parameters without DetEval's graphs, which take most of its time, but not the preset
    auc, which has them whatever is set.
    """
    has_graphs = hasattr(parameters, "curve_points")
    return replace(parameters, curve_points=0) if has_graphs else parameters


def _effects(protocol: str, scored: Sequence[Scored]) -> list[tuple[Change, float]]:
    """Return the changes that move the last of the figures most, and by how much."""
    last = {
        one.setting.changes: [*one.differences.values()][-1]
        for one in scored
        if one.setting.protocol == protocol
    }
    effects = [(own[0], off - last[()]) for own, off in last.items() if len(own) == 1]
    return sorted(effects, key=lambda effect: -abs(effect[1]))[:NEAREST]
