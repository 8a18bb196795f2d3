"""What is unusual about the values of the inputs: coordinates that are all fractions, texts that
are all numbers, confidences in the place of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple

import numpy as np

from evaltex_cli.errors import quote
from evaltex_cli.formats.base import DONT_CARE, Side, Source

_SEVERAL = 3
"""Fewer objects may all be in the first pixel."""
_FEWEST_TEXTS = 5
"""Fewer texts may all be numbers by chance."""
_NUMBER = r"[-+]?[0-9]*[.,]?[0-9]+"
_UNIT = r"0?[.,][0-9]+|1[.,]0*"
_TEXT_AND_UNIT = rf"(?as).*,\s*(?:{_UNIT})"
TAKEN_FOR_TEXT = "read as transcription"
"""In the warnings of a reader that has seen numbers in the place of texts itself."""


class Unusual(NamedTuple):
    """One finding: `kind` as in `validation.findings.Problem`."""

    side: Side
    kind: Literal["coordinates", "confidences", "texts"]
    text: str


def sample(source: Source, few: int) -> Source:
    """Read the first few images of a side."""
    return source.part(np.arange(min(few, len(source.names))))


def unusual_values(sources: Sequence[Source], samples: Sequence[Source]) -> Iterator[Unusual]:
    """Yield what is unusual about a `sample` of each side: of the ground truth, and of the
    detections if there are any.

    Whole numbers for texts are not, if both sides have them: they may be what was written.
    """
    meanings = [_meaning(_texts(one)) for one in samples]
    are_data = len(samples) == 2 and set(meanings) == {_NUMBERS}
    sides: tuple[Side, Side] = ("gt", "det")
    for side, source, one, meaning in zip(sides, sources, samples, meanings, strict=False):
        if _are_fractions(one):
            yield Unusual(
                side,
                "coordinates",
                "all coordinates are in [0, 1], and are read as pixels; if they are fractions of"
                " the page, multiply them by its width and height",
            )
        elif _begin_with_confidences(one):
            yield Unusual(
                side,
                "confidences",
                "the first coordinate of all boxes is in [0, 1]; if it is a confidence, write it"
                " after the coordinates",
            )
        elif side == "det" and _end_with_confidences(_texts(one)):
            example = next(text for texts in _texts(one) for text in texts)
            yield Unusual(
                side,
                "confidences",
                f"all transcriptions end in a number from 0 to 1, such as {quote(example)}; if it"
                " is a confidence, write it before the text",
            )
        known = any(TAKEN_FOR_TEXT in text for text in source.warnings)
        if meaning is not None and not are_data and not known:
            example = next(text for texts in _texts(one) for text in texts)
            yield Unusual(
                side,
                "texts",
                f"all transcriptions are numbers, such as {quote(example)}; {meaning}",
            )


def _are_fractions(images: Source) -> bool:
    boxes = images.objects.boxes
    if images.fractions is not None or len(boxes) < _SEVERAL or not (boxes % 1).any():
        return False
    return bool(boxes.min() >= 0 and boxes.max() <= 1)


def _begin_with_confidences(images: Source) -> bool:
    """Whether all boxes begin within the first pixel, at fractions, and end farther away."""
    boxes = images.objects.boxes
    if images.fractions is not None or len(boxes) < _FEWEST_TEXTS:
        return False
    first = boxes[:, 0]
    return bool(first.min() >= 0 and first.max() <= 1 < boxes[:, 2].min() and (first % 1).any())


def _end_with_confidences(texts: Sequence[Sequence[str]]) -> bool:
    every = [text for of_image in texts for text in of_image]
    return len(every) >= _FEWEST_TEXTS and _all_match(_TEXT_AND_UNIT, every)


_CONFIDENCES = "are they confidences, in the place of the texts?"
_IDS = "are they IDs, in the place of the texts?"
_NUMBERS = "are they IDs, classes or confidences, in the place of the texts?"


def _texts(images: Source) -> list[list[str]]:
    """The texts of each image, without those of objects that are don't care."""
    texts = iter(images.objects.texts)
    return [
        [text for text in islice(texts, count) if text and text != DONT_CARE]
        for count in np.diff(images.objects.offsets).tolist()
    ]


def _all_match(pattern: str, texts: Sequence[str]) -> bool:
    return all(re.fullmatch(pattern, text) for text in texts)


def _meaning(texts: Sequence[Sequence[str]]) -> str | None:
    """What texts probably are, if all of them are numbers."""
    every = [text for of_image in texts for text in of_image]
    if len(every) < _FEWEST_TEXTS or not _all_match(_NUMBER, every):
        return None
    if _all_match(_UNIT, every):
        return _CONFIDENCES
    first = int(every[0]) if every[0] in ("0", "1") else None
    if first is not None and all(
        list(of_image) == [str(first + k) for k in range(len(of_image))] for of_image in texts
    ):
        return _IDS
    return _NUMBERS
