"""An input read whole, for the tests of readers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaltex_cli.errors import FaultLog
from evaltex_cli.formats import reading
from evaltex_cli.formats.base import Side, Source
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.records import Objects


@dataclass(frozen=True)
class Read:
    """What came of an input; faults are without its path."""

    source: Source
    faults: list[str]
    fault_count: int

    @property
    def objects(self) -> Objects:
        return self.source.objects

    @property
    def warnings(self) -> list[str]:
        """The warnings, without the path of the input."""
        return [text.removeprefix(f"{self.source.path}: ") for text in self.source.warnings]

    @property
    def texts(self) -> list[str]:
        return list(self.objects.texts)

    @property
    def rings(self) -> list[list[list[float]]]:
        """The vertices of each object; none of a box."""
        return [self.objects.outlines.ring(i).tolist() for i in range(self.objects.count)]

    @property
    def flat_rings(self) -> list[list[float]]:
        """The same, x and y in turn."""
        return [[value for vertex in ring for value in vertex] for ring in self.rings]


def read(
    path: Path,
    side: Side = "gt",
    format_name: str | None = None,
    level: str | None = None,
    **options: Any,
) -> Read:
    """Read an input; `options` are of `InputOptions`."""
    log = FaultLog()
    options |= {f"{side}_format": format_name, f"{side}_level": level}
    source = reading.read(path, side, InputOptions(**options), log)
    faults = [str(fault).removeprefix(f"{path}: ").removeprefix(f"{path}/") for fault in log]
    return Read(source, faults, len(log))


def read_or_raise(path: Path, side: Side = "gt", format_name: str | None = None) -> Source:
    """Read an input, and raise its faults."""
    log = FaultLog()
    source = reading.read(path, side, InputOptions(**{f"{side}_format": format_name}), log)
    log.raise_if_any()
    return source


def described(found: Read) -> list[tuple[list[float], str]]:
    """The box and the transcription of each object."""
    return list(zip(found.objects.boxes.tolist(), found.texts, strict=True))


def folder(path: Path, *files: str | bytes, suffix: str = ".txt") -> Path:
    """A folder of 1.txt, 2.txt, ... of these contents."""
    path.mkdir(exist_ok=True)
    for number, content in enumerate(files, 1):
        (path / f"{number}{suffix}").write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
    return path
