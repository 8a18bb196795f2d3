"""Where the score is lost: results do not tell, so detections are diagnosed again from the shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaltex_cli.diagnose.diagnosis import Diagnosis, Diagnostician, diagnosed
from evaltex_cli.diagnose.error_types import Thresholds
from evaltex_cli.diagnose.tables import fields
from evaltex_cli.evaluation.evaluate import Progress
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.protocols import config
from evaltex_cli.report.content import Result

THRESHOLDS = Thresholds()
MEANINGS = {
    "missed": "an object that no detection is on",
    "split": "an object that needs several detections",
    "merged": "a detection that several objects need",
    "loose": f"less than {100 * THRESHOLDS.loose:g} % of the detection is text",
    "tight": f"less than {100 * THRESHOLDS.tight:g} % of the object is covered",
    "false": "a detection on nothing",
    "duplicate": "a detection that every object it is on does without",
    "interaction": "what repairing all kinds at once changes beyond the sum of each alone",
    "unexplained": "what is lost still when all kinds are repaired",
}
"""What the page says of the rows of its table."""
OF_MASKS = (
    "These results are of label pictures. Mistakes are told and repaired by outlines, so where their score is lost is"
    " not shown."
)
SCORED_OTHERWISE = (
    "These results were made by another version, and this one scores the same detections otherwise; evaluate again to"
    " see where the score is lost."
)
_SHOWN = ("scores", "losses", "kinds", "interaction", "unexplained", "breakdowns")


def of_inputs(
    rows: Sequence[Sequence[Result]], inputs: Sequence[Inputs], progress: Progress | None = None
) -> list[dict[str, Any]]:
    """Diagnose every detector, in one pass over its images for all protocols; return `contents`.

    Parameters
    ----------
    rows : sequence of sequence of Result
        One per protocol; in each, one per detector.
    inputs : sequence of Inputs
        Of each detector.
    progress : callable, optional
        Gets the number of images done, and of all, those of each detector counted.
    """
    measured = [row for row in rows if all(result.document.options.masks is None for result in row)]
    diagnoses = [
        {
            diagnosis.protocol: diagnosis
            for diagnosis in _diagnosed([row[k] for row in measured], of_detector, _part(progress, k, len(inputs)))
        }
        for k, of_detector in enumerate(inputs)
    ]
    return contents(rows, diagnoses)


def contents(rows: Sequence[Sequence[Result]], diagnoses: Sequence[Mapping[str, Diagnosis]]) -> list[dict[str, Any]]:
    """Return what the page shows of diagnoses.

    Parameters
    ----------
    rows : sequence of sequence of Result
        One per protocol; in each, one per detector.
    diagnoses : sequence of mapping
        One per detector, by protocol; without those of label pictures.

    Returns
    -------
    list of dict
        One per protocol: ``systems``, one diagnosis per detector, or ``note``, why there are none.
    """
    return [_content(row, [of_detector.get(row[0].protocol.name) for of_detector in diagnoses]) for row in rows]


def _diagnosed(results: Sequence[Result], inputs: Inputs, progress: Progress | None) -> list[Diagnosis]:
    if not results:
        return []
    parameters = {
        result.protocol.name: config.checked(result.protocol.name, result.document.parameters) for result in results
    }
    return diagnosed(inputs, parameters, Diagnostician(THRESHOLDS), progress)


def _part(progress: Progress | None, k: int, parts: int) -> Callable[[int, int], None] | None:
    return None if progress is None else lambda done, images: progress(k * images + done, parts * images)


def _content(row: Sequence[Result], diagnoses: Sequence[Diagnosis | None]) -> dict[str, Any]:
    known = [diagnosis for diagnosis in diagnoses if diagnosis is not None]
    if len(known) < len(row):
        return {"note": OF_MASKS}
    if not all(_is_of(one.scores, result.document.scores) for one, result in zip(known, row, strict=True)):
        return {"note": SCORED_OTHERWISE}
    return {"systems": [{name: fields(one)[name] for name in _SHOWN} for one in known]}


def _is_of(found: Mapping[str, float], stored: Mapping[str, Any]) -> bool:
    return all(math.isclose(value, stored.get(name) or 0.0, abs_tol=1e-9) for name, value in found.items())
