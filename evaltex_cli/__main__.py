"""The installed command: ``evaltex`` and ``python -m evaltex_cli``."""

import os
import signal
import sys
from pathlib import Path

from evaltex_cli.runtime import collect_rarely, leave_memory_to_exit, signals

LEAST_ADDRESS_SPACE = 112_000 << 10
"""Bytes without which numpy's libraries end the process by themselves, with status 1."""


def run() -> None:
    """Run the command line.

    An interrupt before its work ends the process without a word; after it, when only temporary
    files are to be removed, none does. A standard stream that is closed is nowhere: else an input
    or result would take its number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    _refuse_small_address_space()
    collect_rarely()
    os.environ.setdefault(
        "OPENBLAS_NUM_THREADS", "1"
    )  # numpy would start threads, and none is used
    from evaltex_cli import cli

    try:
        cli.main(prog_name="evaltex")
    except OSError as error:  # at help or the version: what happens in a command is reported there
        cli.stop(cli.cause_of(error))
    finally:
        for each in signals.ENDING:
            signal.signal(each, signal.SIG_IGN)
        leave_memory_to_exit()


def _refuse_small_address_space() -> None:
    """End with status 2 where a run cannot even begin."""
    if sys.platform == "win32":
        return
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESS_SPACE:
        print(
            f"evaltex: error: out of memory: address space is limited to {limit >> 10} KB"
            f" (ulimit -v); expected at least {LEAST_ADDRESS_SPACE >> 10}; most runs need more",
            file=sys.stderr,
        )
        sys.exit(2)


if __name__ == "__main__":
    run()
