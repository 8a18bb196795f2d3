"""Results of earlier runs, in the form the page's script reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path
from typing import Any

from evaltex_cli.compare import comparison
from evaltex_cli.compare.tables import footer, p_cells
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.tally import ImageResult
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import MATCH_TYPES, Protocol, load
from evaltex_cli.results import reader, significance
from evaltex_cli.results.result_document import ResultDocument

DECIMALS = 5
"""Of what is shown of images and objects; the results' .json has full precision."""
_CODE = {name: code for code, name in enumerate(MATCH_TYPES)}


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What one protocol says of one detector.

    Attributes
    ----------
    label : str
        The detector's name in the report.
    document : ResultDocument
    system : compare.System or None
        The same with the evidence of each image; None where the run kept no images.
    """

    label: str
    protocol: Protocol
    document: ResultDocument
    system: comparison.System | None


def read_results(paths: Sequence[Path], labels: Sequence[str]) -> list[list[Result]]:
    """Read result folders, one a detector.

    Returns
    -------
    list of list of Result
        One list a protocol that all folders have, in the registry's order; in each, one result a folder.

    Raises
    ------
    InputError
        When a folder holds no result, they have no protocol in common, or they are of different inputs.
    """
    found = [_by_protocol(path, label, len(paths) > 1) for path, label in zip(paths, labels, strict=True)]
    common = [name for name in PROTOCOLS if all(name in results for results in found)]
    if not common:
        raise InputError(f"{', '.join(map(str, paths))}: have no protocol in common; evaluate both by the same")
    for path, results in zip(paths, found, strict=True):
        _refuse_mixed(path, [results[name] for name in common])
    return [[results[name] for results in found] for name in common]


def _by_protocol(path: Path, label: str, is_compared: bool) -> dict[str, Result]:
    present = reader.files(path)
    files = [path / f"{name}.json" for name in PROTOCOLS] if path.is_dir() else [path]
    results = {}
    for file in files:
        if file not in present:
            continue
        document = reader.read(file, with_objects=is_compared)
        system = comparison.of_document(file, document, label) if document.images else None
        results[document.protocol] = Result(label, load(document.protocol), document, system)
    if not results:
        raise InputError(f"{path}: holds no results; expected PROTOCOL.json ({', '.join(PROTOCOLS)})")
    return results


def _refuse_mixed(path: Path, results: Sequence[Result]) -> None:
    first = results[0].document
    expected = first.options
    for result in (one.document for one in results[1:]):
        options = result.options
        names = f"{first.protocol} and {result.protocol}"
        if options.invalid != expected.invalid:
            raise InputError(
                f"{path}: {names} are results of different policies for invalid polygons ({expected.invalid} and"
                f" {options.invalid}); evaluate both in one run"
            )
        if options.min_confidence != expected.min_confidence:
            raise InputError(
                f"{path}: {names} are results of different least confidences ({expected.min_confidence} and"
                f" {options.min_confidence}); evaluate both in one run"
            )
        if _hashes(result) != _hashes(first):
            raise InputError(f"{path}: {names} are results of different inputs; evaluate both in one run")


def _hashes(document: ResultDocument) -> tuple[str, str]:
    return document.inputs.gt.sha256, document.inputs.det.sha256


def image_names(results: Sequence[Sequence[Result]]) -> list[str]:
    """Names of all images, in the ground truth's order; empty where no run kept images.

    Raises
    ------
    InputError
        When two results differ in them.
    """
    kept = [result.document.table.rows.names for row in results for result in row if result.document.images]
    if any(names != kept[0] for names in kept):
        raise InputError("the results are of different images; evaluate all on one ground truth")
    return list(kept[0]) if kept else []


def protocol_content(results: Sequence[Result]) -> dict[str, Any]:
    """Everything of one protocol but its images' objects: scores, intervals, histograms, plots, the table of images.

    Several results share the intervals of their comparison; a single one has its run's, or such as are made here.
    """
    protocol = results[0].protocol
    content: dict[str, Any] = {
        "name": protocol.name,
        "title": protocol.title,
        "headline": list(protocol.headline),
        "systems": [_system_content(result) for result in results],
        "images": _index(results),
    }
    systems = [result.system for result in results if result.system is not None]
    if len(results) > 1 and len(systems) == len(results):
        content |= _comparison(comparison.compare(systems))
    else:
        content["level"] = _level(results[0].document)
        found = [_intervals(result) for result in results]
        for (intervals, _), system in zip(found, content["systems"], strict=True):
            system["intervals"] = intervals
        content["footer"] = list(dict.fromkeys(warning for _, warnings in found for warning in warnings))
    return content


def _level(document: ResultDocument) -> float:
    made = document.extras.bootstrap
    return significance.LEVEL if made is None else made.level


def _comparison(comparison: comparison.Comparison) -> dict[str, Any]:
    detectors = range(1, len(comparison.systems))
    scores = [
        asdict(score) | {"p_shown": ["", *(" / ".join(p_cells(comparison, score, k)) for k in detectors)]}
        for score in comparison.scores
    ]
    return {"level": significance.LEVEL, "comparison": scores, "footer": footer(comparison, significance.LEVEL)}


def _system_content(result: Result) -> dict[str, Any]:
    document, protocol = result.document, result.protocol
    scores = document.scores
    return {
        "signature": document.signature,
        "parameters": document.parameters,
        "inputs": asdict(document.inputs),
        "warnings": document.warnings,
        "scores": {name: value for name, value in scores.items() if value is None or isinstance(value, int | float)},
        "histograms": [
            {"name": name, "shares": value, "counts": document.totals.get(name.replace("_histogram", "_bins"))}
            for name, value in scores.items()
            if name.endswith("_histogram") and isinstance(value, list)
        ],
        "plots": [asdict(plot) for plot in protocol.plots(scores)] if protocol.plots else [],
    }


def _intervals(result: Result) -> tuple[Mapping[str, Any], list[str]]:
    """Return a result's intervals, and what to know about them that is not among its warnings."""
    stored = result.document.extras.intervals
    if stored is not None or result.system is None:
        return stored or {}, []
    system = result.system
    return significance.intervals(system.rows, system.score, significance.LEVEL, significance.RESAMPLES, 0)


