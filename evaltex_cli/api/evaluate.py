"""`evaltex_cli.evaluate`, and what writes its results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from evaltex_cli import report
from evaltex_cli.api.inputs import AnyPath, Images, Protocols, Request, request, sources, warn
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluate import Progress, evaluate_inputs, left_out, runs_of
from evaltex_cli.evaluation.evaluation import Evaluation, Evaluations, by_protocol
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.results.result_document import of_evaluation
from evaltex_cli.results.writer import result_folder
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.marks import is_of
from evaltex_cli.runtime.outputs import check_file


@overload
def evaluate(gt: Images, det: Images, protocol: Protocols, **options: Any) -> Evaluations: ...
@overload
def evaluate(
    gt: Images, det: Images, protocol: str | None = None, **options: Any
) -> Evaluation: ...
def evaluate(
    gt: Images,
    det: Images,
    protocol: str | Iterable[str] | None = None,
    *,
    per_image: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Evaluation | Evaluations:
    """Evaluate detections against ground truth.

    Parameters
    ----------
    gt, det : path, or one array per image
        A file, folder or archive in any format of ``evaltex formats``. Or the objects of each
        image, in a list (both sides in the same order) or by the image's name in a mapping: (n, 4)
        boxes x0, y0, x1, y1 in pixels; (n, 8) or (n, 4, 2) quadrilaterals; a list of (k, 2)
        polygons; (n, height, width) masks of bool; or `image_objects`, which also has texts,
        confidences and don't-care objects.
    protocol : str or iterable of str
        One name (``evaltex`` by default), several, or ``"all"`` that the input allows.
    per_image : bool
        Whether to return each image's results and each object's match.
    progress : callable
        Gets the number of images done, and of all.
    params : mapping
        The protocol's parameters, ``{"iou": 0.7}``; those of several protocols by name,
        ``{"iou": {"iou": 0.7}}``. Parameters of the only protocol may be keywords, too.
    preset : str
        A data set's official rules: protocol, parameters and treatment of invalid polygons.
    min_confidence : float
        Leave out detections with a lower confidence, from 0 to 1; those without one stay.
    invalid : {'repair', 'drop', 'skip', 'error'}
        What to do with invalid polygons, on both sides.
    dont_care : {'ignore', 'count', 'drop'}
        Ignore don't-care objects as the protocol does, count them as all others, or leave them
        out, so that a detection of one is false.
    only, gt_classes, det_classes : iterable of str
        Names of the images to evaluate, and the classes of the objects that are scored; by default
        all.
    gt_format, det_format : str
        Names of formats, if the content should not decide.
    gt_level, det_level : {'word', 'line', 'paragraph', 'region', 'character', ...}
        The level at which a document is read; by default the finest that it has.
    coordinates, columns : str
        What the numbers of a chat model's boxes are (``yxyx:1000``), and what the columns of a
        table contain (``image=file,x0=left``).
    images, sizes : path, and mapping or iterable of (height, width)
        Folder of the images' pictures, for sizes that the ground truth does not have; or sizes in
        pixels of images given as arrays, by name or in order as these.
    gt_images, det_images : path
        Folders of label pictures, whose pixels are the objects; `max_pixels` limits the largest.
    lines : path
        A ground truth of lines for the same images, for the protocol tiou.
    jobs : int
        Number of processes; 0 for one per processor. A script then needs ``if __name__ ==
        "__main__":``.

    Returns
    -------
    Evaluation or Evaluations
        The result if one protocol was named, else a mapping of protocol -> result. What may make it
        wrong, such as repaired polygons, is in its `warnings`, and issued as `EvaltexWarning`.

    Raises
    ------
    InputError
        All faults of the input in one message.
    ConfigError
        For an unknown protocol, preset, option or parameter, a value out of range, and for what
        contradicts the preset.

    Examples
    --------
    >>> gt = [[[0, 0, 100, 20], [0, 40, 60, 60]]]  # one image with two boxes
    >>> det = [[[0, 0, 90, 20]]]
    >>> evaluate(gt, det, "iou")
    iou: recall 0.5000, precision 1.0000, hmean 0.6667 (1 image, 2 objects, 1 detection)
    >>> evaluate(gt, det, ["iou", "deteval"])["deteval"].scores["recall"]
    0.5
    """
    asked = request(protocol, options)
    with asked.workers() as ordered_map:
        inputs = asked.open(gt, det, ordered_map)
        result = evaluated(asked, inputs, per_image, progress, ordered_map)
    warn(result.warnings)
    return result  # type: ignore[no-any-return]


def evaluated(
    asked: Request,
    inputs: Inputs,
    per_image: bool,
    progress: Progress | None = None,
    ordered_map: OrderedMap = map,
    *,
    in_training: bool = False,
) -> Any:
    """Evaluate inputs that were read; parameters as those of `evaluate` and `evaluate_inputs`."""
    runs = runs_of(asked.protocols)
    found = evaluate_inputs(
        inputs, runs, (), progress, ordered_map, per_image=per_image, in_training=in_training
    )
    results = {one.protocol.name: one for one in found}
    reasons = left_out([name for name in asked.protocols if name not in results], inputs)
    return asked.result(results, reasons, Evaluations)


def save_results(result: Evaluation | Evaluations, folder: AnyPath) -> None:
    """Write results as the command does: PROTOCOL.txt and .json, a file per image if the result has
    images, and the scores of all protocols in scores.json and scores.csv.

    `compare` and the commands ``evaltex compare``, ``report`` and ``merge`` read the folder again.
    It is made if missing; results of these protocols in it, scores.json and scores.csv are replaced
    when all are written. Raises `InputError` when it cannot be written, or has a file of these
    names that is not a result.
    """
    evaluations = list(by_protocol(result).values())
    with result_folder(Path(folder), [one.protocol for one in evaluations]) as writer:
        for one in evaluations:
            writer.write(one)
        writer.write_scores(evaluations)


def write_report(
    result: Evaluation | Evaluations,
    file: AnyPath,
    gt: Images | None = None,
    det: Images | None = None,
    *,
    images: AnyPath | None = None,
    embed: bool = False,
    all_images: bool = False,
    label: str = "detections",
) -> None:
    """Write an HTML report of a result: scores, where they are lost, and images with their
    objects.

    Parameters
    ----------
    result : Evaluation or Evaluations
        Made with ``per_image=True``; else an `InputError`.
    file : path
        One file, which needs neither a server nor a network. A report that is there is replaced.
    gt, det : path or arrays, optional
        What was evaluated, else an `InputError`; without them objects are listed, but not drawn.
    images, embed : path and bool
        Folder of the images' pictures, which the report links to, or which are put into the file.
    all_images : bool
        Show all images, instead of the 300 worst.
    label : str
        The detector's name.
    """
    evaluations = by_protocol(result)
    if not all(one.images or not one.gt.images for one in evaluations.values()):
        again = "evaluate again with per_image=True"
        raise InputError(f"write_report: no images in this result; {again}")
    if (gt is None) != (det is None):
        raise InputError("write_report: give gt and det, or neither")
    page, pictures = Path(file), None if images is None else Path(images)
    check_file(page, is_of("report"))
    documents = {name: of_evaluation(one) for name, one in evaluations.items()}
    detector = report.Detector(label, documents)
    if gt is not None and det is not None:
        ours, theirs = sources({"gt": gt, "det": det})
        inputs = report.open_again(detector, ours, theirs, pictures)
        [detector] = report.with_diagnoses([replace(detector, inputs=inputs)])
    report.make(page, [detector], pictures, embed=embed, all_images=all_images)
