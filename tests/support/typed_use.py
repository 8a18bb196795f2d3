"""Python as users with type checkers write it; ``mypy --strict`` reads this
file with the package, tests run it.
"""

from __future__ import annotations

from typing import assert_type

import numpy as np

from evaltex_cli import (
    Accumulator,
    ByProtocol,
    Comparison,
    Diagnosis,
    Evaluation,
    Evaluations,
    Validation,
    compare,
    diagnose,
    evaluate,
    image_objects,
    validate,
)


def use() -> float:
    """Use everything once; return a score."""
    words = image_objects([[0, 0, 9, 9]], texts=["a"])
    gt, det = {"a": words, "b": image_objects()}, [np.array([[0, 0, 9, 9]]), np.zeros((0, 4))]
    assert_type(evaluate([[[0, 0, 9, 9]], []], det, "iou"), Evaluation)
    assert_type(
        evaluate([words], [[[[0, 0], [5, 0], [5, 5]], [[0, 0], [5, 0], [5, 5], [0, 5]]]]),
        Evaluation,
    )
    assert_type(evaluate(gt, gt, "iou", per_image=True, min_confidence=0.5), Evaluation)
    assert_type(evaluate(gt, gt), Evaluation)
    assert_type(
        evaluate(det, det, ["iou", "evaltex"], params={"iou": {"iou": 0.7}}, jobs=1), Evaluations
    )
    assert_type(evaluate(gt, gt, "all")["iou"], Evaluation)
    assert_type(compare(gt, {"a": gt, "b": gt}, "iou", seed=1), Comparison)
    assert_type(diagnose(gt, gt, ["iou"], tight=0.9), ByProtocol[Diagnosis])
    assert_type(diagnose(gt, gt, ["iou"])["iou"], Diagnosis)
    assert_type(validate(gt, gt), Validation)
    one, several = Accumulator("iou"), Accumulator(["iou", "evaltex"])
    one.update(words, [[0, 0, 9, 9]], size=(10, 10), name="a")
    several.update(words, words)
    assert_type(several.compute(), Evaluations)
    named: Accumulator[Evaluation] = one
    assert_type(named.compute(), Evaluation)
    recall = named.compute().headline["recall"]
    return recall or 0.0
