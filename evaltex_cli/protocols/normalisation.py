"""Unicode forms that protocols compare texts in: é is one character, or an e and an accent."""

from __future__ import annotations

import unicodedata
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
