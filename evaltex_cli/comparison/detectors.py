"""Results of detectors: evaluated, or read from the result folders of earlier runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.evaluation.evaluate import evaluate_inputs, runs_of
from evaltex_cli.evaluation.evaluation import defined, of_detectors
from evaltex_cli.evaluation.inputs import Inputs, open_inputs, parts_of
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import read
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import EvidenceRows, Protocol, Scores, load
from evaltex_cli.protocols.score_names import scalars
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.results import reader
from evaltex_cli.results.by_group import parts_by_class
from evaltex_cli.results.image_table import ImageTable
from evaltex_cli.results.result_document import ResultDocument, differences, of_evaluation
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.marks import kind_of
from evaltex_cli.runtime.progress import tracked

Opened: TypeAlias = Callable[[Any, Any, OrderedMap], Inputs]
"""What reads ground truth and detections that are not paths."""


@dataclass(frozen=True, slots=True, eq=False)
class DetectorResult:
    """One protocol's result of one detector, with its images in the order of the ground truth."""

    label: str
    document: ResultDocument

    @property
    def protocol(self) -> Protocol:
        """The protocol that made the result."""
        return load(self.document.protocol)

    @property
    def parameters(self) -> Any:
        """The record of its parameters."""
        return config.checked(self.document.protocol, self.document.parameters)

    @property
    def table(self) -> ImageTable:
        """Each image's scores and objects; only `rows` if it was evaluated without them."""
        return self.document.table

    @property
    def rows(self) -> EvidenceRows:
        """The evidence of each image."""
        return self.table.rows

    @property
    def scores(self) -> dict[str, float | None]:
        """Every score that is a number; None where it is undefined."""
        scores = defined(self.document.scores, self.document.totals)
        return {name: scores[name] for name in scalars(scores)}

    def score(self, tally: Tally) -> Scores:
        """Score summed evidence."""
        return self.protocol.scores(tally, self.parameters)


def evaluated(
    inputs: Inputs,
    label: str,
    protocols: Mapping[str, Any],
    ordered_map: OrderedMap = map,
    with_images: bool = True,
    in_training: bool = False,
) -> list[DetectorResult]:
    """Evaluate a detector by several protocols, name -> parameters record.

    `with_images` says whether the scores and objects of each image are kept too, `in_training` and
    errors are those of `evaluate_inputs`.
    """
    evaluations = evaluate_inputs(
        inputs,
        runs_of(protocols),
        ordered_map=ordered_map,
        per_image=with_images,
        in_training=in_training,
    )
    return [DetectorResult(label, of_evaluation(one)) for one in evaluations]


def is_result(detections: Any) -> bool:
    """Whether it is the path of results of an earlier run: of a .json, or of a folder with one."""
    if not isinstance(detections, str | os.PathLike):
        return False
    path = Path(detections)
    return bool(reader.files(path)) if path.is_dir() else kind_of(path) == "result"


def read_or_evaluate(
    gt: Any,
    detectors: Mapping[str, Any],
    options: InputOptions,
    protocols: Mapping[str, Any],
    ordered_map: OrderedMap,
    with_images: bool = True,
    opened: Opened | None = None,
) -> dict[str, list[DetectorResult]]:
    """Return the results of each detector: read where its path has some, evaluated elsewhere.

    `gt` and `detectors` are paths, or what `opened` makes `Inputs` of; `gt` may be None if all
    detectors have results. Raises `InputError` when results or inputs cannot be read, or results
    have another ground truth.
    """
    results: dict[str, list[DetectorResult]] = {}
    stored: list[DetectorResult] = []
    for label, det in tracked(detectors.items(), "scoring", "detectors", len(detectors)):
        if is_result(det):
            files = reader.files(Path(det))
            results[label] = [DetectorResult(label, reader.read(file)) for file in files]
            stored += results[label]
            for file, one in zip(files, results[label], strict=True):
                if not one.document.images:
                    how = "run that evaluation again with -a"
                    raise InputError(f"{file}: holds no images' results; {how}")
        elif gt is None:
            needed = "give it, or results of a run with -a"
            raise InputError(f"{label}: detections without a ground truth; {needed}")
        else:
            inputs = _inputs(gt, det, options, ordered_map, opened)
            results[label] = evaluated(inputs, label, protocols, ordered_map, with_images)
    if stored and isinstance(gt, str | os.PathLike):
        sha256 = read(Path(gt), "gt", options, FaultLog()).sha256
        for one in stored:
            if one.document.gt.sha256 != sha256:
                other = f"was evaluated against another ground truth than {gt}"
                raise InputError(f"{one.label} {other}; evaluate it again")
    return results


def _inputs(
    gt: Any, det: Any, options: InputOptions, ordered_map: OrderedMap, opened: Opened | None
) -> Inputs:
    if opened is None:
        return open_inputs(gt, det, options, ordered_map)
    return opened(gt, det, ordered_map)


