"""What a validation reports, as text, JSON or rows: the problems, what each
side contains, which images pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from evaltex_cli.display import Record, Table, frame, unknown_table
from evaltex_cli.errors import counted, quote
from evaltex_cli.formats.base import Side
from evaltex_cli.results import markup
from evaltex_cli.results.screen import Screen, aligned, joined, narrowed
from evaltex_cli.results.text_tables import json_document, printable

if TYPE_CHECKING:
    import pandas

Level = Literal["error", "warning"]
LEVELS: tuple[Level, ...] = ("error", "warning")
FEW_PAIRS = 20
"""A pairing table of no more rows is printed as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Problem(Record):
    """One thing that is wrong or suspicious.

    Attributes
    ----------
    level : {'error', 'warning'}
        An error stops an evaluation.
    kind : str
        ``input`` (cannot be read), ``extra-image``, ``missing-image``, ``empty-image``,
        ``invalid-polygon``, ``zero-area``, ``outside-picture``, ``duplicate``, ``orientation``,
        ``dont-care``, ``no-objects``, ``coordinates``, ``texts``, ``picture``, ``swapped-sides``.
    side : {'gt', 'det'}
    file : str
    line, column : int or None
        From 1; None of what has no line: whole files, and files that are no text.
    image : str or None
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
    column: int | None = None
    image: str | None = None
    object: int | None = None
    found: str
    advice: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class SideSummary(Record):
    """What one side contains, its format, and why it was taken for that."""

    file: str
    format: str
    reason: str
    images: int
    objects: int
    dont_care: int
    transcriptions: int
    empty: int
    all_dont_care: int
    invalid_polygons: int
    zero_area: int


@dataclass(frozen=True, slots=True, repr=False)
class Pair(Record):
    """Images of both sides that are one.

    Attributes
    ----------
    gt, det : str or None
        Their names; None where a side has none.
    by : {'name', 'file name', 'only image', 'stem', 'number'} or None
        What the names share. Those of the first three are evaluated together.
    objects, detections : int or None
        How many each has.
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

    def count(self, level: Level) -> int:
        """Number of problems of a level."""
        return sum(problem.level == level for problem in self.problems)

    @property
    def passed(self) -> bool:
        """Whether an evaluation would run: there is no error."""
        return self.count("error") == 0

    def shown(self) -> Table:
        """Return whether it passed, and one row per problem, errors first."""
        levels = (counted(self.count(level), f"{{count}} {level}[s]") for level in LEVELS)
        rows = [["level", "side", "image", "line", "found"]]
        rows += [
            [one.level, one.side, one.image or "", str(one.line or ""), one.found]
            for level in LEVELS
            for one in self.problems
            if one.level == level
        ]
        title = f"Validation {'passed' if self.passed else 'failed'}: {', '.join(levels)}"
        return Table(title, rows if self.problems else ())

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the command's JSON."""
        counts = {"errors": self.count("error"), "warnings": self.count("warning")}
        return {"passed": self.passed, **counts, **Record.to_dict(self)}

    def to_pandas(self, table: str = "problems") -> pandas.DataFrame:
        """Return a table, ``problems`` or ``pairs`` of images, as a data
        frame; raises `ConfigError` without pandas.
        """
        tables: dict[str, tuple[type, Sequence[Problem | Pair]]] = {
            "problems": (Problem, self.problems),
            "pairs": (Pair, self.pairs),
        }
        if table not in tables:
            raise unknown_table(table, list(tables))
        kind, records = tables[table]
        return frame(
            {one.name: [getattr(record, one.name) for record in records] for one in fields(kind)}
        )


# As text, JSON or rows ----------------------------------------------------------------------------


def text(
    validation: Validation,
    limit: int | None,
    all_pairs: bool,
    screen: Screen | None = None,
    is_wrapped: bool = False,
) -> str:
    """Plain text: the sides, the pairing, every problem, and last the counts.

    Parameters
    ----------
    screen : Screen, optional
        No row of a table has more columns.
    is_wrapped : bool
        Whether sentences are wrapped too; else each problem has one line, as programs that read it
        expect.
    limit : int or None
        Errors, and warnings, that are shown; None for all.
    all_pairs : bool
        Whether to list also the images that pair by name, where there are many.
    """
    lines: list[str] = []
    screen = screen or Screen()
    for title, side in (("ground truth", validation.gt), ("detections", validation.det)):
        lines += _side(title, side) if side else []
    if validation.pairs:
        lines += ["", *_pairing(validation.pairs, all_pairs, screen.columns)]
    for level in LEVELS:
        problems = _of_level(validation, level)
        if problems:
            lines += [
                "",
                screen.paint(f"{level}s", COLORS[level]),
                *(f"  {_problem(problem)}" for problem in problems[:limit]),
            ]
            if limit is not None and len(problems) > limit:
                lines.append(counted(len(problems) - limit, f"  ... and {{count}} more {level}[s]"))
    lines += ["", *_counts(validation)]
    return joined(
        part for line in lines for part in (screen.wrapped(line, "    ") if is_wrapped else [line])
    )


