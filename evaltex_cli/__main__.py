"""The installed command: ``evaltex`` and ``python -m evaltex_cli``."""

import gc
import os
import signal
import sys


def run() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # after temporary folders are removed
    gc.disable()  # results have no cycles, and to look for them takes a tenth of a run
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy would start threads for nothing
    from evaltex_cli import cli

    try:
        cli.main(prog_name="evaltex")
    except OSError as error:  # at help or the version: what happens in a command is reported there
        cli.stop_for(error)
    finally:
        gc.freeze()  # the system gets all memory back at once


if __name__ == "__main__":
    run()
