"""Commands in processes of their own, measured, without the start of Python for each.

A server imports the whole program once and forks for every command, so that a command costs what it does, and its peak
memory is the one of a process that does nothing else: the pages of the server count as its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from limits import HANG_SECONDS


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    """The exit status, negative for a signal."""
    peak: int
    """Bytes of memory."""
    seconds: float
    """Of processor time."""
    said: str
    """What it wrote to both standard streams."""


class Server:
    """The process that forks, to be used in a `with` block."""

    def __enter__(self) -> Server:
        self._process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(self, *arguments: str, hang_seconds: float = HANG_SECONDS) -> Ended:
        """Run ``evaltex ARGUMENTS`` in this process's folder."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(Path.cwd()), arguments]).encode() + b"\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], hang_seconds)[0]:
            self._process.kill()
            raise TimeoutError(f"{arguments} hangs")
        return Ended(*json.loads(self._process.stdout.readline()))


def serve() -> None:
    """Run the commands that come as lines of JSON, one after the other."""
    import_all()
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        folder, arguments = json.loads(line)
        answers.write(json.dumps(forked(folder, arguments)) + "\n")
        answers.flush()


def import_all() -> None:
    """Import what the measured commands import, by running them on nearly nothing."""
    from evaltex_cli import cli

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        Path("gt.txt").write_text('img_1\n100,100\n1,1,"a",f,0,0,10,10\n')
        Path("det.txt").write_text('img_1\n1,"a",0,0,10,10\n')
        for arguments in (["validate", "gt.txt", "det.txt"], ["gt.txt", "det.txt", "res"]):
            with contextlib.suppress(SystemExit):
                cli.main(arguments)


def forked(folder: str, arguments: list[str]) -> Ended:
    """Run a command in a child."""
    begun_read, begun_write = os.pipe()
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            os.write(begun_write, str(resident()).encode())
            in_child(folder, arguments, said.fileno())
        _, status, usage = os.wait4(child, 0)
        not_inherited = max(resident() - int(os.read(begun_read, 99)), 0)  # libraries' pages not yet touched
        os.close(begun_read)
        os.close(begun_write)
        said.seek(0)
        text = said.read().decode("utf-8", "replace")
    peak = usage.ru_maxrss * 1024 + not_inherited
    return Ended(os.waitstatus_to_exitcode(status), peak, usage.ru_utime + usage.ru_stime, text)


def resident() -> int:
    """Return the bytes of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def in_child(folder: str, arguments: list[str], output: int) -> None:
    """Become the command."""
    from evaltex_cli.__main__ import run

    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.argv = ["evaltex", *arguments]
    status = 1
    try:
        run()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    serve()
