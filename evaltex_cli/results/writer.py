"""Writes the results of protocols into a folder.

`evaltex.schema.json` in this folder describes the .json of a protocol.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.evaluation.evaluate import BatchImages, Run, image_results
from evaltex_cli.evaluation.evaluation import Evaluation, ImageResult
from evaltex_cli.evaluation.inputs import options_of
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.names import leaves_result_folder
from evaltex_cli.protocols.base import Protocol
from evaltex_cli.results import line_chart, result_text
from evaltex_cli.results.extras import SCHEMA, Extras
from evaltex_cli.results.result_document import json_of
from evaltex_cli.runtime.marks import is_of, kind_of
from evaltex_cli.runtime.outputs import output_folder
from evaltex_cli.version import __version__

ImageFiles: TypeAlias = tuple[str, list[tuple[str, str]]]
"""Elements of ``images`` in the JSON, a line each; names and texts of the images' files."""
IMAGE_SUFFIX = ".txt"
MOST_BYTES = 255
"""Of a file's name; no common file system takes more."""
SCORES, SCORES_TABLE, REPORT = "scores.json", "scores.csv", "report.html"
_SEPARATOR = ",\n"
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
)


@contextmanager
def result_folder(res_dir: Path, protocols: Sequence[Protocol]) -> Iterator[ResultWriter]:
    """Give what writes a run's results, and put them into a folder when the block ends well.

    What is left of an earlier run by these protocols is removed: its files of these names, and the
    files of images that its scores.json lists. Raises `InputError` as `output_folder`.
    """
    listed, names = _listed(res_dir), {SCORES, SCORES_TABLE, REPORT}
    for protocol in protocols:
        own = rf"{re.escape(protocol.name)}(/.*|-[^/]*\.svg)"
        names |= {f"{protocol.name}.txt", f"{protocol.name}.json"}
        names |= {name for name in listed if re.fullmatch(own, name)}
    kinds = ("result", "scores", "plot", "report")
    known = {res_dir / name for name in listed if kind_of(res_dir / name) in ("", *kinds)}
    with output_folder(res_dir, lambda file: file in known or is_of(*kinds)(file), names) as folder:
        yield ResultWriter(folder, sorted({*listed} - names))


def _listed(res_dir: Path) -> list[str]:
    """Return the files that the scores.json of a folder lists, if a run makes such files there."""
    try:
        names = json.loads((res_dir / SCORES).read_bytes())["files"]
        files = [name for name in names if isinstance(name, str) and not leaves_result_folder(name)]
    except (OSError, ValueError, KeyError, TypeError, InputError):
        return []
    place = os.path.realpath(res_dir)
    return [
        name
        for name in files
        if "/" not in name or name.endswith(IMAGE_SUFFIX)
        if os.path.isfile(file := f"{place}/{name}") and os.path.realpath(file) == file  # noqa: PTH113
    ]


def image_files(images: BatchImages) -> ImageFiles:
    """Return what the result files say of a batch, in the process that measures it."""
    return of_images(images.run, image_results(images))


def of_images(run: Run | Evaluation, results: Iterable[ImageResult]) -> ImageFiles:
    """Return what a run's result files say of images."""
    lines: list[str] = []
    texts: list[tuple[str, str]] = []
    for result in results:
        lines.append(_compact(json_of(result)))
        texts.append((result.name, result_text.image(result, run)))
    return _SEPARATOR.join(lines), texts


def document(evaluation: Evaluation, extras: Extras, images: Sequence[str] = ()) -> str:
    """Return the .json of a result, with these elements of ``images``."""
    head = {"schema": SCHEMA, "tool": "evaltex", "version": __version__}
    known = {**head, **members(evaluation, extras)}
    lines = [f'"{key}": {_compact(value)}' for key, value in known.items()]
    listed = f'"images": [\n{_SEPARATOR.join(images)}]' if images else '"images": []'
    lines += [listed, f'"warnings": {_compact(evaluation.warnings)}']
    return f"{{\n{_SEPARATOR.join(lines)}\n}}\n"


def members(evaluation: Evaluation, extras: Extras) -> dict[str, Any]:
    """Return what the .json says of one protocol, but for its images and warnings."""
    preset = options_of(evaluation.signature).preset
    return {
        "protocol": evaluation.protocol.name,
        "signature": evaluation.signature,
        "parameters": asdict(evaluation.parameters),
        "inputs": {"gt": asdict(evaluation.gt), "det": asdict(evaluation.det)},
        "totals": evaluation.totals,
        "scores": evaluation.scores,
        **({} if preset is None else {"preset": preset}),
        **extras.members(),
    }


def log_unfit_names(gt: Source, faults: FaultLog) -> None:
    """Record the images whose files would have too long names."""
    for k, name in enumerate(gt.names):
        parts = f"{name}{IMAGE_SUFFIX}".split("/")
        longest = max(len(part.encode("utf-8", "replace")) for part in parts)
        if longest > MOST_BYTES:
            found = f"image name {quote(name)} makes a file name of {longest} bytes"
            expected = f"at most {MOST_BYTES}; shorten it, or leave out -a"
            faults.add(gt.file_of(k), None, found, expected)


class ResultWriter:
    """Writes results of runs into an empty folder; `others` are files of earlier runs by other
    protocols, which stay.
    """

    def __init__(self, folder: Path, others: Sequence[str]) -> None:
        self.folder, self._others = folder, others
        self._lines: dict[str, list[str]] = {}

    def take(self, run: Run | Evaluation, made: ImageFiles) -> None:
        """Write what the result files say of a batch; batches come in the order of the images."""
        lines, texts = made
        self._lines.setdefault(run.protocol.name, []).append(lines)
        for name, text in texts:
            path = self.folder / run.protocol.name / f"{name}{IMAGE_SUFFIX}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def finish(
        self, evaluation: Evaluation, extras: Extras | None = None, has_plots: bool = False
    ) -> None:
        """Write the data set's files of one protocol, with the images that it has, and with its
        plots if wanted.
        """
        protocol = evaluation.protocol
        if evaluation.images:
            self.take(evaluation, of_images(evaluation, evaluation.images))
        self.write(f"{protocol.name}.txt", result_text.dataset(evaluation))
        lines = self._lines.pop(protocol.name, [])
        self.write(f"{protocol.name}.json", document(evaluation, extras or Extras(), lines))
        for plot in protocol.plots(evaluation.scores) if has_plots and protocol.plots else ():
            self.write(f"{protocol.name}-{plot.name}.svg", line_chart.svg(plot))

    def write(self, name: str, text: str) -> None:
        """Write a file of the folder."""
        (self.folder / name).write_text(text, encoding="utf-8", newline="\n")

    def files(self) -> list[str]:
        """Return the files of the folder, with those of earlier runs that stay."""
        own = [path for path in self.folder.rglob("*") if path.is_file()]
        names = (str(path.relative_to(self.folder)) for path in own)
        return sorted({*names, *self._others, SCORES, SCORES_TABLE})


def _compact(value: Any) -> str:
    text = _ENCODER.encode(value)
    return text.encode("utf-8", "replace").decode()  # names of files need not be Unicode
