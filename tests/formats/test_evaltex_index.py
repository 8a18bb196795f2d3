"""EvaLTex files: what the index finds in bulk, against the same lines taken one by one."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.evaltex import bulk as evaltex_bulk
from evaltex_cli.old_formats.evaltex import format as evaltex_txt
from evaltex_cli.old_formats.evaltex import index as evaltex_index
from evaltex_cli.old_formats.evaltex.bulk import PlainImages
from evaltex_cli.old_formats.evaltex.index import Index
from evaltex_cli.old_formats.files.image_names import leaves_result_folder
from evaltex_cli.old_formats.files.text_lines import line_ends

NAMES = (
    *(
        "img_1",
        "img_2",
        "7",
        "a b",
        "deep/er/img-3.jpg",
        "x",
        "_",
        "12x34",
        "1280",
        "3.5",
        "9/9",
        "été",
        "日本",
        "a,b",
    ),
    *(
        "-1",
        ".x",
        " lead",
        "trail ",
        "a//b",
        "a/../b",
        "/abs",
        "a/",
        "a\tb",
        "c:x",
        "5 5",
        "5,",
        '"q"',
        "1e5",
        "\ufeffx",
    ),
)
SIZES = (
    "100,200",
    "720,960",
    "1,1",
    "007,8",
    "123456789,5",
    "1234567890,5",
    "0,5",
    "5,0",
    " 5,6",
    "5, 6",
    "5,6 ",
)
ODD_SIZES = (
    "5.5,6",
    "5x6",
    "5 6",
    "5",
    "5,6,7",
    "a,5",
    "5,b",
    "+5,6",
    "1e3,2",
    "-1,2",
    ",",
    "5,,6",
    "٣,4",
)
GT_OBJECTS = (
    '1,1,"a",f,1,2,3,4',
    '2,1,"",t,1,2,3,4',
    '3,1,"b,c",f,0,0,9,0,9,9',
    "4,1,plain,f,1,2,3,4",
    ' 5,1,"x",f,1,2,3,4',
)
DET_OBJECTS = (
    '1,"a",1,2,3,4',
    '2,"",1,2,3,4',
    "3,plain,1,2,3,4",
    '4 ,"x",1,2,3,4',
    "1,2,3,4",
    '5,1,"a",f,1,2,3,4',
)
BLANKS = ("", "", "", " ", "\t", "\r")


@st.composite
def files(draw: st.DrawFn, side: Side) -> bytes:
    """Images in the plain form with oddities among them: lines left out,
    doubled, exchanged, of any kind anywhere.
    """
    objects = GT_OBJECTS if side == "gt" else DET_OBJECTS
    oddity = draw(st.sampled_from((0, 0.05, 0.3)))
    anything = st.sampled_from((*NAMES, *SIZES, *ODD_SIZES, *GT_OBJECTS, *DET_OBJECTS, *BLANKS))
    generator = draw(st.randoms(use_true_random=False))
    lines: list[str] = []
    for k in range(draw(st.integers(0, 8))):
        image = [f"img_{k}" if generator.random() < 0.7 else generator.choice(NAMES)]
        image += [generator.choice(SIZES[:3])] * (side == "gt")
        image += generator.choices(
            objects[:2] if generator.random() < 0.7 else objects, k=generator.randrange(4)
        )
        image += [""] * generator.randrange(3)
        for line in image:
            if generator.random() >= oddity:
                lines.append(line)
            else:
                lines += [draw(anything) for _ in range(generator.randrange(3))]
    newline = draw(st.sampled_from(("\n", "\n", "\r\n")))
    text = (
        draw(st.sampled_from(("", "", "\ufeff")))
        + newline.join(lines)
        + draw(st.sampled_from((newline, "")))
    )
    return text.encode() + draw(st.sampled_from((b"", b"", b"", b"\xe9t\xe9\n")))


def one_by_one(*arguments: object, **options: object) -> PlainImages:
    return evaltex_bulk.plain_images(*arguments, **(options | {"in_bulk": False}))  # type: ignore[arg-type]


def indexed(paths: list[Path], side: Side) -> tuple[object, ...]:
    """Everything the index of files says."""
    log = FaultLog()
    source = evaltex_txt.index_files(paths[0], paths, side, log)
    reader = source.content
    assert isinstance(reader, evaltex_txt.Reader)
    columns = (
        reader.sizes,
        reader.start,
        reader.weights,
        reader.line,
        reader.file,
        reader.head,
    )
    found = [column.tolist() for column in columns]
    return [*source.names], found, source.sha256, source.warnings, log.count, log.shown


def assert_same_one_by_one(paths: list[Path], side: Side) -> None:
    for block, parts in ((1 << 22, (1 << 19, 40, 1)), (100, (1 << 19,)), (7, (7,))):
        with patch.object(evaltex_txt, "BLOCK_BYTES", block):
            with patch.object(evaltex_index, "plain_images", one_by_one):
                expected = indexed(paths, side)
            for part in parts:
                with patch.object(evaltex_index, "PART_BYTES", part):
                    assert indexed(paths, side) == expected, (block, part)


@pytest.mark.slow
@pytest.mark.parametrize("side", ["gt", "det"])
@given(data=st.data())
@settings(deadline=None, derandomize=True, max_examples=100)
def test_bulk_finds_what_single_lines_say(
    tmp_path_factory: pytest.TempPathFactory, side: Side, data: st.DataObject
) -> None:
    """Names, sizes, places, line numbers and faults, in one file or several,
    wherever parts are cut.
    """
    folder = tmp_path_factory.getbasetemp()
    paths = []
    for k, content in enumerate(data.draw(st.lists(files(side), min_size=1, max_size=2))):
        paths.append(folder / f"{side}-{k}.txt")
        paths[-1].write_bytes(content)
    assert_same_one_by_one(paths, side)


@pytest.mark.slow
@pytest.mark.parametrize("side", ["gt", "det"])
@given(data=st.data())
@settings(deadline=None, derandomize=True, max_examples=100)
def test_names_and_texts_are_where_the_index_says(
    tmp_path_factory: pytest.TempPathFactory, side: Side, data: st.DataObject
) -> None:
    """Each image's place is the line of its name, and its text begins with
    the line of its number.
    """
    paths, lines = [], {}
    for k, content in enumerate(data.draw(st.lists(files(side), min_size=1, max_size=2))):
        paths.append(tmp_path_factory.getbasetemp() / f"{side}-{k}.txt")
        paths[-1].write_bytes(content)
        lines[str(paths[-1])] = content.split(b"\n")
    source = evaltex_txt.index_files(paths[0], paths, side, FaultLog())
    for name, place, text in zip(
        source.names, source.content.places(), source.content.texts(), strict=True
    ):
        assert isinstance(place.at, int)
        line = lines[place.file][place.at - 1].decode("utf-8", "replace")
        assert name == (line.removeprefix("\ufeff") if place.at == 1 else line).strip()
        count = text.text.count(b"\n")
        assert b"\n".join(lines[text.file][text.first - 1 :][: count + 1]).startswith(text.text)


@pytest.mark.parametrize("part", [1 << 20, 60, 7, 1])
@pytest.mark.parametrize("side", ["gt", "det"])
def test_the_index_says_which_images_may_have_polygons(
    side: Side, part: int, tmp_path: Path
) -> None:
    """Two commas more than a box needs: of vertices or a transcription, in a
    plain line or in one taken by itself.
    """
    lead, flag = ("1,1,", ",f") if side == "gt" else ("1,", "")
    box = f'{lead}"a,b"{flag},1,2,3,4\n'
    objects = {
        "boxes": box * 3,
        "nothing": "",
        "polygon": f'{box}{lead}"a"{flag},0,0,9,0,9,9\n',
        "commas": f'{lead}"1,000,000"{flag},1,2,3,4\n',
        "odd box": f" {lead}a{flag},1,2,3,4\n\n",
        "odd polygon": f"{box}{lead}a{flag},0,0,9,0,9,9\n",
        "last": box,
    }
    path = tmp_path / "file.txt"
    path.write_text(
        "".join(f"{name}\n{'10,10' * (side == 'gt')}\n{lines}" for name, lines in objects.items())
    )
    log = FaultLog()
    with (
        patch.object(evaltex_index, "PART_BYTES", part),
        patch.object(evaltex_txt, "BLOCK_BYTES", max(part, 20)),
    ):
        source = evaltex_txt.index(path, side, log)
    assert not log.count
    assert source.polygons is not None
    assert source.polygons.tolist() == [
        name in ("polygon", "commas", "odd polygon") for name in source.names
    ]


def test_an_odd_object_line_belongs_to_an_image_found_in_bulk(tmp_path: Path) -> None:
    """Though the file begins with objects of no image, and no name was taken as one line."""
    path = tmp_path / "det.txt"
    path.write_text('1,"",1,2,3,4\n1,"",1,2,3,4\nimg\n1,"",1,2,3,4\n2 ,"",1,2,3,4\n')
    assert_same_one_by_one([path], "det")
    log = FaultLog()
    evaltex_txt.index(path, "det", log)
    assert [fault.line for fault in log.shown] == [1]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("side", ["gt", "det"])
def test_files_as_they_are_written_are_indexed_in_bulk(
    side: Side, newline: bytes, tmp_path: Path
) -> None:
    """All but the first image, be there blank lines or images without
    objects; else the test above were empty.
    """
    names = [b"img_1", b"a b/c-1.jpg", b"7", b"x", b"_y.z"]
    lines = []
    for k, name in enumerate(names):
        lines += [name, *([b"720,%d" % (k + 1)] * (side == "gt"))]
        lines += [b'1,1,"a",f,1,2,3,4' if side == "gt" else b'1,"a",1,2,3,4'] * (
            0 if name == b"7" else 2
        ) + [b""] * (k % 3)
    data = np.frombuffer(newline.join(lines) + newline, np.uint8)
    ends = line_ends(data)
    found = evaltex_bulk.plain_images(data, np.append(0, ends[:-1] + 1), ends, side)
    assert found.names.split(b"\n")[:-1] == names[1:]
    assert found.sizes[:, 1].tolist() == ([2, 3, 4, 5] if side == "gt" else [0] * 4)
    assert found.left.tolist() == ([0, 1, 2] if side == "gt" else [0, 1])


@given(st.text(st.sampled_from("aZ0_.-/ \\:,\t\x7fé"), max_size=6))
@settings(deadline=None, derandomize=True, max_examples=120)
def test_names_taken_in_bulk_stay_in_the_result_folder(name: str) -> None:
    data = np.frombuffer(f'1,"",1,2,3,4\n{name}\n'.encode(), np.uint8)
    ends = line_ends(data)
    found = evaltex_bulk.plain_images(data, np.append(0, ends[:-1] + 1), ends, "det")
    assert found.names in (b"", name.encode() + b"\n")
    assert not found.names or (not leaves_result_folder(name) and name == name.strip())


def test_columns_grow_wider_where_numbers_need_it() -> None:
    """Files of many gigabytes, sizes beyond two bytes and sizes with a fraction."""
    text = b'1,1,"a",f,1,2,3,4\na\n720,70000\n1,1,"a",f,1,2,3,4\nb\n0.1,1e9\n1,1,"a",f,1,2,3,4\n'
    index = Index("gt", FaultLog())
    index.begin_file(Path("gt.txt"))
    index.take_block(b"first\n2,3\n", 0, 1)
    index.take_block(text, 5 << 30, 3 << 30)
    index.end_file((5 << 30) + len(text), 4 << 30)
    found = index.images()
    assert [*found.names] == ["first", "a", "b"]
    assert found.sizes.tolist() == [[2, 3], [720, 70000], [0.1, 1e9]]
    assert found.start.tolist() == [10, (5 << 30) + 30, (5 << 30) + 58]
    assert found.weights.tolist() == [(5 << 30) + 18 - 10, 18, 18]
    assert found.line.tolist() == [3, (3 << 30) + 3, (3 << 30) + 6]
