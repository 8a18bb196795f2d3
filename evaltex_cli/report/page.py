"""The HTML file: a skeleton, style and script, and all data as JSON that markup cannot break out of."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from evaltex_cli.diagnose.breakdown import PROPERTIES
from evaltex_cli.diagnose.diagnosis import Diagnosis
from evaltex_cli.errors import InputError, counted
from evaltex_cli.evaluation.evaluate import Progress
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.protocols.base import MATCH_TYPES
from evaltex_cli.report import losses
from evaltex_cli.report.content import Result, image_contents, image_names, protocol_content, read_results
from evaltex_cli.report.geometry import open_evaluated, read_shapes
from evaltex_cli.report.pictures import data_url, find_pictures, link, refuse_too_large
from evaltex_cli.runtime.atomic_output import written
from evaltex_cli.version import __version__

NAME, COMPARISON_NAME = "report.html", "comparison.html"
CHUNK_IMAGES = 50
"""Images whose details stand in one block, which the page parses when one of them is opened."""


@dataclass(frozen=True, slots=True)
class Made:
    """What was written: the file's size, the images in it, and how many of them have a picture."""

    bytes: int
    images: int
    pictures: int

    def __str__(self) -> str:
        images, pictures = counted(self.images, "{count} image[s]"), counted(self.pictures, "{count} picture[s]")
        return f"{self.bytes / 1e6:.1f} MB, {images}, {pictures}"


