"""Commands in processes of their own, measured, without the start of Python for each.

A server imports the whole program once and forks for every command, so that a command costs what it
does, and its peak memory is that of a process that does nothing else: what the server's pages
change is measured once, and added.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO, NamedTuple

from limits import HANG_SECONDS


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    """The exit status, negative for a signal."""
    peak: int
    """Bytes of memory."""
    seconds: float
    """Of processor time."""
    said: str = ""
    """What it wrote to both standard streams."""

    @classmethod
    def of(cls, status: int, usage: resource.struct_rusage) -> Ended:
        """Return what the system says of a process that ended."""
        return cls(
            os.waitstatus_to_exitcode(status),
            usage.ru_maxrss * 1024,
            usage.ru_utime + usage.ru_stime,
        )


class Server:
    """The process that forks, to be used in a `with` block."""

    def __enter__(self) -> Server:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(
        self, *arguments: str, hang_seconds: float = HANG_SECONDS, is_fresh: bool = False
    ) -> Ended:
        """Run ``evaltex ARGUMENTS`` in this process's folder; in a process that Python starts, as
        users do, where a child's pages, of which some MB are the server's, are too many.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(
            json.dumps([str(Path.cwd()), arguments, is_fresh]).encode() + b"\n"
        )
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], hang_seconds)[0]:
            self._process.kill()
            raise TimeoutError(f"{arguments} hangs")
        return Ended(*json.loads(self._process.stdout.readline()))


def serve() -> None:
    """Run the commands that come as lines of JSON, one after the other."""
    more = prepared()
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        folder, arguments, is_fresh = json.loads(line)
        if is_fresh:
            ended = fresh(folder, arguments)
        else:
            ended = forked(folder, arguments)
            ended = ended._replace(peak=ended.peak + more)
        answers.write(json.dumps(ended) + "\n")
        answers.flush()


def prepared() -> int:
    """Import what the measured commands import, by running them on nearly nothing.

    Returns the bytes that a command in a process of its own has more than one in a child of this
    process: pages of libraries that the child has not touched; fewer than none for what else this
    process has.
    """
    from evaltex_cli import cli

    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        Path("gt.txt").write_text('img_1\n100,100\n1,1,"a",f,0,0,10,10\n')
        Path("det.txt").write_text('img_1\n1,"a",0,0,10,10\n')
        for arguments in (["validate", "gt.txt", "det.txt"], ["gt.txt", "det.txt", "res"]):
            with contextlib.suppress(SystemExit):
                cli.main(arguments)
        alone, child = (
            run(folder, ["validate", "gt.txt", "det.txt"]).peak for run in (fresh, forked)
        )
        return alone - child


def forked(folder: str, arguments: list[str]) -> Ended:
    """Run a command in a child."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if not child:
            in_child(folder, arguments, said.fileno())
        return _ended(child, said)


def fresh(folder: str, arguments: list[str]) -> Ended:
    """Run a command in a process that Python starts; to be called by a small process, as the peak of
    its child is at least its own."""
    with tempfile.TemporaryFile() as said, contextlib.chdir(folder):
        command = [sys.executable, "-m", "evaltex_cli", *arguments]
        process = os.posix_spawn(
            command[0],
            command,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, said.fileno(), n) for n in (1, 2)],
        )
        return _ended(process, said)


def _ended(process: int, said: BinaryIO) -> Ended:
    ended = Ended.of(*os.wait4(process, 0)[1:])
    said.seek(0)
    return ended._replace(said=said.read().decode("utf-8", "replace"))


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
