"""What a character is: transcriptions as sequences of code points or of grapheme clusters, and their common ones.

A text is a string where a character is a code point, else a tuple of strings, one a grapheme cluster. So a text's
length, equality and iteration count characters in either case.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, TypeAlias

from evaltex_cli.errors import ConfigError

Text: TypeAlias = "str | tuple[str, ...]"

UNITS = ("code_point", "grapheme")
NORMALISATIONS = ("none", "NFC", "NFKC")
CASE_MAPPINGS = ("upper", "fold")


def texts_of(
    texts: Iterable[str],
    unit: str = "code_point",
    normalisation: str = "none",
    case_sensitive: bool = True,
    case_mapping: str = "upper",
) -> list[Text]:
    """Return transcriptions as sequences of characters.

    Parameters
    ----------
    texts : iterable of str
    unit : {"code_point", "grapheme"}
        A grapheme cluster is what Unicode (UAX 29, extended clusters) takes for one letter on paper.
    normalisation : {"none", "NFC", "NFKC"}
        Unicode normalisation form, before and after the case mapping.
    case_sensitive : bool
    case_mapping : {"upper", "fold"}
        Where case does not count: `str.upper`, or Unicode case folding.

    Raises
    ------
    ConfigError
        For grapheme clusters when the package regex is not installed.
    """
    prepared = list(texts)
    if not case_sensitive:
        mapping = str.upper if case_mapping == "upper" else str.casefold
        prepared = [mapping(_normalised(text, normalisation)) for text in prepared]
    prepared = [_normalised(text, normalisation) for text in prepared]
    return list(prepared) if unit == "code_point" else [*map(_graphemes(), prepared)]


def _normalised(text: str, form: Any) -> str:
    return text if form == "none" or text.isascii() else unicodedata.normalize(form, text)


def _graphemes() -> Callable[[str], Text]:
    try:
        regex = import_module("regex")
    except ImportError as error:
        raise ConfigError(
            "character=grapheme needs the package regex; install it (pip install 'evaltex[graphemes]'), or use"
            " character=code_point"
        ) from error
    find = regex.compile(r"\X").findall
    return lambda text: tuple(text) if text.isascii() and "\r" not in text else tuple(find(text))


def common_length(a: Text, b: Text) -> int:
    """Length of the longest common subsequence."""
    if a == b:
        return len(a)
    return len(b) - _rows(a, len(b), _places(b, a))[-1].bit_count()


def common_subsequence(rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    """A longest common subsequence of two sequences of characters.

    Of several it is the one that the usual table, filled row by row and read from its last cell, gives when equal
    characters are always taken, and on equal lengths above and to the left the way goes left.
    """
    places = _places(columns, rows)
    unchanged = _rows(rows, len(columns), places)
    found = []
    i, j = len(rows), len(columns)
    while i and j:
        character = rows[i - 1]
        if columns[j - 1] == character:
            found.append(character)
            i, j = i - 1, j - 1
        elif unchanged[i] >> (j - 1) & 1:
            stops = (places[character] | ~unchanged[i]) & ((1 << j) - 1)
            j = stops.bit_length()
        else:
            i -= 1
    return found[::-1]


def _places(columns: Sequence[str], wanted: Sequence[str]) -> dict[str, int]:
    """Where each wanted character stands in `columns`, one bit a place."""
    bits = {character: bytearray(len(columns) // 8 + 1) for character in wanted}
    for j, character in enumerate(columns):
        if character in bits:
            bits[character][j >> 3] |= 1 << (j & 7)
    return {character: int.from_bytes(places, "little") for character, places in bits.items()}


def _rows(rows: Sequence[str], width: int, places: dict[str, int]) -> list[int]:
    """Rows 0 to len(rows) of the table of lengths: bit j is set where cell j + 1 is as long as cell j.

    Bits are computed a whole row at a time (Hyyrö, Bit-parallel LCS-length computation revisited, 2004).
    """
    every = (1 << width) - 1
    table = [every]
    for character in rows:
        row = table[-1]
        matches = row & places[character]
        table.append((row + matches | row - matches) & every)
    return table
