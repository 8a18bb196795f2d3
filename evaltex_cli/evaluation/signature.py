"""The one line that makes a score reproducible, in the manner of sacreBLEU."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from evaltex_cli.version import __version__

INVALID_POLYGONS = ("repair", "drop", "error")
"""What may become of invalid polygons (`geometry.outlines.settle`); the first is the default."""


def parts_of(line: str) -> dict[str, str]:
    """Return the parts of a `signature`, by their names."""
    return dict(part.partition(":")[::2] for part in line.split("|"))


def signature(
    protocol: str,
    protocol_version: int,
    parameters: Any,
    images: int,
    gt_sha256: str,
    masks: bool,
    invalid: str = INVALID_POLYGONS[0],
    min_confidence: float | None = None,
) -> str:
    """Return protocol, every parameter that is not its default, data and version in one line.

    Parameters
    ----------
    parameters : dataclass
        The protocol's parameters record.
    gt_sha256 : str
        Its first eight digits are shown; '' where the ground truth came from memory.
    masks : bool
        Whether labelled masks were measured.
    invalid : str
        One of `INVALID_POLYGONS`.
    min_confidence : float or None
        The least confidence of the detections, where some were left out for theirs.
    """
    parts = [f"protocol:{protocol}", f"revision:{protocol_version}"]
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        if value != field.default:
            parts.append(f"{field.name}:{str(value).lower() if isinstance(value, bool) else value}")
    parts += ["masks:yes"] if masks else []
    parts += [f"min_confidence:{float(min_confidence)}"] if min_confidence is not None else []
    parts += [f"invalid:{invalid}", f"images:{images}", f"gt:{gt_sha256[:8] or 'memory'}"]
    return "|".join([*parts, f"version:{__version__}"])
