"""The one line that makes a score reproducible, in the manner of sacreBLEU."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaltex_cli.formats.options import INVALID_POLYGONS, InputOptions, MaskFolders
from evaltex_cli.version import __version__

if TYPE_CHECKING:
    from evaltex_cli.protocols.base import Protocol


def parts_of(line: str) -> dict[str, str]:
    """Return the parts of a `signature`, by their names."""
    return dict(part.partition(":")[::2] for part in line.split("|"))


def options_of(line: str) -> InputOptions:
    """Return the options that are in a `signature`; label pictures are in folders without a name.

    Raises
    ------
    ConfigError, ValueError
        When it is not a signature.
    """
    parts = parts_of(line)
    minimum = parts.get("min_confidence")
    return InputOptions(
        masks=MaskFolders(Path(), Path()) if parts.get("masks") == "yes" else None,
        min_confidence=None if minimum is None else float(minimum),
        invalid=parts.get("invalid", INVALID_POLYGONS[0]),
    )


def signature(protocol: Protocol, parameters: Any, options: InputOptions, images: int, gt_sha256: str) -> str:
    """Return protocol, every parameter that is not its default, options, data and version in one line.

    Parameters
    ----------
    parameters : dataclass
        The protocol's parameters record.
    images : int
        Of the ground truth.
    gt_sha256 : str
        Its first eight digits are shown; '' for a ground truth in memory.
    """
    parts = [f"protocol:{protocol.name}", f"revision:{protocol.version}"]
    for field in fields(parameters):
        value = getattr(parameters, field.name)
        if value != field.default:
            parts.append(f"{field.name}:{str(value).lower() if isinstance(value, bool) else value}")
    parts += ["masks:yes"] if options.masks is not None else []
    parts += [f"min_confidence:{float(options.min_confidence)}"] if options.min_confidence is not None else []
    parts += [f"invalid:{options.invalid}", f"images:{images}", f"gt:{gt_sha256[:8] or 'memory'}"]
    return "|".join([*parts, f"version:{__version__}"])
