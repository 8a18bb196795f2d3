"""What the user should know about some objects, and how messages name their images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaltex_cli.errors import counted, quote
from evaltex_cli.geometry import boxes, rings
from evaltex_cli.records import Bools, ImageBatch

SHOWN_IMAGES = 3
LARGE_BOX = 1.5
"""Times the area of a polygon from which its bounding box is not what is drawn."""


@dataclass(frozen=True, slots=True)
class ObjectWarning:
    """What the user should know about some objects; those of one text add up over batches."""

    text: str
    """As `counted` takes it, with ``{images}``, and ``{share}`` of the objects that count."""
    images: tuple[str, ...]
    """The name of each object's image."""

    def __add__(self, other: ObjectWarning) -> ObjectWarning:
        return ObjectWarning(self.text, self.images + other.images)

    def of(self, objects: int) -> str:
        """Return the sentence; `objects` is how many of the ground truth count."""
        count, names = len(self.images), list(dict.fromkeys(self.images))
        images, others = ", ".join(map(quote, names[:SHOWN_IMAGES])), len(names) - SHOWN_IMAGES
        images += f" and {others} more" if others > 0 else ""
        share = max(round(100 * count / max(objects, 1)), 1)
        return counted(count, self.text).format(images=images, share=f"{share}%")


def object_warning(text: str, batch: ImageBatch, objects: Bools) -> tuple[ObjectWarning, ...]:
    """Return a warning on these objects of the ground truth, (G,) bool; nothing without any."""
    images = tuple(batch.names[k] for k in batch.gt.image[objects].tolist())
    return (ObjectWarning(text, images),) if images else ()


def of_large_boxes(batch: ImageBatch, protocol: Any, parameters: Any) -> tuple[ObjectWarning, ...]:
    """Return a warning of rotated and curved text of which a protocol takes the bounding boxes."""
    outlines, convention = batch.gt.outlines, protocol.convention(parameters)
    is_taken = convention is not None and (convention.as_boxes or convention.inclusive)
    if not is_taken or batch.has_masks or outlines.all_boxes:
        return ()
    drawn = rings.area(*rings.corners_and_vertices(outlines))
    is_large = boxes.area(outlines.boxes) > LARGE_BOX * drawn
    text = (
        f"{protocol.name}: {{count}} rotated or curved object[s] ({{share}}) [is|are] scored by"
        " [its bounding box|their bounding boxes], more than 1.5 times as large"
    )
    if hasattr(parameters, "shape"):
        text += "; set shape=polygon to score what is drawn"
    return object_warning(text, batch, is_large & (outlines.counts > 0) & ~batch.gt.dont_care)
