"""`evaltex_cli.save_results` and `evaltex_cli.write_report`."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

from evaltex_cli import report
from evaltex_cli.api.inputs import AnyPath, Images, sides
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluate import Run
from evaltex_cli.evaluation.evaluation import Evaluation, Evaluations, by_protocol
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.marks import is_of
from evaltex_cli.results import score_forms
from evaltex_cli.results.extras import Extras
from evaltex_cli.results.image_table import NO_IMAGES
from evaltex_cli.results.result_document import of_evaluation
from evaltex_cli.results.writer import ResultWriter, of_images, result_folder
from evaltex_cli.runtime.outputs import check_file


def save_results(result: Evaluation | Evaluations, folder: AnyPath) -> None:
    """Write results as the command does: PROTOCOL.txt and .json, a file per image if the result has
    images, and the scores of all protocols in scores.json and scores.csv.

    `compare` and the commands ``evaltex compare``, ``report`` and ``merge`` read the folder again.

    Parameters
    ----------
    result : Evaluation or Evaluations
    folder : path
        Made if missing. Results of these protocols in it, scores.json and scores.csv are replaced
        when all are written; nothing else changes.

    Raises
    ------
    InputError
        When the folder cannot be written, or has a file of these names that is no result.
    """
    evaluations = list(by_protocol(result).values())
    protocols = [one.protocol for one in evaluations]
    with result_folder(Path(folder), protocols) as writer:
        _write(evaluations, writer)
        score_forms.write(writer, evaluations, {one.protocol.name: Extras() for one in evaluations})


def write_report(
    result: Evaluation | Evaluations,
    file: AnyPath,
    gt: Images | None = None,
    det: Images | None = None,
    *,
    images: AnyPath | None = None,
    embed: bool = False,
    label: str = "detections",
) -> None:
    """Write an HTML report of a result: scores, where they are lost, and every image with its
    objects.

    Parameters
    ----------
    result : Evaluation or Evaluations
        Made with ``per_image=True``.
    file : path
        One file, which needs neither a server nor a network. A report that is there is replaced.
    gt, det : path or arrays, optional
        What was evaluated; without them objects are listed, but not drawn.
    images : path, optional
        Folder of the images' pictures, which the report links to.
    embed : bool
        Whether the pictures are put into the file.
    label : str
        The detector's name.

    Raises
    ------
    InputError
        When the result has no images, the inputs are not those that were evaluated, or the file
        cannot be written.
    """
    evaluations = by_protocol(result).values()
    if not all(one.images or not one.gt.images for one in evaluations):
        raise InputError(
            "write_report: no images in this result; evaluate again with per_image=True"
        )
    if (gt is None) != (det is None):
        raise InputError("write_report: give gt and det, or neither")
    page, pictures = Path(file), None if images is None else Path(images)
    check_file(page, is_of("report"))
    with TemporaryDirectory(prefix="evaltex-") as made:
        folder = Path(made)
        _write(evaluations, ResultWriter(folder))
        if gt is None or det is None:
            subject = report.read([folder], [label])
        elif isinstance(gt, str | PathLike) and isinstance(det, str | PathLike):
            subject = report.read([folder], [label], Path(gt), [Path(det)], pictures).with_losses()
        else:
            both = sides(gt, det)
            options = of_evaluation(next(iter(evaluations)), NO_IMAGES).options
            opened = open_inputs(both.gt, both.det, options)
            subject = report.of_results(folder, label, opened).with_losses()
        report.make(page, subject, report.Pictures(pictures, embed, page.parent))


def _write(evaluations: Iterable[Evaluation], writer: ResultWriter) -> None:
    for one in evaluations:
        run = Run(one.protocol, one.parameters)
        if one.images:
            writer.take(run, of_images(run, one.images))
        writer.finish(one)
