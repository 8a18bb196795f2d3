"""What a report is of: results of earlier runs or of the run at hand, their
inputs, and where the score is lost.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from evaltex_cli.comparison import detector_results
from evaltex_cli.diagnosis.diagnosis import NOT_DEFINED, Diagnosis, Diagnostician, diagnosed
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import Protocol, load
from evaltex_cli.report import image_columns
from evaltex_cli.report.inputs import open_evaluated, open_lines
from evaltex_cli.report.run_images import RunImages
from evaltex_cli.results import reader
from evaltex_cli.results.result_document import ResultDocument
from evaltex_cli.runtime import OrderedMap

OF_MASKS = (
    "These results are of label pictures. Mistakes are found and repaired by outlines, so where"
    " their score is lost is not shown."
)
OF_LINES = (
    "These results are of a ground truth of lines. To see where their score is lost, make the"
    " report with --gt, --det and --lines."
)
SCORED_OTHERWISE = (
    "These results were made by another version, and this one scores the same detections otherwise;"
    " evaluate again to"
    " see where the score is lost."
)
Losses: TypeAlias = list[Diagnosis] | str
"""The diagnosis of each detector by one protocol, or a note why there are none."""


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """One protocol's result of one detector."""

    label: str
    """The detector's name in the report."""
    protocol: Protocol
    document: ResultDocument
    system: detector_results.System | None
    """The same with the evidence of each image; None if there are no images' results."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the images; none if there are no images' results."""
        return self.document.table.rows.names


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What a report is of."""

    results: Sequence[Path]
    """Where the results are, one path per detector."""
    rows: Sequence[Sequence[Result]]
    """One per protocol; in each, one per detector."""
    inputs: Sequence[Inputs] = ()
    """Of each detector; empty if objects are listed but not drawn."""
    losses: list[Losses] | None = None
    """Where the score is lost, one per protocol."""
    images: Iterable[image_columns.Chunk] | None = None
    """The images in chunks, if the run at hand has gathered them; else they are read."""

    @property
    def without_images(self) -> list[Path]:
        """The results that have no images."""
        return [
            path
            for k, path in enumerate(self.results)
            if not any(row[k].names for row in self.rows)
        ]

    def with_losses(self, ordered_map: OrderedMap = map) -> Subject:
        """Evaluate all inputs again to see where the score is lost; without inputs this is not
        known.

        Parameters
        ----------
        ordered_map : callable
            What does the work (`workers`); `map` does it here.
        """
        return (
            replace(self, losses=_losses_of_inputs(self.rows, self.inputs, ordered_map))
            if self.inputs
            else self
        )


def read(
    results: Sequence[Path],
    labels: Sequence[str] | None = None,
    gt: Path | None = None,
    det: Sequence[Path] = (),
    pictures: Path | None = None,
    lines: Path | None = None,
) -> Subject:
    """Read what a report shows of one detector, or of several side by side.

    Parameters
    ----------
    results : sequence of Path
        Result folders, or single .json results, one per detector; all protocols in them are shown.
    labels : sequence of str, optional
        The detectors' names; the folders' names by default.
    gt, det : Path, sequence of Path
        The inputs of these runs, one of `det` per detector; without them objects are listed but not
        drawn.
    pictures : Path, optional
        As for `open_evaluated`.
    lines : Path, optional
        The ground truth of lines, if the results are of one.

    Raises
    ------
    InputError
        When results or inputs cannot be read or do not belong together.
    """
    rows = _read_results(results, labels or _labels(results))
    names = image_names(rows)
    if not names and gt is not None:
        raise InputError(
            f"{results[0]}: holds no images' results to draw; run that evaluation again with -a"
        )
    documents = [result.document for result in rows[0]]
    if len({document.inputs.gt.sha256 for document in documents}) > 1:
        raise InputError(
            "the results are of different ground truths; evaluate all detectors on one"
        )
    if (gt is None) != (not det) or (det and len(det) != len(results)):
        raise InputError(
            f"give --gt and one --det for each result folder ({len(results)}), or neither"
        )
    if gt is None:
        if lines is not None:
            raise InputError(
                f"{lines}: a ground truth of lines goes with --gt and --det; give them too, or"
                " leave it out"
            )
        return Subject(results, rows)
    inputs = open_evaluated(gt, det, documents, pictures)
    if lines is not None:
        opened = open_lines(
            lines, inputs[0], [result.document for row in rows for result in row], pictures
        )
        inputs = [
            replace(one, lines=opened, options=replace(one.options, lines=lines)) for one in inputs
        ]
    if inputs[0].gt.names != names:
        raise InputError(f"{gt}: has other images than {results[0]}; evaluate again")
    return Subject(results, rows, inputs)


def of_results(folder: Path, label: str, inputs: Inputs) -> Subject:
    """Return what a report shows of the results in a folder, of inputs that are open."""
    return Subject([folder], _read_results([folder], [label]), [inputs])


def of_run(
    folder: Path, label: str, inputs: Inputs, diagnoses: Sequence[Diagnosis], images: RunImages
) -> Subject:
    """Return what a report shows of a run that was just made into a folder.

    Parameters
    ----------
    diagnoses : sequence of Diagnosis
        Where the score is lost; not shown without any.
    images : RunImages
        What was gathered of the images while they were evaluated.
    """
    rows = _read_results([folder], [label], images)
    by_protocol = {diagnosis.protocol: diagnosis for diagnosis in diagnoses}
    losses = _losses(rows, [by_protocol]) if diagnoses else None
    chunks = images.chunks([row[0].protocol.name for row in rows], inputs)
    return Subject([folder], rows, [inputs], losses, chunks)


def _labels(results: Sequence[Path]) -> list[str]:
    names = [Path(os.path.realpath(path)).name if path.is_dir() else path.stem for path in results]
    return names if len(set(names)) == len(names) else [str(path) for path in results]


def _read_results(
    paths: Sequence[Path], labels: Sequence[str], images: RunImages | None = None
) -> list[list[Result]]:
    """Read result folders, one per detector; of the run at hand, whose images these are, no images.

    Returns
    -------
    list of list of Result
        One list per protocol that all folders have, in the registry's order; in each, one result
        per folder.

    Raises
    ------
    InputError
        When a folder contains no result, they have no protocol in common, or they are of different
        inputs.
    """
    by_result = [
        _by_protocol(path, label, reader.read)
        if images is None
        else _by_protocol(
            path, label, lambda file: reader.read(file, table=images.table(file.stem))
        )
        for path, label in zip(paths, labels, strict=True)
    ]
    common = [name for name in PROTOCOLS if all(name in results for results in by_result)]
    if not common:
        raise InputError(
            f"{', '.join(map(str, paths))}: have no protocol in common; evaluate both by the same"
        )
    for path, results in zip(paths, by_result, strict=True):
        _refuse_mixed(path, [results[name] for name in common])
    return [[results[name] for results in by_result] for name in common]


def _by_protocol(
    path: Path, label: str, read: Callable[[Path], ResultDocument]
) -> dict[str, Result]:
    present = reader.files(path)
    files = [path / f"{name}.json" for name in PROTOCOLS] if path.is_dir() else [path]
    results = {}
    for file in files:
        if file not in present:
            continue
        document = read(file)
        reader.refuse_unknown(file, document)
        has_images = len(document.table.rows.names) > 0
        system = detector_results.of_document(file, document, label) if has_images else None
        results[document.protocol] = Result(label, load(document.protocol), document, system)
    if not results:
        raise InputError(
            f"{path}: holds no results; expected PROTOCOL.json ({', '.join(PROTOCOLS)})"
        )
    return results


def _refuse_mixed(path: Path, results: Sequence[Result]) -> None:
    first = results[0].document
    expected = first.options
    for result in (one.document for one in results[1:]):
        options = result.options
        names = f"{first.protocol} and {result.protocol}"
        if options.invalid != expected.invalid:
            raise InputError(
                f"{path}: {names} are results of different policies for invalid polygons"
                f" ({expected.invalid} and"
                f" {options.invalid}); evaluate both in one run"
            )
        if options.dont_care != expected.dont_care:
            raise InputError(
                f"{path}: {names} are results of different policies for don't-care objects"
                f" ({expected.dont_care} and {options.dont_care}); evaluate both in one run"
            )
        if _levels_and_classes(options) != _levels_and_classes(expected):
            raise InputError(
                f"{path}: {names} are results of different levels or classes; evaluate both in one"
                " run"
            )
        if options.min_confidence != expected.min_confidence:
            raise InputError(
                f"{path}: {names} are results of different least confidences"
                f" ({expected.min_confidence} and"
                f" {options.min_confidence}); evaluate both in one run"
            )
        if _hashes(result) != _hashes(first):
            raise InputError(
                f"{path}: {names} are results of different inputs; evaluate both in one run"
            )


def _levels_and_classes(options: InputOptions) -> tuple[object, ...]:
    return options.gt_level, options.det_level, options.gt_classes, options.det_classes


def _hashes(document: ResultDocument) -> tuple[str, str]:
    return document.inputs.gt.sha256, document.inputs.det.sha256


def image_names(results: Sequence[Sequence[Result]]) -> list[str]:
    """Names of all images, in the ground truth's order; empty if no run has images' results.

    Raises
    ------
    InputError
        When two results differ in them.
    """
    lists = [result.names for row in results for result in row if result.names]
    if any(names != lists[0] for names in lists):
        raise InputError("the results are of different images; evaluate all on one ground truth")
    return list(lists[0]) if lists else []


def _losses_of_inputs(
    rows: Sequence[Sequence[Result]], inputs: Sequence[Inputs], ordered_map: OrderedMap
) -> list[Losses]:
    """Diagnose every detector, in one pass over its images for all protocols.

    Parameters
    ----------
    rows : sequence of sequence of Result
        One per protocol; in each, one per detector.
    inputs : sequence of Inputs
        Of each detector.
    ordered_map : callable
        What does the work.
    """
    measured = [
        row for row in rows if not any(_is_of_more(result.document, inputs[0]) for result in row)
    ]
    diagnoses = [
        {
            diagnosis.protocol: diagnosis
            for diagnosis in _diagnosed([row[k] for row in measured], of_detector, ordered_map)
        }
        for k, of_detector in enumerate(inputs)
    ]
    return _losses(rows, diagnoses)


def _is_of_more(document: ResultDocument, inputs: Inputs) -> bool:
    """Whether a result is of more than these inputs: of label pictures, or of
    lines that are not among them.
    """
    return document.options.masks is not None or (
        "gt_lines" in document.signed and inputs.lines is None
    )


def _losses(
    rows: Sequence[Sequence[Result]], diagnoses: Sequence[Mapping[str, Diagnosis]]
) -> list[Losses]:
    """Take from the diagnoses of each detector, by protocol and without those
    of label pictures, what fits the rows.
    """
    return [
        _losses_of_row(row, [by_protocol.get(row[0].protocol.name) for by_protocol in diagnoses])
        for row in rows
    ]


def _losses_of_row(row: Sequence[Result], diagnoses: Sequence[Diagnosis | None]) -> Losses:
    known = [diagnosis for diagnosis in diagnoses if diagnosis is not None]
    if len(known) < len(row):
        return OF_LINES if any("gt_lines" in result.document.signed for result in row) else OF_MASKS
    fit = all(
        _is_of(one.scores, result.document.scores) for one, result in zip(known, row, strict=True)
    )
    if not all(one.is_defined for one in known):
        return NOT_DEFINED
    return known if fit else SCORED_OTHERWISE


def _is_of(computed: Mapping[str, float], stored: Mapping[str, Any]) -> bool:
    return all(
        math.isclose(value, stored.get(name) or 0.0, abs_tol=1e-9)
        for name, value in computed.items()
    )


def _diagnosed(
    results: Sequence[Result], inputs: Inputs, ordered_map: OrderedMap
) -> list[Diagnosis]:
    if not results:
        return []
    parameters = {
        result.protocol.name: config.checked(result.protocol.name, result.document.parameters)
        for result in results
    }
    return diagnosed(inputs, parameters, Diagnostician(), ordered_map)
