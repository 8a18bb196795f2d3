"""How images are cut into batches."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np

from evaltex_cli.evaluation import batches
from evaltex_cli.evaluation.pairing import NO_DETECTIONS
from evaltex_cli.records import offsets_of


def test_the_last_batches_are_small_and_no_image_is_left_out() -> None:
    rng = np.random.default_rng(1)
    gt, det = (rng.integers(0, 32, 6000) for _ in range(2))
    paired = rng.permutation(6000)
    paired[:100] = NO_DETECTIONS
    weights = 1 + batches.BYTES_OF_OBJECT * gt
    weights[100:] += 1 + batches.BYTES_OF_OBJECT * det[paired[100:]]
    sides = [SimpleNamespace(objects=SimpleNamespace(offsets=offsets_of(n))) for n in (gt, det)]
    sides[0].names = range(6000)
    inputs = SimpleNamespace(
        gt=sides[0],
        det=sides[1],
        paired=paired,
        options=SimpleNamespace(masks=None),
    )

    cuts = list(batches.cut(inputs))  # type: ignore[arg-type]

    assert cuts[0][0] == 0
    assert cuts[-1][1] == 6000
    assert all(before[1] == after[0] for before, after in pairwise(cuts))
    sizes = [int(weights[start:stop].sum()) for start, stop in cuts]
    assert batches.BATCH_BYTES - 4000 < sizes[0] <= batches.BATCH_BYTES
    assert all(batches.LEAST_BYTES / 2 < size < batches.LEAST_BYTES * 3 / 2 for size in sizes[-3:])
    assert len(cuts) < 30
    alone = list(batches.cut(inputs, are_shared=False))  # type: ignore[arg-type]
    assert len(alone) == -(-weights.sum() // (batches.BATCH_BYTES - 4000))
    assert alone[-1][1] == 6000
