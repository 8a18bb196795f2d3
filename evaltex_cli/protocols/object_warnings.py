"""What the user should know about some objects, and how messages name their images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evaltex_cli.errors import counted, quote
from evaltex_cli.geometry import boxes, rings
from evaltex_cli.records import Bools, Convention, ImageBatch

SHOWN_IMAGES = 3
LARGE_BOX = 1.5
"""A bounding box of more than so many times its polygon's area is not what is drawn: that of a
word of 5:1 turned by 6 degrees or more, of 10:1 by 3."""


@dataclass(frozen=True, slots=True)
class ObjectWarning:
    """What the user should know about some objects; warnings with the same `text` add up over
    batches.
    """

    text: str
    """As `counted` takes it; ``{images}`` where the names are listed, ``{share}`` for the share of
    the objects that count."""
    count: int
    """Number of objects."""
    names: tuple[str, ...]
    images: int
    """`names` and `images`: the first few images with such objects, and the number of all."""

    def __add__(self, other: ObjectWarning) -> ObjectWarning:
        names = (self.names + other.names)[:SHOWN_IMAGES]
        return ObjectWarning(self.text, self.count + other.count, names, self.images + other.images)

    def of(self, objects: int) -> str:
        """Return the sentence; `objects` is how many of the ground truth count."""
        others = self.images - len(self.names)
        images = ", ".join(map(quote, self.names)) + (f" and {others} more" if others else "")
        share = max(round(100 * self.count / max(objects, 1)), 1)
        return counted(self.count, self.text).format(images=images, share=f"{share}%")


def object_warning(text: str, batch: ImageBatch, objects: Bools) -> tuple[ObjectWarning, ...]:
    """ObjectWarning on these objects of the ground truth, (G,) bool; nothing without any."""
    images = np.flatnonzero(np.bincount(batch.gt.image[objects])).tolist()
    names = tuple(batch.names[k] for k in images[:SHOWN_IMAGES])
    return (ObjectWarning(text, int(objects.sum()), names, len(images)),) if images else ()


def of_large_boxes(
    batch: ImageBatch, convention: Convention | None, name: str, parameters: Any
) -> tuple[ObjectWarning, ...]:
    """Return a warning of rotated and curved text of which the protocol of this name takes the
    bounding boxes.
    """
    outlines = batch.gt.outlines
    is_taken = convention is not None and (convention.as_boxes or convention.inclusive)
    if not is_taken or batch.has_masks or outlines.all_boxes:
        return ()
    drawn = rings.area(*rings.corners_and_vertices(outlines))
    is_large = boxes.area(outlines.boxes) > LARGE_BOX * drawn
    text = (
        f"{name}: the bounding box[es] of {{count}} rotated or curved object[s]"
        " ({share}) [is|are] used, of more than 1.5 times the area"
    )
    if hasattr(parameters, "shape"):
        text += "; set shape=polygon to use what is drawn"
    return object_warning(text, batch, is_large & (outlines.counts > 0) & ~batch.gt.dont_care)
