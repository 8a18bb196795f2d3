"""Objects in memory as an input: arrays are paired and measured as files are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaltex_cli.errors import counted
from evaltex_cli.formats import MEMORY
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.geometry.masks import PictureRuns
from evaltex_cli.records import NOTHING, Objects, concatenate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ImageObjects(Objects):
    """The objects of one image in memory, made by `evaltex_cli.image_objects`."""

    picture: PictureRuns | None = None
    """The pixels of the objects, labelled by their IDs, if they are masks."""

    def __repr__(self) -> str:
        polygons = int((self.outlines.counts > 0).sum())
        counts = {
            "{count} mask[s]" if self.picture else "{count} box[es]": self.count - polygons,
            "{count} polygon[s]": polygons,
            "{count} don't care": int(self.dont_care.sum()),
        }
        shown = ", ".join(counted(count, what) for what, count in counts.items() if count)
        return f"ImageObjects({shown or 'nothing'})"


def source(
    side: Side, images: Mapping[str, Objects], sizes: Mapping[str, tuple[float, float]]
) -> Source:
    """Return images in memory, by their names, as an input; `sizes` has heights and widths in
    pixels, as far as they are known.
    """
    pictures = [getattr(image, "picture", None) for image in images.values()]
    known = [sizes.get(name, (0, 0)) for name in images]
    return Source(
        list(images),
        np.array(known, np.float64).reshape(-1, 2),
        concatenate(list(images.values())) if images else NOTHING,
        path=side,
        format=MEMORY,
        why="arrays in memory",
        pictures=pictures if any(one is not None for one in pictures) else None,
    )
