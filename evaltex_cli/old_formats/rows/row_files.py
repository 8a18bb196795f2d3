"""What the formats of this folder share: their lines are surveyed together,
then read file by file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from evaltex_cli.errors import FaultLog, FormatError
from evaltex_cli.old_formats.base import Indexer, Side, Source
from evaltex_cli.old_formats.documents.document_files import index_texts, text_of
from evaltex_cli.old_formats.icdar.lines import lines_of
from evaltex_cli.old_formats.icdar.row_evidence import Evidence
from evaltex_cli.old_formats.icdar.survey import survey
from evaltex_cli.old_formats.parsed import CollectedImage, CollectedObject

ReadLine: TypeAlias = Callable[[str, Evidence], CollectedObject | None]
"""``read_line(line, evidence)`` returns a line's object, None for a line
without one; raises `FormatError`.
"""


@dataclass(frozen=True, slots=True)
class _Rows:
    """How the lines of an input are read."""

    read_line: ReadLine
    evidence: Evidence
    fractions: bool

    def parse(self, data: bytes, image: CollectedImage, side: Side, faults: FaultLog) -> None:
        """Give an image the objects of its file; a `document_files.Parse`."""
        image.in_fractions = self.fractions
        for number, line in lines_of(text_of(data)):
            try:
                one = self.read_line(line.strip(), self.evidence)
            except FormatError as error:
                faults.add(image.place, number, error.found, error.expected)
                continue
            if one is not None:
                image.add(replace(one, at=number, dont_care=one.dont_care and side == "gt"))


def index_rows(
    name: str,
    read_line: ReadLine,
    warnings: Callable[[Evidence], list[str]],
    fractions: bool = False,
) -> Indexer:
    """Return what indexes text files of one image each, whose lines mean what all of them together
    say.

    Parameters
    ----------
    name : str
        Of the format.
    read_line : callable
    warnings : callable
        Says what is unusual about the lines.
    fractions : bool
        Whether coordinates are fractions of the picture.
    """

    def index(path: Path, side: Side, faults: FaultLog) -> Source:
        evidence = survey(path).rows
        rows = _Rows(read_line, evidence, fractions)
        source = index_texts(name, ".txt", rows.parse)(path, side, faults)
        return replace(
            source,
            warnings=(*source.warnings, *(f"{path.name}: {text}" for text in warnings(evidence))),
        )

    return index
