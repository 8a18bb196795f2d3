"""An audit: a ground truth and what several detectors make of it, in; suspects, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaltex_cli.audit import kinds, patches, places, what_if
from evaltex_cli.audit.places import AGREE, Scene
from evaltex_cli.audit.suspects import Suspect, suspects_of
from evaltex_cli.audit.what_if import WhatIf
from evaltex_cli.comparison.detectors import warnings_of
from evaltex_cli.errors import counted
from evaltex_cli.evaluation.evaluation import BOX
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.protocols import score_names
from evaltex_cli.protocols.base import load
from evaltex_cli.runtime import OrderedMap
from evaltex_cli.tables import Cell, Column, Table
from evaltex_cli.tables.record import Record

ALONE = (
    "only one detector counts, so none can agree: the others have almost the same detections, or"
    " none"
)
SCHEMA = 2
"""The version of the JSON."""
SUSPICION = 0.5
LISTED = 20
"""Suspects that the table for reading lists."""


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Record):
    """What an audit has found."""

    detectors: list[str]
    """Labels of all detectors, sorted."""
    independent: list[str]
    """Labels of the detectors that count."""
    readers: list[str]
    """Labels of the detectors with texts that count; they may have the outlines of others."""
    copies: dict[str, str]
    """Label of a detector whose outlines do not count -> label of the one with almost the same."""
    suspicion: float
    """Suspects of this suspicion or more are left out of `what_if`."""
    suspects: list[Suspect]
    """By falling suspicion."""
    what_if: dict[str, dict[str, WhatIf]]
    """Protocol -> detector -> scores and ranks with and without the suspects."""
    warnings: list[str]
    scene: Scene = field(repr=False)
    """What was audited; the detectors are in the order of `detectors`."""

    def tables(self) -> list[Table]:
        """Return how many suspects there are of each kind, the most suspicious, and the rankings
        with and without the likely ones.
        """
        rankings = [self._ranking(protocol) for protocol in self.what_if]
        return [self._kinds(), *([self._suspects()] if self.suspects else []), *rankings]

    def _likely(self) -> list[Suspect]:
        return [one for one in self.suspects if one.suspicion >= self.suspicion]

    def _kinds(self) -> Table:
        every = Counter(one.kind for one in self.suspects)
        likely = Counter(one.kind for one in self._likely())
        rows: list[list[Cell]] = [[kind, every[kind], likely[kind]] for kind in patches.KINDS]
        rows.append(["all", len(self.suspects), len(self._likely())])
        objects = counted(self.scene.gt.count, "{count} object[s]")
        images = counted(len(self.scene.names), "{count} image[s]")
        detectors = counted(len(self.independent), "{count} independent detector[s]")
        notes = []
        for label, original in self.copies.items():
            same = "outlines" if label in self.readers else "detections"
            notes.append(f"{label} and {original} have almost the same {same} and count as one.")
        columns = [
            Column("suspects"),
            Column("all", "number"),
            Column(f"suspicion {self.suspicion:g} or more", "number"),
        ]
        return Table(f"Audit of {objects} in {images} by {detectors}", columns, rows, notes)

    def _suspects(self) -> Table:
        columns = [Column("suspicion", "number"), Column("kind"), Column("image")]
        columns += [Column("objects"), Column("box"), Column("detectors", "number")]
        rows: list[list[Cell]] = []
        for one in self.suspects[:LISTED]:
            objects = " ".join(map(str, one.objects)) or None
            box = " ".join(f"{value:.0f}" for value in one.box)
            agreeing = len(one.detectors)
            rows.append([one.suspicion, one.kind, one.image, objects, box, agreeing])
        more = len(self.suspects) - LISTED
        notes = [f"... and {more} more; --format json has all."] if more > 0 else []
        return Table("The most suspicious", columns, rows, notes)

    def _ranking(self, protocol: str) -> Table:
        score = load(protocol).main_score
        columns = [
            *(Column("detector"), Column(score_names.shown(score), "score")),
            *(Column("without", "score"), Column("rank", "number"), Column("without", "number")),
        ]
        rows: list[list[Cell]] = [
            [label, one.scores[score], one.scores_without[score], one.rank, one.rank_without]
            for label, one in self.what_if[protocol].items()
        ]
        best = {(k, column) for k, row in enumerate(rows) for column in (3, 4) if row[column] == 1}
        left_out = counted(len(self._likely()), "{count} suspect[s]")
        title = f"{protocol}: with all objects, and without {left_out} (as if don't care)"
        return Table(title, columns, rows, best=best)

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return ``suspects``, one row each; IDs, labels and texts are separated by blanks. And
        ``what_if``, one row for each protocol, detector and score.
        """
        return {"suspects": self._data_of_suspects, "what_if": self._data_of_what_if}

    def _data_of_suspects(self) -> Table:
        heads = ("kind", "image", "objects", "suspicion", *BOX, "detectors", "text")
        rows: list[list[Cell]] = []
        for one in self.suspects:
            objects, labels = " ".join(map(str, one.objects)), " ".join(one.detectors)
            texts = " ".join(each.text for each in one.proposed)
            rows.append([one.kind, one.image, objects, one.suspicion, *one.box, labels, texts])
        return Table("", [Column(head) for head in heads], rows)

    def _data_of_what_if(self) -> Table:
        heads = ("protocol", "detector", "score", "value", "without", "rank", "rank_without")
        rows: list[list[Cell]] = [
            [protocol, label, name, value, one.scores_without[name], one.rank, one.rank_without]
            for protocol, by_label in self.what_if.items()
            for label, one in by_label.items()
            for name, value in one.scores.items()
        ]
        return Table("", [Column(head) for head in heads], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the command's JSON."""
        counts = {
            "images": len(self.scene.names),
            "objects": self.scene.gt.count,
            "independent_detectors": len(self.independent),
        }
        return counts | Record.to_dict(self)


def audit(
    inputs: Mapping[str, Inputs],
    protocols: Mapping[str, Any],
    suspicion: float = SUSPICION,
    ordered_map: OrderedMap = map,
) -> Audit:
    """Audit a ground truth, and rank the detectors with suspects and without those of this
    suspicion or more.

    `inputs` has the ground truth and the detections of each detector, by its label; their order
    does not matter. `protocols` are those to rank by, name -> parameters record; without any, the
    inputs must have no faults. Raises `InputError` as `what_if.score`.
    """
    labels = sorted(inputs)
    inputs = {label: inputs[label] for label in labels}
    scored, left_out = what_if.score(inputs, protocols, ordered_map)
    evidence = places.read([*inputs.values()])
    suspects = suspects_of(kinds.find(evidence), evidence, labels)
    likely = [one for one in suspects if one.suspicion >= suspicion]
    scene = evidence.scene
    with_texts = {*scene.detector[scene.det.texts.are_written].tolist()}
    warnings = [f"left out: {name} ({reason})" for name, reason in left_out.items()]
    warnings += [*warnings_of(scored), *([ALONE] if len(evidence.detectors) < AGREE else [])]
    return Audit(
        labels,
        [labels[k] for k in evidence.detectors],
        [labels[k] for k in evidence.readers if k in with_texts],
        {labels[k]: labels[original] for k, original in evidence.copies.items()},
        suspicion,
        suspects,
        what_if.what_if(inputs, scored, scene, likely, ordered_map),
        warnings,
        scene,
    )