def _index(results: Sequence[Result]) -> list[dict[str, Any]] | None:
    """What the table of images shows, in columns; None where a run kept no images."""
    if not all(result.document.images for result in results):
        return None
    return [
        {
            "scores": {
                name: [None if isnan(value) else _short(value) for value in result.document.table.scores[name].tolist()]
                for name in result.protocol.headline
            },
            "counts": result.document.table.counts.T.tolist(),
        }
        for result in results
    ]


def image_contents(results: Sequence[Sequence[Result]], start: int, stop: int) -> Iterator[dict[str, Any]]:
    """Yield some images' objects, and what every protocol says of them."""
    of_images = [[result.document.images[start:stop] for result in row] for row in results]
    kept = next(row for row in of_images if row[0])
    for k in range(stop - start):
        yield {
            "gt": {"id": [entry["id"] for entry in kept[0][k].objects]},
            "det": [{"id": [entry["id"] for entry in images[k].detections]} for images in kept],
            "matches": [[_matches(images[k]) if images else None for images in row] for row in of_images],
        }


def _matches(image: ImageResult) -> dict[str, Any]:
    return {"gt": _side(image.objects, "detections"), "det": _side(image.detections, "objects")}


def _side(entries: Sequence[Mapping[str, Any]], partners: str) -> dict[str, Any]:
    own = [name for name in entries[0] if name not in ("id", "match", partners)] if entries else []
    return {
        "type": [_CODE[entry["match"]] for entry in entries],
        "partners": [entry[partners] for entry in entries],
        "values": {name: [_short(entry[name]) for entry in entries] for name in own},
    }


def _short(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    rounded = round(value, DECIMALS)
    return int(rounded) if rounded.is_integer() else rounded
