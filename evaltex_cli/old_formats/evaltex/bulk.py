"""Bulk readers of EvaLTex files: array operations over the bytes of a block of some megabytes.

They take only the plain forms and say which lines they leave, which `evaltex.index` and
`evaltex.lines` take one by one. Plain object lines have two double quotes, and numbers without plus
sign or exponent. Plain images begin with a name of letters, digits, ``_.-/`` and inner blanks, in
ground truth then height and width in digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.files.image_names import MAX_NAME_BYTES
from evaltex_cli.old_formats.files.text_lines import line_ends
from evaltex_cli.old_formats.lines import LineColumns
from evaltex_cli.old_formats.plain_lines import Bytes, PlainLines, plain_lines
from evaltex_cli.records import Bools, Floats, Ints

_NEWLINE, _RETURN, _BLANK, _QUOTE, _COMMA, _DOT, _ZERO = b'\n\r ",.0'
_MOST_DIGITS = 18
_MOST_SIZE_DIGITS = 9

BOX_COMMAS = {"gt": 7, "det": 5}
"""The commas of an object line of a box whose transcription has none; no object line has fewer."""

_OTHER, _WORD, _INNER, _SLASH = 0, 1, 2, 3
_KIND = np.full(256, _OTHER, np.uint8)
_KIND[
    np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz", np.uint8)
] = _WORD
_KIND[np.frombuffer(b" .-\n", np.uint8)] = _INNER
_KIND[ord("/")] = _SLASH


# Object lines -------------------------------------------------------------------------------------


def usual_object_lines(data: Bytes, starts: Ints, side: Side) -> Bools:
    """(lines,) whether a line begins ``digits,digits,"`` (ground truth) or
    ``digits,"``: an object line at a glance.
    """
    shortest = b'1,1,"' if side == "gt" else b'1,"'
    if len(data) < len(shortest):
        return np.zeros(len(starts), dtype=bool)
    usual = starts <= len(data) - len(shortest)
    begin = starts * usual
    for k, byte in enumerate(shortest):
        # Bytes below "0" wrap around to large numbers, so one comparison finds digits.
        usual &= (
            data[begin + k] - np.uint8(_ZERO) < 10
            if byte == shortest[0]
            else data[begin + k] == byte
        )
    others = np.flatnonzero(~usual)
    usual[others] = _are_usual(data, starts[others], side)
    return usual


def _wide_lines(data: Bytes, starts: Ints, usual: Bools, side: Side, sizes: int) -> Ints:
    """Return those of the usual object lines that may have more numbers than a box.

    Each has the commas of a box or more, since its transcription may have some; a size line has
    one.
    """
    is_comma, least, lines = data == _COMMA, BOX_COMMAS[side], int(np.count_nonzero(usual))
    if (
        np.count_nonzero(is_comma) <= least * lines + sizes + 1
    ):  # a line of vertices has two more than one of a box
        return np.zeros(0, np.int64)
    return np.flatnonzero(usual & (np.add.reduceat(is_comma, starts, dtype=np.int32) > least + 1))


def _are_usual(data: Bytes, position: Ints, side: Side) -> Bools:
    usual = np.ones(len(position), dtype=bool)
    last = len(data) - 1
    for _ in range(2 if side == "gt" else 1):
        begin = position
        for _ in range(_MOST_DIGITS):
            digit = data[position] - np.uint8(_ZERO) < 10
            if not digit.any():
                break
            position = position + digit
        usual &= (position > begin) & (data[position] == _COMMA)
        position = np.minimum(position + 1, last)
    usual &= data[position] == _QUOTE
    return usual


def read_plain(data: Bytes, side: Side) -> LineColumns:
    """Read the plain object lines of a text that ends with a newline.

    Transcription and reject flag are cut out; what is left of a line must be numbers between commas
    and nothing else.
    """
    ends = line_ends(data)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])[: len(ends)]
    line, opening, closing = _quoted_lines(data, starts, ends, side)
    numbers = _without_transcriptions(
        data, starts[line], opening, closing + (4 if side == "gt" else 2), ends[line]
    )
    plain = plain_lines(numbers)
    leading = 2 if side == "gt" else 1
    fits = _fits(numbers, plain, opening[plain.line] - starts[line[plain.line]], leading)
    values, in_range = plain.values(numbers, fits)
    counts = plain.numbers[fits] - leading
    first = np.cumsum(counts + leading) - counts
    sound = in_range & _with_corners(values, first[counts == 4], counts == 4)
    # Of each sound line all numbers are marked, then the leading ones unmarked: ID and, in ground
    # truth, region.
    is_coordinate = np.repeat(sound, counts + leading)
    is_coordinate[first - leading] = False
    is_coordinate[first - 1] = False
    chosen = plain.line[fits[sound]]
    return LineColumns(
        line=line[chosen],
        coordinates=values[is_coordinate],
        counts=counts[sound],
        text_start=opening[chosen] + 1,
        text_stop=closing[chosen],
        dont_care=data[closing[chosen] + 2] == ord("t")
        if side == "gt"
        else np.zeros(len(chosen), dtype=bool),
        confidences=np.broadcast_to(np.nan, len(chosen)),
        ids=values[first[sound] - leading].astype(np.int64),
        regions=values[first[sound] - 1].astype(np.int64),
    )


def _quoted_lines(data: Bytes, starts: Ints, ends: Ints, side: Side) -> tuple[Ints, Ints, Ints]:
    """Return the lines with two quotes between commas (and a reject flag),
    and where their quotes stand.
    """
    quotes = np.flatnonzero(data == _QUOTE)
    before = np.searchsorted(quotes, ends)
    # `before` counts quotes up to each line's end, so differences count those of a line.
    line = np.flatnonzero(np.diff(before, prepend=0) == 2)
    opening, closing = quotes[before[line] - 2], quotes[before[line] - 1]
    after = 3 if side == "gt" else 1
    fits = (opening > starts[line]) & (closing + after < ends[line])
    line, opening, closing = line[fits], opening[fits], closing[fits]
    fits = (data[opening - 1] == _COMMA) & (data[closing + after] == _COMMA)
    if side == "gt":
        flag = data[closing + 2]
        fits &= (data[closing + 1] == _COMMA) & ((flag == ord("t")) | (flag == ord("f")))
    return line[fits], opening[fits], closing[fits]


def _without_transcriptions(
    data: Bytes, starts: Ints, opening: Ints, resume: Ints, ends: Ints
) -> Bytes:
    keep = np.zeros(len(data) + 1, np.int8)
    keep[starts] = 1
    keep[opening] = -1
    keep[resume] = 1
    keep[ends + 1] -= 1
    # The running sum of beginnings and ends is 1 within what stays, and 0 elsewhere.
    kept: Bytes = data[np.cumsum(keep[:-1], dtype=np.int8).view(bool)]
    return kept


def _fits(numbers: Bytes, plain: PlainLines, opening: Ints, leading: int) -> Ints:
    """Return the lines with numbers for an object, of which the leading ones
    end before `opening` and have no dot.
    """
    counts = plain.numbers - leading
    fits = ~plain.goes_on & ((counts == 4) | ((counts >= 6) & (counts % 2 == 0)))
    leading_stop = plain.marks[np.minimum(plain.first + leading - 1, len(plain.marks) - 1)]
    fits &= leading_stop - plain.start == opening - 1
    dots = np.flatnonzero(numbers == _DOT)
    # The line of each dot is the first that ends after it; after the last plain line there is none.
    owner = np.searchsorted(plain.stop, dots)
    dots, owner = dots[owner < len(fits)], owner[owner < len(fits)]
    fits[owner[(dots >= plain.start[owner]) & (dots < leading_stop[owner])]] = False
    return np.flatnonzero(fits)


def _with_corners(values: Floats, first: Ints, is_box: Bools) -> Bools:
    """Put x1, y1 in the place of the width and height of boxes that begin at
    `first`; return which have an area.
    """
    sound = np.ones(len(is_box), dtype=bool)
    has_area = np.ones(len(first), dtype=bool)
    for k in range(2):
        start, size = values[first + k], values[first + k + 2]
        with np.errstate(all="ignore"):  # values out of range are refused later
            values[first + k + 2] += start
        has_area &= (size > 0) & (values[first + k + 2] > start)
    sound[is_box] = has_area
    return sound


# Images -------------------------------------------------------------------------------------------


class PlainImages(NamedTuple):
    """The images of a block that begin in the plain form, and the lines that are left."""

    names: bytes
    """Each followed by a newline."""
    name_line: Ints
    last_line: Ints
    """`name_line` and `last_line`: (n,) int64. Index of the name's line in the block, and of the
    last line before the objects."""
    sizes: Ints
    """(n, 2) int64. Height and width; 0 for detections."""
    left: Ints
    """(m,) int64. Indices of the lines to be taken one by one."""
    left_usual: Bools
    """(m,) bool. Which of them are objects' at a glance."""
    ends_usual: bool
    """Whether the block's last line is."""
    wide: Ints
    """(k,) int64. Lines that are objects' at a glance and may have more numbers than a box."""


