"""The command line, run in this process."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from evaltex_cli.cli import main


def invoke(*arguments: object) -> Result:
    """Run the command, whatever its status is."""
    return CliRunner().invoke(main, list(map(str, arguments)))


def run(*arguments: object, status: int = 0) -> Result:
    """Run the command, which has to end with a status."""
    found = invoke(*arguments)
    assert found.exit_code == status, found.output
    return found


def validated(*arguments: object) -> tuple[int, str]:
    """Status and text of `evaltex validate` with every fault."""
    found = invoke("validate", *arguments, "--all-faults")
    assert "Traceback" not in found.output
    assert "internal error" not in found.output
    return found.exit_code, found.output


def tree(folder: Path) -> dict[str, bytes | None]:
    """Everything in a folder, with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
