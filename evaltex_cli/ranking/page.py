"""A ranking as one HTML page that needs no network and runs no script."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evaltex_cli.errors import counted
from evaltex_cli.ranking.rank import Ranking
from evaltex_cli.results.page import link, page
from evaltex_cli.runtime.outputs import write_file


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
    text = page(
        "ranking/page.html",
        "ranking",
        f"Ranking of {counted(len(ranking.detectors), '{count} detector[s]')}",
        styles=["ranking/page.css"],
        ranking=ranking,
        links={which: link(path, file.parent) for which, path in reports.items()},
    )
    write_file(file, [text])
