"""IoU+CRW (Karatzas et al., ICDAR 2015 Robust Reading Competition, end-to-end): IoU pairs with
correctly read words.

Task: end to end; both sides with transcriptions. Pairs are those of `iou`, and a pair is used up
even if its text is wrong; it counts when both texts, in capitals, are the same. In the end-to-end
task (the default) punctuation at the ends of the object's text may be missing; in word spotting,
objects that are no dictionary word are don't care and the others are compared without their
punctuation, while a detection's text is taken as it is.

With `case_sensitive` capitals matter, and with ``strip=none`` punctuation does: only then are texts
the same that are equal character by character.

With a `lexicon` each text that was read is first replaced by the word of it with the smallest edit
distance, as systems do themselves for the "strong", "weak", "generic" and "full" tasks; a detection
whose text is near no word is left out. With `error_rates` the texts of all pairs are also compared
by their edit distances, and the texts of all objects with what was read in their place.

An object whose transcription is empty, on which the program fails, is found by a detection without
text. Other empty cases: as in `iou`.

Examples
--------
Both words are found, but one of them is read wrongly; capitals are no error. One of eight
characters, and one of two words, is wrong; as nothing is missed, the total rates are the same:

>>> from evaltex_cli import Accumulator, image_objects
>>> boxes = [[0, 0, 100, 20], [120, 0, 220, 20]]
>>> accumulator = Accumulator("iou-crw", error_rates=True)
>>> words = image_objects(boxes, texts=["Hotel", "Bar"])
>>> accumulator.update(words, image_objects(boxes, texts=["HOTEL", "Bor"]))
>>> scores = accumulator.compute().scores
>>> {name: round(scores[name], 3) for name in ("precision", "one_minus_ned")}
{'precision': 0.5, 'one_minus_ned': 0.833}
>>> scores["character_error_rate"], scores["word_error_rate"]
(0.125, 0.5)
>>> scores["total_character_error_rate"], scores["total_word_error_rate"]
(0.125, 0.5)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.protocols import iou as iou_protocol
from evaltex_cli.protocols import matching
from evaltex_cli.protocols.base import Evidence, Protocol, Scores, parameter
from evaltex_cli.protocols.iou import convention, counting, pair
from evaltex_cli.protocols.lexicon import fingerprinted, replacements
from evaltex_cli.protocols.object_warnings import object_warning
from evaltex_cli.protocols.scores import image_scores_by, rate, ratio, scores_of, where
from evaltex_cli.protocols.tally import Count, Sum
from evaltex_cli.protocols.texts import edit_distance, normalisation_field, with_normalised_texts
from evaltex_cli.records import Bools, ImageBatch, Ints, Overlaps

PUNCTUATION = "'!?.:,*\"()·[]/"
DICTIONARY_WORD = re.compile("[a-zA-ZÀ-ÖØ-öø-ƿǄ-ɿΆ-Ͽ-]{3,}")
"""What word spotting looks for: three letters or more, or hyphens; ×, ÷ and · are no letters."""
TEXTLESS = (
    "{count} object[s] count[s|] but [has|have] no transcription ({images}); should [it|they] be"
    " ###?"
)
RATES = ("character_error_rate", "word_error_rate")
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
        " or all of them at all ends of both texts (both), or none (none)",
        choices=("gt", "both", "none"),
    )
    case_sensitive: bool = parameter(False, "capitals and small letters are not the same")
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
    error_rates: bool = parameter(
        False, "adds 1-NED, and the character and word error rates of pairs and of all texts"
    )


@dataclass(frozen=True, eq=False)
class Tally(iou_protocol.Tally):
    """Evidence of IoU+CRW: the number of pairs, and of those with the right text.

    If error rates are asked for, also of the pairs: the edits of characters and of words, the
    characters and words of the objects, and the sum of normalised edit distances; and the
    characters and words of objects and detections without a partner.
    """

    correctly_read: Count
    character_edits: Count | None = None
    characters: Count | None = None
    word_edits: Count | None = None
    words: Count | None = None
    normalised_edits: Sum | None = None
    missed_characters: Count | None = None
    missed_words: Count | None = None
    false_characters: Count | None = None
    false_words: Count | None = None


def evidence(batch: ImageBatch, overlaps: Overlaps, parameters: Parameters) -> Evidence:
    """Pair a batch, compare the texts of its pairs, and count those of its images."""
    batch = with_normalised_texts(batch, parameters.normalisation)
    if parameters.word_spotting:
        no_word = [not DICTIONARY_WORD.fullmatch(cleaned(text)) for text in batch.gt.texts]
        dont_care = batch.gt.dont_care | np.array(no_word, bool)
        batch = replace(batch, gt=replace(batch.gt, dont_care=dont_care))
    gt_counts, det_counts, warnings = counting(batch, overlaps, parameters)
    read = replacements(batch, parameters)
    det_counts &= np.array([text is not None for text in read], bool)

    is_free = gt_counts[overlaps.gt] & det_counts[overlaps.det]
    pairs = overlaps.some(pair(overlaps.gt, overlaps.det, overlaps.iou(), is_free, parameters.iou))
    texts = [(batch.gt.texts[i], read[j] or "") for i, j in matching.pairs_of(pairs)]
    is_right = np.array([reads(*both, parameters) for both in texts], bool)
    image, images = batch.gt.image[pairs.gt], len(batch.names)
    errors = {}
    if parameters.error_rates:
        of_pairs = _errors(texts, is_right.tolist(), parameters)
        errors = {
            **{name: matching.per_image(each, image, images) for name, each in of_pairs.items()},
            **_without_partner(batch, gt_counts, det_counts, pairs, read, parameters),
        }
    tally = Tally(
        *matching.object_counts(batch, gt_counts, det_counts),
        one_to_one=np.bincount(image, minlength=images),
        correctly_read=matching.per_image(is_right, image, images),
        **errors,
    )
    values = {"iou": pairs.iou(), "text_correct": is_right.astype(np.float64)}
    textless = gt_counts & ~batch.gt.texts.are_written
    return Evidence(
        tally,
        matching.one_to_one(pairs.gt, pairs.det, gt_counts, det_counts, **values),
        warnings + object_warning(TEXTLESS, batch, textless),
    )


# Texts --------------------------------------------------------------------------------------------


def cleaned(text: str) -> str:
    """A transcription as word spotting compares it: without a final 's, hyphens at its ends, and
    punctuation.
    """
    text = text[:-2] if text.endswith(("'s", "'S")) else text
    return text.strip("-").translate(BLANKS).strip()


def reads(gt: str, det: str, parameters: Parameters) -> bool:
    """Whether a detection's text is that of an object."""
    if parameters.word_spotting:
        return _cased(cleaned(gt), parameters) == _cased(det, parameters)
    gt, det = _cased(gt, parameters), _cased(det, parameters)
    if parameters.strip == "none":
        return gt == det
    if parameters.strip == "both":
        return gt.strip(PUNCTUATION) == det.strip(PUNCTUATION)
    accepted = [gt, gt[1:]] if gt[:1] in PUNCTUATION else [gt]
    accepted += [text[:-1] for text in accepted if gt[-1:] in PUNCTUATION]
    return det in accepted


