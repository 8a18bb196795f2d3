"""Reading a board from a TOML file, with everything that is wrong with it."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from evaltex_cli import formats
from evaltex_cli.errors import ConfigError, EvaltexError, InputError, counted, quote
from evaltex_cli.errors.suggestions import nearest
from evaltex_cli.formats.image_subset import read_names
from evaltex_cli.formats.options import (
    DONT_CARE_OBJECTS,
    INVALID_POLYGONS,
    Coordinates,
    InputOptions,
    column_mapping,
)
from evaltex_cli.protocols import PROTOCOLS, config, plain
from evaltex_cli.ranking.board import CORRECTIONS, Board, DataSet, Settings
from evaltex_cli.results.significance import MOST_RESAMPLES
from evaltex_cli.runtime import input_files
from evaltex_cli.runtime.input_files import read_regular

ALL = "all"
LARGEST = 1 << 20
"""Bytes of the largest board that is read."""
MOST_PARTS = 100
"""Dots of keys on a line: the parser takes time and memory with the square of them."""
MOST_MARKS = 10_000
"""Keys, parts of keys, lists and tables: the parser takes 1 kB for each."""
# What has no end is TOML's fault, and goes up to the end, so that nothing is looked at twice.
_TEXT = re.compile(
    r""""{3}(?:[^\\]|\\.?)*?(?:"{3}|\Z)|'{3}.*?(?:'{3}|\Z)"""
    r"""|"(?:[^"\\\n]|\\.?)*+"?|'[^'\n]*+'?|#[^\n]*+""",
    re.DOTALL,
)
_MARK = re.compile(r"[.=\[{]")
_MOST_SEED = 2**64 - 1
Fields: TypeAlias = "dict[str, tuple[Callable[[Any], bool], str]]"
"""Key -> whether a value may be one of it, and what is expected."""


def read(path: Path, settings: Mapping[str, Any] | None = None) -> Board:
    """Read a board; paths in it are relative to its folder.

    Parameters
    ----------
    settings : mapping, optional
        Fields of `Settings`, and `protocols`, that replace those of the file.

    Raises
    ------
    ConfigError
        When it is no board: all faults in one message.
    """
    try:
        text = read_regular(path, "a board", LARGEST + 1)
        if len(text) > LARGEST:
            raise ConfigError(f"{path}: larger than {LARGEST} bytes; expected a board in TOML")
        decoded = text.decode("utf-8-sig")
        _refuse_many_keys(path, _TEXT.sub("", decoded))
        content = tomllib.loads(decoded)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror or error}); give a board in TOML"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8; expected a board in TOML") from error
    except (ValueError, RecursionError) as error:  # no TOML; a number of thousands of digits
        raise ConfigError(f"{path}: is no TOML ({quote(str(error))}); expected a board") from error
    reader = _Reader(path, content, settings or {})
    board = reader.board()
    if reader.faults:
        raise ConfigError("\n".join(f"{path}: {fault}" for fault in reader.faults))
    return board


def _refuse_many_keys(path: Path, text: str) -> None:
    """`text` is without strings and comments."""
    if any(line.count(".") > MOST_PARTS for line in text.splitlines()):
        raise ConfigError(f"{path}: has a key of more than {MOST_PARTS} parts; expected a board")
    if len(_MARK.findall(text)) > MOST_MARKS:
        raise ConfigError(
            f"{path}: has more than {MOST_MARKS} keys, parts of keys, lists and tables; expected a"
            " board"
        )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _parses(parse: Callable[[str], object]) -> Callable[[Any], bool]:
    def is_parsed(value: Any) -> bool:
        try:
            return isinstance(value, str) and bool(parse(value))
        except ConfigError:
            return False

    return is_parsed


