"""Toy detections made from any ground truth, by the recipes of the CLEval paper (Baek et al.,
arXiv:2006.06244); docs/toys.md describes them.

A recipe changes every word in the same way, so that what a protocol says of a set says something of
the protocol. Don't-care objects are not copied. "Crop 80%" of the paper is ``crop81``.
"""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evaltex_cli.conversion.convert import in_pixels, read_source
from evaltex_cli.conversion.writer import Job, is_own, write
from evaltex_cli.errors import InputError, counted, quote
from evaltex_cli.errors.suggestions import nearest, unknown
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.geometry import outlines, rings
from evaltex_cli.records import Floats, Outlines, concatenate_texts, expanded, offsets_of
from evaltex_cli.records.rows import take
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
"""Of each set with random letters, each with a new `random.Random`."""
ALIEN = "¤"
LAYOUTS = ("zip", "txt")
_CUT = re.compile(r"(crop|split|overlap)([1-9][0-9]{0,3})")
_EDIT = re.compile(r"e2e_(insert|delete|replace)([1-9][0-9]{0,3})(_rand)?")


@dataclass(frozen=True, slots=True)
class Toys:
    """What was written, of how many images and words, and what the user should know."""

    files: tuple[str, ...]
    images: int
    words: int
    notes: tuple[str, ...]


class _Recipe(NamedTuple):
    """Shares of a word, along its text, that become detections; None copies it. `edit` makes
    transcriptions.
    """

    portions: Sequence[tuple[float, float]] | None = None
    edit: Callable[[str], str] | None = None


def write_toys(
    gt: Path,
    out_dir: Path,
    sets: Sequence[str] = (),
    layout: str | None = None,
    options: InputOptions | None = None,
) -> Toys:
    """Write toy detections of a ground truth to a folder, as ``<set>.zip`` or ``<set>.txt``.

    Parameters
    ----------
    sets : sequence of str
        Names of sets; all of `SETS` if empty, without those that need transcriptions where the
        ground truth has none.
    layout : {"zip", "txt"}, optional
        A .zip archive of ICDAR-style .txt files, or an EvaLTex .txt file; by default what the
        ground truth is.

    Raises
    ------
    InputError
        For an unknown set, a faulty ground truth, one without objects that count, or a folder that
        cannot be written.
    """
    for name in sets:
        _recipe(name, ALIEN)
    words = _words(gt, options or InputOptions())
    layout = layout or ("txt" if words.format in ("evaltex", "icdar-xml") else "zip")
    if layout not in LAYOUTS:
        raise InputError(unknown("layout", layout, LAYOUTS))
    notes = list(words.warnings)
    wanted = list(dict.fromkeys(sets or SETS))
    if not any(words.objects.texts):
        textual = [name for name in wanted if name.startswith("e2e_")]
        if textual and sets:
            raise InputError(
                f"{gt}: no transcriptions, which {textual[0]} needs; leave out the sets that begin"
                " with e2e_"
            )
        left_out = counted(len(textual), "{count} set[s] that need[s|] transcriptions left out")
        notes.append(f"{left_out}: {gt.name} has none")
        wanted = [name for name in wanted if name not in textual]
    alien, only_boxes = alien_character(words.objects.texts), words.objects.outlines.all_boxes
    to = "evaltex" if layout == "txt" else "icdar2013" if only_boxes else "icdar2015"
    files, lost = [f"{name}.{layout}" for name in wanted], Counter[str]()
    with output_folder(out_dir, is_own) as folder:
        for name, file in zip(wanted, files, strict=True):
            job = Job(folder / file, "det", _detections(words, _recipe(name, alien)), lost=lost)
            try:
                write(job, to)
            except InputError as error:
                if layout == "txt" or not job.faults.count:
                    raise
                raise InputError(
                    f"{error}\n{gt}: EvaLTex .txt files can hold such names (layout txt)"
                ) from error
    notes += [counted(number, sentence) for sentence, number in lost.items() if number]
    return Toys(tuple(files), len(words.names), words.objects.count, tuple(notes))


