"""The result of one protocol on one data set, with its images and objects."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.display import (
    DataFrame,
    Record,
    Rows,
    Table,
    frame,
    frame_of_rows,
    number,
    plain,
    unknown_table,
)
from evaltex_cli.errors import ConfigError, counted
from evaltex_cli.evaluation.input_counts import InputSummary
from evaltex_cli.protocols.base import EvidenceRows, Protocol, Scores
from evaltex_cli.protocols.score_names import scalars
from evaltex_cli.protocols.tally import Tally, Totals

SHOWN_SCORES = ("recall", "precision", "fscore", "hmean")


@dataclass(frozen=True, slots=True, repr=False)
class ObjectResult(Record):
    """What one object or detection was matched with.

    Attributes
    ----------
    id : int
    match : str
        One of `matches.MATCH_TYPES`.
    partners : list of int
        IDs of what it was matched with, on the other side.
    values : mapping
        The protocol's own values; None where undefined.
    box : tuple of float or None
        Bounding box x0, y0, x1, y1 in pixels; None in results read from a file.
    text : str or None
        The transcription, likewise.
    """

    id: int
    match: str
    partners: list[int]
    values: Mapping[str, float | None]
    box: tuple[float, ...] | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ImageResult(Record):
    """Results of one image; `totals` is the evidence in the form of JSON."""

    name: str
    totals: Totals
    scores: Scores
    objects: list[ObjectResult]
    detections: list[ObjectResult]

    def shown(self) -> Table:
        """Return one line: recall, precision and the numbers of objects and detections."""
        named = (name for name in SHOWN_SCORES if name in self.scores)
        scores = ", ".join(f"{name} {number(self.scores[name])}" for name in named)
        counts = _counts_of(len(self.objects), len(self.detections))
        return Table(f"ImageResult {self.name!r}: {scores} ({counts})")


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Record):
    """The result of one protocol on one data set.

    Attributes
    ----------
    protocol : Protocol
    parameters : dataclass
        The protocol's parameters record.
    signature : str
        One line that names what the scores depend on.
    gt, det : InputSummary
    tally : Tally
        Summed evidence; those of runs over disjoint images add up.
    scores : dict
        Name -> number, list for a histogram, None where undefined.
    images : sequence of ImageResult
        Empty unless asked for (`per_image`).
    warnings : list of str
    rows : EvidenceRows or None
        The evidence of each image; None if it was merged from results without images.
    """

    protocol: Protocol
    parameters: Any
    signature: str
    gt: InputSummary
    det: InputSummary
    tally: Tally
    scores: Scores
    images: Sequence[ImageResult] = field(default_factory=Rows)
    warnings: list[str] = field(default_factory=list)
    rows: EvidenceRows | None = None

    @property
    def totals(self) -> Totals:
        """The summed evidence in the form of JSON: name -> number, or a list for a histogram."""
        return self.tally.as_dict()

    @property
    def meaningful_scores(self) -> Scores:
        """The scores for reading: None where they are undefined (`defined`)."""
        return defined(self.scores, self.totals)

    def score(self, tally: Tally) -> Scores:
        """Score summed evidence as this evaluation does."""
        return self.protocol.scores(tally, self.parameters)

    @property
    def headline(self) -> dict[str, float | None]:
        """The scores that are shown first: usually recall, precision and their harmonic mean."""
        return {name: self.scores[name] for name in self.protocol.headline}

    def shown(self) -> Table:
        """Return one line: the headline scores, and what they are of."""
        scores = ", ".join(f"{name} {number(value)}" for name, value in self.headline.items())
        warnings = counted(len(self.warnings), ", {count} warning[s]") if self.warnings else ""
        return Table(f"{self.protocol.name}: {scores} ({self.size()}{warnings})")

    def size(self) -> str:
        """Return the numbers of images, objects and detections in words."""
        return (
            f"{counted(self.gt.images, '{count} image[s]')},"
            f" {_counts_of(self.gt.objects, self.det.objects)}"
        )

    def _repr_html_(self) -> str:
        rows = [[name, number(value)] for name, value in self.headline.items()]
        rows.insert(0, ["score", "value"])
        return Table(f"{self.protocol.title}: {self.size()}", rows, "; ".join(self.warnings)).html()

    def to_dict(self) -> dict[str, Any]:
        """Return the members of a result's .json, as plain values."""
        members = {
            "protocol": self.protocol.name,
            "signature": self.signature,
            "parameters": asdict(self.parameters),
            "inputs": {"gt": asdict(self.gt), "det": asdict(self.det)},
            "totals": self.totals,
            "scores": self.scores,
            "images": self.images,
            "warnings": self.warnings,
        }
        return {name: plain(value) for name, value in members.items()}

    def to_pandas(self, table: str = "scores") -> DataFrame:
        """Return a table as a data frame.

        Parameters
        ----------
        table : {'scores', 'images', 'objects'}
            One row per score; per image; or per object of either side. The last two need
            `per_image`.

        Raises
        ------
        ConfigError
            When pandas is not installed (extra ``tables``), or there is no such table.
        """
        if table not in TABLES:
            raise unknown_table(table, list(TABLES))
        if table != "scores" and not self.images and self.gt.images:
            raise ConfigError(
                f"to_pandas({table!r}): no images in this result; evaluate again with"
                " per_image=True"
            )
        return TABLES[table](self)


