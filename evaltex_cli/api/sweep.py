"""`evaltex_cli.sweep`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

from evaltex_cli.api.inputs import Images, ScoringOptions, asked, sides, warn
from evaltex_cli.errors import ConfigError
from evaltex_cli.evaluation.evaluate import Progress, left_out, runs_of
from evaltex_cli.evaluation.evaluation import ByProtocol, of_protocols
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.results import significance
from evaltex_cli.results.extras import Bootstrap
from evaltex_cli.thresholds.result import Sweep
from evaltex_cli.thresholds.sweep import SweepOptions, swept


class SweepingOptions(ScoringOptions, total=False):
    """Options of `sweep`."""

    points: int
    folds: int
    seed: int
    tolerance: float
    max_detections: int | None
    confidence_intervals: float | bool
    resamples: int
    progress: Progress | None


OWN = ("points", "folds", "seed", "tolerance", "max_detections")


@overload
def sweep(  # type: ignore[overload-overlap]
    gt: Images, det: Images, protocol: Literal["all"], **options: Unpack[SweepingOptions]
) -> ByProtocol[Sweep]: ...
@overload
def sweep(  # type: ignore[overload-overlap]
    gt: Images, det: Images, protocol: str | None = None, **options: Unpack[SweepingOptions]
) -> Sweep: ...
@overload
def sweep(
    gt: Images, det: Images, protocol: Iterable[str], **options: Unpack[SweepingOptions]
) -> ByProtocol[Sweep]: ...
def sweep(
    gt: Images, det: Images, protocol: str | Iterable[str] | None = None, **options: Any
) -> Sweep | ByProtocol[Sweep]:
    """Score detections at each confidence threshold, and show which to choose.

    Parameters
    ----------
    gt, det, protocol
        As `evaluate`; boxes and polygons. Detections have confidences, and none is left out.

    Other Parameters
    ----------------
    points : int
        Levels to try, at most: all confidences that occur, or so many of them (100).
    folds, seed : int
        Of the cross-validation (5, 0).
    tolerance : float
        How far below the best the main scores of the plateau are, at most (0.005).
    confidence_intervals : float or bool
        Level of bootstrap intervals; True for 0.95. By default there are none.
    resamples : int
        Random subsets of the images for them (2,000).
    max_detections : int
        Detections of an image for ``ap_coco``, at most: those of the highest confidences.
    progress : callable
        Gets the number of images done, and of all.
    **options
        As `evaluate`, but for `per_image`.

    Returns
    -------
    Sweep or ByProtocol
        Of one name, its result; else a mapping of protocol -> result.

    Raises
    ------
    InputError, ConfigError
        As `evaluate`; also if no detection has a confidence, for masks, and for options out of
        range.

    Examples
    --------
    >>> from evaltex_cli import image_objects
    >>> gt = [[[0, 0, 100, 20]], [[0, 0, 80, 20]]]
    >>> boxes = [[0, 0, 95, 20], [0, 60, 50, 80]]
    >>> det = [image_objects(boxes, confidences=[0.9, 0.3]) for _ in gt]
    >>> found = sweep(gt, det, "iou")
    >>> found.levels, found.scores["hmean"]
    ((0.3, 0.9), [0.6666666666666666, 1.0])
    >>> found.operating_point.level
    0.9
    """
    own = options_of(options)
    progress = options.pop("progress", None)
    wanted = asked(protocol, options)
    given = sides(gt, det, wanted.sizes)
    with wanted.workers() as ordered_map:
        inputs = open_inputs(given.gt, given.det, given.options(wanted.options), ordered_map)
        found = swept(inputs, runs_of(wanted.chosen.records), own, progress, ordered_map)
    warn(of_protocols((one.protocol, one.warnings) for one in found))
    if wanted.chosen.is_one:
        return found[0]
    by_name = {one.protocol: one for one in found}
    return ByProtocol(by_name, left_out(wanted.chosen.records, by_name, found[0].gt, found[0].det))


def options_of(options: dict[str, Any]) -> SweepOptions:
    """Take the options of a sweep from keywords.

    Raises
    ------
    ConfigError
        For values out of range.
    """
    given = {name: options.pop(name) for name in OWN if name in options}
    level, resamples = options.pop("confidence_intervals", False), options.pop("resamples", 2000)
    own = SweepOptions(**given)
    if level is False or level is None:
        return own
    share = 0.95 if level is True else float(level)
    most = significance.MOST_RESAMPLES
    if not 0 < share < 1 or not isinstance(resamples, int) or not 1 <= resamples <= most:
        raise ConfigError(
            f"confidence_intervals={level!r}, resamples={resamples!r}; expected a level between 0"
            f" and 1, and a whole number from 1 to {most}"
        )
    return replace(own, bootstrap=Bootstrap(share, resamples, own.seed))
