"""Ground truth and detections in several files, and packed ones."""

from __future__ import annotations

import gzip
import os
import tempfile
import zipfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from command_line import invoke as run
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import evaluate
from evaltex_cli.errors import FaultLog, InputError
from evaltex_cli.evaluation import batches
from evaltex_cli.evaluation.inputs import open_inputs
from evaltex_cli.evaluation.pairing import NO_DETECTIONS, pair_images
from evaltex_cli.formats import open_source
from evaltex_cli.formats.files import names as names_of_images
from evaltex_cli.formats.files import packed as packed_files
from evaltex_cli.formats.files.names import Names
from evaltex_cli.formats.options import InputOptions

IMAGES = 30
FULL = Path("/dev/full")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def write(parts: int) -> None:
    """The same images in one file and in parts; detections in another order,
    in parts of their own.
    """
    gt = [
        f'img_{k}\n100,{100 + k}\n1,1,"a",f,{k},0,20,10\n2,2,"b",f,50,50,10,{k + 1}\n'
        for k in range(IMAGES)
    ]
    det = [
        f'img_{k}\n1,"a",{k + 2},0,20,10\n2,"b",50,50,10,10\n'
        for k in reversed(range(IMAGES))
        if k % 6
    ]
    for side, blocks in (("gt", gt), ("det", det)):
        Path(f"{side}.txt").write_text("".join(blocks))
        size = -(-len(blocks) // parts)
        for part in range(parts):
            Path(f"{side}-{part}.txt").write_text("".join(blocks[part * size : (part + 1) * size]))


def results(folder: str) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(Path(folder).rglob("*.txt"))
    }


