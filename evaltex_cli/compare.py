"""Two or more detectors on one ground truth: differences, how sure they are, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli import bootstrap, config
from evaltex_cli.errors import InputError, quote
from evaltex_cli.evaluation import Run, evaluate_sources, image_results, open_sources
from evaltex_cli.protocols import load
from evaltex_cli.protocols.base import EvidenceRows, Protocol, Scores, Totals
from evaltex_cli.records import Floats
from evaltex_cli.results import json_file

Image = dict[str, Any]
"""One image's results, as an element of ``images`` in a result's .json."""


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """What one protocol says of one detector.

    Attributes
    ----------
    label : str
        How the user tells detectors apart.
    made_by : dict
        Whatever two systems must agree in to be comparable, by name.
    images : sequence of dict
        Each image's scores and objects, in the ground truth's order.
    """

    label: str
    protocol: Protocol
    parameters: Any
    signature: str
    made_by: dict[str, Any]
    scores: Scores
    rows: EvidenceRows
    images: Sequence[Image]

    def score(self, totals: Totals) -> Scores:
        """Score summed evidence."""
        return self.protocol.scores(totals, self.parameters)


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """One score of all systems; differences are to the first system, whose own are None.

    Attributes
    ----------
    score : str
    values, intervals : list
        One a system.
    differences, difference_intervals, p_values : list
        One a system.
    """

    score: str
    values: list[float | None]
    intervals: list[tuple[float, float] | None]
    differences: list[float | None]
    difference_intervals: list[tuple[float, float] | None]
    p_values: list[float | None]


@dataclass(frozen=True, slots=True)
class ImageChange:
    """An image whose score differs between the first system and another."""

    image: str
    system: str
    score: str
    before: float
    after: float

    @property
    def change(self) -> float:
        """Difference of the scores."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """A ground-truth object that is matched otherwise, or scores otherwise, than by the first system."""

    image: str
    system: str
    id: int
    match_before: str
    match_after: str
    before: dict[str, float | None]
    after: dict[str, float | None]

    @property
    def change(self) -> float:
        """Difference of the means of the protocol's values of the object, undefined ones as 0."""
        return _worth(self.match_after, self.after) - _worth(self.match_before, self.before)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One protocol's comparison; images and objects are those that changed, the worst first."""

    protocol: str
    headline: tuple[str, ...]
    systems: list[str]
    signatures: list[str]
    scores: list[ScoreComparison]
    images: list[ImageChange]
    objects: list[ObjectChange]


def compare(
    systems: Sequence[System],
    *,
    resamples: int = bootstrap.RESAMPLES,
    seed: int = 0,
    level: float = bootstrap.LEVEL,
) -> Comparison:
    """Compare detectors under one protocol.

    Parameters
    ----------
    systems : sequence of System
        At least two; differences are to the first.
    resamples, seed : int
        Of the bootstrap over images (`bootstrap.replicates`).
    level : float
        Of the intervals.

    Raises
    ------
    InputError
        When they differ in ground truth, protocol revision or parameters.
    """
    _refuse_unlike(systems)
    drawn = [bootstrap.replicates(system.rows, system.score, resamples, seed) for system in systems]
    names = [name for name, values in drawn[0].items() if all(name in other for other in drawn)]
    scores = [_compared_score(name, systems, [values[name] for values in drawn], level) for name in names]
    return Comparison(
        protocol=systems[0].protocol.name,
        headline=systems[0].protocol.headline,
        systems=[system.label for system in systems],
        signatures=[f"{system.signature}|resamples:{resamples}|seed:{seed}" for system in systems],
        scores=scores,
        images=_image_changes(systems),
        objects=_object_changes(systems),
    )


def by_protocol(systems: Sequence[Sequence[System]]) -> list[list[System]]:
    """Group the systems of several detectors by protocol; only protocols that all detectors have.

    Raises
    ------
    InputError
        When there is none.
    """
    first, *others = [{system.protocol.name: system for system in group} for group in systems]
    shared = [name for name in first if all(name in other for other in others)]
    if not shared:
        raise InputError("the results have no protocol in common; evaluate all detectors by the same protocols")
    return [[group[name] for group in (first, *others)] for name in shared]


def _compared_score(
    name: str, systems: Sequence[System], replicated: Sequence[Floats], level: float
) -> ScoreComparison:
    values: list[float | None] = [system.scores[name] for system in systems]
    first = values[0]
    differences: list[float | None] = [None]
    difference_intervals: list[tuple[float, float] | None] = [None]
    p_values: list[float | None] = [None]
    for value, drawn in zip(values[1:], replicated[1:], strict=True):
        strayed = np.round(drawn - replicated[0], bootstrap.DECIMALS)
        defined = value is not None and first is not None and not np.isnan(strayed).all()
        difference = value - first if value is not None and first is not None else None
        differences.append(difference)
        difference_intervals.append(bootstrap.interval(strayed, level) if defined else None)
        known = strayed[~np.isnan(strayed)]
        p_values.append(bootstrap.p_value(difference, known) if defined and difference is not None else None)
    intervals = [bootstrap.interval(drawn, level) for drawn in replicated]
    return ScoreComparison(name, values, intervals, differences, difference_intervals, p_values)


