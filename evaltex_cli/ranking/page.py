"""A ranking as one HTML page that needs no network and runs no script."""

from __future__ import annotations

from pathlib import Path

from evaltex_cli.errors import counted
from evaltex_cli.ranking.board import Board
from evaltex_cli.ranking.rank import Ranking
from evaltex_cli.results.page import link, page
from evaltex_cli.runtime.outputs import write_file


def write(file: Path, ranking: Ranking, board: Board) -> None:
    """Write the page, with links to the reports in result folders; raises `InputError`."""
    links = {
        ranked.name: {
            label: link(path / "report.html", file.parent)
            for label, path in one.detections.items()
            if (path / "report.html").is_file()
        }
        for one, ranked in zip(board.datasets, ranking.datasets, strict=True)
    }
    detectors = counted(len(ranking.detectors), "{count} detector[s]")
    text = page(
        "ranking/page.html",
        "ranking",
        f"Ranking of {detectors}",
        styles=["ranking/page.css"],
        ranking=ranking,
        links=links,
    )
    write_file(file, [text])
