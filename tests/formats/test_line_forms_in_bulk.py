"""Text files of the field's data sets: reading in bulk against the exact parser of lines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from line_shapes import QUAD
from reading import folder

from evaltex_cli.errors import FormatError
from evaltex_cli.old_formats import lines as line_formats
from evaltex_cli.old_formats import plain_lines
from evaltex_cli.old_formats.files import archive
from evaltex_cli.old_formats.files.text_lines import line_ends
from evaltex_cli.old_formats.icdar import bulk_shapes
from evaltex_cli.old_formats.icdar import format as icdar_txt
from evaltex_cli.old_formats.icdar.lines import HAS_BOXES, Syntax, lines_of, parse_line
from evaltex_cli.old_formats.lines import ParsedLine

NUMBERS = st.sampled_from(
    [
        *(
            "0",
            "1",
            "12",
            "-3",
            "0.5",
            "1.0",
            "07",
            ".5",
            "5.",
            "1e3",
            "+4",
            "-0",
            "1.2.3",
            "--1",
            "-",
            ".",
            "",
            "nan",
        ),
        *(
            "inf",
            "1 2",
            "1e13",
            "123456789012345678901234567890",
            "0.1",
            "99.75",
            " 7",
            "  8",
            "9 ",
            "\t6",
            "x",
            "1_0",
        ),
    ]
)
PLAIN = st.sampled_from(["0", "1", "12", "-3", "0.5", "1.0", "99.75", " 7"])
TAILS = st.sampled_from(
    [
        *(
            "",
            ",",
            ",word",
            ', "word"',
            ',"a\\"b"',
            ',"',
            ',""',
            ',"a" ',
            ",###",
            ", ###",
            ',"###"',
            ",####",
            ",####x",
        ),
        *(
            ",1996",
            ",Latin,word",
            ",Latin",
            ", Korean ,###",
            ",0.5",
            ",0,x",
            ',1,"x"',
            ',0,"x"',
            ",nan,",
            ",Inf,x",
        ),
        *(",x\r", ",é", "##::x", ",\u3000###", ",,", ",a,1,2", " word", ",word\x00", ",5 o'clock"),
    ]
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        count = draw(st.sampled_from([0, 1, 3, 4, 4, 5, 6, 7, 8, 8, 9, 10, 12, 28, 32]))
        kind = draw(st.sampled_from([PLAIN, PLAIN, PLAIN, NUMBERS]))
        separator = draw(st.sampled_from([",", ",", ",", ", ", " "]))
        start = draw(st.sampled_from(["", "", "", "", "\ufeff", " ", "#"]))
        lines.append(start + separator.join(draw(kind) for _ in range(count)) + draw(TAILS))
    return draw(st.sampled_from(["\n", "\r\n", "\n\n"])).join(lines) + draw(
        st.sampled_from(["", "\n", "\r"])
    )


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=120)
@given(st.lists(texts(), min_size=1, max_size=3))
@example(["0,0,0,0,1,1,0,"])
def test_bulk_survey_is_the_exact_one(contents: list[str]) -> None:
    expected = bulk_shapes.Shapes()
    for content in contents:
        for _, line in lines_of(content):
            expected.add_line(line)
    buffer = b"".join(line_formats.whole_lines(content.encode()) for content in contents)
    assert bulk_shapes.survey_block(buffer) == expected


SYNTAXES = [
    Syntax(name, side, confidences and side == "det", transcriptions)
    for name in ("ltrb", "quad", "polygon", "box-polygon", "mlt", "rctw", "ctw1500", "popeval")
    for side in ("gt", "det")
    for confidences in (False, True)
    for transcriptions in (False, True)
]


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=120)
@given(st.lists(texts(), min_size=1, max_size=3), st.sampled_from(SYNTAXES))
def test_bulk_reading_is_the_exact_one(
    tmp_path_factory: pytest.TempPathFactory,
    contents: list[str],
    syntax: Syntax,  # type: ignore[no-untyped-def]
) -> None:
    path = folder(tmp_path_factory.mktemp("bulk") / "a", *contents)
    expected: list[list[ParsedLine]] = []
    faults = []
    for number, content in enumerate(contents, 1):
        expected.append([])
        for line_number, line in lines_of(content):
            try:
                expected[-1].append(parse_line(line, syntax))
            except FormatError as error:
                faults.append((f"{path}/{number}.txt", line_number, error.found, error.expected))
    images = icdar_txt._Lines(archive.open_entries(path), syntax).read()
    objects, log = images.objects, images.faults
    assert [(fault.file, fault.line, fault.found, fault.expected) for fault in log.shown] == faults
    assert log.count == len(faults)
    flat = [line for image in expected for line in image]
    assert np.diff(objects.offsets).tolist() == [len(image) for image in expected]
    assert list(objects.texts) == [line.text for line in flat]
    assert objects.dont_care.tolist() == [line.dont_care for line in flat]
    assert objects.ids.tolist() == [k for image in expected for k in range(1, len(image) + 1)]
    is_box = np.array(
        [syntax.format in HAS_BOXES and len(line.coordinates) == 4 for line in flat], dtype=bool
    )
    boxes = [line.coordinates for line, box in zip(flat, is_box, strict=True) if box]
    polygons = [line.coordinates for line, box in zip(flat, is_box, strict=True) if not box]
    assert objects.boxes[is_box].tolist() == boxes
    assert objects.outlines.vertices.ravel().tolist() == [
        value for one in polygons for value in one
    ]
    assert objects.outlines.counts[~is_box].tolist() == [len(one) // 2 for one in polygons]
    if syntax.confidences and not syntax.own_tail:
        assert objects.confidences is not None
        assert objects.confidences.tolist() == [line.confidence for line in flat]


@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.lists(texts(), min_size=1, max_size=3), st.sampled_from(SYNTAXES), st.integers(1, 60))
def test_where_the_text_is_cut_does_not_matter(
    contents: list[str], syntax: Syntax, stretch: int
) -> None:
    buffer = b"".join(line_formats.whole_lines(content.encode()) for content in contents)
    data = np.frombuffer(buffer, np.uint8)
    ends = line_ends(data)
    form = icdar_txt.line_format(syntax)
    whole = bulk_shapes.survey_block(buffer), line_formats._plain(data, ends, form)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_lines, "STRETCH_BYTES", stretch)
        cut = bulk_shapes.survey_block(buffer), line_formats._plain(data, ends, form)
    assert cut[0] == whole[0]
    for found, expected in zip(cut[1], whole[1], strict=True):
        assert found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


def test_plain_lines_need_no_exact_parser() -> None:
    """Otherwise the two would agree because one of them does all the work."""
    lines = [f"{QUAD},word", f'{QUAD}, "a, b"', f"{QUAD},", QUAD, "-1.5, 2,3,4,###", "1,2,3,4,é"]
    data = np.frombuffer("".join(line + "\n" for line in lines).encode(), np.uint8)
    plain = plain_lines.plain_lines(data)
    assert plain.line.tolist() == list(range(len(lines)))
    assert plain.numbers.tolist() == [8, 8, 8, 8, 4, 4] and plain.goes_on.tolist() == [
        True,
        True,
        True,
        False,
        True,
        True,
    ]
