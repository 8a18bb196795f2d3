"""Types of the options that are paths: what a command reads and what it writes, so that no output
replaces an input.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from evaltex_cli.errors import EvaltexError, InputError
from evaltex_cli.runtime import input_files, outputs
from evaltex_cli.runtime.marks import is_of, kind_of

_PICTURE = re.compile(r"\.(png|jp\w+|tiff?|bmp|gif|webp|avif|p[gp]m)$", re.IGNORECASE)


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


class Board(Input):
    """Inputs, or a single file that names them (`ranking.board`)."""


class PictureFolder(_Named):
    """A folder of which some files are read."""


class OutputFile(_Named):
    """A file to write, of a kind that `marks` recognises; ``-`` is stdout."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert("/dev/stdout" if os.fspath(value) == "-" else value, param, ctx)


class OutputFolder(_Named):
    """A folder to write; `hint` is what a user who names a file may have meant."""

    def __init__(self, hint: str = "") -> None:
        super().__init__(file_okay=False)
        self.hint = hint

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if Path(value).is_file():
            self.fail(f"{value}: is a file; give a folder for the results{self.hint}", param, ctx)
        return super().convert(value, param, ctx)


INPUT, PICTURES, OUTPUT_FOLDER = Input(), PictureFolder(file_okay=False), OutputFolder()


def is_board_file(path: Path) -> bool:
    """Whether an input is a board of detectors, by its name."""
    return path.suffix.lower() == ".toml"


@contextmanager
def protected(force: bool) -> Iterator[None]:
    """Check what the running command writes, and protect what it reads while the block runs.

    Raises
    ------
    InputError
        When an output is an input, cannot be written, is not the command's own, or is named twice.
    """
    context = click.get_current_context()
    given = []
    for param in context.command.params:
        value = context.params.get(param.name or "")
        paths = value if isinstance(value, tuple) else () if value is None else (value,)
        if isinstance(param.type, _Named):
            given += [(param.type, path) for path in paths]
    given += [one for kind, path in given if isinstance(kind, Board) for one in _on_board(path)]
    inputs = [file for kind, path in given if isinstance(kind, Input) for file in _inputs(path)]
    folders = [path for kind, path in given if isinstance(kind, PictureFolder) and path.is_dir()]
    inputs += [
        file for folder in folders for file in folder.iterdir() if _PICTURE.search(file.name)
    ]
    with outputs.protected(inputs, force):
        written = []
        for kind, path in given:
            if not isinstance(kind, OutputFile | OutputFolder):
                continue
            if isinstance(kind, OutputFolder) or (kind.kind == "data" and path.is_dir()):
                outputs.check_folder(path)
            else:
                outputs.check_file(path, None if kind.kind == "data" else is_of(kind.kind))
            written.append(os.path.realpath(path))
            if written[-1] in written[:-1] and not outputs.is_stream(path):
                raise InputError(f"{path}: is given for two outputs; give each its own place")
        yield


def _inputs(path: Path) -> list[Path]:
    """Return the files of an input: of a pattern, or the results in a folder that contains some."""
    try:
        files = input_files.files_of(path)
    except InputError:
        return []  # what opens it reports it
    in_folder = path.glob("*.json") if path.is_dir() else ()
    return [file for file in in_folder if kind_of(file) in ("result", "sweep")] or files


def _on_board(path: Path) -> Iterator[tuple[_Named, Path]]:
    """Yield what a board names, by the types of the options that it stands for."""
    if is_board_file(path):
        from evaltex_cli.ranking.board import read

        try:
            datasets = read(path).datasets
        except EvaltexError:
            return  # what opens it reports it
        for dataset in datasets:
            yield from ((INPUT, file) for file in dataset.files)
            if dataset.options.images is not None:
                yield PICTURES, dataset.options.images