def defined(scores: Scores, evidence: Totals) -> Scores:
    """Return scores with None for those that are undefined (`is_defined`)."""
    return {
        name: None if isinstance(value, float) and not is_defined(name, evidence) else value
        for name, value in scores.items()
    }


def is_defined(name: str, evidence: Totals) -> bool | NDArray[np.bool_]:
    """Return whether a score is defined: of one evidence, or of each image of a column.

    Where every object of the ground truth is don't care, recall is undefined; and all other scores,
    unless a detection counts, which is false.
    """
    if "gt_objects" not in evidence or "counted_gt_objects" not in evidence:
        return True
    known: bool | NDArray[np.bool_] = (evidence["counted_gt_objects"] > 0) | (
        evidence["gt_objects"] == 0
    )
    if "recall" not in name:
        for false in ("counted_detections", "false_positives"):
            known = known | (evidence.get(false, 0) > 0)
    return known


def _counts_of(gt: int, det: int) -> str:
    return f"{counted(gt, '{count} object[s]')}, {counted(det, '{count} detection[s]')}"


def _scores(evaluation: Evaluation) -> DataFrame:
    scores = {name: _number(evaluation.scores[name]) for name in scalars(evaluation.scores)}
    protocols = [evaluation.protocol.name] * len(scores)
    return frame({"protocol": protocols, "score": list(scores), "value": list(scores.values())})


def _images(evaluation: Evaluation) -> DataFrame:
    columns: dict[str, list[Any]] = {"image": [image.name for image in evaluation.images]}
    for name in scalars(evaluation.scores):
        columns[name] = [_number(image.scores.get(name)) for image in evaluation.images]
    columns["objects"] = [len(image.objects) for image in evaluation.images]
    columns["detections"] = [len(image.detections) for image in evaluation.images]
    return frame(columns)


def _objects(evaluation: Evaluation) -> DataFrame:
    known = [
        (image.name, side, one)
        for image in evaluation.images
        for side, objects in (("gt", image.objects), ("det", image.detections))
        for one in objects
    ]
    names = list(dict.fromkeys(name for _, _, one in known for name in one.values))
    rows = (
        (
            *(image, side, one.id, one.match, one.partners),
            *(_number(one.values.get(name)) for name in names),
            *(one.text, *(one.box or (math.nan,) * 4)),
        )
        for image, side, one in known
    )
    heads = ("image", "side", "id", "match", "partners", *names, "text", "x0", "y0", "x1", "y1")
    return frame_of_rows(heads, rows)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


TABLES: dict[str, Callable[[Evaluation], DataFrame]] = {
    "scores": _scores,
    "images": _images,
    "objects": _objects,
}
