"""Reading a board from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from evaltex_cli.errors import ConfigError, EvaltexError, InputError, quote
from evaltex_cli.errors.suggestions import nearest, unknown
from evaltex_cli.formats.image_subset import read_names
from evaltex_cli.formats.options import DONT_CARE_OBJECTS, INVALID_POLYGONS, InputOptions
from evaltex_cli.protocols import PROTOCOLS, config, plain
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.ranking.board import Board, DataSet, Settings
from evaltex_cli.results import significance
from evaltex_cli.runtime import input_files

ALL = "all"
_Path: TypeAlias = Annotated[str, Meta(min_length=1)]
_AS_GIVEN = (
    *("gt_format", "det_format", "gt_level", "det_level", "gt_classes", "det_classes"),
    *("min_confidence", "invalid", "dont_care"),
    *("coordinates", "columns"),
)
"""Keys of a data set that are options of reading as they are."""


class _DataSet(msgspec.Struct, forbid_unknown_fields=True):
    """A table [datasets.NAME]."""

    gt: _Path
    gt_format: str | None = None
    det_format: str | None = None
    gt_level: str | None = None
    det_level: str | None = None
    gt_classes: tuple[str, ...] | None = None
    det_classes: tuple[str, ...] | None = None
    min_confidence: float | None = None
    images: _Path | None = None
    only: _Path | None = None
    lines: _Path | None = None
    invalid: str = INVALID_POLYGONS[0]
    dont_care: str = DONT_CARE_OBJECTS[0]
    coordinates: str | None = None
    columns: str | None = None
    config: _Path | None = None
    set: list[str] = []


class _Tables(msgspec.Struct, forbid_unknown_fields=True):
    """A whole board; `datasets` has `_DataSet`, the others detector -> data set -> path."""

    datasets: Annotated[dict[str, dict[str, Any]], Meta(min_length=1)]
    detectors: dict[str, dict[str, _Path]]
    reports: dict[str, dict[str, _Path]] = {}
    protocols: Annotated[tuple[str, ...], Meta(min_length=1)] = (config.DEFAULT_SECTION,)
    level: Annotated[float, Meta(gt=0, lt=1)] = significance.LEVEL
    resamples: Annotated[int, Meta(ge=1, le=significance.MOST_RESAMPLES)] = significance.RESAMPLES
    seed: Annotated[int, Meta(ge=0)] = 0
    correction: Literal["max-t", "holm"] = "max-t"
    pooled: bool = False
    allow_missing: bool = False


def read(path: Path, settings: Mapping[str, Any] | None = None) -> Board:
    """Read a board; paths in it are relative to its folder.

    Parameters
    ----------
    settings : mapping, optional
        Fields of `Settings`, and `protocols`, that replace those of the file.

    Raises
    ------
    ConfigError
        When it is no board; the message names the key.
    """
    given = dict(settings or {})
    try:
        text = path.read_bytes().decode("utf-8-sig")
        tables = msgspec.convert(tomllib.loads(text), _Tables)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror or error}); give a board in TOML"
        ) from error
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {error}; docs/rank.md shows a board") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: is not TOML ({error}); expected a board") from error
    names = [plain(name) for name in given.pop("protocols", tables.protocols)]
    protocols = list(PROTOCOLS) if ALL in names else list(dict.fromkeys(names))
    try:
        if faults := list(_unknown_names(tables, protocols)):
            raise ConfigError("\n".join(faults))
        datasets = [_data_set(path.parent, name, tables, protocols) for name in tables.datasets]
    except EvaltexError as error:
        faults = [f"{path}: {fault}" for fault in str(error).splitlines()]
        raise ConfigError("\n".join(faults)) from error
    fields = {name: getattr(tables, name) for name in Settings.__dataclass_fields__}
    return Board(datasets, Settings(**(fields | given)))


def paths_in(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the files that a board names, and its folders of pictures; none if it is no board,
    which `read` reports.
    """
    try:
        board = read(path)
    except EvaltexError:
        return [], []
    return [*board.inputs, *board.reports.values()], board.pictures


def _unknown_names(tables: _Tables, protocols: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the names of protocols, data sets and detectors."""
    for name in protocols:
        if name in PRESETS and name not in PROTOCOLS:
            yield (
                f"protocols: {quote(name)} is a preset, not a protocol; it stands for"
                f" {PRESETS[name].options}"
            )
        elif name not in PROTOCOLS:
            yield f"protocols: {unknown('protocol', name, list(PROTOCOLS))}"
    datasets = list(tables.datasets)
    for what, detectors in (("detectors", tables.detectors), ("reports", tables.reports)):
        for label, paths in detectors.items():
            for name in paths:
                if name not in datasets:
                    yield f"{what}.{label}: {unknown('data set', name, datasets)}"
    for label in tables.reports:
        if label not in tables.detectors:
            hint = nearest(label, list(tables.detectors))
            yield f"reports: unknown detector {quote(label)}{hint}"
    for label, paths in tables.detectors.items():
        missing = [name for name in datasets if name not in paths]
        if missing and not tables.allow_missing:
            yield (
                f"detectors.{label}: no detections of {', '.join(missing)}; add their paths, or"
                " allow_missing = true"
            )
    for name in datasets:
        if sum(name in paths for paths in tables.detectors.values()) < 2:
            yield f"datasets.{name}: fewer than two detectors have detections; add another"


def _data_set(folder: Path, name: str, tables: _Tables, protocols: Sequence[str]) -> DataSet:
    """Return a data set, all of whose paths are there.

    Raises
    ------
    ConfigError, InputError
    """
    where = f"datasets.{name}"
    try:
        table = msgspec.convert(tables.datasets[name], _DataSet)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {error}") from error
    paths = {
        key: _existing(folder, f"{where}: {key}", path)
        for key in ("gt", "images", "only", "lines", "config")
        if (path := getattr(table, key)) is not None
    }
    detections, reports = (
        {
            label: _existing(folder, f"{what}.{label}: {name}", files[name])
            for label, files in detectors.items()
            if name in files
        }
        for what, detectors in (("detectors", tables.detectors), ("reports", tables.reports))
    )
    try:
        options = InputOptions(
            **{key: getattr(table, key) for key in _AS_GIVEN},
            images=paths.get("images"),
            lines=paths.get("lines"),
            only=read_names(paths["only"]) if "only" in paths else None,
        )
        settings = [
            *(config.read_config(paths["config"]) if "config" in paths else []),
            *(config.parse_set(argument, protocols) for argument in table.set),
        ]
        parameters = {protocol: config.parameters_of(protocol, settings) for protocol in protocols}
    except EvaltexError as error:
        raise ConfigError(f"{where}: {error}") from error
    files = [paths[key] for key in ("only", "config") if key in paths]
    return DataSet(name, paths["gt"], options, parameters, detections, reports, files)


def _existing(folder: Path, where: str, given: str) -> Path:
    """Return a path in the board's folder, which must be there."""
    path = folder / given
    try:
        is_there = all(file.exists() for file in input_files.files_of(path))
    except (InputError, OSError):  # a pattern that no file matches; a name that is too long
        is_there = False
    if not is_there:
        raise ConfigError(f"{where} = {quote(given)}; there is no {path}")
    return path
