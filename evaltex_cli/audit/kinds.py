"""The kinds of suspects: for each a function from the evidence to what it finds."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np

from evaltex_cli.audit import suspicion
from evaltex_cli.audit.patches import Kind
from evaltex_cli.audit.places import AGREE, SAME, Evidence, Overlap, Place, rounded
from evaltex_cli.audit.suspicion import TOUCHED, trust
from evaltex_cli.geometry import boxes
from evaltex_cli.protocols.scores import quotient
from evaltex_cli.protocols.texts import edit_distance, normalised

INSIDE = 0.6
"""Least share of an outline in another one that contains it."""
NESTED = 0.5
"""Least share that two parts have in common, of the smaller one, if they are one part."""
USUAL = 0.25
"""Three of four objects fit their detections better than what is usual."""
CERTAIN = 0.5
"""An object whose IoU with the detections is this share of what is usual is certainly misplaced."""
DECIMALS = 6
"""Of suspicions: what rounding may change does not change their order."""

_Claim: TypeAlias = tuple[list[int], list[Place], set[int], set[int]]
"""Objects, places, and the detectors that say that these belong together, and that deny it."""


@dataclass(slots=True, eq=False)
class Finding:
    """A place where the ground truth may be wrong."""

    kind: Kind
    suspicion: float
    rows: list[int]
    """The objects that it is about."""
    places: list[Place]
    """Those that say so."""
    agree: Collection[int] = field(default_factory=list)
    """The independent detectors, or readers if `kind` is ``text``, that agree."""
    read: int | None = None
    """A detection with the text that is proposed."""


def find(evidence: Evidence) -> list[Finding]:
    """Return all findings with any suspicion, each saying once what is wrong with an object.

    What is merged, split or there twice is misplaced, too: the suspicion of both is the higher one.
    As for the parts, the annotator counts as one of those who say. Parts have other texts: so much
    less suspicious is the object's own.
    """
    suspicion.weigh(evidence)
    findings = [one for kind in KINDS for one in kind(evidence)]
    misplaced: dict[int, float] = {}
    for one in findings:
        one.suspicion = round(one.suspicion, DECIMALS)
        if one.kind == "misplaced":
            detectors = len(one.agree)
            misplaced[one.rows[0]] = one.suspicion * detectors / (detectors + 1)
    known: dict[int, float] = {}
    for one in findings:
        if one.kind in ("merged", "split") and one.suspicion > 0:
            one.suspicion = max(one.suspicion, *(misplaced.get(row, 0.0) for row in one.rows))
        if one.kind in ("merged", "split", "duplicate") and one.suspicion > 0:
            known |= {row: max(known.get(row, 0.0), one.suspicion) for row in one.rows}
    for one in findings:
        if one.kind == "text":
            one.suspicion *= 1 - known.get(one.rows[0], 0.0)
        if one.kind == "misplaced" and one.rows[0] in known:
            one.suspicion = 0.0
        one.suspicion = round(one.suspicion, DECIMALS)
    return [one for one in findings if one.suspicion > 0]


# Outlines -----------------------------------------------------------------------------------------


def missing(evidence: Evidence) -> Iterator[Finding]:
    """Find places on which detectors agree, without any object."""
    for place in evidence.places.values():
        if place.covered < TOUCHED and len(place.at) >= AGREE:
            yield Finding("missing", place.trust, [], [place], place.at)


def unfound(evidence: Evidence) -> Iterator[Finding]:
    """Find objects that no detector has, while the detectors find objects like them."""
    counted = [row for row, hidden in enumerate(evidence.hidden) if not hidden]
    near = [len(detectors) for detectors in evidence.near]
    hard = [row for row in counted if near[row] in (1, 2)]
    usual = suspicion.smoothed(len(hard), len(counted))
    sizes, parts = _sizes(evidence), _parts_of_pages(evidence)
    like_size = _shares_by_cell(sizes, hard, counted, usual)
    like_part = _shares_by_cell(parts, hard, counted, usual)
    wrong, missed = suspicion.unfound_rates([near[row] for row in counted])
    for row in counted:
        # Without any detection, nothing is known of objects like it.
        if near[row] == 0 and evidence.scene.det.count:
            real = max(like_size[sizes[row]], like_part[parts[row]]) * missed
            yield Finding("unfound", wrong / (wrong + (1 - wrong) * real), [row], [])


def misplaced(evidence: Evidence) -> Iterator[Finding]:
    """Find objects with which detectors agree less than with each other."""
    best = _best(evidence, hidden=False)
    fits = []
    for row, place, *_ in best:
        iou = sum(evidence.ious[row][detector] for detector in place.at) / len(place.at)
        fits.append(iou / max(place.iou, 1e-9))
    good = [fit for fit, overlap in zip(fits, best, strict=True) if overlap.iou >= SAME]
    usual = min(float(np.quantile(good, USUAL)), 1.0) if good else 1.0
    for fit, (row, place, *_) in zip(fits, best, strict=True):
        distance = min(max((1 - fit / usual) / (1 - CERTAIN), 0.0), 1.0)
        yield Finding("misplaced", distance * place.trust, [row], [place], place.at)


def merged(evidence: Evidence) -> Iterator[Finding]:
    """Find objects that are several texts for the detectors."""
    inside = [
        (overlap.row, overlap.place.centre)
        for overlap in evidence.overlaps
        if overlap.of_place >= INSIDE and not evidence.hidden[overlap.row]
    ]
    trusted = {centre: place.trust for centre, place in evidence.places.items()}
    claims: list[_Claim] = []
    for row, centres in _parts(inside, evidence, 1, trusted).items():
        places = [evidence.places[centre] for centre in centres]
        seen = Counter(detector for place in places for detector in place.at)
        whole = _finders(evidence, [row])
        agree = {k for k, parts in seen.items() if parts >= AGREE or k not in whole}
        claims.append(([row], places, agree, set(whole)))
    return _contested("merged", evidence, claims)


def split(evidence: Evidence) -> Iterator[Finding]:
    """Find objects that are one text together for the detectors."""
    inside = [
        (overlap.place.centre, overlap.row)
        for overlap in evidence.overlaps
        if overlap.of_object >= INSIDE and not evidence.hidden[overlap.row]
    ]
    fits = dict(enumerate(map(sum, evidence.ious)))
    claims: list[_Claim] = []
    for centre, rows in _parts(inside, evidence, 0, fits).items():
        place = evidence.places[centre]
        deny = {k for k, parts in _finders(evidence, rows).items() if parts >= AGREE}
        claims.append((rows, [place], set(place.at), deny))
    return _contested("split", evidence, claims)


def _finders(evidence: Evidence, rows: Sequence[int]) -> Counter[int]:
    """Return how many of some objects each detector finds that finds any."""
    return Counter(k for row in rows for k, iou in enumerate(evidence.ious[row]) if iou >= SAME)


def duplicate(evidence: Evidence) -> Iterator[Finding]:
    """Find two objects in one place. The one to keep is first: one that counts, then the one that
    detectors fit better.
    """

    def badness(row: int) -> tuple[bool, float]:
        return evidence.hidden[row], -rounded(sum(evidence.ious[row]))

    for one, other, iou in evidence.duplicates:
        agree = [k for k, finds in _finders(evidence, [one, other]).items() if finds == 2]
        yield Finding("duplicate", iou, sorted([one, other], key=badness), [], agree)


def _contested(kind: Kind, evidence: Evidence, claims: Sequence[_Claim]) -> Iterator[Finding]:
    """Find what `AGREE` detectors or more claim; the annotator denies it, too."""
    claims = [claim for claim in claims if len(claim[2]) >= AGREE]
    # What detectors say of most objects is another convention, not a mistake.
    rare = 1 - len(claims) / max(evidence.hidden.count(False), 1)
    for rows, places, agree, deny in claims:
        count = len(agree)
        well = sum(place.quality for place in places) / len(places)
        share = count / (count + len(deny - agree) + 1)
        value = trust(evidence, count, well) * share * rare * _spans(evidence, rows, places)
        yield Finding(kind, value, rows, places, agree)


def _spans(evidence: Evidence, rows: Sequence[int], places: Sequence[Place]) -> float:
    """Return the IoU of the boxes around some objects and around some places."""
    gt, det = evidence.scene.gt.boxes[rows], evidence.scene.det.boxes[[p.centre for p in places]]
    one, other = (boxes.around_groups(side, np.zeros(len(side), np.int64)) for side in (gt, det))
    shared = boxes.area(boxes.intersection(one, other))
    return float(quotient(shared, boxes.area(one) + boxes.area(other) - shared)[0])


def _parts(
    inside: Sequence[tuple[int, int]], evidence: Evidence, side: int, trusted: Mapping[int, float]
) -> dict[int, list[int]]:
    """Return the parts of things that have several, from things and what is inside them. Of two
    parts that share much, the one that is trusted less is left out.

    Parts are rows of one side, 0 for objects and 1 for detections.
    """
    groups: dict[int, list[int]] = defaultdict(list)
    for whole, part in sorted(inside):
        groups[whole].append(part)
    pairs = [(whole, *two) for whole, parts in groups.items() for two in combinations(parts, 2)]
    shapes, (_, i, j) = evidence.shapes[side], np.array(pairs, np.int64).reshape(-1, 3).T
    area = shapes.area()
    common = quotient(shapes.pair_area(i, shapes, j), np.minimum(area[i], area[j]))
    lost = {
        (whole, one if rounded(trusted[one]) < rounded(trusted[other]) else other)
        for (whole, one, other), share in zip(pairs, rounded(common).tolist(), strict=True)
        if share >= NESTED
    }
    remaining = {
        whole: [part for part in parts if (whole, part) not in lost]
        for whole, parts in groups.items()
    }
    return {whole: parts for whole, parts in remaining.items() if len(parts) > 1}


# Texts and don't care -----------------------------------------------------------------------------


def text(evidence: Evidence) -> Iterator[Finding]:
    """Find objects for which detectors agree on another text, or, with less suspicion, only that it
    is another one.
    """
    readings = []
    agreeing: dict[bool, list[int]] = {True: [], False: []}
    for overlap in _best(evidence, hidden=False, least_iou=SAME):
        own = _plain(evidence.scene.gt.texts[overlap.row])
        reading = _reading(evidence, overlap.place)
        if own and len(reading.texts) >= AGREE:
            is_other = own != reading.text
            agreeing[is_other].append(len(reading.agree))
            if is_other and (len(reading.agree) >= AGREE or own not in reading.texts.values()):
                readings.append((overlap, reading))
    reliable = suspicion.reliability(agreeing[False], agreeing[True], len(evidence.readers))
    for (row, place, *_), reading in readings:
        value = reliable[len(reading.agree)] * reading.alike * place.confidence
        agree = reading.agree if len(reading.agree) >= AGREE else list(reading.texts)
        yield Finding("text", value, [row], [place], agree, reading.row)


def found_dont_care(evidence: Evidence) -> Iterator[Finding]:
    """Find objects that are don't care and that most detectors find, and read alike."""
    detectors, sizes = len(evidence.detectors), _sizes(evidence)
    found = [row for row, count in enumerate(evidence.finders) if 2 * count > detectors]
    counts = [row for row in found if not evidence.hidden[row]]
    usual = suspicion.smoothed(len(counts), len(found))
    like = _shares_by_cell(sizes, counts, found, usual)
    for row, place, *_ in _best(evidence, hidden=True, least_iou=SAME):
        if 2 * len(place.at) > detectors:
            reading = _reading(evidence, place)
            alike = len(reading.agree) / len(reading.texts) if reading.texts else 1.0
            value = place.trust * alike * like[sizes[row]]
            yield Finding("dont-care", value, [row], [place], place.at, reading.row)


