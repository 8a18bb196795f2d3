"""IoU+CRW (Karatzas et al., ICDAR 2015 Robust Reading Competition, end-to-end): IoU pairs with
correctly read words.

Task: end to end; both sides with transcriptions. Pairs are those of `iou`, and a pair is used up
even if its text is wrong; it counts when both texts, in capitals, are the same. In the end-to-end
task (the default) punctuation at the ends of the object's text may be missing; in word spotting,
objects that are no dictionary word are don't care and the others are compared without their
punctuation, while a detection's text is taken as it is.

With a `lexicon` each text that was read is first replaced by the word of it with the smallest edit
distance, as systems do themselves for the "strong", "weak", "generic" and "full" tasks; a detection
whose text is near no word is left out. With `error_rates` the texts of all pairs are also compared
by their edit distances.

An object whose transcription is empty, on which the program fails, is found by a detection without
text.

Empty cases: as in `iou`.

Examples
--------
Both words are found, but one of them is read wrongly; capitals are no error:

>>> from evaltex_cli import Accumulator, image_objects
>>> boxes = [[0, 0, 100, 20], [120, 0, 220, 20]]
>>> words = image_objects(boxes, texts=["Hotel", "Bar"])
>>> detections = image_objects(boxes, texts=["HOTEL", "Bor"])
>>> accumulator = Accumulator("iou-crw")
>>> accumulator.update(words, detections)
>>> accumulator.compute().scores
{'recall': 0.5, 'precision': 0.5, 'hmean': 0.5}

One of eight characters, and one of two words, is wrong:

>>> accumulator = Accumulator("iou-crw", error_rates=True)
>>> accumulator.update(words, detections)
>>> scores = accumulator.compute().scores
>>> {name: round(scores[name], 3) for name in scores if name not in ("recall", "hmean")}
{'precision': 0.5, 'one_minus_ned': 0.833, 'character_error_rate': 0.125, 'word_error_rate': 0.5}
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.protocols.base import (
    Evidence,
    Protocol,
    Scores,
    object_counts,
    parameter,
    per_image,
)
from evaltex_cli.protocols.detection_order import in_order, needs_confidences
from evaltex_cli.protocols.edit_distance import edit_distances
from evaltex_cli.protocols.iou import iou as iou_protocol
from evaltex_cli.protocols.iou.iou import (
    candidates_of,
    convention,
    counting,
    first_fit_by_level,
    iou,
    pair,
)
from evaltex_cli.protocols.iou.lexicon import fingerprinted, lexicons_of, read_words
from evaltex_cli.protocols.level_states import LevelStates
from evaltex_cli.protocols.matches import matches, mean_of, scatter
from evaltex_cli.protocols.normalisation import normalisation_field, with_normalised_texts
from evaltex_cli.protocols.object_warnings import ObjectWarning, object_warning
from evaltex_cli.protocols.ratios import (
    Number,
    divide,
    image_scores_by,
    rate,
    ratio,
    scores_of,
    where,
)
from evaltex_cli.protocols.tally import Count, Sum, at_most, require
from evaltex_cli.records import Bools, ImageBatch, Ints, Overlaps, some_texts, text_lengths

PUNCTUATION = "'!?.:,*\"()·[]/"
DICTIONARY_WORD = re.compile("[a-zA-ZÀ-ÖØ-öø-ƿǄ-ɿΆ-Ͽ-]{3,}")
"""What word spotting looks for: three letters or more, or hyphens; ×, ÷ and · are no letters."""
BLANKS = str.maketrans(dict.fromkeys(PUNCTUATION, " "))


@dataclass(frozen=True, slots=True)
class Parameters(iou_protocol.Parameters):
    """Parameters of IoU+CRW, with the program's defaults; but it normalises no text."""

    word_spotting: bool = parameter(
        False, "only dictionary words count, compared without punctuation"
    )
    strip: str = parameter(
        "gt",
        "end to end: one punctuation mark may be missing at either end of the object's text (gt),"
        " or all of them at all ends of both texts (both)",
        choices=("gt", "both"),
    )
    lexicon: str = parameter(
        "",
        "words that replace what is read: one list for all images, or a folder of one"
        " for each; or nothing",
        file=fingerprinted,
    )
    lexicon_edits: int = parameter(
        1, "a text with more edits than this to all words of its lexicon is left out", min=0
    )
    normalisation: str = normalisation_field("nfc")
    error_rates: bool = parameter(False, "adds 1-NED, character and word error rates of pairs")


