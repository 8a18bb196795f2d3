"""The search: settings with no change, then with one, then with more, until some fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaltex_cli.display import Record
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluate import Run, evaluate_inputs
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.progress import tracked
from evaltex_cli.protocols.base import load
from evaltex_cli.reconciliation.figures import NAMES, Figure
from evaltex_cli.reconciliation.prediction import Scored, promising
from evaltex_cli.reconciliation.settings import Change, Setting, alternatives, settings
from evaltex_cli.runtime import OrderedMap

AT_ONCE = 256
"""Settings that are scored while the inputs are read once."""
MOST_CHANGES = 4
FIRST = 100
"""Settings with several changes that are tried before others with as many."""
NEAREST = 3


@dataclass(frozen=True, slots=True)
class Found(Record):
    """What a search has found.

    Attributes
    ----------
    fits : list of Scored
        Settings whose scores agree in all digits, those with the fewest changes first; none that
        only adds changes to another.
    nearest : list of Scored
        If none fits, those whose largest difference is the least.
    effects : list of (Change, float)
        If none fits: what single changes of the nearest setting's protocol do to the last of the
        figures, the largest first.
    tried : int
    warnings : tuple of str
        What the first evaluation says of the inputs.
    """

    fits: list[Scored]
    nearest: list[Scored]
    effects: list[tuple[Change, float]]
    tried: int
    warnings: tuple[str, ...] = ()


def search(
    gt: Path,
    det: Path,
    figures: Mapping[str, Figure],
    protocols: Sequence[str],
    options: InputOptions,
    ordered_map: OrderedMap = map,
) -> Found:
    """Search for the settings that give some figures.

    Every setting is scored by the engine that its command runs, so a setting that fits is one whose
    command prints these figures.

    Parameters
    ----------
    protocols : sequence of str
        Those that are tried.
    options : InputOptions
        How the inputs are read where a setting does not change it.

    Raises
    ------
    InputError
        When inputs cannot be read.
    """
    work = _Search(gt, det, figures, options, ordered_map)
    scored = work.scored([Setting(name) for name in protocols])
    if not scored:
        raise InputError("no protocol has these scores for these inputs; choose others")
    able = list(dict.fromkeys(one.setting.protocol for one in scored))
    changes = {name: alternatives(name, work.has_confidences, work.has_dont_care) for name in able}
    for count in range(1, MOST_CHANGES + 1):
        if any(work.fits(one) for one in scored):
            break
        if count == 1:
            parts = [[one for name in able for one in settings(name, changes[name], 1)]]
        else:
            tried = promising(scored, count)
            parts = [tried[:FIRST], tried[FIRST:]]
        for part in parts:
            if not any(work.fits(one) for one in scored):
                scored += work.scored(part)
    fits = _simplest([one for one in scored if work.fits(one)])
    nearest = sorted(scored, key=lambda one: (one.distance, len(one.setting.changes)))[:NEAREST]
    effects = [] if fits else _effects(nearest[0].setting.protocol, scored)
    return Found(fits, [] if fits else nearest, effects, len(scored), work.warnings)


def _simplest(fits: Sequence[Scored]) -> list[Scored]:
    """Those with the fewest changes first, without those that only add changes to one of them."""
    found: list[Scored] = []
    for one in sorted(fits, key=lambda one: len(one.setting.changes)):
        changes = set(one.setting.changes)
        if not any(
            other.setting.protocol == one.setting.protocol and changes >= set(other.setting.changes)
            for other in found
        ):
            found.append(one)
    return found


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


class _Search:
    """Scores settings of two inputs."""

    def __init__(
        self,
        gt: Path,
        det: Path,
        figures: Mapping[str, Figure],
        options: InputOptions,
        ordered_map: OrderedMap,
    ) -> None:
        self.gt, self.det = gt, det
        self.figures, self.options, self.ordered_map = figures, options, ordered_map
        self.has_confidences = self.has_dont_care = False
        self.warnings: tuple[str, ...] = ()

    def fits(self, one: Scored) -> bool:
        """Whether all figures agree."""
        return all(figure.agrees(one.scores[name]) for name, figure in self.figures.items())

    def scored(self, tried: Sequence[Setting]) -> list[Scored]:
        """Score settings, those that are read in the same way together."""
        by_reading: dict[tuple[Change, ...], list[Setting]] = {}
        for setting in tried:
            by_reading.setdefault(setting.reading, []).append(setting)
        parts = [
            same[start : start + AT_ONCE]
            for same in by_reading.values()
            for start in range(0, len(same), AT_ONCE)
        ]
        found = {
            id(one.setting): one
            for part in tracked(parts, "trying settings", "batches", len(parts))
            for one in self._of_part(part)
        }
        return [found[id(setting)] for setting in tried if id(setting) in found]

    def _of_part(self, part: Sequence[Setting]) -> Iterator[Scored]:
        options = part[0].options(self.options)
        inputs = open_inputs(self.gt, self.det, options, self.ordered_map)
        runs = [Run(load(one.protocol), one.measured) for one in part]
        evaluations = iter(evaluate_inputs(inputs, runs, ordered_map=self.ordered_map))
        waiting = next(evaluations, None)
        for setting in part:
            if waiting is None or waiting.protocol.name != setting.protocol:
                continue  # it needs texts that are not there
            self.warnings = self.warnings or tuple(waiting.warnings)
            self.has_confidences |= bool(waiting.det.confidences)
            self.has_dont_care |= bool(waiting.gt.dont_care)
            scores = self._figures_of(waiting)
            if scores is not None:
                differences = {
                    name: scores[name] - figure.value for name, figure in self.figures.items()
                }
                yield Scored(setting, scores, differences)
            waiting = next(evaluations, None)

    def _figures_of(self, evaluation: Evaluation) -> dict[str, float] | None:
        """The scores that the figures may be; None where one is undefined."""
        main = evaluation.protocol.main_score
        scores = {name: evaluation.scores.get(main if name == "hmean" else name) for name in NAMES}
        known = {
            name: float(value) for name, value in scores.items() if isinstance(value, int | float)
        }
        return known if len(known) == len(NAMES) else None
