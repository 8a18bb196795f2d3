"""The command looks for cycles of references rarely, and not at its end; a Python program that calls
the functions keeps its own setting.
"""

from __future__ import annotations

import gc
import platform
import subprocess
import sys

import pytest

import evaltex_cli
from evaltex_cli import runtime

GT = [[[0, 0, 10, 10]]]
RARELY = runtime._COLLECTED_EVERY


def test_a_command_collects_rarely() -> None:
    program = (
        "import gc; from evaltex_cli import __main__, cli\n"
        "cli.main = lambda **_: print(gc.get_threshold())\n"
        "__main__.run()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == str(RARELY)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_freed_arrays_are_not_mapped_again() -> None:
    program = (
        "import resource\n"
        "from evaltex_cli.runtime import keep_freed_memory\n"
        "def work():\n"
        "    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "    for _ in range(10):\n"
        "        blocks = [b'x' * (1 << 20) for _ in range(6)]\n"
        "        del blocks\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before\n"
        "keep_freed_memory(); work(); print(work())"
    )
    done = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
        for _ in range(3)  # the system may have no place for a heap that grows: seen once
    ]
    assert min(int(one.stdout) for one in done) < 1000  # 15,000 without it


def test_a_command_ends_without_a_last_collection() -> None:
    program = (
        "import gc; from evaltex_cli import __main__, cli\n"
        "cli.main = lambda **_: None\n"
        "__main__.run()\n"
        "print(gc.get_freeze_count() > 1000)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "True"


def test_a_python_program_keeps_its_setting() -> None:
    before = gc.get_threshold()
    evaltex_cli.evaluate(GT, GT)
    assert gc.get_threshold() == before != RARELY
