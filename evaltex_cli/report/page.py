"""The report's HTML file: scores, images and pictures as JSON that markup cannot break out of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from evaltex_cli.comparison import comparison
from evaltex_cli.comparison.tables import footer, p_cells
from evaltex_cli.diagnosis.breakdown import PROPERTIES
from evaltex_cli.diagnosis.error_types import Thresholds
from evaltex_cli.errors import InputError, counted
from evaltex_cli.progress import phase, tracked
from evaltex_cli.protocols.matching import MATCH_TYPES
from evaltex_cli.report import image_columns, image_json, skeleton
from evaltex_cli.report.image_columns import packed_numbers
from evaltex_cli.report.inputs import (
    data_url,
    link,
    pictures_of,
    refuse_too_large,
)
from evaltex_cli.report.subject import Losses, Result, Subject, image_names
from evaltex_cli.results import significance
from evaltex_cli.results.extras import Bootstrap, Intervals
from evaltex_cli.results.image_table import NO_IMAGES
from evaltex_cli.results.result_document import ResultDocument
from evaltex_cli.results.text_tables import JsonObject
from evaltex_cli.runtime.outputs import output_file

NAME, COMPARISON_NAME = "report.html", "comparison.html"
PARTS = skeleton.Parts("evaltex report", ("report.css",), ("elements.js", "report.js"))
THRESHOLDS = Thresholds()
MEANINGS = {
    "missed": "an object that no detection is on",
    "split": "an object that needs several detections",
    "merged": "a detection that several objects need",
    "loose": f"less than {100 * THRESHOLDS.loose:g} % of the detection is text",
    "tight": f"less than {100 * THRESHOLDS.tight:g} % of the object is covered",
    "false": "a detection on nothing",
    "duplicate": "a detection that every object it is on does without",
    "interaction": "what repairing all kinds at once changes beyond the sum of each alone",
    "unexplained": "what is lost still when all kinds are repaired",
}
"""What the page says of the rows of its table."""
_LOSS_PARTS = ("scores", "losses", "kinds", "interaction", "unexplained", "breakdowns", "misread")


@dataclass(frozen=True, slots=True)
class Made:
    """What was written: the file's size, the images in it, and how many of them have a picture."""

    bytes: int
    images: int
    pictures: int

    def __str__(self) -> str:
        images, pictures = (
            counted(self.images, "{count} image[s]"),
            counted(self.pictures, "{count} picture[s]"),
        )
        return f"{self.bytes / 1e6:.1f} MB, {images}, {pictures}"


@dataclass(frozen=True, slots=True)
class Pictures:
    """The folder of the images' pictures, and whether they become part of the file, which else
    links to them.

    `page_folder` is where the file will be in the end, which links are relative to; by default
    where it is written.
    """

    folder: Path | None = None
    embed: bool = False
    page_folder: Path | None = None


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
    paths: list[Path | None] = [None] * len(names)
    if pictures.folder is not None:
        if not names:
            raise InputError(
                f"{subject.results[0]}: holds no images' results to draw; run that evaluation again"
                " with -a"
            )
        paths = pictures_of(pictures.folder, names)
    if pictures.embed:
        refuse_too_large(paths)
    folder = pictures.page_folder or file.parent
    urls = [
        None if path is None else True if pictures.embed else link(path, folder) for path in paths
    ]
    starts = _chunk_starts(subject.rows)
    with output_file(file) as out:
        out.write(skeleton.head(PARTS))
        out.writelines(_overview(subject, names, starts, pictures))
        out.write(skeleton.program(PARTS))
        with phase("writing the report", "images", len(names)) as advance:
            out.writelines(_images(subject, urls, starts, advance))
        if pictures.embed:
            for k, path in enumerate(tracked(paths, "embedding", "pictures", len(paths))):
                if path is not None:
                    out.write(skeleton.island(f"picture-{k}", data_url(path)))
        out.write(skeleton.END)
    return Made(file.stat().st_size, len(names), sum(path is not None for path in paths))


def _chunk_starts(rows: Sequence[Sequence[Result]]) -> list[int]:
    """Where the chunks of images begin, and their number."""
    of_rows = ([one.document.table for one in row if one.names] for row in rows)
    return image_columns.chunk_starts(next(filter(None, of_rows), [NO_IMAGES]))


def _overview(
    subject: Subject, names: Sequence[str], starts: Sequence[int], pictures: Pictures
) -> Iterator[str]:
    rows = subject.rows
    yield skeleton.island(
        "overview",
        {
            "systems": [result.label for result in rows[0]],
            "protocols": [row[0].protocol.name for row in rows],
            "matchTypes": MATCH_TYPES,
            "hasShapes": bool(subject.inputs),
            "meanings": MEANINGS,
            "properties": PROPERTIES,
            "gates": [
                [gate._asdict() for row in rows for gate in row[k].document.extras.gates or ()]
                for k in range(len(rows[0]))
            ],
            "images": names,
            "chunkStarts": starts,
        },
    )
    for k, row in enumerate(rows):
        extra = {} if subject.losses is None else {"losses": _losses(subject.losses[k])}
        yield skeleton.island(f"protocol-{k}", _protocol(row) | extra)


