"""A ranking as one HTML page that needs no network and runs no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from urllib.parse import quote as percent_encoded

from evaltex_cli.errors import counted
from evaltex_cli.marks import comment
from evaltex_cli.ranking.overall import Overall
from evaltex_cli.ranking.ranking import Agreement, DataSetRanking, ProtocolRanking, Ranking
from evaltex_cli.ranking.tables import note
from evaltex_cli.ranking.terminal_table import sentence, two_decimals
from evaltex_cli.results.screen import UNDEFINED, per_cent, shown_interval, shown_score
from evaltex_cli.results.text_tables import printable
from evaltex_cli.runtime.outputs import write_file
from evaltex_cli.version import __version__

Reports = Mapping[tuple[str, str], str]
"""Data set and detector -> address of the report of its run."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_ROW, _STEP, _LEFT = 26, 44, 200
"""Pixels of the drawing of ranks: the height of a row, the width of a rank and of the names."""


def write(file: Path, ranking: Ranking, reports: Mapping[tuple[str, str], Path]) -> None:
    """Write the page. Same input, same bytes.

    Parameters
    ----------
    reports : mapping
        Data set and detector -> the report of its run, which the page links to.

    Raises
    ------
    InputError
        When it cannot be written.
    """
    links = {which: _address(path, file) for which, path in reports.items()}
    write_file(file, (f"{line}\n" for line in _lines(ranking, links)))


def _address(report: Path, page: Path) -> str:
    """The address of a report from where the page is."""
    path = report.absolute()
    try:
        relative = path.relative_to(page.absolute().parent).as_posix()
    except ValueError:
        return path.as_uri()
    return percent_encoded(relative)


def _lines(ranking: Ranking, reports: Reports) -> Iterator[str]:
    style = resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    yield f"<!DOCTYPE html>\n{comment('ranking')}"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<title>Ranking of {len(ranking.detectors)} detectors - evaltex</title>"
    yield f"<style>\n{style}</style></head><body><main>"
    yield f"<h1>Ranking of {counted(len(ranking.detectors), '{count} detector[s]')}</h1>"
    for dataset in ranking.datasets:
        yield from _dataset(ranking, dataset, reports)
    if ranking.overall:
        yield "<h2>Over all data sets</h2>"
        for protocol, overall in ranking.overall.items():
            yield from _overall(protocol, overall)
    if ranking.warnings:
        yield "<h2>Warnings</h2><ul>"
        yield from (f"<li>{_text(warning)}</li>" for warning in ranking.warnings)
        yield "</ul>"
    yield f"<p>Made by evaltex {escape(__version__)}.</p></main></body></html>"


def _text(text: str) -> str:
    return escape(printable(text))


def _dataset(ranking: Ranking, dataset: DataSetRanking, reports: Reports) -> Iterator[str]:
    protocols = list(dataset.protocols.values())
    images = counted(max(one.compared_images for one in protocols), "{count} image[s]")
    yield f"<h2>{_text(dataset.name)}, {images}</h2><ul>"
    yield from (f"<li>{_text(sentence(one))}</li>" for one in protocols)
    yield f'</ul><p class="note">{_text(note(ranking, dataset))}</p>'
    for one in protocols:
        yield from _protocol(one, dataset.name, per_cent(ranking.settings.level), reports)
    if len(dataset.agreement.protocols) > 1:
        yield from _agreement(dataset.agreement)


def _protocol(
    ranking: ProtocolRanking, dataset: str, level: str, reports: Reports
) -> Iterator[str]:
    yield f"<h3>{_text(ranking.protocol)}</h3>"
    rows = []
    for one in ranking.detectors:
        name = _text(one.label)
        address = reports.get((dataset, one.label))
        label = f'<a href="{escape(address)}">{name}</a>' if address else name
        cells = [label, shown_score(one.scores[ranking.score]), shown_interval(one.interval)]
        first, last = one.rank_interval
        rows.append([*cells, f"{one.rank} ({first}-{last})", _text(one.groups)])
    best = [one.label in ranking.best for one in ranking.detectors]
    yield from _table(["detector", ranking.score, f"{level} interval", "rank", "ties"], rows, best)
    yield from _ranks(ranking)


def _ranks(ranking: ProtocolRanking) -> Iterator[str]:
    """A line from the first to the last rank that each detector may have, a dot at its rank."""
    count = len(ranking.detectors)
    width, height = _LEFT + _STEP * (count + 1), _ROW * (count + 1)
    title = f"Ranks that each detector may have under {_text(ranking.protocol)}"
    yield f'<div class="wide"><svg role="img" aria-label="{title}"'
    yield f' width="{width}" height="{height}">'
    for rank in range(1, count + 1):
        x = _LEFT + _STEP * rank
        yield f'<text x="{x}" y="14" text-anchor="middle">{rank}</text>'
        yield f'<line x1="{x}" x2="{x}" y1="20" y2="{height}" stroke-dasharray="2 4"/>'
    for k, one in enumerate(ranking.detectors, 1):
        y = _ROW * k + _ROW // 2
        first, last = (_LEFT + _STEP * rank for rank in one.rank_interval)
        yield f'<text x="0" y="{y + 4}">{_text(one.label[:26])}</text>'
        yield f'<line class="range" x1="{first}" x2="{last}" y1="{y}" y2="{y}"/>'
        yield f'<circle cx="{_LEFT + _STEP * one.rank}" cy="{y}" r="5"/>'
    yield "</svg></div>"


def _agreement(agreement: Agreement) -> Iterator[str]:
    yield "<h3>Agreement of the protocols' rankings (Kendall's tau-b)</h3>"
    rows = [
        [
            name,
            *(
                UNDEFINED if tau is None else f"{tau:.2f} {two_decimals(interval)}"
                for tau, interval in zip(of_one, intervals, strict=True)
            ),
        ]
        for name, of_one, intervals in zip(
            agreement.protocols, agreement.tau, agreement.intervals, strict=True
        )
    ]
    yield from _table(["", *agreement.protocols], rows)


def _overall(protocol: str, overall: Overall) -> Iterator[str]:
    yield f"<h3>{_text(protocol)}</h3>"
    has_pooled = any(one.pooled is not None for one in overall.detectors)
    rows = []
    for one in overall.detectors:
        cells = [_text(one.label), shown_score(one.macro), shown_interval(one.macro_interval)]
        cells += [f"{one.mean_rank:.2f}", two_decimals(one.mean_rank_interval)]
        if has_pooled:
            cells += [shown_score(one.pooled), shown_interval(one.pooled_interval)]
        rows.append(cells)
    head = ["detector", f"mean {overall.score}", "interval", "mean rank", "interval"]
    yield from _table([*head, *(["pooled", "interval"] if has_pooled else [])], rows)


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], best: Sequence[bool] = ()
) -> Iterator[str]:
    """A table of cells that are HTML; the first of a row is its head."""
    first, *others = head
    cells = "".join(f'<th scope="col">{escape(text)}</th>' for text in others)
    corner = f'<th scope="col">{escape(first)}</th>' if first else "<td></td>"
    yield '<div class="wide" role="region" aria-label="Table" tabindex="0">'
    yield f"<table><tr>{corner}{cells}</tr>"
    for k, (label, *values) in enumerate(rows):
        mark = ' class="best"' if best and best[k] else ""
        body = "".join(f"<td>{value}</td>" for value in values)
        yield f'<tr{mark}><th scope="row">{label}</th>{body}</tr>'
    yield "</table></div>"
