"""What distinguishes a ground truth from any other, and an object from any other: the same in every
format, whatever the order of images and objects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise

from evaltex_cli.conversion.patches import GroundTruth
from evaltex_cli.geometry import rings
from evaltex_cli.records import Objects

_BITS = 256


class Identity:
    """Collects what distinguishes a ground truth from any other."""

    def __init__(self) -> None:
        self._images = self._objects = self._sum = 0

    def add(self, names: Sequence[str], objects: Objects, contents: Sequence[bytes]) -> None:
        """Add some images and the `contents_of` their objects."""
        self._images += len(names)
        self._objects += objects.count
        for name, (start, stop) in zip(names, pairwise(objects.offsets.tolist()), strict=True):
            inner = sum(map(_number, contents[start:stop])) % (1 << _BITS)
            named = name.encode("utf-8", "surrogatepass")
            self._sum += _number(inner.to_bytes(_BITS // 8, "big") + named)

    @property
    def ground_truth(self) -> GroundTruth:
        """What has been added. Sums of SHA-256 do not depend on the order."""
        return GroundTruth(self._images, self._objects, f"{self._sum % (1 << _BITS):064x}")


def _number(content: bytes) -> int:
    return int.from_bytes(hashlib.sha256(content).digest(), "big")


def contents_of(objects: Objects) -> list[bytes]:
    """Return what makes an object what it is, of each: don't care or not, its vertices, those of a
    box its corners, and its transcription unless it is don't care.
    """
    points, offsets = rings.of(objects.outlines)
    ends = (offsets * 16).tolist()
    data = (points + 0.0).astype("<f8").tobytes()  # -0.0 becomes 0.0
    return [
        _content(flag, data[start:stop], text)
        for flag, (start, stop), text in zip(
            objects.dont_care.tolist(), pairwise(ends), objects.texts, strict=True
        )
    ]


def _content(dont_care: bool, vertices: bytes, text: str) -> bytes:
    words = b"" if dont_care else text.encode("utf-8", "surrogatepass")
    return b"%d %d " % (dont_care, len(vertices)) + vertices + words
