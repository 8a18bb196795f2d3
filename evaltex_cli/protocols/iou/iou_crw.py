"""IoU+CRW (Karatzas et al., ICDAR 2015 Robust Reading Competition, end-to-end): IoU pairs with correctly read words.

Task: end to end; both sides with transcriptions. Pairs are those of `iou`, and a pair is used up even if its text is
wrong; it counts when both texts, in capitals, are the same. In the end-to-end task (the default) punctuation at the
ends of the object's text may be missing; in word spotting, objects that are no dictionary word are don't care and the
others are compared without their punctuation, while a detection's text is taken as it is.

An object whose transcription is empty, on which the program fails, is found by a detection without text.

Empty cases: as in `iou`.

Examples
--------
Both words are found, but one of them is read wrongly; capitals are no error:

>>> from evaltex_cli import Accumulator, image_objects
>>> boxes = [[0, 0, 100, 20], [120, 0, 220, 20]]
>>> accumulator = Accumulator("iou-crw")
>>> accumulator.update(image_objects(boxes, texts=["Hotel", "Bar"]), image_objects(boxes, texts=["HOTEL", "Bor"]))
>>> accumulator.compute().scores
{'recall': 0.5, 'precision': 0.5, 'hmean': 0.5}
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np

from evaltex_cli.protocols.base import (
    Count,
    Evidence,
    ObjectWarning,
    Protocol,
    Scores,
    object_counts,
    object_warning,
    per_image,
    require,
)
from evaltex_cli.protocols.detection_order import in_order, needs_confidences
from evaltex_cli.protocols.iou import iou as iou_protocol
from evaltex_cli.protocols.iou.iou import convention, counting, iou, pair, scatter
from evaltex_cli.protocols.matches import matches, mean_of
from evaltex_cli.protocols.ratios import image_scores_by, scores_of
from evaltex_cli.records import Bools, ImageBatch, Ints, Overlaps

PUNCTUATION = "'!?.:,*\"()·[]/"
DICTIONARY_WORD = re.compile("[a-zA-ZÀ-ÖØ-öø-ƿǄ-ɿΆ-Ͽ-]{3,}")
"""What word spotting looks for: three letters or more, or hyphens; ×, ÷ and · are no letters."""
BLANKS = str.maketrans(dict.fromkeys(PUNCTUATION, " "))


@dataclass(frozen=True, slots=True)
class Parameters(iou_protocol.Parameters):
    """Parameters of IoU+CRW, with the program's defaults."""

    word_spotting: bool = field(
        default=False, metadata={"help": "only dictionary words count, compared without punctuation"}
    )
    strip: str = field(
        default="gt",
        metadata={
            "help": "end to end: one punctuation mark may be missing at either end of the object's text (gt),"
            " or all of them at all ends of both texts (both)",
            "choices": ("gt", "both"),
        },
    )


@dataclass(frozen=True, eq=False)
class Tally(iou_protocol.Tally):
    """Evidence of IoU+CRW: the number of pairs, and of those with the right text."""

    correctly_read: Count

    def check(self) -> None:
        super().check()
        require(self.correctly_read <= self.one_to_one, "more pairs correctly read than there are")


@in_order
def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool) -> Evidence:
    """Pair a batch, compare the texts of its pairs, and count those of its images."""
    if parameters.word_spotting:
        batch = replace(batch, gt=replace(batch.gt, dont_care=batch.gt.dont_care | ~_in_dictionary(batch)))
    gt_counts, det_counts, warnings = counting(batch, overlaps, parameters)
    similarity = iou(overlaps)
    pairs = pair(overlaps, similarity, gt_counts, det_counts, parameters)
    gt, det = overlaps.gt[pairs], overlaps.det[pairs]
    correct = _correctly_read(batch, gt, det, parameters)
    image = batch.gt.image[gt]
    images = len(batch.names)
    tally = Tally(
        *object_counts(batch, gt_counts, det_counts),
        one_to_one=np.bincount(image, minlength=images),
        correctly_read=per_image(correct, image, images),
    )
    warnings += _textless(batch, gt_counts)
    if not with_matches:
        return Evidence(tally, warnings=warnings)
    values = {"iou": similarity[pairs], "text_correct": correct}
    gt_values, det_values = scatter(values, gt, batch.gt.count), scatter(values, det, batch.det.count)
    return Evidence(tally, matches(gt, det, gt_counts, det_counts, gt_values, det_values), warnings)


def _textless(batch: ImageBatch, gt_counts: Bools) -> tuple[ObjectWarning, ...]:
    empty = gt_counts & np.fromiter((not text for text in batch.gt.texts), np.bool_, batch.gt.count)
    text = "{count} object[s] count[s|] but [has|have] no transcription ({images}); should [it|they] be ###?"
    return object_warning(text, batch, empty)


# Texts ---------------------------------------------------------------------------------------------------------------


def _in_dictionary(batch: ImageBatch) -> Bools:
    return np.fromiter((is_dictionary_word(text) for text in batch.gt.texts), np.bool_, batch.gt.count)


def _correctly_read(batch: ImageBatch, gt: Ints, det: Ints, parameters: Parameters) -> Bools:
    """(m,) whether the texts of a pair are the same."""
    same = spots if parameters.word_spotting else reads_inside_punctuation if parameters.strip == "both" else reads
    texts = ((batch.gt.texts[i], batch.det.texts[j]) for i, j in zip(gt.tolist(), det.tolist(), strict=True))
    return np.fromiter((same(*pair) for pair in texts), np.bool_, len(gt))


def is_dictionary_word(text: str) -> bool:
    """Whether word spotting looks for an object of this transcription."""
    return DICTIONARY_WORD.fullmatch(cleaned(text)) is not None


def cleaned(text: str) -> str:
    """A transcription as word spotting compares it: without a final 's, hyphens at its ends, and punctuation."""
    if text.endswith(("'s", "'S")):
        text = text[:-2]
    return text.strip("-").translate(BLANKS).strip()


def spots(gt: str, det: str) -> bool:
    """Whether a detection's text is that of an object, in word spotting."""
    return cleaned(gt).upper() == det.upper()


def reads(gt: str, det: str) -> bool:
    """Whether a detection's text is that of an object, of which one punctuation mark at either end may be missing."""
    gt, det = gt.upper(), det.upper()
    firsts = (0, 1) if gt[:1] in PUNCTUATION else (0,)
    lasts = (0, 1) if gt[-1:] in PUNCTUATION else (0,)
    return any(gt[first : len(gt) - last] == det for first in firsts for last in lasts)


def reads_inside_punctuation(gt: str, det: str) -> bool:
    """Whether both texts are the same but for punctuation at their ends."""
    return gt.upper().strip(PUNCTUATION) == det.upper().strip(PUNCTUATION)


# Scores --------------------------------------------------------------------------------------------------------------


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Correctly read pairs over the objects that count, and over the detections that count."""
    return scores_of(tally, tally.correctly_read, tally.correctly_read)


PROTOCOL = Protocol(
    name="iou-crw",
    title="IoU + correctly recognised words (ICDAR 2015 end-to-end)",
    version=1,
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    image_scores=image_scores_by(scores),
    needs=needs_confidences,
    takes_masks=False,
    needs_texts=True,
    object_credit=mean_of("text_correct"),
)
