"""Two or more detectors on one ground truth: differences, how sure they are, and where they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli import bootstrap, config, formats
from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.evaluation import evaluate_sources, open_sources
from evaltex_cli.protocols import PROTOCOLS, load
from evaltex_cli.protocols.base import Evidence, EvidenceRows, Protocol, Scores, Totals
from evaltex_cli.records import Floats, ImageBatch
from evaltex_cli.results import json_file
from evaltex_cli.runs import Run, image_results

Image = dict[str, Any]
"""One image's results, as an element of ``images`` in a result's .json."""


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """What one protocol says of one detector.

    Attributes
    ----------
    label : str
        How the user tells detectors apart.
    document : dict
        The result's .json, without its images.
    images : sequence of dict
        Each image's scores and objects, in the ground truth's order.
    """

    label: str
    protocol: Protocol
    parameters: Any
    document: Mapping[str, Any]
    rows: EvidenceRows
    images: Sequence[Image]

    @property
    def scores(self) -> Scores:
        """Scores of the data set."""
        scores: Scores = self.document["scores"]
        return scores

    @property
    def warnings(self) -> list[str]:
        """What the user should know."""
        return list(self.document.get("warnings", ()))

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
    """A ground-truth object that is matched otherwise, or scores otherwise, than by the first system.

    `change` is the difference of what the protocol says how well it was found (`Protocol.object_credit`).
    """

    image: str
    system: str
    id: int
    match_before: str
    match_after: str
    before: dict[str, float | None]
    after: dict[str, float | None]
    change: float


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
        signatures=[f"{system.document['signature']}|resamples:{resamples}|seed:{seed}" for system in systems],
        scores=scores,
        images=_image_changes(systems),
        objects=_object_changes(systems),
    )


def by_protocol(systems: Sequence[Sequence[System]]) -> tuple[list[list[System]], dict[str, str]]:
    """Group the systems of several detectors by protocol.

    Returns
    -------
    list of list of System
        Protocols that serve all detectors, in the registry's order.
    dict
        Those left out, with the reason.

    Raises
    ------
    InputError
        When none is left.
    """
    found = [{system.protocol.name: system for system in group} for group in systems]
    groups, left_out = [], {}
    for name in PROTOCOLS:
        group = [of_detector[name] for of_detector in found if name in of_detector]
        if len(group) == len(found) and not (group[0].protocol.needs_texts and not all(map(_has_texts, group))):
            groups.append(group)
        elif group:
            left_out[name] = (
                "a detector bears no transcriptions" if len(group) == len(found) else "not all results have it"
            )
    if not groups:
        raise InputError("no protocol serves all detectors; evaluate them by the same ones")
    return groups, left_out


def _has_texts(system: System) -> bool:
    return bool(system.document["inputs"]["det"].get("transcriptions"))


def refuse_other_ground_truth(gt: Path, gt_format: str | None, systems: Sequence[Sequence[System]]) -> None:
    """Refuse stored results of another ground truth than the given one.

    Raises
    ------
    InputError
    """
    faults = FaultLog()
    sha256 = formats.open_source(gt, "gt", faults, gt_format).sha256
    faults.raise_if_any()
    for system in (system for group in systems for system in group):
        if system.document["inputs"]["gt"]["sha256"] != sha256:
            raise InputError(f"{system.label} was evaluated against another ground truth than {gt}; evaluate it anew")


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
    credit = systems[0].protocol.object_credit
    changes = [
        ObjectChange(
            image=before["name"],
            system=system.label,
            id=old["id"],
            match_before=old["match"],
            match_after=new["match"],
            before=_own_values(old),
            after=_own_values(new),
            change=credit(new) - credit(old),
        )
        for system in systems[1:]
        for before, after in zip(systems[0].images, system.images, strict=True)
        for old, new in zip(before["objects"], after["objects"], strict=True)
        if old["match"] != new["match"] or _own_values(old) != _own_values(new)
    ]
    return sorted(changes, key=lambda one: one.change)


def _own_values(entry: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: value for name, value in entry.items() if name not in ("id", "match", "detections")}


def _objects(image: Image) -> tuple[str, list[int]]:
    return image["name"], [entry["id"] for entry in image["objects"]]


def _refuse_unlike(systems: Sequence[System]) -> None:
    first = systems[0]
    for system in systems[1:]:
        for what, one, other in json_file.differences(first.document, system.document):
            raise InputError(
                f"{first.label} and {system.label} cannot be compared under {first.protocol.name}:"
                f" {what} is {one} and {other}; evaluate both in the same way"
            )
        for one_image, image in zip(first.images, system.images, strict=False):
            if _objects(one_image) != _objects(image) or len(first.images) != len(system.images):
                raise InputError(
                    f"{first.label} and {system.label} list other objects of image {quote(str(image['name']))}, though"
                    " their ground truth is the same; make the damaged result again"
                )


def evaluated(
    gt: Path,
    det: Path,
    label: str,
    protocols: Mapping[str, Any],
    gt_format: str | None = None,
    det_format: str | None = None,
    min_confidence: float | None = None,
) -> list[System]:
    """Evaluate a detector by several protocols.

    Parameters
    ----------
    protocols : mapping
        Name -> parameters record.
    min_confidence : float, optional
        Detections whose confidence is lower are left out.

    Raises
    ------
    InputError
        As `evaluation.evaluate`.
    """
    runs = [Run(load(name), parameters, keep_rows=True) for name, parameters in protocols.items()]
    images: dict[str, list[Image]] = {name: [] for name in protocols}

    def keep(run: Run, batch: ImageBatch, evidence: Evidence) -> None:
        images[run.protocol.name] += [json_file.image_fields(found) for found in image_results(run, batch, evidence)]

    systems = []
    sources = open_sources(gt, det, gt_format, det_format, min_confidence)
    for run, result in zip(runs, evaluate_sources(*sources, runs, sink=keep), strict=True):
        document = json_file.fields(result) | {"warnings": result.warnings}
        rows = result.rows
        if rows is not None:
            systems.append(_system(label, document, rows, images[run.protocol.name]))
    return systems


def is_result(path: Path) -> bool:
    """Whether a path is a result's .json or a folder that holds one, rather than detections."""
    return any(json_file.is_document(file) for file in json_file.files(path))


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
    files = (file for file in json_file.files(path) if not path.is_dir() or json_file.is_document(file))
    return [of_document(file, json_file.read(file), label) for file in files]


def of_document(file: Path, document: Mapping[str, Any], label: str) -> System:
    """Return what a result says, whose .json was read.

    Raises
    ------
    InputError
        When it is damaged, or was made without ``-a`` and so holds no images.
    """
    images = document["images"]
    if not images:
        raise InputError(f"{file}: holds no images' results; run that evaluation again with -a")
    try:
        rows = EvidenceRows(
            [image["name"] for image in images],
            {name: np.array([image["totals"][name] for image in images]) for name in images[0]["totals"]},
        )
        return _system(label, document, rows, images)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: is a damaged result ({quote(str(error))}); make it again") from error


def _system(label: str, document: Mapping[str, Any], rows: EvidenceRows, images: Sequence[Image]) -> System:
    protocol = load(document["protocol"])
    parameters = config.checked(protocol.name, dict(document["parameters"]))
    return System(label, protocol, parameters, document, rows, images)
