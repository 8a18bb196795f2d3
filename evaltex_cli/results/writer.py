"""Writes the results of one protocol into a staging folder, image by image as they come.

`evaltex.schema.json` in this folder describes the .json.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.evaluation.evaluate import BatchImages, Run, image_results
from evaltex_cli.evaluation.evaluation import Evaluation, ImageResult
from evaltex_cli.evaluation.inputs import options_of
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.names import leaves_result_folder
from evaltex_cli.marks import RESULT_KINDS, is_result, kind_of
from evaltex_cli.protocols.base import Protocol
from evaltex_cli.results import result_text
from evaltex_cli.results.extras import SCHEMA, Extras
from evaltex_cli.results.stored_images import PARTNERS, entry_of
from evaltex_cli.runtime.outputs import output_folder
from evaltex_cli.version import __version__

ImageFiles: TypeAlias = tuple[str | Path, Sequence[tuple[str, str]]]
"""Elements of ``images`` as they are in the JSON, a line each, or the file that has them; names and
texts of files still to be written.
"""
IMAGE_SUFFIX = ".txt"
MOST_BYTES = 255
"""Of a file's name; no common file system takes more."""
SCORES, SCORES_TABLE, REPORT = "scores.json", "scores.csv", "report.html"
_SEPARATOR = ",\n"
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
)
Piece = TypeVar("Piece")
_MEMBERS = tuple(field.name for field in fields(ImageResult))


@contextmanager
def result_folder(res_dir: Path, protocols: Sequence[Protocol]) -> Iterator[ResultWriter]:
    """Give what writes a run's results, and put them into a folder when the block ends well.

    What is left of an earlier run by these protocols is removed: its files of these names, and the
    files of images that its scores.json lists.
    Raises `InputError` as `output_folder`.
    """
    listed, names = _listed(res_dir), {SCORES, SCORES_TABLE, REPORT}
    for one in protocols:
        names |= {f"{one.name}.txt", f"{one.name}.json"}
        if one.plots is not None:
            names |= {name for name in listed if re.match(rf"{one.name}-[^/]*\.svg$", name)}
    folders = {one.name for one in protocols}
    names |= {name for name in listed if name.partition("/")[0] in folders}
    known = {res_dir / name for name in listed if kind_of(res_dir / name) in ("", *RESULT_KINDS)}
    with output_folder(res_dir, lambda file: file in known or is_result(file), names) as folder:
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


def image_files(folder: Path | None, images: BatchImages) -> ImageFiles:
    """Write a file for each image of a batch, in whatever process the batch is measured; `folder`
    is None where this process does not see that of the `ResultWriter`. Return the images' JSON, and
    their files where they were not written.
    """
    lines, texts = of_images(images.run, image_results(images))
    if folder is None:
        return lines, texts
    name = images.run.protocol.name
    write_images(folder / name, texts)
    return _write_part(_parts_of(folder, name), lines), []


def of_images(run: Run, results: Iterable[ImageResult]) -> tuple[str, list[tuple[str, str]]]:
    """Return what a run's result files say of images."""
    lines: list[str] = []
    texts: list[tuple[str, str]] = []
    for result in results:
        lines.append(json_line(result))
        texts.append((result.name, result_text.image(result, run)))
    return _SEPARATOR.join(lines), texts


def json_line(result: ImageResult) -> str:
    """One element of ``images``, in one line."""
    members = {name: getattr(result, name) for name in _MEMBERS}
    for side, partners in PARTNERS.items():
        members[side] = [entry_of(one, partners) for one in members[side]]
    return _compact(members)


def document(
    evaluation: Evaluation, images: Iterable[Piece], extras: Extras
) -> Iterator[str | Piece]:
    """Yield the .json of a result in pieces.

    The elements of ``images`` are made by `json_line`, or stand for some of them. The extras are
    written after ``scores``; the preset is that of the signature.
    """
    yield "{\n"
    for key, value in {
        "schema": SCHEMA,
        "tool": "evaltex",
        "version": __version__,
        **members(evaluation, extras),
    }.items():
        yield f'"{key}": {_compact(value)},\n'
    yield '"images": ['
    for k, text in enumerate(images):
        yield _SEPARATOR if k else "\n"
        yield text
    yield f'],\n"warnings": {_compact(evaluation.warnings)}\n}}\n'


