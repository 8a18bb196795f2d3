"""The manual page evaltex(1)."""

from __future__ import annotations

import shutil
import subprocess

import click
import pytest

from evaltex_cli.cli import COMMANDS, EVALUATE, main
from evaltex_cli.cli.manual import page
from evaltex_cli.version import __version__


def test_the_page_has_every_command_option_and_example() -> None:
    text = page().replace(r"\-", "-").replace(r"\`", "`")
    assert text == page().replace(r"\-", "-").replace(r"\`", "`")
    assert f'"evaltex {__version__}"' in text.splitlines()[0]
    for name in (EVALUATE, *COMMANDS):
        command = main.get_command(click.Context(main), name)
        assert command is not None
        called = "evaltex" if name == EVALUATE else f"evaltex {name}"
        assert rf"\fB{called}\fR [OPTIONS]" in text
        for option in (
            param
            for param in command.params
            if isinstance(param, click.Option) and not param.hidden
        ):
            assert any(
                f"\\fB{other}" in text or f", {other}" in text
                for other in (*option.opts, *option.secondary_opts)
            )
        for example in command.examples:  # type: ignore[attr-defined]
            assert f"\n{example}\n" in text


@pytest.mark.skipif(
    not shutil.which("groff"), reason="groff, which reads the page, is not installed"
)
def test_groff_has_no_warning() -> None:
    command = ["groff", "-man", "-Tutf8", "-ww", "-rLL=80n"]
    done = subprocess.run(command, input=page(), capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "evaltex compare" in done.stdout
