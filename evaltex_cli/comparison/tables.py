"""A comparison of detectors as Markdown, CSV, LaTeX or JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from itertools import chain

from evaltex_cli.comparison.changes import ImageChange, ObjectChange
from evaltex_cli.comparison.comparison import SCORES, Comparison, ScoreComparison, score_rows
from evaltex_cli.results import markup, significance
from evaltex_cli.results.markup import latex_rows, latex_text, markdown_rows, markdown_text
from evaltex_cli.results.text_tables import JsonObject, json_document, printable, shown_p


def markdown(comparisons: Sequence[Comparison], worst: int, level: float) -> str:
    """Markdown for a pull request."""
    blocks = ["<!-- evaltex comparison -->"]
    for comparison in comparisons:
        rows = [_heads(comparison), *(_cells(comparison, score) for score in comparison.scores)]
        lines = [f"### {comparison.protocol}", "", *markdown_rows(rows)]
        lines += [
            "",
            f"{_per_cent(level)} intervals; differences to {markdown_text(comparison.systems[0])}.",
        ]
        lines += [*map(markdown_text, footer(comparison, level)), ""]
        images = comparison.images[:worst]
        if images:
            head = ["image", "detector", images[0].score, "was", "change"]
            lines += ["<details><summary>Images that changed, the worst first</summary>", ""]
            lines += markdown_rows([head, *(_image_cells(image) for image in images)])
            lines += ["", "</details>", ""]
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def csv_rows(comparisons: Sequence[Comparison], worst: int, level: float) -> str:
    """One row per protocol, score and detector, at full precision."""
    return markup.in_csv([SCORES, *chain.from_iterable(map(score_rows, comparisons))])


def latex(comparisons: Sequence[Comparison], worst: int, level: float) -> str:
    """A booktabs table: detectors as rows, headline scores in per cent; the best in bold."""
    lines = ["% evaltex comparison"]
    for comparison in comparisons:
        scores = [score for score in comparison.scores if score.score in comparison.headline]
        heads = [score.score for score in scores]
        head = [r"\textbf{" + latex_text(comparison.protocol) + "}", *map(latex_text, heads)]
        rows = (
            [latex_text(label), *(_tex_cell(score, k) for score in scores)]
            for k, label in enumerate(comparison.systems)
        )
        lines += [*latex_rows("l" + "r" * len(heads), [head, *rows]), ""]
    return "\n".join(lines)


def document(comparisons: Sequence[Comparison], worst: int, level: float) -> str:
    """Everything, as JSON; all changed images and objects."""
    protocols = [
        _fields(comparison) | {"notes": footer(comparison, level)} for comparison in comparisons
    ]
    return json_document("comparison", {"level": level, "protocols": protocols})


def footer(comparison: Comparison, level: float) -> list[str]:
    """Say how intervals and p-values were made, and why some are missing."""
    alpha = f"{round(1 - level, 12):g}"
    kind = "all" if comparison.is_exact else "random"
    lines = [
        f"Intervals and p-values: sign-flip test over images ({comparison.resamples} subsets,"
        f" {kind}); p < {alpha} exactly if the {_per_cent(level)} interval of the difference"
        " excludes 0."
    ]
    if len(comparison.systems) > 2:
        others = len(comparison.systems) - 1
        lines.append(
            f"p is of one difference, as its interval; p (Holm) is corrected for {others} detectors"
            " compared."
        )
    warning = comparison.warning
    lines += [f"Warning: {warning}."] if warning else []
    reasons = (
        reason
        for score in comparison.scores
        for reason in [*score.reasons, *score.interval_reasons]
    )
    lines += [f"-: {reason}." for reason in dict.fromkeys(reasons) if reason]
    return lines


FORMATS: dict[str, Callable[[Sequence[Comparison], int, float], str]] = {
    "json": document,
    "csv": csv_rows,
    "markdown": markdown,
    "latex": latex,
}


def _fields(comparison: Comparison) -> JsonObject:
    return {field.name: getattr(comparison, field.name) for field in fields(comparison)} | {
        "scores": [asdict(score) for score in comparison.scores],
        "images": [_values(image) | {"change": image.change} for image in comparison.images],
        "objects": [_values(change) for change in comparison.objects],
    }


def _values(change: ImageChange | ObjectChange) -> JsonObject:
    """As `asdict`, without copies: there may be millions."""
    return {name: getattr(change, name) for name in change.__slots__}


def _heads(comparison: Comparison) -> list[str]:
    first, *others = comparison.systems
    tests = ["difference", "p"] if len(others) == 1 else ["difference", "p", "p (Holm)"]
    return ["score", first, *(head for label in others for head in (label, *tests))]


def _cells(comparison: Comparison, score: ScoreComparison) -> list[str]:
    cells = [score.score, _with_interval(score.values[0], score.intervals[0])]
    for k in range(1, len(comparison.systems)):
        cells.append(_with_interval(score.values[k], score.intervals[k]))
        cells.append(_with_interval(score.differences[k], score.difference_intervals[k], "+"))
        cells += p_cells(comparison, score, k)
    return cells


def p_cells(comparison: Comparison, score: ScoreComparison, k: int) -> list[str]:
    """Return a detector's p-value, and the corrected one if there are several, for reading."""
    p = score.p_values[k]
    is_bound = (
        not comparison.is_exact
        and p is not None
        and p <= significance.smallest_p(comparison.resamples)
    )
    shown = [shown_p(p, is_bound)]
    return (
        shown if len(comparison.systems) == 2 else [*shown, shown_p(score.p_corrected[k], is_bound)]
    )


def _per_cent(level: float) -> str:
    return f"{100 * level:g}%"


def _with_interval(
    value: float | None, interval: tuple[float, float] | None, sign: str = ""
) -> str:
    if value is None:
        return "-"
    if abs(value) > 1 or (interval and max(map(abs, interval)) > 1):
        return f"{value:{sign}g}" + (
            f" [{interval[0]:{sign}.6g}, {interval[1]:{sign}.6g}]" if interval else " [-]"
        )
    return f"{value:{sign}.4f}" + (
        f" [{interval[0]:{sign}.4f}, {interval[1]:{sign}.4f}]" if interval else " [-]"
    )


def _image_cells(image: ImageChange) -> list[str]:
    return [
        printable(image.image),
        image.system,
        f"{image.after:.4f}",
        f"{image.before:.4f}",
        f"{image.change:+.4f}",
    ]


def _tex_cell(score: ScoreComparison, k: int) -> str:
    value = score.values[k]
    if value is None:
        return "--"
    shown = f"{100 * value:.1f}" if abs(value) <= 1 else f"{value:g}"
    best = max(other for other in score.rounded if other is not None)
    return rf"\textbf{{{shown}}}" if score.rounded[k] == best else shown
