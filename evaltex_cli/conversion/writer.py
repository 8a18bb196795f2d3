"""Writes the images of a source in a format; what is lost is counted by one rule for all."""

from __future__ import annotations

import math
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.conversion import BY_SUFFIX, FILE_PER_IMAGE, WRITERS, Writer
from evaltex_cli.errors import FaultLog, InputError, quote, unknown
from evaltex_cli.formats.base import Image, Side, Source, TextObject
from evaltex_cli.formats.names import image_names, without_prefix
from evaltex_cli.formats.parsing import around
from evaltex_cli.formats.sizes import SUFFIXES
from evaltex_cli.records import Bools, Objects
from evaltex_cli.runtime.marks import is_of
from evaltex_cli.runtime.outputs import force, output_file, output_folder
from evaltex_cli.runtime.progress import tracked

SIZE_GUESSED = "{count} image[s] of unknown size got the smallest that holds [its|their] objects"
BOXED = "{count} polygon[s] written as [its bounding box|their bounding boxes]"
ROUNDED = "{count} object[s] moved by rounding: the format holds whole pixels from 0 up"
TEXT_LOST = "{count} transcription[s] left out: the format holds none"
CONFIDENCE_LOST = "{count} confidence[s] left out: the format holds none"
CLASS_LOST = "{count} object[s] lost [its|their] class: the format holds none"
REGION_LOST = "{count} object[s] lost [its|their] region"
DONT_CARE_LOST = (
    "{count} don't-care object[s] [counts|count] now: the format has no mark for don't care"
)
BECAME_DONT_CARE = "{count} object[s] became don't care by [its|their] transcription"
_PREFIX = {"gt": "gt_", "det": "res_"}


@dataclass(slots=True)
class Job:
    """What is written and what came of it."""

    target: Path
    side: Side
    source: Source
    faults: FaultLog = field(default_factory=FaultLog)
    """Gets what cannot be written at all."""
    lost: Counter[str] = field(default_factory=Counter)
    """Sentence with ``{count}`` about what the target does not contain -> how often it is true."""
    notes: list[str] = field(default_factory=list)
    """What else the user should know about the target."""

    @property
    def objects(self) -> Objects:
        """The objects of all images."""
        return self.source.objects

    def refuse(self, found: str, expected: str) -> None:
        """Log what cannot be written."""
        self.faults.add(self.source.path, None, found, expected)

    def refuse_unknown_sizes(self, images: Bools) -> None:
        """Raise `InputError` if one of some images has no size."""
        for k in np.flatnonzero(images & (self.source.sizes <= 0).any(axis=1)).tolist():
            expected = "its picture's size: give the folder of the pictures by --images"
            self.refuse(f"image {quote(self.source.names[k])} without height and width", expected)
        self.faults.raise_if_any()


def writer_name(to: str | None, target: Path) -> str:
    """Return the format that is asked for, or that the ending stands for, or raise `InputError`."""
    name = to or BY_SUFFIX.get(target.suffix.lower())
    if name is None:
        raise InputError(
            f"{target}: its ending does not say what to write; end it in one of"
            f" {', '.join(BY_SUFFIX)}, or name the format: --to {', '.join(WRITERS)}; of these"
            f" {', '.join(FILE_PER_IMAGE)} can be a folder"
        )
    if name not in WRITERS:
        raise InputError(unknown("target format", name, list(WRITERS)))
    return name


def write(job: Job, name: str) -> None:
    """Write a target whole, or raise `InputError` and leave it as it was."""
    writer = WRITERS[name]
    module, _, function = writer.function.partition(".")
    texts: Callable[[Job, Iterator[Image]], Iterator[str]] = getattr(
        import_module(f"{__package__}.write_{module}"), function
    )
    documents = texts(job, images(job, writer))
    ending = FILE_PER_IMAGE.get(name)
    if ending and (job.target.is_dir() or job.target.suffix.lower() != ending):
        _write_files(job, name, documents)
        return
    if ending and len(job.source.names) > 1:
        raise InputError(f"{job.target}: can have one image only; end it in .zip or give a folder")
    with output_file(job.target, is_own) as file:
        file.writelines(documents)


