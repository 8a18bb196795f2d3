"""The other functions: each is a command on paths or arrays, and returns a record.

Arguments named as those of `evaluate` are the same, as are its `options` and errors; keywords that
are neither options nor parameters of the protocol are a `ConfigError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

from evaltex_cli.api.inputs import (
    READING,
    AnyPath,
    Images,
    Protocols,
    reading_options,
    refuse_unknown,
    request,
    sources,
    warn,
)
from evaltex_cli.audit.audit import SUSPICION, Audit, audit
from evaltex_cli.audit.patches import patched
from evaltex_cli.comparison import detectors as results_of
from evaltex_cli.comparison.compare import Comparison, Comparisons, compare_all
from evaltex_cli.conversion import convert as conversion
from evaltex_cli.conversion.convert import Converted
from evaltex_cli.diagnosis.breakdown import Edges
from evaltex_cli.diagnosis.diagnosis import Diagnosis, diagnose_inputs
from evaltex_cli.diagnosis.error_types import Thresholds
from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.evaluation.evaluate import Progress, left_out, runs_of
from evaltex_cli.evaluation.evaluation import ByProtocol, of_protocols
from evaltex_cli.evaluation.extras import Bootstrap
from evaltex_cli.evaluation.groups import IMAGE, grouping_of
from evaltex_cli.formats.base import Side
from evaltex_cli.ranking.board import CORRECTIONS, Board, DataSet, Settings
from evaltex_cli.ranking.board import read as read_board
from evaltex_cli.ranking.rank import Ranking
from evaltex_cli.ranking.rank import rank as rank_board
from evaltex_cli.results import significance
from evaltex_cli.tables.record import Rows
from evaltex_cli.thresholds.result import Sweep
from evaltex_cli.thresholds.sweep import swept
from evaltex_cli.validation import validation
from evaltex_cli.validation.findings import Validation

CONVERTING = ("images", "min_confidence", "coordinates", "columns", "only")
Detectors: TypeAlias = "Mapping[str, Images] | Sequence[Images]"


# compare and rank ---------------------------------------------------------------------------------


@overload
def compare(
    gt: Images | None, detectors: Detectors, protocol: Protocols, **options: Any
) -> Comparisons: ...
@overload
def compare(
    gt: Images | None, detectors: Detectors, protocol: str | None = None, **options: Any
) -> Comparison: ...
def compare(
    gt: Images | None,
    detectors: Detectors,
    protocol: str | Iterable[str] | None = None,
    *,
    resamples: int = significance.RESAMPLES,
    seed: int = 0,
    ci: float = significance.LEVEL,
    unit: str = IMAGE,
    by: Sequence[str] = (),
    groups: AnyPath | None = None,
    **options: Any,
) -> Comparison | Comparisons:
    """Compare detectors: differences of scores to the first one, with intervals and p-values, and
    what changed.

    Options and errors are those of `evaluate`. Also raises `InputError` for fewer than two
    detectors, and results that do not belong together.

    Parameters
    ----------
    gt : path, or one array per image
        None if all detectors are results of earlier runs.
    detectors : mapping or sequence
        Name -> detections as `evaluate` takes them, or the folder (or .json) of results of a run
        with ``-a``; two or more. Those of a sequence are named after their files, or numbered.
    protocol : str or iterable of str
        As `evaluate`; ``"all"`` for all that serve all detectors.
    resamples, seed : int
        Random subsets of the images, at most a million, for intervals and p-values; and their seed.
    ci : float
        Level of the intervals, between 0 and 1.
    unit : str
        What was drawn at random: ``"image"``, ``"page"`` (images are pages of documents), or a
        column of `groups`.
    by : sequence of str
        Columns of `groups` by whose values scores are compared too, or ``"class"``.
    groups : path, optional
        A CSV of attributes of images, with a column ``image``.

    Examples
    --------
    >>> gt = [[[0, 0, 100, 20]]] * 30
    >>> found = compare(gt, {"old": [[]] * 30, "new": gt}, "iou")
    >>> found.scores[0].differences, len(found.images)
    ([None, 1.0], 30)
    """
    significance.refuse_settings(resamples, ci)
    grouping = grouping_of(unit, groups, by)
    asked = request(protocol, options)
    with asked.workers() as ordered_map:
        arguments = gt, _named(detectors), asked.options, asked.protocols, ordered_map
        results, classes = results_of.read_or_evaluate(*arguments, opened=asked.open), []
        if grouping.has_class:
            classes = results_of.results_by_class(*arguments, opened=asked.open)
    bootstrap = Bootstrap(ci, resamples, seed, grouping.units)
    found, warnings = compare_all(results, asked.protocols, bootstrap, grouping, classes)
    warn(warnings)
    return next(iter(found.values())) if asked.is_one else found


def rank(
    gt: Images | None,
    detectors: Detectors | None = None,
    protocol: str | Iterable[str] | None = None,
    *,
    resamples: int | None = None,
    seed: int | None = None,
    ci: float | None = None,
    correction: str | None = None,
    unit: str | None = None,
    groups: AnyPath | None = None,
    **options: Any,
) -> Ranking:
    """Rank detectors: scores and ranks with intervals, ties, and where protocols disagree.

    Arguments and errors are those of `compare`, but for these.

    Parameters
    ----------
    gt : path, or one array per image
        The path of a board (docs/rank.md) if there are no detectors. A board says how each data set
        is read and scored, so `jobs` is the only option next to it.
    resamples, seed, ci, unit, groups
        As `compare`; by default 2,000, 0, 0.95 and ``"image"``, or what the board says.
    correction : {'max-t', 'holm'}
        How p-values are corrected for the number of pairs.

    Examples
    --------
    >>> gt = [[[0, 0, 100, 20]]] * 30
    >>> found = rank(gt, {"old": [[]] * 30, "new": gt}, "iou")
    >>> [(one.label, one.rank, one.groups) for one in found.datasets[0].protocols["iou"].detectors]
    [('new', 1, 'a'), ('old', 2, 'b')]
    """
    own = {"resamples": resamples, "seed": seed, "level": ci, "correction": correction}
    settings: dict[str, Any] = {**own, "unit": unit}
    settings = {name: value for name, value in settings.items() if value is not None}
    significance.refuse_settings(settings.get("resamples", 1), settings.get("level", 0.5))
    if correction not in (None, *CORRECTIONS):
        raise ConfigError(f"correction={correction!r}; expected one of {', '.join(CORRECTIONS)}")
    if detectors is None:
        if not isinstance(gt, str | PathLike):
            raise InputError("no detectors; give name -> detections, or the path of a board")
        if groups is not None:
            raise ConfigError("groups: the board says this for each data set; write it there")
        refuse_unknown(options, ["jobs"])
        names = [protocol] if isinstance(protocol, str) else list(protocol or ())
        asked, opened = request(None, options), None
        board = read_board(Path(gt), settings | ({"protocols": names} if names else {}))
    else:
        asked = request(protocol, options)
        named, opened = _named(detectors), asked.open
        path = None if groups is None else Path(groups)
        dataset = DataSet("", gt, asked.options, asked.protocols, named, path)
        board = Board([dataset], Settings(**settings))
    with asked.workers() as ordered_map:
        ranking = rank_board(board, ordered_map, opened)
    warn(ranking.warnings)
    return ranking


def _named(detectors: Detectors) -> dict[str, Images]:
    """Return detectors by name; raises `InputError` for fewer than two."""
    if isinstance(detectors, str | PathLike) or len(detectors) < 2:
        raise InputError("one detector; expected two or more, in a list or by name")
    if isinstance(detectors, Mapping):
        return dict(detectors)
    paths = [Path(one) for one in detectors if isinstance(one, str | PathLike)]
    labels = [f"detector {k}" for k in range(1, len(detectors) + 1)]
    labels = results_of.labels_of(paths) if len(paths) == len(detectors) else labels
    return dict(zip(labels, detectors, strict=True))


# sweep, diagnose and find_suspects ----------------------------------------------------------------


@overload
def sweep(gt: Images, det: Images, protocol: Protocols, **options: Any) -> ByProtocol[Sweep]: ...
@overload
def sweep(gt: Images, det: Images, protocol: str | None = None, **options: Any) -> Sweep: ...
def sweep(
    gt: Images,
    det: Images,
    protocol: str | Iterable[str] | None = None,
    *,
    points: int = 100,
    folds: int = 5,
    seed: int = 0,
    tolerance: float = 0.005,
    max_detections: int | None = None,
    ci: float | None = None,
    resamples: int = significance.RESAMPLES,
    unit: str = IMAGE,
    groups: AnyPath | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Sweep | ByProtocol[Sweep]:
    """Score detections at each confidence threshold, and show which to choose.

    `gt`, `det`, `protocol`, `progress`, options and errors are those of `evaluate`. `det` has all
    detections with confidences, unfiltered; those without any confidence are an `InputError`.

    Parameters
    ----------
    points : int
        Most levels to try; fewer if fewer confidences occur.
    folds, seed : int
        Folds of the cross-validation, and their seed.
    tolerance : float
        How far below the best the main scores of the plateau are, at most.
    max_detections : int, optional
        Most detections of an image for ``ap_coco``, those of the highest confidences.
    ci, resamples : float and int
        Level of the intervals, by default none, and the random subsets of images for them.
    unit, groups
        As `compare`; units are not divided between folds.

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
    significance.refuse_settings(resamples, significance.LEVEL if ci is None else ci)
    units = grouping_of(unit, groups).units
    asked = request(protocol, options)
    with asked.workers() as ordered_map:
        inputs = asked.open(gt, det, ordered_map)
        found = swept(
            inputs,
            runs_of(asked.protocols),
            points=points,
            folds=folds,
            seed=seed,
            tolerance=tolerance,
            max_detections=max_detections,
            bootstrap=None if ci is None else Bootstrap(ci, resamples, seed, units),
            units=units,
            progress=progress,
            ordered_map=ordered_map,
        )
    warn(of_protocols((one.protocol, one.warnings) for one in found))
    by_name, reasons = {one.protocol: one for one in found}, left_out(asked.protocols, inputs)
    return asked.result(by_name, reasons)  # type: ignore[no-any-return]


