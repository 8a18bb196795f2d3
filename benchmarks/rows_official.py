"""The programs of others, where they are: on this machine or in this Python."""

from __future__ import annotations

import os
import shlex
import subprocess
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import make_data
from measure import SHARED, Measured, Ratio, Skipped, Work, process, time_in_turn
from sizes import OBJECTS, Sizes, run_of

OFFICIAL = "EVALTEX_OFFICIAL_{}"
"""Environment variable with the command of a protocol's official program, {gt} and {det} in it."""
LIMITS = dict.fromkeys(("iou", "iou-crw", "tiou", "tedeval", "popeval", "deteval"), 0.35)
LIMITS |= {"icdar2013": 0.35, "cleval": 0.08}
COMPARE_TEXTS = ("iou-crw", "popeval")
LIMIT_OF_ALL = 0.1
LIMIT_OF_COCO = 0.5
READ_AND_EVALUATE = """
import sys
from faster_coco_eval import COCO, COCOeval_faster
gt = COCO(sys.argv[1])
evaluation = COCOeval_faster(gt, gt.loadRes(sys.argv[2]), iouType="segm")
evaluation.evaluate()
evaluation.accumulate()
"""


def official_ratios(_: Path, sizes: Sizes) -> list[Ratio | Skipped]:
    """Whole processes against official programs: PixelLink on ICDAR 2015 by each protocol (made
    detections with texts by those that compare texts), and all protocols on Total-Text against
    DetEval's alone.
    """
    icdar = SHARED / "icdar2015"
    gt, pixellink, texts = (
        icdar / file for file in ("gt.zip", "pixellink.zip", "overlap/e2e_rand1.zip")
    )
    total_text = SHARED / "totaltext" / "gt.zip", SHARED / "totaltext" / "baseline.zip"
    rows: list[Ratio | Skipped] = []
    for name, limit in LIMITS.items():
        detector, det = ("words", texts) if name in COMPARE_TEXTS else ("PixelLink", pixellink)
        rows.append(_against(f"ICDAR 2015, {detector}, `{name}`", name, (gt, det), limit, sizes))
    what = "Total-Text, all protocols"
    return [*rows, _against(what, "deteval_totaltext", total_text, LIMIT_OF_ALL, sizes)]


def _against(
    what: str, program: str, paths: tuple[Path, Path], limit: float, sizes: Sizes
) -> Ratio | Skipped:
    variable = OFFICIAL.format(program.replace("-", "_").upper())
    command = os.environ.get(variable)
    if command is None or not paths[0].exists():
        missing = f"{variable} is not set" if command is None else f"{SHARED} is missing"
        return Skipped(what, missing, limit)
    parts = [part.format(gt=paths[0], det=paths[1]) for part in shlex.split(command)]
    theirs = partial(subprocess.run, parts, check=True, capture_output=True)
    protocol = "all" if program == "deteval_totaltext" else program
    works = [run_of(*paths, "--protocol", protocol), theirs]
    ours, official = time_in_turn(works, 3 * sizes.runs)  # most take half a second or less
    return Ratio(Measured(what, ours), Measured("the official program", official), limit)


def coco_ratio(folder: Path, sizes: Sizes) -> list[Ratio | Skipped]:
    """Quadrilaterals in COCO JSON, against faster-coco-eval's reading and evaluating of them."""
    images = sizes.images * 2 // 5
    what = f"COCO JSON: a run on {images * OBJECTS * 2:,} quadrilaterals of both sides"
    if find_spec("faster_coco_eval") is None:
        return [Skipped(what, "faster-coco-eval is not installed", LIMIT_OF_COCO)]
    _, documents = make_data.make_coco(folder, images, OBJECTS, is_complete=True)
    works: list[Work] = [
        run_of(*documents, "--protocol", "iou"),
        partial(process, "-c", READ_AND_EVALUATE, *documents),
    ]
    ours, theirs = time_in_turn(works, sizes.runs // 2)
    return [Ratio(Measured(what, ours), Measured("faster-coco-eval", theirs), LIMIT_OF_COCO)]