def document(validation: Validation, limit: int | None, all_pairs: bool) -> str:
    """JSON of everything, whatever the limit."""
    content = {
        "passed": validation.passed,
        "errors": validation.count("error"),
        "warnings": validation.count("warning"),
        **asdict(validation),
    }
    document = json_document("validation", content)
    return document.encode("utf-8", "replace").decode("utf-8")  # names of files need not be Unicode


def _listed(form: str, mark: str) -> Callable[[Validation, int | None, bool], str]:
    """Return what writes the problems as rows, after a first line that says what they are."""

    def write(validation: Validation, limit: int | None, all_pairs: bool) -> str:
        names = [field.name for field in fields(Problem)]
        shown = [one for level in LEVELS for one in _of_level(validation, level)[:limit]]
        return mark + markup.FORMS[form](
            [names, *([getattr(one, name) for name in names] for one in shown)]
        )

    return write


COLORS: dict[Level, str] = {"error": "red", "warning": "yellow"}
FORMATS: dict[str, Callable[[Validation, int | None, bool], str]] = {
    "table": text,
    "json": document,
    "csv": _listed("csv", ""),
    "markdown": _listed("markdown", "<!-- evaltex validation -->\n"),
    "latex": _listed("latex", "% evaltex validation\n"),
}


def _of_level(validation: Validation, level: Level) -> list[Problem]:
    return [problem for problem in validation.problems if problem.level == level]


def _side(title: str, side: SideSummary) -> Iterator[str]:
    yield f"{title}: {printable(side.file)}"
    yield f"  format {side.format} ({side.reason})"
    counts = {
        "{count} image[s]": side.images,
        "{count} object[s]": side.objects,
        "{count} don't care": side.dont_care,
        "{count} transcription[s]": side.transcriptions,
        "{count} image[s] without objects": side.empty,
        "{count} image[s] of don't care only": side.all_dont_care,
        "{count} invalid polygon[s]": side.invalid_polygons,
        "{count} object[s] without area": side.zero_area,
    }
    always = ("{count} image[s]", "{count} object[s]")
    yield "  " + ", ".join(
        counted(count, what) for what, count in counts.items() if count or what in always
    )


def _pairing(pairs: Sequence[Pair], all_pairs: bool, columns: int) -> Iterator[str]:
    named = sum(pair.by == "name" for pair in pairs)
    other = sum(pair.by in ("stem", "number") for pair in pairs)
    missing = sum(pair.det is None for pair in pairs)
    extra = sum(pair.gt is None for pair in pairs)
    counts = {
        "by name": named,
        "by file name": sum(pair.by == "file name" for pair in pairs),
        "as only image": sum(pair.by == "only image" for pair in pairs),
        "that would if spelled alike": other,
        "without detections": missing,
        "only in the detections": extra,
    }
    yield "pairing: " + ", ".join(
        f"{count} {what}" for what, count in counts.items() if count or what == "by name"
    )
    everything = all_pairs or len(pairs) <= FEW_PAIRS
    shown = [pair for pair in pairs if everything or pair.by != "name"]
    if shown:
        head = ["ground truth", "detections", "paired by", "objects", "detected"]
        rows = narrowed([head, *(_pair_cells(pair) for pair in shown)], columns - 2, (0, 1))
        yield from (f"  {row}" for row in aligned(rows))
    if len(shown) < len(pairs):
        left_out = "({count} image[s] that pair[s|] by name [is|are] not listed; --pairs does)"
        yield f"  {counted(len(pairs) - len(shown), left_out)}"


def _pair_cells(pair: Pair) -> list[str]:
    by = {"stem": "(stem)", "number": "(number)"}.get(pair.by or "-", pair.by or "-")
    names = [printable(name) if name is not None else "-" for name in (pair.gt, pair.det)]
    return [
        *names,
        by,
        *("-" if count is None else str(count) for count in (pair.objects, pair.detections)),
    ]


def _problem(problem: Problem) -> str:
    place = ":".join(
        str(part) for part in (problem.file, problem.line, problem.column) if part is not None
    )
    text = problem.found
    if problem.object is not None and problem.image is not None:
        text = f"image {quote(problem.image)}, object {problem.object}: {text}"
    elif problem.image is not None and quote(problem.image) not in text:
        text = f"image {quote(problem.image)}: {text}"
    return printable(f"{place}: {text}{f'; {problem.advice}' if problem.advice else ''}")


def _counts(validation: Validation) -> Iterator[str]:
    kinds = Counter((problem.level, problem.kind) for problem in validation.problems)
    for level in LEVELS:
        listed = ", ".join(f"{count} {kind}" for (of, kind), count in kinds.items() if of == level)
        total = sum(count for (of, _), count in kinds.items() if of == level)
        yield counted(total, f"{{count}} {level}[s]") + (f": {listed}" if listed else "")