@overload
def diagnose(
    gt: Images, det: Images, protocol: Protocols, **options: Any
) -> ByProtocol[Diagnosis]: ...
@overload
def diagnose(gt: Images, det: Images, protocol: str | None = None, **options: Any) -> Diagnosis: ...
def diagnose(
    gt: Images,
    det: Images,
    protocol: str | Iterable[str] | None = None,
    *,
    overlap: float = 0.1,
    tight: float = 0.8,
    loose: float = 0.8,
    surplus: float = 0.1,
    heights: Iterable[float] = (8, 16, 32, 64, 128),
    aspect_ratios: Iterable[float] = (0.5, 1, 2, 4, 8),
    lengths: Iterable[float] = (1, 2, 4, 7, 11),
    **options: Any,
) -> Diagnosis | ByProtocol[Diagnosis]:
    """Show where detections lose score: by kind of mistake, and by height, aspect ratio and length
    of the text.

    `gt`, `det`, `protocol`, options and errors are those of `evaluate`; masks are an `InputError`.

    Parameters
    ----------
    overlap, tight, loose, surplus : float
        Where one kind of mistake ends and the next begins, as shares of an area (docs/diagnose.md).
    heights, aspect_ratios, lengths : iterable of float
        Rising inner edges of the bins, in pixels, width / height and characters.

    Examples
    --------
    >>> diagnose([[[0, 0, 100, 20], [0, 40, 60, 60]]], [[[0, 0, 50, 20]]], "iou").kinds[0].shares
    {'recall': 0.5, 'precision': 0.5, 'hmean': 0.5}
    """
    thresholds = Thresholds(overlap, tight, loose, surplus)
    edges = Edges(*(tuple(map(float, bins)) for bins in (heights, aspect_ratios, lengths)))
    asked = request(protocol, options)
    with asked.workers() as ordered_map:
        inputs = asked.open(gt, det, ordered_map)
        found = diagnose_inputs(inputs, asked.protocols, thresholds, edges, ordered_map)
    warn(of_protocols((one.protocol, one.warnings) for one in found))
    return asked.result({one.protocol: one for one in found}, {})  # type: ignore[no-any-return]