def _image_changes(systems: Sequence[System]) -> list[ImageChange]:
    score = systems[0].protocol.headline[-1]
    changes = [
        ImageChange(before["name"], system.label, score, before["scores"][score] or 0.0, after["scores"][score] or 0.0)
        for system in systems[1:]
        for before, after in zip(systems[0].images, system.images, strict=True)
        if before["scores"][score] != after["scores"][score]
    ]
    return sorted(changes, key=lambda image: image.change)


def _object_changes(systems: Sequence[System]) -> list[ObjectChange]:
    changes = [
        ObjectChange(
            before["name"], system.label, old["id"], old["match"], new["match"], _own_values(old), _own_values(new)
        )
        for system in systems[1:]
        for before, after in zip(systems[0].images, system.images, strict=True)
        for old, new in zip(before["objects"], after["objects"], strict=True)
        if old["match"] != new["match"] or _own_values(old) != _own_values(new)
    ]
    return sorted(changes, key=lambda one: one.change)


def _own_values(entry: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: value for name, value in entry.items() if name not in ("id", "match", "detections")}


def _worth(match: str, values: Mapping[str, float | None]) -> float:
    if not values:
        return float(match not in ("missed", "ignored"))
    return sum(value or 0.0 for value in values.values()) / len(values)


def _refuse_unlike(systems: Sequence[System]) -> None:
    first = systems[0]
    for system in systems[1:]:
        for what, value in first.made_by.items():
            other = system.made_by.get(what)
            if other != value:
                raise InputError(
                    f"{first.label} and {system.label} cannot be compared under {first.protocol.name}:"
                    f" {what} is {value} and {other}; evaluate both in the same way"
                )


def evaluated(
    gt: Path,
    det: Path,
    label: str,
    protocols: Mapping[str, Any],
    gt_format: str | None = None,
    det_format: str | None = None,
) -> list[System]:
    """Evaluate a detector by several protocols.

    Parameters
    ----------
    protocols : mapping
        Name -> parameters record.

    Raises
    ------
    InputError
        As `evaluation.evaluate`.
    """
    runs = [Run(load(name), parameters, keep_rows=True) for name, parameters in protocols.items()]
    images: dict[str, list[Image]] = {name: [] for name in protocols}

    def keep(run: Run, batch: Any, evidence: Any) -> None:
        images[run.protocol.name] += [json_file.image_fields(found) for found in image_results(run, batch, evidence)]

    systems = []
    for run, result in zip(
        runs, evaluate_sources(*open_sources(gt, det, gt_format, det_format), runs, sink=keep), strict=True
    ):
        document = json_file.fields(result)
        rows = result.rows
        if rows is not None:
            systems.append(_system(label, document, rows, images[run.protocol.name]))
    return systems


def is_result(path: Path) -> bool:
    """Whether a path is a result's .json or a folder that holds one, rather than detections."""
    return path.suffix.lower() == ".json" or (path.is_dir() and any(path.glob("*.json")))


def stored(path: Path, label: str) -> list[System]:
    """Read the results of an earlier run.

    Parameters
    ----------
    path : Path
        A result's .json, or a folder of them.

    Raises
    ------
    InputError
        When one is no result, or was made without ``-a`` and so holds no images.
    """
    systems = []
    for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
        document = json_file.read(file)
        images = document["images"]
        if not images:
            raise InputError(f"{file}: holds no images' results; run that evaluation again with -a")
        try:
            rows = EvidenceRows(
                [image["name"] for image in images],
                {name: np.array([image["totals"][name] for image in images]) for name in images[0]["totals"]},
            )
            systems.append(_system(label, document, rows, images))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{file}: is a damaged result ({quote(str(error))}); make it again") from error
    return systems


def _system(label: str, document: Mapping[str, Any], rows: EvidenceRows, images: Sequence[Image]) -> System:
    protocol = load(document["protocol"])
    signed = dict(part.partition(":")[::2] for part in document["signature"].split("|"))
    made_by = {"the ground truth's SHA-256": document["inputs"]["gt"]["sha256"], "revision": signed.get("revision")}
    made_by["policy for invalid polygons"] = signed.get("invalid")
    made_by |= {f"parameter {name}": value for name, value in document["parameters"].items()}
    parameters = config.checked(protocol.name, dict(document["parameters"]))
    return System(label, protocol, parameters, document["signature"], made_by, document["scores"], rows, images)
