"""Shows what choosing a confidence threshold on the images that are scored adds to the score, on
simulated detectors whose confidences carry no information.

    python benchmarks/optimism.py                  # the table of docs/sweep.md; some minutes
    python benchmarks/optimism.py --images 20 --detectors 50

Each image has 1 or more words (geometric, 4 in the mean) and its own difficulty (beta), so that its
words are found or missed together; false detections are Poisson. Every detection has a random
confidence, whether it is right or false. The level that is chosen is then tried on new images of
the same detector: what it scores there is what the cross-validated score estimates. The same
arguments give the same table.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaltex_cli import evaluate, image_objects, sweep
from evaltex_cli.records import Objects

WIDTH, HEIGHT = 40, 20
NEW_IMAGES = 500


@dataclass(frozen=True)
class Images:
    """Ground truth and detections of some images."""

    gt: list[Objects]
    det: list[Objects]


def simulated(rng: np.random.Generator, count: int, recall: float, false: float) -> Images:
    """Draw images on which a detector finds this share of the words, with so many false detections
    for each word.
    """
    gt, det = [], []
    for words in rng.geometric(1 / 4, count).tolist():
        boxes = row_of_boxes(words, 0)
        found = boxes[rng.random(words) < rng.beta(3 * recall, 3 * (1 - recall))]
        wrong = row_of_boxes(int(rng.poisson(false * words)), 2 * HEIGHT)
        detections = np.concatenate([found, wrong])
        gt.append(image_objects(boxes))
        det.append(image_objects(detections, confidences=rng.random(len(detections)).round(4)))
    det[0] = image_objects(row_of_boxes(1, 0), confidences=[0.5])
    return Images(gt, det)


def row_of_boxes(count: int, top: float) -> NDArray[np.float64]:
    """(count, 4) boxes in a row that do not overlap."""
    left = np.arange(count, dtype=np.float64) * 2 * WIDTH
    sides = [left, np.full(count, top), left + WIDTH, np.full(count, top + HEIGHT)]
    return np.stack(sides, axis=1)


def scores_of(seed: int, images: int, folds: int) -> tuple[float, float, float]:
    """Return F at the operating point, cross-validated, and of its level on new images."""
    rng = np.random.default_rng(seed)
    recall, false = rng.uniform(0.5, 0.9), rng.uniform(0.1, 0.6)
    here = simulated(rng, images, recall, false)
    new = simulated(rng, NEW_IMAGES, recall, false)
    found = sweep(here.gt, here.det, "iou", folds=folds, seed=seed)
    level = found.operating_point.level
    there = evaluate(new.gt, new.det, "iou", min_confidence=level).scores["hmean"]
    assert found.cross_validated is not None
    best = found.operating_point.scores["hmean"]
    return best, found.cross_validated.scores["hmean"], there


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--images", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--detectors", type=int, default=200)
    parser.add_argument("--folds", type=int, default=5)
    given = parser.parse_args()
    heads = ("images", "at the operating point", "cross-validated", "on new images", "optimism")
    more = ("of it above 0", "bias of the cross-validated score")
    print(f"| {' | '.join([*heads, *more])} |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for images in given.images:
        rows = np.array([scores_of(seed, images, given.folds) for seed in range(given.detectors)])
        best, checked, there = rows.mean(axis=0)
        optimism, bias = rows[:, 0] - rows[:, 1], rows[:, 1] - rows[:, 2]
        above = 100 * (optimism > 0).mean()
        print(
            f"| {images} | {best:.4f} | {checked:.4f} | {there:.4f} | {_shown(optimism)} |"
            f" {above:.0f} % | {_shown(bias)} |"
        )


def _shown(values: NDArray[np.float64]) -> str:
    """The mean and its standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():+.4f} ± {error:.4f}"


if __name__ == "__main__":
    main()
