"""The one line that makes a score reproducible, in the manner of sacreBLEU."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from evaltex_cli import __version__

INVALID_POLYGONS = "repair"


def signature(protocol: str, protocol_version: int, parameters: Any, images: int, gt_sha256: str, masks: bool) -> str:
    """Return protocol, every parameter that is not its default, data and version in one line.

    Parameters
    ----------
    parameters : dataclass
        The protocol's parameters record.
    gt_sha256 : str
        Its first eight digits are shown; '' where the ground truth came from memory.
    masks : bool
        Whether labelled masks were measured.
    """
    parts = [f"protocol:{protocol}", f"revision:{protocol_version}"]
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        if value != field.default:
            parts.append(f"{field.name}:{str(value).lower() if isinstance(value, bool) else value}")
    parts += ["masks:yes"] if masks else []
    parts += [f"invalid:{INVALID_POLYGONS}", f"images:{images}", f"gt:{gt_sha256[:8] or 'memory'}"]
    return "|".join([*parts, f"version:{__version__}"])
