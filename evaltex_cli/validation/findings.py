"""What a validation reports, as JSON or rows: the problems, what each side contains, which images
pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from evaltex_cli.display import DataFrame, Record, Table, frame, unknown_table
from evaltex_cli.errors import counted
from evaltex_cli.evaluation.inputs import InputSummary
from evaltex_cli.formats.base import Side
from evaltex_cli.results import markup
from evaltex_cli.results.text_tables import json_document

Level = Literal["error", "warning"]
LEVELS: tuple[Level, ...] = ("error", "warning")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Problem(Record):
    """One thing that is wrong or suspicious; an error stops an evaluation.

    Attributes
    ----------
    kind : str
        ``input`` (what a reader says), ``extra-image``, ``missing-image``, ``empty-image``,
        ``invalid-polygon``, ``zero-area``, ``outside-picture``, ``duplicate``, ``orientation``,
        ``dont-care``, ``no-objects``, ``coordinates``, ``confidences``, ``texts``, ``picture``,
        ``swapped-sides``.
    line : int or None
        From 1, in text and XML.
    where : str
        What leads to the value in a JSON document, such as ``annotations[3].bbox``; else empty.
    object : int or None
        The object's ID.
    found, advice : str
        What is there; what was expected, or is to be done.
    """

    level: Level
    kind: str
    side: Side
    file: str
    line: int | None = None
    where: str = ""
    image: str | None = None
    object: int | None = None
    found: str
    advice: str = ""

    @property
    def place(self) -> str:
        """Its file, with its line or what leads to it in a JSON document."""
        file = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{file}: {self.where}" if self.where else file


@dataclass(frozen=True, repr=False)
class SideSummary(InputSummary):
    """What one side contains; by what its format was recognised."""

    reason: str = ""
    all_dont_care: int = 0
    """Images with objects, all of them don't care."""


@dataclass(frozen=True, slots=True, repr=False)
class Pair(Record):
    """Images of both sides that are one; their names, and how many objects each has.

    `by` is what the names share: name, file name, id or only image; stem or number if they would
    pair only if they were spelled alike.
    """

    gt: str | None
    det: str | None
    by: str | None
    objects: int | None
    detections: int | None


@dataclass(frozen=True, slots=True, repr=False)
class Validation(Record):
    """Everything found; sides are None where they cannot be read at all."""

    gt: SideSummary | None
    det: SideSummary | None
    pairs: Sequence[Pair]
    problems: Sequence[Problem]

    def of_level(self, level: Level) -> list[Problem]:
        """Return the problems of a level."""
        return [problem for problem in self.problems if problem.level == level]

    @property
    def passed(self) -> bool:
        """Whether an evaluation would run: there is no error."""
        return not self.of_level("error")

    def shown(self) -> Table:
        """Return whether it passed, and one row per problem, errors first."""
        counts = (counted(len(self.of_level(one)), f"{{count}} {one}[s]") for one in LEVELS)
        rows = [["level", "side", "image", "line", "found"]]
        rows += [
            [one.level, one.side, one.image or "", str(one.line or ""), one.found]
            for level in LEVELS
            for one in self.of_level(level)
        ]
        title = f"Validation {'passed' if self.passed else 'failed'}: {', '.join(counts)}"
        return Table(title, rows if self.problems else ())

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the command's JSON."""
        counts = {f"{level}s": len(self.of_level(level)) for level in LEVELS}
        return {"passed": self.passed, **counts, **Record.to_dict(self)}

    def to_pandas(self, table: str = "problems") -> DataFrame:
        """Return a table, ``problems`` or ``pairs`` of images, as a data frame; raises
        `ConfigError` without pandas.
        """
        tables = {"problems": (Problem, self.problems), "pairs": (Pair, self.pairs)}
        if table not in tables:
            raise unknown_table(table, list(tables))
        kind, records = tables[table]
        names = [one.name for one in fields(kind)]
        return frame({name: [getattr(record, name) for record in records] for name in names})


def document(validation: Validation, limit: int | None) -> str:
    """Return JSON of everything, whatever the limit."""
    text = json_document("validation", validation.to_dict())
    return text.encode("utf-8", "replace").decode("utf-8")  # names of files need not be Unicode


def _rows(validation: Validation, limit: int | None) -> Iterator[list[Any]]:
    names = [field.name for field in fields(Problem)]
    yield names
    for level in LEVELS:
        for one in validation.of_level(level)[:limit]:
            yield [getattr(one, name) for name in names]


FORMATS: dict[str, Callable[[Validation, int | None], str]] = {
    "json": document,
    **markup.forms_of("validation", _rows),
}
