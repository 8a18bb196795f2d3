"""Ground truth and detections in several files, and packed ones."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest
from command_line import invoke as run

from evaltex_cli import evaluate
from evaltex_cli.errors import InputError
from evaltex_cli.evaluation import evaluate as evaluation
from evaltex_cli.formats import files

pytestmark = pytest.mark.usefixtures("here")

IMAGES = 30


def write(parts: int) -> None:
    """The same images in one file and in parts; detections in another order."""
    gt = [
        f'img_{k}\n100,{100 + k}\n1,1,"a",f,{k},0,20,10\n2,2,"b",f,50,50,10,{k + 1}\n'
        for k in range(IMAGES)
    ]
    det = [f'img_{k}\n1,"a",{k + 2},0,20,10\n2,"b",50,50,10,10\n' for k in range(1, IMAGES)]
    for side, blocks in (("gt", gt), ("det", det[::-1])):
        Path(f"{side}.txt").write_text("".join(blocks))
        size = -(-len(blocks) // parts)
        for part in range(parts):
            Path(f"{side}-{part}.txt").write_text("".join(blocks[part * size : (part + 1) * size]))


def results(folder: str) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in Path(folder).rglob("*.txt")
    }


def test_parts_are_evaluated_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve of them: number 10 comes after number 2, so images keep their order."""
    write(12)
    assert run("gt.txt", "det.txt", "whole", "-a").exit_code == 0
    monkeypatch.setattr(evaluation, "BATCH_OBJECTS", 7)
    for gt, name, jobs in (("gt-*.txt", "parts", "1"), ("gt.txt", "mixed", "2")):
        found = run(gt, "det-*.txt", name, "-a", "--jobs", jobs)
        assert found.exit_code == 0, found.output
        assert results(name) == results("whole") and len(results(name)) == IMAGES + 1


def refusal(gt: str, det: str = "det.txt") -> str:
    with pytest.raises(InputError) as refused:
        evaluate(gt, det)
    return str(refused.value)


def test_faults_are_reported_with_their_own_file() -> None:
    write(3)
    with Path("gt-1.txt").open("a") as file:
        file.write('3,3,"c",f,1,2,3\nimg_2\n5,5\n')
    reported = refusal("gt-*.txt").split("\n")
    assert reported[0].startswith("gt-1.txt:41: ")
    assert reported[1] == "gt-1.txt: image name 'img_2' again; expected image names used once"
    Path("gt.txt.gz").write_bytes(gzip.compress(b'img_0\n9,9\n1,1,"a",f,1,2,3\n'))
    Path("det.txt").write_text("")
    assert refusal("gt.txt.gz").startswith("gt.txt.gz:3: 3 coordinates")


def test_what_cannot_be_shards_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    write(2)
    assert "'none-*" not in refusal("none-*.txt") and "matches no file" in refusal("none-*.txt")
    Path("gt-2.txt").write_text('{"images": []}')
    assert "gt-2.txt" in refusal("gt-*.txt")
    monkeypatch.setattr(files, "HARMLESS_BYTES", 1 << 10)
    Path("bomb.txt.gz").write_bytes(gzip.compress(b"img_0\n9,9\n" + b"\n" * 4_000_000))
    assert "bomb.txt.gz: has more than 392400 bytes, unpacked" in refusal("bomb.txt.gz")
    with zipfile.ZipFile("gt-2.txt", "w") as archive:
        archive.writestr("gt_img_1.txt", "1,2,30,40,word\n")
    assert "EvaLTex .txt files, and gt-2.txt is none" in refusal("gt-*.txt")
    assert evaluate("gt-[01].tx?", "det.txt").gt.images == IMAGES


def test_a_file_named_like_a_pattern_is_that_file() -> None:
    write(1)
    Path("gt.txt").rename("gt[1].txt")
    assert evaluate("gt[1].txt", "det.txt").gt.images == IMAGES