def find_suspects(
    gt: Images,
    detectors: Detectors,
    protocol: str | Iterable[str] | None = None,
    *,
    suspicion: float = SUSPICION,
    **options: Any,
) -> Audit:
    """Find what may be wrong in a ground truth, as ``evaltex audit``: where detectors agree with
    each other and not with it.

    The detectors, two or more, are also ranked by the protocols, with and without the `suspects` of
    the result, which are sorted by falling suspicion. `gt`, `protocol`, options and errors are
    those of `evaluate`; masks are an `InputError`.

    Parameters
    ----------
    detectors : mapping or sequence
        Name -> detections as `evaluate` takes them.
    suspicion : float
        From 0 to 1. Suspects at or above it are left out of the second ranking.

    Examples
    --------
    >>> words = [[x, 0, x + 80, 20] for x in range(0, 1000, 100)]
    >>> seen = {"a": [words], "b": [[[x, y, x1, y1 + 2] for x, y, x1, y1 in words]]}
    >>> first = find_suspects([words[1:]], seen, "iou").suspects[0]
    >>> first.kind, first.detectors, first.box
    ('missing', ('a', 'b'), (0.0, 0.0, 80.0, 20.0))
    """
    if not 0 <= suspicion <= 1:
        raise ConfigError(f"suspicion={suspicion}; expected a number from 0 to 1")
    asked, inputs = request(protocol, options), {}
    with asked.workers() as ordered_map:
        for label, det in _named(detectors).items():
            inputs[label] = asked.open(gt, det, ordered_map)
            if inputs[label].options.masks is not None:
                raise InputError("find_suspects: masks; expected boxes and polygons")
        found = audit(inputs, asked.protocols, suspicion, ordered_map)
    warn(found.warnings)
    return found


