"""A ranking as JSON, CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from evaltex_cli.errors import counted
from evaltex_cli.ranking.frames import HEADS, rows_of
from evaltex_cli.ranking.ranking import DataSetRanking, ProtocolRanking, Ranked, Ranking
from evaltex_cli.results import markup
from evaltex_cli.results.markup import (
    latex_rows,
    latex_text,
    markdown_lines,
    markdown_rows,
    markdown_text,
)
from evaltex_cli.results.text_tables import JsonObject, json_document, printable


def document(ranking: Ranking) -> str:
    """Return everything as JSON."""
    settings = ranking.settings
    return json_document(
        "ranking",
        {
            **{name: getattr(settings, name) for name in ("level", "resamples", "seed")},
            "correction": settings.correction,
            "datasets": [_dataset(one) for one in ranking.datasets],
            "overall": {
                name: {
                    "score": one.score,
                    "detectors": [asdict(detector) for detector in one.detectors],
                    "left_out": one.left_out,
                }
                for name, one in ranking.overall.items()
            },
            "warnings": ranking.warnings,
        },
    )


def _dataset(one: DataSetRanking) -> JsonObject:
    return {
        "name": one.name,
        "protocols": {
            name: {
                "score": ranking.score,
                "compared_images": ranking.compared_images,
                "detectors": [asdict(detector) for detector in ranking.detectors],
                "pairs": [asdict(pair) for pair in ranking.pairs],
                "signatures": ranking.signatures,
            }
            for name, ranking in one.protocols.items()
        },
        "agreement": asdict(one.agreement),
    }


def csv_rows(ranking: Ranking) -> str:
    """One row per data set, protocol and detector, at full precision."""
    return markup.in_csv([HEADS["detectors"], *rows_of(ranking, "detectors")])


# A row for each detector, a column for each protocol ---------------------------------------------


def markdown(ranking: Ranking) -> str:
    """One table for each data set: every protocol's score, ranks and tie letters; the best group is
    bold.
    """
    lines = ["<!-- evaltex ranking -->"]
    for dataset in ranking.datasets:
        protocols = dataset.protocols.values()
        lines += [f"### {markdown_text(printable(dataset.name))}", ""]
        cells = (
            [markdown_text(label), *(_markdown_cell(one, label) for one in protocols)]
            for label in labels_of(dataset)
        )
        head = ["detector", *map(markdown_text, dataset.protocols)]
        lines += markdown_lines([head, *cells])
        lines += ["", markdown_text(note(ranking, dataset)), ""]
    if ranking.overall:
        lines += ["### Over all data sets", ""]
        head = [name for each in ranking.overall for name in (each, "mean rank")]
        lines += markdown_rows([["detector", *head], *overall_rows(ranking)])
        lines.append("")
    return "\n".join(lines)


def _markdown_cell(ranking: ProtocolRanking, label: str) -> str:
    one = _found(ranking, label)
    if one is None or one.scores[ranking.score] is None:
        return "–"
    first, last = one.rank_interval
    shown = markdown_text(f"{one.scores[ranking.score]:.4f} ({first}–{last}) {one.groups}")
    return f"**{shown}**" if label in ranking.best else shown


def latex(ranking: Ranking) -> str:
    """As `markdown`: booktabs tables, headline scores in per cent."""
    lines = ["% evaltex ranking"]
    for dataset in ranking.datasets:
        protocols = list(dataset.protocols.values())
        head = ["", *(latex_text(one.protocol) for one in protocols)]
        rows = (
            [latex_text(label), *(_latex_cell(one, label) for one in protocols)]
            for label in labels_of(dataset)
        )
        lines += [
            "% " + latex_text(printable(dataset.name)),
            *latex_rows("l" * len(head), [head, *rows]),
        ]
        lines += ["% " + latex_text(note(ranking, dataset)), ""]
    return "\n".join(lines)


def _latex_cell(ranking: ProtocolRanking, label: str) -> str:
    one = _found(ranking, label)
    value = None if one is None else one.scores[ranking.score]
    if one is None or value is None:
        return "--"
    shown = f"{100 * value:.1f}"
    bold = rf"\textbf{{{shown}}}" if label in ranking.best else shown
    return rf"{bold}\textsuperscript{{{one.groups}}}"


def labels_of(dataset: DataSetRanking) -> list[str]:
    """Return the detectors of a data set in the order of its first protocol."""
    return [one.label for one in next(iter(dataset.protocols.values())).detectors]


def overall_rows(ranking: Ranking) -> list[list[str]]:
    """Return one row for each detector: macro mean and mean rank under each protocol."""
    first = next(iter(ranking.overall.values()))
    rows = []
    for label in [one.label for one in first.detectors]:
        row = [label]
        for overall in ranking.overall.values():
            one = next(each for each in overall.detectors if each.label == label)
            row.append("–" if one.macro is None else f"{one.macro:.4f}")
            row.append(f"{one.mean_rank:.2f}")
        rows.append(row)
    return rows


def _found(ranking: ProtocolRanking, label: str) -> Ranked | None:
    return next((one for one in ranking.detectors if one.label == label), None)


def note(ranking: Ranking, dataset: DataSetRanking) -> str:
    """Say what ranks in brackets and letters mean, and how they were made."""
    settings = ranking.settings
    count = len(labels_of(dataset))
    pairs = counted(count * (count - 1) // 2, "{count} pair[s]")
    method = {"max-t": "step-down max-T", "holm": "Holm"}[settings.correction]
    return (
        f"In brackets the ranks that a detector may have, at {100 * settings.level:g}%; detectors"
        f" that share a letter do not differ (p corrected for {pairs}, {method};"
        f" {settings.resamples} subsets of the images)."
    )


FORMATS: dict[str, Callable[[Ranking], str]] = {
    "json": document,
    "csv": csv_rows,
    "markdown": markdown,
    "latex": latex,
}