def _cased(text: str, parameters: Parameters) -> str:
    """Return a text as it is compared; blanks around it are no error where nothing is stripped."""
    text = text.strip() if parameters.strip == "none" else text
    return text if parameters.case_sensitive else text.upper()


def _expected(text: str, parameters: Parameters) -> str:
    """Return the text of an object as error rates compare it."""
    return _cased(cleaned(text) if parameters.word_spotting else text, parameters)


def _errors(
    texts: list[tuple[str, str]], is_right: list[bool], parameters: Parameters
) -> dict[str, NDArray[Any]]:
    """Return the errors of each pair of texts, by the fields of a tally; texts that are the same to
    the comparison have none.
    """
    counts, normalised = [], []
    for (gt, det), right in zip(texts, is_right, strict=True):
        expected = _expected(gt, parameters)
        read = expected if right else _cased(det, parameters)
        edits, words = edit_distance(expected, read), expected.split()
        counts.append((edits, len(expected), edit_distance(words, read.split()), len(words)))
        normalised.append(edits / max(len(expected), len(read), 1))
    names = ("character_edits", "characters", "word_edits", "words")
    columns = np.array(counts, np.int64).reshape(-1, len(names)).T
    return {"normalised_edits": np.array(normalised), **dict(zip(names, columns, strict=True))}


