"""The settings that are tried: what is known to differ between programs in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
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
    "min_confidence": tuple(k / 20 for k in range(1, 20)),
}
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
    def reading(self) -> dict[str, Any]:
        """The changes of how inputs are read."""
        return {name: value for name, value in self.changes if name in READING}

    @property
    def parameters(self) -> Any:
        """The protocol's parameters record; raises `ConfigError` where values contradict."""
        given = {name: value for name, value in self.changes if name not in READING}
        return config.checked(self.protocol, given)

    def adds_to(self, other: Setting) -> bool:
        """Whether this is another setting with more changes."""
        return self.protocol == other.protocol and {*other.changes} <= {*self.changes}

    def arguments(self) -> list[str]:
        """Return the options of a command."""
        arguments = ["--protocol", self.protocol]
        for name, value in self.changes:
            if name in READING:
                arguments += [f"--{name.replace('_', '-')}", str(value)]
            else:
                arguments += ["--set", f"{self.protocol}.{name}={config.written(value)}"]
        return arguments


def settings(
    protocol: str, count: int, has_confidences: bool, has_dont_care: bool = True
) -> Iterator[Setting]:
    """Yield the settings of a protocol with so many changes that may change the scores of inputs
    with or without confidences and don't care.
    """
    known: dict[str, Sequence[Any]] = {
        field.name: [value for value in _values(field) if value != field.default]
        for field in fields(load(protocol).parameters)
    }
    known |= READING
    if not has_dont_care:
        del known["dont_care"]
    if not has_confidences:
        del known["min_confidence"]
    for names in combinations(known, count):
        for values in product(*(known[name] for name in names)):
            setting = Setting(protocol, tuple(zip(names, values, strict=True)))
            if not has_confidences and ("order", "confidence") in setting.changes:
                continue
            try:
                _ = setting.parameters
            except ConfigError:  # values that contradict each other
                continue
            yield setting


def _values(field: Any) -> Sequence[Any]:
    if field.name in _CHOICES:
        return (True, False) if isinstance(field.default, bool) else field.metadata["choices"]
    return _THRESHOLDS.get(field.name, ())
