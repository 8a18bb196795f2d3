"""How a run reads its inputs: what its scores depend on besides files and protocols."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evaltex_cli.errors import ConfigError, FormatError, quote

Side = Literal["gt", "det"]
COORDINATE_LIMIT = 1e12
"""Largest magnitude of a coordinate, in pixels: beyond it areas lose the pixel."""
MAX_VERTICES = 10_000
"""Most vertices of a polygon: the time of most algorithms grows with their square."""
FINITE = "a finite number (integer or decimal, at most 1e12 in magnitude)"

LEVELS = ("word", "line", "paragraph", "region", "character", "line-words", "paragraph-words")
"""The last two are lines and paragraphs of the words that they contain (HierText)."""
INVALID_POLYGONS = ("repair", "drop", "skip", "error")
"""How invalid polygons can be treated (`filters.treat_invalid`); the first is the default."""
DONT_CARE_OBJECTS = ("ignore", "count", "drop")
"""How don't-care objects can be treated (`filters.with_dont_care`); the first is the default."""
MAX_PIXELS = 100_000_000
ORDERS = ("xyxy", "yxyx", "xywh", "cxcywh")
TABLE_COLUMNS = (
    *("image", "x0", "y0", "x1", "y1", "width", "height", "polygon", "text", "confidence"),
    *("dont_care", "image_width", "image_height", "label"),
)
"""What the columns of a table with a header can hold."""


class MaskFolders(NamedTuple):
    """Folders of label pictures, in `base`, and the largest picture that is decoded."""

    gt: Path
    det: Path
    max_pixels: int = MAX_PIXELS
    base: Path = Path()


IN_MEMORY = MaskFolders(Path(), Path(), 0)
"""Instead of folders, if the pixels of the objects are arrays in Python."""


def corners(order: str, a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any, Any, Any]:
    """Return x0, y0, x1, y1 of the four numbers of a box, or of four arrays for boxes."""
    if order == "yxyx":
        return b, a, d, c
    x0, y0 = (a - c / 2, b - d / 2) if order == "cxcywh" else (a, b)
    return (a, b, c, d) if order == "xyxy" else (x0, y0, x0 + c, y0 + d)


class Coordinates(NamedTuple):
    """What the four numbers of a box are, if its file does not say so."""

    order: str
    """Of `ORDERS`: two opposite corners, x or y first; the upper left corner, or the centre, then
    width and height."""
    scale: float | None = None
    """What the width and the height of the page are in these numbers; None for pixels."""
    resized: str = ""
    """The file with the sizes of the pictures that the numbers are pixels of; empty for a scale."""

    @classmethod
    def parse(cls, text: str) -> Coordinates:
        """Return what ``ORDER:SCALE`` declares; raises `ConfigError` for anything else."""
        order, _, scale = text.partition(":")
        if order in ORDERS and scale.startswith("resized="):
            return cls(order, None, scale.removeprefix("resized="))
        with suppress(ValueError):
            value = None if scale == "pixels" else float(scale)
            if order in ORDERS and (value is None or value > 0):
                return cls(order, value)
        expected = f"ORDER:SCALE, of {', '.join(ORDERS)} and pixels, 1, 100, 1000 or resized=FILE"
        raise ConfigError(f"coordinates {quote(text)}; expected {expected}")

    def __str__(self) -> str:
        scale = "pixels" if self.scale is None else f"{self.scale:g}"
        return f"{self.order}:resized={self.resized}" if self.resized else f"{self.order}:{scale}"

    def points(
        self, numbers: Sequence[float], size: tuple[float, float] | None = None
    ) -> Sequence[float]:
        """Return the four numbers of a box, or eight of a quadrilateral, in pixels or in fractions
        of the page; `size` is the width and height of a resized picture. Raises `FormatError` for
        a number far beyond the scale, and a box with a side below 0.
        """
        largest = max(numbers, key=abs)
        if self.scale and abs(largest) > 1.1 * self.scale:  # models miss the edge of a picture
            raise FormatError(f"{largest:g}", f"0 to {self.scale:g}, as {self} declares")
        points = corners(self.order, *numbers) if len(numbers) == 4 else numbers
        if self.order == "yxyx" and len(numbers) > 4:
            points = [numbers[k ^ 1] for k in range(len(numbers))]
        sides = size or (self.scale or 1.0, self.scale or 1.0)
        points = [value / sides[k % 2] for k, value in enumerate(points)]
        if len(points) == 4 and (points[2] < points[0] or points[3] < points[1]):
            shown = ", ".join(f"{value:g}" for value in numbers)
            raise FormatError(f"{shown} as {self}", "no side below 0")
        return points


