"""The installed command: ``evaltex`` and ``python -m evaltex_cli``."""

import gc
import os
import signal
import sys
from pathlib import Path


def run() -> None:
    """Run the command line.

    An interrupt before or after its work ends the process without a word. A standard stream that is
    closed is nowhere: else an input or result would take its number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.disable()  # results have no cycles, and to look for them takes a tenth of a run
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads for nothing
    from evaltex_cli import cli

    try:
        cli.main(prog_name="evaltex")
    except OSError as error:  # at help or the version: what happens in a command is reported there
        cli.stop(cli.cause_of(error))
    finally:
        gc.freeze()  # the system gets all memory back at once


if __name__ == "__main__":
    run()
