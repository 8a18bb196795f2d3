"""The result .txt of the original EvaLTex tool, to the character (its page, "Output format")."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evaltex_cli.evaluation.tally import Evaluation, ImageResult

_MATCH_COUNTS = ("one_to_one", "one_to_many", "many_to_one", "many_to_many", "missed", "ignored")


def dataset(evaluation: Evaluation) -> str:
    """The text of `evaltex.txt`."""
    level = evaluation.parameters.print_level
    lines = ["EvaLTex statistics", *_statistics(evaluation.totals, evaluation.scores, level, level > 0, level > 0)]
    return "\n".join(lines) + "\n"


def image(result: ImageResult, parameters: Any) -> str:
    """The text of an image's file."""
    level = parameters.print_level
    lines = [f"EvaLTex statistics - image {result.name}"]
    lines += _statistics(result.totals, result.scores, level, True, True)
    lines += ["", "Local evaluation", *_objects(result, level)]
    if level >= 2:
        lines += ["", "Detections", *_detections(result)]
    return "\n".join(lines) + "\n"


def _statistics(
    totals: dict[str, Any], scores: dict[str, Any], level: int, emd_recall_no_split: bool, emd_fscore_no_split: bool
) -> Iterator[str]:
    yield from (
        "General",
        f"Number of GTs ={totals['gt_objects']}",
        f"Number of detections = {totals['detections']}",
        f"Number of false positives ={totals['false_positives']}",
        f"Number of true positives ={totals['true_positives']}",
        "",
        "Global results",
        f"Recall={number(scores['recall'])}",
        f"Recall_noSplit={number(scores['recall_no_split'])}",
        f"Precision={number(scores['precision'])}",
        f"Split={number(scores['split'])}",
        f"FScore={number(scores['fscore'])}",
        "",
        f"FScore_noSplit={number(scores['fscore_no_split'])}",
        "",
        "Quantity results",
        f"Recall={number(scores['quantity_recall'])}",
        f"Precision={number(scores['quantity_precision'])}",
        "",
        "Quality results",
        f"Recall={number(scores['quality_recall'])}",
        f"Recall_noSplit={number(scores['quality_recall_no_split'])}",
        f"Precision={number(scores['quality_precision'])}",
        f"Coverage histogram = {_histogram(scores['coverage_histogram'])}",
        f"Accuracy histogram = {_histogram(scores['accuracy_histogram'])}",
        "",
        "EMD results",
        f"Recall={number(scores['emd_recall'])}",
    )
    if emd_recall_no_split:
        yield f"Recall_noSplit={number(scores['emd_recall_no_split'])}"
    yield f"Precision={number(scores['emd_precision'])}"
    yield f"FScore={number(scores['emd_fscore'])}"
    if emd_fscore_no_split:
        yield from ("", f"FScore_noSplit={number(scores['emd_fscore_no_split'])}")
    if level >= 1:
        yield from ("", "Matching")
        yield from (f"{name.replace('_', '-').capitalize()}={totals[name]}" for name in _MATCH_COUNTS)


def _objects(result: ImageResult, level: int) -> Iterator[str]:
    for entry in result.objects:
        if entry["match"] == "ignored":
            continue
        values = (number(entry[name] or 0.0) for name in ("coverage", "accuracy", "split"))
        yield f"GT object {entry['id']}"
        yield "Coverage = {} Accuracy = {} Split = {}".format(*values)
        if level >= 2:
            yield f"Match = {entry['match']} Detections = {_ids(entry['detections'])}"


def _detections(result: ImageResult) -> Iterator[str]:
    for entry in result.detections:
        yield f"Detection {entry['id']}"
        yield f"Match = {entry['match']} GT objects = {_ids(entry['objects'])}"


def _ids(ids: list[int]) -> str:
    return "{" + ", ".join(map(str, ids)) + "}"


def _histogram(values: list[float]) -> str:
    return "{" + ", ".join(map(number, values)) + "}"


def number(value: float) -> str:
    """A number as C++ streams print it: six significant digits."""
    return f"{value:.6g}"
