"""What the user should know about some objects, and how messages name their images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaltex_cli.errors import counted, quote
from evaltex_cli.geometry import boxes, edges
from evaltex_cli.records import Bools, Convention, ImageBatch, distinct

SHOWN_IMAGES = 3
LARGE_BOX = 1.5
"""A bounding box of more than so many times its polygon's area is not what is drawn: that of a
word of 5:1 turned by 6 degrees or more, of 10:1 by 3. Two degrees are too few up to 14:1.
"""


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
    images: tuple[str, ...]
    """The names of the first few images that they are in."""
    others: int = 0
    """Number of further images."""

    def __add__(self, other: ObjectWarning) -> ObjectWarning:
        names = self.images + other.images
        others = self.others + other.others + len(names[SHOWN_IMAGES:])
        return ObjectWarning(self.text, self.count + other.count, names[:SHOWN_IMAGES], others)

    def of(self, objects: int) -> str:
        """Return the sentence; `objects` is how many of the ground truth count."""
        more = f" and {self.others} more" if self.others else ""
        images = ", ".join(map(quote, self.images)) + more
        share = max(round(100 * self.count / max(objects, 1)), 1)
        return counted(self.count, self.text).format(images=images, share=f"{share}%")


def object_warning(text: str, batch: ImageBatch, objects: Bools) -> tuple[ObjectWarning, ...]:
    """ObjectWarning on these objects of the ground truth, (G,) bool; nothing without any."""
    if not objects.any():
        return ()
    names = [batch.names[k] for k in distinct(batch.gt.image[objects]).tolist()]
    return (
        ObjectWarning(
            text, int(objects.sum()), tuple(names[:SHOWN_IMAGES]), len(names[SHOWN_IMAGES:])
        ),
    )


def of_large_boxes(
    batch: ImageBatch, convention: Convention, name: str, parameters: Any
) -> tuple[ObjectWarning, ...]:
    """Return a warning of rotated and curved text that a protocol, of this name and these
    parameters, takes for its bounding boxes.
    """
    outlines = batch.gt.outlines
    is_taken = convention.as_boxes or convention.inclusive
    if not is_taken or batch.has_masks or outlines.all_boxes:
        return ()
    drawn = edges.area(edges.of_rings(outlines.vertices, outlines.offsets))
    is_large = boxes.area(outlines.boxes) > LARGE_BOX * drawn
    text = (
        f"{name}: the bounding box[es] of {{count}} rotated or curved object[s]"
        " ({share}) [is|are] used, of more than 1.5 times the area"
    )
    if hasattr(parameters, "shape"):
        text += "; set shape=polygon to use what is drawn"
    return object_warning(text, batch, is_large & (outlines.counts > 0) & ~batch.gt.dont_care)
