"""Texts that come in pieces, put together to be written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_BYTES_AT_ONCE = 1 << 20


def in_blocks(pieces: Iterable[str], least: int = 1 << 16) -> Iterator[str]:
    """Yield a text in pieces of at least so many characters, of which the last may be shorter."""
    block: list[str] = []
    size = 0
    for piece in pieces:
        block.append(piece)
        size += len(piece)
        if size >= least:
            yield "".join(block)
            block, size = [], 0
    yield "".join(block)


def encoded(pieces: Iterable[str]) -> Iterator[bytes]:
    """Yield what is to be written at once: all of a text, but for a large one."""
    return (block.encode("utf-8") for block in in_blocks(pieces, _BYTES_AT_ONCE))
