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
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from evaltex_cli.errors import ConfigError, InputError, quote
from evaltex_cli.protocols.edit_distance import edit_distances
from evaltex_cli.records import Bools, ImageBatch, Ints, Texts, concatenate_texts
from evaltex_cli.runtime.input_files import read_regular

MOST_BYTES = 1 << 26
"""Of all files of a lexicon together."""
MOST_WORDS = 1_000_000
LONGEST_WORD = 1000
ANY_EDITS = 1 << 32
MOST_CACHED = 1 << 16
"""Texts whose nearest word is known without another search."""
_BINS = 32
_PREFIX = re.compile(r"\A(?:new_|pair_)?voc_")
"""Of the file of an image; ``new_`` and ``pair_`` as text spotters distribute them."""
_FINGERPRINT = re.compile(r"(.+)@([0-9a-f]{8})", re.DOTALL)


class Lexicon:
    """Words, in capitals, each once, sorted by their lengths.

    Parameters
    ----------
    words : sequence of str
    most_edits : int
        Words at a larger edit distance are not near.
    written : sequence of str, optional
        What each word is in the ground truth, if it is another text; of a word that is listed
        twice, the last.
    """

    def __init__(
        self, words: Sequence[str], most_edits: int, written: Sequence[str] | None = None
    ) -> None:
        known = {
            word.upper(): text.upper() for word, text in zip(words, written or words, strict=True)
        }
        self._written = known
        self._place = {word: k for k, word in enumerate(known)}
        self._words = sorted(known, key=len)
        self._lengths = np.array([len(word) for word in self._words], np.int64)
        self._bags = np.array([_bag(word) for word in self._words], np.int16).reshape(-1, _BINS)
        self._most_edits = most_edits
        self._found: dict[str, str | None] = {}

    def nearest(self, text: str) -> str | None:
        """Return the word with the smallest edit distance to a text, the
        first of several; None if none is near.
        """
        text = text.upper()
        if text in self._place:
            return self._written[text]
        if len(self._found) >= MOST_CACHED:
            self._found.clear()
        if text not in self._found:
            self._found[text] = self._nearest(text)
        return self._found[text]

    def _nearest(self, text: str) -> str | None:
        # An edit changes the length by one at most, and the numbers of two kinds of characters by
        # one each.
        start = np.searchsorted(self._lengths, len(text) - self._most_edits)
        stop = np.searchsorted(self._lengths, len(text) + self._most_edits, side="right")
        least = (
            np.abs(self._bags[start:stop] - np.array(_bag(text), np.int16)).sum(axis=1) + 1
        ) // 2
        best = self._most_edits
        if len(least) and least.min() <= best:
            best = min(
                best, self._distances(text, start + np.flatnonzero(least == least.min())).min()
            )
        near = start + np.flatnonzero(least <= best)
        distances = self._distances(text, near)
        near = near[distances == distances.min(initial=self._most_edits)]
        word = min(
            (self._words[k] for k in near.tolist()), key=self._place.__getitem__, default=None
        )
        return None if word is None else self._written[word]

    def _distances(self, text: str, words: Ints) -> Ints:
        return edit_distances([text] * len(words), [self._words[k] for k in words.tolist()])


def _bag(word: str) -> list[int]:
    """How many characters of a word, at most 10,000, have each remainder by `_BINS`."""
    counts = [0] * _BINS
    for character in word[:10_000]:
        counts[ord(character) % _BINS] += 1
    return counts


class _Lines(NamedTuple):
    """The words of a file, and what each is in the ground truth if the file has pairs."""

    words: list[str]
    written: list[str] | None


class Lexicons(NamedTuple):
    """The lexicon of all images, or one for each image by its name."""

    of_all: Lexicon | None
    of_image: Mapping[str, Lexicon]

    def of(self, image: str) -> Lexicon:
        """Return the lexicon of an image.

        Raises
        ------
        InputError
            When there is none.
        """
        if self.of_all is not None:
            return self.of_all
        found = self.of_image.get(image) or self.of_image.get(PurePosixPath(image).name)
        if found is None:
            expected = f"voc_{PurePosixPath(image).name}.txt"
            raise InputError(
                f"image {quote(image)} has no lexicon; expected {quote(expected)} in the folder of"
                " lexicons"
            )
        return found


