"""What a run says of inputs that were probably not meant so, and why scores are low."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaltex_cli.evaluation import mistakes
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.formats.base import Source
from evaltex_cli.records import Ints

LOW = 0.3
"""A headline score below this is low."""
AMOUNTS = ("nothing matches", "hardly anything matches", "little matches")
"""How the warnings of low scores begin."""
_NEARLY_NOTHING = AMOUNTS[:2]
_NEARLY_ZERO = 0.02
"""Recall and precision up to this are so low that a mistake in the files may be why."""
_CLEARLY_BETTER = 0.4
_AGREE = 0.5
"""Mean best IoU from which the boxes of both sides agree."""


def explained(
    evaluations: Sequence[Evaluation], gt: Source, det: Source, paired: Ints
) -> list[Evaluation]:
    """Add to the warnings what is probably wrong with the inputs, and to those of low scores why
    they are low; `paired` is as from `pairing.pair_images`.
    """
    if not gt.names or not det.names:
        return list(evaluations)
    found = mistakes.suspicions(gt, det)
    is_swapped = any(one.kind == "swapped-sides" for one in found)
    reasons = _reasons(evaluations, gt, det, paired, is_swapped)
    # Of one side alone, why nothing matches says by which factors they fit.
    fractions = [one for one in found if one.kind == "coordinates"]
    if len(fractions) == 1 and any(reasons):
        found.remove(fractions[0])
    always = [one.warning(gt if one.side == "gt" else det) for one in found]
    if 0 < gt.objects.count == gt.objects.dont_care.sum():
        always.append("every object of the ground truth is don't care, so its scores say nothing")
    return [
        replace(one, warnings=[*one.warnings, *always, *why])
        for one, why in zip(evaluations, reasons, strict=True)
    ]


def _reasons(
    evaluations: Sequence[Evaluation], gt: Source, det: Source, paired: Ints, is_swapped: bool
) -> list[list[str]]:
    """Return for each evaluation why its score is low."""
    amounts = list(map(amount_matched, evaluations))
    if not any(amounts):
        return [[] for _ in evaluations]
    batch = mistakes.sample(gt, det, paired)
    misread = mistakes.best_misreading(batch)
    boxes_agree = None if batch.gt.dont_care.all() else mistakes.agreement(batch)
    reasons = []
    for evaluation, amount in zip(evaluations, amounts, strict=True):
        reason, is_nearly_zero = "", amount in _NEARLY_NOTHING
        if misread is not None and (is_nearly_zero or misread.after >= _CLEARLY_BETTER):
            reason = str(misread)
        elif is_nearly_zero and not is_swapped:
            reason = _why(evaluation, boxes_agree)
        reasons.append([f"{amount}; {reason}"] if amount and reason else [])
    return reasons


def amount_matched(evaluation: Evaluation) -> str:
    """Return how the warning of a low score begins; empty if the score is not low."""
    scores, protocol = evaluation.meaningful_scores, evaluation.protocol
    known = [scores[name] for name in ("recall", "precision") if scores.get(name) is not None]
    if len(known) == 2 and evaluation.gt.images and evaluation.det.images:
        best = max(known)
        if best <= _NEARLY_ZERO:
            return AMOUNTS[1] if best else AMOUNTS[0]
    score = scores.get(protocol.main_score)
    return AMOUNTS[2] if isinstance(score, float) and score < LOW else ""


def _why(evaluation: Evaluation, boxes_agree: float | None) -> str:
    """Return why nothing matches, if another reading of the coordinates is not why."""
    if not evaluation.gt.objects:
        return "the ground truth has no object"
    if not evaluation.det.objects:
        return "the detections have no object"
    if boxes_agree is None:
        return "the images with detections have only don't-care objects"
    if boxes_agree < _AGREE:
        return (
            "no other reading of the coordinates makes both sides agree; see `evaltex validate"
            " GT DET`"
        )
    what = "texts" if evaluation.protocol.needs_texts else "rest"
    command = f"`evaltex diagnose GT DET --protocol {evaluation.protocol.name}`"
    return f"the boxes agree (mean best IoU {boxes_agree:.2f}), but not the {what}; see {command}"