def unreadable(evidence: Evidence) -> Iterator[Finding]:
    """Find counted objects that no detector finds, most of whose like are don't care."""
    hidden, sizes = evidence.hidden, _sizes(evidence)
    lost = [row for row, count in enumerate(evidence.finders) if count == 0]
    like = _shares_by_cell(sizes, [row for row in lost if hidden[row]], lost, 0.5)
    for row in lost if any(hidden) else ():
        if not hidden[row]:
            yield Finding("dont-care", max(2 * like[sizes[row]] - 1, 0.0), [row], [])


class _Reading(NamedTuple):
    """What detectors read at a place; case does not matter."""

    texts: dict[int, str]
    """Reader -> its text."""
    text: str
    """The text that most have; if all differ, the one most like the others."""
    row: int | None
    """A detection with that text; None if there is none."""
    agree: list[int]
    """Which readers have that text."""
    alike: float
    """Mean similarity of all texts to it."""


def _reading(evidence: Evidence, place: Place) -> _Reading:
    written = evidence.scene.det.texts
    readings = ((reader, _plain(written[row])) for reader, row in sorted(place.read.items()))
    texts = {reader: one for reader, one in readings if one}
    if not texts:
        return _Reading({}, "", None, [], 0.0)
    counts = Counter(texts.values())
    votes = {reader: float(counts[one]) for reader, one in texts.items()}
    if max(votes.values()) == 1:
        likeness = {reader: sum(_similar(one, o) for o in counts) for reader, one in texts.items()}
        votes = {reader: rounded(value) for reader, value in likeness.items()}
    chosen = max(votes, key=lambda reader: votes[reader])
    agree = [reader for reader, one in texts.items() if one == texts[chosen]]
    alike = sum(_similar(one, texts[chosen]) for one in texts.values()) / len(texts)
    return _Reading(texts, texts[chosen], place.read[chosen], agree, alike)


