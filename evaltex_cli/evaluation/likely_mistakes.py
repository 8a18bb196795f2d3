"""What a run says of inputs that were probably not meant so: sides swapped, coordinates read in
another way.

A few images are looked at, which takes less than a fiftieth of the time of a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evaltex_cli.evaluation import swapped_inputs
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.evaluation.unusual_values import sample as sample_of
from evaltex_cli.evaluation.unusual_values import unusual_values

if TYPE_CHECKING:
    from evaltex_cli.evaluation.coordinate_mixups import Misreading

FEW_IMAGES, MANY_IMAGES = 20, 100
SHARE = 50
"""One of so many images is looked at; `FEW_IMAGES` at least, and `MANY_IMAGES` at most."""
FEW_OBJECTS = 50
"""With fewer objects on a side more images are looked at."""
LOW = 0.3
"""A headline score below this is low."""
AMOUNTS = ("nothing matches", "hardly anything matches", "little matches")
"""How the warnings of low scores begin."""
_CLEARLY_BETTER = 0.4
_AGREE = 0.5
"""Mean best IoU from which the boxes of both sides agree."""


def explained(evaluations: Sequence[Evaluation], inputs: Inputs) -> list[Evaluation]:
    """Add to the warnings what is probably wrong with the inputs, and to those of low scores why
    they are low.

    Parameters
    ----------
    evaluations : sequence of Evaluation
    inputs : Inputs
        What was evaluated. Some of it is read again, unless it has label pictures.
    """
    if inputs.options.masks is not None or not inputs.gt.names or not inputs.det.names:
        return list(evaluations)
    few = min(max(FEW_IMAGES, len(inputs.gt.names) // SHARE), MANY_IMAGES)
    sources = inputs.gt, inputs.det
    samples = [sample_of(source, few) for source in sources]
    swapped = swapped_inputs.swapped(*sources, few, samples) and swapped_inputs.swapped(*sources)
    always = [*([swapped] if swapped else []), *_angles(inputs, evaluations[0])]
    if 0 < evaluations[0].gt.objects == evaluations[0].gt.dont_care:
        always.append("every object of the ground truth is don't care, so its scores say nothing")
    reasons = _reasons(evaluations, inputs, few, bool(swapped))
    unusual = list(unusual_values(sources, samples))
    fractions = sum(one.kind == "coordinates" for one in unusual)
    are_explained = fractions == 1 and any(reasons)  # which say by which factors they fit
    paths = {"gt": inputs.gt.path, "det": inputs.det.path}
    always += [
        f"{paths[one.side]}: {one.text}"
        for one in unusual
        if not {"coordinates": are_explained, "texts": swapped}.get(one.kind)
    ]
    return [
        replace(one, warnings=[*one.warnings, *always, *why])
        for one, why in zip(evaluations, reasons, strict=True)
    ]


def _angles(inputs: Inputs, evaluation: Evaluation) -> Iterator[str]:
    """Warn of boxes with a fifth number in [0, 1], if the ground truth is of
    rectangles with angles.
    """
    if (inputs.gt.format, inputs.det.format) == (
        "msra-td500",
        "ltrb",
    ) and evaluation.det.confidences:
        yield (
            "the fifth number of the detections' boxes is read as a confidence; if it is an angle,"
            " give --det-format msra-td500"
        )


def _reasons(
    evaluations: Sequence[Evaluation], inputs: Inputs, few: int, is_swapped: bool
) -> list[list[str]]:
    """Return for each evaluation why its score is low."""
    if not any(one.is_low(LOW) for one in evaluations):
        return [[] for _ in evaluations]
    from evaltex_cli.evaluation.coordinate_mixups import agreement, best_misreading, sample

    batch = sample(inputs.gt, inputs.det, inputs.paired, few)
    if min(batch.gt.count, batch.det.count) < FEW_OBJECTS:
        batch = sample(inputs.gt, inputs.det, inputs.paired)
    misread = best_misreading(batch)
    boxes_agree = None if batch.gt.dont_care.all() else agreement(batch)
    return [_reason(one, misread, boxes_agree, is_swapped) for one in evaluations]


def _reason(
    evaluation: Evaluation, misread: Misreading | None, boxes_agree: float | None, is_swapped: bool
) -> list[str]:
    if not evaluation.is_low(LOW):
        return []
    if misread is not None and (evaluation.is_nearly_zero or misread.after >= _CLEARLY_BETTER):
        return [f"{_how_many(evaluation)}; {misread}"]
    if evaluation.is_nearly_zero and not is_swapped:
        return [f"{_how_many(evaluation)}; {_why(evaluation, boxes_agree)}"]
    return []


def _how_many(evaluation: Evaluation) -> str:
    nothing, hardly_anything, little = AMOUNTS
    if not evaluation.is_nearly_zero:
        return little
    return hardly_anything if evaluation.best_score else nothing


def _why(evaluation: Evaluation, boxes_agree: float | None) -> str:
    """Why nothing matches, if another reading of the coordinates is not why."""
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