@dataclass(frozen=True, eq=False)
class Tally(iou_protocol.Tally):
    """Evidence of IoU+CRW: the number of pairs, and of those with the right text.

    If error rates are asked for, also of the pairs: the edits of characters and of words, the
    characters and words of the objects, and the sum of normalised edit distances.
    """

    correctly_read: Count
    character_edits: Count | None = None
    characters: Count | None = None
    word_edits: Count | None = None
    words: Count | None = None
    normalised_edits: Sum | None = None

    def check(self) -> None:
        super().check()
        require(self.correctly_read <= self.one_to_one, "more pairs correctly read than there are")
        if self.normalised_edits is not None:
            wrong = self.one_to_one - self.correctly_read
            require(
                at_most(self.normalised_edits, wrong), "more than one normalised edit for a pair"
            )


@in_order
def evidence(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, with_matches: bool
) -> Evidence:
    """Pair a batch, compare the texts of its pairs, and count those of its images."""
    batch = with_normalised_texts(batch, parameters.normalisation)
    if parameters.word_spotting:
        batch = _spotted(batch)
    gt_counts, det_counts, warnings = counting(batch, overlaps, parameters)
    if parameters.lexicon:
        texts, is_near = read_words(
            batch, parameters.lexicon, parameters.lexicon_edits, parameters.normalisation
        )
        batch, det_counts = (
            replace(batch, det=replace(batch.det, texts=texts)),
            det_counts & is_near,
        )
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
        **(_errors(batch, gt, det, correct, parameters) if parameters.error_rates else {}),
    )
    warnings += _textless(batch, gt_counts)
    if not with_matches:
        return Evidence(tally, warnings=warnings)
    values = {"iou": similarity[pairs], "text_correct": correct}
    gt_values, det_values = (
        scatter(values, gt, batch.gt.count),
        scatter(values, det, batch.det.count),
    )
    return Evidence(tally, matches(gt, det, gt_counts, det_counts, gt_values, det_values), warnings)


def by_level(
    batch: ImageBatch, overlaps: Overlaps, parameters: Parameters, states: LevelStates
) -> Tally | None:
    """Count the pairs of the states of a batch's images, as `iou.by_level`; texts are compared
    once.
    """
    if parameters.order != "file" or parameters.lexicon or parameters.error_rates:
        return None
    batch = with_normalised_texts(batch, parameters.normalisation)
    if parameters.word_spotting:
        batch = _spotted(batch)
    gt_counts, det_counts, _ = counting(batch, overlaps, parameters)
    found = candidates_of(overlaps, parameters.iou)
    found = found.select(found.fits & gt_counts[found.gt] & det_counts[found.det])
    pairs = first_fit_by_level(batch, found.gt, found.det, states)
    correct = _correctly_read(batch, found.gt, found.det, parameters)
    return Tally(
        *states.object_counts(batch, gt_counts, det_counts), pairs.pairs(), pairs.pairs(correct)
    )


def _textless(batch: ImageBatch, gt_counts: Bools) -> tuple[ObjectWarning, ...]:
    empty = gt_counts & (text_lengths(batch.gt.texts) == 0)
    text = (
        "{count} object[s] count[s|] but [has|have] no transcription ({images}); should"
        " [it|they] be ###?"
    )
    return object_warning(text, batch, empty)


# Texts --------------------------------------------------------------------------------------------


def _spotted(batch: ImageBatch) -> ImageBatch:
    """Return the batch with don't-care objects where word spotting does not look for the text."""
    is_word = np.fromiter(
        (is_dictionary_word(text) for text in batch.gt.texts), np.bool_, batch.gt.count
    )
    return replace(batch, gt=replace(batch.gt, dont_care=batch.gt.dont_care | ~is_word))


def _correctly_read(batch: ImageBatch, gt: Ints, det: Ints, parameters: Parameters) -> Bools:
    """(m,) whether the texts of a pair are the same."""
    same = (
        spots
        if parameters.word_spotting
        else reads_inside_punctuation
        if parameters.strip == "both"
        else reads
    )
    texts = some_texts(batch.gt.texts, gt), some_texts(batch.det.texts, det)
    return np.fromiter(map(same, *texts), np.bool_, len(gt))


