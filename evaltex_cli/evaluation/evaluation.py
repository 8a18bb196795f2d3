"""The results of protocols on one data set, with its images and objects."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.display import (
    DataFrame,
    Record,
    Rows,
    Table,
    frame_of_rows,
    frames_below,
    number,
    plain,
    unknown_table,
)
from evaltex_cli.errors import ConfigError, counted
from evaltex_cli.evaluation.inputs import InputSummary
from evaltex_cli.protocols.base import EvidenceRows, Protocol, Scores
from evaltex_cli.protocols.score_names import same, scalars
from evaltex_cli.protocols.tally import Tally, Totals

AMOUNTS = ("nothing matches", "hardly anything matches", "little matches")
"""How the warnings of low scores begin."""
Result_co = TypeVar("Result_co", bound=Record, covariant=True)
SHOWN_SCORES = ("recall", "precision", "fscore", "hmean")


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

    def shown(self) -> Table:
        """Return one line: recall, precision and the numbers of objects and detections."""
        named = [name for name in SHOWN_SCORES if name in self.scores]
        scores = ", ".join(f"{name} {number(self.scores[name])}" for name in named)
        counts = _counts_of(len(self.objects), len(self.detections))
        return Table(f"ImageResult {self.name!r}: {scores} ({counts})")


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
        images = counted(self.gt.images, "{count} image[s]")
        return f"{images}, {_counts_of(self.gt.objects, self.det.objects)}"

    def _repr_html_(self) -> str:
        rows = [[name, number(value)] for name, value in self.headline.items()]
        rows.insert(0, ["score", "value"])
        return Table(f"{self.protocol.title}: {self.size()}", rows, "; ".join(self.warnings)).html()

    def to_dict(self) -> dict[str, Any]:
        """Return the members of a result's .json, as plain values."""
        shared = ("totals", "scores", "images", "warnings")
        return {
            "protocol": self.protocol.name,
            "signature": self.signature,
            "parameters": plain(self.parameters),
            "inputs": {"gt": plain(self.gt), "det": plain(self.det)},
            **{name: plain(getattr(self, name)) for name in shared},
        }

    def to_pandas(self, table: str = "scores") -> DataFrame:
        """Return a table as a data frame: a row per score of ``scores``, per image of ``images``,
        or per object of either side of ``objects``. The last two need `per_image`.

        Raises `ConfigError` when pandas is not installed (extra ``tables``), or there is no such
        table.
        """
        tables = {"scores": _scores, "images": _images, "objects": _objects}
        if table not in tables:
            raise unknown_table(table, list(tables))
        if table != "scores" and not self.images and self.gt.images:
            none = f"to_pandas({table!r}): no images in this result"
            raise ConfigError(f"{none}; evaluate again with per_image=True")
        return tables[table](self)


def defined(scores: Scores, evidence: Totals) -> Scores:
    """Return scores with None for those that are undefined."""
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
    known = (evidence["counted_gt_objects"] > 0) | (evidence["gt_objects"] == 0)
    for false in ("counted_detections", "false_positives") if "recall" not in name else ():
        known = known | (evidence.get(false, 0) > 0)
    return known  # type: ignore[no-any-return]


def _counts_of(gt: int, det: int) -> str:
    return f"{counted(gt, '{count} object[s]')}, {counted(det, '{count} detection[s]')}"


def _scores(evaluation: Evaluation) -> DataFrame:
    name, scores = evaluation.protocol.name, evaluation.scores
    rows = ((name, score, _number(scores[score])) for score in scalars(scores))
    return frame_of_rows(("protocol", "score", "value"), rows)


def _images(evaluation: Evaluation) -> DataFrame:
    names = scalars(evaluation.scores)
    rows = []
    for image in evaluation.images:
        scores = [_number(image.scores.get(name)) for name in names]
        rows.append((image.name, *scores, len(image.objects), len(image.detections)))
    return frame_of_rows(("image", *names, "objects", "detections"), rows)


def _objects(evaluation: Evaluation) -> DataFrame:
    known = []
    for image in evaluation.images:
        known += [(image.name, "gt", one) for one in image.objects]
        known += [(image.name, "det", one) for one in image.detections]
    names = list(dict.fromkeys(name for _, _, one in known for name in one.values))
    rows = []
    for of_image, side, one in known:
        values = [_number(one.values.get(name)) for name in names]
        match = one.id, one.match, one.partners
        rows.append((of_image, side, *match, *values, one.text, *(one.box or (math.nan,) * 4)))
    heads = ("image", "side", "id", "match", "partners", *names, "text", "x0", "y0", "x1", "y1")
    return frame_of_rows(heads, rows)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


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

    def shown(self) -> Table:
        """Return one row per protocol."""
        rows = [["protocol", "result"], *([name, one.summary()] for name, one in self.items())]
        return Table(f"{len(self)} protocols", rows, _left_out(self.left_out))

    def to_dict(self) -> dict[str, Any]:
        """Return protocol -> result, as plain values."""
        return {name: one.to_dict() for name, one in self.items()}

    def to_pandas(self, table: str = "") -> DataFrame:
        """Return a table of every result, one below the other, as a data frame."""
        frames = []
        for name, one in self.items():
            of_one = one.to_pandas(table) if table else one.to_pandas()  # type: ignore[attr-defined]
            if "protocol" not in of_one:
                of_one.insert(0, "protocol", name)
            frames.append(of_one)
        return frames_below(frames)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Evaluations(ByProtocol[Evaluation]):
    """The evaluations of several protocols on one data set, by their names."""

    @property
    def warnings(self) -> list[str]:
        """The warnings of all protocols, each once."""
        return of_protocols((name, one.warnings) for name, one in self.items())

    def shown(self) -> Table:
        """Return the headline scores, one row per protocol; every F-score is in one column."""
        shown = {
            name: {
                "f-score" if same(score) == same("f-score") else score: value
                for score, value in one.headline.items()
            }
            for name, one in self.items()
        }
        heads = list(dict.fromkeys(score for scores in shown.values() for score in scores))
        rows = [["protocol", *heads]]
        for name, scores in shown.items():
            rows.append([name, *(number(scores[head]) if head in scores else "" for head in heads)])
        title = next((one.size() for one in self.values()), "no protocol")
        return Table(title, rows, _left_out(self.left_out))


def _left_out(reasons: Mapping[str, str]) -> str:
    listed = ", ".join(f"{name} ({reason})" for name, reason in reasons.items())
    return f"left out: {listed}" if listed else ""


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
    shared: list[tuple[str, list[str]]] = []
    own: dict[str, list[tuple[str, list[str]]]] = {}
    for protocol, labelled in warned:
        of_all = set.intersection(*(set(texts) for _, texts in labelled))
        shared.append((protocol, [text for text in labelled[0][1] if text in of_all]))
        for label, texts in labelled:
            rest = [text for text in texts if text not in of_all]
            own.setdefault(label, []).append((protocol, rest))
    merged = of_protocols(shared)
    for label, rests in own.items():
        for text in of_protocols(rests):
            is_named = text.partition(": ")[0].rpartition("/")[2] == label
            merged.append(text if is_named else f"{label}: {text}")
    return merged