def test_parts_are_evaluated_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve of them: number 10 comes after number 2, so images keep their order."""
    write(12)
    assert run("gt.txt", "det.txt", "whole", "-a").exit_code == 0
    monkeypatch.setattr(batches, "BATCH_IMAGES", 7)
    found = run("gt-*.txt", "det-*.txt", "parts", "-a")
    assert found.exit_code == 0, found.output
    assert len(results("whole")) == IMAGES + 1
    assert results("parts") == results("whole")
    assert (found.stdout.replace("parts", "whole"), found.stderr.count("warning")) == (
        run("gt.txt", "det.txt", "whole", "-a").stdout,
        1,
    )
    assert run("gt.txt", "det-*.txt", "mixed", "-a", "--jobs", "2").exit_code == 0
    assert results("mixed") == results("whole")


def test_packed_files_are_evaluated_as_their_content() -> None:
    write(2)
    assert run("gt.txt", "det.txt", "whole", "-a").exit_code == 0
    for name in ("gt", "det-0", "det-1"):
        Path(f"{name}.txt.gz").write_bytes(gzip.compress(Path(f"{name}.txt").read_bytes()))
    assert run("gt.txt.gz", "det-*.txt.gz", "packed", "-a", "--jobs", "2").exit_code == 0
    assert results("packed") == results("whole")
    packed, plain = (evaluate(name, "det.txt") for name in ("gt.txt.gz", "gt.txt"))
    assert packed.signature == plain.signature
    assert not list(Path().glob("evaltex-*.txt")), "temporary files end with what refers to them"
    packed_files._remove("gt.txt", os.getpid() + 1)
    assert Path("gt.txt").exists(), "a process removes only its own"


def refusal(gt: str, det: str = "det.txt") -> str:
    with pytest.raises(InputError) as refused:
        evaluate(gt, det)
    return str(refused.value)


def test_faults_are_reported_with_their_own_file() -> None:
    write(3)
    with Path("gt-1.txt").open("a") as file:
        file.write('3,3,"c",f,1,2,3\nimg_2\n5,5\n')
    reported = refusal("gt-*.txt").split("\n")
    assert reported[0].startswith(
        "gt-1.txt:42: image name 'img_2' again; expected image names used once (it stands in"
    )
    assert "gt-0.txt:9 too" in reported[0]
    assert reported[1].startswith("gt-1.txt:41: ")
    Path("gt.txt.gz").write_bytes(gzip.compress(b'img_0\n9,9\n1,1,"a",f,1,2,3\n'))
    Path("det.txt").write_text("")
    assert refusal("gt.txt.gz").startswith("gt.txt.gz:3: 3 coordinates")


def test_what_cannot_be_shards_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    write(2)
    assert "'none-*" not in refusal("none-*.txt") and "matches no file" in refusal("none-*.txt")
    Path("gt-2.txt").write_text('{"images": []}')
    assert "gt-2.txt" in refusal("gt-*.txt")
    data = gzip.compress(Path("gt.txt").read_bytes())
    Path("cut.txt.gz").write_bytes(data[:-9])
    assert "cut.txt.gz: damaged gzip data" in refusal("cut.txt.gz")
    Path("bad.txt.gz").write_bytes(data[:30] + bytes([data[30] ^ 255]) + data[31:])
    assert "bad.txt.gz: damaged gzip data" in refusal("bad.txt.gz")
    monkeypatch.setattr(packed_files, "_BLOCK_BYTES", 1 << 10)
    Path("bomb.txt.gz").write_bytes(gzip.compress(b"img_0\n9,9\n" + b"\n" * 4_000_000))
    assert "unpacks to more than 200 times its size" in refusal("bomb.txt.gz")
    with zipfile.ZipFile("gt-2.txt", "w") as archive:
        archive.writestr("gt_img_1.txt", "1,2,30,40,word\n")
    assert "gt-2.txt is no EvaLTex .txt" in refusal("gt-*.txt")
    assert evaluate("gt-[01].tx?", "det.txt").gt.images == IMAGES


def test_a_file_named_like_a_pattern_is_that_file() -> None:
    write(1)
    Path("gt.txt").rename("gt[1].txt")
    assert evaluate("gt[1].txt", "det.txt").gt.images == IMAGES


# Names --------------------------------------------------------------------------------------------


def packed(names: list[str]) -> Names:
    return Names("".join(f"{name}\n" for name in names).encode())


texts = st.lists(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=6),
    max_size=12,
)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=150)
@given(
    texts,
    st.integers(1, 30),
    st.slices(200),
    st.lists(st.integers(0, 10**6), max_size=9),
    st.sampled_from([7, 1000]),
)
def test_packed_names_are_as_a_list(
    names: list[str], times: int, part: slice, places: list[int], block: int
) -> None:
    """However the buffer is gone through, and however many groups of names it has."""
    repeat = len(set(names)) < len(names) or (times > 1 and len(names) > 0)
    names = names * times
    with patch.object(names_of_images, "_BLOCK_BYTES", block):
        found = packed(names)
        assert (
            list(found) == names
            and found == names
            and found == packed(names)
            and len(found) == len(names)
        )
        assert found[part] == names[part]
        assert [found[k] for k in range(-len(names), len(names))] == names + names
        positions = np.array([k % len(names) for k in places if names], dtype=np.int64)
        assert list(found.taken(positions)) == [names[k] for k in positions]
        assert found.repeat() == repeat
    assert found != [*names, "x"]
    with pytest.raises(IndexError):
        found[len(names)]


def test_equal_names_of_both_sides_are_in_memory_once() -> None:
    Path("ours.txt").write_text('a\n9,9\n1,1,"x",f,1,1,3,3\n\nb\n9,9\n')
    Path("theirs.txt").write_text('a\n1,"x",1,1,3,3\n\nb\n')
    inputs = open_inputs(Path("ours.txt"), Path("theirs.txt"), InputOptions())
    assert inputs.gt.names == ["a", "b"] and inputs.det.names is inputs.gt.names


def test_hashes_distinguish_names_however_long_and_many() -> None:
    names = [f"{k}{'x' * (k % 3) * 900}{k % 7}" for k in range(5000)]
    assert not packed(names).repeat()
    assert packed([*names, names[0]]).repeat()
    assert (packed(names[::-1]).hashes()[::-1] == packed(names).hashes()).all()
    assert not packed(["ab", "ba", "a", "b", ""]).repeat()


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.lists(st.integers(0, 20), unique=True), st.lists(st.integers(0, 20), unique=True))
def test_names_are_paired_in_any_order(ours: list[int], theirs: list[int]) -> None:
    gt, det = (packed([f"img_{k}" for k in numbers]) for numbers in (ours, theirs))
    source = open_source(
        Path(__file__).parents[2] / "examples" / "words" / "gt.txt", "gt", FaultLog()
    )
    from dataclasses import replace

    faults = FaultLog()
    paired = pair_images(replace(source, names=gt), replace(source, names=det), faults)
    assert paired.tolist() == [theirs.index(k) if k in theirs else NO_DETECTIONS for k in ours]
    extra = [k for k in theirs if k not in ours]
    assert faults.count == len(extra)
    assert all(f"'img_{k}'" in fault.found for k, fault in zip(extra, faults.shown, strict=False))


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full, which is always full")
def test_no_room_for_what_is_unpacked_is_said(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(1)
    Path("gt.txt.gz").write_bytes(gzip.compress(Path("gt.txt").read_bytes()))
    monkeypatch.setattr(
        tempfile, "mkstemp", lambda **_: (os.open(FULL, os.O_WRONLY), str(here / "new"))
    )
    found = run("gt.txt.gz", "det.txt")
    assert found.exit_code == 2
    message = " ".join(found.stderr.split())
    assert f"gt.txt.gz: cannot be unpacked to {here} (No space left on device)" in message
