"""EvaLTex files: what is read, whatever the file's form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from evaltex_texts import GT
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read_or_raise

from evaltex_cli import evaluate
from evaltex_cli import old_formats as formats
from evaltex_cli.errors import FaultLog
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.evaltex import format as evaltex_txt


def columns(path: Path, side: Side) -> tuple[object, ...]:
    names, images = read_or_raise(path, side, "evaltex")
    found = images.objects
    drawn = (found.boxes, found.outlines.vertices, found.outlines.offsets)
    numbers = (found.offsets, found.ids, found.regions, found.dont_care, *drawn, images.sizes)
    return names, *(column.tolist() for column in numbers), list(found.texts)


LONG = "".join(
    (
        f'img_{k}\n{100 + k},200\n1,1,"Ünï,'
        f' {k}",f,{k},2,3,4\n7,1,plain,t,1,{k}.5,30,4\n3,1,"",f,0,0,9,0,{k + 1},9\n'
    )
    for k in range(9)
)


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 22])
@pytest.mark.parametrize(
    "form",
    [
        lambda text: text,
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\n\n \n\t\n"),
        lambda text: "\n\n" + text,
        lambda text: text[:-1],
        lambda text: "\ufeff" + text.replace("\n", "\r\n\r\n")[:-4],
    ],
    ids=[
        "lf",
        "bom",
        "crlf",
        "blank",
        "blank first",
        "no newline at the end",
        "bom, crlf, blank, no newline",
    ],
)
def test_form_and_blocks_do_not_matter(
    tmp_path: Path, form: object, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, other = tmp_path / "plain.txt", tmp_path / "other.txt"
    plain.write_bytes(LONG.encode())
    other.write_bytes(form(LONG).encode())  # type: ignore[operator]
    expected = columns(plain, "gt")
    assert expected[0] == [f"img_{k}" for k in range(9)]
    monkeypatch.setattr(evaltex_txt, "BLOCK_BYTES", block)
    assert columns(other, "gt") == expected


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_windows_lines_are_read_in_bulk_too(
    tmp_path: Path, newline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_plain = evaltex_txt._LINES["gt"]._replace(exact=lambda _: pytest.fail("read line by line"))
    monkeypatch.setitem(evaltex_txt._LINES, "gt", only_plain)
    path = tmp_path / "gt.txt"
    path.write_bytes(GT.replace("\n", newline).encode())
    assert columns(path, "gt")[2] == [1, 2]


def test_images_can_be_read_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "gt.txt"
    path.write_bytes(LONG.encode())
    source = formats.open_source(path, "gt", FaultLog(), "evaltex")
    found = source.read(np.array([5, 0, 8, 0]))
    assert found.sizes[:, 0].tolist() == [105, 100, 108, 100]
    assert found.objects.offsets.tolist() == [0, 3, 6, 9, 12]
    assert found.objects.boxes[::3, 0].tolist() == [5, 0, 8, 0]
    assert source.read(np.zeros(0, np.int64)).objects.count == 0


@pytest.mark.parametrize(
    ("line", "text", "box"),
    [
        ('1,2,"say "hi", you",f,1,2,3,4', 'say "hi", you', [1, 2, 4, 6]),
        ('1,2,"",f,1,2,3,4', "", [1, 2, 4, 6]),
        ("1,2,,f,1,2,3,4", "", [1, 2, 4, 6]),
        ("1,2,plain,f,1,2,3,4", "plain", [1, 2, 4, 6]),
        ("1,2,with, comma,f,1,2,3,4", "with, comma", [1, 2, 4, 6]),
        ("1,2,12,f,1,2,3,4", "12", [1, 2, 4, 6]),
        (' 1 , 2 , "a" , f , 1.5 , 2 , 3 , 4 ', "a", [1.5, 2, 4.5, 6]),
        ('1,2,"a",f,-1,-2.25,3,4', "a", [-1, -2.25, 2, 1.75]),
        ('1,2,"a",f,0,0,10,0,10,5', "a", [0, 0, 10, 5]),
        ('1,2,"a",f,9,9,10,0,10,5,0,5', "a", [0, 0, 10, 9]),
        ('1,2,"1,2,3,4",f,1,2,3,4', "1,2,3,4", [1, 2, 4, 6]),
    ],
)
def test_object_lines(tmp_path: Path, line: str, text: str, box: list[float]) -> None:
    path = tmp_path / "gt.txt"
    path.write_text(f"img\n10,10\n{line}\n", encoding="utf-8")
    objects = read_or_raise(path, "gt", "evaltex")[1].objects
    assert (objects.ids.tolist(), objects.regions.tolist(), objects.dont_care.tolist()) == (
        [1],
        [2],
        [False],
    )
    assert (list(objects.texts), objects.boxes.tolist()) == ([text], [box])
    assert (not objects.outlines.all_boxes) == (line.count(",") > 8 and "1,2,3,4" not in line)


@pytest.mark.parametrize(
    "name",
    [
        "12",
        "3.5",
        "img,1",
        "1,x",
        "img 1",
        "日本語",
        "a/b",
        "a.b..c",
        "#1",
        "[x]",
        "'q'",
        'a "b" c',
        "-",
        "...",
        "com1",
        "1;2",
    ],
)
def test_names_of_all_kinds(tmp_path: Path, name: str) -> None:
    """As names of both files, and as names of result files."""
    (tmp_path / "gt.txt").write_text(f'{name}\n10,10\n1,1,"",f,1,2,3,4\n', encoding="utf-8")
    (tmp_path / "det.txt").write_text(f'{name}\n1,"",1,2,3,4\n', encoding="utf-8")
    assert evaluate(tmp_path / "gt.txt", tmp_path / "det.txt").totals["true_positives"] == 1


@given(st.permutations(range(4)), st.permutations(range(4)))
@settings(deadline=None, derandomize=True, max_examples=20)
def test_order_of_images_may_differ(
    tmp_path_factory: pytest.TempPathFactory, one: list[int], other: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("order")
    gt = [f'i{k}\n99,99\n1,1,"",f,{10 * k},0,8,8\n' for k in range(4)]
    det = [f'i{k}\n1,"",{10 * k},0,8,{k + 4}\n' for k in range(4)]
    (folder / "gt.txt").write_text("".join(gt[k] for k in one))
    (folder / "det.txt").write_text("".join(det[k] for k in other))
    found = evaluate(folder / "gt.txt", folder / "det.txt", per_image=True)
    assert [image.name for image in found.images] == [f"i{k}" for k in one]
    assert found.totals["one_to_one"] == 4
    assert [round(image.scores["recall"], 2) for image in found.images] == [
        [0.5, 0.63, 0.76, 0.88][k] for k in one
    ]


def test_an_image_without_lines_or_without_mention_has_no_detections(tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text(GT + 'b\n9,9\n\nc\n9,9\n1,1,"",f,1,1,2,2')
    (tmp_path / "det.txt").write_text("c\n\nb")
    found = evaluate(tmp_path / "gt.txt", tmp_path / "det.txt")
    assert (found.totals["gt_objects"], found.totals["detections"], found.totals["missed"]) == (
        3,
        0,
        2,
    )
    assert (found.det.missing, found.det.empty, found.gt.empty) == (1, 2, 1)
    assert found.warnings == [
        "1 of 3 images has no detections in det.txt",
        "nothing matches; the detections have no object",
    ]
