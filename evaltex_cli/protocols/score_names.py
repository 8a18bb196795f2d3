"""Names of scores as users type them: every usual spelling of the F-score is a protocol's own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaltex_cli.errors import ConfigError, nearest, quote

UNBOUNDED = (
    *("generality", "character_error_rate", "word_error_rate", "splits", "merges"),
    *("total_character_error_rate", "total_word_error_rate"),
    *("removed_characters", "missed_characters", "overlapped_characters"),
    "false_positive_characters",
)
"""Scores that are not in [0, 1]: counts, and rates of errors."""
_F_SCORE = r"(?<![a-z0-9])(?:f_?1(?:_?score)?|f_?(?:score|measure)|h_?mean|rq)(?![a-z0-9])"
"""All are the harmonic mean of recall and precision; `pq` calls it RQ."""
_HEADS = {
    "character_error_rate": "pair CER",
    "word_error_rate": "pair WER",
    "total_character_error_rate": "total CER",
    "total_word_error_rate": "total WER",
}
"""What tables call scores with long names."""


def same(name: str) -> str:
    """Return one form for all spellings of a score's name, such as F-Score and f1."""
    return re.sub(_F_SCORE, "hmean", re.sub(r"[-\s]+", "_", name.strip().lower()))


def shown(name: str) -> str:
    """Return what tables over protocols call a score: every F-score is ``hmean``, but for RQ."""
    return "hmean" if name != "rq" and same(name) == "hmean" else _HEADS.get(name, name)


def resolve(typed: str, names: Sequence[str]) -> str:
    """Return which of some scores the user typed; raises `ConfigError` when it is none of them."""
    for name in names:
        if same(typed) in (same(name), same(shown(name))):
            return name
    expected = ", ".join(names)
    raise ConfigError(
        f"unknown score {quote(typed)}{nearest(typed, names)}; expected one of {expected}"
    )


def scalars(scores: Mapping[str, Any]) -> list[str]:
    """Return the names of scores that are one number, defined or not: no curves or series."""
    return [name for name, score in scores.items() if isinstance(score, int | float | None)]
