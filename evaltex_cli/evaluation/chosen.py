"""The protocols and parameters that a user of the Python functions has chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from evaltex_cli.errors import ConfigError, quote
from evaltex_cli.errors.suggestions import nearest
from evaltex_cli.evaluation.evaluation import Evaluation, Evaluations
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load

ALL = "all"
OPTIONS = (
    *("params", "preset", "per_image", "jobs", "progress", "sizes", "gt_format", "det_format"),
    *("gt_level", "det_level", "gt_classes", "det_classes"),
    *("images", "gt_images", "det_images", "max_pixels", "min_confidence", "invalid_polygons"),
    *("coordinates", "columns", "only", "dont_care", "gt_lines", "thresholds", "edges", "labels"),
    *("resamples", "seed", "level", "points", "folds", "tolerance", "max_detections"),
    *("confidence_intervals",),
)
"""Keywords of the Python functions, which are suggested for others."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Protocols and their parameters."""

    records: Mapping[str, Any]
    """Name -> parameters record."""
    is_one: bool = True
    """Whether one name was given, so that the result is of one."""
    is_all: bool = False
    """Whether ``"all"`` was given, so that what the input does not allow is left out."""

    def result(
        self, evaluations: Mapping[str, Evaluation], left_out: Mapping[str, str] | None = None
    ) -> Evaluation | Evaluations:
        """Return the only evaluation, or all of them by protocol."""
        if self.is_one:
            return next(iter(evaluations.values()))
        return Evaluations(evaluations, left_out or {})


def chosen_parameters(
    protocol: str | Iterable[str],
    params: Mapping[str, Any] | None = None,
    given: Mapping[str, Any] | None = None,
) -> Chosen:
    """Return the parameters of the protocols that were named; ``"all"`` names all.

    `params` are parameter -> value, of the only protocol, or protocol -> such a mapping; `given`
    are keywords: more parameters of the only protocol. Raises `ConfigError`.
    """
    is_one = isinstance(protocol, str) and protocol.lower() != ALL
    names = _names([protocol] if isinstance(protocol, str) else list(protocol))
    known = {field.name: None for name in names for field in fields(load(name).parameters)}
    for key in given or {}:
        if key not in known:
            hint = nearest(key, [*OPTIONS, *known])
            listed = f"parameters of {names[0]}: {', '.join(known)}"
            raise ConfigError(f"unknown option {quote(key)}{hint}; {listed}")
    by_name: dict[str, Mapping[str, Any]] = {}
    shared: dict[str, Any] = {}
    for key, own in {**(params or {}), **(given or {})}.items():
        if not isinstance(own, Mapping):
            shared[key] = own
        elif key.lower() in names:
            by_name[key.lower()] = own
        else:
            listed = ", ".join(names)
            raise ConfigError(f"params of {quote(key)}, which is not among the protocols {listed}")
    if shared and len(names) > 1:
        key = next(iter(shared))
        example = f"params={{{names[0]!r}: {{{key!r}: ...}}}}"
        raise ConfigError(f"{quote(key)}: several protocols have parameters; give {example}")
    records = {name: config.checked(name, {**by_name.get(name, {}), **shared}) for name in names}
    return Chosen(records, is_one, isinstance(protocol, str) and not is_one)


def _names(given: Sequence[str]) -> list[str]:
    if not all(isinstance(name, str) for name in given) or not given:
        found = f"protocol {quote(str(given))}"
        raise ConfigError(f"{found}; expected a name, a list of names, or 'all'")
    names = [name.strip().lower() for name in given]
    if ALL in names:
        return list(PROTOCOLS)
    return list(dict.fromkeys(load(name).name for name in names))
