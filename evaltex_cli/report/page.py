"""The HTML report: scores, where they are lost, and images with their objects, in one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.comparison.compare import Comparisons, compare
from evaltex_cli.comparison.detectors import DetectorResult
from evaltex_cli.errors import InputError, counted
from evaltex_cli.evaluation.evaluate import (
    BatchImages,
    Run,
    image_results,
    measure,
    task_of,
    with_empty_images,
)
from evaltex_cli.evaluation.evaluation import ImageResult, ObjectResult, defined
from evaltex_cli.evaluation.extras import IMAGES, Bootstrap, Intervals
from evaltex_cli.formats.filters import treat_invalid
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import Plot, Protocol, load
from evaltex_cli.protocols.matching import FALSE_POSITIVE, IGNORED, MATCH_TYPES, MISSED
from evaltex_cli.protocols.score_names import shown
from evaltex_cli.records import Floats, Ints, Objects
from evaltex_cli.report.detectors import Detector
from evaltex_cli.report.pictures import data_url, pictures_of
from evaltex_cli.results import significance
from evaltex_cli.results.image_table import ImageTable
from evaltex_cli.results.line_chart import svg
from evaltex_cli.results.page import link, page
from evaltex_cli.results.result_document import ResultDocument
from evaltex_cli.results.scores import slice_tables
from evaltex_cli.runtime.outputs import write_file
from evaltex_cli.tables import Column, Table

BOOTSTRAP = Bootstrap(significance.LEVEL, significance.RESAMPLES, 0)
"""How intervals are made that results do not have."""
MOST_IMAGES = 300
"""Images on a page, unless all are asked for."""
KINDS = (*MATCH_TYPES, "misread")
"""What the page says of objects: a misread word is found, but its text is wrong."""
MISREAD = len(MATCH_TYPES)
DECIMALS = 2
"""Coordinates on the page are in pixels with so many decimals."""


def make(
    file: Path,
    detectors: Sequence[Detector],
    pictures: Path | None = None,
    *,
    embed: bool = False,
    all_images: bool = False,
    page_folder: Path | None = None,
) -> str:
    """Write a report of detectors on the same images by the same protocols, and return what is in
    it; the same input gives the same bytes.

    The page links to the images' pictures in the folder `pictures`, or has them in it (`embed`),
    and shows the `MOST_IMAGES` worst images, or `all_images`. `page_folder` is where the file will
    be in the end, if that is not where it is written.

    Raises `InputError` when pictures cannot be read, or results are not those of this version.
    """
    names = detectors[0].names
    order = _worst_first(detectors)
    chosen = order if all_images else order[:MOST_IMAGES]
    paths: list[Path | None] = [None] * len(chosen)
    if pictures is not None:
        paths = pictures_of(pictures, [names[k] for k in chosen])
    folder = page_folder or file.parent
    url = data_url if embed else partial(link, page_folder=folder)
    urls = [None if path is None else url(path) for path in paths]
    labels = [one.label for one in detectors]
    protocols = list(detectors[0].documents)
    text = page(
        "report/report.html",
        "report",
        f"Text detection: {', '.join(labels)}",
        styles=["report/report.css"],
        scripts=["report/elements.js", "report/report.js"],
        labels=labels,
        sections=[_section(name, detectors) for name in protocols],
        gates=_gates(detectors),
        total=len(names),
        shown=len(chosen),
        has_shapes=detectors[0].inputs is not None,
        data={
            "detectors": labels,
            "protocols": protocols,
            "headlines": [list(map(shown, load(name).headline)) for name in protocols],
            "kinds": KINDS,
            "images": _images(detectors, chosen, urls),
        },
    )
    write_file(file, text)
    images = counted(len(chosen), "{count} image[s]")
    if len(chosen) < len(names):
        images = f"the {len(chosen)} worst of {len(names)} images"
    found = counted(sum(path is not None for path in paths), "{count} picture[s]")
    return f"{file.stat().st_size / 1e6:.1f} MB, {images}, {found}"


# Images -------------------------------------------------------------------------------------------


def _worst_first(detectors: Sequence[Detector]) -> Ints:
    """Return all images: those first where a detector is worse than the first one, then those with
    most errors, then those with low scores.
    """
    count = len(detectors[0].names)
    errors, change, scores = np.zeros(count), np.zeros(count), np.zeros(count)
    for name in detectors[0].documents if count else ():
        main = load(name).main_score
        tables = [one.documents[name].table for one in detectors]
        values = [np.nan_to_num(table.scores[main], nan=1.0) for table in tables]
        errors += sum(map(_errors, tables))
        scores += sum(values)
        for other in values[1:]:
            change = np.minimum(change, other - values[0])
    return np.lexsort((scores, -errors, change))


def _errors(table: ImageTable) -> Floats:
    """(images,) objects that are missed or misread, and false detections."""
    errors = (table.counts[:, MISSED] + table.counts[:, FALSE_POSITIVE]).astype(np.float64)
    correct = table.objects.values.get("text_correct")
    if correct is not None and len(correct):
        is_found = (table.objects.types != MISSED) & (table.objects.types != IGNORED)
        image = np.repeat(np.arange(len(errors)), np.diff(table.offsets))
        errors += np.bincount(image, is_found & (correct == 0), len(errors))
    return errors


def _images(
    detectors: Sequence[Detector], chosen: Ints, urls: Sequence[str | None]
) -> list[dict[str, Any]]:
    """Return what the page's script needs of each image."""
    names, protocols = detectors[0].names, list(detectors[0].documents)
    drawn = [_drawn(one, chosen) for one in detectors]
    results = [_results(one, chosen) for one in detectors]
    return [
        {
            "name": names[k],
            "size": drawn[0][at][0],
            "picture": url,
            "gt": drawn[0][at][1],
            "det": [of_detector[at][2] for of_detector in drawn],
            "results": [[of[name][at] for of in results] for name in protocols],
        }
        for at, (k, url) in enumerate(zip(chosen.tolist(), urls, strict=True))
    ]


