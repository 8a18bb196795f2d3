"""A small data set with confidences, to sweep."""

from __future__ import annotations

import random
from pathlib import Path


def nine_images(folder: Path, spread: int) -> tuple[Path, Path]:
    """Folders of five words in each image, and of detections that begin below `spread` pixels too
    far right.
    """
    made = random.Random(2)
    gt, det = folder / "gt", folder / "det"
    for side in (gt, det):
        side.mkdir()
    for k in range(9):
        boxes = [(70 * n, made.randrange(40)) for n in range(5)]
        (gt / f"gt_img_{k}.txt").write_text(
            "".join(f"{x},{y},{x + 60},{y + 20},word\n" for x, y in boxes)
        )
        (det / f"res_img_{k}.txt").write_text(
            "".join(
                f"{x + made.randrange(spread)},{y},{x + 60},{y + 20},{made.random():.2f}\n"
                for x, y in boxes
            )
        )
    return gt, det
