"""Any readable source to an EvaLTex file: nothing changes on the way, and
what cannot be held is reported.
"""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import read_or_raise
from written_files import in_folder

from evaltex_cli import evaluate
from evaltex_cli import old_formats as formats
from evaltex_cli.cli import main
from evaltex_cli.conversion import FILE_PER_IMAGE, Target
from evaltex_cli.conversion.convert import convert
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.old_formats.base import Side
from evaltex_cli.old_formats.options import InputOptions
from evaltex_cli.records import Objects

GOLDEN = Path(__file__).parents[1] / "golden"
BOXES = {
    "gt_img_1.txt": '10,20,60,40,"say \\"hi\\", you"\n65,21,90,41,###\n10,60.5,30.25,80.75,\n',
    "gt_img_2.txt": "",
}
POLYGONS = {
    "img_1.txt": "0,0,10,0,10,10,0,10,word\n0,20,10,20,15,25,10,30,0,30,###\n",
    "img_2.txt": "5,5,9,5,7,8,1996\n",
}


def assert_same(found: Objects, expected: Objects) -> None:
    assert found.offsets.tolist() == expected.offsets.tolist()
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.boxes.tolist() == expected.boxes.tolist()
    assert found.dont_care.tolist() == expected.dont_care.tolist()
    assert list(found.texts) == list(expected.texts)
    assert found.outlines.vertices.tolist() == expected.outlines.vertices.tolist()
    assert found.outlines.offsets.tolist() == expected.outlines.offsets.tolist()


def test_the_file_in_full(tmp_path: Path) -> None:
    target = tmp_path / "gt.txt"
    done = convert(in_folder(tmp_path / "src", BOXES), target, "gt")
    assert target.read_text(encoding="utf-8") == (
        "img_1\n81,90\n"
        '1,1,"say "hi",'
        ' you",f,10,20,50,20\n2,2,"###",t,65,21,25,20\n3,3,"",f,10,60.5,20.25,20.25\n\n'
        "img_2\n1,1\n\n"
    )
    assert (done.images, done.objects) == (2, 3)
    assert done.notes == ("2 images of unknown size got the smallest that holds their objects",)


def test_detections_have_neither_sizes_nor_flags(tmp_path: Path) -> None:
    target = tmp_path / "det.txt"
    source = in_folder(tmp_path / "src", {"res_1.txt": "1,2,3,4,0.5,a\n1,2,3,5,0.25,b\n"})
    done = convert(source, target, "det")
    assert target.read_text() == '1\n1,"a",1,2,2,2\n2,"b",1,2,2,3\n\n'
    assert done.notes == ("2 confidences left out: an EvaLTex file cannot hold them",)


@pytest.mark.parametrize("files", [BOXES, POLYGONS], ids=["boxes", "polygons"])
@pytest.mark.parametrize("side", ["gt", "det"])
def test_round_trip(tmp_path: Path, files: dict[str, str], side: Side) -> None:
    source, once, twice = (
        in_folder(tmp_path / "src", files),
        tmp_path / "once.txt",
        tmp_path / "twice.txt",
    )
    convert(source, once, side)
    names, images = read_or_raise(source, side)
    again_names, again = read_or_raise(once, side)
    assert again_names == names
    assert_same(again.objects, images.objects)
    assert convert(once, twice, side).notes == ()
    assert twice.read_bytes() == once.read_bytes()


WORDS = st.lists(
    st.tuples(
        *[st.integers(-(10**6), 10**6)] * 2,
        *[st.integers(1, 10**6)] * 2,
        st.text(
            st.characters(exclude_characters="\n\r", exclude_categories=["Cs", "Cc", "Zl", "Zp"]),
            max_size=9,
        ),
    ),
    max_size=5,
)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.lists(WORDS, min_size=1, max_size=3))
def test_round_trip_of_any_words(
    tmp_path_factory: pytest.TempPathFactory, images: list[list[tuple[int, ...]]]
) -> None:
    base = tmp_path_factory.mktemp("convert")
    files = {}
    for number, words in enumerate(images):
        rows = []
        for x, y, width, height, text in words:
            escaped = str(text).replace("\\", "\\\\").replace('"', '\\"')
            rows.append(f'{x / 8},{y / 8},{(x + width) / 8},{(y + height) / 8},"{escaped}"\n')
        files[f"{number}.txt"] = "".join(rows)
    source = in_folder(base / "src", files)
    convert(source, base / "out.txt", "gt", options=InputOptions("ltrb"))
    log = FaultLog()
    opened = formats.open_source(source, "gt", log, "ltrb")
    assert_same(
        read_or_raise(base / "out.txt")[1].objects,
        opened.read(np.arange(len(opened.names))).objects,
    )
    assert log.count == 0


