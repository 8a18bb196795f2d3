"""The result .txt of a data set and of an image: EvaLTex's as the original tool writes it, those of
the other protocols with a similar layout.

EvaLTex's is that of the tool to the character (its page, "Output format").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np

from evaltex_cli.evaluation.evaluation import Evaluation, ImageResult, ObjectResult
from evaltex_cli.evaluation.tally import BatchImages, Run, or_none
from evaltex_cli.protocols.base import Scores
from evaltex_cli.protocols.matches import IGNORED
from evaltex_cli.protocols.tally import Totals
from evaltex_cli.results.entry_columns import EntryColumns, Sides

_LOCAL = ("coverage", "accuracy", "split")
_MATCH_COUNTS = ("one_to_one", "one_to_many", "many_to_one", "many_to_many", "missed", "ignored")


def dataset(evaluation: Evaluation) -> str:
    """Return the text of `<protocol>.txt`."""
    totals, scores = evaluation.totals, evaluation.scores
    if evaluation.protocol.name == "evaltex":
        level = evaluation.parameters.print_level
        lines = ["EvaLTex statistics", *_original_statistics(totals, scores, level, level > 0)]
    else:
        lines = [f"{evaluation.protocol.title} - statistics", *_statistics(totals, scores)]
    return "\n".join(lines) + "\n"


def image(result: ImageResult, run: Run) -> str:
    """Return the text of an image's file."""
    lines = _head(run, result.name, result.totals, result.scores)
    if run.protocol.name == "evaltex":
        level = run.parameters.print_level
        lines += _original_objects(result, level)
        lines += ["", "Detections", *_original_detections(result)] if level >= 2 else []
    else:
        lines += _local("GT object", result.objects, "Detections")
        lines += ["", "Detections", *_local("Detection", result.detections, "GT objects")]
    return "\n".join(lines) + "\n"


def of_batch(images: BatchImages, sides: Sides) -> Iterator[tuple[str, str]]:
    """Yield names and texts of a batch's images, which are those of `image`; `sides` are those of
    the batch.
    """
    run, (gt, det) = images.run, sides
    if run.protocol.name == "evaltex":
        level = run.parameters.print_level
        objects = gt.images(partial(_original_entries, level), "")
        detections = (
            det.images(partial(_matched, "Detection", "GT objects"), "")
            if level >= 2
            else repeat("")
        )
        between = "\nDetections\n" if level >= 2 else ""
    else:
        objects = gt.images(partial(_entries, "GT object", "Detections"), "")
        detections = det.images(partial(_entries, "Detection", "GT objects"), "")
        between = "\nDetections\n"
    heads = zip(images.batch.names, images.totals, images.scores, strict=True)
    for head, of_gt, of_det in zip(heads, objects, detections, strict=False):
        yield head[0], "\n".join([*_head(run, *head), of_gt + between + of_det])


def _head(run: Run, name: str, totals: Totals, scores: Scores) -> list[str]:
    """The lines of an image before those of its objects."""
    if run.protocol.name == "evaltex":
        lines = [f"EvaLTex statistics - image {name}"]
        lines += _original_statistics(totals, scores, run.parameters.print_level, True)
    else:
        lines = [f"{run.protocol.title} - statistics - image {name}"]
        lines += _statistics(totals, scores)
    return [*lines, "", "Local evaluation"]


def _original_entries(level: int, side: EntryColumns) -> list[str]:
    """The lines of `_original_objects`, each with its end; of an ignored object none."""
    columns = (np.nan_to_num(side.values[name]).tolist() for name in _LOCAL)
    rows = zip(side.ids.tolist(), *columns, strict=True)
    local = "GT object %d\nCoverage = %.6g Accuracy = %.6g Split = %.6g\n"
    texts = list(map(local.__mod__, rows))
    if level >= 2:
        matched = _matched("", "Detections", side)
        texts = [
            text + match.partition("\n")[2] for text, match in zip(texts, matched, strict=True)
        ]
    return [
        "" if code == IGNORED else text
        for code, text in zip(side.types.tolist(), texts, strict=True)
    ]


def _matched(what: str, partners: str, side: EntryColumns) -> list[str]:
    """The lines that name an object and its partners, each with its end."""
    linked = [ids.replace(",", ", ") for ids in side.partners]
    template = f"{what} %d\nMatch = %s {partners} = {{%s}}\n"
    return list(map(template.__mod__, zip(side.ids.tolist(), side.matches, linked, strict=True)))


