"""What a report shows of each detector: its results, its inputs, and where its score is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evaltex_cli.diagnosis.diagnosis import Diagnosis, diagnose_inputs
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.inputs import Inputs, open_inputs
from evaltex_cli.formats.base import Source
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.results import reader
from evaltex_cli.results.result_document import ResultDocument, differences
from evaltex_cli.runtime import OrderedMap

NOT_DIAGNOSED = (
    "This is not shown: label pictures cannot be diagnosed, and results of a ground truth of lines"
    " need --gt, --det and --lines."
)


@dataclass(frozen=True, eq=False)
class Detector:
    """One detector's results."""

    label: str
    documents: Mapping[str, ResultDocument]
    """Protocol -> result."""
    inputs: Inputs | None = None
    """What was evaluated; without it objects are listed, not drawn."""
    diagnoses: Mapping[str, Diagnosis] = field(default_factory=dict)
    """Protocol -> where the score is lost."""
    note: str = ""
    """Why that is not known."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the images; none if the results have no images."""
        names = [one.table.rows.names for one in self.documents.values()]
        return names[0] if all(names) else ()

    @property
    def can_measure(self) -> bool:
        """Whether the inputs are all that the results depend on: label pictures, and a ground truth
        of lines, are not kept with results.
        """
        first = next(iter(self.documents.values()))
        has_lines = any("gt_lines" in one.signed for one in self.documents.values())
        return (
            self.inputs is not None
            and not (first.options.masks is not None and self.inputs.options.masks is None)
            and not (has_lines and self.inputs.lines is None)
        )


def read(
    results: Mapping[str, Path],
    gt: Path | None = None,
    det: Sequence[Path] = (),
    pictures: Path | None = None,
    lines: Path | None = None,
) -> list[Detector]:
    """Read the results of detectors, by the protocols that all of them have.

    Each result is a folder or a result's .json, by the name of the detector. What was evaluated is
    `gt` and one of `det` for each result, with the folder of `pictures` for coordinates that are
    fractions of the page, and the ground truth of `lines`.

    Raises `InputError` when results or inputs cannot be read or do not belong together.
    """
    if (gt is None) != (not det) or (det and len(det) != len(results)):
        raise InputError(
            f"give --gt and one --det for each result folder ({len(results)}), or neither"
        )
    if gt is None and lines is not None:
        raise InputError(f"{lines}: --lines needs --gt and --det")
    found = [Detector(label, _documents(path)) for label, path in results.items()]
    paths = list(results.values())
    common = [name for name in PROTOCOLS if all(name in one.documents for one in found)]
    if not common:
        raise InputError(
            f"{', '.join(map(str, paths))}: have no protocol in common; evaluate both by the same"
        )
    found = [
        replace(one, documents={name: one.documents[name] for name in common}) for one in found
    ]
    for path, one in zip(paths, found, strict=True):
        first, *others = one.documents.values()
        for other in others:
            if (other.gt, other.det, other.options) != (first.gt, first.det, first.options):
                raise InputError(
                    f"{path}: {first.protocol} and {other.protocol} are results of different inputs"
                    " or options; evaluate both in one run"
                )
        for name in common:
            for what, a, b in differences(found[0].documents[name], one.documents[name]):
                raise InputError(
                    f"{paths[0]} and {path} are different under {name}: {what} is {a} and {b};"
                    " evaluate both in the same way"
                )
        if list(one.names) != list(found[0].names):
            raise InputError(f"{paths[0]} and {path} have different images; evaluate both with -a")
    if gt is None:
        return found
    if not found[0].names:
        raise InputError(
            f"{paths[0]}: holds no images' results to draw; run that evaluation again with -a"
        )
    return [
        replace(one, inputs=open_again(one, gt, path, pictures, lines))
        for one, path in zip(found, det, strict=True)
    ]


def with_diagnoses(detectors: Sequence[Detector], ordered_map: OrderedMap = map) -> list[Detector]:
    """Diagnose all detectors whose inputs are known; `ordered_map` does the work."""
    found = []
    for one in detectors:
        if one.inputs is not None and one.can_measure and one.inputs.options.masks is None:
            parameters = {
                name: config.checked(name, document.parameters)
                for name, document in one.documents.items()
            }
            made = diagnose_inputs(one.inputs, parameters, ordered_map=ordered_map)
            found.append(replace(one, diagnoses={each.protocol: each for each in made}))
        else:
            found.append(one if one.inputs is None else replace(one, note=NOT_DIAGNOSED))
    return found


def _documents(path: Path) -> dict[str, ResultDocument]:
    documents = {}
    for file in reader.files(path):
        if path.is_dir() and file.stem not in PROTOCOLS:
            continue
        document = reader.read(file)
        documents[document.protocol] = document
    if not documents:
        raise InputError(
            f"{path}: holds no results; expected PROTOCOL.json ({', '.join(PROTOCOLS)})"
        )
    return documents


def open_again(
    detector: Detector,
    gt: Path | Source,
    det: Path | Source,
    pictures: Path | None = None,
    lines: Path | None = None,
) -> Inputs:
    """Read what was evaluated again, as the signature says.

    Raises `InputError` when it cannot be read, or is not what was evaluated (by its SHA-256).
    """
    documents = detector.documents.values()
    first = next(iter(documents))
    inputs = open_inputs(
        gt,
        det,
        replace(
            first.options,
            masks=None,
            images=pictures,
            lines=lines,
            only=tuple(detector.names) if "only" in first.signed else None,
        ),
    )
    for source, evaluated in ((inputs.gt, first.gt), (inputs.det, first.det)):
        if source.sha256 != evaluated.sha256:
            raise InputError(
                f"{source.path}: is not what was evaluated ({evaluated.file}, SHA-256"
                f" {evaluated.sha256[:8]}, here {source.sha256[:8]}); give that file, or evaluate"
                " again"
            )
    signed = {one.signed["gt_lines"] for one in documents if "gt_lines" in one.signed}
    if inputs.lines is not None and signed != {inputs.lines.sha256[:8]}:
        raise InputError(
            f"{lines}: is not the ground truth of lines that was evaluated; give that file, or"
            " leave out --lines"
        )
    _ = inputs.paired, inputs.paired_lines  # which log what does not pair
    inputs.faults.raise_if_any()
    return inputs
