"""What annotation tools have in common: attributes that are text or flags,
and shapes that are no polygons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaltex_cli.errors import counted
from evaltex_cli.old_formats.base import DONT_CARE

TEXTS = ("transcription", "text", "utf8_string", "ocr", "word", "content", "value")
"""Names of attributes that are the transcription, in the order in which they
count; capitals do not matter.
"""
FLAGS = ("ignore", "difficult", "illegible", "illegibility", "dont_care", "dontcare")
"""Names of attributes that make an object don't care, if they are true."""
_TRUE = ("true", "1", "yes")


@dataclass(slots=True)
class Others:
    """Counts shapes that are not read as they are: of circles and ellipses
    the bounding box is taken.
    """

    boxed: int = 0
    left_out: int = 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """Say how many there are."""
        boxed = (
            "{count} circle[s], ellipse[s] or mask[s] taken for [its bounding box|their"
            " bounding boxes]"
        )
        left_out = (
            "{count} point[s], line[s] or mask[s] left out: [it has|they have] no area that"
            " can be read"
        )
        counts = ((self.boxed, boxed), (self.left_out, left_out))
        return tuple(counted(count, sentence) for count, sentence in counts if count)

    def warnings(self, place: str) -> tuple[str, ...]:
        """Return the sentences about the document at a place."""
        return tuple(f"{place}: {sentence}" for sentence in self.sentences)


def text_of(attributes: Mapping[str, Any]) -> str:
    """Return the transcription among the attributes of an object; empty if there is none."""
    named = {name.lower(): value for name, value in attributes.items() if isinstance(value, str)}
    return next((named[name] for name in TEXTS if name in named), "")


def is_dont_care(attributes: Mapping[str, Any], *texts: str) -> bool:
    """Whether a flag among the attributes of an object is true, or one of
    these texts is ``###``.
    """
    named = {name.lower(): str(value).lower() for name, value in attributes.items()}
    return DONT_CARE in texts or any(named.get(name) in _TRUE for name in FLAGS)


def ellipse(
    centre: tuple[float, float], radii: tuple[float, float], angle: float = 0.0
) -> tuple[float, float, float, float]:
    """Return the bounding box x0, y0, x1, y1 of an ellipse that is turned by
    an angle in radians.
    """
    across = math.hypot(radii[0] * math.cos(angle), radii[1] * math.sin(angle))
    down = math.hypot(radii[0] * math.sin(angle), radii[1] * math.cos(angle))
    return centre[0] - across, centre[1] - down, centre[0] + across, centre[1] + down
