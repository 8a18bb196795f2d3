"""Objects that are there more than once, as where an input was joined with itself or a reader takes
one thing for two: each counts, so the scores are those of other data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaltex_cli.errors import quote
from evaltex_cli.records import Objects
from evaltex_cli.records.rows import repeated

FEWEST, SHARE = 3, 0.1
"""A side with at least so many repeated objects, and this share of all, is worth a warning."""


@dataclass(frozen=True)
class Repeats:
    """Objects of one side with exactly the box or polygon of an earlier object of their image."""

    objects: int = 0
    """Of the side, repeated or not."""
    repeated: int = 0
    example: str = ""
    """The first repeated object, and the one that it repeats."""

    def __add__(self, later: Repeats) -> Repeats:
        return Repeats(
            self.objects + later.objects,
            self.repeated + later.repeated,
            self.example or later.example,
        )

    def warnings(self, side: str) -> list[str]:
        """Return the warning, if there are many."""
        if self.repeated < max(FEWEST, SHARE * self.objects):
            return []
        return [
            f"{side}: {self.repeated} of {self.objects} objects have the same box or polygon as an"
            f" earlier object of their image ({self.example}); each of them counts, so remove what"
            " is there twice (`evaltex validate` lists all)"
        ]


def count_repeats(objects: Objects, names: Sequence[str]) -> Repeats:
    """Count the repeated objects of images with these names."""
    pairs = repeated(objects)
    if not pairs:
        return Repeats(objects.count)
    row, earlier = pairs[0]
    image = quote(names[int(objects.image[row])])
    example = f"object {objects.ids[row]} as object {objects.ids[earlier]} in image {image}"
    return Repeats(objects.count, len(pairs), example)