# Images as a format holds them --------------------------------------------------------------------


def images(job: Job, writer: Writer) -> Iterator[Image]:
    """Yield images as a format holds them, with the smallest size for their objects if unknown."""
    source, objects = job.source, job.objects
    loses_classes = not writer.labels and len(set(objects.labels or ())) > 1
    rows = zip(source.names, source.sizes.tolist(), pairwise(objects.offsets.tolist()), strict=True)
    for name, size, (start, stop) in tracked(rows, "writing", "images", len(job.source.names)):
        image = Image(name, _text_objects(objects, start, stop), *size)
        if min(size) <= 0:
            corner = objects.boxes[start:stop, 2:].max(axis=0, initial=1.0)
            image.width, image.height = np.ceil(corner).tolist()
            job.lost[SIZE_GUESSED] += job.side in writer.sizes
        for word in image.objects:
            _hold(job, writer, word)
            job.lost[CLASS_LOST] += loses_classes and word.label != ""
        yield image


def _text_objects(objects: Objects, start: int, stop: int) -> list[TextObject]:
    """Return the objects of some rows."""
    own, nothing = slice(start, stop), [None] * (stop - start)
    confidences, labels = objects.confidences, objects.labels
    ends = objects.outlines.offsets[start : stop + 1]
    numbers = objects.outlines.vertices[ends[0] : ends[-1]].ravel().tolist()
    rings = [numbers[i:k] for i, k in pairwise((2 * (ends - ends[0])).tolist())]
    columns = zip(
        (ring or box for ring, box in zip(rings, objects.boxes[own].tolist(), strict=True)),
        objects.texts[own],
        objects.dont_care[own].tolist(),
        nothing if confidences is None else confidences[own].tolist(),
        objects.ids[own].tolist(),
        objects.regions[own].tolist(),
        [""] * len(nothing) if labels is None else labels[own],
        strict=True,
    )
    return [TextObject(*values) for values in columns]


def _hold(job: Job, writer: Writer, word: TextObject) -> None:
    """Bring an object into the form that a format has, and count what that costs."""
    lost = job.lost
    if len(word.points) > 4 and not writer.polygons:
        lost[BOXED] += 1
        word.points = around(word.points)
    if writer.whole:
        points = [max(math.floor(value + 0.5), 0) for value in word.points]
        lost[ROUNDED] += points != list(word.points)
        word.points = points
    if word.confidence is not None and math.isnan(word.confidence):
        word.confidence = None
    if word.confidence is not None and job.side not in writer.confidences:
        lost[CONFIDENCE_LOST] += 1
        word.confidence = None
    lost[TEXT_LOST] += not writer.texts and word.text != ""
    if job.side == "det":
        word.dont_care, word.region = False, word.id
    elif word.dont_care:
        lost[DONT_CARE_LOST] += not writer.dont_care
    else:
        lost[BECAME_DONT_CARE] += writer.dont_care and word.text in writer.marks
    lost[REGION_LOST] += not writer.regions and word.region != word.id


def class_numbers(job: Job, first: int, has_names: bool = False) -> dict[str, int]:
    """Return class -> its number, from `first` on in the order of their names; what is a number
    already stays. A note says the numbers if the target has no names.
    """
    names = sorted(set(job.objects.labels or ())) or [""]
    if all(map(str.isdecimal, names)):
        return {name: int(name) for name in names}
    numbers = {name: k for k, name in enumerate(names, first)}
    if len(names) > 1 and not has_names:
        listed = ", ".join(f"{k} {name or 'text'}" for name, k in numbers.items())
        job.notes.append(f"the classes are numbered: {listed}")
    return numbers


