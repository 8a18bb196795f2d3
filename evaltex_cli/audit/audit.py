"""An audit: a ground truth and what several detectors make of it, in; suspects, out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaltex_cli.audit import gathering, patches, readings, regions, unmatched, what_if
from evaltex_cli.audit.agreement import AGREE, Independent
from evaltex_cli.audit.evidence import Evidence
from evaltex_cli.audit.findings import Findings, Lists
from evaltex_cli.audit.scenes import Scene
from evaltex_cli.audit.suspect_columns import Found, Suspects, columns, explained
from evaltex_cli.audit.what_if import WhatIf
from evaltex_cli.display import Record, Table
from evaltex_cli.errors import counted
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.protocol_warnings import of_detectors
from evaltex_cli.records import Ints
from evaltex_cli.records.rows import packed
from evaltex_cli.runtime import OrderedMap

KINDS: tuple[Callable[[Evidence], Findings], ...] = (
    unmatched.missing,
    unmatched.unfound,
    regions.misplaced,
    regions.merged,
    regions.split,
    regions.duplicate,
    readings.text,
    readings.dont_care,
)
ALONE = "only one detector counts, as the others have almost its detections or none: none can agree"
SUSPICION = 0.5


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Record):
    """What an audit has found.

    Attributes
    ----------
    suspects : sequence of Suspect
        By falling suspicion.
    scene : Scene
        What was audited; the detectors are in the order of `detectors`.
    detectors : list of str
        Labels of all detectors, sorted.
    independent : list of str
        Labels of the detectors that count.
    readers : list of str
        Labels of the detectors with texts that count; they may have the outlines of others.
    copies : dict
        Label of a detector whose outlines do not count -> label of the one that has almost the
        same.
    what_if : dict
        Protocol -> detector -> scores and ranks with and without the suspects.
    suspicion : float
        From which suspects are left out there.
    warnings : list of str
    """

    suspects: Suspects
    scene: Scene
    detectors: list[str]
    independent: list[str]
    readers: list[str]
    copies: dict[str, str]
    what_if: dict[str, dict[str, WhatIf]]
    suspicion: float
    warnings: list[str]

    def shown(self) -> Table:
        """Return one line for each kind of suspects."""
        likely = self.suspects.suspicion >= self.suspicion
        rows = [["suspects", "all", f"from {self.suspicion:g}"]]
        for kind in patches.KINDS:
            of_kind = self.suspects.are(kind)
            rows.append([kind, str(of_kind.sum()), str((of_kind & likely).sum())])
        detectors = counted(len(self.independent), "{count} independent detector[s]")
        objects = counted(self.scene.gt.count, "{count} object[s]")
        return Table(f"Audit of {objects} by {detectors}", rows)


def audit(
    inputs: Mapping[str, Inputs],
    protocols: Mapping[str, Any],
    suspicion: float = SUSPICION,
    ordered_map: OrderedMap = map,
) -> Audit:
    """Audit a ground truth, and rank the detectors with and without the suspects.

    Parameters
    ----------
    inputs : mapping
        Label of each detector -> the ground truth and its detections.
    protocols : mapping
        Name -> parameters record of the protocols to rank by.
    suspicion : float
        From which suspects are left out.
    ordered_map : callable
        What does the work (`workers`).

    Raises
    ------
    InputError
        As `evaluate.evaluate_inputs`, and if no protocol serves all detectors.
    """
    inputs = dict(sorted(inputs.items()))
    scored, left_out = what_if.scored(inputs, protocols, ordered_map)
    found = audited(inputs, ordered_map)
    likely = found.suspects.of(np.flatnonzero(found.suspects.suspicion >= suspicion))
    compared = what_if.what_if(inputs, scored, likely, ordered_map)
    warned = of_detectors(
        (name, [(label, one.warnings) for label, one in of_one.items()])
        for name, of_one in scored.items()
    )
    warnings = [*left_out, *warned, *found.warnings]
    return replace(found, what_if=compared, suspicion=suspicion, warnings=warnings)


def audited(inputs: Mapping[str, Inputs], ordered_map: OrderedMap = map) -> Audit:
    """Audit a ground truth.

    Parameters
    ----------
    inputs : mapping
        Label of each detector -> the ground truth and its detections, without faults.
    ordered_map : callable
        What does the work (`workers`).

    Returns
    -------
    Audit
        Without `what_if`. It does not depend on the order of the detectors.
    """
    labels = sorted(inputs)
    # The evidence is no longer in memory when the suspects are sorted.
    suspects, counting = _suspects([inputs[label] for label in labels], labels, ordered_map)
    suspects, scene = explained(suspects), suspects.scene
    detectors, readers = (_labels(first, scene, labels) for first in counting)
    copies = {labels[k]: labels[of] for k, of in enumerate(counting.outlines.tolist()) if of != k}
    texts = packed(scene.det.texts)
    with_texts = {labels[k] for k in np.unique(scene.detector[texts.stop > texts.start]).tolist()}
    reading = [label for label in readers if label in with_texts]
    warnings = [ALONE] if len(detectors) < AGREE else []
    return Audit(suspects, scene, labels, detectors, reading, copies, {}, SUSPICION, warnings)


def _suspects(
    inputs: Sequence[Inputs], labels: Sequence[str], ordered_map: OrderedMap
) -> tuple[Suspects, Independent]:
    """Return all suspects as they are found, and which detectors count."""
    evidence, counting = gathering.read(inputs, ordered_map)
    detectors, readers = (_labels(first, evidence.scene, labels) for first in counting)
    found = []
    for kind in KINDS:
        findings = kind(evidence)
        centres = Lists(evidence.places.centre[findings.places.rows], findings.places.offsets)
        found.append(Found(findings, centres, readers if kind is readings.text else detectors))
    return columns(found, evidence.scene, labels), counting


def _labels(first: Ints, scene: Scene, labels: Sequence[str]) -> list[str]:
    """Return the labels of the detectors that count."""
    counting = np.unique(first)[gathering.with_detections(first, scene.detector)]
    return [labels[k] for k in counting.tolist()]
