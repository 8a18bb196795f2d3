"""The installed command: ``evaltex`` and ``python -m evaltex_cli``."""

import signal


def run() -> None:
    """Run the command line. An interrupt before and after its work ends the process without a word."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from evaltex_cli.cli import main

    main(prog_name="evaltex")


if __name__ == "__main__":
    run()