def lines(job: Job, image: Image) -> list[list[TextObject]]:
    """Return the objects of each region that follow each other; each detection alone."""
    runs = [list(run) for _, run in groupby(image.objects, lambda word: word.region)]
    known: set[int | None] = set()
    for run in runs:
        job.lost[REGION_LOST] += len(run) if run[0].region in known else 0
        known.add(run[0].region)
    return runs


# Numbers and corners ------------------------------------------------------------------------------


def flat(points: Sequence[float]) -> Sequence[float]:
    """Return x1, y1, x2, y2, ... of an object; of a box its corners, clockwise."""
    if len(points) > 4:
        return points
    x0, y0, x1, y1 = points
    return x0, y0, x1, y0, x1, y1, x0, y1


def corners(points: Sequence[float]) -> list[tuple[float, float]]:
    """Return the vertices (x, y) of an object; of a box its corners, clockwise."""
    numbers = flat(points)
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def bounds(objects: Iterable[TextObject]) -> tuple[float, float, float, float]:
    """Return x0, y0, x1, y1 of the box around some objects."""
    return around([value for word in objects for value in around(word.points)])


def with_extents(box: Sequence[float]) -> tuple[float, float, float, float]:
    """Return x0, y0, width, height of a box."""
    x0, y0, x1, y1 = box
    return x0, y0, x1 - x0, y1 - y0


def number(value: float) -> str:
    """Return the shortest text that reads back as this value."""
    return str(int(value)) if value == int(value) else repr(value)


# Files --------------------------------------------------------------------------------------------


def is_own(path: Path) -> bool:
    """Whether a conversion may replace a file: one with its mark; from Python, any."""
    return force.get() is None or is_of("data")(path)


def picture_file(image: Image) -> str:
    """Return the name of an image's picture in a document: with ``.jpg`` if no ending is known."""
    return image.name if image.name.lower().endswith(SUFFIXES) else f"{image.name}.jpg"


def _write_files(job: Job, name: str, documents: Iterable[str]) -> None:
    """Write each image's document into a folder or a .zip archive, the same bytes every time."""
    files = [_file_name(job.side, image, name.startswith("icdar")) for image in job.source.names]
    for image, again in zip(job.source.names, image_names(files), strict=True):
        if image != again:  # the reader must find it again
            expected = "a name without slashes that can be a file's; rename the image"
            job.refuse(f"image name {quote(image)}", expected)
    job.faults.raise_if_any()
    ending = FILE_PER_IMAGE[name]
    named = zip((file + ending for file in files), documents, strict=True)
    is_archive = job.target.exists() or job.target.suffix.lower() == ".zip"
    if job.target.is_dir() or not is_archive:
        kept = {path.name for path in job.target.glob(f"*{ending}")}
        if others := sorted(kept - {file + ending for file in files}):
            raise InputError(
                f"{job.target}: has {quote(others[0])}, which would be read as one of its images;"
                " give an empty folder"
            )
        with output_folder(job.target, is_own) as folder:
            for entry, document in named:
                path = folder / entry
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(document, encoding="utf-8", newline="\n")
        return
    with output_file(job.target, is_own) as file:
        binary: Any = file
        with zipfile.ZipFile(binary.buffer, "w") as packed:
            packed.comment = b"evaltex data"
            for entry, document in named:
                info = zipfile.ZipInfo(entry)
                info.external_attr = 0o100644 << 16
                packed.writestr(info, document.encode(), zipfile.ZIP_DEFLATED)


def _file_name(side: Side, image: str, is_prefixed: bool) -> str:
    """Return the name of an image's file without ending. A name that the reader would take a prefix
    off gets one, after the folders, which the reader keeps where names repeat without them.
    """
    folder, slash, name = image.rpartition("/")
    prefix = _PREFIX[side] if is_prefixed or without_prefix(name) != name else ""
    return f"{folder}{slash}{prefix}{name}"