def _losses(losses: Losses) -> JsonObject:
    if isinstance(losses, str):
        return {"note": losses}
    return {
        "systems": [
            {name: shown[name] for name in _LOSS_PARTS if shown[name] is not None}
            for shown in map(asdict, losses)
        ]
    }


def _images(
    subject: Subject,
    urls: Sequence[str | bool | None],
    starts: Sequence[int],
    advance: Callable[[int], None],
) -> Iterator[str]:
    """Yield the islands of the images: their objects, and what every protocol says of them."""
    ranges = list(pairwise(starts))
    chunks = subject.images or (_read_chunk(subject, *one) for one in ranges)
    for part, ((start, stop), (objects, rows)) in enumerate(zip(ranges, chunks, strict=True)):
        matches = ",".join(f"[{','.join(row)}]" for row in rows)
        pictures = image_json.text(urls[start:stop])
        pieces = [
            '{"objects":[',
            ",".join(objects),
            '],"matches":[',
            matches,
            f'],"picture":{pictures}}}',
        ]
        yield from skeleton.streamed(f"images-{part}", pieces)
        advance(stop - start)


def _read_chunk(subject: Subject, start: int, stop: int) -> image_columns.Chunk:
    """Read some images from the results and inputs."""
    of_images = [[result.document.images[start:stop] for result in row] for row in subject.rows]
    if subject.inputs:
        objects = image_columns.objects_of_inputs(subject.inputs, start, stop)
    else:
        complete = next(row for row in of_images if row[0])
        objects = [image_columns.ids_of_results(one, k == 0) for k, one in enumerate(complete)]
    return objects, [
        [image_columns.of_results(images) if images else "null" for images in row]
        for row in of_images
    ]


def _protocol(results: Sequence[Result]) -> JsonObject:
    """Everything of one protocol but its images' objects: scores, intervals, histograms, plots, the
    table of images.

    Several results share the intervals of their comparison; a single one has its run's, or such as
    are made here.
    """
    protocol = results[0].protocol
    content: JsonObject = {
        "name": protocol.name,
        "title": protocol.title,
        "headline": list(protocol.headline),
        "main_score": protocol.main_score,
        "systems": [_system_content(result) for result in results],
        "images": _index(results),
    }
    systems = [result.system for result in results if result.system is not None]
    if len(results) > 1 and len(systems) == len(results):
        content |= _comparison(comparison.compare(systems))
    else:
        content["level"] = _level(results[0].document)
        bounds = [_intervals(result) for result in results]
        for (intervals, _), system in zip(bounds, content["systems"], strict=True):
            system["intervals"] = intervals
        content["footer"] = list(
            dict.fromkeys(warning for _, warnings in bounds for warning in warnings)
        )
    return content


def _level(document: ResultDocument) -> float:
    made = document.extras.bootstrap
    return significance.LEVEL if made is None else made.level


def _comparison(comparison: comparison.Comparison) -> JsonObject:
    detectors = range(1, len(comparison.systems))
    scores = [
        asdict(score)
        | {"p_shown": ["", *(" / ".join(p_cells(comparison, score, k)) for k in detectors)]}
        for score in comparison.scores
    ]
    return {
        "level": significance.LEVEL,
        "comparison": scores,
        "footer": footer(comparison, significance.LEVEL),
    }


def _system_content(result: Result) -> JsonObject:
    document, protocol = result.document, result.protocol
    scores = document.scores
    return {
        "signature": document.signature,
        "parameters": document.parameters,
        "inputs": asdict(document.inputs),
        "warnings": document.warnings,
        "scores": {
            name: value
            for name, value in scores.items()
            if value is None or isinstance(value, int | float)
        },
        "histograms": [
            {
                "name": name,
                "shares": value,
                "counts": document.totals.get(name.replace("_histogram", "_bins")),
            }
            for name, value in scores.items()
            if name.endswith("_histogram") and isinstance(value, list)
        ],
        "plots": [plot._asdict() for plot in protocol.plots(scores)] if protocol.plots else [],
    }


def _intervals(result: Result) -> tuple[Intervals, list[str]]:
    """Return a result's intervals, and what to know about them that is not among its warnings."""
    stored = result.document.extras.intervals
    if stored is not None or result.system is None:
        return stored or {}, []
    system = result.system
    return significance.intervals(
        system.rows, system.score, Bootstrap(significance.LEVEL, significance.RESAMPLES, 0)
    )


def _index(results: Sequence[Result]) -> list[JsonObject] | None:
    """The table of images, in columns; None if a run has no images' results."""
    if not all(result.names for result in results):
        return None
    return [
        {
            "scores": {
                name: packed_numbers(result.document.table.scores[name])
                for name in result.protocol.headline
            },
            "counts": [packed_numbers(column) for column in result.document.table.counts.T],
        }
        for result in results
    ]