def _entries(what: str, partners: str, side: EntryColumns) -> list[str]:
    """The lines of `_local`, each with its end."""
    texts = _matched(what, partners, side)
    if not side.values:
        return texts
    template = " ".join(f"{_title(name)} = %s" for name in side.values) + "\n"
    rows = zip(*(map(_shown, or_none(column)) for column in side.values.values()), strict=True)
    return [text + template % row for text, row in zip(texts, rows, strict=True)]


_COUNTS = """\
General
Number of GTs =%(gt_objects)d
Number of detections = %(detections)d
Number of false positives =%(false_positives)d
Number of true positives =%(true_positives)d
"""
_SCORES = """\
Global results
Recall=%(recall).6g
Recall_noSplit=%(recall_no_split).6g
Precision=%(precision).6g
Split=%(split).6g
FScore=%(fscore).6g

FScore_noSplit=%(fscore_no_split).6g

Quantity results
Recall=%(quantity_recall).6g
Precision=%(quantity_precision).6g

Quality results
Recall=%(quality_recall).6g
Recall_noSplit=%(quality_recall_no_split).6g
Precision=%(quality_precision).6g"""
_EMD = "EMD results\nRecall=%(emd_recall).6g\n"
_EMD_NO_SPLIT = "Recall_noSplit=%(emd_recall_no_split).6g\n"
_EMD_REST = "Precision=%(emd_precision).6g\nFScore=%(emd_fscore).6g"
_EMD_END = "\n\nFScore_noSplit=%(emd_fscore_no_split).6g"


def _original_statistics(
    totals: Totals, scores: Scores, level: int, with_all_emd_scores: bool
) -> Iterator[str]:
    """Yield lines, of which some are several with line ends between them."""
    yield _COUNTS % totals
    yield _SCORES % scores
    yield f"Coverage histogram = {_histogram(scores['coverage_histogram'])}"
    yield f"Accuracy histogram = {_histogram(scores['accuracy_histogram'])}\n"
    emd = [_EMD, _EMD_NO_SPLIT, _EMD_REST, _EMD_END] if with_all_emd_scores else [_EMD, _EMD_REST]
    yield "".join(emd) % scores
    if level >= 1:
        yield from ("", "Matching")
        yield from (
            f"{name.replace('_', '-').capitalize()}={totals[name]}" for name in _MATCH_COUNTS
        )


def _original_objects(result: ImageResult, level: int) -> Iterator[str]:
    for entry in result.objects:
        if entry.match == "ignored":
            continue
        values = (number(entry.values[name] or 0.0) for name in _LOCAL)
        yield f"GT object {entry.id}"
        yield "Coverage = {} Accuracy = {} Split = {}".format(*values)
        if level >= 2:
            yield f"Match = {entry.match} Detections = {_ids(entry.partners)}"


def _original_detections(result: ImageResult) -> Iterator[str]:
    for entry in result.detections:
        yield f"Detection {entry.id}"
        yield f"Match = {entry.match} GT objects = {_ids(entry.partners)}"


def _ids(ids: list[int]) -> str:
    return "{" + ", ".join(map(str, ids)) + "}"


def _histogram(values: list[float]) -> str:
    return "{" + ", ".join(["%.6g"] * len(values)) % tuple(values) + "}"


def number(value: float) -> str:
    """A number as C++ streams print it: six significant digits."""
    return f"{value:.6g}"


def _statistics(totals: Totals, scores: Scores) -> Iterator[str]:
    yield "General"
    for name, value in totals.items():
        if isinstance(value, int):
            yield f"{_title(name)} = {value}"
    yield from ("", "Global results")
    tables = {name: value for name, value in scores.items() if _is_table(value)}
    for name, value in scores.items():
        if name not in tables:
            yield f"{_title(name)} = {_shown(value)}"
    for name, rows in tables.items():
        yield from ("", _title(name), " ".join(rows[0]))
        for row in rows:
            yield " ".join(map(_shown, row.values()))


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _local(what: str, entries: Sequence[ObjectResult], partners: str) -> Iterator[str]:
    for entry in entries:
        yield f"{what} {entry.id}"
        yield f"Match = {entry.match} {partners} = {_shown(entry.partners)}"
        if entry.values:
            yield " ".join(
                f"{_title(name)} = {_shown(value)}" for name, value in entry.values.items()
            )


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return "{" + ", ".join(map(_shown, value)) + "}"
    return number(value) if isinstance(value, float) else str(value)
