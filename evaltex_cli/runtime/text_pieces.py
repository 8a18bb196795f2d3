"""Texts that come in pieces, as bytes to write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_BLOCK = 1 << 20
"""Characters that are written at once."""


def encoded(pieces: Iterable[str]) -> Iterator[bytes]:
    """Yield what is to be written at once: all of a text, but for a large one."""
    some: list[str] = []
    size = 0
    for piece in pieces:
        some.append(piece)
        size += len(piece)
        if size > _BLOCK:
            yield "".join(some).encode("utf-8")
            some, size = [], 0
    yield "".join(some).encode("utf-8")
