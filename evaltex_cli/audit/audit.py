"""An audit: a ground truth and what several detectors make of it, in; suspects, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from evaltex_cli.audit import agreement, readings, regions, scenes, unmatched, what_if
from evaltex_cli.audit.evidence import Evidence
from evaltex_cli.audit.findings import AGREE, Findings
from evaltex_cli.audit.scenes import Scene
from evaltex_cli.audit.suspects import AuditedObject, Box, Kind, Suspect
from evaltex_cli.audit.what_if import WhatIf
from evaltex_cli.conversion import patches, patching
from evaltex_cli.display import Record, Table
from evaltex_cli.errors import counted
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.protocol_warnings import of_detectors
from evaltex_cli.formats.base import DONT_CARE
from evaltex_cli.records import Bools, Ints
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
DECIMALS = 6
"""Of suspicions: what rounding may change does not change their order."""


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
        kinds = Counter(one.kind for one in self.suspects)
        likely = Counter(one.kind for one in self.suspects if one.suspicion >= self.suspicion)
        rows = [["suspects", "all", f"from {self.suspicion:g}"]]
        rows += [[kind, str(kinds[kind]), str(likely[kind])] for kind in patches.KINDS]
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
    likely = [one for one in found.suspects if one.suspicion >= suspicion]
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
    scene = scenes.read([inputs[label] for label in labels], ordered_map)
    counting = agreement.independent(scene, len(labels))
    with_detections = np.bincount(scene.detector, minlength=len(labels)) > 0
    group, detectors = _numbered(counting.outlines, labels, with_detections)
    reader, readers = _numbered(counting.texts, labels, with_detections)
    places = agreement.places(scene, group, reader)
    evidence = Evidence(scene, places, group[scene.detector], len(detectors))
    suspects = _explained(
        [
            suspect
            for kind in KINDS
            for suspect in _suspects(
                kind(evidence), evidence, readers if kind is readings.text else detectors
            )
        ]
    )
    suspects.sort(key=lambda one: (-one.suspicion, one.image, one.box, one.kind, one.objects))
    copies = {labels[k]: labels[of] for k, of in enumerate(counting.outlines.tolist()) if of != k}
    texts = packed(scene.det.texts)
    with_texts = {labels[k] for k in np.unique(scene.detector[texts.stop > texts.start]).tolist()}
    reading = [label for label in readers if label in with_texts]
    warnings = [ALONE] if len(detectors) < AGREE else []
    return Audit(suspects, scene, labels, detectors, reading, copies, {}, SUSPICION, warnings)


def _numbered(first: Ints, labels: Sequence[str], some: Bools) -> tuple[Ints, list[str]]:
    """Return the number of each detector among those that count, and the labels of these: of
    detectors with some detections, which are all if none has any.
    """
    counting = np.unique(first[some] if some.any() else first)
    number = np.searchsorted(counting, first).clip(max=len(counting) - 1)
    return number, [labels[k] for k in counting.tolist()]


Highest: TypeAlias = "dict[tuple[str, int], float]"
"""Image and ID of an object -> the highest suspicion of some kinds."""


def _explained(suspects: Sequence[Suspect]) -> list[Suspect]:
    """Say once what is wrong with an object.

    What is merged, split or there twice is misplaced, too: the suspicion of both is the higher one.
    As for the parts, the annotator counts as one of those who say. Parts have other texts: so much
    less suspicious is the object's own.
    """
    off = {
        key: one.suspicion * len(one.detectors) / (len(one.detectors) + 1)
        for one in suspects
        if one.kind == "misplaced"
        for key in _keys(one)
    }
    regions = [
        replace(one, suspicion=max(one.suspicion, *(off.get(key, 0) for key in _keys(one))))
        if one.kind in ("merged", "split")
        else one
        for one in suspects
    ]
    known = _highest(regions, ("merged", "split", "duplicate"))
    explained = [
        replace(one, suspicion=one.suspicion * (1 - max(known.get(key, 0) for key in _keys(one))))
        if one.kind == "text"
        else one
        for one in regions
        if one.kind != "misplaced" or not any(key in known for key in _keys(one))
    ]
    rounded = [replace(one, suspicion=round(one.suspicion, DECIMALS)) for one in explained]
    return [one for one in rounded if one.suspicion > 0]


def _keys(suspect: Suspect) -> list[tuple[str, int]]:
    return [(suspect.image, number) for number in suspect.objects]


def _highest(suspects: Sequence[Suspect], kinds: Sequence[Kind]) -> Highest:
    found: Highest = {}
    for one in suspects:
        for key in _keys(one) if one.kind in kinds else ():
            found[key] = max(found.get(key, 0), one.suspicion)
    return found


def _suspects(findings: Findings, evidence: Evidence, labels: Sequence[str]) -> list[Suspect]:
    """Return the records of a kind's suspects."""
    scene = evidence.scene
    image = {True: scene.det.image, False: scene.gt.image}
    found = []
    for k, value in enumerate(findings.suspicion.round(DECIMALS).tolist()):
        objects = findings.objects[k]
        centres = evidence.places.centre[findings.places[k]]
        current = tuple(patching.audited(scene.gt, row) for row in objects.tolist())
        rows = (scene.gt, objects), (scene.det, centres)
        boxes = np.concatenate([side.boxes[which] for side, which in rows])
        where = image[not len(objects)][objects[0] if len(objects) else centres[0]]
        found.append(
            Suspect(
                findings.kind,
                scene.names[where],
                tuple(scene.gt.ids[objects].tolist()),
                value,
                _around(boxes),
                tuple(label for label, has in zip(labels, findings.agree[k], strict=True) if has),
                current,
                _proposed(findings, k, current, scene, centres.tolist()),
            )
        )
    return found


