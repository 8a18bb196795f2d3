"""Pictures that are hard to read for their size."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import pytest
from command_line import invoke
from one_word import DET, GT

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("here")]


def bomb(kind: str, side: int) -> bytes:
    """A picture of black pixels, of which nearly nothing is in the file."""
    packed, stored = zlib.compressobj(9), min(side, 15_000)
    rows = b"\0" * (stored + (kind == "png"))
    data = b"".join(packed.compress(rows) for _ in range(stored)) + packed.flush()
    if kind == "png":

        def chunk(name: bytes, content: bytes) -> bytes:
            return (
                struct.pack(">I", len(content))
                + name
                + content
                + struct.pack(">I", zlib.crc32(name + content))
            )

        head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
        return (
            b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
        )
    values = {
        256: side,
        257: side,
        258: 8,
        259: 8,
        262: 1,
        273: 8,
        277: 1,
        278: side,
        279: len(data),
    }
    tags = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in values.items())
    head = b"II*\0" + struct.pack("<I", 8 + len(data))
    return head + data + struct.pack("<H", len(values)) + tags + bytes(4)


@pytest.mark.parametrize("kind", ["png", "tif"])
@pytest.mark.parametrize("side", [15_000, 2**31 - 1])
def test_pictures_of_huge_dimensions_are_refused_before_they_are_decoded(
    kind: str, side: int
) -> None:
    data = bomb(kind, side)
    for folder in ("gt", "det"):
        Path(folder).mkdir()
        Path(f"{folder}/img_1.{kind}").write_bytes(data)
    Path("gt.txt").write_text(GT.replace("100,100", f"{side},{side}"))
    Path("det.txt").write_text(DET)
    result = invoke("gt.txt", "det.txt", "res", "gt", "det")
    assert result.exit_code == 2
    assert f"{side**2} pixels" in result.output or "cannot be read" in result.output
    result = invoke("validate", "gt.txt", "det.txt", "--images", "gt")
    assert result.exit_code in (0, 2), result.output