def _drawn(detector: Detector, images: Ints) -> list[tuple[Any, list[Any], list[Any]]]:
    """Return size, objects and detections of images; each as ID, outline, text and confidence."""
    if detector.inputs is None:
        stored = next(iter(detector.documents.values())).images
        listed = [stored[k] for k in images.tolist()]
        return [(None, _listed(one.objects), _listed(one.detections)) for one in listed]
    task, invalid = task_of(detector.inputs, images), detector.inputs.options.invalid
    # Objects that a policy makes unreachable are drawn where they are.
    gt = treat_invalid(task.gt.objects, "repair" if invalid == "skip" else invalid, "gt")[0]
    det = with_empty_images(treat_invalid(task.det.objects, invalid, "det")[0], task.present)
    sizes = [
        [width, height] if height * width else None for height, width in task.gt.sizes.tolist()
    ]
    return [(size, _shapes(gt, k), _shapes(det, k)) for k, size in enumerate(sizes)]


def _listed(objects: Sequence[ObjectResult]) -> list[list[Any]]:
    return [[one.id, None, "", None] for one in objects]


def _shapes(objects: Objects, image: int) -> list[list[Any]]:
    """Return an image's objects; an outline has x and y in turn, that of a box of two corners."""
    shapes = []
    for row in range(*objects.offsets[image : image + 2].tolist()):
        ring = objects.outlines.ring(row).ravel()
        outline = np.round(ring if len(ring) else objects.boxes[row], DECIMALS).tolist()
        value = np.nan if objects.confidences is None else float(objects.confidences[row])
        confidence = round(value, 5) if np.isfinite(value) else None
        shapes.append([int(objects.ids[row]), outline, objects.texts[row], confidence])
    return shapes