def _without_partner(
    batch: ImageBatch,
    gt_counts: Bools,
    det_counts: Bools,
    pairs: Overlaps,
    read: Sequence[str | None],
    parameters: Parameters,
) -> dict[str, Ints]:
    """Return the characters and words of each image's missed objects and false detections, by the
    fields of a tally.
    """
    missed = np.setdiff1d(np.flatnonzero(gt_counts), pairs.gt)
    false = np.setdiff1d(np.flatnonzero(det_counts), pairs.det)
    expected = [_expected(batch.gt.texts[i], parameters) for i in missed.tolist()]
    seen = [_cased(read[j] or "", parameters) for j in false.tolist()]
    sums = {}
    for name, texts, image in (
        ("missed", expected, batch.gt.image[missed]),
        ("false", seen, batch.det.image[false]),
    ):
        lengths = np.array([(len(text), len(text.split())) for text in texts], np.int64)
        for unit, own in zip(("characters", "words"), lengths.reshape(-1, 2).T, strict=True):
            sums[f"{name}_{unit}"] = matching.per_image(own, image, len(batch.names))
    return sums


# Scores -------------------------------------------------------------------------------------------


def scores(tally: Tally, parameters: Parameters) -> Scores:
    """Correctly read pairs over the objects that count, and over the detections that count; error
    rates if asked for.

    Objects and detections without a partner count as pairs with an empty text for 1-NED (Sun et
    al., ICDAR 2019 competition on large-scale street view text) and for the total rates: what was
    missed is deleted, what is false is inserted. For the other rates they do not count.
    """
    words = scores_of(tally, tally.correctly_read, tally.correctly_read)
    if tally.normalised_edits is None:
        return words
    alone = tally.counted_gt_objects + tally.counted_detections - 2 * tally.one_to_one
    errors, number = tally.normalised_edits + alone, tally.one_to_one + alone
    rates = {
        "one_minus_ned": where(number > 0, 1.0 - ratio(errors, number), None),
        "character_error_rate": rate(tally.character_edits, tally.characters),
        "word_error_rate": rate(tally.word_edits, tally.words),
    }
    if tally.missed_words is None:  # an older result, which does not have these counts
        return words | rates
    sums = tally.as_dict()
    for unit in ("character", "word"):
        missed, false = sums[f"missed_{unit}s"], sums[f"false_{unit}s"]
        edits, expected = sums[f"{unit}_edits"] + missed + false, sums[f"{unit}s"] + missed
        rates[f"total_{unit}_error_rate"] = rate(edits, expected)
    return words | rates


PROTOCOL = Protocol(
    name="iou-crw",
    title="IoU + correctly recognised words (ICDAR 2015 end-to-end)",
    version=3,
    parameters=Parameters,
    tally=Tally,
    evidence=evidence,
    scores=scores,
    convention=convention,
    image_scores=image_scores_by(scores),
    also_shown=(*RATES, *(f"total_{name}" for name in RATES)),
    needs=frozenset({"texts", "outlines"}),
    object_credit=matching.mean_of("text_correct"),
)
