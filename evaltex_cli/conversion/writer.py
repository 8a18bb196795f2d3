"""What a writer is: a function that writes the images of a source, and what its format holds.

`images` brings objects into the form that a format has, and counts what is lost by one rule for all
formats.
"""

from __future__ import annotations

import math
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.conversion import BY_SUFFIX, FILE_PER_IMAGE, WRITERS, Holds, is_folder
from evaltex_cli.errors import FaultLog, InputError, quote
from evaltex_cli.errors.suggestions import unknown
from evaltex_cli.formats.base import Image, Side, Source, TextObject
from evaltex_cli.formats.names import (
    image_names,
    names_of_pictures,
    unfit_for_files,
    without_prefix,
)
from evaltex_cli.formats.parsing import around
from evaltex_cli.marks import archive_comment, is_of
from evaltex_cli.progress import tracked
from evaltex_cli.records import Bools, Objects
from evaltex_cli.records.rows import take
from evaltex_cli.runtime.outputs import force, output_file, output_folder

_LEFT_OUT = "left out: the format holds none"
_LOST = "{count} object[s] lost [its|their]"
SIZE_GUESSED = "{count} image[s] of unknown size got the smallest that holds [its|their] objects"
IDS_LOST = "{count} object[s] [is|are] numbered again: the format holds no IDs"
RUNS_LOST = f"{_LOST} region: other objects come between those of the region"
DONT_CARE_LOST = (
    "{count} don't-care object[s] [counts|count] now: the format has no mark for don't care"
)
BECAME_DONT_CARE = "{count} object[s] became don't care by [its|their] transcription"
BOXED = "{count} polygon[s] written as [its bounding box|their bounding boxes]"
ROUNDED = "{count} object[s] moved by rounding: the format holds whole pixels from 0 up"
EXTENTS_ROUNDED = "{count} box[es] moved by rounding: the format holds width and height"
NAMES_CHANGED = "{count} image name[s] [is|are] read again without prefix or extension"
NAME_LOST = "{count} image name[s] left out: [it is|they are] that of the file"
_PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".gif", ".webp")
_PREFIX = {"gt": "gt_", "det": "res_"}
_TIMESTAMP = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644 << 16


@dataclass(slots=True)
class Job:
    """What is written and what came of it."""

    target: Path
    side: Side
    source: Source
    faults: FaultLog = field(default_factory=FaultLog)
    """Gets what cannot be written at all."""
    lost: Counter[str] = field(default_factory=Counter)
    """Sentence with ``{count}`` -> how often it is true: what the target does not contain as the
    source did."""
    notes: list[str] = field(default_factory=list)
    """What else the user should know about the target."""
    written: int = 0
    """Objects in the target."""

    @property
    def names(self) -> Sequence[str]:
        """All image names, in order."""
        return self.source.names

    @property
    def objects(self) -> Objects:
        """The objects of all images."""
        return self.source.objects

    def keep(self, rows: Bools, sentence: str) -> None:
        """Leave out all other objects, which are counted."""
        self.lost[sentence] += int((~rows).sum())
        if not rows.all():
            self.source = replace(self.source, objects=take(self.objects, rows))

    def refuse(self, found: str, expected: str) -> None:
        """Log what cannot be written."""
        self.faults.add(self.source.path, None, found, expected)

    def refuse_names(self, is_unfit: Callable[[str], bool], expected: str) -> None:
        """Raise `InputError` if a name of an image is unfit."""
        for name in filter(is_unfit, self.names):
            self.refuse(f"image name {quote(name)}", f"{expected}; rename the image")
        self.faults.raise_if_any()


def writer_name(to: str | None, target: Path) -> str:
    """Return the name of the format that is asked for, or that a target's ending stands for; raises
    `InputError` if there is none.
    """
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
    """Write the target of a job in a format.

    Raises
    ------
    InputError
        For what cannot be written, and a target that cannot be; it is then left as it was.
    """
    writer = WRITERS[name]
    module, _, function = writer.function.partition(".")
    texts: Callable[[Job, Iterator[Image]], Iterator[str]] = getattr(
        import_module(f"{__package__}.{module}"), function
    )
    documents = texts(job, images(job, writer.holds))
    if writer.is_file_per_image:
        _write_files(job, name, documents)
        return
    with output_file(job.target, is_own) as file:
        file.writelines(documents)


# Images as a format holds them --------------------------------------------------------------------


