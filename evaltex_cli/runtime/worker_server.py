"""The process that starts workers, and what a worker does.

It has one thread and the modules that workers need, so a copy of it is a worker. It ends, and ends
its workers, with the process that started it.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from evaltex_cli.runtime import collect_rarely, keep_freed_memory, signals

END = b""
_LENGTH_BYTES = 8
_THREADS = Path("/proc/self/task")
_SPAWNED = """\
import sys
sys.path[:] = [{own!r}, *{path!r}]
from evaltex_cli.runtime import worker_server
worker_server.serve(worker_server.socket.socket(fileno=0), {modules!r})
"""


class _Server(NamedTuple):
    """The process, as the one that started it (`owner`) knows it."""

    requests: socket.socket
    owner: int

    @property
    def is_there(self) -> bool:
        """Whether it can be asked for workers, by this process."""
        if self.owner != os.getpid():
            return False
        try:
            return bool(self.requests.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except OSError as error:
            return isinstance(error, BlockingIOError)  # it says nothing while it is there


class Worker(NamedTuple):
    """A worker, as the process that it works for knows it."""

    pipe: socket.socket
    pid: int


_server: _Server | None = None


# In the process that has work ---------------------------------------------------------------------


def prepare(modules: Sequence[str] = (), may_copy: bool = False) -> None:
    """Start the process that starts workers, if there is none; it imports these modules for them
    while this process does something else.

    Parameters
    ----------
    modules : sequence of str
    may_copy : bool
        Make it a copy of this process if that has only one thread, which saves the start of Python;
        for processes of our own, since the copy keeps all files open that are open now.

    Raises
    ------
    OSError
        When that cannot be done.
    """
    global _server  # noqa: PLW0603
    if _server is not None:
        if _server.is_there:
            return
        _server.requests.close()
    ours, theirs = socket.socketpair()
    with theirs, signals.blocked():  # a terminal's would end it before workers
        if may_copy and _has_one_thread():
            if not os.fork():
                try:
                    ours.close()
                    _be_silent()
                    serve(theirs, modules)
                finally:
                    os._exit(1)
        else:
            _spawn(theirs, modules)
    atexit.register(ours.close)
    _server = _Server(ours, os.getpid())


def start() -> Worker:
    """Start a worker.

    Raises
    ------
    OSError, EOFError
        When that cannot be done.
    """
    prepare()
    assert _server is not None
    ours, theirs = socket.socketpair()
    try:
        with theirs:  # so that the pipe ends with the worker
            socket.send_fds(_server.requests, [b"."], [theirs.fileno()])
        send(ours, pickle.dumps((_current_folder(), sys.path)))
        return Worker(ours, int(receive(ours)))
    except BaseException:
        ours.close()
        raise


def _current_folder() -> str | None:
    """The current folder; None if it was removed."""
    try:
        return str(Path.cwd())
    except FileNotFoundError:
        return None


def _has_one_thread() -> bool:
    return _THREADS.is_dir() and len(list(_THREADS.iterdir())) == 1


def _spawn(requests: socket.socket, modules: Sequence[str]) -> None:
    """Start a new Python that serves requests, which come from its standard input."""
    own = str(Path(__file__).parents[2])  # the code that runs here, whatever else is in the path
    code = _SPAWNED.format(own=own, path=sys.path, modules=list(modules))
    utf8 = f"utf8={sys.flags.utf8_mode}"
    streams: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_DUP2, requests.fileno(), 0)]
    if not _is_debugged():
        streams.append((os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0))
    os.posix_spawn(
        sys.executable, [sys.executable, "-X", utf8, "-c", code], os.environ, file_actions=streams
    )


def _be_silent() -> None:
    """Write nothing to standard error, here and in workers: who waits for them reports why they
    die.
    """
    if not _is_debugged():
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)


def _is_debugged() -> bool:
    return bool(os.environ.get("EVALTEX_DEBUG"))


# In the process that starts workers, and in workers -----------------------------------------------


def serve(requests: socket.socket, modules: Sequence[str]) -> None:
    """Start a worker for each pipe that comes, until the other end closes; then end them."""
    for number in (signal.SIGINT, signal.SIGHUP):  # a terminal's are for the parent
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals.ENDING)
    collect_rarely()
    keep_freed_memory()
    for name in modules:
        import_module(name)
    workers: set[int] = set()
    while (request := socket.recv_fds(requests, 1, 1))[0]:
        workers -= {pid for pid in workers if os.waitpid(pid, os.WNOHANG)[0]}
        for descriptor in request[1]:  # none if no more files may be open
            with socket.socket(fileno=descriptor) as pipe, suppress(OSError):
                worker = os.fork()
                if not worker:
                    requests.close()
                    _work(pipe)
                workers.add(worker)
    for pid in workers:
        os.kill(pid, signal.SIGKILL)


def _work(pipe: socket.socket) -> None:
    """Do what comes through a pipe, and end."""
    try:
        folder, sys.path[:] = pickle.loads(receive(pipe))
        if folder is not None:
            os.chdir(folder)
        send(pipe, str(os.getpid()).encode())
        while (task := receive(pipe)) != END:
            send(pipe, _answer(task))
    except (EOFError, OSError):  # the parent is dying
        pass
    finally:
        os._exit(0)


def _answer(task: bytearray) -> bytes:
    """Return what a function has raised and returned, pickled: None is the one or the other."""
    try:
        function, item = pickle.loads(task)
        return pickle.dumps((None, function(item)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        return pickle.dumps((error, None))


# Messages -----------------------------------------------------------------------------------------


def send(pipe: socket.socket, message: bytes) -> None:
    """Send a message of any length."""
    pipe.sendall(len(message).to_bytes(_LENGTH_BYTES, "big"))
    pipe.sendall(message)


def receive(pipe: socket.socket) -> bytearray:
    """Wait for a message.

    Raises
    ------
    EOFError
        When the other end is closed.
    """
    return _received(pipe, int.from_bytes(_received(pipe, _LENGTH_BYTES), "big"))


def _received(pipe: socket.socket, count: int) -> bytearray:
    message = bytearray(count)
    left = memoryview(message)
    while left:
        done = pipe.recv_into(left)
        if not done:
            raise EOFError("a process ended")
        left = left[done:]
    return message
