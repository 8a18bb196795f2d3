"""`evaltex_cli.compare`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, Unpack, overload

from evaltex_cli.api.inputs import Asked, Images, ScoringOptions, asked, sides, warn
from evaltex_cli.comparison import comparison, detector_results
from evaltex_cli.comparison.comparison import Comparison
from evaltex_cli.comparison.detector_results import System
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluation import ByProtocol
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.results import significance
from evaltex_cli.runtime import OrderedMap

Detectors: TypeAlias = "Mapping[str, Images] | Sequence[Images]"


class ComparisonOptions(ScoringOptions, total=False):
    """Options of `compare`."""

    resamples: int
    seed: int
    level: float


@overload
def compare(  # type: ignore[overload-overlap]
    gt: Images | None,
    detectors: Detectors,
    protocol: Literal["all"],
    **options: Unpack[ComparisonOptions],
) -> ByProtocol[Comparison]: ...
@overload
def compare(  # type: ignore[overload-overlap]
    gt: Images | None,
    detectors: Detectors,
    protocol: str | None = None,
    **options: Unpack[ComparisonOptions],
) -> Comparison: ...
@overload
def compare(
    gt: Images | None,
    detectors: Detectors,
    protocol: Iterable[str],
    **options: Unpack[ComparisonOptions],
) -> ByProtocol[Comparison]: ...
def compare(
    gt: Images | None,
    detectors: Detectors,
    protocol: str | Iterable[str] | None = None,
    **options: Any,
) -> Comparison | ByProtocol[Comparison]:
    """Compare detectors: differences of scores to the first one, with intervals and p-values, and
    what changed.

    Parameters
    ----------
    gt : path, or one array per image
        As `evaluate`. None if all detectors are results of earlier runs.
    detectors : mapping or sequence
        Name -> detections as `evaluate` takes them, or the folder (or .json) of results of a run
        with ``-a``; two or more. Those of a sequence are named after their files, or numbered.
    protocol : str or iterable of str
        As `evaluate`; ``"all"`` for all that serve all detectors.

    Other Parameters
    ----------------
    resamples, seed : int
        Of the subsets of images, at most a million, that intervals and p-values are made from.
    level : float
        Of the intervals, by default 0.95.
    **options
        As `evaluate`, but for `per_image` and `progress`.

    Returns
    -------
    Comparison or ByProtocol
        Of one name, its result; else a mapping of protocol -> result.

    Raises
    ------
    InputError, ConfigError
        As `evaluate`; also for fewer than two detectors, and results that do not belong together.

    Examples
    --------
    >>> gt = [[[0, 0, 100, 20]]] * 30
    >>> found = compare(gt, {"old": [[]] * 30, "new": gt}, "iou")
    >>> found.scores[0].differences, found.images.better
    ([None, 1.0], 30)
    """
    statistics = {
        "resamples": options.pop("resamples", significance.RESAMPLES),
        "seed": options.pop("seed", 0),
        "level": options.pop("level", significance.LEVEL),
    }
    significance.refuse_resamples(statistics["resamples"])
    wanted = asked(protocol, options)
    with wanted.workers() as ordered_map:
        systems = [
            _systems(gt, given, label, wanted, ordered_map)
            for label, given in named(detectors, "compare").items()
        ]
    groups, left_out = comparison.by_protocol(systems)
    warn(comparison.warnings_of(groups))
    found = {group[0].protocol.name: comparison.compare(group, **statistics) for group in groups}
    warn(one.warning for one in found.values() if one.warning)
    return next(iter(found.values())) if wanted.chosen.is_one else ByProtocol(found, left_out)


def named(detectors: Detectors, function: str) -> dict[str, Images]:
    """Return the detectors that a function gets by name; raises `InputError` for fewer than two."""
    if isinstance(detectors, str | PathLike) or len(detectors) < 2:
        raise InputError(f"{function}: one detector; expected two or more, in a list or by name")
    if isinstance(detectors, Mapping):
        return dict(detectors)
    numbered = [f"detector {k}" for k in range(1, len(detectors) + 1)]
    paths = [Path(one) if isinstance(one, str | PathLike) else None for one in detectors]
    for shown in (lambda path: path.name, str):
        names = [
            number if path is None else shown(path)
            for path, number in zip(paths, numbered, strict=True)
        ]
        if len(set(names)) == len(names):
            return dict(zip(names, detectors, strict=True))
    return dict(zip(numbered, detectors, strict=True))


def _systems(
    gt: Images | None, given: Images, label: str, wanted: Asked, ordered_map: OrderedMap
) -> list[System]:
    """Read or make the results of a detector."""
    if isinstance(given, str | PathLike) and detector_results.is_result(Path(given)):
        found = [
            one
            for one in detector_results.stored(Path(given), label)
            if one.protocol.name in wanted.chosen.records
        ]
        if isinstance(gt, str | PathLike):
            comparison.refuse_other_ground_truth(Path(gt), wanted.options, [found])
        return found
    if gt is None:
        raise InputError(
            f"{label}: detections without a ground truth; give it, or results of a run with -a"
        )
    both = sides(gt, given, wanted.sizes)
    inputs = open_inputs(both.gt, both.det, both.options(wanted.options), ordered_map)
    return detector_results.evaluated(inputs, label, wanted.chosen.records, ordered_map)
