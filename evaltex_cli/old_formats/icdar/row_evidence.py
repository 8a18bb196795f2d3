"""What lines of a class and numbers mean, decided over all lines of an input together.

One line alone may be read in several ways: ``0 0.9 0.5 0.5 0.2 0.1`` is a class, a confidence and a
box, or a class, a box and a confidence. Each way counts the lines that fit it:

- Numbers that are all fractions are of YOLO: a class and four numbers of a box, or the vertices of
  a polygon; a number more is a confidence. With five numbers it is the last one, unless only the
  other boxes lie within the picture.
- Eight numbers, words and a flag are of DOTA.
- Other lines of a class and a box, perhaps with a confidence between, are not read (`CLASS_BOXES`).
  Four other numbers are a box if the class is a word; if the class is a number, the line could also
  be a box and a number after it, which it is if most lines fit that and not a class followed by a
  box from corner to corner. Five are a confidence and a box if the class is a word, or the first of
  them is in [0, 1].
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from evaltex_cli.old_formats.icdar.row_lines import Row

MOST = 0.95
"""Share of the lines that a way of reading must fit."""
CLASS_BOXES = "class boxes"
"""What `Evidence.format` says of boxes with a class in pixels, which no format reads."""
FEW_LINES = 5
"""Fewer lines than these may fit two corners by chance."""
_OUTSIDE = 0.02
"""How far, in fractions of the picture, a box may lie outside of it."""
_OF_CORNERS = 0.9


@dataclass(slots=True, eq=False, repr=False)
class Evidence:
    """How many lines fit each way of reading; all lines are counted as ``lines``."""

    fitting: Counter[str] = field(default_factory=Counter)

    def add(self, row: Row | None) -> None:
        """Count a line; None for one that is of no class and numbers."""
        self.fitting["lines"] += 1
        if row is None:
            return
        if row.flag is not None:
            self.fitting["dota"] += row.flag.isdecimal()
            return
        self._add_fractions(row.numbers)
        if len(row.numbers) in (4, 5):
            self._add_box(row)

    def _add_fractions(self, numbers: list[float]) -> None:
        if not all(-_OUTSIDE <= number <= 1 + _OUTSIDE for number in numbers):
            return
        self.fitting["decimals"] += any(number != int(number) for number in numbers)
        if len(numbers) == 5:
            self.fitting["yolo confidence last"] += _is_within(numbers[:4])
            self.fitting["yolo confidence first"] += _is_within(numbers[1:])
        self.fitting["yolo"] += 1

    def _add_box(self, row: Row) -> None:
        a, b, c, d = row.numbers[-4:]
        self.fitting["words"] += row.has_words
        self.fitting[f"{len(row.numbers)} numbers"] += 1
        self.fitting["corners"] += c >= a and d >= b
        if len(row.numbers) == 5:
            self.fitting["confidence"] += 0 <= row.numbers[0] <= 1
        elif not row.has_words:
            self.fitting["box and confidence"] += 0 <= d <= 1
            self.fitting["box and number"] += b >= float(row.label) and c >= a

    @property
    def lines(self) -> int:
        """Number of lines."""
        return self.fitting["lines"]

    def confidence_first(self) -> bool:
        """Whether the confidences of YOLO's boxes come before them."""
        return self.fitting["yolo confidence first"] > self.fitting["yolo confidence last"]

    def format(self) -> str | None:
        """Name of the format that nearly all lines fit; None if they may well be of no class."""
        within = max(self.fitting["yolo confidence first"], self.fitting["yolo confidence last"])
        fits = self.fitting["yolo"] >= MOST * self.lines and 2 * within >= self.fitting["5 numbers"]
        if self._most("dota"):
            return "dota"
        if fits and self.fitting["decimals"]:
            return "yolo"
        if self._most("5 numbers") and (self._most("words") or self._most("confidence")):
            return CLASS_BOXES
        if self._most("4 numbers") and (self._most("words") or self._begin_with_class()):
            return CLASS_BOXES
        return None

    def _most(self, what: str) -> bool:
        return self.fitting[what] >= MOST * self.lines > 0

    def _begin_with_class(self) -> bool:
        """Whether lines of five numbers begin with a class, and do not end in
        a confidence or a number as text.
        """
        if self._most("box and confidence"):
            return False
        many = self.lines >= FEW_LINES
        return self.fitting["box and number"] < _OF_CORNERS * self.lines or (
            many and self._most("corners")
        )


def _is_within(box: list[float]) -> bool:
    """Whether a box of centre, width and height, in fractions, lies within the picture."""
    x, y, width, height = box
    return all(
        at - size / 2 >= -_OUTSIDE and at + size / 2 <= 1 + _OUTSIDE
        for at, size in ((x, width), (y, height))
    )
