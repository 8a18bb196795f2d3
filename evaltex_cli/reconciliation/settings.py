"""The settings that are tried: what is known to differ between programs in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, product
from typing import Any, TypeAlias

from evaltex_cli.errors import ConfigError
from evaltex_cli.formats.options import DONT_CARE_OBJECTS, INVALID_POLYGONS
from evaltex_cli.protocols import config
from evaltex_cli.protocols.base import load

Change: TypeAlias = "tuple[str, Any]"
"""A parameter of the protocol, or one of `READING`, and its value."""
READING: Mapping[str, Sequence[Any]] = {
    "invalid": [policy for policy in INVALID_POLYGONS if policy not in ("repair", "error")],
    "dont_care": DONT_CARE_OBJECTS[1:],
}
CONFIDENCES = tuple(k / 20 for k in range(1, 20))
"""Thresholds that are tried where detections have confidences."""
_THRESHOLDS: Mapping[str, Sequence[float]] = {
    "iou": (0.3, 0.4, 0.6, 0.7, 0.75, 0.8),
    "t_r": (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "t_p": (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "dont_care_overlap": (0.0, 0.1, 0.3, 0.4, 0.5, 0.7, 1.0),
    "center": (0.0, 0.5),
    "split_weight": (0.0, 1.0),
    "merge_weight": (0.0, 0.8, 1.0),
    "det_border": (0.0,),
    "overlap_filter": (0.0,),
    "area_precision": (0.3, 0.5),
    "recall_granularity_penalty": (0.0,),
    "precision_granularity_penalty": (0.0,),
    "tolerance": (0.0,),
}
_CHOICES = (
    *("variant", "preset", "shape", "zero_rectangles", "scatter", "match", "order", "pairing"),
    *("truncate", "self_crossing", "unrotated", "reference", "annotation", "split", "region"),
    *("split_function", "case_sensitive", "word_spotting", "strip"),
)
"""Parameters of which all values are tried."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A protocol with what is changed against its defaults."""

    protocol: str
    changes: tuple[Change, ...] = ()

    @property
    def reading(self) -> tuple[Change, ...]:
        """The changes of how inputs are read."""
        return tuple(change for change in self.changes if change[0] in (*READING, "min_confidence"))

    @property
    def parameters(self) -> Any:
        """The protocol's parameters record; raises `ConfigError` where values contradict."""
        reading = self.reading
        given = {name: value for name, value in self.changes if (name, value) not in reading}
        return config.checked(self.protocol, given)

    @property
    def measured(self) -> Any:
        """The parameters without DetEval's graphs, which take most of the time: no figure depends
        on them, but those of the preset auc, which has them whatever is set.
        """
        parameters = self.parameters
        graphs = hasattr(parameters, "curve_points")
        return replace(parameters, curve_points=0) if graphs else parameters

    def arguments(self, base: Any) -> list[str]:
        """Return the options of a command, which without them has the parameters `base`."""
        wanted = self.parameters
        arguments = ["--protocol", self.protocol]
        for field in fields(wanted):
            value = getattr(wanted, field.name)
            if value != getattr(base, field.name):
                arguments += ["--set", f"{self.protocol}.{field.name}={config.written(value)}"]
        for name, value in self.reading:
            arguments += [f"--{name.replace('_', '-')}", str(value)]
        return arguments


def alternatives(protocol: str, has_confidences: bool, has_dont_care: bool = True) -> list[Change]:
    """Return every single change of a protocol that may change the scores of some inputs."""
    changes: list[Change] = [
        (field.name, value)
        for field in fields(load(protocol).parameters)
        for value in _values(field)
        if value != field.default
    ]
    changes += [(name, value) for name, values in READING.items() for value in values]
    if not has_dont_care:
        changes = [change for change in changes if change[0] != "dont_care"]
    if has_confidences:
        return changes + [("min_confidence", value) for value in CONFIDENCES]
    return [change for change in changes if change != ("order", "confidence")]


def _values(field: Any) -> Sequence[Any]:
    if field.name in _CHOICES:
        return (True, False) if isinstance(field.default, bool) else field.metadata["choices"]
    return _THRESHOLDS.get(field.name, ())


def settings(protocol: str, changes: Sequence[Change], count: int) -> Iterator[Setting]:
    """Yield the settings of a protocol with so many changes, each of another parameter."""
    by_name: dict[str, list[Change]] = {}
    for change in changes:
        by_name.setdefault(change[0], []).append(change)
    for names in combinations(by_name, count):
        for chosen in product(*(by_name[name] for name in names)):
            setting = Setting(protocol, chosen)
            try:
                _ = setting.parameters
            except ConfigError:  # values that contradict each other
                continue
            yield setting
