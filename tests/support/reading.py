"""An input read whole, for the tests of readers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.base import ReadImages, Side, Source
from evaltex_cli.records import Objects


@dataclass(frozen=True)
class Read:
    """What came of an input; faults are without its path."""

    source: Source
    images: ReadImages
    faults: list[str]
    fault_count: int

    @property
    def objects(self) -> Objects:
        return self.images.objects

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


def read(path: Path, side: Side = "gt", format_name: str | None = None) -> Read:
    log = FaultLog()
    source = formats.open_source(path, side, log, format_name)
    images = source.read(np.arange(len(source.names)))
    log.extend(images.faults)
    faults = [str(fault).removeprefix(f"{path}: ").removeprefix(f"{path}/") for fault in log.shown]
    return Read(source, images, faults, log.count)


def read_or_raise(
    path: Path, side: Side = "gt", format_name: str | None = None
) -> tuple[list[str], ReadImages]:
    """The names of all images and what they hold; raises its faults."""
    log = FaultLog()
    source = formats.open_source(path, side, log, format_name)
    images = source.read(np.arange(len(source.names)))
    log.extend(images.faults)
    log.raise_if_any()
    return source.names, images


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
