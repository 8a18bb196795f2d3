"""The files of a sweep in a result folder: tables, curves and one HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path

from evaltex_cli.marks import comment, is_of
from evaltex_cli.protocols.base import Mark, Plot
from evaltex_cli.results.line_chart import svg
from evaltex_cli.results.markup import shown
from evaltex_cli.runtime.outputs import output_folder
from evaltex_cli.thresholds.documents import FILES, HEADS, averages, point_of
from evaltex_cli.thresholds.result import Sweep
from evaltex_cli.version import __version__

PAGE = "sweep.html"
PLOTS = ("precision-recall", "levels")
_STYLE = """
body { font-family: sans-serif; margin: 2rem auto; max-width: 84rem; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .3rem .7rem; border-bottom: 1px solid #767676; text-align: right; }
th:first-child, td:first-child { text-align: left; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; }
.plots svg { max-width: 100%; height: auto; }
code { overflow-wrap: anywhere; }
"""


def owned(protocols: Sequence[str]) -> list[str]:
    """Return the names of all files of a sweep by these protocols."""
    return [*FILES, PAGE, *(plot_name(one, plot) for one in protocols for plot in PLOTS)]


def plot_name(protocol: str, plot: str) -> str:
    """Return the name of the file of a plot."""
    return f"sweep-{protocol}-{plot}.svg"


@contextmanager
def folder_for(res_dir: Path | None, protocols: Sequence[str]) -> Iterator[Path | None]:
    """Give a folder to write into, which is put in place at the end; None if there is no place."""
    if res_dir is None:
        yield None
        return
    with output_folder(res_dir, is_of("sweep", "plot"), owned(protocols)) as folder:
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


def plots(sweep: Sweep) -> Iterator[Plot]:
    """Yield the plots of one protocol; the operating point is marked, and where its plateau is."""
    best, name = sweep.operating_point, sweep.main_score
    recall, precision, main = (
        [float(value or 0.0) for value in sweep.scores[one]]
        for one in ("recall", "precision", name)
    )
    k = sweep.levels.index(best.level)
    at = f"{name} {main[k]:.4f} at {best.level:.6g}"
    yield Plot(
        PLOTS[0],
        f"{sweep.protocol}: precision against recall",
        "recall",
        "precision",
        recall[::-1],
        {"precision": precision[::-1]},
        marks=(Mark(recall[k], precision[k], at),),
    )
    yield Plot(
        PLOTS[1],
        f"{sweep.protocol}: scores against the confidence threshold",
        "confidence threshold; shaded: the plateau",
        "score",
        sweep.levels,
        {name: main, "recall": recall, "precision": precision},
        marks=(Mark(best.level, main[k], at),),
        band=best.plateau,
    )


def page(sweeps: Sequence[Sweep]) -> str:
    """Return the page."""
    return "\n".join(_lines(sweeps)) + "\n"


def _lines(sweeps: Sequence[Sweep]) -> Iterator[str]:
    title = f"Confidence thresholds of {sweeps[0].det.file or 'detections'}"
    yield f'<!DOCTYPE html>\n{comment("sweep")}\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_text(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>"
    yield f"<h1>{_text(title)}</h1>"
    yield f"<p>Ground truth: {_text(sweeps[0].gt.file)}, {sweeps[0].gt.images} images.</p>"
    yield "<h2>Operating points</h2>"
    yield '<div class="wide" tabindex="0" role="group" aria-label="Operating points"><table>'
    heads = "".join(f'<th scope="col">{_text(head)}</th>' for head in HEADS)
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    for one in sweeps:
        first, *cells = map(shown, point_of(one))
        values = "".join(f"<td>{_text(cell)}</td>" for cell in cells)
        yield f'<tr><th scope="row">{_text(first)}</th>{values}</tr>'
    yield "</tbody></table></div>"
    yield (
        "<p>The operating point is the level of the highest score; on its plateau the score is"
        " nearly as high. The cross-validated score is that of images at levels that were chosen"
        " on other images; optimism is the difference. The score is the protocol's main score:"
        " hmean, fscore or pq.</p>"
    )
    for one in sweeps:
        yield f'<h2>{_text(one.protocol)}</h2>\n<div class="plots">'
        yield from map(svg, plots(one))
        yield "</div>"
        found = ", ".join(f"{name} {shown(value)}" for name, value in averages([one]))
        if found:
            yield f"<p>Average precision: {_text(found)}</p>"
        yield f"<p><code>{_text(one.signature)}</code></p>"
    yield f"</main>\n<footer><p>evaltex {__version__}</p></footer>\n</body>\n</html>"


def _text(text: str) -> str:
    return escape(text.encode("utf-8", "replace").decode("utf-8"))
