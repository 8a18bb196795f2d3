"""Words and characters misread most often, of the pairs of a protocol that compares texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from evaltex_cli.diagnosis.error_types import Mistakes
from evaltex_cli.diagnosis.repairs import words_of_pieces
from evaltex_cli.evaluation.evaluate import BatchImages
from evaltex_cli.protocols.texts import with_normalised_texts
from evaltex_cli.tables.record import Record

MOST_LISTED = 20
LONGEST_ALIGNED = 100
"""Characters; of a pair with a longer text, characters are not compared."""

Pairs = Counter[tuple[str, str]]
"""(the object's text, the detection's) -> how many pairs."""


@dataclass(frozen=True, slots=True)
class Misreading:
    """A word or a character, what was read for it (either may be empty), and how often."""

    expected: str
    read: str
    count: int


@dataclass(frozen=True, slots=True, repr=False)
class Misread(Record):
    """How many pairs were misread, and the `MOST_LISTED` most frequent misreadings; characters are
    compared in capitals, unless the protocol's parameters are case-sensitive.
    """

    pairs: int
    words: list[Misreading]
    characters: list[Misreading]


def misread_pairs(images: BatchImages) -> Pairs | None:
    """Return the texts of the wrong pairs of a batch, in the Unicode form that the protocol
    compares; None if it compares no texts.
    """
    gt = images.evidence.matches.gt
    if "text_correct" not in gt.values:
        return None
    batch = with_normalised_texts(images.batch, images.run.parameters.normalisation)
    wrong = np.flatnonzero((np.diff(gt.offsets) == 1) & (gt.values["text_correct"] == 0))
    partners = gt.partners[gt.offsets[wrong]]
    return Counter(zip(batch.gt.texts[wrong], batch.det.texts[partners], strict=True))


def with_misread(images: BatchImages, mistakes: Mistakes) -> Mistakes:
    """Return mistakes with the objects that have one detection, which reads another text, if the
    protocol compares texts. What it takes for the same, such as other capitals, is read right.
    """
    if "texts" not in images.run.protocol.needs:
        return mistakes
    batch = with_normalised_texts(images.batch, images.run.parameters.normalisation)
    wrong = np.zeros(batch.gt.count, dtype=bool)
    alone = np.bincount(mistakes.gt, minlength=batch.gt.count)[mistakes.gt] == 1
    words = words_of_pieces(batch, mistakes)
    for k in np.flatnonzero(alone).tolist():
        i, j = mistakes.gt[k], mistakes.det[k]
        wrong[i] = batch.gt.texts[i] != words.get(k, batch.det.texts[j])
    is_right = images.evidence.matches.gt.values.get("text_correct", np.zeros(1)) == 1
    return replace(mistakes, misread=wrong & ~is_right)


def most_frequent(pairs: Pairs, case_sensitive: bool = False) -> Misread:
    """Return what is misread most often in some pairs."""
    characters = Counter[tuple[str, str]]()
    for (expected, read), count in pairs.items():
        if max(len(expected), len(read)) <= LONGEST_ALIGNED:
            both = (expected, read) if case_sensitive else (expected.upper(), read.upper())
            for edit in edits(*both):
                characters[edit] += count
    return Misread(pairs.total(), _listed(pairs), _listed(characters))


def _listed(counts: Pairs) -> list[Misreading]:
    first = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_LISTED]
    return [Misreading(expected, read, count) for (expected, read), count in first]


def edits(expected: str, read: str) -> Iterator[tuple[str, str]]:
    """Yield the fewest edits that make the one text the other, the last first: one character for
    another one if it can be, else one that is missing or too much.

    >>> list(edits("HOTEL", "H0TELS"))
    [('', 'S'), ('O', '0')]
    """
    table = [list(range(len(read) + 1))]
    for i, one in enumerate(expected, 1):
        above, row = table[-1], [i]
        for j, other in enumerate(read, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (one != other)))
        table.append(row)
    i, j = len(expected), len(read)
    while i or j:
        here = table[i][j]
        if i and j and here == table[i - 1][j - 1] + (expected[i - 1] != read[j - 1]):
            i, j = i - 1, j - 1
            if expected[i] != read[j]:
                yield expected[i], read[j]
        elif i and here == table[i - 1][j] + 1:
            i -= 1
            yield expected[i], ""
        else:
            j -= 1
            yield "", read[j]
