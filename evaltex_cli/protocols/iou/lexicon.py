"""Lexicons of end-to-end tasks: what a detector reads is replaced by the word of a list that it is
most like.

A *strong* lexicon is a folder with one file of words for each image, ``voc_img_1.txt`` or
``img_1.txt``; a *weak*, *full* or *generic* one is one file of words for all images. A file has one
word in each line, in UTF-8; one of pairs has the word as it is compared, a blank, and the word as
the ground truth has it (``SALE Sale!``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath

import numpy as np

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.protocols.edit_distance import edit_distances
from evaltex_cli.protocols.normalisation import normalised
from evaltex_cli.records import Bools, ImageBatch, Texts, concatenate_texts

ALL_IMAGES = ""
"""What names the lexicon of all images."""
_BINS = 32
_PREFIX = re.compile(r"\A(?:new_|pair_)?voc_")
"""Of the file of an image; ``new_`` and ``pair_`` as text spotters distribute them."""
_FINGERPRINT = re.compile(r"(.+)@([0-9a-f]{8})", re.DOTALL)


class Lexicon:
    """Words that replace texts.

    Parameters
    ----------
    words : mapping
        Each word, in capitals -> the text that replaces what was read.
    most_edits : int
        A word at a larger edit distance replaces nothing.
    """

    def __init__(self, words: Mapping[str, str], most_edits: int) -> None:
        self._texts, self._most_edits = words, most_edits
        self._words = list(words)
        self._lengths = np.array([len(word) for word in self._words])
        self._bags = np.array([_bag(word) for word in self._words], np.int32)
        self._nearest: dict[str, str | None] = {}

    def nearest(self, text: str) -> str | None:
        """Return what the word with the smallest edit distance to a text, the first of several,
        replaces the text by; None if no word is near.
        """
        text = text.upper()
        if text in self._texts:
            return self._texts[text]
        if text not in self._nearest:
            self._nearest[text] = self._search(text)
        return self._nearest[text]

    def _search(self, text: str) -> str | None:
        # An edit changes the length by one at most, and the numbers of two kinds of characters by
        # one each. So no word is nearer than `least`.
        by_length = np.abs(self._lengths - len(text))
        near = np.flatnonzero(by_length <= self._most_edits)
        by_bag = (np.abs(self._bags[near] - np.array(_bag(text), np.int32)).sum(axis=1) + 1) // 2
        least = np.maximum(by_length[near], by_bag)
        distance, place = self._most_edits + 1, -1
        for bound in np.unique(least).tolist():
            if bound > min(distance, self._most_edits):
                break
            some = near[least == bound].tolist()
            distances = edit_distances([text] * len(some), [self._words[k] for k in some])
            k = int(distances.argmin())
            distance, place = min((distance, place), (int(distances[k]), some[k]))
        return None if place < 0 else self._texts[self._words[place]]


def _bag(word: str) -> list[int]:
    """How many characters of a word have each remainder by `_BINS`."""
    counts = [0] * _BINS
    for character in word:
        counts[ord(character) % _BINS] += 1
    return counts


def read_words(
    batch: ImageBatch, value: str, most_edits: int, normalisation: str
) -> tuple[Texts, Bools]:
    """Replace what detections read by words of a lexicon.

    Parameters
    ----------
    batch : ImageBatch
    value : str
        As `fingerprinted` returns it.
    most_edits : int
        A word replaces only texts that are as near as this.
    normalisation : str
        The Unicode form of the batch's texts, which the words get too.

    Returns
    -------
    texts : Texts
        Of all detections, in capitals.
    is_near : (D,) bool
        Whether a word was near enough.

    Raises
    ------
    InputError
        When an image has no lexicon.
    """
    lexicons = lexicons_of(batch, value, most_edits, normalisation)
    words = [
        lexicons[k].nearest(text)
        for k, text in zip(batch.det.image.tolist(), batch.det.texts, strict=True)
    ]
    is_near = np.array([word is not None for word in words], np.bool_)
    return concatenate_texts([word or "" for word in words]), is_near


def lexicons_of(
    batch: ImageBatch, value: str, most_edits: int, normalisation: str
) -> dict[int, Lexicon]:
    """Return the lexicon of each image with detections, by the image's index; see `read_words`."""
    lexicons = load(value, most_edits, normalisation)
    found = {}
    for k in np.unique(batch.det.image).tolist():
        image = batch.names[k]
        last = PurePosixPath(image).name
        name = next((one for one in (ALL_IMAGES, image, last) if one in lexicons), None)
        if name is None:
            raise InputError(
                f"image {quote(image)} has no lexicon; expected {quote(f'voc_{last}.txt')} in the"
                " folder of lexicons"
            )
        found[k] = lexicons[name]
    return found