def images(job: Job, holds: Holds) -> Iterator[Image]:
    """Yield the images as a format holds them; `job` gets what is lost, and how many objects are
    written.

    An image of unknown size has the smallest that holds its objects.
    """
    source, ids = job.source, job.source.ids or [""] * len(job.names)
    if holds.pictures:
        again = names_of_pictures([picture_file(Image(name)) for name in job.names])
        job.lost[NAMES_CHANGED] += sum(a != b for a, b in zip(job.names, again, strict=True))
    holds_labels = holds.labels or len(set(job.objects.labels or ())) < 2
    ends = pairwise(job.objects.offsets.tolist())
    rows = zip(source.names, source.sizes.tolist(), ends, ids, strict=True)
    for name, (height, width), (start, stop), image_id in tracked(
        rows, "writing", "images", len(ids)
    ):
        objects = _text_objects(job.objects, start, stop)
        image = Image(name, objects, height, width, id=image_id)
        is_known = height > 0 and width > 0
        job.lost[f"{{count}} image size[s] {_LEFT_OUT}"] += is_known and job.side not in holds.sizes
        if not is_known:
            boxes = job.objects.boxes[start:stop]
            image.width, image.height = np.ceil(boxes[:, 2:].max(axis=0, initial=1.0)).tolist()
            job.lost[SIZE_GUESSED] += job.side in holds.sizes
            if holds.needs_sizes and objects:
                expected = "its picture's size: give the folder of the pictures by --images"
                job.refuse(f"image {quote(name)} without height and width", expected)
        for k, word in enumerate(objects, 1):
            _hold_outline(job, holds, word)
            _hold_content(job, holds, word)
            job.lost[IDS_LOST] += word.id != k and job.side not in holds.ids
            job.lost[f"{_LOST} class: the format holds none"] += bool(word.label) > holds_labels
        job.written += len(objects)
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


def _hold_outline(job: Job, holds: Holds, word: TextObject) -> None:
    """Give an object the outline that the format holds of it."""
    if len(word.points) > 4 and not holds.polygons:
        job.lost[BOXED] += 1
        word.points = around(word.points)
    if holds.whole:
        points = [max(math.floor(value + 0.5), 0) for value in word.points]
        job.lost[ROUNDED] += points != list(word.points)
        word.points = points
    if holds.extents and len(word.points) == 4:
        x0, y0, x1, y1 = word.points
        is_moved = x0 + extent(x0, x1) != x1 or y0 + extent(y0, y1) != y1
        job.lost[EXTENTS_ROUNDED] += is_moved


def _hold_content(job: Job, holds: Holds, word: TextObject) -> None:
    """Leave out what the format does not hold of an object."""
    if word.confidence is None or math.isnan(word.confidence):
        word.confidence = None
    elif job.side not in holds.confidences:
        job.lost[f"{{count}} confidence[s] {_LEFT_OUT}"] += 1
        word.confidence = None
    job.lost[f"{{count}} transcription[s] {_LEFT_OUT}"] += bool(word.text) > holds.texts
    if job.side == "gt":
        job.lost[DONT_CARE_LOST] += word.dont_care > holds.dont_care
        job.lost[BECAME_DONT_CARE] += not word.dont_care and word.text in holds.marks
        is_lost = word.region != word.id and not holds.regions
        job.lost[f"{_LOST} region: the format holds none"] += is_lost
    else:
        word.dont_care, word.region = False, word.id


def class_numbers(job: Job, first: int, has_names: bool = False) -> dict[str, int]:
    """Return class -> its number, in the order of their names; what is a number already stays.

    Parameters
    ----------
    first : int
        The number of the first class.
    has_names : bool
        Whether the target has the classes' names too; if not, a note says which number each has.
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
        job.lost[RUNS_LOST] += len(run) if run[0].region in known else 0
        known.add(run[0].region)
    return runs


# Numbers and corners ------------------------------------------------------------------------------


def corners(points: Sequence[float]) -> list[Sequence[float]]:
    """Return the vertices [x, y] of an object; of a box its corners, clockwise."""
    if len(points) == 4:
        x0, y0, x1, y1 = points
        return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]]
    return [points[k : k + 2] for k in range(0, len(points), 2)]


def bounds(objects: Iterable[TextObject]) -> tuple[float, float, float, float]:
    """Return x0, y0, x1, y1 of the box around some objects."""
    return around([value for word in objects for value in around(word.points)])


def extent(start: float, stop: float) -> float:
    """Return the width that, added to `start`, comes to `stop` in double precision, or as near as
    any does.
    """
    width = stop - start
    if start + width == stop:
        return width
    nearby = (width, math.nextafter(width, 0.0), math.nextafter(width, math.inf))
    return min(nearby, key=lambda candidate: abs(start + candidate - stop))


def number(value: float) -> str:
    """Return the shortest text that reads back as this value."""
    return str(int(value)) if value == int(value) else repr(value)


# Files --------------------------------------------------------------------------------------------


def is_own(path: Path) -> bool:
    """Whether a conversion may replace a file: one with its mark; from Python, any."""
    return force.get() is None or is_of("data")(path)


def picture_file(image: Image) -> str:
    """Return the name of an image's picture in a document: with ``.jpg`` if no ending is known."""
    return image.name if image.name.lower().endswith(_PICTURES) else f"{image.name}.jpg"


