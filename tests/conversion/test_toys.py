"""Toy detections: the published sets again, their recipes on words of every
shape, and files that evaltex reads.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read_or_raise
from shared_data import DATA, needs_data

from evaltex_cli import evaluate
from evaltex_cli.conversion import toys
from evaltex_cli.conversion.toys import SETS, cut, portion, write_toys
from evaltex_cli.errors import InputError
from evaltex_cli.formats.base import TextObject
from evaltex_cli.formats.columns import objects_of

ROOT = Path(__file__).parents[2]


def entries(path: Path) -> dict[str, list[str]]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode().splitlines() for name in archive.namelist()}


def as_read(path: Path) -> list[tuple[str, list[tuple[list[float], str]]]]:
    """Every image's name, and its objects' coordinates and transcriptions, in
    the order of the file.
    """
    source = read_or_raise(path, "det")
    objects = source.objects
    every = [
        (objects.outlines.ring(i).ravel().tolist() or objects.boxes[i].tolist(), objects.texts[i])
        for i in range(objects.count)
    ]
    return [
        (name, every[start:stop])
        for name, (start, stop) in zip(source.names, pairwise(objects.offsets), strict=True)
    ]


def ground_truth(folder: Path, **images: str) -> Path:
    folder.mkdir()
    for name, lines in images.items():
        (folder / f"gt_{name}.txt").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toys") / "icdar2013"
    write_toys(DATA / "icdar2013" / "gt.zip", folder)
    return folder


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", SETS)
def test_the_published_sets(published: Path, name: str) -> None:
    made, theirs = published / f"{name}.zip", DATA / "icdar2013" / "cleval" / f"{name}.zip"
    assert set(entries(made)) == set(entries(theirs))
    assert as_read(made) == as_read(theirs)


@needs_data
def test_all_published_sets_are_made() -> None:
    assert set(SETS) == {path.stem for path in (DATA / "icdar2013" / "cleval").glob("*.zip")}


@pytest.mark.parametrize("gt", ["scenes/quads-gt.zip", "totaltext/gt.zip"])
def test_words_found_as_they_are(gt: str, tmp_path: Path) -> None:
    path = ROOT / "tests" / "golden" / gt
    made = write_toys(path, tmp_path / "out", ["orig", "split2"])
    assert made.files == ("orig.zip", "split2.zip")
    found = evaluate(path, tmp_path / "out" / "orig.zip")
    assert found.det.objects == found.gt.objects - found.gt.dont_care == made.words
    assert found.scores["recall"] > 0.99
    assert evaluate(path, tmp_path / "out" / "split2.zip").det.objects == 2 * made.words


def test_same_bytes_every_time(tmp_path: Path) -> None:
    gt = ground_truth(tmp_path / "gt", img_1='0,0,9,9,"a word"\n', img_2="0,0,9,9,###\n")
    for folder in ("a", "b"):
        assert write_toys(gt, tmp_path / folder).files == tuple(f"{name}.zip" for name in SETS)
    for name in SETS:
        assert (tmp_path / "a" / f"{name}.zip").read_bytes() == (
            tmp_path / "b" / f"{name}.zip"
        ).read_bytes()
    assert entries(tmp_path / "a" / "orig.zip") == {
        "res_img_1.txt": ["0,0,9,9"],
        "res_img_2.txt": [],
    }


def test_quadrilaterals_are_cut_along_their_first_side(tmp_path: Path) -> None:
    gt = ground_truth(tmp_path / "gt", img_1="10,0,10,100,0,100,0,0,down\n")
    write_toys(gt, tmp_path / "out", ["split2", "crop80", "overlap20"])
    assert entries(tmp_path / "out" / "split2.zip")["res_img_1.txt"] == [
        "10,0,10,50,0,50,0,0",
        "10,50,10,100,0,100,0,50",
    ]
    assert entries(tmp_path / "out" / "crop80.zip")["res_img_1.txt"] == ["10,9,10,90,0,90,0,9"]
    assert (
        entries(tmp_path / "out" / "overlap20.zip")["res_img_1.txt"][1] == "10,40,10,100,0,100,0,40"
    )


def test_polygons_are_cut_along_their_chains(tmp_path: Path) -> None:
    gt = ground_truth(tmp_path / "gt", img_1="0,0,10,0,30,0,30,5,20,5,0,5,text\n")
    write_toys(gt, tmp_path / "out", ["split2", "crop80"])
    assert entries(tmp_path / "out" / "split2.zip")["res_img_1.txt"] == [
        "0,0,10,0,15,0,15,5,0,5",
        "15,0,30,0,30,5,20,5,15,5",
    ]


words = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), min_size=3, max_size=12)
shares = (
    st.tuples(st.integers(0, 20), st.integers(0, 20))
    .map(sorted)
    .filter(lambda pair: pair[0] < pair[1])
)


@given(words, shares)
@settings(deadline=None, derandomize=True, max_examples=100)
def test_portions_stay_in_the_word(points: list[tuple[int, int]], share: list[int]) -> None:
    found = portion(np.array(points, float), share[0] / 20, share[1] / 20)
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    assert len(found) >= 4
    assert (found >= low).all() and (found <= high).all()


def parts_of(one: list[float], shares: list[tuple[float, float]]) -> list[list[float]]:
    """The parts of one word: a box is cut along x."""
    if len(one) > 4:
        ring = np.array(one).reshape(-1, 2)
        return [portion(ring, *share).ravel().tolist() for share in shares]
    x0, y0, x1, y1 = one
    return [
        [float(int(x0 + start * (x1 - x0))), y0, float(int(x0 + stop * (x1 - x0))), y1]
        for start, stop in shares
    ]


COORDINATES = st.integers(-900, 900).map(lambda value: value / 4)
BOXES = st.tuples(*[COORDINATES] * 4).map(
    lambda one: [*map(min, one[:2], one[2:]), *map(max, one[:2], one[2:])]
)
CORNERS = st.lists(COORDINATES, min_size=8, max_size=8)


@pytest.mark.parametrize(
    "others",
    [
        CORNERS,
        st.sampled_from([6, 8, 12]).flatmap(
            lambda size: st.lists(COORDINATES, min_size=size, max_size=size)
        ),
    ],
    ids=["quadrilaterals", "any"],
)
@given(data=st.data())
@settings(deadline=None, derandomize=True, max_examples=50)
def test_words_cut_together_and_each_alone(others: Any, data: st.DataObject) -> None:
    words = data.draw(st.lists(st.one_of(BOXES, others), max_size=6))
    portions = data.draw(st.sampled_from([[(0.0, 0.3)], [(0.0, 0.5), (0.25, 1.0)]]))
    found = cut(objects_of([list(map(TextObject, words))]).outlines, portions)
    rings = [found.ring(i).ravel().tolist() for i in range(len(found.boxes))]
    wanted = [part for one in words for part in parts_of(one, portions)]
    assert [ring or box for ring, box in zip(rings, found.boxes.tolist(), strict=True)] == wanted
    for box, part in zip(found.boxes.tolist(), wanted, strict=True):
        x, y = part[::2], part[1::2]
        assert box == [min(x), min(y), max(x), max(y)]


@given(words)
@settings(deadline=None, derandomize=True, max_examples=100)
def test_the_whole_portion_is_the_word(points: list[tuple[int, int]]) -> None:
    ring = np.array(points, float)
    found = portion(ring, 0.0, 1.0)
    assert {tuple(vertex) for vertex in found.tolist()} <= {
        tuple(vertex) for vertex in ring.tolist()
    }
    if len(points) > 3:
        assert found[0].tolist() == ring[0].tolist() and found[-1].tolist() == ring[-1].tolist()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("e2e_orig", r'say "\" now'),
        ("e2e_insert2", r'say "\" now¤¤'),
        ("e2e_delete2", r'y "\" now'),
        ("e2e_replace2", r'¤¤y "\" now'),
    ],
)
def test_edits(name: str, text: str, tmp_path: Path) -> None:
    gt = ground_truth(tmp_path / "gt", img_1='0,0,90,9,"say \\"\\\\\\" now"\n')
    write_toys(gt, tmp_path / "out", [name])
    assert entries(tmp_path / "out" / f"{name}.zip") == {"res_img_1.txt": [f"0,0,90,9,{text}"]}
    assert as_read(tmp_path / "out" / f"{name}.zip") == [("img_1", [([0, 0, 90, 9], text)])]


def test_edits_stop_at_the_end_of_the_word(tmp_path: Path) -> None:
    gt = ground_truth(tmp_path / "gt", img_1="0,0,90,9,x¤\n")
    write_toys(
        gt, tmp_path / "out", ["e2e_insert3", "e2e_delete3", "e2e_replace3", "e2e_replace3_rand"]
    )
    lines = {
        name: entries(tmp_path / "out" / f"e2e_{name}.zip")["res_img_1.txt"]
        for name in ("insert3", "delete3")
    }
    assert lines == {"insert3": ["0,0,90,9,x¤¥¥"], "delete3": ["0,0,90,9"]}
    (line,) = entries(tmp_path / "out" / "e2e_replace3_rand.zip")["res_img_1.txt"]
    text = line.split(",")[4]
    assert len(text) == 2 and text.isascii() and text.isalpha() and text[0] != "x"


EVALTEX = (
    'b/img 1\n100,100\n1,1,"one,'
    ' two",f,10,20,30,8\n2,2,"",t,0,0,5,5\n3,3,"x",f,10,50,40,50,60,55,40,60,10,60\n\n'
)


def test_evaltex_files(tmp_path: Path) -> None:
    gt = tmp_path / "gt.txt"
    gt.write_text(EVALTEX, encoding="utf-8")
    made = write_toys(gt, tmp_path / "out")
    assert made.files == tuple(f"{name}.txt" for name in SETS)
    split = (tmp_path / "out" / "split3.txt").read_text(encoding="utf-8").splitlines()
    assert split[:4] == ["b/img 1", '1,"",10,20,10,8', '2,"",20,20,10,8', '3,"",30,20,10,8']
    edited = (tmp_path / "out" / "e2e_delete1.txt").read_text(encoding="utf-8")
    assert edited == 'b/img 1\n1,"ne, two",10,20,30,8\n2,"",10,50,40,50,60,55,40,60,10,60\n\n'
    assert evaluate(gt, tmp_path / "out" / "orig.txt").scores["recall"] == 1


def test_boxes_too_small_to_cut_are_left_out_and_reported(tmp_path: Path) -> None:
    gt = tmp_path / "gt.txt"
    gt.write_text('a\n9,9\n1,1,"x",f,0,0,1,5\n\n', encoding="utf-8")
    (note,) = write_toys(gt, tmp_path / "out", ["split2"]).notes
    assert note.startswith("1 object without area left out")


def test_boxes_among_polygons_become_quadrilaterals(tmp_path: Path) -> None:
    gt = tmp_path / "gt.txt"
    gt.write_text(EVALTEX.replace("b/", ""), encoding="utf-8")
    write_toys(gt, tmp_path / "out", ["orig"], layout="zip")
    assert entries(tmp_path / "out" / "orig.zip")["res_img 1.txt"][0] == "10,20,40,20,40,28,10,28"


@pytest.mark.parametrize(
    ("sets", "lines", "layout", "message"),
    [
        (["crop100"], "0,0,9,9,a", None, "unknown toy set 'crop100'"),
        (["split1"], "0,0,9,9,a", None, "unknown toy set"),
        (["e2e_delete1_rand"], "0,0,9,9,a", None, "unknown toy set"),
        (["e2e_orig"], '0,0,9,9,""', None, "no transcriptions, which e2e_orig needs"),
        ([], "0,0,9,9,###", None, "no object that counts"),
        ([], "0,0,9,9,a", "tar", "unknown layout 'tar'"),
        ([], "9,0,0,9,a", None, "x0 <= x1"),
    ],
)
def test_faults(
    sets: list[str], lines: str, layout: str | None, message: str, tmp_path: Path
) -> None:
    gt = ground_truth(tmp_path / "gt", img_1=lines + "\n")
    with pytest.raises(InputError, match=message):
        write_toys(gt, tmp_path / "out", sets, layout)
    assert not (tmp_path / "out").exists()


def test_image_names_with_folders_need_evaltex_files(tmp_path: Path) -> None:
    gt = tmp_path / "gt.txt"
    gt.write_text(EVALTEX, encoding="utf-8")
    with pytest.raises(InputError, match="layout txt"):
        write_toys(gt, tmp_path / "out", ["orig"], layout="zip")


def test_folders_that_distinguish_images_stay(tmp_path: Path) -> None:
    gt = tmp_path / "gt.txt"
    gt.write_text(EVALTEX + EVALTEX.replace("b/", "a/"), encoding="utf-8")
    write_toys(gt, tmp_path / "out", ["orig"], layout="zip")
    assert list(entries(tmp_path / "out" / "orig.zip")) == ["b/res_img 1.txt", "a/res_img 1.txt"]
    assert {name for name, _ in as_read(tmp_path / "out" / "orig.zip")} == {"a/img 1", "b/img 1"}


def test_ground_truth_without_transcriptions(tmp_path: Path) -> None:
    gt = ground_truth(tmp_path / "gt", img_1='0,0,9,9,""\n')
    made = write_toys(gt, tmp_path / "out")
    assert made.files == tuple(f"{name}.zip" for name in SETS if not name.startswith("e2e_"))
    assert "13 sets" in made.notes[0]


def test_other_files_stay(tmp_path: Path) -> None:
    gt = ground_truth(tmp_path / "gt", img_1="0,0,9,9,a\n")
    out = tmp_path / "out"
    write_toys(gt, out, ["orig", "split2"])
    before = (out / "split2.zip").read_bytes()
    (out / "mine.zip").write_bytes(b"mine")
    write_toys(gt, out, ["orig"])
    assert sorted(path.name for path in out.iterdir()) == ["mine.zip", "orig.zip", "split2.zip"]
    assert (out / "split2.zip").read_bytes() == before


def documented() -> str:
    return (ROOT / "docs" / "toys.md").read_text(encoding="utf-8")


def test_the_seed_is_documented() -> None:
    assert f"random.Random({toys.SEED})" in documented()


@pytest.mark.slow
@needs_data
def test_the_documented_tables_are_the_printed_ones() -> None:
    command = [
        sys.executable,
        ROOT / "examples" / "tables.py",
        DATA / "icdar2013" / "gt.zip",
        "icdar2013",
    ]
    printed = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    rows = [line for line in printed.splitlines() if line.startswith("| ")]
    assert len(rows) == 3 * 2 + 3 * 10
    assert set(rows) <= set(documented().splitlines())
