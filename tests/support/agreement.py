"""Whether an evaluation by EvaLTex agrees with `reference_evaltex`."""

from __future__ import annotations

from typing import Any

import pytest

from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.results.stored_images import PARTNERS, entry_of


def assert_same(found: Any, expected: Any, where: str) -> None:
    """Equal, numbers to 1e-9; the reference writes IDs as text."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            assert_same(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for k, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert_same(a, b, f"{where}[{k}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, abs=1e-9), where
    else:
        assert str(found) == str(expected), where


def assert_agrees(result: Evaluation, expected: dict[str, Any]) -> None:
    assert_same(result.scores, expected["scores"], "scores")
    assert [image.name for image in result.images] == list(expected["images"])
    for image in result.images:
        reference = expected["images"][image.name]
        assert_same(image.scores, reference["scores"], image.name)
        for side, partners in PARTNERS.items():
            entries = [entry_of(one, partners) for one in getattr(image, side)]
            assert_same(entries, reference[side], image.name)
