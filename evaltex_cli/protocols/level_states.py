"""Which detections each image keeps at each confidence level, and what can be counted of them
without matching an image again.

Levels are numbered from 0, the lowest. A detection is kept at the first `drop` of them. The kept
detections of an image change only at the levels at which one of them drops out; what an image keeps
from one such level to the next is a state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaltex_cli.protocols.base import per_image
from evaltex_cli.records import Bools, ImageBatch, Ints, offsets_of, stretches


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LevelStates:
    """Some states of the images of a batch, sorted by image and level."""

    image: Ints
    """(s,) int64. Index of each state's image."""
    level: Ints
    """(s,) int64. The first level of the state."""
    drop: Ints
    """(D,) int64. How many levels, from the lowest, keep each detection of the batch."""
    levels: int
    """How many levels there are."""

    def __len__(self) -> int:
        return len(self.image)

    def part(self, start: int, stop: int) -> LevelStates:
        """Return a stretch of the states."""
        return LevelStates(self.image[start:stop], self.level[start:stop], self.drop, self.levels)

    def kept(self, image: Ints, drop: Ints) -> Ints:
        """Count what each state keeps of some things.

        Parameters
        ----------
        image, drop : (n,) int64
            The image of each thing, and how many levels keep it.

        Returns
        -------
        (s,) int64
        """
        places = np.sort(image * (self.levels + 1) + drop)
        first = self.image * (self.levels + 1)
        return np.asarray(
            np.searchsorted(places, first + self.levels, side="right")
            - np.searchsorted(places, first + self.level, side="right")
        )

    def object_counts(
        self, batch: ImageBatch, gt_counts: Bools, det_counts: Bools
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """(s,) each, of the states as `base.object_counts` of images."""
        image = batch.det.image
        return (
            np.diff(batch.gt.offsets)[self.image],
            per_image(gt_counts, batch.gt.image, len(batch.names))[self.image],
            self.kept(image, self.drop),
            self.kept(image[det_counts], self.drop[det_counts]),
        )

    def stacked(self, offsets: Ints) -> tuple[Ints, Ints]:
        """Repeat the things of each state's image.

        Parameters
        ----------
        offsets : (images + 1,) int64
            Which image owns which things.

        Returns
        -------
        things, state : (m,) int64
            One thing after the other, state by state, and the state that each is of.
        """
        counts = np.diff(offsets)[self.image]
        things = stretches(offsets[:-1][self.image], counts)
        return things, np.repeat(np.arange(len(self)), counts)


class FirstFit(NamedTuple):
    """The pairs that `iou.first_fit` makes of candidates at every state."""

    states: LevelStates
    image: Ints
    drop: Ints
    """`image` and `drop`: (p,) int64. Of each candidate: its image, and how many levels keep its
    detection."""
    alone: Bools
    """(p,) bool. Candidates that share no object and no detection with another; they are pairs
    where they are kept."""
    candidate: Ints
    state: Ints
    """`candidate` and `state`: (m,) int64. The other pairs, and the states that they are of."""

    def pairs(self, which: Bools | None = None) -> Ints:
        """(s,) how many pairs each state has, of all candidates or of (p,) some."""
        alone = self.alone if which is None else self.alone & which
        others = self.state if which is None else self.state[which[self.candidate]]
        kept = self.states.kept(self.image[alone], self.drop[alone])
        return np.asarray(kept + np.bincount(others, minlength=len(self.states)))


def contested(gt: Ints, det: Ints) -> Bools:
    """(p,) whether a candidate pair shares its object or its detection with another."""
    return np.asarray((np.bincount(gt)[gt] > 1) | (np.bincount(det)[det] > 1))


def stacked_candidates(
    states: LevelStates, image: Ints, drop: Ints, which: Bools
) -> tuple[Ints, Ints]:
    """Repeat some candidate pairs for each state of their image that keeps their detection.

    Parameters
    ----------
    image, drop : (p,) int64
        As of `FirstFit`; images ascend.
    which : (p,) bool

    Returns
    -------
    candidate, state : (m,) int64
        By state, candidates ascending.
    """
    some = np.flatnonzero(which)
    images = int(states.image.max(initial=-1)) + 1
    offsets = np.searchsorted(image[some], np.arange(images + 1))
    places, state = states.stacked(np.asarray(offsets, np.int64))
    candidate = some[places]
    kept = drop[candidate] > states.level[state]
    return candidate[kept], state[kept]


def numbered(state: Ints, index: Ints) -> Ints:
    """(m,) one number for each pair of state and index, the same for the same pair, from 0."""
    if not len(state):
        return state
    key = state * (int(index.max()) + 1) + index
    order = np.argsort(key, kind="stable")
    first = np.diff(key[order], prepend=-1) > 0
    numbers = np.empty_like(key)
    numbers[order] = np.cumsum(first) - 1
    return numbers


def offsets_by_image(image: Ints, images: int) -> Ints:
    """(images + 1,) offsets of things that are sorted by image."""
    return offsets_of(np.bincount(image, minlength=images))
