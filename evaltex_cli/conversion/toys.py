"""Toy detections made from any ground truth, by the recipes of the CLEval paper (Baek et al.,
arXiv:2006.06244); docs/toys.md describes them.

A recipe changes every word in the same way, so that what a protocol says of a set says something of
the protocol. Don't-care objects are not copied.
"""

from __future__ import annotations

import random
import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import TypeAlias

import numpy as np

from evaltex_cli.conversion.convert import in_pixels, read_source
from evaltex_cli.conversion.writer import Job, is_own, write
from evaltex_cli.errors import InputError, counted, nearest, quote
from evaltex_cli.formats.base import Source
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.geometry import outlines, rings
from evaltex_cli.records import Outlines, Texts, offsets_of, ranges, take
from evaltex_cli.runtime.outputs import output_folder

Portions: TypeAlias = Sequence[tuple[float, float]]
Edit: TypeAlias = Callable[[str], str]
SETS = (
    *("orig", "crop81", "crop80", "crop60", "crop40", "split2", "split3", "split4"),
    *("overlap10", "overlap20", "overlap30", "e2e_orig"),
    *(f"e2e_{edit}{k}" for edit in ("insert", "delete", "replace") for k in (1, 2, 3)),
    *(f"e2e_replace{k}_rand" for k in (1, 2, 3)),
)
"""The sets of the paper, whose "Crop 80%" is ``crop81``, and ``crop80``."""
SEED = 20200611
"""Of each set with random letters, each with a new `random.Random`."""
_NAME = re.compile(
    r"orig|crop([1-9]\d?)|split([2-9]|[1-9]\d{1,3})|overlap([1-9]\d?)"
    r"|e2e_(?:orig|(insert|delete|replace)([1-9]\d{0,3})|replace([1-9]\d{0,3})_rand)"
)


@dataclass(frozen=True, slots=True)
class Toys:
    """What was written, of how many images and words, and what the user should know."""

    files: tuple[str, ...]
    images: int
    words: int
    notes: tuple[str, ...]


def write_toys(
    gt: Path,
    out_dir: Path,
    sets: Sequence[str] = (),
    layout: str | None = None,
    options: InputOptions | None = None,
) -> Toys:
    """Write toy detections of a ground truth to a folder, as ``<set>.zip`` or ``<set>.txt``.

    `sets` are all of `SETS` if empty, without those that need transcriptions where the ground truth
    has none. `layout` is a .zip archive of ICDAR-style .txt files, or an EvaLTex .txt file; by
    default what the ground truth is. Raises `InputError` for an unknown set, a faulty ground truth,
    one without objects that count, or a folder that cannot be written.
    """
    for name in sets:
        if not _NAME.fullmatch(name):
            known = f"{', '.join(SETS[:3])}, ..., {SETS[-1]}; other numbers are possible"
            raise InputError(f"unknown toy set {quote(name)}{nearest(name, SETS)}; known: {known}")
    words = _words(gt, options or InputOptions())
    layout = layout or ("txt" if words.format in ("evaltex", "icdar-xml") else "zip")
    notes = list(words.warnings)
    wanted = list(dict.fromkeys(sets or SETS))
    textual = [name for name in wanted if name.startswith("e2e_")]
    if textual and not any(words.objects.texts):
        if sets:
            raise InputError(f"{gt}: no transcriptions; leave out sets that need them (e2e_...)")
        left_out = counted(len(textual), "{count} set[s] that need[s|] transcriptions left out")
        notes.append(f"{left_out}: {gt.name} has none")
        wanted = [name for name in wanted if name not in textual]
    used = set(chain.from_iterable(words.objects.texts))
    # ¤, or the first printable character from there on that no text has.
    alien = next(c for c in map(chr, count(ord("¤"))) if c not in used and c.isprintable())
    to = "icdar2013" if words.objects.outlines.all_boxes else "icdar2015"
    to = "evaltex" if layout == "txt" else to
    files, lost = [f"{name}.{layout}" for name in wanted], Counter[str]()
    with output_folder(out_dir, is_own) as folder:
        for name, file in zip(wanted, files, strict=True):
            detections = _detections(words, _portions(name), _edit(name, alien))
            write(Job(folder / file, "det", detections, lost=lost), to)
    notes += [counted(number, sentence) for sentence, number in lost.items() if number]
    return Toys(tuple(files), len(words.names), words.objects.count, tuple(notes))


