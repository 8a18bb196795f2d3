"""`evaltex_cli.rank`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from evaltex_cli.api.compare import named
from evaltex_cli.api.inputs import Images, ScoringOptions, asked, sides, warn
from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.ranking import board_file, measuring, ranking
from evaltex_cli.ranking.board import CORRECTIONS, Settings
from evaltex_cli.ranking.entry import Entry, Subsets
from evaltex_cli.ranking.ranking import Ranking
from evaltex_cli.results import significance

_STATISTICS = ("resamples", "seed", "level", "correction")
Detectors: TypeAlias = "Mapping[str, Images] | Sequence[Images]"


class RankingOptions(ScoringOptions, total=False):
    """Options of `rank`."""

    resamples: int
    seed: int
    level: float
    correction: str


def rank(
    gt: Images,
    detectors: Detectors | None = None,
    protocol: str | Iterable[str] | None = None,
    **options: Unpack[RankingOptions],
) -> Ranking:
    """Rank detectors: scores and ranks with intervals, ties, and where protocols disagree.

    Parameters
    ----------
    gt : path, or one array per image
        As `evaluate`; or a board (docs/rank.md) if there are no detectors.
    detectors : mapping or sequence, optional
        Name -> detections as `evaluate` takes them; two or more.
    protocol : str or iterable of str
        As `evaluate`; ``"all"`` for all that serve all detectors.

    Other Parameters
    ----------------
    resamples, seed : int
        Of the subsets of images, at most a million, that intervals and p-values are made from.
    level : float
        Of the intervals and the tests, by default 0.95.
    correction : {'max-t', 'holm'}
        Of p-values for the number of pairs.
    **options
        As `evaluate`, but for `per_image` and `progress`.

    Returns
    -------
    Ranking

    Raises
    ------
    InputError, ConfigError
        As `evaluate`; also for fewer than two detectors, and a board with faults.

    Examples
    --------
    >>> gt = [[[0, 0, 100, 20]]] * 30
    >>> found = rank(gt, {"old": [[]] * 30, "new": gt}, "iou")
    >>> [(one.label, one.rank, one.groups) for one in found.datasets[0].protocols["iou"].detectors]
    [('new', 1, 'a'), ('old', 2, 'b')]
    """
    given: dict[str, Any] = dict(options)
    chosen = {name: given.pop(name) for name in _STATISTICS if name in given}
    if chosen.get("correction", CORRECTIONS[0]) not in CORRECTIONS:
        raise ConfigError(
            f"correction={chosen['correction']!r}; expected one of {', '.join(CORRECTIONS)}"
        )
    significance.refuse_resamples(chosen.get("resamples", 1))
    if detectors is None:
        return _of_board(gt, protocol, given, chosen)
    return _of_sides(gt, named(detectors, "rank"), protocol, given, Settings(**chosen))


def _of_board(
    path: Images, protocol: str | Iterable[str] | None, given: Mapping[str, Any], chosen: Any
) -> Ranking:
    if not isinstance(path, str | PathLike):
        raise InputError("rank: no detectors; give name -> detections, or the path of a board")
    if unknown := [name for name in given if name != "jobs"]:
        raise ConfigError(f"{', '.join(unknown)}: a board says this for each data set")
    names = [protocol] if isinstance(protocol, str) else list(protocol or ())
    read = board_file.read(Path(path), chosen | ({"protocols": names} if names else {}))
    with asked(None, given).workers() as ordered_map:
        entries, left_out = measuring.entries_of(read, ordered_map)
    return _ranked(entries, read.detectors, read.settings, left_out)


def _of_sides(
    gt: Images,
    detectors: Mapping[str, Images],
    protocol: str | Iterable[str] | None,
    given: Mapping[str, Any],
    settings: Settings,
) -> Ranking:
    wanted = asked(protocol, given)
    subsets = Subsets(settings.resamples, settings.seed)
    measured: dict[str, dict[str, Entry]] = {}
    with wanted.workers() as ordered_map:
        for label, det in detectors.items():
            both = sides(gt, det, wanted.sizes)
            inputs = open_inputs(both.gt, both.det, both.options(wanted.options), ordered_map)
            measured[label] = measuring.evaluated(
                inputs, wanted.chosen.records, subsets, ordered_map
            )
    entries, left_out = measuring.by_protocol(wanted.chosen.records, measured)
    if not entries:
        raise InputError(f"rank: no protocol serves all detectors; {'; '.join(left_out)}")
    name = Path(gt).name if isinstance(gt, str | PathLike) else "memory"
    return _ranked({name: entries}, list(detectors), settings, left_out)


def _ranked(
    entries: Mapping[str, ranking.Entries],
    detectors: Sequence[str],
    settings: Settings,
    left_out: Sequence[str],
) -> Ranking:
    found = ranking.rank(entries, detectors, settings)
    warn([*left_out, *found.warnings])
    return found