def read_words(batch: ImageBatch, value: str, most_edits: int) -> tuple[Texts, Bools]:
    """Replace what detections read by words of a lexicon.

    Parameters
    ----------
    batch : ImageBatch
    value : str
        As `fingerprinted` returns it.
    most_edits : int
        A word of a lexicon of all images replaces only texts that are as near as this; one of its
        image replaces any.

    Returns
    -------
    texts : Texts
        Of all detections, in capitals.
    is_near : (D,) bool
        Whether a word was near enough.

    Raises
    ------
    InputError
        When an image has no lexicon, or the files are no longer what they were.
    """
    lexicons = load(value, most_edits)
    image = batch.det.image.tolist()
    found = [
        lexicons.of(batch.names[k]).nearest(text)
        for k, text in zip(image, batch.det.texts, strict=True)
    ]
    is_near = np.fromiter((word is not None for word in found), np.bool_, len(found))
    return concatenate_texts([word or "" for word in found]), is_near


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
        When it cannot be read, has no word, is too large, or its digits are others.
    """
    if not value:
        return value
    known = _FINGERPRINT.fullmatch(value)
    path, digits = (known[1], known[2]) if known and not Path(value).exists() else (value, None)
    found = _digits(_words(Path(path)))
    if digits not in (None, found):
        raise ConfigError(
            f"{path}: is not the lexicon that was used ({digits}, here {found}); give that one"
        )
    return f"{path}@{found}"


@lru_cache(maxsize=2)
def load(value: str, most_edits: int) -> Lexicons:
    """Return the lexicons that `fingerprinted` has seen; see `read_words`.

    Raises
    ------
    InputError
        When they are no longer what they were.
    """
    path = value[: -len("@01234567")]
    try:
        words = _words(Path(path))
    except ConfigError as error:
        raise InputError(str(error)) from error
    if f"{path}@{_digits(words)}" != value:
        raise InputError(
            f"{path}: is not the lexicon that was read first; run again when nothing writes to it"
        )
    if "" in words:
        return Lexicons(_lexicon(words[""], most_edits), {})
    return Lexicons(None, {name: _lexicon(of_image, ANY_EDITS) for name, of_image in words.items()})


def _lexicon(lines: _Lines, most_edits: int) -> Lexicon:
    return Lexicon(lines.words, most_edits, lines.written)


def _digits(words: Mapping[str, _Lines]) -> str:
    listed = [
        (name, list(lines) if lines.written else lines.words)
        for name, lines in sorted(words.items())
    ]
    return hashlib.sha256(repr(listed).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _files(folder: Path) -> dict[str, Path]:
    """The file of each image in a folder; of two, one of which has pairs, that one."""
    every = sorted(folder.glob("*.txt"))
    files: dict[str, Path] = {}
    for file in every:
        name = _PREFIX.sub("", file.stem)
        other = files.setdefault(name, file)
        if other is not file:
            if _are_pairs(other) == _are_pairs(file):
                expected = (
                    f"one for each image, voc_img_1.txt say; {quote(other.name)} and"
                    f" {quote(file.name)} are of one"
                )
                raise ConfigError(f"{folder}: {len(every)} .txt files; expected {expected}")
            files[name] = file if _are_pairs(file) else other
    if not files:
        raise ConfigError(f"{folder}: no .txt file; expected one for each image, voc_img_1.txt say")
    return files


def _are_pairs(file: Path) -> bool:
    return "pair" in file.stem.lower()


def _words(path: Path) -> dict[str, _Lines]:
    """The words of a folder's files, by image name; those of a file under the empty name."""
    try:
        files = _files(path) if path.is_dir() else {"": path}
        size = 0
        words = {}
        for name, file in files.items():
            data = read_regular(file, "a file of words", MOST_BYTES + 1 - size)
            size += len(data)
            if size > MOST_BYTES:
                raise ConfigError(
                    f"{path}: more than {MOST_BYTES} bytes; expected one word in each line"
                )
            words[name] = _lines(file, data)
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror or error}); expected one word in each line"
        ) from error
    except InputError as error:
        raise ConfigError(str(error)) from error
    if sum(len(lines.words) for lines in words.values()) > MOST_WORDS:
        raise ConfigError(f"{path}: more than {MOST_WORDS} words")
    return words


def _lines(file: Path, data: bytes) -> _Lines:
    try:
        words = [word for line in data.decode("utf-8-sig").splitlines() if (word := line.strip())]
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{file}:{line}: byte 0x{error.object[error.start]:02x} is not UTF-8"
        ) from error
    if not words:
        raise ConfigError(f"{file}: no word in it; expected one in each line")
    longest = max(words, key=len)
    if len(longest) > LONGEST_WORD:
        raise ConfigError(
            f"{file}: a word of {len(longest)} characters; expected at most {LONGEST_WORD}"
        )
    return _pairs(file, words) if _are_pairs(file) else _Lines(words, None)


def _pairs(file: Path, lines: Sequence[str]) -> _Lines:
    """Take the lines of a file of pairs apart at their first blanks."""
    pairs = [line.split(maxsplit=1) for line in lines]
    alone = next((pair[0] for pair in pairs if len(pair) == 1), None)
    if alone is not None:
        expected = (
            "a word, a blank and the word as it is in the ground truth, as the file's name"
            " has 'pair'"
        )
        raise ConfigError(f"{file}: a line with {quote(alone)} alone; expected {expected}")
    return _Lines([word for word, _ in pairs], [text for _, text in pairs])
