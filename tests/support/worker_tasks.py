"""What tests give workers to do."""

from __future__ import annotations

import os
import signal
import time

from evaltex_cli.errors import InputError


def square(number: int) -> int:
    return number * number


def die_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def fail(number: int) -> int:
    raise InputError(f"{number} is wrong")


def process_after(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()
