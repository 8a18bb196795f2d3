"""What an audit finds: suspects, places where the ground truth may be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "missing", "unfound", "misplaced", "merged", "split", "dont-care", "text", "duplicate"
]
Box: TypeAlias = tuple[float, float, float, float]
"""x0, y0, x1, y1, continuous, in pixels."""


@dataclass(frozen=True, slots=True)
class AuditedObject:
    """An object of the ground truth as it is, or as it should be.

    Attributes
    ----------
    vertices : tuple of (x, y)
        Three or more of a polygon as drawn; of a box its two corners, x0, y0 and x1, y1.
    text : str
        Its transcription, empty if there is none.
    dont_care : bool
    """

    vertices: tuple[tuple[float, float], ...]
    text: str = ""
    dont_care: bool = False


@dataclass(frozen=True, slots=True)
class Suspect:
    """A place where the ground truth may be wrong, and what should be there.

    Attributes
    ----------
    kind : str
    image : str
        Its name in the ground truth.
    objects : tuple of int
        IDs, unique in the image, of the objects it is about: none for `missing`, two or more for
        `split` and `duplicate`, one for all others.
    suspicion : float
        In [0, 1]: estimate of the probability that an annotator would change it.
    box : x0, y0, x1, y1
        Around the objects as they are and as proposed.
    detectors : tuple of str
        Labels of the detectors that agree on it; none for `unfound`.
    current : tuple of AuditedObject
        The objects as they are, in the order of `objects`.
    proposed : tuple of AuditedObject
        What should be in their place: none to remove them; for `unfound`, the object as don't care.
    """

    kind: Kind
    image: str
    objects: tuple[int, ...]
    suspicion: float
    box: Box
    detectors: tuple[str, ...]
    current: tuple[AuditedObject, ...]
    proposed: tuple[AuditedObject, ...]
