"""Results of earlier runs, in the form the page's script reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

from evaltex_cli.compare import comparison
from evaltex_cli.compare.tables import footer, p_cells
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.signature import options_of
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import MATCH_TYPES, Protocol, load
from evaltex_cli.results import bootstrap, result_document, significance
from evaltex_cli.results.stored_images import StoredImages

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
    document : dict
        The result's .json.
    system : compare.System or None
        The same with the evidence of each image; None where the run kept no images.
    """

    label: str
    protocol: Protocol
    document: dict[str, Any]
    system: comparison.System | None

    @property
    def images(self) -> StoredImages:
        """Elements of ``images``; empty if the run kept none."""
        images: StoredImages = self.document["images"]
        return images

    @property
    def options(self) -> InputOptions:
        """How the inputs were read, but for the folders of pictures, which a result does not name."""
        inputs = self.document["inputs"]
        formats = {"gt_format": inputs["gt"]["format"], "det_format": inputs["det"]["format"]}
        return replace(options_of(self.document["signature"]), **formats)


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
    present = result_document.files(path)
    files = [path / f"{name}.json" for name in PROTOCOLS] if path.is_dir() else [path]
    results = {}
    for file in files:
        if file not in present:
            continue
        document = result_document.read(file, with_objects=is_compared)
        system = comparison.of_document(file, document, label) if document["images"] else None
        results[document["protocol"]] = Result(label, load(document["protocol"]), document, system)
    if not results:
        raise InputError(f"{path}: holds no results; expected PROTOCOL.json ({', '.join(PROTOCOLS)})")
    return results


def _refuse_mixed(path: Path, results: Sequence[Result]) -> None:
    first = results[0]
    expected = first.options
    for result in results[1:]:
        options = result.options
        names = f"{first.protocol.name} and {result.protocol.name}"
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
        for side in ("gt", "det"):
            if result.document["inputs"][side]["sha256"] != first.document["inputs"][side]["sha256"]:
                raise InputError(f"{path}: {names} are results of different inputs; evaluate both in one run")


def image_names(results: Sequence[Sequence[Result]]) -> list[str]:
    """Names of all images, in the ground truth's order; empty where no run kept images.

    Raises
    ------
    InputError
        When two results differ in them.
    """
    kept = [result.images.table.rows.names for row in results for result in row if result.images]
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
        content["level"] = results[0].document.get("bootstrap", {}).get("level", significance.LEVEL)
        found = [_intervals(result) for result in results]
        for (intervals, _), system in zip(found, content["systems"], strict=True):
            system["intervals"] = intervals
        content["footer"] = list(dict.fromkeys(warning for _, warnings in found for warning in warnings))
    return content


def _comparison(comparison: comparison.Comparison) -> dict[str, Any]:
    detectors = range(1, len(comparison.systems))
    scores = [
        asdict(score) | {"p_shown": ["", *(" / ".join(p_cells(comparison, score, k)) for k in detectors)]}
        for score in comparison.scores
    ]
    return {"level": significance.LEVEL, "comparison": scores, "footer": footer(comparison, significance.LEVEL)}


def _system_content(result: Result) -> dict[str, Any]:
    document, protocol = result.document, result.protocol
    scores = document["scores"]
    return {
        "signature": document["signature"],
        "parameters": document["parameters"],
        "inputs": document["inputs"],
        "warnings": document.get("warnings", []),
        "scores": {name: value for name, value in scores.items() if value is None or isinstance(value, int | float)},
        "histograms": [
            {"name": name, "shares": value, "counts": document["totals"].get(name.replace("_histogram", "_bins"))}
            for name, value in scores.items()
            if name.endswith("_histogram") and isinstance(value, list)
        ],
        "plots": [asdict(plot) for plot in protocol.plots(scores)] if protocol.plots else [],
    }


def _intervals(result: Result) -> tuple[Mapping[str, Any], list[str]]:
    """Return a result's intervals, and what to know about them that is not among its warnings."""
    stored: dict[str, Any] | None = result.document.get("intervals")
    if stored is not None or result.system is None:
        return stored or {}, []
    system = result.system
    return significance.intervals(system.rows, system.score, significance.LEVEL, bootstrap.RESAMPLES, 0)


def _index(results: Sequence[Result]) -> list[dict[str, Any]] | None:
    """What the table of images shows, in columns; None where a run kept no images."""
    if not all(result.images for result in results):
        return None
    return [
        {
            "scores": {
                name: [None if isnan(value) else _short(value) for value in result.images.table.scores[name].tolist()]
                for name in result.protocol.headline
            },
            "counts": result.images.table.counts.T.tolist(),
        }
        for result in results
    ]


def image_contents(results: Sequence[Sequence[Result]], start: int, stop: int) -> Iterator[dict[str, Any]]:
    """Yield some images' objects, and what every protocol says of them."""
    of_images = [[result.images[start:stop] for result in row] for row in results]
    kept = next(row for row in of_images if row[0])
    for k in range(stop - start):
        yield {
            "gt": {"id": [entry["id"] for entry in kept[0][k]["objects"]]},
            "det": [{"id": [entry["id"] for entry in images[k]["detections"]]} for images in kept],
            "matches": [[_matches(images[k]) if images else None for images in row] for row in of_images],
        }


def _matches(image: Mapping[str, Any]) -> dict[str, Any]:
    return {"gt": _side(image["objects"], "detections"), "det": _side(image["detections"], "objects")}


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
