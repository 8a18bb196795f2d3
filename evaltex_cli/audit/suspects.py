"""What an audit finds: suspects, places where the ground truth may be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from evaltex_cli.audit.patches import AuditedObject, Entry, Kind

__all__ = ["AuditedObject", "Kind", "Suspect"]
Box: TypeAlias = tuple[float, float, float, float]
"""x0, y0, x1, y1, continuous, in pixels."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A place where the ground truth may be wrong, and what should be there."""

    kind: Kind
    image: str
    """Its name in the ground truth."""
    objects: tuple[int, ...]
    """IDs, unique in the image, of the objects it is about: none for `missing`, two or more for
    `split` and `duplicate`, one for all others."""
    suspicion: float
    """In [0, 1]: estimate of the probability that an annotator would change it."""
    box: Box
    """Around the objects as they are and as proposed."""
    detectors: tuple[str, ...]
    """Labels of the detectors that agree on it; none for `unfound`."""
    current: tuple[AuditedObject, ...]
    """The objects as they are, in the order of `objects`."""
    proposed: tuple[AuditedObject, ...]
    """What should be in their place: none to remove them; for `unfound`, the object as don't care.
    """

    @property
    def entry(self) -> Entry:
        """The entry of a patch that makes the change, not accepted."""
        return Entry(
            self.kind, self.image, self.objects, self.suspicion, self.current, self.proposed
        )
