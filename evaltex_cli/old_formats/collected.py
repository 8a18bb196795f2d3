"""Images in columns: those of documents, collected one by one, with their objects.

Nothing of an image remains an object of Python: its name, its steps in JSON and its objects' texts
are in buffers of UTF-8, each number is in a column of the narrowest type (`narrow`). So millions of
images with an object or two take little more memory than their document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import FaultLog, InputError, Steps, VerticesError
from evaltex_cli.geometry import outlines
from evaltex_cli.old_formats.base import Place, ReadImages, Source
from evaltex_cli.old_formats.confidences import settle
from evaltex_cli.old_formats.files.image_names import bad_names
from evaltex_cli.old_formats.narrow import Records, narrowest, taken
from evaltex_cli.old_formats.parsed import (
    ROW,
    CollectedImage,
    CollectedObject,
    ObjectsAt,
    place_of,
    steps_of,
)
from evaltex_cli.records import (
    ANY_TYPE,
    Floats,
    Ints,
    Objects,
    Texts,
    distinct,
    expanded,
    offsets_of,
    stretches,
)

BYTES_PER_OBJECT = 64
"""What an object weighs in a batch, about as much as its line in a text file."""
_IMAGE = np.dtype(
    [
        ("height", "f8"),
        ("width", "f8"),
        ("place", "i4"),
        ("line", "i4"),
        ("steps", "i4"),
        ("in_fractions", "?"),
    ]
)
"""An image: the number of its file, and of how many bytes its steps in JSON are; `line` is 0
where there are steps, or nothing is known.
"""
_AT_ONCE = 1 << 12
"""Objects that are copied at once."""
_PACK_IMAGE = Struct("=ddiii?")
assert _PACK_IMAGE.size == _IMAGE.itemsize
_PACK_OWNER = Struct("=i")
_OWNER, _NUMBER = np.dtype([("image", "i4")]), np.dtype([("number", "f8")])

Positions: TypeAlias = Callable[[Sequence[str]], Ints]
"""``positions(names)`` returns (n,) images by their names, -1 for a name of no image."""


class _Order(NamedTuple):
    """Where objects, their numbers and strings are, and the steps of images."""

    offsets: NDArray[Any]
    """(images + 1,) integers. Of the objects of each image, in their order."""
    objects: NDArray[Any] | None
    """(objects,) integers. The objects image by image; None if they are in this order."""
    numbers: NDArray[Any]
    strings: NDArray[Any]
    """`numbers` and `strings`: (objects + 1,) integers."""
    steps: NDArray[Any]
    """(images + 1,) integers."""


class Images:
    """Images and their objects; a `base.Content` as soon as all are there."""

    def __init__(self, images: Iterable[CollectedImage] = ()) -> None:
        self._names: list[str] = []
        self._steps, self._strings = bytearray(), bytearray()
        self._files: dict[str, int] = {}
        self._images, self._objects = Records(_IMAGE), Records(ROW)
        self._owners, self._numbers = Records(_OWNER), Records(_NUMBER)
        self.ids: Sequence[str] | None = None  # see `base.Source`
        self.has_file_names = True
        for image in images:
            self.append(image)

    def __len__(self) -> int:
        return len(self._images)

    def append(self, image: CollectedImage) -> None:
        """Add an image with its objects, after those that are there."""
        steps, line = steps_of(image.at)
        self._names.append(image.name)
        self._steps += steps
        file = self._files.setdefault(image.place, len(self._files))
        if image.rows:
            self._extend(image, len(self))
        self._images.extend(
            _PACK_IMAGE.pack(
                *(image.height, image.width, file, line, len(steps), image.in_fractions)
            )
        )

    def append_all(
        self,
        names: Sequence[str],
        place: str,
        steps: Sequence[str],
        sizes: Sequence[tuple[float, float]] = (),
    ) -> None:
        """Add images of one file without objects; `steps` leads to each, as JSON in ASCII, `sizes`
        are heights and widths.
        """
        rows = np.zeros(len(names), _IMAGE)
        rows["place"] = self._files.setdefault(place, len(self._files))
        rows["steps"] = [*map(len, steps)]
        if sizes:
            rows["height"], rows["width"] = np.array(sizes).T
        self._names += names
        self._steps += "".join(steps).encode()
        self._images.extend(rows.tobytes())

    def add(self, k: int, one: CollectedObject) -> None:
        """Add an object to image k, after those that it has."""
        alone = CollectedImage("", "")
        alone.add(one)
        self._extend(alone, k)

    def add_many(self, owners: Ints, rows: bytes, numbers: bytes, strings: bytes) -> None:
        """Add objects that are taken apart as in `CollectedImage`, each to its image."""
        self._owners.extend(owners.astype(np.int32).tobytes())
        self._objects.extend(rows)
        self._numbers.extend(numbers)
        self._strings += strings

    def _extend(self, objects: CollectedImage, image: int) -> None:
        self._owners.extend(_PACK_OWNER.pack(image) * objects.count)
        self._objects.extend(objects.rows)
        with memoryview(objects.numbers) as numbers:
            self._numbers.extend(numbers.cast("B"))
        self._strings += objects.strings

    # Names --------------------------------------------------------------------------------------

    @property
    def names(self) -> Sequence[str]:
        """The images' names."""
        return self._names

    def rename(self, names: Iterable[str]) -> None:
        """Give the images names, one for each."""
        self._names = list(names)

    def name_by_id(self) -> None:
        """Take the names that the images have for their IDs in COCO, as no files are named."""
        self.ids, self.has_file_names = self.names, False

    def lookup(self) -> Positions:
        """Return what finds images by their names, of which none may repeat."""
        position = {name: k for k, name in enumerate(self._names)}
        return lambda names: np.array([position.get(name, -1) for name in names], np.int64)

    def merge(self) -> None:
        """Make one image of those that have the same name, which is where the first of them is.

        The steps to objects must not go on from those to an image (`parsed.steps_of`).
        """
        first: dict[str, int] = {}
        group = np.array([first.setdefault(one, len(first)) for one in self._names], np.int64)
        if len(first) == len(self):
            return
        of = np.unique(group, return_index=True)[1]
        merged = Images()
        merged._files = self._files
        merged._images.extend(self._images.taken(of).tobytes())
        merged._steps += taken(self._steps, offsets_of(self._images.column("steps")), of)
        merged._names = list(first)
        self._owners.set("image", group[self._owners.column("image")])
        self._names, self._steps, self._images = merged._names, merged._steps, merged._images

    # Confidences ----------------------------------------------------------------------------------

    def settle_confidences(self, path: Path) -> tuple[str, ...]:
        """Divide confidences that are percent by 100, and warn of those not in [0, 1]."""
        warning = settle(self._objects)
        return (f"{path}: {warning}",) if warning else ()

    # Faults ---------------------------------------------------------------------------------------

    def fault(self, k: int, faults: FaultLog, found: str, expected: str) -> None:
        """Add a fault of an image to a log."""
        line, number = (int(self._images.column(name)[k]) for name in ("line", "place"))
        file = next(islice(self._files, number, None))
        at = place_of(line, self._steps[slice(*self._order.steps[k : k + 2].tolist())])
        if isinstance(at, int):
            faults.add(file, at, found, expected)
        else:
            faults.add(file, None, found, expected, where=at)

    def bad_names(self) -> Iterator[tuple[int, str, str]]:
        """Return each image name that repeats, is empty, too long or not Unicode, or leaves the
        result folder; see `image_names.bad_names`.
        """
        return bad_names(self._names)

    def refuse_bad_names(self, faults: FaultLog) -> None:
        """Add a fault for each of the `bad_names`."""
        for k, found, expected in self.bad_names():
            self.fault(k, faults, found, expected)

    # Reading --------------------------------------------------------------------------------------

    @cached_property
    def _order(self) -> _Order:
        owners = self._owners.column("image")
        counts = np.bincount(owners, minlength=len(self))
        is_ordered = bool((owners[1:] >= owners[:-1]).all())
        rows = self._objects
        return _Order(
            narrowest(offsets_of(counts)),
            None if is_ordered else narrowest(np.argsort(owners, kind="stable")),
            narrowest(offsets_of(rows.column("coordinates") + 4 * rows.column("has_pixels"))),
            narrowest(offsets_of(rows.column("text") + rows.column("steps").astype(np.int64))),
            narrowest(offsets_of(self._images.column("steps"))),
        )

    @property
    def counts(self) -> Ints:
        """(images,) numbers of objects."""
        offsets: Ints = self._order.offsets.astype(np.int64)
        return offsets[1:] - offsets[:-1]

    def part(self, positions: Ints) -> Images:
        """See `base.Content`."""
        is_all = len(positions) == len(self) and (positions[1:] > positions[:-1]).all()
        return self if is_all else self._part(positions)

    def _part(self, positions: Ints) -> Images:
        order = self._order
        starts = order.offsets[positions].astype(np.int64)
        counts = order.offsets[positions + 1].astype(np.int64) - starts
        objects = stretches(starts, counts)
        if order.objects is not None:
            objects = order.objects[objects].astype(np.int64)
        part = Images()
        images, files = self._images.taken(positions), list(self._files)
        used = distinct(images["place"].astype(np.int64))
        images["place"] = np.searchsorted(used, images["place"])
        part._files = {files[file]: k for k, file in enumerate(used.tolist())}
        part._images.extend(images.tobytes())
        part._steps += taken(self._steps, order.steps, positions)
        numbers = self._numbers.column("number")
        for first in range(0, len(objects), _AT_ONCE):  # all at once take several times as much
            some = objects[first : first + _AT_ONCE]
            part._objects.extend(self._objects.taken(some).tobytes())
            part._numbers.extend(taken(numbers, order.numbers, some).astype(np.float64).tobytes())
            part._strings += taken(self._strings, order.strings, some)
        part._owners.extend(np.repeat(np.arange(len(positions)), counts).astype("i4").tobytes())
        return part

    def only(self, positions: Ints) -> Images:
        """Return the images at these positions, with their names."""
        chosen = self._part(positions)
        chosen._names = [self._names[k] for k in positions.tolist()]
        return chosen

    def read(self) -> ReadImages:
        """See `base.Content`."""
        if self._order.objects is not None:
            return self._part(np.arange(len(self))).read()
        column = self._objects.column
        coordinates = column("coordinates").astype(np.int64)
        numbers, pixels = self._coordinates(coordinates)
        try:
            drawn, repairs = outlines.from_numbers(numbers, coordinates, coordinates == 4)
        except VerticesError as error:
            raise InputError(f"{self._place(error.ring)}: {error}") from error
        ids = np.where(column("has_id"), column("id"), expanded(self.counts)[1] + 1)
        has_region = column("has_region")
        starts = self._order.strings[:-1].astype(np.int64)
        confidences, types = column("confidence"), column("type")
        own = Objects(
            offsets=offsets_of(self.counts),
            ids=ids,
            outlines=drawn,
            regions=np.where(has_region, column("region"), ids) if has_region.any() else ids,
            dont_care=column("dont_care").astype(np.bool_),
            texts=Texts(bytes(self._strings), starts, starts + column("text")),
            confidences=None if np.isnan(confidences).all() else confidences.astype(np.float64),
            pixels=None
            if pixels is None
            else np.where(column("has_pixels")[:, None], pixels, drawn.boxes),
            types=None if (types == ANY_TYPE).all() else types.astype(np.int64),
        )
        images = self._images.taken(slice(None))
        in_fractions = images["in_fractions"].copy()
        sizes = np.stack([images["height"], images["width"]], axis=1)
        fractions = in_fractions if in_fractions.any() else None
        return ReadImages(sizes, own, repairs, in_fractions=fractions)

    def _coordinates(self, counts: Ints) -> tuple[Floats, Floats | None]:
        """Return the coordinates of all objects, and (n, 4) pixels of those that have them; None
        if no object has. `counts` are (n,) numbers of coordinates.
        """
        numbers = self._numbers.column("number").astype(np.float64, copy=False)
        has_pixels = self._objects.column("has_pixels").astype(np.bool_)
        if not has_pixels.any():
            return numbers, None
        starts = self._order.numbers[:-1].astype(np.int64)
        pixels = np.zeros((len(counts), 4))
        pixels[has_pixels] = numbers[(starts + counts)[has_pixels, None] + np.arange(4)]
        return numbers[stretches(starts, counts)], pixels

    def places(self) -> Iterator[Place]:
        """See `base.Content`."""
        if self._order.objects is not None:
            yield from self._part(np.arange(len(self))).places()
            return
        files = list(self._files)
        offsets, steps = self._order.offsets, self._order.steps
        lines = self._images.column("line")
        of_objects = [self._objects.column(name) for name in ("line", "steps")]
        for k, file in enumerate(self._images.column("place").tolist()):
            of_image = self._steps[steps[k] : steps[k + 1]]
            rows = range(int(offsets[k]), int(offsets[k + 1]))
            objects = ObjectsAt(rows, partial(self._object_at, of_objects, of_image))
            yield Place(files[file], place_of(int(lines[k]), of_image), objects)

    def _object_at(
        self, of_objects: Sequence[NDArray[Any]], of_image: bytes | bytearray, row: int
    ) -> int | Steps:
        """Return where an object is, from all objects' places and the steps to its image."""
        line, steps = (int(values[row]) for values in of_objects)
        end = int(self._order.strings[row + 1])
        return place_of(line, self._strings[end - steps : end], of_image)

    def _place(self, row: int) -> str:
        """Return where an object is, as messages begin with it."""
        image = int(np.searchsorted(self._order.offsets, row, side="right")) - 1
        place = next(self.part(np.array([image])).places())
        at = place.objects[row - int(self._order.offsets[image])]
        return f"{place.file}:{at}" if isinstance(at, int) else place.file


def columns(images: Iterable[CollectedImage]) -> ReadImages:
    """Bring collected images into columns, in their order."""
    return Images(images).read()


def source(
    path: str, format_name: str, sha256: str, images: Images, warnings: tuple[str, ...] = ()
) -> Source:
    """Return collected images as a source; names are unique and safe (`refuse_bad_names`),
    coordinates finite.
    """
    return Source(
        path=path,
        format=format_name,
        sha256=sha256,
        names=images.names,
        weights=narrowest(BYTES_PER_OBJECT * images.counts),
        content=images,
        warnings=warnings,
        ids=images.ids,
        has_file_names=images.has_file_names,
    )