class Reading(NamedTuple):
    """How the numbers of a model's boxes may be read, before one way is chosen for an input."""

    known: tuple[Coordinates, ...] = ()
    """Those that the form of the answers allows, one for a default; empty for any."""
    form: str = ""
    """What fixes them: ``the key 'box_2d'``."""


def column_mapping(text: str) -> dict[str, str]:
    """Return what columns hold -> their names, of ``image=file,x0=left``; raises `ConfigError`."""
    mapping: dict[str, str] = {}
    for part in text.split(","):
        what, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not name or what not in TABLE_COLUMNS or what in mapping or "|" in name:
            raise ConfigError(
                f"columns {quote(text)}: {quote(part)}; expected HOLDS=NAME,... with each of"
                f" {', '.join(TABLE_COLUMNS)} once at most, and names without | and ,"
            )
        mapping[what] = name
    return mapping


@dataclass(frozen=True, slots=True)
class InputOptions:
    """The options of reading; raises `ConfigError` for those that are out of range or unfit."""

    gt_format: str | None = None
    det_format: str | None = None
    """`gt_format` and `det_format`: names of formats; None where the content decides."""
    images: Path | None = None
    """Folder of pictures, whose sizes are used where the ground truth has none."""
    masks: MaskFolders | None = None
    """Label pictures whose pixels are the objects."""
    min_confidence: float | None = None
    """Detections with a lower confidence are left out."""
    invalid: str = INVALID_POLYGONS[0]
    """How to treat invalid polygons, of `INVALID_POLYGONS`."""
    lines: Path | None = None
    """A ground truth of lines, for TIoU."""
    preset: str | None = None
    """Where the policy and the parameters of the protocol are from; part of the signature."""
    coordinates: str | None = None
    """What the numbers of boxes are (`Coordinates.parse`)."""
    columns: str | None = None
    """What the columns of a table hold (`column_mapping`)."""
    only: tuple[str, ...] | None = None
    """Names of the images that are evaluated; None for all."""
    dont_care: str = DONT_CARE_OBJECTS[0]
    """'ignore': protocols ignore don't-care objects; 'count': they count as all others; 'drop':
    they are left out, so that a detection of one is false."""
    gt_level: str | None = None
    det_level: str | None = None
    """`gt_level` and `det_level`: of `LEVELS`; None for the finest that the input has."""
    gt_classes: tuple[str, ...] | None = None
    det_classes: tuple[str, ...] | None = None
    """`gt_classes` and `det_classes`: the classes of the objects that count; None for all."""

    def __post_init__(self) -> None:
        minimum = self.min_confidence
        if minimum is not None and not 0 <= minimum <= 1:
            raise ConfigError(f"least confidence {minimum}; expected a number from 0 to 1")
        for what, value, known in (
            ("invalid polygons:", self.invalid, INVALID_POLYGONS),
            ("don't-care objects:", self.dont_care, DONT_CARE_OBJECTS),
        ):
            if value not in known:
                raise ConfigError(f"{what} {quote(value)}; expected one of {', '.join(known)}")
        if self.coordinates is not None:
            Coordinates.parse(self.coordinates)
        if self.columns is not None:
            column_mapping(self.columns)
        if () in (self.gt_classes, self.det_classes):
            raise ConfigError("no classes; expected at least one")
        for what, is_given in (
            ("don't-care objects: drop", self.dont_care == "drop"),
            (f"invalid polygons: {self.invalid}", self.invalid != INVALID_POLYGONS[0]),
            ("a least confidence", minimum is not None),
        ):
            if is_given and self.masks is not None:
                raise ConfigError(f"{what} does not go with label pictures; leave it out")
