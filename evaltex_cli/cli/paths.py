"""Types of the options that are paths: what a command reads and what it
writes, so that no output replaces an input.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evaltex_cli.errors import InputError
from evaltex_cli.protocols.config_path import find_config
from evaltex_cli.results.beginnings import is_of, is_output, is_result
from evaltex_cli.runtime.outputs import Rules

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_FORCE, _LIST = "evaltex.force", "evaltex.list"


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
    """A file to write; `kind` is one of `beginnings.KINDS`. For other tools `-` is stdout, so no
    file gets this name by mistake.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if os.fspath(value) == "-":
            self.fail("- is not stdout here; give the name of a file (./- is one).", param, ctx)
        return super().convert(value, param, ctx)


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


def rules() -> Rules:
    """Return what the running command reads and writes."""
    context = click.get_current_context()
    given = [
        (_kind(param, path, context), path)
        for param in context.command.params
        for path in _paths(param, context)
    ]
    given += [one for kind, path in given if isinstance(kind, Board) for one in _of_board(path)]
    return Rules(
        inputs=[path for kind, path in given if isinstance(kind, Input)],
        pictures=[path for kind, path in given if isinstance(kind, PictureFolder)],
        files=[(path, is_of(kind.kind)) for kind, path in given if isinstance(kind, OutputFile)],
        folders=[path for kind, path in given if isinstance(kind, OutputFolder)],
        apart=[path for kind, path in given if type(kind) is Input],
        force=context.meta.get(_FORCE, False),
        is_result=is_result,
        is_output=is_output,
    )


def _kind(param: click.Parameter, path: Path, context: click.Context) -> object:
    """What a path is of: its option's type says it, but for converted data,
    which may be a folder.
    """
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
    given = () if value is None else value if isinstance(value, tuple) else (value,)
    if given and isinstance(param.type, Results):
        from evaltex_cli.results.reader import files

        given = tuple(file for path in given for file in files(path))
    yield from given


def _of_board(path: Path) -> Iterator[tuple[object, Path]]:
    """Yield what a board names, by the types of the options that it stands for."""
    if is_board_file(path):
        from evaltex_cli.ranking.board_file import paths_in

        inputs, pictures = paths_in(path)
        yield from ((INPUT, path) for path in inputs)
        yield from ((PICTURES, path) for path in pictures)
