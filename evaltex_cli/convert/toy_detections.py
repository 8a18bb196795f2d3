"""Toy detections made from any ground truth, by the recipes of the CLEval paper (Baek et al., arXiv:2006.06244).

A recipe changes every word in the same way, so that what a protocol says of a set says something of the protocol.
Don't-care objects are not copied. Each set is a file that evaltex reads as detections.

============================ ==========================================================================================
set                          detections of a word
============================ ==========================================================================================
``orig``                     the word itself
``crop81``, any 1 to 99      the middle 81 % of the word, along the text
``split3``, any from 2       three equal parts, along the text
``overlap20``, any 1 to 99   two halves that overlap by 20 % of the word
``e2e_orig``                 the word itself, with its transcription
``e2e_insert2``, any from 1  the same, with as many alien characters appended, though not more than the word has
``e2e_delete2``              the same, without its first two characters
``e2e_replace2``             the same, with an alien character for each of its first two
``e2e_replace2_rand``        the same, with ASCII letters for two of its characters: seeded, the same every time
============================ ==========================================================================================

"Crop 80%" of the paper is ``crop81``. An alien character is one that occurs nowhere in the ground truth: ¤ if possible.
"""

from __future__ import annotations

import random
import re
import string
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, pairwise
from pathlib import Path

import numpy as np

from evaltex_cli import formats
from evaltex_cli.convert.base import number, one_line, quoted
from evaltex_cli.errors import FaultLog, InputError, counted, nearest, quote, unknown
from evaltex_cli.formats.files.image_names import MOST_BYTES, bytes_of
from evaltex_cli.geometry import rings
from evaltex_cli.records import Floats, Objects
from evaltex_cli.runtime import signals
from evaltex_cli.runtime.atomic_output import staged

CROPS, SPLITS, OVERLAPS, EDITS = (81, 80, 60, 40), (2, 3, 4), (10, 20, 30), (1, 2, 3)
SETS = (
    "orig",
    *(f"crop{r}" for r in CROPS),
    *(f"split{n}" for n in SPLITS),
    *(f"overlap{p}" for p in OVERLAPS),
    "e2e_orig",
    *(f"e2e_{edit}{k}" for edit in ("insert", "delete", "replace") for k in EDITS),
    *(f"e2e_replace{k}_rand" for k in EDITS),
)
"""The sets of the paper, and ``crop80``, which is what its "Crop 80%" was meant to be."""

SEED = 20200611
"""Of each set with random letters; the generator is Python's `random.Random`, a new one for every set."""
ALIEN = "¤"
TIMESTAMP = (1980, 1, 1, 0, 0, 0)
LAYOUTS = ("zip", "txt")

_CROP, _SPLIT, _OVERLAP = (re.compile(rf"{name}([1-9][0-9]{{0,3}})") for name in ("crop", "split", "overlap"))
_EDIT = re.compile(r"e2e_(insert|delete|replace)([1-9][0-9]{0,3})(_rand)?")


@dataclass(frozen=True, slots=True)
class Toys:
    """What was written: files by name, images and words of the ground truth, and what the user should know."""

    files: tuple[str, ...]
    images: int
    words: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Word:
    """An object that counts: a box x0, y0, x1, y1 as two corners, else vertices; and its transcription."""

    is_box: bool
    points: Floats
    text: str