def plain_images(
    data: Bytes,
    starts: Ints,
    ends: Ints,
    side: Side,
    in_bulk: bool = True,
    after_usual: bool = False,
) -> PlainImages:
    """Find the images of a block.

    The lines between two usual object lines go together: either all are names (and sizes, in turn)
    in the plain form, or all are left, with the object line after them. Those before the first
    object line are left: what they are may depend on the block before.

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
    # Lines of the same gap have the same number of usual lines before them.
    usual_before = unusual - np.arange(len(unusual))
    other, stops, gap = (column[~is_blank] for column in (unusual, stops, usual_before))
    first = np.flatnonzero(np.diff(gap, prepend=-1))  # of each gap between object lines
    count = np.diff(first, append=len(gap))
    lines = 2 if side == "gt" else 1
    is_plain = (count % lines == 0) & (gap[first] > 0) & in_bulk
    taken = np.repeat(is_plain, count)
    owner = np.repeat(np.arange(len(first)), count)[taken][::lines]
    name, last = other[taken][::lines], other[taken][lines - 1 :: lines]
    # In a gap of ground truth names and sizes take turns, so every second line is a name.
    name_stop, last_stop = stops[taken][::lines], stops[taken][lines - 1 :: lines]
    names, newlines = _lines(data, starts[name], name_stop)
    is_plain[owner[~_are_plain_names(names, newlines)]] = False
    is_plain[owner[name_stop - starts[name] > MAX_NAME_BYTES]] = False
    sizes = np.zeros((len(name), 2), np.int64)
    if side == "gt":
        sizes, are_sizes = _plain_sizes(data, starts[last], last_stop)
        is_plain[owner[~are_sizes]] = False
    remains = is_plain[owner]
    if not remains.all():
        name, last, sizes = name[remains], last[remains], sizes[remains]
        names, _ = _lines(data, starts[name], name_stop[remains])
    is_left = np.zeros(len(starts) + 1, dtype=bool)
    is_left[other[~np.repeat(is_plain, count)]] = True
    # The usual line after a gap, whose last line may be blank and therefore not be in `other`.
    after = unusual[np.searchsorted(usual_before, gap[first[~is_plain]], side="right") - 1] + 1
    is_left[after] = True
    before = int(name[0]) if len(name) else len(starts)  # no image may have begun
    is_left[:before] |= usual[:before] & np.diff(usual[:before], prepend=after_usual)
    left = np.flatnonzero(is_left[:-1])
    wide = _wide_lines(data, starts, usual, side, len(name) if side == "gt" else 0)
    return PlainImages(names.tobytes(), name, last, sizes, left, usual[left], bool(usual[-1]), wide)


def _lines(data: Bytes, starts: Ints, stops: Ints) -> tuple[Bytes, Ints]:
    """Return stretches of bytes, each followed by a newline, and where these newlines are."""
    lengths = stops - starts + 1
    after = np.cumsum(lengths)
    # Positions in the result, shifted for each stretch by how far it moves.
    taken = data[np.arange(lengths.sum()) + np.repeat(starts - (after - lengths), lengths)]
    taken[after - 1] = _NEWLINE
    return taken, after - 1


def _are_plain_names(names: Bytes, stop: Ints) -> Bools:
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


def _plain_sizes(data: Bytes, starts: Ints, stops: Ints) -> tuple[Ints, Bools]:
    """Return the two numbers of lines ``digits,digits``, (n, 2), and which
    lines are such, with numbers above 0.
    """
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
