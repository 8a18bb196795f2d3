"""Writes the results of protocols into a folder.

`evaltex.schema.json` in this folder describes the .json of a protocol.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evaltex_cli.errors import InputError
from evaltex_cli.evaluation.evaluation import Evaluation
from evaltex_cli.formats.names import leaves_result_folder
from evaltex_cli.protocols.base import Protocol
from evaltex_cli.results import line_chart, result_text, scores
from evaltex_cli.results.result_document import json_of
from evaltex_cli.runtime.marks import is_of
from evaltex_cli.runtime.outputs import output_folder
from evaltex_cli.tables import in_csv, json_document
from evaltex_cli.version import __version__

SCHEMA = 1
"""The version of the layout of the JSON."""
SCORES, SCORES_TABLE, REPORT = "scores.json", "scores.csv", "report.html"


@contextmanager
def result_folder(res_dir: Path, protocols: Sequence[Protocol]) -> Iterator[ResultWriter]:
    """Give what writes a run's results, and put them into a folder when the block ends well.

    What is left of an earlier run by these protocols is removed: its files of these names, and the
    files of images that its scores.json lists. Raises `InputError` as `output_folder`.
    """
    listed, names = _listed(res_dir), {SCORES, SCORES_TABLE, REPORT}
    for protocol in protocols:
        own = rf"{re.escape(protocol.name)}(/.*\.txt|-[^/]*\.svg)"
        names |= {f"{protocol.name}.txt", f"{protocol.name}.json"}
        names |= {name for name in listed if re.fullmatch(own, name)}
    is_own = is_of("result", "scores", "plot", "report")
    with output_folder(res_dir, is_own, names) as folder:
        yield ResultWriter(folder, listed - names)


def _listed(res_dir: Path) -> set[str]:
    """Return the files that the scores.json of an earlier run lists."""
    try:
        names = json.loads((res_dir / SCORES).read_bytes())["files"]
        return {
            name for name in names if not leaves_result_folder(name) and (res_dir / name).is_file()
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError, InputError):
        return set()


def document(evaluation: Evaluation) -> str:
    """Return the .json of a result, with one line per image."""
    head = {"schema": SCHEMA, "tool": "evaltex", "version": __version__}
    known = {**head, **evaluation.members()}
    lines = [f'"{key}": {_compact(value)}' for key, value in known.items()]
    images = ",\n".join(_compact(json_of(image)) for image in evaluation.images)
    lines.append(f'"images": [\n{images}]' if images else '"images": []')
    return "{\n" + ",\n".join(lines) + "\n}\n"


class ResultWriter:
    """Writes results of runs into an empty folder; `others` are files of earlier runs by other
    protocols, which stay.
    """

    def __init__(self, folder: Path, others: Iterable[str]) -> None:
        self.folder, self._others = folder, others

    def write(self, evaluation: Evaluation, has_plots: bool = False) -> None:
        """Write the files of one protocol: of the data set, its images, and plots if wanted."""
        protocol = evaluation.protocol
        for image in evaluation.images:
            self._write(f"{protocol.name}/{image.name}.txt", result_text.image(image, evaluation))
        self._write(f"{protocol.name}.txt", result_text.dataset(evaluation))
        self._write(f"{protocol.name}.json", document(evaluation))
        for plot in protocol.plots(evaluation.scores) if has_plots and protocol.plots else ():
            self._write(f"{protocol.name}-{plot.name}.svg", line_chart.svg(plot))

    def write_scores(self, evaluations: Sequence[Evaluation]) -> None:
        """Write scores.json and scores.csv, when all other files are there: scores.json lists
        them, and those of earlier runs that stay.
        """
        written = (path for path in self.folder.rglob("*") if path.is_file())
        names = (path.relative_to(self.folder).as_posix() for path in written)
        files = sorted({*names, *self._others, SCORES, SCORES_TABLE})
        run = scores.RunScores(evaluations, files)
        self._write(SCORES, json_document("scores", run.to_dict(), scores.SCHEMA))
        self._write(SCORES_TABLE, in_csv(run.data()["scores"]()))

    def _write(self, name: str, text: str) -> None:
        """Write a file of the folder; names of files in the text need not be Unicode."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace", newline="\n")


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
