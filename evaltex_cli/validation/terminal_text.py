"""A validation for reading: the sides, the pairing, equal problems once, and last the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from evaltex_cli.errors import SHOWN_PLACES, counted, kind_of, quote
from evaltex_cli.results.screen import Screen, aligned, joined, narrowed
from evaltex_cli.results.text_tables import printable
from evaltex_cli.validation.findings import (
    LEVELS,
    Level,
    Pair,
    Problem,
    SideSummary,
    Validation,
)

FEW_PAIRS = 20
"""Rows of the pairing table that are printed."""
COLORS: dict[Level, str] = {"error": "red", "warning": "yellow"}
_PAIRED = {
    "name": "by name",
    "file name": "by file name",
    "id": "by ID",
    "only image": "as only image",
    "alike": "that would if spelled alike",
    "missing": "without detections",
    "extra": "only in the detections",
}


def text(
    validation: Validation,
    limit: int | None = None,
    all_pairs: bool = False,
    screen: Screen | None = None,
    every: bool = False,
) -> str:
    """Return a validation as text, in at most as many columns as the screen has.

    `limit` is how many kinds of errors, and of warnings, are shown; `all_pairs` lists all images of
    the pairing table; `every` gives each problem a line that is not wrapped, for programs, and else
    equal problems are one.
    """
    screen = screen or Screen()
    lines = [*_side("ground truth", validation.gt), *_side("detections", validation.det)]
    if validation.pairs:
        lines += ["", *_pairing(validation.pairs, all_pairs, screen.columns)]
    for level in LEVELS:
        if problems := validation.of_level(level):
            lines += ["", screen.paint(f"{level}s", COLORS[level])]
            lines += _listed(problems, limit, every)
    lines.append("")
    for level in LEVELS:
        kinds = Counter(problem.kind for problem in validation.of_level(level))
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        lines.append(counted(kinds.total(), f"{{count}} {level}[s]") + f": {listed}" * bool(listed))
    wrapped = lines if every else [part for one in lines for part in screen.wrapped(one, "    ")]
    return joined(wrapped)


def _listed(problems: Sequence[Problem], limit: int | None, every: bool) -> Iterator[str]:
    """Yield the first of equal problems, then how many there are, in how many files, and where the
    next ones are.
    """
    kinds: dict[object, list[Problem]] = {}
    for problem in problems:
        key = (problem.kind, problem.side, kind_of(problem.found), kind_of(problem.advice))
        kinds.setdefault(id(problem) if every else key, []).append(problem)
    for equal in list(kinds.values())[:limit]:
        yield f"  {_described(equal[0])}"
        if len(equal) > 1:
            files = len({problem.file for problem in equal})
            of_files = f" in {files} files" if files > 1 else ""
            also = printable(f", also {' and '.join(_next(equal))}" if _next(equal) else "")
            yield f"    {len(equal)} such {equal[0].level}s{of_files}{also}"
    if limit is not None and len(kinds) > limit:
        what = f"{problems[0].level}[s]" if every else f"kind[s] of {problems[0].level}s"
        yield counted(len(kinds) - limit, f"  ... and {{count}} more {what}")


def _next(equal: Sequence[Problem]) -> list[str]:
    """Return the places of the next of equal problems; or their images, if they have one place."""
    first, *others = equal[:SHOWN_PLACES]
    places = [one.place for one in others if one.place != first.place]
    if places:
        return [f"at {places[0]}", *places[1:]]
    return list(dict.fromkeys(quote(one.image) for one in others if one.image is not None))


def _described(problem: Problem) -> str:
    text = problem.found
    if problem.object is not None and problem.image is not None:
        text = f"image {quote(problem.image)}, object {problem.object}: {text}"
    elif problem.image is not None and quote(problem.image) not in text:
        text = f"image {quote(problem.image)}: {text}"
    advice = f"; {problem.advice}" if problem.advice else ""
    return printable(f"{problem.place}: {text}{advice}")


def _side(title: str, side: SideSummary | None) -> Iterator[str]:
    if side is None:
        return
    yield f"{title}: {printable(side.file)}"
    yield f"  format {side.format} ({side.reason})"
    counts = {
        "{count} image[s]": side.images,
        "{count} object[s]": side.objects,
        "{count} don't care": side.dont_care,
        "{count} transcription[s]": side.transcriptions,
        "{count} image[s] without objects": side.empty,
        "{count} image[s] of don't care only": side.all_dont_care,
        "{count} invalid polygon[s]": side.repaired,
        "{count} object[s] without area": side.zero_area,
    }
    shown = [counted(n, what) for k, (what, n) in enumerate(counts.items()) if n or k < 2]
    yield f"  {', '.join(shown)}"


def _pairing(pairs: Sequence[Pair], all_pairs: bool, columns: int) -> Iterator[str]:
    alike = {"stem": "alike", "number": "alike", None: "missing"}
    by = Counter("extra" if pair.gt is None else alike.get(pair.by, pair.by) for pair in pairs)
    yield "pairing: " + ", ".join(f"{by[key]} {what}" for key, what in _PAIRED.items() if by[key])
    notable = [pair for pair in pairs if pair.by not in ("name", "id")]
    shown = pairs if all_pairs else (pairs if len(pairs) <= FEW_PAIRS else notable)[:FEW_PAIRS]
    if shown:
        head = ["ground truth", "detections", "paired by", "objects", "detected"]
        rows = narrowed([head, *map(_pair_cells, shown)], columns - 2, (0, 1))
        yield from (f"  {row}" for row in aligned(rows))
    if len(shown) < len(pairs):
        what = " that pair[s|] by name or ID" if shown == notable else ""
        left_out = f"({{count}} image[s]{what} [is|are] not listed; --pairs does)"
        yield f"  {counted(len(pairs) - len(shown), left_out)}"


def _pair_cells(pair: Pair) -> list[str]:
    by = f"({pair.by})" if pair.by in ("stem", "number") else pair.by
    cells = (pair.gt, pair.det, by, pair.objects, pair.detections)
    return ["-" if cell is None else printable(str(cell)) for cell in cells]