@dataclass(frozen=True, slots=True)
class Pictures:
    """The folder of the images' pictures, and whether they become part of the file, which else links to them.

    `page_folder` is where the file will be in the end, which links are relative to; by default where it is written.
    """

    folder: Path | None = None
    embed: bool = False
    page_folder: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What a report is of.

    Attributes
    ----------
    results : sequence of Path
        Where the results are, one path per detector.
    rows : sequence of sequence of Result
        One per protocol; in each, one per detector.
    inputs : sequence of Inputs
        Of each detector; empty if objects are listed but not drawn.
    losses : list of dict or None
        Where the score is lost (`losses.contents`), one per protocol.
    """

    results: Sequence[Path]
    rows: Sequence[Sequence[Result]]
    inputs: Sequence[Inputs] = ()
    losses: list[dict[str, Any]] | None = None

    @property
    def without_images(self) -> list[Path]:
        """The results that have no images."""
        return [path for k, path in enumerate(self.results) if not any(row[k].document.images for row in self.rows)]

    def with_losses(self, progress: Progress | None = None) -> Subject:
        """Evaluate all inputs again to see where the score is lost; without inputs this is not known.

        Parameters
        ----------
        progress : callable, optional
            Gets the number of images diagnosed, and of all.
        """
        return replace(self, losses=losses.of_inputs(self.rows, self.inputs, progress)) if self.inputs else self


def read(
    results: Sequence[Path], labels: Sequence[str] | None = None, gt: Path | None = None, det: Sequence[Path] = ()
) -> Subject:
    """Read what a report shows of one detector, or of several side by side.

    Parameters
    ----------
    results : sequence of Path
        Result folders, or single .json results, one per detector; all protocols in them are shown.
    labels : sequence of str, optional
        The detectors' names; the folders' names by default.
    gt, det : Path, sequence of Path
        The inputs of these runs, one of `det` per detector; without them objects are listed but not drawn.

    Raises
    ------
    InputError
        When results or inputs cannot be read or do not belong together.
    """
    rows = read_results(results, labels or _labels(results))
    names = image_names(rows)
    if not names and gt is not None:
        raise InputError(f"{results[0]}: holds no images' results to draw; run that evaluation again with -a")
    documents = [result.document for result in rows[0]]
    if len({document.inputs.gt.sha256 for document in documents}) > 1:
        raise InputError("the results are of different ground truths; evaluate all detectors on one")
    if (gt is None) != (not det) or (det and len(det) != len(results)):
        raise InputError(f"give --gt and one --det for each result folder ({len(results)}), or neither")
    if gt is None:
        return Subject(results, rows)
    inputs = open_evaluated(gt, det, documents)
    if inputs[0].gt.names != names:
        raise InputError(f"{gt}: has other images than {results[0]}; evaluate again")
    return Subject(results, rows, inputs)


def of_run(folder: Path, label: str, inputs: Inputs, diagnoses: Sequence[Diagnosis]) -> Subject:
    """Return what a report shows of a run that was just made into a folder; without diagnoses, not where it loses."""
    rows = read_results([folder], [label])
    by_protocol = {diagnosis.protocol: diagnosis for diagnosis in diagnoses}
    return Subject([folder], rows, [inputs], losses.contents(rows, [by_protocol]) if diagnoses else None)


def make(file: Path, subject: Subject, pictures: Pictures | None = None) -> Made:
    """Write a report. Same input, same bytes.

    Parameters
    ----------
    file : Path
        Where to write; what is there stays as it is until all is done.

    Raises
    ------
    InputError
        When inputs or pictures cannot be read.
    """
    names, pictures = image_names(subject.rows), pictures or Pictures()
    found: list[Path | None] = [None] * len(names)
    if pictures.folder is not None:
        if not names:
            raise InputError(
                f"{subject.results[0]}: holds no images' results to draw; run that evaluation again with -a"
            )
        found = find_pictures(pictures.folder, names)
    if pictures.embed:
        refuse_too_large(found)
    folder = pictures.page_folder or file.parent
    urls = [None if path is None else True if pictures.embed else link(path, folder) for path in found]
    with written(file) as out:
        out.writelines(_head())
        out.writelines(_overview(subject, names))
        out.write(f"<script>{_resource('report.js')}</script>\n")
        for chunk, start in enumerate(range(0, len(names), CHUNK_IMAGES)):
            stop = min(start + CHUNK_IMAGES, len(names))
            out.write(_island(f"images-{chunk}", list(_images(subject, urls, start, stop))))
        if pictures.embed:
            for k, path in enumerate(found):
                if path is not None:
                    out.write(_island(f"picture-{k}", data_url(path)))
        out.write("</body>\n</html>\n")
    return Made(file.stat().st_size, len(names), sum(path is not None for path in found))


def _labels(results: Sequence[Path]) -> list[str]:
    names = [path.resolve().name if path.is_dir() else path.stem for path in results]
    return names if len(set(names)) == len(names) else [str(path) for path in results]


def _head() -> Iterator[str]:
    """Everything before the data; its policy lets nothing run or load but what the file holds, and local pictures."""
    style, script = _resource("report.css"), _resource("report.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data: file: 'self'"
    )
    skeleton = _resource("report.html")
    for mark, content in (("POLICY", policy), ("VERSION", __version__), ("STYLE", style)):
        skeleton = skeleton.replace(f"{{{{{mark}}}}}", content)
    yield skeleton


def _overview(subject: Subject, names: Sequence[str]) -> Iterator[str]:
    rows = subject.rows
    yield _island(
        "overview",
        {
            "systems": [result.label for result in rows[0]],
            "protocols": [row[0].protocol.name for row in rows],
            "matchTypes": MATCH_TYPES,
            "chunkImages": CHUNK_IMAGES,
            "hasShapes": bool(subject.inputs),
            "meanings": losses.MEANINGS,
            "properties": PROPERTIES,
            "gates": [
                [asdict(gate) for row in rows for gate in row[k].document.extras.gates or ()]
                for k in range(len(rows[0]))
            ],
            "images": names,
        },
    )
    for k, row in enumerate(rows):
        extra = {} if subject.losses is None else {"losses": subject.losses[k]}
        yield _island(f"protocol-{k}", protocol_content(row) | extra)


def _images(subject: Subject, urls: Sequence[str | bool | None], start: int, stop: int) -> Iterator[dict[str, Any]]:
    shapes = read_shapes(subject.inputs, start, stop) if subject.inputs else [None] * (stop - start)
    contents = image_contents(subject.rows, start, stop)
    for content, url, drawn in zip(contents, urls[start:stop], shapes, strict=True):
        image = content | {"picture": url}
        if drawn is not None:
            image["size"] = drawn["size"]
            image["gt"] |= drawn["gt"]
            image["det"] = [side | extra for side, extra in zip(image["det"], drawn["det"], strict=True)]
        yield image


def _island(name: str, value: Any) -> str:
    """Data as a script element that is not run; with `<` escaped, nothing in it can end the element.

    Lone surrogates, of file names that are no UTF-8, become JSON's escapes.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _resource(name: str) -> str:
    return resources.files("evaltex_cli.report").joinpath(name).read_text(encoding="utf-8")
