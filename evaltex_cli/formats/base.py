"""What a reader is: a function that indexes an input, and one that reads any of its images."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from evaltex_cli.errors import FaultLog
from evaltex_cli.records import Ints, ReadImages

if TYPE_CHECKING:
    from evaltex_cli.formats.parsed import CollectedImage

Side = Literal["gt", "det"]
DONT_CARE = "###"
"""The transcription of text that does not count, in many formats."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """An indexed input: its images are known, their objects not yet read.

    Attributes
    ----------
    path : str
        As the user wrote it; messages begin with it.
    format : str
        Name of the format in `FORMATS`.
    sha256 : str
        Of the file's bytes; of the sorted listing of entries and their hashes for a folder.
    names : sequence of str
        Image names, unique, in the order of the input.
    weights : (images,) integers
        Bytes of each image's text: what batches are bounded by.
    read : callable
        ``read(positions, faults)`` returns the images at these positions of `names`, in the order of
        `positions`; what is wrong with them goes to the log.
    warnings : tuple of str
        What the user should know about the input.
    part : callable or None
        ``part(positions)`` returns a function of a fault log that reads these images, as `read` does, and can be sent
        to another process without all the others; where None, `read` itself can.
    labels : callable or None
        ``labels(position)`` returns the image's label picture, (height, width) int64 of object IDs and 0, where the
        format has pictures of its own.
    min_confidence : float or None
        The least confidence of the objects that it gives (`filters.only_confident`); None where it gives all.
    collect : callable or None
        ``collect(positions)`` returns these images as `parsed.CollectedImage`, which know where they and their
        objects stand; None where each object has a line, which can be found again.
    texts : callable or None
        ``texts(positions)`` yields for each of these images the file as messages name it, the number of the first line
        that is the image's, and all its lines; None where `collect` is there.
    """

    path: str
    format: str
    sha256: str
    names: Sequence[str]
    weights: Ints
    read: Callable[[Ints, FaultLog], ReadImages]
    warnings: tuple[str, ...] = ()
    labels: Callable[[int], Ints] | None = None
    part: Callable[[Ints], Callable[[FaultLog], ReadImages]] | None = None
    min_confidence: float | None = None
    collect: Callable[[Ints], list[CollectedImage]] | None = None
    texts: Callable[[Ints], Iterator[tuple[str, int, bytes]]] | None = None

    def reader(self, positions: Ints) -> Callable[[FaultLog], ReadImages]:
        """Return what reads the images at these positions, to be called here or in another process."""
        return partial(self.read, positions) if self.part is None else self.part(positions)


Sample: TypeAlias = "str | bytes | Mapping[str, str | bytes]"
"""Content of a file, or the files of a folder by name."""


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: all that is known of it, so that one file and one line of the registry add one.

    Attributes
    ----------
    name, title : str
        What the user types, and one line about it.
    recognises : callable
        ``recognises(path)`` tells by content whether a file or folder is of this format.
    index : callable
        ``index(path, side, faults)`` finds the images. Raises `InputError` when nothing can be read.
    four_corners : bool
        Whether every object is a box or has four vertices, whatever the file holds.
    recognised_by : str
        What `recognises` looks for, as a phrase; empty where a user must name the format.
    layout : str
        One object, or the elements around it, as the documentation shows them.
    sample : str, bytes, mapping of these by file name, or a function that returns one
        A small ground truth of this format, with one object or more: of one file, or of the files of a folder.
    ending : str
        Of documents, with the dot: a folder or archive is of this format only if it has at least as many files of this
        ending as of any other format's, and more than .txt. Empty where `recognises` decides alone.
    why : callable or None
        ``why(path)`` says what a recognised input has, where `recognised_by` does not say all.
    """

    name: str
    title: str
    recognises: Callable[[Path], bool]
    index: Callable[[Path, Side, FaultLog], Source]
    four_corners: bool = False
    recognised_by: str = ""
    layout: str = ""
    sample: Sample | Callable[[], Sample] = ""
    ending: str = ""
    why: Callable[[Path], str] | None = None

    def reason(self, path: Path) -> str:
        """Return why an input was recognised, as a phrase."""
        return self.why(path) if self.why else f"recognised by {self.recognised_by}"

    def sample_content(self) -> Sample:
        """Return the sample; a function that makes it is called."""
        return self.sample() if callable(self.sample) else self.sample

    def write_sample(self, folder: Path) -> Path:
        """Write the sample into a folder, and return the path to read: the folder, or the one file in it."""
        sample = self.sample_content()
        files = sample if isinstance(sample, Mapping) else {f"img_1{self.ending}": sample}
        for name, content in files.items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder if isinstance(sample, Mapping) else folder / next(iter(files))
