"""The results of protocols on one data set, with its images and objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ConfigError, counted
from evaltex_cli.evaluation.extras import Bootstrap, Intervals, SliceScores, Verdict
from evaltex_cli.evaluation.inputs import InputSummary, options_of
from evaltex_cli.protocols import score_names
from evaltex_cli.protocols.base import EvidenceRows, Protocol, Scores
from evaltex_cli.protocols.tally import Tally, Totals
from evaltex_cli.tables import BESIDE, Cell, Column, Table
from evaltex_cli.tables.record import Record, Rows, Several, plain

AMOUNTS = ("nothing matches", "hardly anything matches", "little matches")
"""How the warnings of low scores begin."""
Result_co = TypeVar("Result_co", bound=Record, covariant=True)
BOX = ("x0", "y0", "x1", "y1")
EXTRAS = ("intervals", "bootstrap", "slices", "gates", "merged_from")
"""Members that only some results have."""
SHOWN_SCORES = ("recall", "precision", "fscore", "hmean")
ScoredRow: TypeAlias = tuple[Sequence[Cell], Mapping[str, float | None], Intervals | None]
"""A row's first cells, its scores, and their intervals."""


@dataclass(frozen=True, slots=True, repr=False)
class ObjectResult(Record):
    """What one object or detection was matched with."""

    id: int
    match: str
    """One of `matching.MATCH_TYPES`."""
    partners: list[int]
    """IDs of what it was matched with, on the other side."""
    values: Mapping[str, float | None]
    """The protocol's own values; None where undefined."""
    box: tuple[float, ...] | None = None
    """x0, y0, x1, y1 in pixels; None, as `text`, in results read from a file."""
    text: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ImageResult(Record):
    """Results of one image; `totals` is the evidence in the form of JSON."""

    name: str
    totals: Totals
    scores: Scores
    objects: list[ObjectResult]
    detections: list[ObjectResult]

    def tables(self) -> list[Table]:
        """Return one line: recall, precision and the numbers of objects and detections."""
        named = {name: self.scores[name] for name in SHOWN_SCORES if name in self.scores}
        counts = _counts_of(len(self.objects), len(self.detections))
        return [Table(f"ImageResult {self.name!r}: {_listed(named)} ({counts})")]


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Record):
    """The result of one protocol on one data set."""

    protocol: Protocol
    parameters: Any
    signature: str
    """One line that names what the scores depend on."""
    gt: InputSummary
    det: InputSummary
    tally: Tally
    """Summed evidence; those of runs over disjoint images add up."""
    scores: Scores
    """Name -> number, list for a histogram, None where undefined."""
    images: Sequence[ImageResult] = field(default_factory=Rows)
    """Empty unless asked for (`per_image`)."""
    warnings: list[str] = field(default_factory=list)
    rows: EvidenceRows | None = None
    """The evidence of each image; None if it was merged from results without images."""
    intervals: Intervals | None = None
    """The scores' confidence intervals; None, as the next, unless asked for."""
    bootstrap: Bootstrap | None = None
    slices: Sequence[SliceScores] | None = None
    """Scores of parts of the data set."""
    gates: Sequence[Verdict] | None = None
    merged_from: Sequence[str] | None = None
    """SHA-256 of the ground truth of every evaluation in a merged result."""

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
        names = (*self.protocol.headline, *self.protocol.also_shown)
        return {name: self.scores[name] for name in names if name in self.scores}

    def summary(self) -> str:
        """Return one line: the headline scores, and what they are of."""
        warnings = counted(len(self.warnings), ", {count} warning[s]") if self.warnings else ""
        return f"{self.protocol.name}: {_listed(self.headline)} ({self.size()}{warnings})"

    def __repr__(self) -> str:
        return self.summary()

    def tables(self) -> list[Table]:
        """Return the headline scores."""
        columns = [Column("score"), Column("value", "score")]
        rows = list(map(list, self.headline.items()))
        return [Table(f"{self.protocol.title}: {self.size()}", columns, rows, self.warnings)]

    def size(self) -> str:
        """Return the numbers of images, objects and detections in words."""
        images = counted(self.gt.images, "{count} image[s]")
        return f"{images}, {_counts_of(self.gt.objects, self.det.objects)}"

    def members(self) -> dict[str, Any]:
        """Return the members of a result's .json but for its images, as plain values."""
        extras = {name: plain(getattr(self, name)) for name in EXTRAS}
        extras["preset"] = options_of(self.signature).preset
        return {
            "protocol": self.protocol.name,
            "signature": self.signature,
            "parameters": plain(self.parameters),
            "inputs": {"gt": plain(self.gt), "det": plain(self.det)},
            "totals": plain(self.totals),
            "scores": plain(self.scores),
            **{name: value for name, value in extras.items() if value is not None},
            "warnings": list(self.warnings),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the members of a result's .json, as plain values."""
        return {**self.members(), "images": plain(self.images)}

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return a row per score of ``scores``, per image of ``images``, or per object of either
        side of ``objects``. The last two need `per_image`.
        """
        return {"scores": self._scores, "images": self._images, "objects": self._objects}

    def _scores(self) -> Table:
        rows = [
            [self.protocol.name, name, self.scores[name]]
            for name in score_names.scalars(self.scores)
        ]
        return Table("", [Column("protocol"), Column("score"), Column("value")], rows)

    def _images(self) -> Table:
        names = score_names.scalars(self.scores)
        rows: list[list[Cell]] = []
        for image in self._with_images("images"):
            scores = [image.scores.get(name) for name in names]
            counts = len(image.objects), len(image.detections)
            rows.append([self.protocol.name, image.name, *scores, *counts])
        heads = ("protocol", "image", *names, "objects", "detections")
        return Table("", [Column(head) for head in heads], rows)

    def _objects(self) -> Table:
        return object_table([replace(self, images=self._with_images("objects"))])

    def _with_images(self, table: str) -> Sequence[ImageResult]:
        if not self.images and self.gt.images:
            none = f"to_pandas({table!r}): no images in this result"
            raise ConfigError(f"{none}; evaluate again with per_image=True")
        return self.images


def object_table(evaluations: Iterable[Evaluation]) -> Table:
    """Return a row per object of either side and each protocol."""
    known = [
        (evaluation.protocol.name, image.name, side, one)
        for evaluation in evaluations
        for image in evaluation.images
        for side, objects in (("gt", image.objects), ("det", image.detections))
        for one in objects
    ]
    names = list(dict.fromkeys(name for *_, one in known for name in one.values))
    heads = ("protocol", "image", "side", "id", "match", "partners", *names, "text", *BOX)
    rows: list[list[Any]] = []
    for *place, one in known:
        match = one.id, one.match, one.partners, *map(one.values.get, names)
        rows.append([*place, *match, one.text, *(one.box or (None,) * len(BOX))])
    return Table("", [Column(head) for head in heads], rows)


def defined(scores: Scores, evidence: Totals) -> Scores:
    """Return scores with None for those that are undefined."""
    return {
        name: None if isinstance(value, float) and not is_defined(name, evidence) else value
        for name, value in scores.items()
    }


def is_defined(name: str, evidence: Totals) -> bool | NDArray[np.bool_]:
    """Return whether a score is defined: of one evidence, or of each image of a column. Where every
    object is don't care, recall is not; nor is any other score, unless a false detection counts.
    """
    if "gt_objects" not in evidence or "counted_gt_objects" not in evidence:
        return True
    known = (evidence["counted_gt_objects"] > 0) | (evidence["gt_objects"] == 0)
    for false in ("counted_detections", "false_positives") if "recall" not in name else ():
        known = known | (evidence.get(false, 0) > 0)
    return known  # type: ignore[no-any-return]


def _counts_of(gt: int, det: int) -> str:
    return f"{counted(gt, '{count} object[s]')}, {counted(det, '{count} detection[s]')}"


def _listed(scores: Mapping[str, Any]) -> str:
    column = Column("", "score")
    return ", ".join(f"{name} {column.shown(value)}" for name, value in scores.items())


# Several protocols --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ByProtocol(Record, Mapping[str, Result_co]):
    """Results by the names of their protocols, in the order of the registry."""

    results: Mapping[str, Result_co]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Protocols of ``"all"`` that the input does not allow -> the reason."""

    def __getitem__(self, protocol: str) -> Result_co:
        return self.results[protocol]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def tables(self) -> Sequence[Table]:
        """Return one row per protocol."""
        columns = [Column("protocol"), Column("result")]
        rows = [[name, one.summary()] for name, one in self.items()]
        return [Table(f"{len(self)} protocols", columns, rows, _left_out(self.left_out))]

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return the tables of every result, one below the other."""
        return Several(list(self.results.values())).data()

    def to_dict(self) -> dict[str, Any]:
        """Return protocol -> result, as plain values."""
        return {name: one.to_dict() for name, one in self.items()}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Evaluations(ByProtocol[Evaluation]):
    """The evaluations of several protocols on one data set, by their names."""

    @property
    def warnings(self) -> list[str]:
        """The warnings of all protocols, each once."""
        return of_protocols((name, one.warnings) for name, one in self.items())

    def tables(self) -> list[Table]:
        """Return the headline scores, one row per protocol; every F-score is in one column."""
        return [headline_table(list(self.values()), notes=_left_out(self.left_out))]


def headline_table(
    evaluations: Sequence[Evaluation], title: str = "", notes: Sequence[str] = ()
) -> Table:
    """Return the headline scores, one row per protocol, with their intervals if there are any;
    every F-score is in the column ``hmean``.
    """
    rows: list[ScoredRow] = []
    for one in evaluations:
        scores = {name: one.meaningful_scores[name] for name in one.headline}
        rows.append(([one.protocol.name], scores, one.intervals))
    title = title or next((one.size() for one in evaluations), "")
    return scores_table(title, [Column("protocol")], rows, notes)


def scores_table(
    title: str, leads: Sequence[Column], rows: Sequence[ScoredRow], notes: Sequence[str] = ()
) -> Table:
    """Return the scores of each row after its first cells, each with its interval if there are any;
    every F-score is in the column ``hmean``.
    """
    heads = list(dict.fromkeys(score_names.shown(name) for _, own, _ in rows for name in own))
    width = 2 if any(intervals for *_, intervals in rows) else 1  # with an interval, or alone
    columns, table = [*leads], []
    for head in heads:
        columns += [Column(head, "score"), BESIDE][:width]
    for lead, scores, intervals in rows:
        known = intervals or {}
        cells = {score_names.shown(name): (one, known.get(name)) for name, one in scores.items()}
        of_scores = chain.from_iterable(cells.get(head, ("", ""))[:width] for head in heads)
        table.append([*lead, *of_scores])
    return Table(title, columns, table, notes)


def _left_out(reasons: Mapping[str, str]) -> list[str]:
    listed = ", ".join(f"{name} ({reason})" for name, reason in reasons.items())
    return [f"Left out: {listed}"] if listed else []


def by_protocol(result: Evaluation | Evaluations) -> Mapping[str, Evaluation]:
    """Return a result, of one protocol or of several, by the names of the protocols."""
    return {result.protocol.name: result} if isinstance(result, Evaluation) else result


def of_protocols(warned: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Return the warnings of protocols in their order, each once: with the names of all protocols
    where it begins with one and a colon, or ends with a command; and each reason for few matches.
    """
    known: dict[str, tuple[str, dict[str, None]]] = {}
    for protocol, given in warned:
        for text in given:
            general = re.sub(f"^{protocol}(?=: )|(?<=--protocol ){protocol}(?=`$)", "\0", text)
            key = re.sub(f"(?:{'|'.join(AMOUNTS)}); ", "", general, count=1)
            known.setdefault(key, (general, {}))[1][protocol] = None
    return [
        text.replace("\0: ", f"{', '.join(names)}: ").replace("\0", ",".join(names))
        for text, names in known.values()
    ]


def of_detectors(warned: Iterable[tuple[str, Sequence[tuple[str, Sequence[str]]]]]) -> list[str]:
    """Return what all detectors have in common once, then the rest with the detector's label;
    `warned` are protocols with the label and the warnings of each detector.
    """
    groups: dict[str, list[tuple[str, list[str]]]] = {"": []}  # by label; first what all have
    for protocol, labelled in warned:
        common = set.intersection(*(set(texts) for _, texts in labelled))
        groups[""].append((protocol, [text for text in labelled[0][1] if text in common]))
        for label, texts in labelled:
            rest = [text for text in texts if text not in common]
            groups.setdefault(label, []).append((protocol, rest))
    merged = []
    for label, given in groups.items():
        for text in of_protocols(given):
            is_named = not label or text.partition(": ")[0].rpartition("/")[2] == label
            merged.append(text if is_named else f"{label}: {text}")
    return merged
