"""The HTML file: a skeleton, style and script, and all data as JSON that markup cannot break out of."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from evaltex_cli.diagnose.breakdown import PROPERTIES
from evaltex_cli.errors import InputError, counted
from evaltex_cli.evaluation.evaluate import Progress
from evaltex_cli.evaluation.inputs import Inputs
from evaltex_cli.protocols.base import MATCH_TYPES
from evaltex_cli.report.content import Result, image_contents, image_names, protocol_content, read_results
from evaltex_cli.report.geometry import open_evaluated, read_shapes
from evaltex_cli.report.losses import MEANINGS, loss_content
from evaltex_cli.report.pictures import data_url, find_pictures, link, refuse_too_large
from evaltex_cli.runtime.atomic_output import written
from evaltex_cli.version import __version__

NAME, COMPARISON_NAME = "report.html", "comparison.html"
CHUNK_IMAGES = 50
"""Images whose details stand in one block, which the page parses when one of them is opened."""


@dataclass(frozen=True, slots=True)
class Made:
    """What was written: the file's size, the images in it, how many of them have a picture, results without images."""

    bytes: int
    images: int
    pictures: int
    without_images: tuple[Path, ...] = ()

    def __str__(self) -> str:
        images, pictures = counted(self.images, "{count} image[s]"), counted(self.pictures, "{count} picture[s]")
        return f"{self.bytes / 1e6:.1f} MB, {images}, {pictures}"


def make(
    file: Path,
    results: Sequence[Path],
    *,
    labels: Sequence[str] | None = None,
    gt: Path | None = None,
    det: Sequence[Path] = (),
    pictures: Path | None = None,
    embed: bool = False,
    diagnose: bool = True,
    progress: Progress | None = None,
    page_folder: Path | None = None,
) -> Made:
    """Write the report of one detector, or of several side by side. Same input, same bytes.

    Parameters
    ----------
    file : Path
        Where to write; what stands there stays as it is until all is done.
    results : sequence of Path
        Result folders, or single .json results, one a detector; all protocols in them are shown.
    labels : sequence of str, optional
        The detectors' names; the folders' names by default.
    gt, det : Path, sequence of Path
        The inputs of these runs, one of `det` a detector; without them objects are listed but not drawn.
    pictures : Path, optional
        Folder of the images' pictures.
    embed : bool
        Whether pictures become part of the file; else it links to them.
    diagnose : bool
        Whether to show where the score is lost, given `gt` and `det`; these are scored anew for it.
    progress : callable, optional
        Gets the number of images diagnosed, and of all.
    page_folder : Path, optional
        Where the file will stand in the end, which links are relative to.

    Raises
    ------
    InputError
        When results, inputs or pictures cannot be read or do not belong together.
    """
    rows = read_results(results, labels or _labels(results))
    names = image_names(rows)
    if not names and (gt is not None or pictures is not None):
        raise InputError(f"{results[0]}: holds no images' results to draw; run that evaluation again with -a")
    documents = [result.document for result in rows[0]]
    if len({document.inputs.gt.sha256 for document in documents}) > 1:
        raise InputError("the results are of different ground truths; evaluate all detectors on one")
    if (gt is None) != (not det) or (det and len(det) != len(results)):
        raise InputError(f"give --gt and one --det for each result folder ({len(results)}), or neither")
    inputs = open_evaluated(gt, det, documents) if gt is not None else []
    if inputs and inputs[0].gt.names != names:
        raise InputError(f"{gt}: has other images than {results[0]}; evaluate again")
    found = find_pictures(pictures, names) if pictures is not None else [None] * len(names)
    if embed:
        refuse_too_large(found)
    urls = [None if path is None else True if embed else link(path, page_folder or file.parent) for path in found]
    losses = loss_content(rows, inputs, progress) if diagnose and inputs else None
    with written(file) as out:
        out.writelines(_head())
        out.writelines(_overview(rows, names, bool(inputs), losses))
        out.write(f"<script>{_resource('report.js')}</script>\n")
        for chunk, start in enumerate(range(0, len(names), CHUNK_IMAGES)):
            stop = min(start + CHUNK_IMAGES, len(names))
            out.write(_island(f"images-{chunk}", list(_images(rows, inputs, urls, start, stop))))
        if embed:
            for k, path in enumerate(found):
                if path is not None:
                    out.write(_island(f"picture-{k}", data_url(path)))
        out.write("</body>\n</html>\n")
    bare = [path for k, path in enumerate(results) if not any(row[k].document.images for row in rows)]
    return Made(file.stat().st_size, len(names), sum(path is not None for path in found), tuple(bare))


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


def _overview(
    rows: Sequence[Sequence[Result]],
    names: Sequence[str],
    has_shapes: bool,
    losses: Sequence[dict[str, Any]] | None,
) -> Iterator[str]:
    yield _island(
        "overview",
        {
            "systems": [result.label for result in rows[0]],
            "protocols": [row[0].protocol.name for row in rows],
            "matchTypes": MATCH_TYPES,
            "chunkImages": CHUNK_IMAGES,
            "hasShapes": has_shapes,
            "meanings": MEANINGS,
            "properties": PROPERTIES,
            "gates": [
                [asdict(gate) for row in rows for gate in row[k].document.extras.gates or ()]
                for k in range(len(rows[0]))
            ],
            "images": names,
        },
    )
    for k, row in enumerate(rows):
        extra = {} if losses is None else {"losses": losses[k]}
        yield _island(f"protocol-{k}", protocol_content(row) | extra)


def _images(
    rows: Sequence[Sequence[Result]],
    inputs: Sequence[Inputs],
    urls: Sequence[str | bool | None],
    start: int,
    stop: int,
) -> Iterator[dict[str, Any]]:
    shapes = read_shapes(inputs, start, stop) if inputs else [None] * (stop - start)
    contents = image_contents(rows, start, stop)
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
