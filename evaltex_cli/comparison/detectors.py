"""Results of detectors: evaluated, or read from the result folders of earlier runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.evaluation.evaluate import Sink, evaluate_inputs, runs_of
from evaltex_cli.evaluation.evaluation import defined, of_detectors
from evaltex_cli.evaluation.inputs import Inputs, open_inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.formats.reading import read
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import EvidenceRows, Protocol, Scores, load
from evaltex_cli.protocols.score_names import scalars
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.results import reader
from evaltex_cli.results.image_table import ImageTable, joined, table_of
from evaltex_cli.results.result_document import ResultDocument, differences, of_evaluation
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.runtime.progress import tracked


@dataclass(frozen=True, slots=True, eq=False)
class DetectorResult:
    """One protocol's result of one detector; `rows` has the evidence of each image, in the order of
    the ground truth.
    """

    label: str
    protocol: Protocol
    parameters: Any
    document: ResultDocument
    rows: EvidenceRows

    @property
    def table(self) -> ImageTable:
        """Each image's scores and objects, in the order of the ground truth."""
        return self.document.table

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
) -> list[DetectorResult]:
    """Evaluate a detector by several protocols.

    Parameters
    ----------
    inputs : Inputs
        Boxes and polygons, or label pictures.
    protocols : mapping
        Name -> parameters record.
    with_images : bool
        Whether the table of images and objects is made, too.

    Raises
    ------
    InputError
        As `evaluate.evaluate_inputs`.
    """
    tables: dict[str, list[ImageTable]] = {name: [] for name in protocols}
    sink = Sink(table_of, lambda run, table: tables[run.protocol.name].append(table))
    evaluations = evaluate_inputs(
        inputs, runs_of(protocols), [sink] if with_images else [], ordered_map=ordered_map
    )
    results = []
    for one in evaluations:
        document = of_evaluation(one, joined(tables[one.protocol.name]))
        if one.rows is None:
            raise ValueError("an evaluation without rows")
        results.append(DetectorResult(label, one.protocol, one.parameters, document, one.rows))
    return results


def is_result(path: Path) -> bool:
    """Whether a path has results of an earlier run: a result's .json, or a folder with one."""
    return any(reader.is_document(file) for file in reader.files(path))


def stored(path: Path, label: str) -> list[DetectorResult]:
    """Read the results of an earlier run from a result's .json, or a folder of them.

    Raises
    ------
    InputError
        When a file is not a result, or has no images because it was made without ``-a``.
    """
    files = (file for file in reader.files(path) if not path.is_dir() or reader.is_document(file))
    return [of_document(file, reader.read(file), label) for file in files]


def of_document(file: Path, document: ResultDocument, label: str) -> DetectorResult:
    """Return a detector's result that was read from a file; raises as `stored`."""
    if not document.images:
        raise InputError(f"{file}: holds no images' results; run that evaluation again with -a")
    protocol = load(document.protocol)
    parameters = config.checked(protocol.name, document.parameters)
    document = replace(document, images=())  # which the table has all that is compared of
    return DetectorResult(label, protocol, parameters, document, document.table.rows)


