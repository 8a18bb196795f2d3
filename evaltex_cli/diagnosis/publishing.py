"""A diagnosis as Markdown, for a pull request, and as LaTeX, for a paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evaltex_cli.diagnosis.breakdown import OF_GT, Bin
from evaltex_cli.diagnosis.diagnosis import NOT_DEFINED, Diagnosis
from evaltex_cli.results import markup


def markdown(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the shares of the error types, and recall by bins."""
    blocks = ["<!-- evaltex diagnosis -->"]
    for diagnosis in diagnoses:
        blocks += [f"### {diagnosis.protocol}", ""]
        if not diagnosis.is_defined:
            blocks += [NOT_DEFINED, ""]
            continue
        blocks.append(markup.in_markdown(_shares(diagnosis)))
        blocks += [
            markup.in_markdown(_bins(name, bins)) for name, bins in diagnosis.breakdowns.items()
        ]
    return "\n".join(blocks)


def latex(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the shares of the error types."""
    return "\n".join(
        [
            "% evaltex diagnosis",
            *(
                markup.in_latex(_shares(one))
                if one.is_defined
                else f"% {one.protocol}: {NOT_DEFINED}"
                for one in diagnoses
            ),
        ]
    )


def _shares(diagnosis: Diagnosis) -> Iterator[Sequence[markup.Cell]]:
    yield [f"error type ({diagnosis.protocol})", "count", *diagnosis.scores]
    for kind in diagnosis.kinds:
        yield [kind.kind, kind.count, *kind.shares.values()]
    for row, shares in (
        ("interaction", diagnosis.interaction),
        ("unexplained", diagnosis.unexplained),
    ):
        yield [row, "", *shares.values()]
    yield ["loss", "", *diagnosis.losses.values()]
    yield ["score", "", *diagnosis.scores.values()]


def _bins(name: str, bins: Sequence[Bin]) -> Iterator[Sequence[markup.Cell]]:
    yield [name, "objects", "found", "recall", *OF_GT]
    for one in bins:
        yield [
            one.range,
            one.objects,
            one.found,
            one.recall,
            *(one.matches[match] for match in OF_GT),
        ]
