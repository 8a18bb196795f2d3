"""A board: detectors, data sets and protocols in a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, get_type_hints

import msgspec
from msgspec import Meta

from evaltex_cli.comparison.detectors import is_result
from evaltex_cli.errors import ConfigError, EvaltexError, InputError, quote, unknown
from evaltex_cli.formats.image_subset import read_names
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS, config, plain
from evaltex_cli.protocols.presets import PRESETS
from evaltex_cli.results import significance
from evaltex_cli.runtime import input_files

CORRECTIONS = ("max-t", "holm")
"""How p-values are corrected for the number of pairs; the first is the default."""
_Path: TypeAlias = Annotated[str, Meta(min_length=1)]
_PATHS = ("gt", "images", "only", "lines", "config")


@dataclass(frozen=True, slots=True)
class Settings:
    """How detectors are ranked.

    `level` is that of the intervals; pairs differ significantly if their corrected p-value is below
    1 - level. `pooled` says whether evidence is also summed over all data sets.
    """

    level: float = significance.LEVEL
    resamples: int = significance.RESAMPLES
    seed: int = 0
    correction: str = CORRECTIONS[0]
    pooled: bool = False


@dataclass(frozen=True, slots=True)
class DataSet:
    """A ground truth, how it is read and scored (protocol -> parameters record), and detector ->
    detections or result folder, and detector -> the report of its run.
    """

    name: str
    gt: Path | None
    options: InputOptions
    parameters: Mapping[str, Any]
    detections: Mapping[str, Path]
    reports: Mapping[str, Path]
    files: Sequence[Path]
    """All that is read as a whole."""


@dataclass(frozen=True, slots=True)
class Board:
    """What is ranked."""

    datasets: Sequence[DataSet]
    settings: Settings

    @property
    def detectors(self) -> list[str]:
        """All detectors, in the order in which they were given."""
        return list(dict.fromkeys(label for one in self.datasets for label in one.detections))

    @property
    def reports(self) -> dict[tuple[str, str], Path]:
        """Data set and detector -> the report of its run."""
        return {
            (one.name, label): path for one in self.datasets for label, path in one.reports.items()
        }


_OPTIONS = [
    field.name for field in fields(InputOptions) if field.name not in (*_PATHS, "masks", "preset")
]
_DataSet = msgspec.defstruct(
    "_DataSet",
    [
        *((name, get_type_hints(InputOptions)[name], None) for name in _OPTIONS),
        *((name, _Path | None, None) for name in _PATHS),
        ("set", tuple[str, ...], ()),
    ],
    forbid_unknown_fields=True,
)
"""A table [datasets.NAME]: how its inputs are read, paths, and parameters."""


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
        When it is not a board; the message names the key.
    """
    given = dict(settings or {})
    try:
        tables = msgspec.convert(tomllib.loads(path.read_text("utf-8-sig")), _Tables)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror or error}); give a board in TOML"
        ) from error
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {error}; docs/rank.md shows a board") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: is not TOML ({error}); expected a board") from error
    names = [plain(name) for name in given.pop("protocols", tables.protocols)]
    protocols = list(PROTOCOLS) if "all" in names else list(dict.fromkeys(names))
    try:
        if faults := list(_unknown_names(tables, protocols)):
            raise ConfigError("\n".join(faults))
        datasets = [_data_set(path.parent, name, tables, protocols) for name in tables.datasets]
    except EvaltexError as error:
        faults = [f"{path}: {fault}" for fault in str(error).splitlines()]
        raise ConfigError("\n".join(faults)) from error
    own = {field.name: getattr(tables, field.name) for field in fields(Settings)}
    return Board(datasets, Settings(**(own | given)))


def _unknown_names(tables: _Tables, protocols: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the names of protocols, data sets and detectors."""
    for name in protocols:
        if name in PRESETS and name not in PROTOCOLS:
            options = PRESETS[name].options
            yield f"protocols: {quote(name)} is a preset, not a protocol; it stands for {options}"
        elif name not in PROTOCOLS:
            yield f"protocols: {unknown('protocol', name, list(PROTOCOLS))}"
    datasets = list(tables.datasets)
    for what, detectors in (("detectors", tables.detectors), ("reports", tables.reports)):
        for label, paths in detectors.items():
            if label not in tables.detectors:
                yield f"reports: {unknown('detector', label, list(tables.detectors))}"
            for name in (name for name in paths if name not in datasets):
                yield f"{what}.{label}: {unknown('data set', name, datasets)}"
    for label, paths in tables.detectors.items():
        missing = [name for name in datasets if name not in paths]
        if missing and not tables.allow_missing:
            yield (
                f"detectors.{label}: no detections for {', '.join(missing)}; add their paths, or"
                " allow_missing = true"
            )
    for name in datasets:
        if sum(name in paths for paths in tables.detectors.values()) < 2:
            yield f"datasets.{name}: fewer than two detectors have detections; add another"


def _data_set(folder: Path, name: str, tables: _Tables, protocols: Sequence[str]) -> DataSet:
    """Return a data set whose paths all exist; raises `EvaltexError` otherwise."""
    where = f"datasets.{name}"
    try:
        table: Any = msgspec.convert(tables.datasets[name], _DataSet)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {error}") from error
    paths = {
        key: _existing(folder, f"{where}: {key}", path)
        for key in _PATHS
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
    if all(map(is_result, detections.values())):
        if without_use := [key for key in tables.datasets[name] if key != "gt"]:
            raise ConfigError(
                f"{where}: all detectors have results, which were evaluated before; remove"
                f" {', '.join(without_use)}"
            )
    elif "gt" not in paths:
        raise ConfigError(f"{where}: `gt` is missing; add the ground truth")
    try:
        only = read_names(paths["only"]) if "only" in paths else None
        given = {key: getattr(table, key) for key in _OPTIONS if key in tables.datasets[name]}
        options = InputOptions(
            **given, images=paths.get("images"), lines=paths.get("lines"), only=only
        )
        settings = config.read_config(paths["config"]) if "config" in paths else []
        settings += [config.parse_set(argument, protocols) for argument in table.set]
        parameters = {protocol: config.parameters_of(protocol, settings) for protocol in protocols}
    except EvaltexError as error:
        raise ConfigError(f"{where}: {error}") from error
    files = [path for key, path in paths.items() if key != "images"]
    files += [*detections.values(), *reports.values()]
    return DataSet(name, paths.get("gt"), options, parameters, detections, reports, files)


def _existing(folder: Path, where: str, given: str) -> Path:
    """Return a path in the board's folder, which must exist."""
    path = folder / given
    try:
        is_there = all(file.exists() for file in input_files.files_of(path))
    except (InputError, OSError):  # a pattern without a match; a name that is too long
        is_there = False
    if not is_there:
        raise ConfigError(f"{where} = {quote(given)}; there is no {path}")
    return path
