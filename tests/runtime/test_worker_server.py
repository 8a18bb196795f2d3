"""The process that starts workers is a copy of the command, or a new Python; workers are where this
process is.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evaltex_cli.runtime import worker_server, workers

CHILDREN = """
import os, sys, threading
from pathlib import Path
from evaltex_cli.runtime import worker_server
file = Path(sys.argv[1]).open()
if len(sys.argv) > 2:
    ended = threading.Event()
    threading.Thread(target=ended.wait, daemon=True).start()
worker_server.prepare(may_copy=True)
(server,) = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
worker_server.start()
print(any(path.samefile(sys.argv[1]) for path in Path(f"/proc/{server}/fd").iterdir() if path.exists()))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system has no /proc")
@pytest.mark.parametrize("more", [[], ["with a thread"]])
def test_only_a_process_of_one_thread_is_copied(tmp_path: Path, more: list[str]) -> None:
    """A copy has the open files; of several threads, the others would be missing in it."""
    (tmp_path / "file").touch()
    command = [sys.executable, "-c", CHILDREN, str(tmp_path / "file"), *more]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    assert done.stdout.split() == [str(not more)]


@pytest.mark.parametrize("length", [0, 1, 1 << 20])
def test_messages_arrive_whole_or_not_at_all(length: int) -> None:
    message = os.urandom(length)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sender = threading.Thread(target=worker_server.send, args=(ours, message))
        sender.start()
        assert worker_server.receive(theirs) == message
        sender.join()
        ours.sendall((length + 1).to_bytes(8, "big") + message[:9])
        ours.close()
        with pytest.raises(EOFError):
            worker_server.receive(theirs)


@pytest.mark.slow
def test_workers_are_where_this_process_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in (tmp_path, tmp_path.parent):
        monkeypatch.chdir(folder)
        monkeypatch.syspath_prepend(str(folder))
        with workers.processes(1) as ordered_map:
            asked = ["__import__('os').getcwd()", "__import__('sys').path[0]"]
            assert list(ordered_map(eval, asked)) == [str(folder)] * 2


@pytest.mark.slow
def test_a_server_that_was_killed_is_replaced() -> None:
    for _ in range(2):
        with workers.processes(1) as ordered_map:
            (server,) = ordered_map(eval, ["__import__('os').getppid()"])
        os.kill(server, signal.SIGKILL)
        assert worker_server._server is not None
        while worker_server._server.is_there:
            pass
