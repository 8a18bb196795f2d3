"""`evaltex_cli.evaluate`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

from evaltex_cli.api.inputs import (
    Asked,
    Images,
    Progress,
    ScoringOptions,
    Sides,
    asked,
    sides,
    warn,
)
from evaltex_cli.display import Rows
from evaltex_cli.evaluation.chosen import Chosen
from evaltex_cli.evaluation.evaluate import Run, Sink, evaluate_inputs, image_results, runs_of
from evaltex_cli.evaluation.evaluate import left_out as texts_missing
from evaltex_cli.evaluation.evaluation import Evaluation, Evaluations, ImageResult
from evaltex_cli.evaluation.inputs import Inputs, open_inputs
from evaltex_cli.protocols.base import load
from evaltex_cli.runtime import OrderedMap


class EvaluationOptions(ScoringOptions, total=False):
    """Options of `evaluate`."""

    per_image: bool
    progress: Callable[[int, int], None] | None


@overload
def evaluate(  # type: ignore[overload-overlap]
    gt: Images, det: Images, protocol: Literal["all"], **options: Unpack[EvaluationOptions]
) -> Evaluations: ...
@overload
def evaluate(  # type: ignore[overload-overlap]
    gt: Images, det: Images, protocol: str | None = None, **options: Unpack[EvaluationOptions]
) -> Evaluation: ...
@overload
def evaluate(
    gt: Images, det: Images, protocol: Iterable[str], **options: Unpack[EvaluationOptions]
) -> Evaluations: ...
def evaluate(
    gt: Images, det: Images, protocol: str | Iterable[str] | None = None, **options: Any
) -> Evaluation | Evaluations:
    """Evaluate detections against ground truth.

    Parameters
    ----------
    gt, det : path, or one array per image
        A file, folder or archive of any format that is read (``evaltex formats``). Or the objects
        of each image, in a list (both sides in the same order) or by the image's name in a mapping:
        (n, 4) boxes x0, y0, x1, y1; (n, 8) or (n, 4, 2) quadrilaterals; a list of (k, 2) polygons;
        (n, height, width) masks of bool; or `image_objects`, which also has texts, confidences and
        objects that do not count.
    protocol : str or iterable of str
        One name (``evaltex`` by default), several, or ``"all"`` that the input allows.

    Other Parameters
    ----------------
    params : mapping
        The protocol's parameters, ``{"iou_constraint": 0.7}``; of several protocols by name,
        ``{"iou": {"iou_constraint": 0.7}}``. Other keywords are parameters of the only protocol,
        too.
    preset : str
        A data set's official rules: protocol, parameters and treatment of invalid polygons.
    per_image : bool
        Whether to return each image's results and each object's match.
    min_confidence : float
        Detections whose confidence is lower are left out; those without one stay.
    invalid_polygons : {'repair', 'drop', 'skip', 'error'}
        How to treat them, on both sides; by default they are repaired.
    jobs : int
        Number of processes; 0 for one per processor. A script then needs ``if __name__ ==
        "__main__":``.
    progress : callable
        Gets the number of images done, and of all.
    gt_format, det_format : str
        Names of formats, if the content should not decide.
    gt_level, det_level : {'word', 'line', 'paragraph', 'region', 'character', ...}
        What the objects of formats with levels are, if not the finest level that the input has.
    gt_classes, det_classes : iterable of str
        The classes of the objects that are scored; all by default.
    only : iterable of str
        Names of the images to evaluate; all by default.
    dont_care : {'ignore', 'count', 'drop'}
        Whether don't-care objects are ignored as the protocol does it, count as all others, or are
        left out, so that a detection of one is false.
    images : path
        Folder of the images' pictures, whose sizes are used if the ground truth does not have them.
    sizes : mapping or iterable of (height, width)
        Of images given as arrays, for protocols that need them.
    gt_images, det_images : path
        Folders of label pictures, whose pixels are the objects; `max_pixels` limits the largest.
    coordinates, columns : str
        What the numbers of boxes (``yxyx:1000``), and the columns of a table
        (``image=file,x0=left``), are.
    gt_lines : path
        A ground truth of lines, of the same images, for the protocol tiou.

    Returns
    -------
    Evaluation or Evaluations
        Of one name, its result; else a mapping of protocol -> result.

    Raises
    ------
    InputError
        All faults of the input in one message.
    ConfigError
        For an unknown protocol, preset, option or parameter, a value out of range, and for what
        contradicts the preset.

    Warns
    -----
    EvaltexWarning
        For what should be known of the result, such as polygons that were repaired; also in its
        `warnings`.

    Examples
    --------
    >>> gt = [[[0, 0, 100, 20], [0, 40, 60, 60]]]  # one image with two boxes
    >>> det = [[[0, 0, 90, 20]]]
    >>> evaluate(gt, det, "iou")
    iou: recall 0.5000, precision 1.0000, hmean 0.6667 (1 image, 2 objects, 1 detection)
    >>> evaluate(gt, det, ["iou", "deteval"])["deteval"].scores["recall"]
    0.5
    """
    per_image, progress = options.pop("per_image", False), options.pop("progress", None)
    wanted = asked(protocol, options)
    given = sides(gt, det, wanted.sizes)
    with wanted.workers() as ordered_map:
        result = evaluate_sides(given, wanted, per_image, progress, ordered_map)
    warn(result.warnings)
    return result


def evaluate_sides(
    given: Sides,
    wanted: Asked,
    per_image: bool,
    progress: Progress = None,
    ordered_map: OrderedMap = map,
    *,
    in_training: bool = False,
) -> Evaluation | Evaluations:
    """Evaluate both sides; parameters as of `evaluate` and `evaluate_inputs`."""
    inputs = open_inputs(given.gt, given.det, given.options(wanted.options), ordered_map)
    chosen, left_out = _fit_for_masks(wanted.chosen, inputs)
    runs = runs_of(chosen.records)
    images: dict[str, list[ImageResult]] = {run.protocol.name: [] for run in runs}

    def take(run: Run, made: list[ImageResult]) -> None:
        images[run.protocol.name].extend(made)

    sinks = [Sink(image_results, take)] if per_image else []
    found = evaluate_inputs(inputs, runs, sinks, progress, ordered_map, in_training=in_training)
    found = [replace(one, images=Rows(images[one.protocol.name])) for one in found]
    by_name = {one.protocol.name: one for one in found}
    left_out |= texts_missing(chosen.records, by_name, found[0].gt, found[0].det)
    return chosen.result(by_name, left_out)


def _fit_for_masks(chosen: Chosen, inputs: Inputs) -> tuple[Chosen, dict[str, str]]:
    """Leave out of ``"all"`` the protocols that do not work on masks."""
    if not chosen.is_all or inputs.options.masks is None:
        return chosen, {}
    unfit = [name for name in chosen.records if "outlines" in load(name).needs]
    records = {name: record for name, record in chosen.records.items() if name not in unfit}
    return replace(chosen, records=records), dict.fromkeys(unfit, "it takes no masks")
