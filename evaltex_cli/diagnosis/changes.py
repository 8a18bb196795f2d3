"""What repairs change: detections that go, and those that come in the places of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from evaltex_cli.diagnosis.drawn import Drawn, joined
from evaltex_cli.diagnosis.stacks import Stack
from evaltex_cli.geometry import outlines
from evaltex_cli.records import Bools, Floats, ImageBatch, Ints, Objects, Texts, offsets_of
from evaltex_cli.records.rows import NOTHING, joined_texts

ALL_TYPES = "all"


class Made(NamedTuple):
    """Detections made by repairs, each in the place of another: columns of n."""

    image: Ints
    place: Ints
    drawn: Drawn
    texts: Texts
    confidences: Floats

    def rows(self, index: Ints) -> Made:
        """Return some of them."""
        return Made(
            self.image[index],
            self.place[index],
            self.drawn.rows(index),
            self.texts[index],
            self.confidences[index],
        )


class Change(NamedTuple):
    """What a repair changes."""

    images: Bools
    """(images,) bool. Images whose detections change."""
    gone: Bools
    """(detections,) bool. Detections that give way to others, or to none."""
    made: list[Made]

    def within(self, batch: ImageBatch, start: int, stop: int) -> Change:
        """Return what it changes in a stretch of the images."""
        if stop - start == len(self.images):
            return self
        inside = np.zeros(len(self.images), dtype=bool)
        inside[start:stop] = True
        made = [part.rows(np.flatnonzero(inside[part.image])) for part in self.made]
        return Change(self.images & inside, self.gone & inside[batch.det.image], made)


def stacked(batch: ImageBatch, changes: Mapping[str, Change], remade: Bools) -> Stack:
    """Return the images that changes change, those of one change after those of another.

    What is made for one kind is made for all of them, the last change, too, but in the place of
    detections that are `remade`, (D,) bool.
    """
    images = [np.flatnonzero(change.images) for change in changes.values()]
    image, first = np.concatenate(images), offsets_of([len(some) for some in images])
    # Where each image is in the stack, by change.
    states = [
        start + np.cumsum(change.images) - 1
        for change, start in zip(changes.values(), first.tolist(), strict=False)
    ]
    of_all = changes[ALL_TYPES].images
    is_remade = np.concatenate([remade, np.zeros(batch.gt.count, dtype=bool)])
    columns, made, count = [], [], batch.det.count
    for (kind, change), state in zip(changes.items(), states, strict=True):
        stays = np.flatnonzero(~change.gone & change.images[batch.det.image])
        columns.append((stays, state[batch.det.image[stays]], stays))
        for part in change.made:
            row = count + np.arange(len(part.image))
            columns.append((row, state[part.image], part.place))
            if kind != ALL_TYPES:
                again = np.flatnonzero(of_all[part.image] & ~is_remade[part.place])
                columns.append((row[again], states[-1][part.image[again]], part.place[again]))
            count += len(row)
        made += change.made
    rows, state, place = map(np.concatenate, zip(*columns, strict=True))
    # By image; in it, what was made takes the place of what it was made of.
    order = np.lexsort((place, state))
    offsets = offsets_of(np.bincount(state, minlength=len(image)))
    parts = dict(zip(changes, map(slice, first[:-1].tolist(), first[1:].tolist()), strict=True))
    return Stack(batch, _objects(batch.det, made), parts, image, offsets, rows[order])


def _objects(det: Objects, made: list[Made]) -> Objects:
    """Return what was made as objects of one image."""
    if not made:
        return NOTHING
    ids = int(det.ids.max(initial=0)) + 1 + np.arange(sum(len(part.image) for part in made))
    drawn = outlines.drawn(*joined([part.drawn for part in made]))
    has_confidences = det.confidences is not None or not det.count
    return Objects(
        offsets=np.array([0, len(ids)]),
        ids=ids,
        outlines=drawn,
        regions=ids,
        dont_care=np.zeros(len(ids), dtype=bool),
        texts=joined_texts([part.texts for part in made]),
        confidences=np.concatenate([part.confidences for part in made])
        if has_confidences
        else None,
    )