class Images:
    """The words of every image that count, made of columns each time that they are asked for."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._points, self._offsets = rings.of(objects.outlines)
        self._is_box = objects.outlines.counts == 0

    def __iter__(self) -> Iterator[list[Word]]:
        for start, stop in pairwise(self._objects.offsets.tolist()):
            yield [self._word(i) for i in range(start, stop) if not self._objects.dont_care[i]]

    def _word(self, i: int) -> Word:
        if self._is_box[i]:
            return Word(True, self._objects.boxes[i].reshape(2, 2), self._objects.texts[i])
        return Word(False, self._points[self._offsets[i] : self._offsets[i + 1]], self._objects.texts[i])


@dataclass(frozen=True, slots=True)
class _Recipe:
    """Shares of a word, along its text, that become detections; None copies it. `edit` makes transcriptions."""

    portions: tuple[tuple[float, float], ...] | None = None
    edit: Callable[[str], str] | None = None


def write_toys(
    gt: Path,
    out_dir: Path,
    sets: Sequence[str] = (),
    layout: str | None = None,
    format_name: str | None = None,
) -> Toys:
    """Write toy detections of a ground truth.

    Parameters
    ----------
    gt : Path
        Any input of a known format.
    out_dir : Path
        Folder for the files, ``<set>.zip`` or ``<set>.txt``; made if missing. Other files in it stay as they are.
    sets : sequence of str
        Names of sets; all of `SETS` if empty, without those that need transcriptions where the ground truth has none.
    layout : {"zip", "txt"}, optional
        A .zip archive of ICDAR-style .txt files, or an EvaLTex .txt file; by default what the ground truth is.
    format_name : str, optional
        The ground truth's format, where content should not decide.

    Raises
    ------
    InputError
        For an unknown set, a faulty ground truth, one without objects that count, or a folder that cannot be written.
    """
    for name in sets:
        _recipe(name, ALIEN)
    faults = FaultLog()
    source = formats.open_source(gt, "gt", faults, format_name)
    read = source.read(np.arange(len(source.names)), faults)
    faults.raise_if_any()
    layout = layout or ("txt" if source.format in ("evaltex", "icdar-xml") else "zip")
    if layout not in LAYOUTS:
        raise InputError(unknown("layout", layout, LAYOUTS))
    images = Images(read.objects)
    words = int((~read.objects.dont_care).sum())
    if not words:
        raise InputError(f"{gt}: no object that counts; toy detections need ground truth with objects")
    notes = list(source.warnings)
    wanted = list(dict.fromkeys(sets or SETS))
    if not any(word.text for word in chain.from_iterable(images)):
        textual = [name for name in wanted if name.startswith("e2e_")]
        if textual and sets:
            raise InputError(
                f"{gt}: no transcriptions, which {textual[0]} needs; leave out the sets that begin with e2e_"
            )
        left_out = counted(len(textual), "{count} set[s] that need[s|] transcriptions left out")
        notes.append(f"{left_out}: {gt.name} has none")
        wanted = [name for name in wanted if name not in textual]
    alien = alien_character(word.text for word in chain.from_iterable(images))
    files = [f"{name}.{layout}" for name in wanted]
    without_area = 0
    with staged(out_dir, files) as folder:
        for name, file in zip(wanted, files, strict=True):
            recipe = _recipe(name, alien)
            if layout == "zip":
                _write_zip(folder / file, _entry_names(gt, source.names), images, recipe)
            else:
                without_area += _write_evaltex(folder / file, source.names, images, recipe)
    if without_area:
        left_out = "{count} detection[s] without area left out: an EvaLTex file cannot hold [it|them]"
        notes.append(counted(without_area, left_out))
    return Toys(tuple(files), len(source.names), words, tuple(notes))


# Recipes -------------------------------------------------------------------------------------------------------------


def _recipe(name: str, alien: str) -> _Recipe:
    """Return the recipe of a set's name.

    Raises
    ------
    InputError
        When no set is of that name.
    """
    if name in ("orig", "e2e_orig"):
        return _Recipe(edit=str if name == "e2e_orig" else None)
    if (found := _CROP.fullmatch(name)) and int(found[1]) < 100:
        share = int(found[1]) / 100
        return _Recipe((((1 - share) / 2, (1 + share) / 2),))
    if (found := _SPLIT.fullmatch(name)) and int(found[1]) > 1:
        parts = int(found[1])
        return _Recipe(tuple((i / parts, (i + 1) / parts) for i in range(parts)))
    if (found := _OVERLAP.fullmatch(name)) and int(found[1]) < 100:
        half = int(found[1]) / 100 / 2
        return _Recipe(((0.0, 0.5 + half), (0.5 - half, 1.0)))
    if (found := _EDIT.fullmatch(name)) and (not found[3] or found[1] == "replace"):
        return _Recipe(edit=_edit(found[1], int(found[2]), alien, bool(found[3])))
    known = f"{', '.join(SETS[:3])}, ..., {SETS[-1]}; other numbers are possible"
    raise InputError(f"unknown toy set {quote(name)}{nearest(name, list(SETS))}; known: {known}")


def _edit(kind: str, characters: int, alien: str, at_random: bool) -> Callable[[str], str]:
    if at_random:
        return partial(_with_random_letters, random.Random(SEED), characters)
    edits: dict[str, Callable[[str], str]] = {
        "insert": lambda text: text + alien * min(characters, len(text)),
        "delete": lambda text: text[characters:],
        "replace": lambda text: alien * min(characters, len(text)) + text[characters:],
    }
    return edits[kind]


def _with_random_letters(generator: random.Random, characters: int, text: str) -> str:
    """Put another ASCII letter for each of some characters, drawn without repetition and changed from left to right."""
    changed = list(text)
    for place in sorted(generator.sample(range(len(text)), min(characters, len(text)))):
        changed[place] = generator.choice([letter for letter in string.ascii_letters if letter != text[place]])
    return "".join(changed)


def alien_character(texts: Iterator[str]) -> str:
    """Return a character that none of the texts has: ¤, or the first printable one from there on."""
    used = set(chain.from_iterable(texts))
    return next(c for c in map(chr, count(ord(ALIEN))) if c not in used and c.isprintable() and not c.isspace())


def portion(word: Word, start: float, stop: float) -> Floats:
    """Return a part of a word along its text, from one share of its length to another, cut points truncated.

    A box is cut along x. Of other words the upper and the lower chain of vertices are cut, each at these shares of its
    own length; of a quadrilateral these are its first side, from the first vertex to the second, and the opposite one.
    Vertices in between stay as they are.
    """
    if word.is_box:
        (x0, y0), (x1, y1) = word.points.tolist()
        return np.array([[int(x0 + start * (x1 - x0)), y0], [int(x0 + stop * (x1 - x0)), y1]])
    pieces = []
    for side in rings.chains(word.points):
        piece = rings.between(side, start, stop)
        piece[[0, -1]] = np.trunc(piece[[0, -1]])
        pieces.append(piece)
    return np.concatenate([pieces[0], pieces[1][::-1]])


def _detections(words: Sequence[Word], recipe: _Recipe) -> Iterator[Word]:
    for word in words:
        text = recipe.edit(word.text) if recipe.edit else ""
        if recipe.portions is None:
            yield Word(word.is_box, word.points, text)
        else:
            yield from (Word(word.is_box, portion(word, *shares), text) for shares in recipe.portions)


# Files ---------------------------------------------------------------------------------------------------------------


def _entry_names(gt: Path, names: Sequence[str]) -> list[str]:
    """Names of an archive's entries from which a reader gets these image names.

    Raises
    ------
    InputError
        For image names with folders, where a reader would not keep the folders, and for names that are too long.
    """
    paths = [name.rpartition("/") for name in names]
    stems = {stem for _, _, stem in paths}
    if len(stems) == len(names) and any(folder for folder, _, _ in paths):
        raise InputError(
            f"{gt}: image names with folders do not fit a .zip archive; write EvaLTex .txt files (layout txt)"
        )
    entries = [f"{folder}{slash}res_{stem}.txt" for folder, slash, stem in paths]
    for name, entry in zip(names, entries, strict=True):
        if max(map(bytes_of, entry.split("/"))) > MOST_BYTES:
            found = f"image name {quote(name)} makes a file name of more than {MOST_BYTES} bytes"
            raise InputError(f"{gt}: {found}; shorten it, or write EvaLTex .txt files (layout txt)")
    return entries


def _write_zip(path: Path, entries: Sequence[str], images: Images, recipe: _Recipe) -> None:
    only_boxes = all(word.is_box for word in chain.from_iterable(images))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for entry, words in zip(entries, images, strict=True):
            lines = [_icdar_line(found, only_boxes, recipe) for found in _detections(words, recipe)]
            information = zipfile.ZipInfo(entry, TIMESTAMP)
            information.create_system = 3
            information.external_attr = 0o644 << 16
            with signals.waiting():  # an archive cannot be closed within an entry
                archive.writestr(information, "\n".join(lines).encode())


def _icdar_line(found: Word, only_boxes: bool, recipe: _Recipe) -> str:
    points = _corners(found.points) if found.is_box and not only_boxes else found.points
    line = ",".join(map(number, points.ravel().tolist()))
    return line if recipe.edit is None else f"{line},{quoted(found.text)}"


def _corners(box: Floats) -> Floats:
    (x0, y0), (x1, y1) = box.tolist()
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])


def _write_evaltex(path: Path, names: Sequence[str], images: Images, recipe: _Recipe) -> int:
    """Write an EvaLTex file of detections; return how many have no area and are left out."""
    without_area = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for name, words in zip(names, images, strict=True):
            file.write(f"{name}\n")
            written = 0
            for found in _detections(words, recipe):
                coordinates = found.points.ravel().tolist()
                if found.is_box:
                    x0, y0, x1, y1 = coordinates
                    coordinates = [x0, y0, x1 - x0, y1 - y0]
                    if x1 <= x0 or y1 <= y0:
                        without_area += 1
                        continue
                written += 1
                file.write(f'{written},"{one_line(found.text)}",{",".join(map(number, coordinates))}\n')
            file.write("\n")
    return without_area