def _shown(value: Any) -> str:
    """A value of the file as a message shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return quote(value) if isinstance(value, str) else quote(str(value))[1:-1]
    except ValueError:  # hexadecimal, of more digits than Python writes as decimals
        return "a number of thousands of digits"


def _one_of(names: Sequence[str]) -> tuple[Callable[[Any], bool], str]:
    return lambda value: isinstance(value, str) and value in names, f"one of {', '.join(names)}"


_FLAG = (lambda value: isinstance(value, bool), "true or false")
_TOP: Fields = {
    "protocols": (
        lambda value: _is_list(value) and bool(value),
        'names, such as ["iou", "evaltex"]',
    ),
    "level": (lambda value: _is_share(value) and 0 < value < 1, "a number between 0 and 1"),
    "resamples": (
        lambda value: _is_whole(value, 1, MOST_RESAMPLES),
        f"a whole number from 1 to {MOST_RESAMPLES}",
    ),
    "seed": (lambda value: _is_whole(value, 0, _MOST_SEED), "a whole number from 0 on, of 64 bits"),
    "correction": _one_of(CORRECTIONS),
    "pooled": _FLAG,
    "allow_missing": _FLAG,
    "datasets": (lambda value: isinstance(value, dict), "tables [datasets.NAME]"),
    "detectors": (lambda value: isinstance(value, dict), "tables [detectors.NAME]"),
    "reports": (lambda value: isinstance(value, dict), "tables [reports.DETECTOR]"),
}
_FORMAT = (
    lambda value: isinstance(value, str) and value in formats.FORMATS,
    "a format (`evaltex formats`)",
)
_DATA_SET: Fields = {
    "gt": (_is_text, "a path"),
    "gt_format": _FORMAT,
    "det_format": _FORMAT,
    "min_confidence": (_is_share, "a number from 0 to 1"),
    "images": (_is_text, "a path"),
    "only": (_is_text, "a path"),
    "lines": (_is_text, "a path"),
    "invalid": _one_of(INVALID_POLYGONS),
    "dont_care": _one_of(DONT_CARE_OBJECTS),
    "coordinates": (_parses(Coordinates.parse), "ORDER:SCALE, such as yxyx:1000"),
    "columns": (_parses(column_mapping), "HOLDS=NAME,..., such as image=file,x0=left"),
    "config": (_is_text, "a path"),
    "set": (_is_list, '[PROTOCOL.]KEY=VALUE, such as ["iou.truncate=false"]'),
}
_AS_GIVEN = (
    *("gt_format", "det_format", "min_confidence", "invalid", "dont_care"),
    *("coordinates", "columns"),
)
"""Keys of a data set that are options of reading as they are."""


def paths_in(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the inputs and reports that a board names, and its folders of pictures; none if it is
    no board, which `read` reports.
    """
    try:
        board = read(path)
    except EvaltexError:
        return [], []
    more = [path for one in board.datasets for path in (one.config, *one.reports.values())]
    return [*board.inputs, *filter(None, more)], board.pictures