def _write_files(job: Job, name: str, documents: Iterable[str]) -> None:
    """Write the document of each image to a file.

    The target is a .zip archive (the same bytes for the same data), or a folder; a target of the
    files' own ending is the file of the only image. A name that the reader would take a prefix off
    gets one. Faults go to the job's log and are raised at the end.
    """
    ending, in_folder = FILE_PER_IMAGE[name], is_folder(job.target, name)
    if not in_folder and job.target.suffix.lower() == ending:
        if len(job.names) > 1:
            expected = f"one for a {ending} file; end the target in .zip, or give a folder"
            job.refuse(f"{len(job.names)} images", expected)
        job.faults.raise_if_any()
        job.lost[NAME_LOST] += job.names[0] != job.target.stem
        with output_file(job.target, is_own) as file:
            file.writelines(documents)
            job.faults.raise_if_any()
        return
    files = [_file_name(job, image, WRITERS[name].is_prefixed) for image in job.names]
    for image, again in zip(job.names, image_names(files), strict=True):
        if image != again:  # the reader must find it again
            expected = "a name without slashes that can be a file's; rename the image"
            job.refuse(f"image name {quote(image)}", expected)
    files = [file + ending for file in files]
    refuse_unfit_files(job, files)
    if in_folder:
        _write_folder(job, ending, dict(zip(files, documents, strict=True)))
        return
    with output_file(job.target, is_own) as file:
        binary: Any = file
        with zipfile.ZipFile(binary.buffer, "w") as packed:
            packed.comment = archive_comment("data")
            for entry, document in zip(files, documents, strict=True):
                info = zipfile.ZipInfo(entry, _TIMESTAMP)
                info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
                info.external_attr = _MODE
                packed.writestr(info, document.encode())
        job.faults.raise_if_any()


def _write_folder(job: Job, ending: str, documents: dict[str, str]) -> None:
    files = list(documents)
    others = sorted(path.name for path in job.target.glob(f"*{ending}") if path.name not in files)
    if others:
        raise InputError(
            f"{job.target}: has {quote(others[0])}, which would be read as one of its images; give"
            " an empty folder"
        )
    with output_folder(job.target, is_own) as folder:
        job.faults.raise_if_any()
        for file, document in documents.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(document, encoding="utf-8", newline="\n")


def refuse_unfit_files(job: Job, files: Sequence[str]) -> None:
    """Raise `InputError` for images of which no file can be made: for names that are too long, or
    make the same file.

    Parameters
    ----------
    files : sequence of str
        The file of each image.
    """
    too_long = unfit_for_files(files, "")
    first: dict[str, str] = {}
    for name, file in zip(job.names, files, strict=True):
        if file in too_long:
            found, expected = too_long[file]
            job.refuse(f"image name {quote(name)} {found}", expected)
        elif first.setdefault(file, name) != name:
            found = f"makes the file {quote(file)}, which is that of image {quote(first[file])}"
            expected = "names that differ by more than an ending; rename one of the images"
            job.refuse(f"image name {quote(name)} {found}", expected)
    job.faults.raise_if_any()


def _file_name(job: Job, image: str, is_prefixed: bool) -> str:
    """Return the name of an image's file without ending. Its prefix comes after the folders, which
    the reader keeps where names repeat without them.
    """
    folder, slash, name = image.rpartition("/")
    prefix = _PREFIX[job.side] if is_prefixed or without_prefix(name) != name else ""
    return f"{folder}{slash}{prefix}{name}"