def _words(gt: Path, options: InputOptions) -> Source:
    """Read the objects of a ground truth that count, without what detections do not have."""
    source = in_pixels(read_source(gt, "gt", options), options)
    objects = take(source.objects, ~source.objects.dont_care)
    if not objects.count:
        raise InputError(f"{gt}: no object that counts; give ground truth with words")
    objects = replace(objects, confidences=None, pixels=None, types=None, labels=None)
    return replace(source, objects=objects, sizes=np.zeros_like(source.sizes))


def _portions(name: str) -> Portions:
    """Return the shares of a word, along its text, that become detections; none for all of it."""
    kind, number = name.rstrip(string.digits), int(re.sub(r"\D", "", name) or 0)
    share = number / 100
    if kind == "crop":
        return [((1 - share) / 2, (1 + share) / 2)]
    if kind == "split":
        return [(i / number, (i + 1) / number) for i in range(number)]
    if kind == "overlap":
        return [(0.0, 0.5 + share / 2), (0.5 - share / 2, 1.0)]
    return []


def _edit(name: str, alien: str) -> Edit | None:
    """Return what makes the transcriptions of a set; None where it has none."""
    k = int("".join(filter(str.isdigit, name.removeprefix("e2e_"))) or 0)
    generator = random.Random(SEED)

    def with_random_letters(text: str) -> str:
        changed = list(text)
        for place in sorted(generator.sample(range(len(text)), min(k, len(text)))):
            changed[place] = generator.choice(string.ascii_letters.replace(text[place], ""))
        return "".join(changed)

    edits: dict[str, Edit] = {
        "e2e_orig": str,
        f"e2e_insert{k}": lambda text: text + alien * min(k, len(text)),
        f"e2e_delete{k}": lambda text: text[k:],
        f"e2e_replace{k}": lambda text: alien * min(k, len(text)) + text[k:],
        f"e2e_replace{k}_rand": with_random_letters,
    }
    return edits.get(name)


def _detections(source: Source, portions: Portions, edit: Edit | None) -> Source:
    """Return the detections of words, as many of each, one after the other."""
    words, of_each = source.objects, len(portions) or 1
    counts = np.diff(words.offsets) * of_each
    ids = ranges(1, counts)
    texts = list(map(edit, words.texts)) if edit else [""] * (words.count * of_each)
    detections = replace(
        words,
        offsets=offsets_of(counts),
        ids=ids,
        regions=ids,
        outlines=_cut(words.outlines, portions) if portions else words.outlines,
        dont_care=np.zeros(len(ids), bool),
        texts=Texts.of(texts),
        places=None,
    )
    return replace(source, objects=detections)


def _cut(words: Outlines, portions: Portions) -> Outlines:
    """Return portions of words, those of each one after the other, cut points truncated.

    A box is cut along x. Of other words the upper and the lower chain of vertices are cut, each at
    these shares of its own length. Vertices in between stay as they are.
    """
    parts: list[list[float]] = []
    for i, (x0, y0, x1, y1) in enumerate(words.boxes.tolist()):
        ring = words.ring(i)
        for start, stop in portions:
            if len(ring):
                upper, lower = (rings.between(side, start, stop) for side in rings.chains(ring))
                for piece in (upper, lower):
                    piece[[0, -1]] = np.trunc(piece[[0, -1]])
                parts.append(np.concatenate([upper, lower[::-1]]).ravel().tolist())
            else:
                left, right = (float(int(x0 + share * (x1 - x0))) for share in (start, stop))
                parts.append([left, y0, right, y1])
    counts = np.array([len(part) for part in parts])
    return outlines.drawn(np.array([*chain.from_iterable(parts)]), counts, counts == 4)
