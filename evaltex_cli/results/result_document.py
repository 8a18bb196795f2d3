"""A run's result as a record: what its .json contains, described by
`evaltex.schema.json` in this folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from evaltex_cli.evaluation.evaluation import Evaluation, ImageResult, ObjectResult
from evaltex_cli.evaluation.inputs import InputSummary, options_of, parts_of
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols.base import Scores
from evaltex_cli.protocols.tally import Totals
from evaltex_cli.results.extras import Extras
from evaltex_cli.results.image_table import ImageTable

PARTNERS = {"objects": "detections", "detections": "objects"}
"""Each side of an image, and what its objects' partners are called in the .json."""


@dataclass(frozen=True, slots=True, eq=False)
class ResultDocument:
    """One protocol's result of one run."""

    protocol: str
    signature: str
    parameters: Mapping[str, str | float | bool]
    """Every parameter of the protocol -> its value."""
    gt: InputSummary
    det: InputSummary
    totals: Totals
    scores: Scores
    """`totals` and `scores`: as in `Evaluation`."""
    extras: Extras
    warnings: list[str]
    images: Sequence[ImageResult]
    """Empty if the run was made without ``-a``."""
    table: ImageTable
    """Columns of these images."""

    @property
    def signed(self) -> dict[str, str]:
        """The parts of the signature, by name."""
        return parts_of(self.signature)

    @property
    def options(self) -> InputOptions:
        """How the inputs were read, but for folders of pictures, which a result does not name."""
        read = options_of(self.signature)
        return replace(read, gt_format=self.gt.format, det_format=self.det.format)

    @property
    def ground_truths(self) -> Sequence[str]:
        """SHA-256 of the ground truth of every evaluation in this result."""
        return self.extras.merged_from or [self.gt.sha256]


def json_of(image: ImageResult) -> dict[str, Any]:
    """Return an image as an element of ``images``; partners are called by their side."""
    members = {field.name: getattr(image, field.name) for field in fields(image)}
    for side, partners in PARTNERS.items():
        members[side] = [
            {"id": one.id, "match": one.match, partners: one.partners, **one.values}
            for one in members[side]
        ]
    return members


def image_of(value: Mapping[str, Any]) -> ImageResult:
    """Return the image of an element of ``images``."""
    members = {field.name: value[field.name] for field in fields(ImageResult)}
    for side, partners in PARTNERS.items():
        known = ("id", "match", partners)
        members[side] = [
            ObjectResult(
                entry["id"],
                entry["match"],
                entry[partners],
                {name: value for name, value in entry.items() if name not in known},
            )
            for entry in members[side]
        ]
    return ImageResult(**members)


def of_evaluation(evaluation: Evaluation, table: ImageTable) -> ResultDocument:
    """Return what the .json of an evaluation would contain, without its images."""
    return ResultDocument(
        protocol=evaluation.protocol.name,
        signature=evaluation.signature,
        parameters=asdict(evaluation.parameters),
        gt=evaluation.gt,
        det=evaluation.det,
        totals=evaluation.totals,
        scores=evaluation.scores,
        extras=Extras(),
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
    signed, gt = document.signed, document.gt
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
