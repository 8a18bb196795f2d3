"""What the user should know about some objects, and how messages name their images."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaltex_cli.errors import counted, quote
from evaltex_cli.records import Bools, ImageBatch

SHOWN_IMAGES = 3


@dataclass(frozen=True, slots=True)
class ObjectWarning:
    """What the user should know about some objects; warnings with the same `text` add up over
    batches.

    Attributes
    ----------
    text : str
        As `counted` takes it, and ``{images}`` where the names are listed.
    count : int
        Number of objects.
    images : tuple of str
        The names of the first few images that they are in.
    others : int
        Number of further images.
    """

    text: str
    count: int
    images: tuple[str, ...]
    others: int = 0

    def __add__(self, other: ObjectWarning) -> ObjectWarning:
        names = self.images + other.images
        others = self.others + other.others + len(names[SHOWN_IMAGES:])
        return ObjectWarning(self.text, self.count + other.count, names[:SHOWN_IMAGES], others)

    def __str__(self) -> str:
        more = f" and {self.others} more" if self.others else ""
        images = (
            ", ".join(map(quote, self.images)) + more if any(self.images) else "images in memory"
        )
        return counted(self.count, self.text).format(images=images)


def object_warning(text: str, batch: ImageBatch, objects: Bools) -> tuple[ObjectWarning, ...]:
    """ObjectWarning on these objects of the ground truth, (G,) bool; nothing
    where there are none.
    """
    if not objects.any():
        return ()
    names = [batch.names[k] for k in np.unique(batch.gt.image[objects]).tolist()]
    return (
        ObjectWarning(
            text, int(objects.sum()), tuple(names[:SHOWN_IMAGES]), len(names[SHOWN_IMAGES:])
        ),
    )


def image_named(name: str) -> str:
    """Name an image in a message; those in memory have no name."""
    return f"image {quote(name)}" if name else "an image in memory"