def _errors(
    batch: ImageBatch, gt: Ints, det: Ints, correct: Bools, parameters: Parameters
) -> dict[str, NDArray[Any]]:
    """Sum the errors of pairs by image; a pair of texts that are the same to it has none."""
    as_compared = cleaned if parameters.word_spotting else str
    expected = [as_compared(text).upper() for text in some_texts(batch.gt.texts, gt)]
    read = [text.upper() for text in some_texts(batch.det.texts, det)]
    read = [
        one if right else other
        for one, other, right in zip(expected, read, correct.tolist(), strict=True)
    ]
    edits = edit_distances(expected, read)
    longest = np.array(
        [max(len(one), len(other)) for one, other in zip(expected, read, strict=True)], np.int64
    )
    words = [text.split() for text in expected]
    of_pairs = {
        "character_edits": edits,
        "characters": np.array([len(text) for text in expected], np.int64),
        "word_edits": edit_distances(words, [text.split() for text in read]),
        "words": np.array([len(text) for text in words], np.int64),
        "normalised_edits": divide(edits.astype(np.float64), longest.astype(np.float64)),
    }
    image, images = batch.gt.image[gt], len(batch.names)
    return {name: per_image(values, image, images) for name, values in of_pairs.items()}


def is_dictionary_word(text: str) -> bool:
    """Whether word spotting looks for an object of this transcription."""
    return DICTIONARY_WORD.fullmatch(cleaned(text)) is not None


def cleaned(text: str) -> str:
    """A transcription as word spotting compares it: without a final 's,
    hyphens at its ends, and punctuation.
    """
    if text.endswith(("'s", "'S")):
        text = text[:-2]
    return text.strip("-").translate(BLANKS).strip()


def spots(gt: str, det: str) -> bool:
    """Whether a detection's text is that of an object, in word spotting."""
    return cleaned(gt).upper() == det.upper()


def reads(gt: str, det: str) -> bool:
    """Whether a detection's text is that of an object, of which one
    punctuation mark at either end may be missing.
    """
    gt, det = gt.upper(), det.upper()
    if gt == det:
        return True
    firsts = (0, 1) if gt[:1] in PUNCTUATION else (0,)
    lasts = (0, 1) if gt[-1:] in PUNCTUATION else (0,)
    return any(gt[first : len(gt) - last] == det for first in firsts for last in lasts)


def reads_inside_punctuation(gt: str, det: str) -> bool:
    """Whether both texts are the same but for punctuation at their ends."""
    return gt.upper().strip(PUNCTUATION) == det.upper().strip(PUNCTUATION)


def needs(batch: ImageBatch, parameters: Parameters) -> None:
    """Refuse detections without confidences if `order` asks for them, and images without a lexicon.

    Raises
    ------
    InputError
    """
    needs_confidences(batch, parameters)
    if parameters.lexicon:
        lexicons_of(batch, parameters.lexicon, parameters.lexicon_edits, parameters.normalisation)


# Scores -------------------------------------------------------------------------------------------


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Correctly read pairs over the objects that count, and over the detections that count; error
    rates if asked for.

    Objects and detections without a partner count as pairs with an empty text for 1-NED (Sun et
    al., ICDAR 2019 competition on large-scale street view text), and not for the other rates.
    """
    found = _without_rates(tally, parameters)
    if tally.normalised_edits is None:
        return found
    alone = tally.counted_gt_objects + tally.counted_detections - 2 * tally.one_to_one
    return found | {
        "one_minus_ned": _one_minus(tally.normalised_edits + alone, tally.one_to_one + alone),
        "character_error_rate": rate(tally.character_edits, tally.characters),
        "word_error_rate": rate(tally.word_edits, tally.words),
    }


def _without_rates(tally: Tally, parameters: Parameters) -> Scores:
    return scores_of(tally, tally.correctly_read, tally.correctly_read)


def image_scores(tally: Tally, parameters: Parameters) -> Scores:
    """As `scores`, for one image: without objects that count its recall and
    precision are those of the program.
    """
    return scores(tally, parameters) | image_scores_by(_without_rates)(tally, parameters)


def _one_minus(errors: Number, number: Number) -> Number:
    return where(number > 0, 1.0 - ratio(errors, number), None)


PROTOCOL = Protocol(
    name="iou-crw",
    title="IoU + correctly recognised words (ICDAR 2015 end-to-end)",
    version=3,
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    image_scores=image_scores,
    needs=needs,
    by_level=by_level,
    takes_masks=False,
    needs_texts=True,
    object_credit=mean_of("text_correct"),
    unbounded=("character_error_rate", "word_error_rate"),
)
