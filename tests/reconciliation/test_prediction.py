"""Which settings with several changes are tried first."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from evaltex_cli.reconciliation.prediction import MOST_TRIED, Scored, promising
from evaltex_cli.reconciliation.settings import Change, Setting, alternatives

WANTED: tuple[Change, ...] = (
    ("iou", 0.7),
    ("dont_care_overlap", 0.1),
    ("pairing", "best"),
    ("truncate", False),
)


def scored(*wanted: Change, together: float = 0.0, most: int = 1) -> list[Scored]:
    """Settings with so many changes at most, in which each change does something of its own.

    `wanted` have a difference of 0 if all of them are made; any two changes together do a bit more.
    """
    changes = alternatives("iou", has_confidences=False)
    rng = np.random.default_rng(0)
    effects = {change: rng.uniform(-0.1, 0.1, 2) for change in changes}
    pairs = len(wanted) * (len(wanted) - 1) / 2
    plain = -sum(effects[change] for change in wanted) - together * pairs
    found = []
    for count in range(most + 1):
        for chosen in combinations(changes, count):
            setting = Setting("iou", chosen)
            if len(dict(chosen)) == count and setting.is_valid:
                own = sum((effects[change] for change in chosen), plain)
                differences = own + together * count * (count - 1) / 2
                named = dict(zip(("recall", "precision"), differences.tolist(), strict=True))
                found.append(Scored(setting, {}, named))
    return found


def test_the_sum_of_what_changes_do_alone_is_expected() -> None:
    for count in (2, 3, 4):
        first, *others = promising(scored(*WANTED[:count]), count)
        assert set(first.changes) == set(WANTED[:count])
        assert len(others) < MOST_TRIED


def test_what_is_known_of_two_changes_counts_for_three() -> None:
    """Of changes that do more together than alone."""
    tried = promising(scored(*WANTED[:3], together=0.01, most=2), 3)
    ranks = [set(one.changes) for one in tried].index(set(WANTED[:3]))
    alone = promising(scored(*WANTED[:3], together=0.01), 3)
    assert ranks < [set(one.changes) for one in alone].index(set(WANTED[:3]))


def test_what_contradicts_itself_is_left_out() -> None:
    tried = promising(scored(*WANTED[:2]), 2)
    assert all(one.is_valid and len(dict(one.changes)) == 2 for one in tried)


def test_no_change_that_does_nothing_alone_comes_first() -> None:
    found = scored(*WANTED[:2])
    idle = Scored(Setting("iou", (("invalid", "skip"),)), {}, found[0].differences)
    found = [one for one in found if one.setting.changes[:1] != (("invalid", "skip"),)]
    tried = promising([*found, idle], 2)
    assert set(tried[0].changes) == set(WANTED[:2])
