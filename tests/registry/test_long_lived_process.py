"""Very many evaluations in one process, in threads, forks and event loops."""

from __future__ import annotations

import asyncio
import gc
import gzip
import multiprocessing
import os
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from one_word import DET, GT

from evaltex_cli import evaluate
from evaltex_cli.errors import InputError

pytestmark = [pytest.mark.slow, pytest.mark.no_coverage, pytest.mark.usefixtures("here")]


def packed_inputs() -> None:
    Path("gt.txt.gz").write_bytes(gzip.compress(GT.encode()))
    Path("det.txt.gz").write_bytes(gzip.compress(DET.encode()))


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_long_lived_process_leaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(Path.cwd()))
    packed_inputs()
    Path("bad.txt.gz").write_bytes(gzip.compress(DET.encode())[:-6])
    for _ in range(20):
        evaluate("gt.txt.gz", "det.txt.gz")
    gc.collect()  # what other tests left open is not closed meanwhile
    descriptors, memory = len(os.listdir("/proc/self/fd")), resident()
    threads = {*threading.enumerate()}  # some of other tests may end
    for _ in range(int(os.environ.get("EVALTEX_EVALUATIONS", "200"))):
        evaluate("gt.txt.gz", "det.txt.gz")
    with pytest.raises(InputError, match="damaged gzip"):
        evaluate("gt.txt.gz", "bad.txt.gz")
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert {*threading.enumerate()} <= threads
    assert not multiprocessing.active_children()
    assert resident() - memory < 8 << 20
    assert not list(Path().glob("evaltex-*.txt"))


def _scores(_: int = 0) -> dict[str, object]:
    return dict(evaluate("gt.txt.gz", "det.txt.gz").scores)


def test_threads_forks_and_event_loops_give_the_same_results() -> None:
    packed_inputs()
    expected = _scores()
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(_scores, range(40))) == [expected] * 40
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_scores, range(4)) == [expected] * 4

    async def cell() -> dict[str, object]:
        return _scores()

    assert asyncio.run(cell()) == expected
