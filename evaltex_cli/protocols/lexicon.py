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
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.protocols.edit_distance import edit_distance
from evaltex_cli.protocols.normalisation import normalised
from evaltex_cli.records import ImageBatch

ALL_IMAGES = ""
"""The name of the lexicon of all images."""
_KINDS = 16
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
        if text not in self._replacements:
            self._replacements[text] = self._search(text)
        return self._replacements[text]

    def _search(self, text: str) -> str | None:
        # Of the longer of two texts, all characters that the other one does not have need an edit.
        # A lexicon may have 90,000 words, and this is all that is compared of most of them.
        common = np.minimum(self._counts, _counts(text)[:, None]).sum(axis=0, dtype=np.int32)
        least = np.maximum(self._lengths, len(text)) - common
        near = np.flatnonzero(least <= self._most_edits)
        distance, place = self._most_edits + 1, -1
        for k in near[np.argsort(least[near], kind="stable")].tolist():
            if least[k] > distance:
                break
            distance, place = min((distance, place), (edit_distance(text, self._words[k]), k))
        return None if place < 0 else self._replacements[self._words[place]]


def _counts(word: str) -> NDArray[np.int32]:
    """(16,) how many characters a word has of each kind: of each code modulo 16."""
    codes = [ord(character) % _KINDS for character in word]
    return np.bincount(codes, minlength=_KINDS).astype(np.int32)


def replacements(
    batch: ImageBatch, value: str, most_edits: int, normalisation: str
) -> list[str | None]:
    """Return, for each detection, what replaces its text, in capitals; None if no word is near.

    The others are as `load` has them. Raises `InputError` for an image with detections that has no
    lexicon.
    """
    lexicons = load(value, most_edits, normalisation)
    words = []
    for k, text in zip(batch.det.image.tolist(), batch.det.texts, strict=True):
        image = batch.names[k]
        last = PurePosixPath(image).name
        name = next((name for name in (ALL_IMAGES, image, last) if name in lexicons), None)
        if name is None:
            expected = f"{quote(f'voc_{last}.txt')} in the folder of lexicons"
            raise InputError(f"image {quote(image)} has no lexicon; expected {expected}")
        words.append(lexicons[name].nearest(text))
    return words


@lru_cache(maxsize=2)
def load(value: str, most_edits: int, normalisation: str) -> Mapping[str, Lexicon]:
    """Return lexicons by the names of the images, or one by `ALL_IMAGES`; `value` is as from
    `fingerprinted`, and words get the Unicode form `normalisation`.
    """
    form = partial(normalised, form=normalisation)
    return {
        name: Lexicon({form(word): form(text) for word, text in words.items()}, most_edits)
        for name, words in _read(Path(value[: -len("@01234567")])).items()
    }


def fingerprinted(value: str) -> str:
    """Return the path of a lexicon with the first eight digits of the SHA-256 of its words,
    ``voc.txt@0123abcd``, of a path with these digits or without, or of nothing.

    Raises `ConfigError` when it cannot be read, has no word, or the digits are different.
    """
    if not value:
        return value
    known = None if Path(value).exists() else _FINGERPRINT.fullmatch(value)
    path, digits = (known[1], known[2]) if known else (value, None)
    listed = [(name, list(words.items())) for name, words in sorted(_read(Path(path)).items())]
    now = hashlib.sha256(repr(listed).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    if digits not in (None, now):
        raise ConfigError(
            f"{path}: is not the lexicon that was used ({digits}, here {now}); give that one"
        )
    return f"{path}@{now}"


# Files --------------------------------------------------------------------------------------------


def _read(path: Path) -> dict[str, dict[str, str]]:
    """The words of each file of a folder by image, or those of a file by `ALL_IMAGES`."""
    try:
        files = _files(path) if path.is_dir() else {ALL_IMAGES: path}
        return {name: _words(file) for name, file in files.items()}
    except OSError as error:
        reason = error.strerror or error
        expected = "expected one word in each line"
        raise ConfigError(f"{path}: cannot be read ({reason}); {expected}") from error


def _files(folder: Path) -> dict[str, Path]:
    """The file of each image; if it has one of words and one of pairs, that of pairs."""
    files: dict[str, Path] = {}
    for file in sorted(folder.glob("*.txt"), key=lambda file: (_has_pairs(file), file.name)):
        name = _PREFIX.sub("", file.stem)
        if name in files and _has_pairs(files[name]) == _has_pairs(file):
            both = f"{quote(files[name].name)} and {quote(file.name)}"
            raise ConfigError(f"{folder}: {both} are lexicons of one image; leave one of them")
        files[name] = file
    if not files:
        raise ConfigError(f"{folder}: no .txt file; expected one for each image, voc_img_1.txt say")
    return files


def _has_pairs(file: Path) -> bool:
    return "pair" in file.stem.lower()


def _words(file: Path) -> dict[str, str]:
    """Each word of a file in capitals -> the text that replaces it."""
    data = file.read_bytes()
    try:
        lines = [line.strip().upper() for line in data.decode("utf-8-sig").splitlines()]
    except UnicodeDecodeError as error:
        line, byte = data.count(b"\n", 0, error.start) + 1, data[error.start]
        raise ConfigError(f"{file}:{line}: byte 0x{byte:02x} is not UTF-8") from error
    if not any(lines):
        raise ConfigError(f"{file}: no word in it; expected one in each line")
    if not _has_pairs(file):
        return {line: line for line in lines if line}
    return dict(_pair(f"{file}:{k}", line) for k, line in enumerate(lines, 1) if line)


def _pair(place: str, line: str) -> tuple[str, str]:
    """Cut a line at the blank whose two sides are most alike, because words may have blanks."""
    blanks = re.finditer(r"\s+", line)
    pairs = [(line[: blank.start()], line[blank.end() :]) for blank in blanks]
    if not pairs:
        expected = "a word, a blank and the word as the ground truth has it (a file of pairs)"
        raise ConfigError(f"{place}: {quote(line)} alone; expected {expected}")
    return min(pairs, key=lambda pair: edit_distance(*pair))