def _results(detector: Detector, images: Ints) -> dict[str, list[dict[str, Any]]]:
    """Return protocol -> what the page says of images: measured again, or as it is stored."""
    documents, inputs = detector.documents, detector.inputs
    if inputs is None or not detector.can_measure:
        return {
            name: [_result(one.images[k]) for k in images.tolist()]
            for name, one in documents.items()
        }
    runs = [
        Run(load(name), config.checked(name, one.parameters)) for name, one in documents.items()
    ]
    options = inputs.options
    part = measure(runs, options.invalid, options.masks, [_measured], task_of(inputs, images))
    part.faults.raise_if_any()
    made = {name: of_run[0] for name, of_run in zip(documents, part.made, strict=True)}
    for name, results in made.items():
        main = load(name).main_score
        stored = documents[name].table.scores[main][images].tolist()
        for k, score, one in zip(images.tolist(), stored, results, strict=True):
            if abs(score - (one["scores"][shown(main)] or 0.0)) > 1e-9:  # not for NaN
                raise InputError(
                    f"{detector.label}: this version scores image {detector.names[k]} otherwise by"
                    f" {name}; evaluate again"
                )
    return made


def _measured(images: BatchImages) -> list[dict[str, Any]]:
    """Return what the page says of a batch, with the best IoU of what has no partner."""
    run, batch = images.run, images.batch
    convention = run.protocol.convention(run.parameters)
    overlaps = images.measured.overlaps(*([] if convention is None else [convention]))
    gt, det, iou = np.zeros(batch.gt.count), np.zeros(batch.det.count), overlaps.iou()
    np.maximum.at(gt, overlaps.gt, iou)
    np.maximum.at(det, overlaps.det, iou)
    ours, theirs = (
        [side[start:stop].tolist() for start, stop in pairwise(offsets.tolist())]
        for side, offsets in ((gt, batch.gt.offsets), (det, batch.det.offsets))
    )
    return list(map(_result, image_results(images), ours, theirs))


def _result(
    image: ImageResult, gt_iou: Iterable[float] = (), det_iou: Iterable[float] = ()
) -> dict[str, Any]:
    """Return scores, and objects as kind, partners and values."""
    scores = defined(image.scores, image.totals)
    scores = {shown(name): one for name, one in scores.items() if not isinstance(one, list)}
    return {
        "scores": scores,
        "gt": [_object(*both) for both in zip_longest(image.objects, gt_iou)],
        "det": [_object(*both) for both in zip_longest(image.detections, det_iou)],
    }


def _object(one: ObjectResult, best_iou: float | None) -> list[Any]:
    values, kind = dict(one.values), MATCH_TYPES.index(one.match)
    if kind in (MISSED, FALSE_POSITIVE) and best_iou is not None:
        # A protocol has 0 here for what has no partner, however near it is.
        values["iou" if "iou" in values else "best_iou"] = best_iou
    if one.partners and kind != IGNORED and values.get("text_correct") == 0:
        kind = MISREAD
    return [kind, one.partners, values]


# Tables and charts --------------------------------------------------------------------------------


def _section(name: str, detectors: Sequence[Detector]) -> dict[str, Any]:
    """Return what the page shows of all images by one protocol."""
    protocol, labels = load(name), [one.label for one in detectors]
    documents = [one.documents[name] for one in detectors]
    headline, scores = _scores(protocol, detectors)
    return {
        "name": name,
        "title": protocol.title,
        "headline": headline,
        "scores": scores,
        "slices": slice_tables(
            [
                (label, part)
                for label, one in zip(labels, documents, strict=True)
                for part in one.slices or ()
            ],
            "detector",
        ),
        "plots": list(map(svg, _plots(protocol, documents, labels))),
        "losses": _losses(name, detectors),
        "origins": [_origin(*both) for both in zip(documents, labels, strict=True)],
        "warnings": list(dict.fromkeys(text for one in documents for text in one.warnings)),
    }


