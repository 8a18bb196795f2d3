"""The result .txt of every protocol but EvaLTex's own, laid out after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evaltex_cli.evaluation.tally import Evaluation, ImageResult
from evaltex_cli.results.evaltex_text import number


def dataset(evaluation: Evaluation) -> str:
    """The text of `<protocol>.txt`."""
    lines = [f"{evaluation.protocol.title} - statistics", *_statistics(evaluation.totals, evaluation.scores)]
    return "\n".join(lines) + "\n"


def image(result: ImageResult, title: str) -> str:
    """The text of an image's file."""
    lines = [f"{title} - statistics - image {result.name}", *_statistics(result.totals, result.scores)]
    lines += ["", "Local evaluation", *_local("GT object", result.objects, "detections")]
    lines += ["", "Detections", *_local("Detection", result.detections, "objects")]
    return "\n".join(lines) + "\n"


def _statistics(totals: dict[str, Any], scores: dict[str, Any]) -> Iterator[str]:
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


def _local(what: str, entries: Sequence[dict[str, Any]], partners: str) -> Iterator[str]:
    partners_title = "Detections" if partners == "detections" else "GT objects"
    for entry in entries:
        yield f"{what} {entry['id']}"
        yield f"Match = {entry['match']} {partners_title} = {_shown(entry[partners])}"
        values = [
            f"{_title(name)} = {_shown(value)}"
            for name, value in entry.items()
            if name not in ("id", "match", partners)
        ]
        if values:
            yield " ".join(values)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return "{" + ", ".join(map(_shown, value)) + "}"
    return number(value) if isinstance(value, float) else str(value)