class _Reader:
    """Reads the tables of a board, and collects what is wrong with them."""

    def __init__(self, path: Path, content: dict[str, Any], settings: Mapping[str, Any]) -> None:
        self.folder, self.content = path.parent, content
        self.settings = settings
        self.faults: list[str] = []

    def board(self) -> Board:
        """Return the board, as far as it can be read."""
        top = self.fields("the board", self.content, _TOP)
        detectors = dict(self.tables("detectors", top, "[detectors.NAME]", required=True))
        reports = dict(self.tables("reports", top, "[reports.DETECTOR]", required=False))
        names = [name for name, _ in self.tables("datasets", top, "[datasets.NAME]", required=True)]
        self.refuse_unknown(detectors, reports, names, bool(top.get("allow_missing")))
        protocols = self.protocols(top)
        datasets = [
            one
            for name, table in self.tables("datasets", top, "", required=False)
            if (one := self.dataset(name, table, protocols, detectors, reports)) is not None
        ]
        fields = [name for name in Settings.__dataclass_fields__ if name in top]
        given = {name: value for name, value in self.settings.items() if name != "protocols"}
        return Board(datasets, Settings(**({name: top[name] for name in fields} | given)))

    def fields(self, where: str, table: Mapping[str, Any], known: Fields) -> dict[str, Any]:
        """Return the values of a table that are what they should be."""
        values = {}
        for key, value in table.items():
            if key not in known:
                hint = nearest(key, list(known))
                self.faults.append(
                    f"{where}: unknown key {quote(key)}{hint}; expected one of {', '.join(known)}"
                )
            elif not known[key][0](value) or (isinstance(value, float) and math.isnan(value)):
                self.faults.append(f"{where}: {key} = {_shown(value)}; expected {known[key][1]}")
            else:
                values[key] = value
        return values

    def tables(
        self, key: str, top: Mapping[str, Any], expected: str, required: bool
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the tables in a table."""
        tables = top.get(key, {})
        if required and not tables and (key in top or key not in self.content):
            self.faults.append(f"no {key}; expected tables {expected}")
        for name, table in tables.items():
            if isinstance(table, dict):
                yield name, table
            elif expected:
                self.faults.append(
                    f"{key}: {quote(name)} = {_shown(table)}; expected a table {expected}"
                )

    def protocols(self, top: Mapping[str, Any]) -> list[str]:
        """Return the names of the protocols."""
        given = self.settings.get("protocols") or top.get("protocols", [config.DEFAULT_SECTION])
        names = list(PROTOCOLS) if ALL in map(plain, given) else [*dict.fromkeys(map(plain, given))]
        for name in names:
            if name not in PROTOCOLS:
                self.faults.append(
                    f"protocols: unknown protocol {quote(name)}{nearest(name, list(PROTOCOLS))};"
                    f" expected {', '.join(PROTOCOLS)}"
                )
        return [name for name in names if name in PROTOCOLS]

    def refuse_unknown(
        self,
        detectors: Mapping[str, Mapping[str, Any]],
        reports: Mapping[str, Mapping[str, Any]],
        names: Sequence[str],
        allow_missing: bool,
    ) -> None:
        """Log data sets that are not there, and those that a detector has no detections for."""
        for what, tables in (("detectors", detectors), ("reports", reports)):
            for label, table in tables.items():
                for name, path in table.items():
                    if name not in names:
                        self.faults.append(
                            f"{what}.{label}: no data set {quote(name)}{nearest(name, names)};"
                            f" expected {', '.join(names)}"
                        )
                    elif not _is_text(path):
                        self.faults.append(
                            f"{what}.{label}: {name} = {_shown(path)}; expected a path"
                        )
        for label in reports:
            if label not in detectors:
                self.faults.append(
                    f"reports: no detector {quote(label)}{nearest(label, list(detectors))}"
                )
        for label, table in detectors.items():
            missing = [name for name in names if name not in table]
            if missing and not allow_missing:
                self.faults.append(
                    f"detectors.{label}: no detections of {', '.join(missing)};"
                    " expected a path, or allow_missing = true"
                )

    def dataset(
        self,
        name: str,
        table: Mapping[str, Any],
        protocols: Sequence[str],
        detectors: Mapping[str, Mapping[str, Any]],
        reports: Mapping[str, Mapping[str, Any]],
    ) -> DataSet | None:
        """Return one data set; None if its ground truth is not given."""
        where = f"datasets.{name}"
        values = self.fields(where, table, _DATA_SET)
        if "gt" not in table:
            self.faults.append(f"{where}: no gt; expected the path of the ground truth")
        detections = self.of_each(name, "detectors", detectors)
        if len(detections) < 2:
            found = counted(len(detections), "{count} detector[s] with detections")
            self.faults.append(f"{where}: {found}; expected two or more")
        if "gt" not in values:
            return None
        gt = self.existing(where, "gt", values["gt"])
        only = self.existing(where, "only", values.get("only"))
        options = InputOptions(
            **{name: values[name] for name in _AS_GIVEN if name in values},
            images=self.existing(where, "images", values.get("images")),
            lines=self.existing(where, "lines", values.get("lines")),
            only=self.names_in(where, only) if only else None,
        )
        parameters = self.parameters(where, values, protocols)
        assert gt is not None  # it was given
        reported = self.of_each(name, "reports", reports)
        config_path = self.folder / values["config"] if "config" in values else None
        return DataSet(name, gt, options, parameters, detections, reported, only, config_path)

    def names_in(self, where: str, path: Path) -> tuple[str, ...]:
        """Return the names in a list of images."""
        try:
            return read_names(path)
        except InputError as error:
            self.faults.append(f"{where}: only: {error}")
            return ()

    def of_each(
        self, name: str, what: str, detectors: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Path]:
        """Return detector -> its path for a data set."""
        return {
            label: path
            for label, table in detectors.items()
            if _is_text(table.get(name))
            and (path := self.existing(f"{what}.{label}", name, table[name])) is not None
        }

    def existing(self, where: str, key: str, given: str | None) -> Path | None:
        """Return a path in the board's folder, which must be there."""
        if given is None:
            return None
        path = self.folder / given
        try:
            is_there = all(file.exists() for file in input_files.files_of(path))
        except (InputError, OSError):  # a pattern that no file matches; a name that is too long
            is_there = False
        if not is_there:
            self.faults.append(f"{where}: {key} = {quote(given)}; there is no {path}")
        return path

    def parameters(
        self, where: str, values: Mapping[str, Any], protocols: Sequence[str]
    ) -> dict[str, Any]:
        """Return protocol -> parameters record."""
        try:
            file = self.existing(where, "config", values.get("config"))
            given = [
                *(config.read_config(file) if file is not None and file.exists() else []),
                *(config.parse_set(argument, protocols) for argument in values.get("set", [])),
            ]
            return {name: config.parameters_of(name, given) for name in protocols}
        except ConfigError as error:
            self.faults.append(f"{where}: {error}")
            return {}
