"""Toy detections: the published sets again, their recipes on words of every shape, and files that
evaltex reads.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import read_or_raise
from shared_data import DATA, needs_data
from written_files import contents, in_folder

from evaltex_cli import evaluate
from evaltex_cli.conversion.toys import SETS, write_toys
from evaltex_cli.errors import InputError

EVALTEX = (
    'b/img 1\n100,100\n1,1,"one,'
    ' two",f,10,20,30,8\n2,2,"",t,0,0,5,5\n3,3,"x",f,10,50,40,50,60,55,40,60,10,60\n\n'
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ground_truth(lines: str = "0,0,9,9,a\n") -> Path:
    return in_folder(Path("gt"), {"gt_img_1.txt": lines})


def lines_of(gt: Path, name: str) -> list[str]:
    """The lines of the first image of a set."""
    write_toys(gt, Path("out"), [name], layout="zip")
    return next(iter(contents(Path("out") / f"{name}.zip").values())).splitlines()


def as_read(path: Path) -> dict[str, list[tuple[list[float], str]]]:
    """Image -> its objects' coordinates and transcriptions."""
    source = read_or_raise(path, "det")
    objects, images = source.objects, {name: [] for name in source.names}  # type: ignore[var-annotated]
    for i, image in enumerate(objects.image.tolist()):
        points = objects.outlines.ring(i).ravel().tolist() or objects.boxes[i].tolist()
        images[source.names[image]].append((points, objects.texts[i]))
    return images


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toys") / "icdar2013"
    made = write_toys(DATA / "icdar2013" / "gt.zip", folder)
    assert set(made.files) == {path.name for path in (DATA / "icdar2013" / "cleval").glob("*.zip")}
    return folder


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", SETS)
def test_the_published_sets(published: Path, name: str) -> None:
    made, theirs = published / f"{name}.zip", DATA / "icdar2013" / "cleval" / f"{name}.zip"
    assert set(contents(made)) == set(contents(theirs))
    assert as_read(made) == as_read(theirs)


DOWN, SAY = "10,0,10,100,0,100,0,0,down", r'0,0,90,9,"say \"\\\" now"'
SIX = "0,0,10,0,30,0,30,5,20,5,0,5,text"


@pytest.mark.parametrize(
    ("word", "name", "parts"),
    [
        ("0,0,9,9,a", "orig", ["0,0,9,9"]),
        ("-3,0,9,9,a", "split2", ["-3,0,3,9", "3,0,9,9"]),
        ("0,0,9.5,9,a", "crop50", ["2,0,7,9"]),
        (DOWN, "split2", ["10,0,10,50,0,50,0,0", "10,50,10,100,0,100,0,50"]),
        (DOWN, "overlap20", ["10,0,10,60,0,60,0,0", "10,40,10,100,0,100,0,40"]),
        (SIX, "split2", ["0,0,10,0,15,0,15,5,0,5", "15,0,30,0,30,5,20,5,15,5"]),
        (SAY, "e2e_orig", [r'0,0,90,9,say "\" now']),
        (SAY, "e2e_insert2", [r'0,0,90,9,say "\" now¤¤']),
        (SAY, "e2e_delete2", [r'0,0,90,9,y "\" now']),
        (SAY, "e2e_replace2", [r'0,0,90,9,¤¤y "\" now']),
        ("0,0,90,9,x¤", "e2e_delete3", ["0,0,90,9"]),
    ],
)
def test_recipes(word: str, name: str, parts: list[str]) -> None:
    assert lines_of(ground_truth(f"{word}\n"), name) == parts


def test_evaltex_files_and_the_same_bytes_every_time() -> None:
    Path("gt.txt").write_text(EVALTEX, encoding="utf-8")
    for folder in ("a", "b"):
        made = write_toys(Path("gt.txt"), Path(folder))
        assert made.files == tuple(f"{name}.txt" for name in SETS)
    for file in made.files:
        assert Path("a", file).read_bytes() == Path("b", file).read_bytes()
    split = Path("a/split3.txt").read_text(encoding="utf-8").splitlines()
    assert split[:4] == ["b/img 1", '1,"",10,20,10,8', '2,"",20,20,10,8', '3,"",30,20,10,8']
    edited = Path("a/e2e_delete1.txt").read_text(encoding="utf-8")
    assert edited == 'b/img 1\n1,"ne, two",10,20,30,8\n2,"",10,50,40,50,60,55,40,60,10,60\n\n'
    assert evaluate("gt.txt", "a/orig.txt").scores["recall"] == 1


def test_archives_of_evaltex_files() -> None:
    """Boxes among polygons become quadrilaterals; folders that distinguish images stay."""
    gt = Path("gt.txt")
    gt.write_text(EVALTEX, encoding="utf-8")
    with pytest.raises(InputError, match="rename the image"):
        write_toys(gt, Path("out"), ["orig"], layout="zip")
    gt.write_text(EVALTEX + EVALTEX.replace("b/", "a/"), encoding="utf-8")
    assert lines_of(gt, "orig")[0] == "10,20,40,20,40,28,10,28"
    assert list(contents(Path("out/orig.zip"))) == ["b/res_img 1.txt", "a/res_img 1.txt"]
    assert as_read(Path("out/orig.zip")).keys() == {"a/img 1", "b/img 1"}


def test_what_is_left_out_is_reported() -> None:
    """Boxes too small to cut, and sets that need transcriptions."""
    Path("gt.txt").write_text('a\n9,9\n1,1,"x",f,0,0,1,5\n\n', encoding="utf-8")
    (note,) = write_toys(Path("gt.txt"), Path("out"), ["split2"]).notes
    assert note.startswith("1 object without area left out")
    made = write_toys(ground_truth('0,0,9,9,""\n'), Path("out"))
    assert made.files == tuple(f"{name}.zip" for name in SETS if not name.startswith("e2e_"))
    assert "13 sets" in made.notes[0]


@pytest.mark.parametrize(
    ("sets", "lines", "message"),
    [
        (["crop100"], "0,0,9,9,a", "unknown toy set 'crop100'"),
        (["e2e_delete1_rand"], "0,0,9,9,a", "unknown toy set"),
        (["e2e_orig"], '0,0,9,9,""', "no transcriptions; leave out sets"),
        ([], "0,0,9,9,###", "no object that counts"),
        ([], "9,0,0,9,a", "x0 <= x1"),
    ],
)
def test_faults(sets: list[str], lines: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        write_toys(ground_truth(f"{lines}\n"), Path("out"), sets)
    assert not Path("out").exists()
