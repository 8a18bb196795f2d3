"""Options as other tools call them, and what does the same here."""

from __future__ import annotations

from collections.abc import Collection

import click

RES_DIR = "RES_DIR"
FILES = "GT DET"
_OURS = {
    "--min-confidence": (
        *("threshold", "thresh", "conf", "score", "min-score", "confidence-threshold"),
        *("conf-threshold", "conf-thres", "score-threshold", "score-thr"),
    ),
    "--set": ("iou", "iou-threshold", "iou-thr", "iou-thres", "param", "params", "option"),
    "--protocol": ("metric", "metrics", "protocols", "eval", "evaluator", "method", "p"),
    "--preset": ("dataset", "benchmark", "challenge", "data-set"),
    "--jobs": ("workers", "num-workers", "processes", "threads", "parallel", "j", "n"),
    "--output": ("o", "out", "out-file", "save", "output-file"),
    RES_DIR: ("output", "output-dir", "out-dir", "res-dir", "results", "result", "o", "out"),
    "--format": ("json", "csv", "markdown", "md", "latex", "tex", "f"),
    "--report": ("html", "visualize", "vis", "show"),
    "-a": ("per-image", "per-sample", "images-results", "detailed", "all"),
    "--ci": ("bootstrap", "interval", "intervals", "confidence-interval", "confidence-intervals"),
    "--only": ("subset", "names", "ids", "image-ids", "image-list", "list", "split"),
    "--images": ("image-dir", "img-dir", "img", "pictures", "image-folder"),
    "--fail-if": ("fail-under", "fail-below", "min", "gate"),
    "--to": ("target", "output-format", "out-format", "t"),
    "--from": ("source-format", "input-format", "in-format"),
    FILES: (
        *("gt", "ground-truth", "groundtruth", "det", "dt", "pred", "preds", "predictions"),
        *("detections", "submission"),
    ),
}
_SAID = {
    RES_DIR: "Give the folder of the results after GT and DET.",
    FILES: "Give the ground truth and the detections without options: evaltex GT DET.",
    "--set": "Did you mean '--set iou.iou=0.5'?",
    "--format": "Did you mean '--format json'?",
}


def explained(error: click.NoSuchOption, command: click.Command) -> click.UsageError:
    """Return the error with the option of the command that other tools call so, if there is one,
    instead of the options that are spelled likewise.
    """
    name = error.option_name.lstrip("-").replace("_", "-").lower()
    known = [max(param.opts, key=len) for param in command.params]
    ours = next((one for one, others in _OURS.items() if name in others and _has(one, known)), None)
    if ours is None:
        return error
    said = _SAID.get(ours, f"Did you mean '{ours}'?")
    return click.UsageError(f"No such option '{error.option_name}'. {said}", error.ctx)


def _has(ours: str, known: Collection[str]) -> bool:
    needed = {RES_DIR: "res_dir", FILES: "det"}.get(ours, ours)
    return needed in known
