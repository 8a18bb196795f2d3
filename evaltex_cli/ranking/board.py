"""A board: detectors, data sets and protocols in a TOML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta

from evaltex_cli.comparison.detectors import is_result
from evaltex_cli.errors import ConfigError, EvaltexError, unknown
from evaltex_cli.evaluation.groups import IMAGE
from evaltex_cli.formats.image_subset import read_names
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS, config, plain
from evaltex_cli.results import significance
from evaltex_cli.runtime import input_files

CORRECTIONS = ("max-t", "holm")
"""How p-values are corrected for the number of pairs; the first is the default."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How detectors are ranked.

    `level` is that of the intervals; pairs differ significantly if their corrected p-value is below
    1 - level.
    """

    level: Annotated[float, Meta(gt=0, lt=1)] = significance.LEVEL
    resamples: Annotated[int, Meta(ge=1, le=significance.MOST_RESAMPLES)] = significance.RESAMPLES
    seed: Annotated[int, Meta(ge=0)] = 0
    correction: Literal["max-t", "holm"] = "max-t"
    unit: str = IMAGE


@dataclass(frozen=True, slots=True)
class DataSet:
    """A ground truth, how it is read and scored, and the detectors."""

    name: str
    """Empty for the name of the ground truth."""
    gt: Any
    """A path, or None if all detectors have results; in Python arrays, too."""
    options: InputOptions
    parameters: Mapping[str, Any]
    """Protocol -> parameters record."""
    detections: Mapping[str, Any]
    """Detector -> detections, or the folder of its results."""
    groups: Path | None = None
    """The file of attributes of images, for units."""


@dataclass(frozen=True, slots=True)
class Board:
    """What is ranked; `files` are all that the board names."""

    datasets: Sequence[DataSet]
    settings: Settings
    files: Sequence[Path] = ()


_DataSet: Any = msgspec.defstruct(
    "_DataSet",
    [
        *((name, Path | None, None) for name in ("gt", "only", "config", "groups")),
        ("set", tuple[str, ...], ()),
        *(
            (field.name, get_type_hints(InputOptions)[field.name], field.default)
            for field in fields(InputOptions)
            if field.name not in ("only", "masks", "preset")
        ),
    ],
    forbid_unknown_fields=True,
)
"""A table [datasets.NAME]: paths, parameters, and how inputs are read."""


class _Tables(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole board; `detectors` has detector -> data set -> path."""

    datasets: Annotated[dict[str, _DataSet], Meta(min_length=1)]
    detectors: dict[str, dict[str, Path]]
    protocols: Annotated[tuple[str, ...], Meta(min_length=1)] = (config.DEFAULT_SECTION,)


def read(path: Path, settings: Mapping[str, Any] | None = None) -> Board:
    """Read a board; paths in it are relative to its folder, and `settings`, with the `protocols`,
    replace its own. Raises `ConfigError` if it is not a board, or names a file that does not exist.
    """
    files: list[Path] = []

    def existing(_: type, name: str) -> Path:
        files.append(path.parent / name)
        for file in input_files.files_of(files[-1]):
            if not file.exists():
                raise ValueError(f"there is no {file}")
        return files[-1]

    text = input_files.read_text(path, "give a board in TOML")
    try:
        tables = msgspec.toml.decode(text, type=_Tables, dec_hook=existing)
        own = {name: getattr(tables, name) for name in Settings.__struct_fields__}
        own |= settings or {}
        names = [plain(name) for name in own.pop("protocols", tables.protocols)]
        protocols = list(PROTOCOLS) if "all" in names else list(dict.fromkeys(names))
        in_detectors = list(chain(*tables.detectors.values()))
        for what, given, known in (
            ("protocol", protocols, list(PROTOCOLS)),
            ("data set", in_detectors, list(tables.datasets)),
        ):
            for name in given:
                if name not in known:
                    raise ConfigError(unknown(what, name, known))
        datasets = [_data_set(name, tables, protocols) for name in tables.datasets]
    except (msgspec.MsgspecError, EvaltexError) as error:
        raise ConfigError(f"{path}: {error}; docs/rank.md shows a board") from error
    return Board(datasets, Settings(**own), files)


def _data_set(name: str, tables: _Tables, protocols: Sequence[str]) -> DataSet:
    """Return a data set and its detectors; raises `EvaltexError` if it does not fit together."""
    table = tables.datasets[name]
    reading = msgspec.structs.asdict(table)
    names = ("gt", "only", "config", "groups", "set")
    gt, only, ini, groups, arguments = (reading.pop(key) for key in names)
    detections = {label: paths[name] for label, paths in tables.detectors.items() if name in paths}
    if len(detections) < 2:
        raise ConfigError(f"datasets.{name}: fewer than two detectors have detections; add another")
    if not all(map(is_result, detections.values())):
        if gt is None:
            raise ConfigError(f"datasets.{name}: `gt` is missing; add the ground truth")
    elif table != _DataSet(gt=gt, groups=groups):
        raise ConfigError(
            f"datasets.{name}: all detectors have results, which say how they were evaluated;"
            " remove all keys but gt and groups"
        )
    try:
        options = InputOptions(**reading, only=None if only is None else read_names(only))
        given = [config.parse_set(argument, protocols) for argument in arguments]
        config.refuse_others(given, protocols)
        settings = [*(config.read_config(ini) if ini else []), *given]
        parameters = {protocol: config.parameters_of(protocol, settings) for protocol in protocols}
    except EvaltexError as error:
        raise ConfigError(f"datasets.{name}: {error}") from error
    return DataSet(name, gt, options, parameters, detections, groups)
