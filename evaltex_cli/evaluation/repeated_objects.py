"""Objects that are there more than once, as where an input was joined with itself or a reader takes
one thing for two: each counts, so the scores are those of other data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evaltex_cli.errors import quote
from evaltex_cli.records import Objects
from evaltex_cli.records.rows import repeated

FEWEST, SHARE = 3, 0.1
"""A side with at least so many repeated objects, and this share of all, is worth a warning."""


class Repeats(NamedTuple):
    """Objects of one side with exactly the box or polygon of an earlier object of their image."""

    objects: int = 0
    """Of the side, repeated or not."""
    repeated: int = 0
    example: str = ""
    """The first repeated one, and that which it repeats."""

    @classmethod
    def of(cls, objects: Objects, names: Sequence[str]) -> Repeats:
        """Count the objects of images with these names."""
        pairs = repeated(objects)
        if not pairs:
            return cls(objects.count)
        row, before = pairs[0]
        name = names[int(objects.image[row])]
        image = f"image {quote(name)}" if name else "an image in memory"
        example = f"object {objects.ids[row]} as object {objects.ids[before]} in {image}"
        return cls(objects.count, len(pairs), example)

    def plus(self, later: Repeats) -> Repeats:
        """Add those of later images."""
        objects, repeated = self.objects + later.objects, self.repeated + later.repeated
        return Repeats(objects, repeated, self.example or later.example)

    def warnings(self, side: str) -> list[str]:
        """Return the warning, if they are many."""
        if self.repeated < max(FEWEST, SHARE * self.objects):
            return []
        return [
            f"{side}: {self.repeated} of {self.objects} objects have the same box or polygon as an"
            f" earlier object of their image ({self.example}); each of them counts, so remove what"
            " is there twice (`evaltex validate` lists all)"
        ]
