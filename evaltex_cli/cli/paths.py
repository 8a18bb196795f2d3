"""Types of the options that are paths: what a command reads and what it writes, so that no output
replaces an input.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import input_files, outputs
from evaltex_cli.runtime.marks import is_of, kind_of

_PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp")


def find_config() -> Path | None:
    """Return the parameter file `evaltex.ini` of the current folder, if there is one."""
    path = Path("evaltex.ini")
    return path if path.is_file() else None


class _Named(click.Path):
    """A path that has a name: an empty one comes from a variable that is not set, and would be the
    current folder.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("is empty; give a path (. is the current folder).", param, ctx)
        return super().convert(value, param, ctx)


class Input(_Named):
    """A file, a pattern, a folder that is read as a whole, or a folder with results."""

    def files(self, path: Path) -> list[Path]:
        """Return the files that are read."""
        try:
            files = input_files.files_of(path)
        except InputError:
            return []  # what opens it reports it
        in_folder = path.glob("*.json") if path.is_dir() else ()
        return [file for file in in_folder if kind_of(file) in ("result", "sweep")] or files


class PictureFolder(_Named):
    """A folder of which the pictures are read."""

    def files(self, path: Path) -> list[Path]:
        """Return the files that are read."""
        return [file for file in path.glob("*") if file.suffix.lower() in _PICTURES]


class OutputFile(_Named):
    """A file to write, of a kind that `marks` recognises; ``-`` is stdout."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert("/dev/stdout" if os.fspath(value) == "-" else value, param, ctx)


class OutputFolder(_Named):
    """A folder to write."""


INPUT = Input()
PICTURES, OUTPUT_FOLDER = PictureFolder(file_okay=False), OutputFolder(file_okay=False)


@contextmanager
def protected(force: bool) -> Iterator[None]:
    """Check what the running command writes, and protect what it reads while the block runs. Raises
    `InputError` when an output is an input, cannot be written, or is not the command's own.
    """
    context = click.get_current_context()
    read, written = [], []
    for param in context.command.params:
        value = context.params.get(param.name or "")
        paths = value if isinstance(value, tuple) else () if value is None else (value,)
        if isinstance(param.type, Input | PictureFolder):
            read += [file for path in paths for file in param.type.files(path)]
        elif isinstance(param.type, OutputFile | OutputFolder):
            written += [(param.type, path) for path in paths]
    with outputs.protected(read, force):
        for kind, path in written:
            is_data = isinstance(kind, OutputFile) and kind.kind == "data"
            if isinstance(kind, OutputFolder) or (is_data and path.is_dir()):
                outputs.refuse_input(path)
            else:  # what writes data knows what it may replace
                outputs.check_file(path, None if is_data else is_of(kind.kind))
        yield