def members(evaluation: Evaluation, extras: Extras) -> dict[str, Any]:
    """Return what the .json says of one protocol, but for its images and warnings."""
    extras = extras._replace(preset=options_of(evaluation.signature).preset)
    return {
        "protocol": evaluation.protocol.name,
        "signature": evaluation.signature,
        "parameters": asdict(evaluation.parameters),
        "inputs": {"gt": asdict(evaluation.gt), "det": asdict(evaluation.det)},
        "totals": evaluation.totals,
        "scores": evaluation.scores,
        **extras.members(),
    }


def log_unfit_names(gt: Source, faults: FaultLog) -> None:
    """Record the images, with their lines, of which `image_files` could not
    write the files of all runs.
    """
    for k, name in enumerate(gt.names):
        longest = max(
            len(part.encode("utf-8", "replace")) for part in f"{name}{IMAGE_SUFFIX}".split("/")
        )
        if longest > MOST_BYTES:
            found = f"image name {quote(name)} makes a file name of {longest} bytes"
            expected = f"at most {MOST_BYTES}; shorten it, or leave out -a"
            faults.add(gt.file_of(k), None, found, expected)


def write_images(folder: Path, texts: Iterable[tuple[str, str]]) -> None:
    """Write files of images, of names and texts, into a folder, made if missing."""
    there: set[Path] = set()
    for name, text in texts:
        path = folder / f"{name}{IMAGE_SUFFIX}"
        if path.parent not in there:
            path.parent.mkdir(parents=True, exist_ok=True)
            there.add(path.parent)
        path.write_bytes(text.encode())


class ResultWriter:
    """Results of runs in one folder.

    The folder is there, and empty; `others` are files of earlier runs by other protocols, which
    stay.
    """

    def __init__(self, folder: Path, others: Sequence[str] = ()) -> None:
        self.folder, self._others = folder, others
        self._parts: dict[str, list[Path]] = {}

    def take(self, run: Run, made: ImageFiles) -> None:
        """Keep what `image_files` has made of a batch; batches come in the order of the images."""
        name = run.protocol.name
        lines, texts = made
        if isinstance(lines, str):
            lines = _write_part(_parts_of(self.folder, name), lines)
        self._parts.setdefault(name, []).append(lines)
        write_images(self.folder / name, texts)

    def finish(
        self, evaluation: Evaluation, extras: Extras | None = None, has_plots: bool = False
    ) -> None:
        """Write the data set's files of one protocol, with the plots that it has if wanted."""
        name = evaluation.protocol.name
        _write(self.folder / f"{name}.txt", result_text.dataset(evaluation))
        pieces = document(evaluation, self._parts.pop(name, []), extras or Extras())
        with (self.folder / f"{name}.json").open("wb") as file:
            for piece in pieces:
                file.write(piece.read_bytes() if isinstance(piece, Path) else piece.encode())
        shutil.rmtree(_parts_of(self.folder, name), ignore_errors=True)
        protocol = evaluation.protocol
        for plot in protocol.plots(evaluation.scores) if has_plots and protocol.plots else ():
            from evaltex_cli.results import line_chart

            _write(self.folder / f"{name}-{plot.name}.svg", line_chart.svg(plot))

    def files(self) -> list[str]:
        """Return the files of the folder, with those of earlier runs that stay."""
        own = (
            os.path.relpath(os.path.join(inside, name), self.folder)
            for inside, _, names in os.walk(self.folder)
            for name in names
        )
        return sorted({*own, *self._others, SCORES, SCORES_TABLE})

    def drop(self, names: Iterable[str]) -> None:
        """Remove what was written for protocols whose results mean nothing after all."""
        for name in names:
            self._parts.pop(name, None)
            for folder in (_parts_of(self.folder, name), self.folder / name):
                shutil.rmtree(folder, ignore_errors=True)


def _parts_of(folder: Path, name: str) -> Path:
    return folder / f".{name}.images"


def _write_part(folder: Path, lines: str) -> Path:
    """Write elements of ``images`` into a file of their own."""
    folder.mkdir(exist_ok=True)
    part = folder / os.urandom(8).hex()
    part.write_bytes(lines.encode())
    return part


def _compact(value: Any) -> str:
    text = _ENCODER.encode(value)
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")  # names of files need not be Unicode


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