def _similar(one: str, other: str) -> float:
    """Return 1 less the edit distance as a share of the longer text."""
    return 1 - edit_distance(one, other) / max(len(one), len(other), 1)


def _plain(written: str) -> str:
    """Return a text without case and blanks around it, in one Unicode form."""
    return normalised(written, "nfc").casefold().strip()


# What they share ----------------------------------------------------------------------------------


def _best(evidence: Evidence, hidden: bool, least_iou: float = 0.0) -> list[Overlap]:
    """Return counted objects, or those that are don't care, each with the best of the places that
    no other of them fits better.
    """
    some = [one for one in evidence.overlaps if evidence.hidden[one.row] == hidden]
    by_place: dict[int, Overlap] = {}
    by_row: dict[int, Overlap] = {}
    for overlap in sorted(some, key=lambda overlap: -overlap.iou):
        by_place.setdefault(overlap.place.centre, overlap)
    for overlap in by_place.values():
        if overlap.iou >= least_iou:
            by_row.setdefault(overlap.row, overlap)
    return [by_row[row] for row in sorted(by_row)]


def _sizes(evidence: Evidence) -> list[tuple[int, int]]:
    """Return for each object a cell: that of objects as high and wide, to a factor of two."""
    drawn = evidence.scene.gt.boxes
    sides = np.maximum(drawn[:, 2:] - drawn[:, :2], 1).tolist()
    return [(round(math.log2(width)), round(math.log2(height))) for width, height in sides]


