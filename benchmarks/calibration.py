"""Shows how often intervals and p-values are right, on simulated detectors whose true scores are
known.

    python benchmarks/calibration.py                              # figures in docs/speed.md
    python benchmarks/calibration.py --images 10 20 --trials 500  # quicker; all take 20 minutes
    python benchmarks/calibration.py --units                      # documents of several images

Each image has 1 or more words (geometric, 6 in the mean) and its own difficulty (beta), so that its
words are found or missed together; detectors differ in each image at random (normal), and have
false positives (Poisson). Scores are those of the protocol `iou`. One pair of detectors is equal;
in another the second finds 5 % fewer words. With --units a share of what differs between detectors
is common to all images of a unit (intraclass correlation). The same arguments give the same table.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.evaluation.extras import Bootstrap
from evaltex_cli.evaluation.groups import by_unit
from evaltex_cli.protocols.base import EvidenceRows, Scores, load
from evaltex_cli.protocols.config import parameters_of
from evaltex_cli.protocols.tally import Tally
from evaltex_cli.results import significance

IMAGES = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500)
RECALLS = (0.7, 0.9)
WORSE = 0.95
DESIGNS = (
    *((1, 0.0, 6), (1, 0.0, 20), (1, 0.0, 500), (10, 0.0, 20), (10, 0.1, 20), (10, 0.3, 12)),
    *((10, 0.3, 50), (10, 0.5, 6), (10, 0.5, 100), (50, 0.1, 20), (50, 0.3, 50), (50, 0.5, 12)),
)
"""Images of a unit, intraclass correlation, units."""
SCORES = ("recall", "precision", "hmean")
_POPULATION = 1_000_000
_PROTOCOL = load("iou")
_PARAMETERS = parameters_of("iou", [])


@dataclass(frozen=True)
class Images:
    """Numbers of words, and the probability that a word is found."""

    words: NDArray[np.int64]
    ease: NDArray[np.float64]


def images_of(rng: np.random.Generator, count: int, recall: float) -> Images:
    """Draw images on which a detector finds this share of the words, in the mean."""
    return Images(rng.geometric(1 / 6, count), rng.beta(3 * recall, 3 * (1 - recall), count))


def detector_on(
    rng: np.random.Generator, images: Images, share: float = 1.0, size: int = 1, common: float = 0.0
) -> Tally:
    """Return a detector's evidence on images; `share` makes it find fewer words. Units have `size`
    images, which have a share of the detector's chance in common.
    """
    count = len(images.words)
    chance = np.sqrt(1 - common) * rng.normal(0, 0.1, count)
    chance += np.sqrt(common) * rng.normal(0, 0.1, count // size).repeat(size)
    ease = np.clip(images.ease + chance, 0, 1) * share
    found = rng.binomial(images.words, ease)
    false = rng.poisson(0.25 * images.words)
    return _PROTOCOL.tally.from_columns(
        {
            "gt_objects": images.words,
            "counted_gt_objects": images.words,
            "detections": found + false,
            "counted_detections": found + false,
            "one_to_one": found,
        }
    )


def scores_of(tally: Tally) -> Scores:
    """Score summed evidence."""
    return _PROTOCOL.scores(tally, _PARAMETERS)


def calibration(
    images: int,
    recall: float,
    trials: int,
    resamples: int,
    seed: int,
    size: int = 1,
    common: float = 0.0,
) -> list[float]:
    """Return the shares of a row of the table, each for all of `SCORES`.

    They are: p < 0.05 for equal detectors; the interval of the difference contains the true one,
    for a worse detector; the interval of a score contains the true one. Intervals that are missing
    are left out; NaN if all are.
    """
    rng = np.random.default_rng([seed, images])
    population = images_of(rng, _POPULATION, recall)
    truths = [scores_of(detector_on(rng, population, share).sum()) for share in (1.0, WORSE)]
    names = [str(k) for k in range(images)]
    units = [str(k // size) for k in range(images)]
    hits = np.zeros((trials, 3, len(SCORES)))
    for trial in range(trials):
        drawn = images_of(rng, images, recall)
        one, equal, worse = (
            significance.replicates(
                by_unit(EvidenceRows(names, detector_on(rng, drawn, share, size, common)), units),
                scores_of,
                Bootstrap(0.95, resamples, trial),
            )
            for share in (1.0, 1.0, WORSE)
        )
        for k, name in enumerate(SCORES):
            p = significance.of_difference(name, one, equal, images // size, 0.95).p
            difference = significance.of_difference(name, one, worse, images // size, 0.95).interval
            score = significance.of_score(name, one, images // size, 0.95).interval
            hits[trial, 0, k] = p is not None and p < 0.05
            hits[trial, 1, k] = _contains(difference, truths[1][name] - truths[0][name])
            hits[trial, 2, k] = _contains(score, truths[0][name])
    known = ~np.isnan(hits)
    with np.errstate(invalid="ignore"):
        shares = np.where(known, hits, 0).sum(axis=0) / known.sum(axis=0)
    return [float(share) for share in shares.ravel()]


def _contains(interval: tuple[float, float] | None, truth: float) -> float:
    return np.nan if interval is None else float(interval[0] <= truth <= interval[1])


def table(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    heads = [f"{what}: {name}" for what in ("p < 0.05", "difference", "score") for name in SCORES]
    for recall in arguments.recall:
        yield f"Detectors with a recall of about {recall:g}:\n"
        yield "| images | " + " | ".join(heads) + " |"
        yield "| ---: |" + " ---: |" * len(heads)
        for images in arguments.images:
            shares = calibration(
                images, recall, arguments.trials, arguments.resamples, arguments.seed
            )
            cells = ["-" if np.isnan(share) else f"{100 * share:.1f}" for share in shares]
            yield f"| {images} | " + " | ".join(cells) + " |"
        yield ""


def table_of_units(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of a Markdown table: detectors with a recall of about 0.75."""
    yield "| images of a unit | correlation | units | p < 0.05 | difference | score |"
    yield "| ---: |" + " ---: |" * 5
    for size, common, units in DESIGNS:
        shares = calibration(
            *(units * size, 0.75, arguments.trials, arguments.resamples, arguments.seed),
            *(size, common),
        )
        of_hmean = [f"{100 * share:.1f}" for share in shares[SCORES.index("hmean") :: len(SCORES)]]
        yield f"| {size} | {common:g} | {units} | {' | '.join(of_hmean)} |"


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return the options that both simulations have."""
    made = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    made.add_argument("--images", type=int, nargs="+", default=IMAGES, help="numbers of images")
    made.add_argument("--resamples", type=int, default=400, help="random subsets of the images")
    made.add_argument("--seed", type=int, default=0)
    return made


def print_lines(lines: Iterable[str]) -> None:
    """Print each line as soon as it is there."""
    for line in lines:
        print(line, flush=True)


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables."""
    options = parser(__doc__)
    options.add_argument(
        "--recall", type=float, nargs="+", default=RECALLS, help="recalls of the detectors"
    )
    options.add_argument("--trials", type=int, default=4000, help="data sets per row")
    options.add_argument("--units", action="store_true", help="documents of several images")
    arguments = options.parse_args(given)
    print_lines(table_of_units(arguments) if arguments.units else table(arguments))


if __name__ == "__main__":
    main()
