"""Which settings with several changes are worth a try: those that should come near the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import TypeAlias

import numpy as np

from evaltex_cli.display import Record
from evaltex_cli.reconciliation.settings import Change, Setting
from evaltex_cli.records import Floats

MOST_TRIED = 400
"""Settings with so many changes that are tried, those that should come nearest."""
MOST_COMPARED = 4000
"""Settings of one protocol that are compared for it by all that is known, those that should come
nearest if each change does what it does alone."""
IDLE = 1e-3
"""Distance that is added for each change that does nothing alone: it seldom does with others."""
Known: TypeAlias = "Mapping[frozenset[Change], Floats]"


@dataclass(frozen=True, slots=True)
class Scored(Record):
    """A setting and the scores that it gives; differences are scores less figures."""

    setting: Setting
    scores: dict[str, float]
    differences: dict[str, float]

    @property
    def distance(self) -> float:
        """The largest difference."""
        return max(map(abs, self.differences.values()))


def promising(scored: Sequence[Scored], count: int) -> list[Setting]:
    """Return settings with so many changes, those that should come nearest first.

    The differences of a setting should be those of one with a change less, plus what this change
    does alone: their mean over the settings with a change less that are scored.

    Parameters
    ----------
    scored : sequence of Scored
        Settings with fewer changes, among them those with none and with each single change.
    count : int
        Two or more.
    """
    found: list[tuple[float, Setting]] = []
    for name in dict.fromkeys(one.setting.protocol for one in scored):
        known = {
            frozenset(one.setting.changes): np.array(list(one.differences.values()))
            for one in scored
            if one.setting.protocol == name
        }
        if frozenset() in known:
            sets = _nearest_sets(known, count)
            found += ((_expected(known, changes), Setting(name, changes)) for changes in sets)
    nearest = sorted(found, key=lambda pair: pair[0])
    return list(islice((one for _, one in nearest if one.is_valid), MOST_TRIED))


def _nearest_sets(known: Known, count: int) -> list[tuple[Change, ...]]:
    """Return the sets of so many changes that should come nearest if each one does what it does
    alone.
    """
    plain = known[frozenset()]
    effects = {change: one - plain for key, one in known.items() if len(key) == 1 for change in key}
    by_name: dict[str, list[Change]] = {}
    for change in effects:
        by_name.setdefault(change[0], []).append(change)
    sets: list[tuple[Change, ...]] = []
    distances = [np.zeros(0)]
    for names in combinations(by_name, count):
        differences, idle = plain[None], np.zeros(1)
        for name in names:
            of_name = np.array([effects[change] for change in by_name[name]])
            differences = (differences[:, None] + of_name).reshape(-1, len(plain))
            idle = (idle[:, None] + ~of_name.any(axis=1)).ravel()
        distances.append(np.abs(differences).max(axis=1) + IDLE * idle)
        sets += product(*(by_name[name] for name in names))
    order = np.argsort(np.concatenate(distances), kind="stable")[:MOST_COMPARED]
    return [sets[k] for k in order.tolist()]


def _expected(known: Known, changes: tuple[Change, ...]) -> float:
    """Return how far from the figures a setting should be."""
    plain, whole = known[frozenset()], frozenset(changes)
    effects = {change: known[frozenset([change])] - plain for change in changes}
    expected = [
        known[whole - {change}] + effect
        for change, effect in effects.items()
        if whole - {change} in known
    ] or [plain + sum(effects.values())]
    idle = sum(not effect.any() for effect in effects.values())
    return float(np.abs(np.mean(expected, axis=0)).max()) + IDLE * idle
