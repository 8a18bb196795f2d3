"""The scores of a run, of all its protocols, as JSON, CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.results import markup
from evaltex_cli.results.extras import Extras
from evaltex_cli.results.text_tables import json_document
from evaltex_cli.results.writer import SCORES, SCORES_TABLE, ResultWriter, members

SCHEMA = 2
"""The version of the layout of the JSON."""
Scored: TypeAlias = Sequence[Evaluation]


def in_json(
    evaluations: Scored, extras: Mapping[str, Extras], files: Sequence[str] | None = None
) -> str:
    """Return what the .json of each protocol contains, but for the images; above them the headline
    scores.

    There is one evaluation for each protocol; `extras` are its name -> what only some results have,
    `files` those of the result folder, if there is one.
    """
    headline = {one.protocol.name: one.headline for one in evaluations}
    protocols = [
        members(one, extras[one.protocol.name]) | {"warnings": one.warnings} for one in evaluations
    ]
    listed = {} if files is None else {"files": list(files)}
    content = {"headline": headline, "protocols": protocols, **listed}
    text = json_document("scores", content, SCHEMA)
    return text.encode("utf-8", "replace").decode("utf-8")  # names of files need not be Unicode


def in_csv(evaluations: Scored, extras: Mapping[str, Extras]) -> str:
    """Return one row for each protocol: its scores that are numbers, headline
    scores first, bounds, and signature.
    """
    headlines = [name for one in evaluations for name in one.protocol.headline]
    names = list(
        dict.fromkeys([*headlines, *(name for one in evaluations for name in _numbers(one))])
    )
    with_bounds = list(
        dict.fromkeys(name for one in extras.values() for name in one.intervals or {})
    )
    ends = [f"{name}_{end}" for name in with_bounds for end in ("low", "high")]
    rows: list[Sequence[markup.Cell]] = [["protocol", *names, *ends, "signature"]]
    for one in evaluations:
        scores, intervals = _numbers(one), extras[one.protocol.name].intervals or {}
        bounds = [bound for name in with_bounds for bound in intervals.get(name) or (None, None)]
        rows.append(
            [one.protocol.name, *(scores.get(name) for name in names), *bounds, one.signature]
        )
    return markup.in_csv(rows)


def in_markdown(evaluations: Scored, extras: Mapping[str, Extras]) -> str:
    """Return a table of the headline scores, with their intervals."""
    return markup.in_markdown(_rows(evaluations, extras))


def in_latex(evaluations: Scored, extras: Mapping[str, Extras]) -> str:
    """Return a booktabs table of the headline scores, with their intervals."""
    return markup.in_latex(_rows(evaluations, extras))


FORMS: Mapping[str, Callable[[Scored, Mapping[str, Extras]], str]] = {
    "json": in_json,
    "csv": in_csv,
    "markdown": in_markdown,
    "latex": in_latex,
}


def write(writer: ResultWriter, evaluations: Scored, extras: Mapping[str, Extras]) -> None:
    """Write the scores of all protocols, when all other files are there: scores.json lists them."""
    texts = {
        SCORES: in_json(evaluations, extras, writer.files()),
        SCORES_TABLE: in_csv(evaluations, extras),
    }
    for name, text in texts.items():
        (writer.folder / name).write_text(text, encoding="utf-8", newline="\n")


def _numbers(evaluation: Evaluation) -> dict[str, float | None]:
    return {
        name: value
        for name, value in evaluation.scores.items()
        if value is None or isinstance(value, int | float)
    }


def _rows(evaluations: Scored, extras: Mapping[str, Extras]) -> Iterator[Sequence[markup.Cell]]:
    """One row for each protocol; where protocols call their third score
    differently, each has its own column.
    """
    names = list(dict.fromkeys(name for one in evaluations for name in one.protocol.headline))
    yield ["protocol", *names]
    for one in evaluations:
        scores, bounds = _numbers(one), extras[one.protocol.name].intervals or {}
        headline = one.protocol.headline
        yield [
            one.protocol.name,
            *(_cell(scores[n], bounds.get(n)) if n in headline else "" for n in names),
        ]


def _cell(value: float | None, bounds: tuple[float, float] | None) -> markup.Cell:
    return value if bounds is None else f"{markup.shown(value)} [{bounds[0]:.4f}, {bounds[1]:.4f}]"