# validate and convert -----------------------------------------------------------------------------


def validate(gt: Images, det: Images | None = None, **options: Any) -> Validation:
    """Report everything about ground truth and detections that is wrong or suspicious.

    `gt` and `det`, which may be left out, are those of `evaluate`, as are the options `gt_format`,
    `det_format`, `gt_level`, `det_level`, `gt_classes`, `det_classes`, `coordinates`, `columns` and
    `only`; `invalid`, of which ``error`` makes invalid polygons errors instead of warnings; and
    `images`, whose sizes are also checked.

    The result's `passed` says whether an evaluation would run; its `problems` have what is wrong
    with files. Raises `InputError` or `ConfigError` when `images` cannot be read, for arrays of the
    wrong shape or kind, and for options.

    Examples
    --------
    >>> found = validate([[[0, 0, 100, 20]]], [[[0, 0, 100, 20], [0, 0, 100, 20]]])
    >>> found.passed, found.problems[0].kind
    (True, 'duplicate')
    """
    refuse_unknown(options, READING)
    ours, *theirs = sources({"gt": gt} if det is None else {"gt": gt, "det": det})
    found = validation.validate(ours, theirs[0] if theirs else None, reading_options(options))
    return replace(found, pairs=Rows(found.pairs), problems=Rows(found.problems))


def convert(
    source: Images,
    target: AnyPath,
    *,
    to: str | None = None,
    kind: Side | None = None,
    source_format: str | None = None,
    source_level: str | None = None,
    source_classes: Iterable[str] | None = None,
    regions: Literal["own", "lines"] = "own",
    boxes: bool = False,
    masks: AnyPath | None = None,
    mask_format: Literal["tif", "png"] = "tif",
    patch: AnyPath | None = None,
    **options: Any,
) -> Converted:
    """Write ground truth or detections to a file of another format, or to a folder of files.

    Parameters
    ----------
    source : path, or objects of each image
        Anything that `evaluate` takes as one side. Arrays are best given as image name -> objects.
    target : path
        The file to write, or the folder if the format has one file per image. What is there is
        replaced at the end.
    to : str, optional
        Name of the format; by default by the ending of the target.
    kind : {'gt', 'det'}, optional
        What the source is; by default it is found out, and needed for arrays.
    source_format, source_level, source_classes : optional
        As `gt_format`, `gt_level` and `gt_classes` of `evaluate`.
    regions : {'own', 'lines'}
        Whether regions stay as they are, or words are grouped into lines.
    boxes : bool
        Write polygons as their bounding boxes.
    masks : path, optional
        Folder for label pictures of the objects, in `mask_format`; the target is then an EvaLTex
        file.
    patch : path, optional
        Patch of the source, which is then ground truth: its accepted entries are applied.
    **options
        As `evaluate`: `images`, `min_confidence`, `coordinates`, `columns` and `only`.

    Raises
    ------
    InputError, ConfigError
        For a faulty source, a patch that does not fit it, a target that cannot be written, arrays
        without `kind`, and a value out of range; the target is then left as it was.
    """
    refuse_unknown(options, CONVERTING)
    if kind is None and not isinstance(source, str | PathLike):
        raise ConfigError("kind is not given; objects in memory need kind='gt' or kind='det'")
    own = {"format": source_format, "level": source_level, "classes": source_classes}
    options |= {f"{side}_{name}": value for side in ("gt", "det") for name, value in own.items()}
    [opened] = sources({kind or "gt": source})
    done = conversion.convert(
        opened,
        Path(target),
        kind,
        to,
        reading_options(options),
        change=None if patch is None else partial(patched, Path(patch)),
        regions=regions,
        boxes=boxes,
        masks=None if masks is None else Path(masks),
        mask_format=mask_format,
    )
    warn(done.warnings)
    return done
