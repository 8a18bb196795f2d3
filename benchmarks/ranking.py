"""Shows how often a ranking is right, on simulated boards whose true ranks are known.

    python benchmarks/ranking.py                        # the table of docs/rank.md; some 20 minutes
    python benchmarks/ranking.py --images 50 --boards 200

Images and detectors are those of `calibration`; scores are those of the protocol `iou`. Five
detectors are equal on one half of the boards; on the other each finds 2 % fewer words than the one
before. The same arguments give the same table.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
from calibration import detector_on, images_of, parser, print_lines, scores_of

from evaltex_cli.protocols.base import EvidenceRows, load
from evaltex_cli.protocols.config import parameters_of
from evaltex_cli.ranking.board import Settings
from evaltex_cli.ranking.entry import Entry, Subsets, drawn_of
from evaltex_cli.ranking.ranking import rank

IMAGES = (50, 100, 200, 500)
EQUAL, UNEQUAL = (1.0,) * 5, (1.0, 0.98, 0.96, 0.94, 0.92)
RECALL = 0.7
_PROTOCOL = load("iou")
_PARAMETERS = parameters_of("iou", [])


def board(
    rng: np.random.Generator, images: int, shares: Sequence[float], settings: Settings
) -> dict[str, Entry]:
    """Simulate a board: detectors that find these shares of the words, on the same images."""
    drawn = images_of(rng, images, RECALL)
    names = [str(k) for k in range(images)]
    entries = {}
    for k, share in enumerate(shares):
        rows = EvidenceRows(names, detector_on(rng, drawn, share))
        subsets = drawn_of(_PROTOCOL, _PARAMETERS, rows, Subsets(settings.resamples, settings.seed))
        scores = scores_of(rows.tally.sum())
        entries[str(k)] = Entry(_PROTOCOL, _PARAMETERS, "", scores, rows, subsets, [])
    return entries


def shares_of(images: int, boards: int, settings: Settings, seed: int) -> list[float]:
    """Return a row of the table: equal boards with any difference; rank intervals that
    contain the true rank, of each detector and of all five at once; neighbours distinguished.
    """
    rng = np.random.default_rng([seed, images])
    wrong = contained = all_contained = apart = 0
    for _ in range(boards):
        found = rank({"": {"iou": board(rng, images, EQUAL, settings)}}, [], settings)
        equal = found.datasets[0].protocols["iou"]
        wrong += any(one.groups != "a" for one in equal.detectors)
        found = rank({"": {"iou": board(rng, images, UNEQUAL, settings)}}, [], settings)
        unequal = found.datasets[0].protocols["iou"]
        hits = [
            first <= int(one.label) + 1 <= last
            for one in unequal.detectors
            for first, last in [one.rank_interval]
        ]
        contained += sum(hits)
        all_contained += all(hits)
        apart += sum(
            int(pair.b) == int(pair.a) + 1
            and pair.p_corrected is not None
            and pair.p_corrected < 1 - settings.level
            for pair in unequal.pairs
        )
    detectors = len(UNEQUAL)
    return [
        wrong / boards,
        contained / boards / detectors,
        all_contained / boards,
        apart / boards / (detectors - 1),
    ]


def table(arguments: argparse.Namespace) -> Iterator[str]:
    """Yield the lines of a Markdown table, in per cent."""
    heads = [
        "equal: any difference",
        "true rank in interval",
        "all five",
        "neighbours distinguished",
    ]
    yield f"| correction | images | {' | '.join(heads)} |"
    yield "| --- | ---: |" + " ---: |" * len(heads)
    for correction in arguments.correction:
        settings = Settings(resamples=arguments.resamples, correction=correction)
        for images in arguments.images:
            found = shares_of(images, arguments.boards, settings, arguments.seed)
            cells = " | ".join(f"{100 * share:.1f}" for share in found)
            yield f"| {correction} | {images} | {cells} |"


def main(given: Sequence[str] | None = None) -> None:
    """Print the table."""
    options = parser(__doc__)
    options.set_defaults(images=IMAGES)
    options.add_argument("--boards", type=int, default=1000, help="boards per row, of either kind")
    options.add_argument("--correction", nargs="+", default=["max-t", "holm"])
    print_lines(table(options.parse_args(given)))


if __name__ == "__main__":
    main()
