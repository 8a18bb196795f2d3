"""Names in one buffer."""

from __future__ import annotations

import pytest

from evaltex_cli.formats.files import names as name_buffers
from evaltex_cli.formats.files.names import Names


@pytest.mark.parametrize("many", [10, 1 << 18])
def test_a_name_that_is_there_twice_is_seen_among_many(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_buffers, "_MANY", many)
    buffer = "".join(f"img_{k}\n" for k in range(10_000)).encode()
    assert not Names(buffer).repeat()
    for again in (b"img_0\n", b"img_4095\n", b"img_4096\n", b"img_9999\n"):
        assert Names(buffer + again).repeat()
    assert not Names(b"").repeat()
