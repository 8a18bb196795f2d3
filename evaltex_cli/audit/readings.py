"""What detectors read: another text than the ground truth has, and texts that are don't care."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.audit import suspicion
from evaltex_cli.audit.agreement import AGREE, SAME
from evaltex_cli.audit.evidence import AtPlaces, Evidence
from evaltex_cli.audit.findings import (
    Findings,
    each,
    findings,
    nothing,
    share_in_cell,
    sizes,
    trusted,
)
from evaltex_cli.protocols.edit_distance import edit_distance
from evaltex_cli.protocols.normalisation import normalised
from evaltex_cli.records import Bools, Floats, Ints, Objects


@dataclass(frozen=True, slots=True, eq=False)
class _Readings:
    """What detectors read at some places; case does not matter."""

    readers: Bools
    """(n, R) bool. Which detectors have a text."""
    agree: Bools
    """(n, R) bool. Which of them have the one that most have; if all differ, the one most like the
    others."""
    row: Ints
    """(n,) int64. A detection with that text; -1 if there is none."""
    alike: Floats
    """(n,) float64. Mean similarity of all texts to it: 1 less the edit distance as a share of the
    longer one."""
    confirms: Bools
    """(n,) bool. Whether a detector has the object's own text."""
    known: Bools
    """(n,) bool. Whether the object has a text."""
    same: Bools
    """(n,) bool. Whether it is that of `row`."""


def text(evidence: Evidence) -> Findings:
    """Objects for which detectors agree on another text, or, with less suspicion, only that it is
    another one.
    """
    at = _matched(evidence, dont_care=False)
    read = _readings(evidence, at)
    counts, readers = read.agree.sum(axis=1), read.readers.sum(axis=1)
    known, same = (readers >= AGREE) & read.known, read.same
    reliable = suspicion.of_counts(counts, known & same, known & ~same, read.readers.shape[1])
    values = reliable[counts] * read.alike * suspicion.confidence(evidence)[at.place]
    another = known & ~same & ((counts >= AGREE) | ~read.confirms)
    values[~another] = 0
    agree = np.where(counts[:, None] >= AGREE, read.agree, read.readers)
    return findings("text", values, each(at.gt), each(at.place), agree, read.row)


def dont_care(evidence: Evidence) -> Findings:
    """Objects that are don't care and that most detectors find, and read alike."""
    at = _matched(evidence, dont_care=True)
    count = evidence.places.count[at.place]
    most = 2 * count > evidence.groups
    read = _readings(evidence, at)
    readers = read.readers.sum(axis=1)
    alike = np.where(readers, read.agree.sum(axis=1) / np.maximum(readers, 1), 1)
    counts = _counted_like(evidence)[at.gt]
    values = np.where(most, trusted(evidence)[at.place] * alike * counts, 0)
    agree = evidence.places.at[at.place] >= 0
    return findings("dont-care", values, each(at.gt), each(at.place), agree, read.row)


def _counted_like(evidence: Evidence) -> Floats:
    """(G,) of the objects of the size of each that most detectors find, the share that count."""
    counts, found = ~evidence.scene.gt.dont_care, 2 * evidence.finders > evidence.groups
    usual = float(suspicion.share((counts & found).sum(), found.sum()))
    return share_in_cell(counts, found, sizes(evidence), usual)


def unreadable(evidence: Evidence) -> Findings:
    """Counted objects that no detector finds, most of whose like are don't care."""
    gt = evidence.scene.gt
    lost = evidence.finders == 0
    share = share_in_cell(gt.dont_care, lost, sizes(evidence))
    rows = np.flatnonzero(lost & ~gt.dont_care & gt.dont_care.any())
    agree = np.zeros((len(rows), evidence.groups), bool)
    values = np.maximum(2 * share[rows] - 1, 0)
    return findings("dont-care", values, each(rows), nothing(len(rows)), agree)


def _matched(evidence: Evidence, dont_care: bool) -> AtPlaces:
    at = evidence.best[dont_care]
    return at.of(at.iou >= SAME)


def _readings(evidence: Evidence, at: AtPlaces) -> _Readings:
    own = _plain(evidence.scene.gt, at.gt)
    rows = evidence.places.read[at.place]
    codes, texts = _codes(evidence.scene.det, rows)
    readers = codes >= 0
    equal = (codes[:, :, None] == codes[:, None, :]) & readers[:, :, None]
    votes = equal.sum(axis=2).astype(np.float64)
    lone = np.flatnonzero((votes.max(axis=1, initial=0) == 1) & (readers.sum(axis=1) >= AGREE))
    row, one, other = np.nonzero(readers[lone][:, :, None] & readers[lone][:, None, :])
    alike = _similarity(texts, codes[lone[row], one], codes[lone[row], other])
    np.add.at(votes, (lone[row], one), alike)
    best = votes.argmax(axis=1)[:, None]
    chosen = np.take_along_axis(codes, best, axis=1)
    row, one = np.nonzero(readers)
    alike = _similarity(texts, codes[row, one], chosen[row, 0])
    number = {text: k for k, text in enumerate(texts)}
    own_codes = np.array([number.get(text, -2) for text in own], np.int64)
    read = np.where(readers.any(axis=1), np.take_along_axis(rows, best, axis=1)[:, 0], -1)
    texts = _plain(evidence.scene.det, read)
    return _Readings(
        readers,
        readers & (codes == chosen),
        read,
        np.bincount(row, alike, len(at.gt)) / np.maximum(readers.sum(axis=1), 1),
        (codes == own_codes[:, None]).any(axis=1),
        np.array([bool(one) for one in own], bool),
        np.array([one == other for one, other in zip(own, texts, strict=True)], bool),
    )


def _similarity(texts: list[str], one: Ints, other: Ints) -> Floats:
    """(n,) similarity of texts by number: 1 less the edit distance as a share of the longer one."""
    pairs = [(texts[a], texts[b]) for a, b in zip(one.tolist(), other.tolist(), strict=True)]
    longest = np.array([max(len(a), len(b)) for a, b in pairs], np.float64)
    distance = np.array([edit_distance(a, b) for a, b in pairs], np.float64)
    return np.asarray(1 - distance / np.maximum(longest, 1))


def _codes(objects: Objects, rows: Ints) -> tuple[Ints, list[str]]:
    """Return the number of the text of each row, -1 if there is none; and the texts."""
    number: dict[str, int] = {}
    codes = np.full(rows.shape, -1)
    for index, text in zip(np.argwhere(rows >= 0), _plain(objects, rows[rows >= 0]), strict=True):
        if text:
            codes[tuple(index)] = number.setdefault(text, len(number))
    return codes, list(number)


def _plain(objects: Objects, rows: Ints) -> list[str]:
    """Return texts without case and blanks around them, in one Unicode form; empty for row -1."""
    return [
        normalised(objects.texts[row], "nfc").casefold().strip() if row >= 0 else ""
        for row in rows.tolist()
    ]