def _around(boxes: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> Box:
    x0, y0 = boxes[:, :2].min(axis=0).tolist()
    x1, y1 = boxes[:, 2:].max(axis=0).tolist()
    return x0, y0, x1, y1


def _proposed(
    findings: Findings,
    k: int,
    current: Sequence[AuditedObject],
    scene: Scene,
    centres: Sequence[int],
) -> tuple[AuditedObject, ...]:
    """Return what should be in the place of a suspect's objects."""
    read = -1 if findings.read is None else int(findings.read[k])
    if findings.kind == "unfound":
        return (replace(current[0], dont_care=True),)
    if findings.kind == "duplicate":
        return (current[0],)
    if findings.kind == "text":
        return (replace(current[0], text=scene.det.texts[read]),)
    if findings.kind == "dont-care":
        text = scene.det.texts[read] if read >= 0 else ""
        return (_other_way(current[0], text),)
    detected = _in_order(
        [replace(patching.audited(scene.det, row), dont_care=False) for row in centres]
    )
    words = " ".join(one.text for one in _in_order(current)).split()
    if findings.kind in ("misplaced", "split"):
        return (replace(detected[0], text=" ".join(words)),)
    if len(words) == len(detected):
        return tuple(replace(one, text=word) for one, word in zip(detected, words, strict=True))
    return tuple(detected)


def _other_way(one: AuditedObject, text: str) -> AuditedObject:
    """Return an object that counts as don't care, and one that is don't care as one that counts,
    with the text that was read instead of the mark of what does not count.
    """
    marked = one.dont_care and one.text in ("", DONT_CARE)
    return replace(one, dont_care=not one.dont_care, text=text if marked else one.text)


def _in_order(objects: Sequence[AuditedObject]) -> list[AuditedObject]:
    """Return parts of a text as it is read: from left to right, or down if it is higher than
    wide.
    """
    centres = np.array([np.mean(one.vertices, axis=0) for one in objects]).reshape(-1, 2)
    extent = np.ptp(centres, axis=0) if len(centres) else np.zeros(2)
    axis = int(extent[1] > extent[0])
    return [objects[k] for k in np.argsort(centres[:, axis], kind="stable").tolist()]
