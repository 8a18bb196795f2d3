"""Toy detections made from any ground truth, by the recipes of the CLEval paper (Baek et al.,
arXiv:2006.06244).

A recipe changes every word in the same way, so that what a protocol says of a set says something of
the protocol. Don't-care objects are not copied. Each set is a file that evaltex reads as
detections.

- ``orig``: the word itself
- ``crop81``, any 1 to 99: the middle 81 % of the word, along the text
- ``split3``, any from 2: three equal parts, along the text
- ``overlap20``, any 1 to 99: two halves that overlap by 20 % of the word
- ``e2e_orig``: the word itself, with its transcription
- ``e2e_insert2``, any from 1: the same, with as many alien characters appended, though not more
  than the word has
- ``e2e_delete2``: the same, without its first two characters
- ``e2e_replace2``: the same, with an alien character for each of its first two
- ``e2e_replace2_rand``: the same, with ASCII letters for two of its characters: seeded, the same
  every time

"Crop 80%" of the paper is ``crop81``. An alien character is one that occurs nowhere in the ground
truth: ¤ if possible.
"""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path

import numpy as np

from evaltex_cli import old_formats as formats
from evaltex_cli.conversion.base import Block, Job, Writer, is_own, load
from evaltex_cli.conversion.toy_outlines import cut
from evaltex_cli.errors import FaultLog, InputError, counted, quote
from evaltex_cli.errors.suggestions import nearest, unknown
from evaltex_cli.old_formats.base import ReadImages, Source
from evaltex_cli.old_formats.image_sizes import with_sizes
from evaltex_cli.old_formats.options import InputOptions
from evaltex_cli.progress import phase
from evaltex_cli.records import Objects, Texts, concatenate_texts, expanded, offsets_of
from evaltex_cli.records.rows import take, take_images
from evaltex_cli.runtime.outputs import output_folder

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
"""Of each set with random letters; the generator is Python's `random.Random`,
a new one for every set.
"""
ALIEN = "¤"
BLOCK_IMAGES = 1024
LAYOUTS = ("zip", "txt")

_CROP, _SPLIT, _OVERLAP = (
    re.compile(rf"{name}([1-9][0-9]{{0,3}})") for name in ("crop", "split", "overlap")
)
_EDIT = re.compile(r"e2e_(insert|delete|replace)([1-9][0-9]{0,3})(_rand)?")


@dataclass(frozen=True, slots=True)
class Toys:
    """What was written: files by name, images and words of the ground truth, and what the user
    should know.
    """

    files: tuple[str, ...]
    images: int
    words: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Recipe:
    """Shares of a word, along its text, that become detections; None copies
    it. `edit` makes transcriptions.
    """

    portions: tuple[tuple[float, float], ...] | None = None
    edit: Callable[[str], str] | None = None


def write_toys(
    gt: Path,
    out_dir: Path,
    sets: Sequence[str] = (),
    layout: str | None = None,
    options: InputOptions | None = None,
) -> Toys:
    """Write toy detections of a ground truth.

    Parameters
    ----------
    gt : Path
        Any input of a known format.
    out_dir : Path
        Folder for the files, ``<set>.zip`` or ``<set>.txt``; made if missing. Other files in it
        stay as they are.
    sets : sequence of str
        Names of sets; all of `SETS` if empty, without those that need transcriptions where the
        ground truth has none.
    layout : {"zip", "txt"}, optional
        A .zip archive of ICDAR-style .txt files, or an EvaLTex .txt file; by default what the
        ground truth is.
    options : InputOptions, optional
        The ground truth's format, where content should not decide, and the folder of pictures for
        sizes.

    Raises
    ------
    InputError
        For an unknown set, a faulty ground truth, one without objects that count, or a folder that
        cannot be written.
    """
    for name in sets:
        _recipe(name, ALIEN)
    faults = FaultLog()
    options = options or InputOptions()
    source = formats.open_source(gt, "gt", faults, options.gt_format, options)
    formats.refuse_unused(options, [source])
    if options.images is not None:
        source = with_sizes(source, options.images)
    words = _words(source, faults)
    layout = layout or ("txt" if source.format in ("evaltex", "icdar-xml") else "zip")
    if layout not in LAYOUTS:
        raise InputError(unknown("layout", layout, LAYOUTS))
    if not words.count:
        raise InputError(
            f"{gt}: no object that counts; toy detections need ground truth with objects"
        )
    notes = list(source.warnings)
    wanted = list(dict.fromkeys(sets or SETS))
    if not any(words.texts):
        textual = [name for name in wanted if name.startswith("e2e_")]
        if textual and sets:
            raise InputError(
                f"{gt}: no transcriptions, which {textual[0]} needs; leave out the sets that begin"
                " with e2e_"
            )
        left_out = counted(len(textual), "{count} set[s] that need[s|] transcriptions left out")
        notes.append(f"{left_out}: {gt.name} has none")
        wanted = [name for name in wanted if name not in textual]
    alien, count_of_words = alien_character(words.texts), words.count
    files = [f"{name}.{layout}" for name in wanted]
    lost: Counter[str] = Counter()
    only_boxes = words.outlines.all_boxes
    writer = load("evaltex" if layout == "txt" else "icdar2013" if only_boxes else "icdar2015")
    with output_folder(out_dir, is_own) as folder:
        for name, file in zip(wanted, files, strict=True):
            job = Job(folder / file, "det", list(source.names), str(gt), faults, lost=lost)
            _write(job, writer, words, _recipe(name, alien))
    notes += [counted(number, sentence) for sentence, number in lost.items() if number]
    return Toys(tuple(files), len(source.names), count_of_words, tuple(notes))


