"""EvaLTex files: the bulk tokeniser of object lines against the exact parser."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.errors import FormatError
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.evaltex import bulk as evaltex_bulk
from evaltex_cli.old_formats.evaltex.lines import is_object_line, parse_object_line
from evaltex_cli.old_formats.files.text_lines import line_ends
from evaltex_cli.old_formats.lines import ParsedLine
from evaltex_cli.records import offsets_of

NUMBERS = ("0", "5", "12", "3.5", ".5", "7.", "-4", "+6", "1e2", "2E-1", "-0", "007", "1e11")
ODD_NUMBERS = (
    "",
    " 8 ",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "2e12",
    "1_0",
    "0x1",
    "--5",
    "5-",
    "1-2",
    "e5",
    "1e",
    "٣",
    "a",
)
TEXTS = (
    "",
    "a",
    "kills",
    "1,2,3,4",
    'say "hi"',
    '"',
    ",",
    "a,b",
    "日本",
    "\\",
    "'",
    '",f,1,2,3,4',
    "12",
    "f",
    "\t",
)


@st.composite
def lines(draw: st.DrawFn, side: Side) -> str:
    """A line near the format: fields regular or odd, some missing, some too
    many, quotes where they belong or not.
    """
    odd = draw(st.booleans())
    number = st.sampled_from(NUMBERS + ODD_NUMBERS if odd else NUMBERS)
    whole = st.sampled_from(
        ("1", "22", "0", "345678") + (("-3", "+4", "1.0", "", "9" * 18, "9" * 19) if odd else ())
    )
    leading = (
        draw(st.lists(whole, min_size=1, max_size=3))
        if odd
        else [draw(whole) for _ in range(1 + (side == "gt"))]
    )
    text = draw(st.sampled_from(TEXTS))
    text = text if odd and draw(st.booleans()) else f'"{text}"'
    flag = draw(st.sampled_from(("t", "f", "x", " t", "") if odd else ("t", "f")))
    flags = [flag] if side == "gt" or (odd and draw(st.booleans())) else []
    count = draw(st.sampled_from((4, 4, 6, 8, 3, 5, 7, 0) if odd else (4, 4, 6, 8)))
    end = draw(st.sampled_from(("", "", " ", ",", "\r"))) if odd else ""
    return ",".join([*leading, text, *flags, *(draw(number) for _ in range(count))]) + end


def in_bulk(texts: list[str], side: Side) -> dict[int, ParsedLine]:
    buffer = "".join(f"{text}\n" for text in texts).encode()
    data = np.frombuffer(buffer, np.uint8)
    found = evaltex_bulk.read_plain(data, side)
    bounds = offsets_of(found.counts).tolist()
    return {
        line: ParsedLine(
            tuple(found.coordinates[bounds[k] : bounds[k + 1]].tolist()),
            buffer[found.text_start[k] : found.text_stop[k]].decode(),
            bool(found.dont_care[k]),
            id=int(found.ids[k]),
            region=int(found.regions[k]),
        )
        for k, line in enumerate(found.line.tolist())
    }


def exactly(text: str, side: Side) -> ParsedLine | None:
    try:
        return parse_object_line(text.strip(), side)
    except FormatError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("side", ["gt", "det"])
@given(data=st.data())
@settings(deadline=None, derandomize=True, max_examples=120)
def test_bulk_says_what_the_exact_parser_says(side: Side, data: st.DataObject) -> None:
    """Of every line that the bulk tokeniser takes; and it leaves lines that
    begin as others do to the index.
    """
    texts = data.draw(st.lists(lines(side), min_size=1, max_size=8))
    taken = in_bulk(texts, side)
    for line, found in taken.items():
        assert found == exactly(texts[line], side), texts[line]
    buffer = np.frombuffer("".join(f"{text}\n" for text in texts).encode(), np.uint8)
    starts = np.concatenate([[0], line_ends(buffer)[:-1] + 1])
    at_a_glance = re.compile('[0-9]{1,18},[0-9]{1,18},"' if side == "gt" else '[0-9]{1,18},"')
    for text, usual in zip(
        texts, evaltex_bulk.usual_object_lines(buffer, starts, side).tolist(), strict=True
    ):
        assert usual == bool(at_a_glance.match(text)), text
        assert not usual or is_object_line(text.strip(), side), text


@pytest.mark.parametrize("side", ["gt", "det"])
def test_bulk_takes_the_lines_that_files_are_made_of(side: Side) -> None:
    """Else all of this would be slow, and the test above empty."""
    texts = ['1,"",1,2,3,4', '20,"kills, 1",1.5,-2,31,4', '3,"é",0,0,9,0,9,9'] * 3
    texts = (
        [text.replace(",", ",5,", 1).replace('",', '",f,') for text in texts]
        if side == "gt"
        else texts
    )
    assert list(in_bulk(texts, side)) == list(range(9))


@pytest.mark.parametrize(
    ("side", "line"),
    [
        ("gt", '1,"abc",f,1,2,3,4,5'),
        ("gt", '1,2,3,"abc",f,2,3,4,5'),
        ("det", '1,2,"x",3,4,5,6,7'),
        ("det", '"x",1,2,3,4'),
    ],
)
def test_quotes_in_another_field_are_not_taken_in_bulk(side: Side, line: str) -> None:
    """A coordinate would be taken for the region that is missing."""
    assert in_bulk([line], side) == {}