def read_or_evaluate(
    gt: Any,
    detectors: Mapping[str, Any],
    options: InputOptions,
    protocols: Mapping[str, Any],
    ordered_map: OrderedMap,
    with_images: bool = True,
    opened: Callable[[Any, Any, OrderedMap], Inputs] | None = None,
) -> dict[str, list[DetectorResult]]:
    """Return the results of each detector: read where its path has some, evaluated elsewhere.

    Parameters
    ----------
    gt, detectors
        Paths, or what `opened` takes; `gt` may be None if all detectors have results.
    opened : callable, optional
        From ground truth, detections and map to `Inputs`.

    Raises
    ------
    InputError
        As `stored` and `evaluated`; without a ground truth, and if a result has another one.
    """
    results: dict[str, list[DetectorResult]] = {}
    earlier: list[DetectorResult] = []
    for label, det in tracked(detectors.items(), "scoring", "detectors", len(detectors)):
        if isinstance(det, str | os.PathLike) and is_result(Path(det)):
            results[label] = stored(Path(det), label)
            earlier += results[label]
        elif gt is None:
            needed = "give it, or results of a run with -a"
            raise InputError(f"{label}: detections without a ground truth; {needed}")
        else:
            if opened is None:
                inputs = open_inputs(gt, det, options, ordered_map)
            else:
                inputs = opened(gt, det, ordered_map)
            results[label] = evaluated(inputs, label, protocols, ordered_map, with_images)
    if earlier and isinstance(gt, str | os.PathLike):
        faults = FaultLog()
        sha256 = read(Path(gt), "gt", options, faults).sha256
        faults.raise_if_any()
        for one in earlier:
            if one.document.gt.sha256 != sha256:
                raise InputError(
                    f"{one.label} was evaluated against another ground truth than {gt}; evaluate it"
                    " again"
                )
    return results


def by_protocol(
    results: Mapping[str, Sequence[DetectorResult]], protocols: Iterable[str]
) -> tuple[dict[str, list[DetectorResult]], dict[str, str]]:
    """Group the results of several detectors by protocol.

    Returns
    -------
    dict of list of DetectorResult
        Of these protocols, in this order, those by which all detectors have a result.
    dict
        Protocols that are left out -> the reason.

    Raises
    ------
    InputError
        When none is left, or results of one protocol do not belong together.
    """
    groups: dict[str, list[DetectorResult]] = {}
    left_out: dict[str, str] = {}
    for name in protocols:
        group = [
            one
            for of_detector in results.values()
            for one in of_detector
            if one.protocol.name == name
        ]
        if not group:
            continue
        needs_texts = "texts" in group[0].protocol.needs
        fit = [one.label for one in group if not needs_texts or one.document.det.transcriptions]
        if without := [label for label in results if label not in fit]:
            what = "no transcriptions" if needs_texts else "no result"
            left_out[name] = f"{', '.join(without)}: {what}"
        else:
            _refuse_unlike(group)
            groups[name] = group
    if not groups:
        reasons = "; ".join(f"{name} ({reason})" for name, reason in left_out.items())
        raise InputError(
            "no protocol serves all detectors; evaluate all by the same protocols"
            + (f": {reasons}" if reasons else "")
        )
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
        if not (first.table.rows.names and other.table.rows.names):
            continue  # evaluated without images
        own, others = first.table, other.table
        if not (
            np.array_equal(own.offsets, others.offsets)
            and np.array_equal(own.objects.ids, others.objects.ids)
        ):
            raise InputError(
                f"{lead} list other objects, though their ground truth is the same; make the"
                " damaged result again"
            )


def warnings_of(groups: Mapping[str, Sequence[DetectorResult]]) -> list[str]:
    """Return the warnings of all evaluations, each once, with the detectors that they concern."""
    return of_detectors(
        (name, [(one.label, one.document.warnings) for one in group])
        for name, group in groups.items()
    )


def labels_of(paths: Sequence[Path]) -> list[str]:
    """Return names of detectors that differ: of their files without the ending, or paths from the
    folder that has all of them; with a number if a path is given twice.
    """
    names = [path.name if path.is_dir() else path.stem for path in paths]
    if len(set(names)) < len(set(paths)):
        whole = [path.absolute() for path in paths]
        common = os.path.commonpath([path.parent for path in whole])
        names = [path.relative_to(common).as_posix() for path in whole]
    counts = [names[:k].count(name) for k, name in enumerate(names)]
    return [f"{name} ({k + 1})" if k else name for name, k in zip(names, counts, strict=True)]


def name_of(groups: Mapping[str, Sequence[DetectorResult]]) -> str:
    """Return the name of the data set that results belong to: of the file of its ground truth."""
    return Path(next(iter(groups.values()))[0].document.gt.file).stem
