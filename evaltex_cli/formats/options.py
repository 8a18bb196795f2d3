"""How a run reads its inputs: everything that its scores depend on other than
files, protocols and their parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evaltex_cli.errors import ConfigError, FormatError, InputError, quote

if TYPE_CHECKING:
    from evaltex_cli.formats.base import Side

LEVELS = ("word", "line", "paragraph", "region", "character", "line-words", "paragraph-words")
"""Levels that objects of a document can be read at; the last two are lines and paragraphs of the
words that they contain (HierText)."""
INVALID_POLYGONS = ("repair", "drop", "skip", "error")
"""How invalid polygons can be treated (`formats.filters.treat_invalid`); the
first is the default.
"""
DONT_CARE_OBJECTS = ("ignore", "count", "drop")
"""How don't-care objects can be treated (`formats.filters.with_dont_care`); the first is the
default.
"""
MAX_PIXELS = 100_000_000
ORDERS, PIXELS = ("xyxy", "yxyx", "xywh"), "pixels"
LARGEST_SCALE = 1e6
TABLE_COLUMNS = (
    *("image", "x0", "y0", "x1", "y1", "width", "height", "polygon", "text", "confidence"),
    *("dont_care", "image_width", "image_height", "label"),
)
"""What the columns of a table with a header can hold."""


class MaskFolders(NamedTuple):
    """Folders of label pictures, and the largest picture that is decoded;
    relative folders are in `base`.
    """

    gt: Path
    det: Path
    max_pixels: int = MAX_PIXELS
    base: Path = Path()


def mask_folders(
    gt: str | PathLike[str] | None, det: str | PathLike[str] | None, max_pixels: int = MAX_PIXELS
) -> MaskFolders | None:
    """Return the folders of label pictures; None where there are none.

    Raises
    ------
    InputError
        When only one of them is given.
    """
    if gt is None and det is None:
        return None
    if gt is None or det is None:
        raise InputError("gt_images and det_images go together; give both folders or neither")
    return MaskFolders(Path(gt), Path(det), max_pixels)


IN_MEMORY = MaskFolders(Path(), Path(), 0)
"""Instead of folders, if the pixels of the objects are arrays in Python."""


class Coordinates(NamedTuple):
    """What the four numbers of a box are, if its file does not say so."""

    order: str
    """'xyxy', 'yxyx' or 'xywh'. Two opposite corners, x or y first, or the upper left corner, width
    and height."""
    scale: float | None = None
    """What the width and the height of the page are in these numbers; None for pixels."""

    @classmethod
    def parse(cls, text: str) -> Coordinates:
        """Return what ``ORDER:SCALE`` declares; raises `ConfigError` for anything else."""
        order, _, scale = text.partition(":")
        if order in ORDERS and scale == PIXELS:
            return cls(order)
        with suppress(ValueError):
            if order in ORDERS and 0 < float(scale) <= LARGEST_SCALE:
                return cls(order, float(scale))
        expected = (
            f"ORDER:SCALE, of the orders {', '.join(ORDERS)} and the scale {PIXELS}, 1, 999,"
            " 1000 or the like"
        )
        raise ConfigError(f"coordinates {quote(text)}; expected {expected}")

    def __str__(self) -> str:
        return f"{self.order}:{PIXELS if self.scale is None else f'{self.scale:g}'}"

    def box(self, numbers: Sequence[float]) -> tuple[float, float, float, float]:
        """Return x0, y0, x1, y1 of four numbers, in pixels or in fractions of the page.

        Raises
        ------
        FormatError
            When the box ends left of or above where it begins.
        """
        a, b, c, d = (value / (self.scale or 1.0) for value in numbers)
        x0, y0, x1, y1 = {"xyxy": (a, b, c, d), "yxyx": (b, a, d, c), "xywh": (a, b, a + c, b + d)}[
            self.order
        ]
        if x1 < x0 or y1 < y0:
            found = (
                f"{', '.join(f'{value:g}' for value in numbers)}, of which a side is below 0 as"
                f" {self}"
            )
            raise FormatError(found, "the smaller coordinate first")
        return x0, y0, x1, y1


def column_mapping(text: str) -> dict[str, str]:
    """Return what columns hold -> their names in the header, of
    ``image=file,x0=left,...``; raises `ConfigError`.
    """
    mapping: dict[str, str] = {}
    for part in text.split(","):
        what, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not name or what not in TABLE_COLUMNS or what in mapping or "|" in name:
            expected = (
                f"HOLDS=NAME,... with each of {', '.join(TABLE_COLUMNS)} once at most, and"
                " names without | and ,"
            )
            raise ConfigError(f"columns {quote(text)}: {quote(part)}; expected {expected}")
        mapping[what] = name
    return mapping


@dataclass(frozen=True, slots=True)
class InputOptions:
    """The options of reading, made once from the command line or from the keywords of a public
    function.

    Raises
    ------
    ConfigError
        For a value out of range, and for options that do not go with label pictures.
    """

    gt_format: str | None = None
    det_format: str | None = None
    """`gt_format` and `det_format`: names of formats; None where the content decides."""
    images: Path | None = None
    """Folder of the images' pictures, whose sizes are used where the ground truth has none."""
    masks: MaskFolders | None = None
    """Label pictures whose pixels are the objects."""
    min_confidence: float | None = None
    """Detections with a lower confidence are left out; None keeps all."""
    invalid: str = INVALID_POLYGONS[0]
    """'repair', 'drop', 'skip' or 'error'. How to treat invalid polygons, on both sides."""
    lines: Path | None = None
    """A ground truth of lines, for TIoU."""
    preset: str | None = None
    """The preset that the policy, and the parameters of the protocol, are of; part of the
    signature."""
    coordinates: str | None = None
    """What the numbers of boxes are in a format that does not say so (`Coordinates.parse`)."""
    columns: str | None = None
    """What the columns of a table with a header hold, ``image=file,x0=left,...``
    (`column_mapping`)."""
    only: tuple[str, ...] | None = None
    """Names of the images that are evaluated; None for all."""
    dont_care: str = DONT_CARE_OBJECTS[0]
    """'ignore', 'count' or 'drop'. Whether each protocol ignores don't-care objects by its own
    rule, they count as all others, or they are left out, so that a detection of one is false."""
    gt_level: str | None = None
    det_level: str | None = None
    """`gt_level` and `det_level`: of `LEVELS`; None for the finest that the input has."""
    gt_classes: tuple[str, ...] | None = None
    det_classes: tuple[str, ...] | None = None
    """`gt_classes` and `det_classes`: the classes of the objects that count; None for all."""

    def __post_init__(self) -> None:
        if self.min_confidence is not None and not 0 <= self.min_confidence <= 1:
            raise ConfigError(
                f"least confidence {self.min_confidence}; expected a number from 0 to 1"
            )
        for level in (self.gt_level, self.det_level):
            if level is not None and level not in LEVELS:
                raise ConfigError(f"level {quote(level)}; expected one of {', '.join(LEVELS)}")
        for classes in (self.gt_classes, self.det_classes):
            if classes is not None and (not classes or any(set(",|") & set(c) for c in classes)):
                raise ConfigError(f"classes {classes}; expected names without , and |")
        if self.invalid not in INVALID_POLYGONS:
            raise ConfigError(
                f"invalid polygons: {quote(self.invalid)}; expected one of"
                f" {', '.join(INVALID_POLYGONS)}"
            )
        if self.dont_care not in DONT_CARE_OBJECTS:
            raise ConfigError(
                f"don't-care objects: {quote(self.dont_care)}; expected one of"
                f" {', '.join(DONT_CARE_OBJECTS)}"
            )
        if self.masks is not None and self.dont_care == "drop":
            raise ConfigError(
                "dropped don't-care objects do not go with label pictures, which have the pixels of"
                " all objects; leave the option out"
            )
        if self.coordinates is not None:
            Coordinates.parse(self.coordinates)
        if self.columns is not None:
            column_mapping(self.columns)
        if self.masks is not None and self.invalid != INVALID_POLYGONS[0]:
            raise ConfigError(
                f"invalid polygons: {self.invalid} does not go with label pictures, whose pixels"
                " are the objects; leave it out"
            )
        if self.masks is not None and self.min_confidence is not None:
            raise ConfigError(
                "a least confidence does not go with label pictures, which hold all detections;"
                " leave it out"
            )

    def format_of(self, side: Side) -> str | None:
        """Return the name of a side's format; None where the content decides."""
        return self.gt_format if side == "gt" else self.det_format

    def level_of(self, side: Side) -> str | None:
        """Return the level of a side; None where the content decides."""
        return self.gt_level if side == "gt" else self.det_level

    def classes_of(self, side: Side) -> tuple[str, ...] | None:
        """Return the classes of a side that count; None for all."""
        return self.gt_classes if side == "gt" else self.det_classes
