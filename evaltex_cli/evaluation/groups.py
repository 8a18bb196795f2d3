"""Attributes of images, from a file (`--groups`); and the units that were drawn at random: images,
or documents, videos, shops, whose images are alike.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evaltex_cli.errors import ConfigError, InputError, counted, listed, nearest, quote
from evaltex_cli.formats.names import parts_of, stem, unique
from evaltex_cli.runtime.input_files import read_text

if TYPE_CHECKING:  # commands need the names alone
    from evaltex_cli.protocols.base import EvidenceRows
    from evaltex_cli.records import Ints

PAGE, CLASS, IMAGE, NONE = "page", "class", "image", "(none)"
"""Units of pages, slices by the classes of objects, the column of names, and the value of images
that the file does not name."""
_LAST_NUMBER = re.compile(r"(?:[-_. ]+(?:page|pg|p)?[-_. ]*)?\d+\Z", re.IGNORECASE)
LEAST_DOCUMENTS, LEAST_PAGES = 6, 3
"""So many documents, of so many pages in the mean, are taken for units that nobody asked for."""


class Groups(NamedTuple):
    """What a file says about images."""

    path: Path
    attributes: Mapping[str, Mapping[str, str]]
    """Column -> name of the image -> value."""

    def values(self, column: str, names: Sequence[str]) -> list[str]:
        """Return the value of each image; raises `ConfigError` for a column that is not there."""
        if column not in self.attributes:
            hint = nearest(column, list(self.attributes))
            has = ", ".join(self.attributes) or "none but image"
            raise ConfigError(f"{self.path}: no column {quote(column)}{hint}; its columns: {has}")
        known = self.attributes[column]
        spelled = unique(list(known), stem)
        return [known.get(name) or known.get(spelled.get(stem(name), ""), NONE) for name in names]

    def warnings(self, names: Sequence[str]) -> list[str]:
        """Return how many images the file does not name, and how many of its names are of none."""
        known = list(next(iter(self.attributes.values()), {}))
        spelled = {*known, *map(stem, known)}
        here = {*names, *map(stem, names)}
        without = [name for name in names if name not in spelled and stem(name) not in spelled]
        unknown = [name for name in known if name not in here and stem(name) not in here]
        images = counted(len(names), "{count} image[s]")
        notes = {
            f"{{count}} of {images} [is|are] not in it, and [has|have] the value {NONE}": without,
            "{count} of its names [is|are] not among the images": unknown,
        }
        texts = [f"{counted(len(own), note)}: {listed(own)}" for note, own in notes.items() if own]
        return [f"{self.path}: {text}" for text in texts]


def read_groups(path: Path) -> Groups:
    """Read a CSV or TSV with a header and a column ``image``; raises `InputError` for a file that
    is none, and for an image that is there twice.
    """
    text = read_text(path, "give a CSV file")
    header = text.partition("\n")[0]
    reader = csv.reader(text.splitlines(), delimiter=max(",\t;", key=header.count))
    columns = [name.strip() for name in next(reader, [])]
    if IMAGE not in columns:
        has = ", ".join(map(quote, columns)) or "nothing"
        raise InputError(f"{path}:1: no column {IMAGE!r} in the header, which has {has}")
    place, lines = columns.index(IMAGE), dict[str, int]()
    attributes: dict[str, dict[str, str]] = {name: {} for name in columns if name != IMAGE}
    for row in reader:
        cells = [cell.strip() for cell in row] + [""] * (len(columns) - len(row))
        if not any(cells):
            continue
        name, line = cells[place], f"{path}:{reader.line_num}"
        if any(cells[len(columns) :]):
            found = f"{len(row)} cells, but the header has {len(columns)}"
            raise InputError(f"{line}: {found}; put cells with a separator in quotes")
        if name in lines:
            again = f"image {quote(name)} again; it stands in line {lines[name]} too"
            raise InputError(f"{line}: {again}; give each image one line")
        lines[name] = reader.line_num
        for column, cell in zip(columns, cells, strict=False):
            if column != IMAGE:
                attributes[column][name] = cell or NONE
    return Groups(path, attributes)


def document_of(name: str) -> str:
    """Return the document of a page: a name without its last number (``doc-3``, ``doc_0003``,
    ``doc.p3`` and ``doc/3`` are of ``doc``).
    """
    *folders, last = parts_of(name)
    own = _LAST_NUMBER.sub("", re.sub(r"\.[A-Za-z]+\Z", "", last))
    return "/".join([*folders, *([own] if own else [])])


class Units:
    """What was drawn at random, and is alike inside: images, documents of pages, or images with the
    same value in a column of a file.
    """

    def __init__(self, name: str = IMAGE, groups: Groups | None = None) -> None:
        self.name, self._groups = name, groups

    def of_images(self, names: Sequence[str]) -> Sequence[str]:
        """Return the unit of each image; raises `ConfigError` for a column that is not there."""
        is_column = self._groups is not None and self.name in self._groups.attributes
        if self.name in (IMAGE, PAGE) and not is_column:
            return names if self.name == IMAGE else [document_of(name) for name in names]
        if self._groups is None:
            raise ConfigError(f"unit {self.name}: give a file with such a column by --groups")
        return self._groups.values(self.name, names)

    def rows(self, rows: EvidenceRows) -> EvidenceRows:
        """Return the evidence of units, from one row per image; raises as `of_images`."""
        return rows if self.name == IMAGE else by_unit(rows, self.of_images(rows.names))

    def counted(self, count: int) -> str:
        """Say how many units there are."""
        nouns = {IMAGE: "{count} image[s]", PAGE: "{count} document[s]"}
        return counted(count, nouns.get(self.name, f"{{count}} unit[s] ({self.name})"))

    @property
    def plural(self) -> str:
        """What many of them are called."""
        return self.counted(2).removeprefix("2 ")

    @property
    def test(self) -> str:
        """How intervals and p-values are made."""
        return f"paired permutation test over {self.plural}"

    def to_dict(self) -> str:
        """Return the name, which results have."""
        return self.name


class Grouping(NamedTuple):
    """The units of statistics, by which attributes scores are shown, and the file of both."""

    units: Units
    by: Sequence[str] = ()
    groups: Groups | None = None

    def warnings(self, names: Sequence[str], is_tested: bool = True) -> list[str]:
        """Return what the file does not say of these images; and, if there are statistics of
        images, whether these look like pages.
        """
        pages = looks_like_pages(names) if is_tested and self.units.name == IMAGE else ""
        return [*filter(None, [pages]), *(self.groups.warnings(names) if self.groups else ())]

    @property
    def has_class(self) -> bool:
        """Whether scores are shown by the classes of objects."""
        return CLASS in self.by and not (self.groups and CLASS in self.groups.attributes)

    def images(self, names: Sequence[str]) -> Iterator[tuple[str, str, Ints]]:
        """Yield each attribute of images, each of its values, and the images with it; raises
        `ConfigError` for an attribute that is not there.
        """
        import numpy as np

        for column in self.by:
            if column == CLASS and self.has_class:
                continue
            if self.groups is None:
                raise ConfigError(f"--by {column}: give a file with such a column by --groups")
            values = np.array(self.groups.values(column, names))
            for value in sorted(set(values.tolist()), key=lambda text: (text == NONE, text)):
                yield column, value, np.flatnonzero(values == value)


def grouping_of(unit: str, path: str | PathLike[str] | None, by: Sequence[str] = ()) -> Grouping:
    """Return units by their name, and attributes, with the file of both, if there is one."""
    groups = None if path is None else read_groups(Path(path))
    return Grouping(Units(unit, groups), by, groups)


def looks_like_pages(names: Sequence[str]) -> str:
    """Return a note if images seem to be pages of documents; else nothing."""
    pages = Counter(map(document_of, names))
    if len(pages) < LEAST_DOCUMENTS or len(names) < LEAST_PAGES * len(pages):
        return ""
    return (
        f"the {len(names)} images look like pages of {len(pages)} documents, such as"
        f" {quote(next(iter(pages)))}; if pages of a document are alike, --unit page gives right"
        " intervals and p-values"
    )


def by_unit(rows: EvidenceRows, units: Sequence[str]) -> EvidenceRows:
    """Return the evidence of whole units, each named after the first of its images, by name: units
    of one image are what images were.
    """
    first: dict[str, str] = {}
    for name, unit in sorted(zip(rows.names, units, strict=True)):
        first.setdefault(unit, name)
    import numpy as np

    from evaltex_cli.protocols.base import EvidenceRows

    place = {unit: k for k, unit in enumerate(first)}
    rank: Ints = np.array([place[unit] for unit in units], np.int64)
    order = np.argsort(rank, kind="stable")
    starts = np.flatnonzero(np.diff(rank[order], prepend=-1))
    tally = rows.tally.each(
        lambda column: np.add.reduceat(column[order], starts, axis=0) if len(order) else column
    )
    return EvidenceRows(list(first.values()), tally)
