"""What a validation reports: the problems, what each side contains, which images pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from typing import Any, Literal

from evaltex_cli.errors import counted, kind_of, others, quote
from evaltex_cli.evaluation.inputs import InputSummary
from evaltex_cli.formats.base import Side
from evaltex_cli.tables import Column, Table, printable
from evaltex_cli.tables.record import Record, raw

Level = Literal["error", "warning"]
LEVELS: tuple[Level, ...] = ("error", "warning")
FEW_PAIRS = 20
"""Rows of the pairing table that are shown."""
_PAIRED: dict[str | None, str] = {
    "name": "by name",
    "file name": "by file name",
    "id": "by ID",
    "only image": "as only image",
    "stem": "that would pair if spelled alike",
    "number": "that would pair if spelled alike",
    None: "without detections",
}
_EXTRA = "only in the detections"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Problem(Record):
    """One thing that is wrong or suspicious; an error stops an evaluation.

    Its kind is ``input`` (what a reader says), ``extra-image``, ``missing-image``, ``empty-image``,
    ``invalid-polygon``, ``zero-area``, ``outside-picture``, ``duplicate``, ``orientation``,
    ``dont-care``, ``no-objects``, ``coordinates``, ``confidences``, ``texts``, ``picture`` or
    ``swapped-sides``.
    """

    level: Level
    kind: str
    side: Side
    file: str
    line: int | None = None
    """From 1, in text and XML."""
    where: str = ""
    """What leads to the value in a JSON document, such as ``annotations[3].bbox``; else empty."""
    image: str | None = None
    object: int | None = None
    """The object's ID."""
    found: str
    advice: str = ""
    """What was expected, or is to be done."""

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

    def summary(self) -> str:
        """Return whether it passed, and how many problems there are of each kind."""
        counts = []
        for level in LEVELS:
            kinds = Counter(problem.kind for problem in self.of_level(level))
            listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
            kinds_of = f" ({listed})" if kinds else ""
            counts.append(counted(kinds.total(), f"{{count}} {level}[s]") + kinds_of)
        return f"Validation {'passed' if self.passed else 'failed'}: {', '.join(counts)}"

    def tables(self, all_pairs: bool = False, every: bool = False) -> list[Table]:
        """Return the sides, the pairing, the problems and the summary.

        `all_pairs` lists all images; `every` gives each problem a line of its own, which is not
        wrapped, for programs.
        """
        sides = {"ground truth": self.gt, "detections": self.det}
        tables = [_side(title, side) for title, side in sides.items() if side]
        tables += [_pairing(self.pairs, all_pairs)] if self.pairs else []
        for level in LEVELS:
            if problems := self.of_level(level):
                tables.append(Table(f"{level}s", notes=list(_listed(problems, every))))
        return [*tables, Table(self.summary())]

    def data(self) -> Mapping[str, Callable[[], Table]]:
        """Return a row per problem of ``problems``, errors first, or per image of ``pairs``."""
        return {
            "problems": partial(_rows, Problem, self.problems),
            "pairs": partial(_rows, Pair, self.pairs),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the members of the command's JSON."""
        counts = {f"{level}s": len(self.of_level(level)) for level in LEVELS}
        return {"passed": self.passed, **counts, **Record.to_dict(self)}


def _rows(kind: type[Problem] | type[Pair], records: Sequence[Problem] | Sequence[Pair]) -> Table:
    return raw([field.name for field in fields(kind)], (({}, record) for record in records))


# For reading --------------------------------------------------------------------------------------


def _side(title: str, side: SideSummary) -> Table:
    counts = {
        "{count} image[s]": side.images,
        "{count} object[s]": side.objects,
        "{count} don't care": side.dont_care,
        "{count} transcription[s]": side.transcriptions,
        "{count} image[s] without objects": side.empty,
        "{count} image[s] with only don't-care objects": side.all_dont_care,
        "{count} invalid polygon[s]": side.repaired,
        "{count} object[s] without area": side.zero_area,
    }
    shown = [counted(n, what) for k, (what, n) in enumerate(counts.items()) if n or k < 2]
    notes = [f"format {side.format} ({side.reason})", ", ".join(shown)]
    return Table(f"{title}: {printable(side.file)}", notes=notes)


def _pairing(pairs: Sequence[Pair], all_pairs: bool) -> Table:
    by = Counter(_EXTRA if pair.gt is None else _PAIRED[pair.by] for pair in pairs)
    in_order = dict.fromkeys([*_PAIRED.values(), _EXTRA])
    title = f"pairing: {', '.join(f'{by[what]} {what}' for what in in_order if by[what])}"
    notable = [pair for pair in pairs if pair.by not in ("name", "id")]
    shown = pairs if all_pairs else (pairs if len(pairs) <= FEW_PAIRS else notable)[:FEW_PAIRS]
    columns = [Column("ground truth"), Column("detections"), Column("paired by")]
    columns += [Column("objects", "number"), Column("detected", "number")]
    rows = [list(astuple(pair)) for pair in shown]
    notes = []
    if len(shown) < len(pairs):
        what = " that pair[s|] by name or ID" if shown == notable else ""
        left_out = f"{{count}} image[s]{what} [is|are] not listed; --pairs lists all"
        notes = [counted(len(pairs) - len(shown), left_out)]
    return Table(title, columns if rows else (), rows, notes)


def _listed(problems: Sequence[Problem], every: bool) -> Iterator[str]:
    """Yield the first of equal problems, how many there are, and where the next ones are."""
    kinds: dict[object, list[Problem]] = {}
    for problem in problems:
        key = (problem.kind, problem.side, kind_of(problem.found), kind_of(problem.advice))
        kinds.setdefault(id(problem) if every else key, []).append(problem)
    for equal in kinds.values():
        text = _described(equal[0])
        if len(equal) > 1:
            text += f" ({len(equal)} such {equal[0].level}s{others(equal)})"
        yield f"{'  ' if every else '- '}{printable(text)}"


def _described(problem: Problem) -> str:
    text = problem.found
    if problem.object is not None and problem.image is not None:
        text = f"image {quote(problem.image)}, object {problem.object}: {text}"
    elif problem.image is not None and quote(problem.image) not in text:
        text = f"image {quote(problem.image)}: {text}"
    return f"{problem.place}: {text}" + (f"; {problem.advice}" if problem.advice else "")
