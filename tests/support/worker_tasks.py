"""What tests give workers to do."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from limits import wait_for

from evaltex_cli.errors import InputError


def square(number: int) -> int:
    return number * number


def die_once(item: tuple[int, str]) -> int:
    """Die at 3, unless somebody has died already."""
    number, mark = item
    if number == 3 and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def always_die(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def counted(item: tuple[int, str]) -> int:
    """Die at 3, and leave a line for every call."""
    number, mark = item
    with Path(mark).open("a") as file:
        file.write(f"{number}\n")
    return always_die(number)


def without_memory(number: int) -> int:
    raise MemoryError


def large(number: int) -> bytes:
    return bytes(number)


def fail(number: int) -> int:
    raise InputError(f"{number} is wrong")


def failing_disk(number: int) -> int:
    raise OSError(5, "Input/output error")


def work_or_fail(number: int) -> int:
    if number == 3:
        raise TypeError("of the work")
    return square(number)


def process_of(_: object) -> int:
    return os.getpid()


def folder_of(_: object) -> str:
    return os.getcwd()  # noqa: PTH109


def begin_and_wait(item: tuple[Path, Path]) -> int:
    """Make one file, and wait for the other."""
    begun, go = item
    begun.touch()
    wait_for(go.exists)
    return os.getpid()
