"""``python -m evaltex_cli`` is the same as ``evaltex``."""

from evaltex_cli.cli import main

if __name__ == "__main__":
    main(prog_name="evaltex")