def _words(source: Source, faults: FaultLog) -> Objects:
    """Return the objects that count."""
    read = source.read(np.arange(len(source.names)))
    faults.extend(read.faults)
    faults.raise_if_any()
    objects = read.objects
    return take(objects, ~objects.dont_care) if objects.dont_care.any() else objects


# Recipes ------------------------------------------------------------------------------------------


def _recipe(name: str, alien: str) -> _Recipe:
    """Return the recipe of a set's name.

    Raises
    ------
    InputError
        When no set is of that name.
    """
    if name in ("orig", "e2e_orig"):
        return _Recipe(edit=str if name == "e2e_orig" else None)
    if (form := _CROP.fullmatch(name)) and int(form[1]) < 100:
        share = int(form[1]) / 100
        return _Recipe((((1 - share) / 2, (1 + share) / 2),))
    if (form := _SPLIT.fullmatch(name)) and int(form[1]) > 1:
        parts = int(form[1])
        return _Recipe(tuple((i / parts, (i + 1) / parts) for i in range(parts)))
    if (form := _OVERLAP.fullmatch(name)) and int(form[1]) < 100:
        half = int(form[1]) / 100 / 2
        return _Recipe(((0.0, 0.5 + half), (0.5 - half, 1.0)))
    if (form := _EDIT.fullmatch(name)) and (not form[3] or form[1] == "replace"):
        return _Recipe(edit=_edit(form[1], int(form[2]), alien, bool(form[3])))
    known = f"{', '.join(SETS[:3])}, ..., {SETS[-1]}; other numbers are possible"
    guess = nearest(name, SETS)
    raise InputError(f"unknown toy set {quote(name)}{guess}; known: {known}")


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
    """Put another ASCII letter for each of some characters, drawn without
    repetition and changed from left to right.
    """
    changed = list(text)
    for place in sorted(generator.sample(range(len(text)), min(characters, len(text)))):
        changed[place] = generator.choice(
            [letter for letter in string.ascii_letters if letter != text[place]]
        )
    return "".join(changed)


def alien_character(texts: Iterable[str]) -> str:
    """Return a character that none of the texts has: ¤, or the first
    printable one from there on.
    """
    used = set(chain.from_iterable(texts))
    return next(
        c
        for c in map(chr, count(ord(ALIEN)))
        if c not in used and c.isprintable() and not c.isspace()
    )


def _detections(words: Objects, recipe: _Recipe) -> Objects:
    """Return the detections of words, as many of each, one after the other."""
    drawn, texts, of_each = words.outlines, words.texts, 1
    if recipe.portions is not None:
        drawn, of_each = cut(drawn, recipe.portions), len(recipe.portions)
    counts = np.diff(words.offsets) * of_each
    ids = expanded(counts)[1] + 1
    if recipe.edit:
        texts = concatenate_texts([*map(recipe.edit, texts)])
    else:
        texts = Texts(b"", np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64))
    return Objects(offsets_of(counts), ids, drawn, ids, np.zeros(len(ids), bool), texts)


# Files --------------------------------------------------------------------------------------------


def _write(job: Job, writer: Writer, words: Objects, recipe: _Recipe) -> None:
    """Write a set.

    Raises
    ------
    InputError
        For image names that the file cannot contain.
    """
    try:
        writer.write(job, _blocks(job, words, recipe))
    except InputError as error:
        if job.target.suffix == ".txt" or not job.faults.count:
            raise
        raise InputError(
            f"{error}\n{job.place}: EvaLTex .txt files can hold such names (layout txt)"
        ) from error


def _blocks(job: Job, words: Objects, recipe: _Recipe) -> Iterator[Block]:
    """Yield the detections of some images at a time; at the end, raise what
    is wrong with any name.
    """
    with phase(f"writing {job.target.name}", "images", len(job.names)) as advance:
        for start in range(0, len(job.names), BLOCK_IMAGES):
            names = job.names[start : start + BLOCK_IMAGES]
            some = words
            if len(names) < len(job.names):
                some = take_images(words, np.arange(start, start + len(names)))
            detections = _detections(some, recipe)
            yield Block(names, ReadImages(np.zeros((len(names), 2)), detections))
            advance(len(names))
    job.faults.raise_if_any()
