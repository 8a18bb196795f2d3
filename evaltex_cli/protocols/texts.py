"""Texts that protocols compare: in which Unicode form, and how far from each other they are."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from evaltex_cli.protocols.base import parameter
from evaltex_cli.records import ImageBatch, Texts


def normalisation_field(default: str) -> Any:
    """Return the parameter `normalisation`; no official program normalises texts."""
    text = "Unicode form that texts are compared in; none: as they are read"
    return parameter(default, text, choices=("none", "nfc", "nfkc"))


def normalised(text: str, form: str) -> str:
    """Return a text in a Unicode form: none, nfc or nfkc."""
    return text if form == "none" else unicodedata.normalize(form.upper(), text)  # type: ignore[arg-type]


def with_normalised_texts(batch: ImageBatch, form: str) -> ImageBatch:
    """Return a batch with the texts of both sides in a Unicode form."""
    sides = batch.gt.texts, batch.det.texts
    if form == "none" or all(texts.buffer.isascii() for texts in sides):
        return batch
    gt, det = (Texts.of([normalised(text, form) for text in texts]) for texts in sides)
    return replace(batch, gt=replace(batch.gt, texts=gt), det=replace(batch.det, texts=det))


def edit_distance(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Return how many characters one text must lose, gain or change to become the other, or how
    many words, of lists of words (Levenshtein 1966).

    A column of the table of distances is two sets of rows, the bits of two numbers: those that are
    one more, and one less, than the row above (Myers, JACM 1999; in the form of Hyyrö 2003).

    >>> edit_distance("kitten", "sitting")
    3
    """
    rows = dict.fromkeys(one, 0)
    for k, item in enumerate(one):
        rows[item] |= 1 << k
    every = (1 << len(one)) - 1
    more, less = every, 0
    for item in other:
        equal = rows.get(item, 0)
        # Rows whose distance is that of the row above in the column before.
        diagonal = (((equal & more) + more) ^ more) | equal | less
        # The same sets, against the column before, one row down.
        right_more = (less | ~(diagonal | more)) << 1 | 1
        right_less = (more & diagonal) << 1
        more = (right_less | ~(diagonal | right_more)) & every
        less = right_more & diagonal & every
    return len(other) + more.bit_count() - less.bit_count()
