"""The files of a sweep in a result folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from evaltex_cli.results.beginnings import is_result
from evaltex_cli.results.line_chart import svg
from evaltex_cli.runtime.atomic_output import staged
from evaltex_cli.thresholds.documents import FILES
from evaltex_cli.thresholds.page import page
from evaltex_cli.thresholds.plots import NAMES, plots
from evaltex_cli.thresholds.result import Sweep

PAGE = "sweep.html"


def owned(protocols: Sequence[str]) -> list[str]:
    """Return the names of all files of a sweep by these protocols."""
    return [*FILES, PAGE, *(plot_name(one, plot) for one in protocols for plot in NAMES)]


def plot_name(protocol: str, plot: str) -> str:
    """Return the name of the file of a plot."""
    return f"sweep-{protocol}-{plot}.svg"


@contextmanager
def folder_for(res_dir: Path | None, protocols: Sequence[str]) -> Iterator[Path | None]:
    """Give a folder to write into, which is put in place at the end; None if there is no place."""
    if res_dir is None:
        yield None
        return
    with staged(res_dir, owned(protocols), is_result) as folder:
        yield folder


def write(folder: Path, sweeps: Sequence[Sweep], has_plots: bool, has_page: bool) -> None:
    """Write the files."""
    texts = {name: form(sweeps) for name, form in FILES.items()}
    if has_plots:
        texts |= {
            plot_name(one.protocol, plot.name): svg(plot) for one in sweeps for plot in plots(one)
        }
    if has_page:
        texts[PAGE] = page(sweeps)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
