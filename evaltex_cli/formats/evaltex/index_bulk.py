"""Bulk finder of the images of EvaLTex files: array operations over the bytes of a block of some megabytes.

It takes only images that begin in the plain form (a name of letters, digits, ``_.-/`` and inner blanks, in ground truth
then height and width in digits) and says which lines it leaves: `evaltex.index` takes those one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaltex_cli.formats.base import Side
from evaltex_cli.formats.evaltex.lines_bulk import usual_object_lines
from evaltex_cli.formats.files.image_names import MAX_NAME_BYTES
from evaltex_cli.records import Bools, Ints

_NEWLINE, _RETURN, _BLANK, _COMMA, _ZERO = b"\n\r ,0"
_MOST_SIZE_DIGITS = 9

_OTHER, _WORD, _INNER, _SLASH = 0, 1, 2, 3
_KIND = np.full(256, _OTHER, np.uint8)
_KIND[np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz", np.uint8)] = _WORD
_KIND[np.frombuffer(b" .-\n", np.uint8)] = _INNER
_KIND[ord("/")] = _SLASH


class PlainImages(NamedTuple):
    """The images of a block that begin in the plain form, and the lines that are left.

    Attributes
    ----------
    names : bytes
        Each followed by a newline.
    name_line, last_line : (n,) int64
        Index of the name's line in the block, and of the last line before the objects.
    sizes : (n, 2) int64
        Height and width; 0 for detections.
    left : (m,) int64
        Indices of the lines to be taken one by one.
    left_usual : (m,) bool
        Which of them are objects' at a glance.
    ends_usual : bool
        Whether the block's last line is.
    """

    names: bytes
    name_line: Ints
    last_line: Ints
    sizes: Ints
    left: Ints
    left_usual: Bools
    ends_usual: bool


def plain_images(
    data: NDArray[np.uint8], starts: Ints, ends: Ints, side: Side, in_bulk: bool = True, after_usual: bool = False
) -> PlainImages:
    """Find the images of a block.

    The lines between two usual object lines go together: either all are names (and sizes, in turn) in the plain form,
    or all are left, with the object line after them. Those before the first object line are left: what they are may
    depend on the block before.

    Parameters
    ----------
    data : (bytes,) uint8
        Text that ends with a newline.
    starts, ends : (lines,) int64
        First byte and newline of each line.
    side : {'gt', 'det'}
    in_bulk : bool
        Whether to take any image at all.
    after_usual : bool
        Whether the line before the block is an object's at a glance.
    """
    usual = usual_object_lines(data, starts, side)
    unusual = np.flatnonzero(~usual)
    stops = ends[unusual]
    stops -= data[stops - 1] == _RETURN
    is_blank = stops <= starts[unusual]
    usual_before = unusual - np.arange(len(unusual))
    other, stops, gap = (column[~is_blank] for column in (unusual, stops, usual_before))
    first = np.flatnonzero(np.diff(gap, prepend=-1))  # of each gap between object lines
    count = np.diff(first, append=len(gap))
    lines = 2 if side == "gt" else 1
    is_plain = (count % lines == 0) & (gap[first] > 0) & in_bulk
    taken = np.repeat(is_plain, count)
    owner = np.repeat(np.arange(len(first)), count)[taken][::lines]
    name, last = other[taken][::lines], other[taken][lines - 1 :: lines]
    name_stop, last_stop = stops[taken][::lines], stops[taken][lines - 1 :: lines]
    names, newlines = _lines(data, starts[name], name_stop)
    is_plain[owner[~_are_plain_names(names, newlines)]] = False
    is_plain[owner[name_stop - starts[name] > MAX_NAME_BYTES]] = False
    sizes = np.zeros((len(name), 2), np.int64)
    if side == "gt":
        sizes, are_sizes = _plain_sizes(data, starts[last], last_stop)
        is_plain[owner[~are_sizes]] = False
    kept = is_plain[owner]
    if not kept.all():
        name, last, sizes = name[kept], last[kept], sizes[kept]
        names, _ = _lines(data, starts[name], name_stop[kept])
    is_left = np.zeros(len(starts) + 1, dtype=bool)
    is_left[other[~np.repeat(is_plain, count)]] = True
    after = unusual[np.searchsorted(usual_before, gap[first[~is_plain]], side="right") - 1] + 1
    is_left[after] = True
    before = int(name[0]) if len(name) else len(starts)  # no image may have begun
    is_left[:before] |= usual[:before] & np.diff(usual[:before], prepend=after_usual)
    left = np.flatnonzero(is_left[:-1])
    return PlainImages(names.tobytes(), name, last, sizes, left, usual[left], bool(usual[-1]))


def _lines(data: NDArray[np.uint8], starts: Ints, stops: Ints) -> tuple[NDArray[np.uint8], Ints]:
    """Return stretches of bytes, each followed by a newline, and where these newlines are."""
    lengths = stops - starts + 1
    after = np.cumsum(lengths)
    taken = data[np.arange(lengths.sum()) + np.repeat(starts - (after - lengths), lengths)]
    taken[after - 1] = _NEWLINE
    return taken, after - 1


def _are_plain_names(names: NDArray[np.uint8], stop: Ints) -> Bools:
    """(n,) whether a name is one whatever stands before, and stays in the result folder."""
    kind = _KIND[names]
    odd = kind == _OTHER
    slash = np.flatnonzero(kind == _SLASH)
    odd[slash] = kind[slash + 1] != _WORD
    first = np.concatenate([np.zeros(1, np.int64), stop + 1])[:-1]
    odd[first] |= kind[first] != _WORD
    odd[stop] = names[stop - 1] == _BLANK
    plain = np.ones(len(stop), dtype=bool)
    plain[np.searchsorted(stop, np.flatnonzero(odd))] = False
    return plain


def _plain_sizes(data: NDArray[np.uint8], starts: Ints, stops: Ints) -> tuple[Ints, Bools]:
    """Return the two numbers of lines ``digits,digits``, (n, 2), and which lines are such, with numbers above 0."""
    position, last = starts, len(data) - 1
    sizes = np.zeros((len(starts), 2), np.int64)
    plain = np.ones(len(starts), dtype=bool)
    for column in range(2):
        value = sizes[:, column]
        for _ in range(_MOST_SIZE_DIGITS):
            digit = data[position] - np.uint8(_ZERO)
            is_digit = digit < 10
            if not is_digit.any():
                break
            value[is_digit] = 10 * value[is_digit] + digit[is_digit]
            position = position + is_digit
        plain &= value > 0
        if column == 0:
            plain &= data[position] == _COMMA
            position = np.minimum(position + 1, last)
    return sizes, plain & (position == stops)
