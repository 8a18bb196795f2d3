"""A run's result as a record: what its .json contains, described by
`evaltex.schema.json` in this folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from evaltex_cli.evaluation.evaluation import Evaluation, ImageResult
from evaltex_cli.evaluation.inputs import InputSummary, options_of, parts_of
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols.base import Scores
from evaltex_cli.protocols.tally import Totals
from evaltex_cli.results.extras import Extras
from evaltex_cli.version import __version__

if TYPE_CHECKING:
    from evaltex_cli.results.image_table import ImageTable


@dataclass(frozen=True, slots=True)
class InputSummaries:
    """What was read of both sides."""

    gt: InputSummary
    det: InputSummary


@dataclass(frozen=True, slots=True, eq=False)
class ResultDocument:
    """One protocol's result of one run."""

    version: str
    """That of the package."""
    protocol: str
    signature: str
    parameters: Mapping[str, str | float | bool]
    """Every parameter of the protocol -> its value."""
    inputs: InputSummaries
    totals: Totals
    scores: Scores
    """`totals` and `scores`: as in `Evaluation`."""
    extras: Extras
    warnings: list[str]
    images: Sequence[ImageResult]
    """Decoded when they are asked for; empty if the run was made without ``-a``."""
    table: ImageTable
    """Columns of these images."""

    @property
    def signed(self) -> dict[str, str]:
        """The parts of the signature, by name."""
        return parts_of(self.signature)

    @property
    def options(self) -> InputOptions:
        """How the inputs were read, but for folders of pictures, which a result does not name."""
        gt, det = self.inputs.gt, self.inputs.det
        return replace(options_of(self.signature), gt_format=gt.format, det_format=det.format)

    @property
    def ground_truths(self) -> Sequence[str]:
        """SHA-256 of the ground truth of every evaluation in this result."""
        return self.extras.merged_from or [self.inputs.gt.sha256]


def of_evaluation(evaluation: Evaluation, table: ImageTable) -> ResultDocument:
    """Return what the .json of an evaluation would contain, without its images."""
    return ResultDocument(
        version=__version__,
        protocol=evaluation.protocol.name,
        signature=evaluation.signature,
        parameters=asdict(evaluation.parameters),
        inputs=InputSummaries(evaluation.gt, evaluation.det),
        totals=evaluation.totals,
        scores=evaluation.scores,
        extras=Extras(preset=options_of(evaluation.signature).preset),
        warnings=evaluation.warnings,
        images=(),
        table=table,
    )


def differences(one: ResultDocument, other: ResultDocument) -> list[tuple[str, Any, Any]]:
    """Return where two results' provenance differs, with both values; None if one has none."""
    a, b = _provenance(one), _provenance(other)
    return [(what, a.get(what), b.get(what)) for what in {**a, **b} if a.get(what) != b.get(what)]


def _provenance(document: ResultDocument) -> dict[str, object]:
    """Everything that two results must agree in for their scores to be
    comparable, by what messages call it.
    """
    signed, gt = document.signed, document.inputs.gt
    return {
        "ground truth (SHA-256)": gt.sha256,
        "format of the ground truth": gt.format,
        "level of the ground truth": signed.get("gt_level"),
        "classes of the ground truth": signed.get("gt_classes"),
        "list of images": signed.get("only", "all"),
        "ground truth of lines": signed.get("gt_lines"),
        "label pictures": signed.get("masks", "no"),
        "policy for invalid polygons": signed.get("invalid"),
        "don't-care objects": signed.get("dont_care", "ignore"),
        "protocol revision": signed.get("revision"),
        **{f"parameter {name}": value for name, value in document.parameters.items()},
    }