def _scores(
    protocol: Protocol, detectors: Sequence[Detector]
) -> tuple[Sequence[Table], Sequence[Table]]:
    """Return tables of the headline scores, and of all scores."""
    name = protocol.name
    if len(detectors) > 1 and detectors[0].names:
        results = [DetectorResult(one.label, one.documents[name]) for one in detectors]
        compared = compare(results, BOOTSTRAP)
        return compared.tables(), Comparisons({name: compared}).tables(all_scores=True)
    columns = [Column("score"), Column("value", "score"), Column("interval", "interval")]
    headline, every = [], []
    for one in detectors:
        document = one.documents[name]
        bounds, notes = _intervals(document, protocol)
        scores = defined(document.scores, document.totals)
        rows = {
            score: [shown(score), value, bounds.get(score)]
            for score, value in scores.items()
            if not isinstance(value, list)
        }
        title = one.label if len(detectors) > 1 else ""
        names = (*protocol.headline, *protocol.also_shown)
        first = [rows[score] for score in names if score in rows]
        headline.append(Table(title, columns, first, notes))
        every.append(Table(title, columns, list(rows.values())))
    return headline, every


def _intervals(document: ResultDocument, protocol: Protocol) -> tuple[Intervals, list[str]]:
    """Return a result's intervals, its own or new ones, and notes on them."""
    bounds: Intervals = document.intervals or {}
    notes: list[str] = []
    if document.intervals is None and document.table.rows.names:
        parameters = config.checked(protocol.name, document.parameters)
        bounds, notes = significance.intervals(
            document.table.rows, lambda tally: protocol.scores(tally, parameters), BOOTSTRAP
        )
    if any(bounds.values()):
        level = 100 * (document.bootstrap.level if document.bootstrap else significance.LEVEL)
        units = document.bootstrap.units if document.bootstrap else IMAGES
        notes = [f"intervals: {level:g}%, {units.test}", *notes]
    return bounds, [f"{text[0].upper()}{text[1:]}." for text in notes]


def _plots(
    protocol: Protocol, documents: Sequence[ResultDocument], labels: Sequence[str]
) -> Iterator[Plot]:
    """Yield the histograms among the scores, with a line for each detector, and their curves."""
    for name, shares in documents[0].scores.items():
        if name.endswith("_histogram"):
            bins = len(shares)
            ends = [end / bins for k in range(bins) for end in (k, k + 1)]
            lines = {
                label: np.repeat(one.scores[name], 2).tolist()
                for label, one in zip(labels, documents, strict=True)
            }
            value = name.removesuffix("_histogram")
            yield Plot(name, f"Histogram of {value}", value, "share", ends, lines)
    for label, one in zip(labels, documents, strict=True):
        for plot in protocol.plots(one.scores) if protocol.plots else ():
            yield plot._replace(title=f"{plot.title}, {label}" if len(labels) > 1 else plot.title)


def _losses(name: str, detectors: Sequence[Detector]) -> list[tuple[str, str, Sequence[Table]]]:
    """Return each detector's label, with the tables of its diagnosis or a note why it has none."""
    return [
        (one.label, one.note, one.diagnoses[name].tables(True) if name in one.diagnoses else [])
        for one in detectors
        if one.note or name in one.diagnoses
    ]


def _gates(detectors: Sequence[Detector]) -> Table | None:
    """Return what the gates of all runs say; None without gates."""
    gates = [
        (one.label, gate)
        for one in detectors
        for document in one.documents.values()
        for gate in document.gates or ()
    ]
    failed = sum(not gate.passed for _, gate in gates)
    outcome = f"{failed} of {len(gates)} failed" if failed else f"all {len(gates)} passed"
    notes = [f"{label}: {gate}" if len(detectors) > 1 else str(gate) for label, gate in gates]
    return Table(f"Gates: {outcome}", notes=notes) if gates else None


def _origin(document: ResultDocument, label: str) -> Table:
    """Return how a result was made."""

    def listed(values: Mapping[str, Any]) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items())

    rows = [
        ["signature", document.signature],
        ["ground truth", listed(document.gt.to_dict())],
        ["detections", listed(document.det.to_dict())],
        ["parameters", ", ".join(f"{k}={value}" for k, value in document.parameters.items())],
    ]
    return Table(label, [Column("what"), Column("value")], rows)
