"""An audit: a ground truth and what several detectors make of it, in; suspects, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from evaltex_cli.audit import patches, readings, regions, what_if
from evaltex_cli.audit.agreement import AGREE, counting
from evaltex_cli.audit.evidence import Evidence, read
from evaltex_cli.audit.findings import Findings
from evaltex_cli.audit.scenes import Scene
from evaltex_cli.audit.suspects import Suspect, suspects_of
from evaltex_cli.audit.what_if import WhatIf
from evaltex_cli.display import Record, Table
from evaltex_cli.errors import counted
from evaltex_cli.evaluation.evaluation import of_detectors
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.runtime import OrderedMap

KINDS: tuple[Callable[[Evidence], Findings], ...] = (
    regions.missing,
    regions.unfound,
    regions.misplaced,
    regions.merged,
    regions.split,
    regions.duplicate,
    readings.text,
    readings.dont_care,
    readings.unreadable,
)
ALONE = "only one detector counts, as the others have almost its detections or none: none can agree"
SUSPICION = 0.5


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Record):
    """What an audit has found.

    Attributes
    ----------
    suspects : list of Suspect
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

    suspects: list[Suspect]
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
        every = Counter(one.kind for one in self.suspects)
        likely = Counter(one.kind for one in self.suspects if one.suspicion >= self.suspicion)
        rows = [["suspects", "all", f"from {self.suspicion:g}"]]
        rows += [[kind, str(every[kind]), str(likely[kind])] for kind in patches.KINDS]
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
    found = audited(inputs)
    likely = [one for one in found.suspects if one.suspicion >= suspicion]
    compared = what_if.what_if(inputs, scored, found.scene, likely, ordered_map)
    warned = of_detectors(
        (name, [(label, one.warnings) for label, one in of_one.items()])
        for name, of_one in scored.items()
    )
    warnings = [*left_out, *warned, *found.warnings]
    return replace(found, what_if=compared, suspicion=suspicion, warnings=warnings)


def audited(inputs: Mapping[str, Inputs]) -> Audit:
    """Audit a ground truth.

    Parameters
    ----------
    inputs : mapping
        Label of each detector -> the ground truth and its detections, without faults.

    Returns
    -------
    Audit
        Without `what_if`. It does not depend on the order of the detectors.
    """
    labels = sorted(inputs)
    evidence, independent = read([inputs[label] for label in labels])
    scene = evidence.scene
    counted_in = [counting(first, scene.detector) for first in independent]
    suspects = suspects_of([kind(evidence) for kind in KINDS], evidence, labels, counted_in)
    detectors, readers = ([labels[k] for k in some.tolist()] for some in counted_in)
    firsts = enumerate(independent.outlines.tolist())
    copies = {labels[k]: labels[first] for k, first in firsts if first != k}
    with_texts = {labels[k] for k in scene.detector[scene.det.texts.are_written].tolist()}
    reading = [label for label in readers if label in with_texts]
    warnings = [ALONE] if len(detectors) < AGREE else []
    return Audit(suspects, scene, labels, detectors, reading, copies, {}, SUSPICION, warnings)
