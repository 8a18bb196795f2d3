"""A stored result as a record, as `evaltex.schema.json` in this folder describes its .json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import msgspec

from evaltex_cli.evaluation.evaluation import Evaluation, ImageResult, ObjectResult
from evaltex_cli.evaluation.extras import Bootstrap, Interval, SliceScores, Verdict
from evaltex_cli.evaluation.groups import Units
from evaltex_cli.evaluation.inputs import InputSummary, options_of, parts_of
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.results.image_table import NO_IMAGES, ImageTable, of_images

PARTNERS = {"objects": "detections", "detections": "objects"}
"""Each side of an image, and what its objects' partners are called in the .json."""


@dataclass(frozen=True, slots=True, eq=False)
class ResultDocument:
    """One protocol's result of one run."""

    protocol: str
    signature: str
    parameters: dict[str, Any]
    """Every parameter of the protocol -> its value."""
    gt: InputSummary
    det: InputSummary
    totals: dict[str, Any]
    scores: dict[str, Any]
    warnings: list[str]
    intervals: dict[str, Interval | None] | None = None
    bootstrap: Bootstrap | None = None
    slices: list[SliceScores] | None = None
    gates: list[Verdict] | None = None
    merged_from: list[str] | None = None
    images: Sequence[Any] = ()
    """`ImageResult`s; empty if the run was made without ``-a``."""
    table: ImageTable = NO_IMAGES
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
        return self.merged_from or [self.gt.sha256]


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
        members[side] = [
            ObjectResult(values.pop("id"), values.pop("match"), values.pop(partners), values)
            for values in map(dict, members[side])
        ]
    return ImageResult(**members)


def of_members(members: Mapping[str, Any]) -> ResultDocument:
    """Return the record of a .json; raises `msgspec.ValidationError` and `KeyError`."""
    return msgspec.convert(
        {**members, **members["inputs"]}, ResultDocument, dec_hook=lambda _, name: Units(name)
    )


def of_evaluation(evaluation: Evaluation) -> ResultDocument:
    """Return what the .json of an evaluation contains."""
    table = of_images(evaluation.images, evaluation.protocol)
    if evaluation.rows is not None:
        table = table._replace(rows=evaluation.rows)
    document = of_members(evaluation.members())
    return replace(document, images=evaluation.images, table=table)


def differences(
    one: ResultDocument, other: ResultDocument, are_parts: bool = False
) -> list[tuple[str, Any, Any]]:
    """Return where the settings of two results differ, with both values; None if one has none.

    Scores are comparable without differences, and parts of a data set (`are_parts`), which have
    other images, may be merged.
    """
    a, b = _settings(one, are_parts), _settings(other, are_parts)
    return [(what, a.get(what), b.get(what)) for what in {**a, **b} if a.get(what) != b.get(what)]


def _settings(document: ResultDocument, of_part: bool) -> dict[str, object]:
    """Return what two results must agree in, by what messages call it."""
    signed, gt = document.signed, document.gt
    own = {
        "ground truth (SHA-256)": gt.sha256,
        "format of the ground truth": gt.format,
        "list of images": signed.get("only", "all"),
        "ground truth of lines": signed.get("gt_lines"),
    }
    of_all_parts = {
        "preset": signed.get("preset"),
        "level of the detections": signed.get("det_level"),
        "classes of the detections": signed.get("det_classes"),
        "least confidence": signed.get("min_confidence"),
        "version": signed.get("version"),
    }
    return {
        **(of_all_parts if of_part else own),
        "level of the ground truth": signed.get("gt_level"),
        "classes of the ground truth": signed.get("gt_classes"),
        "label pictures": signed.get("masks", "no"),
        "policy for invalid polygons": signed.get("invalid"),
        "don't-care objects": signed.get("dont_care", "ignore"),
        "protocol revision": signed.get("revision"),
        **{f"parameter {name}": value for name, value in document.parameters.items()},
    }
