"""Warnings about what was read, whatever the protocol."""

from __future__ import annotations

from evaltex_cli.errors import counted
from evaltex_cli.evaluation.input_counts import InputCounts, InputSummary
from evaltex_cli.formats.options import InputOptions

_UNREACHABLE = "skipped: [it counts|they count], and nothing matches [it|them]"


def input_warnings(
    options: InputOptions,
    gt_summary: InputSummary,
    det_summary: InputSummary,
    lines: InputCounts | None = None,
) -> list[str]:
    """Return what a user should know of what was read: polygons that were
    repaired, images without detections.
    """
    warnings = []
    shapes = {
        "ground truth": gt_summary,
        "detections": det_summary,
        "lines": lines or InputCounts(),
    }
    for side, summary in shapes.items():
        if summary.repaired:
            repaired = "{count} invalid polygon[s] repaired, every lobe kept"
            warnings.append(f"{side}: {counted(summary.repaired, repaired)}")
        if summary.dropped:
            is_counted = options.invalid == "skip" and summary is gt_summary
            dropped = (
                _UNREACHABLE if is_counted else "left out, as if [it was|they were] not in the file"
            )
            warnings.append(
                f"{side}: {counted(summary.dropped, '{count} invalid polygon[s] ' + dropped)}"
            )
        if summary.zero_area:
            without_area = "{count} object[s] without area; [it matches|they match] nothing"
            warnings.append(f"{side}: {counted(summary.zero_area, without_area)}")
    if options.min_confidence is not None:
        warnings.append(_confidence_warning(options.min_confidence, det_summary))
    if det_summary.missing and det_summary.images:
        missing = (
            f"{{count}} of {counted(gt_summary.images, '{count} image[s]')} [has|have] no"
            " detections in "
        )
        warnings.append(counted(det_summary.missing, missing) + det_summary.file)
    elif det_summary.missing:
        nothing = "no image in the detection file, as if nothing was detected"
        warnings.append(f"{det_summary.file}: {nothing}")
    return warnings


def _confidence_warning(minimum: float, det: InputSummary) -> str:
    if not det.confidences and not det.unconfident:
        return (
            f"no detection of {det.file} has a confidence, so all stay, whatever the least"
            " confidence"
        )
    in_all = det.objects + det.unconfident
    return f"detections: {det.unconfident} of {in_all} left out, their confidence below {minimum}"