def results_by_class(
    gt: Any,
    detectors: Mapping[str, Any],
    options: InputOptions,
    protocols: Mapping[str, Any],
    ordered_map: OrderedMap,
    opened: Opened | None = None,
) -> list[tuple[str, bool, dict[str, list[DetectorResult]]]]:
    """Return the results of each detector for the objects of each class: class, whether all
    detections have classes, and the results. Raises `InputError` for results of earlier runs, and
    as `read_or_evaluate`.
    """
    by_class: dict[str, tuple[list[bool], dict[str, list[DetectorResult]]]] = {}
    for label, det in detectors.items():
        if gt is None or is_result(det):
            raise InputError(f"{label}: results have no classes; --by class needs detections")
        inputs = _inputs(gt, det, options, ordered_map, opened)
        for value, part, has_labels in parts_by_class(inputs):
            are_labelled, results = by_class.setdefault(value, ([], {}))
            are_labelled.append(has_labels)
            # A class may have no texts, and nothing that matches.
            results[label] = evaluated(part, label, protocols, ordered_map, False, in_training=True)
    return [(value, all(labelled), results) for value, (labelled, results) in by_class.items()]


def by_protocol(
    results: Mapping[str, Sequence[DetectorResult]], protocols: Iterable[str]
) -> tuple[dict[str, list[DetectorResult]], dict[str, str]]:
    """Group the results of detectors by those protocols that serve all of them.

    Returns protocol -> results, and protocol -> why it is left out. Raises `InputError` when no
    protocol serves, or results of a protocol do not belong together.
    """
    groups: dict[str, list[DetectorResult]] = {}
    left_out: dict[str, str] = {}
    every = [one for of_detector in results.values() for one in of_detector]
    for name in protocols:
        group = [one for one in every if one.protocol.name == name]
        without = [label for label in results if label not in [one.label for one in group]]
        if not without:
            _refuse_unlike(group)
            groups[name] = group
        elif group:
            texts = [one.document.det.transcriptions for one in every if one.label in without]
            is_mute = "texts" in group[0].protocol.needs and not any(texts)
            what = "no transcriptions" if is_mute else "no result"
            left_out[name] = f"{', '.join(without)}: {what}"
    if not groups:
        reasons = "".join(f"; {name}: {reason}" for name, reason in left_out.items())
        advice = "evaluate all by the same protocols"
        raise InputError(f"no protocol serves all detectors; {advice}{reasons}")
    return groups, left_out


def _refuse_unlike(group: Sequence[DetectorResult]) -> None:
    """Refuse results that differ in ground truth, images, revision or parameters."""
    first = group[0]
    for other in group[1:]:
        lead = f"{first.label} and {other.label}"
        for what, a, b in differences(first.document, other.document):
            raise InputError(
                f"{lead} cannot be compared under {first.protocol.name}: {what} is {a} and {b};"
                " evaluate both in the same way"
            )
        if list(first.rows.names) != list(other.rows.names):
            raise InputError(f"{lead} were evaluated on other images; evaluate both on the same")


def warnings_of(groups: Mapping[str, Sequence[DetectorResult]]) -> list[str]:
    """Return the warnings of all evaluations, each once, with the detectors that they concern."""
    own = of_detectors(
        (name, [(one.label, one.document.warnings) for one in group])
        for name, group in groups.items()
    )
    every = chain.from_iterable(groups.values())
    return own + read_differently({one.label: one.document.signature for one in every})


def read_differently(signatures: Mapping[str, str]) -> list[str]:
    """Return a warning if boxes of models' answers were read in several ways; label -> signature.

    An input whose format fixes how its boxes are read has no part in it.
    """
    ways = {label: parts_of(line).get("coordinates") for label, line in signatures.items()}
    told = [f"{label} as {way}" for label, way in ways.items() if way]
    if len({*ways.values()} - {None}) < 2:
        return []
    found = f"boxes were read differently: {', '.join(told)}"
    return [f"{found}; if one model wrote them, declare how by --coordinates and evaluate again"]


def labels_of(paths: Sequence[Path]) -> list[str]:
    """Return names of detectors that differ: of their files without the ending, or their paths;
    with a number if a path is given twice.
    """
    names = [Path(os.path.realpath(path)).name if path.is_dir() else path.stem for path in paths]
    if len(set(names)) < len(set(paths)):
        names = [path.as_posix() for path in paths]
    counts = [names[:k].count(name) for k, name in enumerate(names)]
    return [f"{name} ({k + 1})" if k else name for name, k in zip(names, counts, strict=True)]


def name_of(groups: Mapping[str, Sequence[DetectorResult]]) -> str:
    """Return the name of the data set that results belong to: of the file of its ground truth."""
    return Path(next(iter(groups.values()))[0].document.gt.file).stem
