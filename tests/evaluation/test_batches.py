"""How images are cut into batches."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np

from evaltex_cli.evaluation import evaluate
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.records import offsets_of


def test_batches_are_of_bounded_size_and_no_image_is_left_out() -> None:
    rng = np.random.default_rng(1)
    gt, det = (rng.integers(0, 32, 6000) for _ in range(2))
    paired = rng.permutation(6000)
    paired[:100] = NO_DETECTIONS
    weights = 1 + gt
    weights[100:] += 1 + det[paired[100:]]
    sides = [SimpleNamespace(objects=SimpleNamespace(offsets=offsets_of(n))) for n in (gt, det)]
    options = SimpleNamespace(masks=None)
    inputs = SimpleNamespace(gt=sides[0], det=sides[1], paired=paired, options=options)

    cuts = list(evaluate.cut(inputs))  # type: ignore[arg-type]

    assert (cuts[0][0], cuts[-1][1]) == (0, 6000)
    assert all(before[1] == after[0] for before, after in pairwise(cuts))
    largest = max(int(weights[start:stop].sum()) for start, stop in cuts)
    assert evaluate.BATCH_OBJECTS - 64 < largest <= evaluate.BATCH_OBJECTS
