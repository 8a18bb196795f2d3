"""Whether what a result says of one thing in several places agrees: it may have been edited, or
damaged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from evaltex_cli.errors import ConfigError, counted, quote
from evaltex_cli.evaluation.evaluation import is_defined
from evaltex_cli.evaluation.tally import Run, image_scores
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.score_columns import score_columns
from evaltex_cli.protocols.tally import Totals
from evaltex_cli.results.image_table import ImageTable

_TOLERANCE = 1e-9
"""Relative and absolute: other versions of numpy may differ in last digits."""


def faults_of_scores(decoded: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a data set's scores, by their names, kinds and totals; nothing for
    unknown protocols and revisions.
    """
    run = _run(decoded)
    if run is None:
        return
    stored = decoded["scores"]
    try:
        computed = run.protocol.all_scores(run.protocol.tally(**decoded["totals"]), run.parameters)
        are_named = computed.keys() == stored.keys() and are_alike(computed, stored, _layout)
    except (KeyError, TypeError, ValueError, IndexError):
        are_named = False
    if not are_named:
        yield f"scores are not those of {run.protocol.name}"
    elif not _are_equal(computed, stored):
        yield "scores, which are not those of the totals"


def _run(decoded: Mapping[str, Any]) -> Run | None:
    """The run that made a result; None for unknown protocols and revisions."""
    if decoded["protocol"] not in PROTOCOLS:
        return None
    protocol = load(decoded["protocol"])
    if f"|revision:{protocol.version}|" not in decoded["signature"]:
        return None
    try:
        return Run(protocol, config.checked(protocol.name, decoded["parameters"]))
    except ConfigError:
        return None  # reported where the parameters are used


def _are_equal(computed: Any, stored: Any) -> bool:
    """Whether two values are equal, but for the rounding of numbers."""
    if isinstance(computed, list):
        return len(computed) == len(stored) and all(map(_are_equal, computed, stored))
    if isinstance(computed, dict):
        return all(_are_equal(value, stored[name]) for name, value in computed.items())
    if isinstance(computed, str) or computed is None or isinstance(stored, str) or stored is None:
        is_undefined = isinstance(computed, float) and math.isnan(computed)
        return bool(computed == stored) or (is_undefined and stored is None)
    return math.isclose(computed, stored, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)


def faults_of_images(decoded: Mapping[str, Any], table: ImageTable) -> Iterator[str]:
    """Yield what is wrong with the images, all of which are in the table."""
    names, expected = table.rows.names, decoded["inputs"].gt.images
    (name, times), *_ = Counter(names).most_common(1)
    if times > 1:
        yield f"image {quote(name)} is there {times} times"
    elif len(names) != expected:
        yield f"{counted(len(names), '{count} image[s]')}, expected {expected} or none"
    elif not _are_sums(decoded["totals"], table):
        yield "totals, which are not those of the images"
    else:
        yield from _faults_of_image_scores(decoded, table)


def _are_sums(totals: Totals, table: ImageTable) -> bool:
    with np.errstate(over="ignore"):
        sums = {name: np.sum(table.rows.columns[name], axis=0) for name in totals}
    return all(
        np.allclose(sums[name], np.asarray(total, np.float64), rtol=_TOLERANCE, atol=_TOLERANCE)
        for name, total in totals.items()
    )


def _faults_of_image_scores(decoded: Mapping[str, Any], table: ImageTable) -> Iterator[str]:
    run = _run(decoded)
    if run is None:
        return
    try:
        tally = table.rows.typed(run.protocol.tally)
        computed = score_columns(partial(image_scores, run), tally.tally)
    except (KeyError, TypeError, ValueError):
        yield f"totals of images, which are not those of {run.protocol.name}"
        return
    for name, stored in table.scores.items():
        known = np.where(is_defined(name, table.rows.columns), computed[name], np.nan)
        is_equal = np.isclose(known, stored, _TOLERANCE, _TOLERANCE, equal_nan=True)
        if not is_equal.all():
            image = table.rows.names[int(np.argmin(is_equal))]
            yield f"{name} of {quote(image)}, which is not that of the image's totals"
            return


def are_alike(one: Mapping[str, Any], other: Mapping[str, Any], kind: Callable[[Any], Any]) -> bool:
    """Return whether a record has names of another's only, and under each name a value of the same
    kind.
    """
    return one.keys() <= other.keys() and all(kind(one[name]) == kind(other[name]) for name in one)


def _layout(value: Any) -> Any:
    """What all values of a score have in common: the length of a list, and
    the names in its rows.
    """
    if not isinstance(value, list):
        return None
    return [tuple(one) if isinstance(one, dict) else None for one in value]
