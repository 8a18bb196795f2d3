"""The result .txt of a data set and of an image: EvaLTex's as the original tool writes it, those of
the other protocols with a similar layout.

EvaLTex's is that of the tool to the character (its page, "Output format").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from evaltex_cli.evaluation.evaluation import Evaluation, ImageResult, ObjectResult
from evaltex_cli.protocols.base import Scores
from evaltex_cli.protocols.tally import Totals

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


def image(result: ImageResult, run: Evaluation) -> str:
    """Return the text of an image's file."""
    totals, scores = result.totals, result.scores
    if run.protocol.name == "evaltex":
        level = run.parameters.print_level
        lines = [f"EvaLTex statistics - image {result.name}"]
        lines += _original_statistics(totals, scores, level, True)
        lines += ["", "Local evaluation", *_original_objects(result, level)]
        lines += ["", "Detections", *_original_detections(result)] if level >= 2 else []
    else:
        lines = [f"{run.protocol.title} - statistics - image {result.name}"]
        lines += [*_statistics(totals, scores), "", "Local evaluation"]
        lines += _local("GT object", result.objects, "Detections")
        lines += ["", "Detections", *_local("Detection", result.detections, "GT objects")]
    return "\n".join(lines) + "\n"


_STATISTICS = """\
General
Number of GTs =%(gt_objects)d
Number of detections = %(detections)d
Number of false positives =%(false_positives)d
Number of true positives =%(true_positives)d

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
Precision=%(quality_precision).6g
Coverage histogram = %(coverage)s
Accuracy histogram = %(accuracy)s

EMD results
Recall=%(emd_recall).6g
Recall_noSplit=%(emd_recall_no_split).6g
Precision=%(emd_precision).6g
FScore=%(emd_fscore).6g

FScore_noSplit=%(emd_fscore_no_split).6g"""


def _original_statistics(
    totals: Totals, scores: Scores, level: int, with_all_emd_scores: bool
) -> Iterator[str]:
    histograms = {name: _shown(scores[f"{name}_histogram"]) for name in ("coverage", "accuracy")}
    text = _STATISTICS
    if not with_all_emd_scores:
        text = re.sub(r"\n+\w+=%\(emd_\w+_no_split\)\.6g", "", text)
    yield from (text % {**totals, **scores, **histograms}).split("\n")
    if level >= 1:
        yield from ("", "Matching")
        for name in _MATCH_COUNTS:
            yield f"{name.replace('_', '-').capitalize()}={totals[name]}"


def _original_objects(result: ImageResult, level: int) -> Iterator[str]:
    for entry in result.objects:
        if entry.match == "ignored":
            continue
        values = (number(entry.values[name] or 0.0) for name in _LOCAL)
        yield f"GT object {entry.id}"
        yield "Coverage = {} Accuracy = {} Split = {}".format(*values)
        if level >= 2:
            yield f"Match = {entry.match} Detections = {_shown(entry.partners)}"


def _original_detections(result: ImageResult) -> Iterator[str]:
    for entry in result.detections:
        yield f"Detection {entry.id}"
        yield f"Match = {entry.match} GT objects = {_shown(entry.partners)}"


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