def contents(path: Path) -> dict[str, bytes]:
    """The bytes of all files in a folder or an archive."""
    if path.is_dir():
        return {
            file.relative_to(path).as_posix(): file.read_bytes()
            for file in path.rglob("*")
            if file.is_file()
        }
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


@pytest.mark.parametrize("name", FILE_PER_IMAGE)
def test_a_folder_has_the_files_of_the_archive(tmp_path: Path, name: str) -> None:
    """Another file that would be read with them is refused."""
    source = tmp_path / "gt.txt"
    source.write_text(
        'img_1\n99,99\n1,1,"a",f,10,10,20,20\n\nimg_2\n99,99\n1,1,"b",f,10,10,20,20\n'
    )
    pages, archive = tmp_path / "pages", tmp_path / "pages.zip"

    def run(target: Path, *more: str) -> str:
        done = CliRunner().invoke(
            main, ["convert", str(source), str(target), "--kind", "gt", "--to", name, *more]
        )
        assert done.exit_code in (0, 2), done.output
        return " ".join(done.stderr.split()) if done.exit_code else "done"

    assert run(pages) == run(archive) == "done"
    before = contents(pages)
    assert before == contents(archive)
    assert len(before) == 2
    assert run(pages) == "done"
    source.write_text(source.read_text().replace('"a"', '"c"').replace("10,10,20", "10,11,20"))
    assert run(pages, "--force") == "done"
    assert contents(pages).keys() == before.keys()
    assert contents(pages) != before
    (pages / f"other{FILE_PER_IMAGE[name]}").touch()
    assert "which would be read as one of its images; give an empty folder" in run(pages, "--force")


def test_a_folder_stays_as_it_was_after_a_fault(tmp_path: Path) -> None:
    source = in_folder(tmp_path / "src", {"1.txt": "0,0,9,9,a\n", "2.txt": "9,9,0,0,b\n"})
    with pytest.raises(InputError, match=r"2\.txt:1: a box from"):
        convert(source, tmp_path / "pages", "gt", Target("page"))
    assert [path.name for path in tmp_path.iterdir()] == ["src"]
    with pytest.raises(InputError, match=r"page, alto, hocr, yolo can be a folder"):
        convert(source, tmp_path / "pages", "gt")


def test_images_in_folders(tmp_path: Path) -> None:
    source = in_folder(tmp_path / "src", {})
    for name in ("a", "b"):
        in_folder(source / name, {"1.txt": "0,0,9,9,a\n"})
    for _ in range(2):
        convert(source, tmp_path / "pages", "gt", Target("page"))
        assert sorted(contents(tmp_path / "pages")) == ["a/1.xml", "b/1.xml"]
    (tmp_path / "pages" / "a" / "photo.jpg").touch()
    convert(source, tmp_path / "pages", "gt", Target("page"))
    assert (tmp_path / "pages" / "a" / "photo.jpg").exists()


@pytest.mark.parametrize("files", [{}, {"picture.jpg": ""}], ids=str)
def test_a_source_without_images_is_an_error(tmp_path: Path, files: dict[str, str]) -> None:
    """An empty target would look like success."""
    source = in_folder(tmp_path / "src", files)
    for side in ("gt", "det", None):
        with pytest.raises(InputError, match="src: "):
            convert(source, tmp_path / "out.zip", side)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["src"]


