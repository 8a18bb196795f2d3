"""``evaltex completion SHELL``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from evaltex_cli.cli import main
from evaltex_cli.cli.names import Name

SHELLS = {
    "bash": 'eval "$(evaltex completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(evaltex completion zsh)"  # in ~/.zshrc',
    "fish": "evaltex completion fish | source  # in ~/.config/fish/config.fish",
}
EXAMPLES = tuple(SHELLS.values())


@click.argument("shell", type=Name("shell", list(SHELLS)), metavar="SHELL")
def command(shell: str) -> None:
    """Print the script that completes commands, options, names and files in SHELL: bash, zsh or
    fish.

    The examples are the lines to add to the start-up file of each shell.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(main, {}, "evaltex", "_EVALTEX_COMPLETE").source()
    # Click's script for fish cuts a value or a description at its first comma.
    click.echo(script.replace('(string split ","', '(string split --max 1 ","'))
