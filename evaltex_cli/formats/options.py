"""How a run reads its inputs: everything that its scores depend on besides files, protocols and their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evaltex_cli.errors import ConfigError, quote

if TYPE_CHECKING:
    from evaltex_cli.formats.base import Side

INVALID_POLYGONS = ("repair", "drop", "skip", "error")
"""How invalid polygons can be treated (`formats.filters.treat_invalid`); the first is the default."""
MAX_PIXELS = 100_000_000


class MaskFolders(NamedTuple):
    """Folders of label pictures, and the largest picture that is decoded; relative folders are in `base`."""

    gt: Path
    det: Path
    max_pixels: int = MAX_PIXELS
    base: Path = Path()


@dataclass(frozen=True, slots=True)
class InputOptions:
    """The options of reading, made once from the command line or from the keywords of a public function.

    Attributes
    ----------
    gt_format, det_format : str or None
        Names of formats; None where the content decides.
    images : Path or None
        Folder of the images' pictures, whose sizes are used where the ground truth has none.
    masks : MaskFolders or None
        Label pictures whose pixels are the objects.
    min_confidence : float or None
        Detections with a lower confidence are left out; None keeps all.
    invalid : {'repair', 'drop', 'skip', 'error'}
        How to treat invalid polygons, on both sides.
    preset : str or None
        The preset that the policy, and the parameters of the protocol, are of; part of the signature.

    Raises
    ------
    ConfigError
        For a value out of range, and for options that do not go with label pictures.
    """

    gt_format: str | None = None
    det_format: str | None = None
    images: Path | None = None
    masks: MaskFolders | None = None
    min_confidence: float | None = None
    invalid: str = INVALID_POLYGONS[0]
    preset: str | None = None

    def __post_init__(self) -> None:
        if self.min_confidence is not None and not 0 <= self.min_confidence <= 1:
            raise ConfigError(f"least confidence {self.min_confidence}; expected a number from 0 to 1")
        if self.invalid not in INVALID_POLYGONS:
            raise ConfigError(f"invalid polygons: {quote(self.invalid)}; expected one of {', '.join(INVALID_POLYGONS)}")
        if self.masks is not None and self.invalid != INVALID_POLYGONS[0]:
            raise ConfigError(
                f"invalid polygons: {self.invalid} does not go with label pictures, whose pixels are the objects; leave"
                " it out"
            )
        if self.masks is not None and self.min_confidence is not None:
            raise ConfigError(
                "a least confidence does not go with label pictures, which hold all detections; leave it out"
            )

    def format_of(self, side: Side) -> str | None:
        """Return the name of a side's format; None where the content decides."""
        return self.gt_format if side == "gt" else self.det_format