def test_polygons_as_boxes(tmp_path: Path) -> None:
    source, target = in_folder(tmp_path / "src", POLYGONS), tmp_path / "gt.txt"
    convert(source, target, "gt", Target(boxes=True))
    found = read_or_raise(target)[1].objects
    assert found.outlines.all_boxes
    assert found.boxes.tolist() == read_or_raise(source)[1].objects.boxes.tolist()


def test_lines_as_regions(tmp_path: Path) -> None:
    words = "0,0,50,10,a\n55,0,90,10,b\n0,30,50,40,c\n"
    source, target = (
        in_folder(tmp_path / "src", {"1.txt": words, "2.txt": words}),
        tmp_path / "gt.txt",
    )
    convert(source, target, "gt")
    assert read_or_raise(target)[1].objects.regions.tolist() == [1, 2, 3, 1, 2, 3]
    convert(source, target, "gt", Target(regions="lines"))
    assert read_or_raise(target)[1].objects.regions.tolist() == [1, 1, 2, 1, 1, 2]
    again = tmp_path / "again.txt"
    convert(target, again, "gt")
    assert again.read_bytes() == target.read_bytes(), "regions and sizes of an EvaLTex file stay"


def test_objects_without_area_are_left_out_and_reported(tmp_path: Path) -> None:
    source, target = (
        in_folder(tmp_path / "src", {"1.txt": "0,0,0,9,a\n0,0,9,9,b\n"}),
        tmp_path / "gt.txt",
    )
    done = convert(source, target, "gt")
    assert "1 object without area left out: an EvaLTex file cannot hold it" in done.notes
    assert read_or_raise(target)[1].objects.ids.tolist() == [2]


def test_warnings_of_the_source_are_handed_on(tmp_path: Path) -> None:
    source = in_folder(tmp_path / "src", {"1.txt": "0,0,9,9\n", "1.json": "{}"})
    (note,) = convert(source, tmp_path / "det.txt", "det").warnings
    assert "1 file that is not .txt was left out: '1.json'" in note


@pytest.mark.parametrize("before", [None, "what stood there\n"])
def test_a_faulty_source_leaves_the_target_alone(tmp_path: Path, before: str | None) -> None:
    source, target = (
        in_folder(tmp_path / "src", {"1.txt": "0,0,9,9,a\n9,9,0,0,b\n"}),
        tmp_path / "out" / "gt.txt",
    )
    target.parent.mkdir()
    if before is not None:
        target.write_text(before)
    with pytest.raises(InputError, match=r"1\.txt:2: a box from \(9, 9\) to \(0, 0\)"):
        convert(source, target, "gt")
    assert [path.name for path in target.parent.iterdir()] == ([] if before is None else ["gt.txt"])
    assert before is None or target.read_text() == before


def test_a_target_that_cannot_be_written(tmp_path: Path) -> None:
    source = in_folder(tmp_path / "src", BOXES)
    with pytest.raises(InputError, match="cannot be written"):
        convert(source, tmp_path / "src" / "gt_img_1.txt" / "gt.txt", "gt")
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(InputError, match="is a folder where a file belongs"):
        convert(source, tmp_path / "folder.txt", "gt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.txt", "src"]


def test_the_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    convert(in_folder(tmp_path / "src", BOXES), tmp_path / "gt.txt", "gt")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "gt.txt")]
    assert modes[0] == modes[1]


def test_regions_only_help_precision(tmp_path: Path) -> None:
    """Blanks between words of a region count as text (Eq. 20); nothing else depends on regions."""
    gt, det = (GOLDEN / f"scenes/boxes-{side}.zip" for side in ("gt", "det"))
    for regions in ("own", "lines"):
        convert(gt, tmp_path / f"{regions}.txt", "gt", Target(regions=regions))  # type: ignore[arg-type]
    own, lines = (evaluate(tmp_path / f"{name}.txt", det).scores for name in ("own", "lines"))
    assert lines["precision"] > own["precision"] + 0.005
    assert [lines[key] for key in ("recall", "split", "quantity_precision")] == [
        own[key] for key in ("recall", "split", "quantity_precision")
    ]
