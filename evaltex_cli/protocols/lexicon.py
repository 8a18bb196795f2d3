"""Lexicons of end-to-end tasks: what a detector reads is replaced by the nearest word of a list.

A *strong* lexicon is a folder with one file of words for each image, ``voc_img_1.txt`` or
``img_1.txt``; a *weak*, *full* or *generic* lexicon is one file of words for all images. A file has
one word in each line, in UTF-8; a file of pairs has the word that texts are compared with, a blank,
and the word as the ground truth has it (``SALE Sale!``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.protocols.texts import edit_distance, normalised
from evaltex_cli.records import ImageBatch
from evaltex_cli.runtime.input_files import read_text

ALL_IMAGES = ""
"""The name of the lexicon of all images."""
_PREFIX = re.compile(r"\A(?:new_|pair_)?voc_")
"""Of an image's file; ``new_`` and ``pair_`` as text spotters distribute them."""
_FINGERPRINT = re.compile(r"(.+)@([0-9a-f]{8})", re.DOTALL)


class Lexicon:
    """Words that replace texts: `words` has each, in capitals, and the text that replaces what was
    read; a word at an edit distance above `most_edits` replaces nothing.
    """

    def __init__(self, words: Mapping[str, str], most_edits: int) -> None:
        self._words, self._most_edits = list(words), most_edits
        self._lengths = np.array([len(word) for word in words])
        self._counts = np.array([_counts(word) for word in words]).T.copy()
        # What replaces each text, at first each word; then also texts that were looked for.
        self._replacements: dict[str, str | None] = dict(words)

    def nearest(self, text: str) -> str | None:
        """Return what replaces a text: the word with the smallest edit distance, the first of
        several; None if no word is near.
        """
        text = text.upper()
        if text in self._replacements:
            return self._replacements[text]
        # Of the longer of two texts, all characters that the other one does not have need an edit.
        # A lexicon may have 90,000 words, and this is all that is compared of most of them.
        common = np.minimum(self._counts, _counts(text)[:, None]).sum(axis=0, dtype=np.int32)
        least = np.maximum(self._lengths, len(text)) - common
        near = np.flatnonzero(least <= self._most_edits)
        best = self._most_edits + 1, -1
        for k in near[np.argsort(least[near], kind="stable")].tolist():
            if least[k] > best[0]:
                break
            best = min(best, (edit_distance(text, self._words[k]), k))
        found = None if best[1] < 0 else self._replacements[self._words[best[1]]]
        self._replacements[text] = found
        return found


def _counts(word: str) -> NDArray[np.int32]:
    """(16,) how many characters a word has of each kind: of each code modulo 16."""
    codes = [ord(character) % 16 for character in word]
    return np.bincount(codes, minlength=16).astype(np.int32)


def replacements(batch: ImageBatch, parameters: Any) -> list[str | None]:
    """Return, for each detection, what replaces its text, in capitals, None if no word is near; or
    the texts without a lexicon. Raises `InputError` for an image with detections that has none.
    """
    texts: list[Any] = list(batch.det.texts)
    if not parameters.lexicon:
        return texts
    lexicons = load(parameters.lexicon, parameters.lexicon_edits, parameters.normalisation)
    for row, k in enumerate(batch.det.image.tolist()):
        image = batch.names[k]
        last = image.rpartition("/")[2]
        own = lexicons.get(ALL_IMAGES) or lexicons.get(image) or lexicons.get(last)
        if own is None:
            expected = f"{quote(f'voc_{last}.txt')} in the folder of lexicons"
            raise InputError(f"image {quote(image)} has no lexicon; expected {expected}")
        texts[row] = own.nearest(texts[row])
    return texts


@lru_cache(maxsize=2)
def load(value: str, most_edits: int, normalisation: str) -> Mapping[str, Lexicon]:
    """Return lexicons by the names of the images, or one by `ALL_IMAGES`; `value` is as from
    `fingerprinted`, and words get the Unicode form `normalisation`.
    """
    lexicons = {}
    for name, pairs in _read(Path(value[: -len("@01234567")])).items():
        forms = ([normalised(text, normalisation) for text in pair] for pair in pairs.items())
        lexicons[name] = Lexicon(dict(forms), most_edits)
    return lexicons


def fingerprinted(value: str) -> str:
    """Return the path of a lexicon with the first eight digits of the SHA-256 of its words,
    ``voc.txt@0123abcd``, of a path with these digits or without, or of nothing.

    Raises `ConfigError` when it cannot be read, has no word, or the digits are different.
    """
    if not value:
        return value
    known = None if Path(value).exists() else _FINGERPRINT.fullmatch(value)
    path, digits = known.groups() if known else (value, None)
    listed = [(name, list(words.items())) for name, words in sorted(_read(Path(path)).items())]
    now = hashlib.sha256(repr(listed).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    if digits not in (None, now):
        raise ConfigError(
            f"{path}: is not the lexicon that was used ({digits}, here {now}); give that one"
        )
    return f"{path}@{now}"


def _read(path: Path) -> dict[str, dict[str, str]]:
    """The words of each file of a folder by image, or those of a file by `ALL_IMAGES`; if an image
    has a file of words and one of pairs, those of pairs.
    """
    if not path.is_dir():
        return {ALL_IMAGES: _words(path)}
    files: dict[str, Path] = {}
    for file in sorted(path.glob("*.txt"), key=lambda file: (_has_pairs(file), file.name)):
        before = files.get(name := _PREFIX.sub("", file.stem))
        if before and _has_pairs(before) == _has_pairs(file):
            both = f"{quote(before.name)} and {quote(file.name)}"
            raise ConfigError(f"{path}: {both} are lexicons of one image; leave one of them")
        files[name] = file
    if not files:
        raise ConfigError(f"{path}: no .txt file; expected one for each image, voc_img_1.txt say")
    return {name: _words(file) for name, file in files.items()}


def _has_pairs(file: Path) -> bool:
    return "pair" in file.stem.lower()


def _words(file: Path) -> dict[str, str]:
    """Each word of a file in capitals -> the text that replaces it."""
    text = read_text(file, "expected one word in each line").upper()
    lines = {k: line for k, line in enumerate(map(str.strip, text.splitlines()), 1) if line}
    if not lines:
        raise ConfigError(f"{file}: no word in it; expected one in each line")
    if not _has_pairs(file):
        return {line: line for line in lines.values()}
    return dict(_pair(f"{file}:{k}", line) for k, line in lines.items())


def _pair(place: str, line: str) -> tuple[str, str]:
    """Cut a line at the blank whose two sides are most alike, because words may have blanks."""
    blanks = re.finditer(r"\s+", line)
    pairs = [(line[: blank.start()], line[blank.end() :]) for blank in blanks]
    if not pairs:
        expected = "a word, a blank and the word as the ground truth has it (a file of pairs)"
        raise ConfigError(f"{place}: {quote(line)} alone; expected {expected}")
    return min(pairs, key=lambda pair: edit_distance(*pair))