def _parts_of_pages(evidence: Evidence) -> list[tuple[int, ...]]:
    """Return for each object in which ninth it is of the part of its image that has objects or
    detections.
    """
    gt, det, images = evidence.scene.gt, evidence.scene.det, len(evidence.scene.names)
    image, drawn = np.concatenate([gt.image, det.image]), np.concatenate([gt.boxes, det.boxes])
    low, high = np.full((images, 2), np.inf), np.full((images, 2), -np.inf)
    np.minimum.at(low, image, drawn[:, :2])
    np.maximum.at(high, image, drawn[:, 2:])
    centres = (gt.boxes[:, :2] + gt.boxes[:, 2:]) / 2
    middle = quotient(centres - low[gt.image], (high - low)[gt.image])
    return list(map(tuple, np.clip((middle * 3).astype(int), 0, 2).tolist()))


def _shares_by_cell(
    cells: Sequence[Hashable], some: Sequence[int], every: Sequence[int], usual: float
) -> dict[Hashable, float]:
    """Return for each cell the share of some of its objects among every one of interest, smoothed
    towards `usual` with the weight of two.
    """
    part, whole = Counter(cells[row] for row in some), Counter(cells[row] for row in every)
    return {cell: (part[cell] + 2 * usual) / (whole[cell] + 2) for cell in set(cells)}


KINDS = (
    *(missing, unfound, misplaced, merged, split, duplicate),
    *(text, found_dont_care, unreadable),
)
