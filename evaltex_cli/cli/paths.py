"""Types of the options that are paths: what a command reads and what it writes, so that no output
replaces an input.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaltex_cli.errors import InputError
from evaltex_cli.marks import is_of, kind_of
from evaltex_cli.runtime import input_files, outputs

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_FORCE, _LIST = "evaltex.force", "evaltex.list"
_PICTURE = re.compile(r"\.(png|jp\w+|tiff?|bmp|gif|webp|avif|p[gp]m)$", re.IGNORECASE)


def find_config(given: Path | None) -> Path | None:
    """The file of parameters: the given one, or `evaltex.ini` in the current folder, or none."""
    default = Path("evaltex.ini")
    return given if given is not None or not default.is_file() else default


class _Named(click.Path):
    """A path that has a name: an empty one comes of a variable that is not
    set, and would be the current folder.
    """

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("is empty; give a path (. is the current folder).", param, ctx)
        return super().convert(value, param, ctx)


class Input(_Named):
    """A file, a pattern, or a folder that is read as a whole."""


class Board(Input):
    """Inputs, or a single file that names them (`ranking.board_file`)."""


class Results(Input):
    """A result, or a folder of which the results are read."""


class ConfigFile(Input):
    """A parameter file; if none is given, the one in the current folder."""


class _Folder(_Named):
    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, "dir")]


class PictureFolder(_Folder):
    """A folder of which some files are read."""


class OutputFile(_Named):
    """A file to write, of a kind that `marks` recognises; ``-`` is stdout."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert("/dev/stdout" if os.fspath(value) == "-" else value, param, ctx)


class ImageList(Input):
    """A file with names of images, one per line, that is read at once: the value is the names."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if ctx is not None:
            ctx.meta[_LIST] = path
        from evaltex_cli.formats.image_subset import read_names

        try:
            return read_names(path)
        except InputError as error:
            self.fail(str(error), param, ctx)


def image_list() -> Path | None:
    """Return the file of the current command's list of images, if it was given."""
    path: Path | None = click.get_current_context().meta.get(_LIST)
    return path


class ConvertedData(OutputFile):
    """A file to write, or a folder if the option `to` is a format with one file per image."""

    def __init__(self) -> None:
        super().__init__("data")


class OutputFolder(_Folder):
    """A folder to write."""


INPUT, BOARD, RESULTS, CONFIG, PICTURES, OUTPUT_FOLDER = (
    Input(),
    Board(),
    Results(),
    ConfigFile(),
    PictureFolder(),
    OutputFolder(),
)


def is_board_file(path: Path) -> bool:
    """Whether an input is a board of detectors, by its name."""
    return path.suffix.lower() == ".toml"


def _keep_force(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    ctx.meta[_FORCE] = value


force_option = click.option(
    "--force",
    is_flag=True,
    expose_value=False,
    callback=_keep_force,
    help="Replace files that evaltex did not write.",
)


@contextmanager
def protected() -> Iterator[None]:
    """Check what the running command writes, and protect what it reads while the block runs.

    Raises
    ------
    InputError
        When an output is an input, cannot be written, is not the command's own, or is named twice.
    """
    context = click.get_current_context()
    given = [
        (_kind(param, path, context), path)
        for param in context.command.params
        for path in _paths(param, context)
    ]
    given += [one for kind, path in given if isinstance(kind, Board) for one in _on_board(path)]
    inputs = [file for kind, path in given if isinstance(kind, Input) for file in _inputs(path)]
    folders = [path for kind, path in given if isinstance(kind, PictureFolder) and path.is_dir()]
    inputs += [
        file for folder in folders for file in folder.iterdir() if _PICTURE.search(file.name)
    ]
    force = context.meta.get(_FORCE, False)
    with outputs.protected(inputs, force):
        written = []
        for kind, path in given:
            if isinstance(kind, OutputFile):
                outputs.check_file(path, None if kind.kind == "data" else is_of(kind.kind))
            elif isinstance(kind, OutputFolder):
                outputs.check_folder(path)
            else:
                continue
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


def _kind(param: click.Parameter, path: Path, context: click.Context) -> object:
    """Return what a path is for. Converted data may be a file or a folder."""
    if not isinstance(param.type, ConvertedData):
        return param.type
    from evaltex_cli.conversion import is_folder

    return OUTPUT_FOLDER if is_folder(path, context.params.get("to")) else param.type


def _paths(param: click.Parameter, context: click.Context) -> Iterator[Path]:
    value = context.params.get(param.name or "")
    if isinstance(param.type, ConfigFile):
        value = find_config(value)
    if isinstance(param.type, ImageList):
        value = context.meta.get(_LIST)
    yield from () if value is None else value if isinstance(value, tuple) else (value,)


def _on_board(path: Path) -> Iterator[tuple[object, Path]]:
    """Yield what a board names, by the types of the options that it stands for."""
    if is_board_file(path):
        from evaltex_cli.ranking.board_file import paths_in

        inputs, pictures = paths_in(path)
        yield from ((INPUT, path) for path in inputs)
        yield from ((PICTURES, path) for path in pictures)