@lru_cache(maxsize=2)
def load(value: str, most_edits: int, normalisation: str = "none") -> Mapping[str, Lexicon]:
    """Return lexicons by the names of the images, or one by `ALL_IMAGES`; see `read_words`."""
    form = partial(normalised, form=normalisation)
    return {
        name: Lexicon({form(word): form(text) for word, text in words.items()}, most_edits)
        for name, words in _read(Path(value[: -len("@01234567")])).items()
    }


def fingerprinted(value: str) -> str:
    """Return the path of a lexicon with the first eight digits of the SHA-256 of its words,
    ``voc.txt@0123abcd``.

    Parameters
    ----------
    value : str
        A path; or one with these digits, which are compared. Nothing for no lexicon.

    Raises
    ------
    ConfigError
        When it cannot be read, has no word, or its digits are others.
    """
    if not value:
        return value
    known = _FINGERPRINT.fullmatch(value)
    path, digits = (known[1], known[2]) if known and not Path(value).exists() else (value, None)
    listed = [(name, list(words.items())) for name, words in sorted(_read(Path(path)).items())]
    now = hashlib.sha256(repr(listed).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    if digits not in (None, now):
        raise ConfigError(
            f"{path}: is not the lexicon that was used ({digits}, here {now}); give that one"
        )
    return f"{path}@{now}"


# Files --------------------------------------------------------------------------------------------


def _read(path: Path) -> dict[str, dict[str, str]]:
    """The words of a folder's files by image, or those of a file by `ALL_IMAGES`."""
    try:
        files = _files(path) if path.is_dir() else {ALL_IMAGES: path}
        return {name: _words(file) for name, file in files.items()}
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror or error}); expected one word in each line"
        ) from error
    except InputError as error:
        raise ConfigError(str(error)) from error


def _files(folder: Path) -> dict[str, Path]:
    """The file of each image in a folder; of two, one of which has pairs, that one."""
    files: dict[str, Path] = {}
    for file in sorted(folder.glob("*.txt"), key=lambda file: (_has_pairs(file), file.name)):
        name = _PREFIX.sub("", file.stem)
        if name in files and _has_pairs(files[name]) == _has_pairs(file):
            raise ConfigError(
                f"{folder}: {quote(files[name].name)} and {quote(file.name)} are lexicons of one"
                " image; leave one of them"
            )
        files[name] = file
    if not files:
        raise ConfigError(f"{folder}: no .txt file; expected one for each image, voc_img_1.txt say")
    return files


def _has_pairs(file: Path) -> bool:
    return "pair" in file.stem.lower()


def _words(file: Path) -> dict[str, str]:
    """Each word of a file in capitals, with the text that replaces it; of a word that is listed
    twice, the last text.
    """
    data = file.read_bytes()
    try:
        lines = [line.strip().upper() for line in data.decode("utf-8-sig").splitlines()]
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{file}:{line}: byte 0x{error.object[error.start]:02x} is not UTF-8"
        ) from error
    if not any(lines):
        raise ConfigError(f"{file}: no word in it; expected one in each line")
    if not _has_pairs(file):
        return {line: line for line in lines if line}
    return dict(_pair(file, number, line) for number, line in enumerate(lines, 1) if line)


def _pair(file: Path, number: int, line: str) -> tuple[str, str]:
    """Take a line of a file of pairs apart, at the blank whose sides are most alike, as a word may
    have blanks.
    """
    pairs = [(line[: at.start()], line[at.end() :]) for at in re.finditer(r"\s+", line)]
    if not pairs:
        raise ConfigError(
            f"{file}:{number}: {quote(line)} alone; expected a word, a blank and the word as it is"
            " in the ground truth, as the file's name has 'pair'"
        )
    words, texts = zip(*pairs, strict=True)
    return pairs[int(edit_distances(words, texts).argmin())] if len(pairs) > 1 else pairs[0]