def _words(gt: Path, options: InputOptions) -> Source:
    """Read the objects of a ground truth that count, without what detections do not have."""
    source = in_pixels(read_source(gt, "gt", options), options)
    objects = take(source.objects, ~source.objects.dont_care)
    if not objects.count:
        raise InputError(
            f"{gt}: no object that counts; toy detections need ground truth with objects"
        )
    objects = replace(objects, confidences=None, pixels=None, types=None, labels=None)
    return replace(source, objects=objects, sizes=np.zeros_like(source.sizes))


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
    if form := _CUT.fullmatch(name):
        kind, number = form[1], int(form[2])
        share = number / 100
        if kind == "split" and number > 1:
            return _Recipe([(i / number, (i + 1) / number) for i in range(number)])
        if kind == "crop" and number < 100:
            return _Recipe([((1 - share) / 2, (1 + share) / 2)])
        if kind == "overlap" and number < 100:
            return _Recipe([(0.0, 0.5 + share / 2), (0.5 - share / 2, 1.0)])
    if (form := _EDIT.fullmatch(name)) and (not form[3] or form[1] == "replace"):
        return _Recipe(edit=_edit(form[1], int(form[2]), alien, bool(form[3])))
    known = f"{', '.join(SETS[:3])}, ..., {SETS[-1]}; other numbers are possible"
    raise InputError(f"unknown toy set {quote(name)}{nearest(name, SETS)}; known: {known}")


def _edit(kind: str, characters: int, alien: str, at_random: bool) -> Callable[[str], str]:
    if at_random:
        return partial(_with_random_letters, random.Random(SEED), characters)
    if kind == "delete":
        return lambda text: text[characters:]
    if kind == "insert":
        return lambda text: text + alien * min(characters, len(text))
    return lambda text: alien * min(characters, len(text)) + text[characters:]


def _with_random_letters(generator: random.Random, characters: int, text: str) -> str:
    """Put another ASCII letter for each of some characters, from left to right."""
    changed = list(text)
    for place in sorted(generator.sample(range(len(text)), min(characters, len(text)))):
        changed[place] = generator.choice(string.ascii_letters.replace(text[place], ""))
    return "".join(changed)


def alien_character(texts: Iterable[str]) -> str:
    """Return a character that no text has: ¤, or the first printable one from there on."""
    used = set(chain.from_iterable(texts))
    return next(c for c in map(chr, count(ord(ALIEN))) if c not in used and c.isprintable())


def _detections(source: Source, recipe: _Recipe) -> Source:
    """Return the detections of words, as many of each, one after the other."""
    words = source.objects
    drawn, of_each, texts = words.outlines, 1, [""] * words.count
    if recipe.portions is not None:
        drawn, of_each = cut(drawn, recipe.portions), len(recipe.portions)
        texts *= of_each
    if recipe.edit:
        texts = list(map(recipe.edit, words.texts))
    counts = np.diff(words.offsets) * of_each
    ids = expanded(counts)[1] + 1
    detections = replace(
        words,
        offsets=offsets_of(counts),
        ids=ids,
        regions=ids,
        outlines=drawn,
        dont_care=np.zeros(len(ids), bool),
        texts=concatenate_texts(texts),
        places=None,
    )
    return replace(source, objects=detections)


# Parts of words -----------------------------------------------------------------------------------


def cut(words: Outlines, portions: Sequence[tuple[float, float]]) -> Outlines:
    """Return parts of words, those of each one after the other, cut points truncated.

    A box is cut along x. Of other words the upper and the lower chain of vertices are cut, each at
    these shares of its own length. Vertices in between stay as they are.
    """
    parts: list[list[float]] = []
    for i, (x0, y0, x1, y1) in enumerate(words.boxes.tolist()):
        ring = words.ring(i)
        for start, stop in portions:
            if len(ring):
                parts.append(portion(ring, start, stop).ravel().tolist())
            else:
                left, right = (float(int(x0 + share * (x1 - x0))) for share in (start, stop))
                parts.append([left, y0, right, y1])
    counts = np.array([len(part) for part in parts])
    return outlines.drawn(np.array([*chain.from_iterable(parts)]), counts, counts == 4)


def portion(ring: Floats, start: float, stop: float) -> Floats:
    """Return a part of a polygon as (k, 2) vertices."""
    pieces = []
    for side in rings.chains(ring):
        piece = rings.between(side, start, stop)
        piece[[0, -1]] = np.trunc(piece[[0, -1]])
        pieces.append(piece)
    return np.concatenate([pieces[0], pieces[1][::-1]])
