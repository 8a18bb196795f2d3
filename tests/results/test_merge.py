"""Results of parts are merged to those of the whole."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import invoke as run

pytestmark = pytest.mark.usefixtures("here")

PARTS = 3


def write_parts(images: int = 30) -> None:
    generator = np.random.default_rng(5)
    blocks: tuple[list[str], list[str]] = ([], [])
    for k in range(images):
        gt, det = [f"sub/img_{k}", "100,100"], [f"sub/img_{k}"]
        for i in range(1, 5):
            x, y, w, h = np.round(generator.uniform(1, 60, 4), 3).tolist()
            gt.append(f'{i},{i},"word",{"t" if i == 4 else "f"},{x},{y},{w},{h}')
            det.append(f'{i},"word",{x},{y},{w * 0.77},{h}')
        blocks[0].append("\n".join(gt) + "\n")
        if k % 4:
            blocks[1].append("\n".join(det) + "\n")
    for side, side_blocks in zip(("gt", "det"), blocks, strict=True):
        Path(f"{side}.txt").write_text("".join(side_blocks))
    size = -(-images // PARTS)
    for part in range(PARTS):
        wanted = {f"sub/img_{k}" for k in range(part * size, (part + 1) * size)}
        for side, side_blocks in zip(("gt", "det"), blocks, strict=True):
            text = "".join(block for block in side_blocks if block.split("\n")[0] in wanted)
            Path(f"{side}-{part}.txt").write_text(text)


def evaluate_all(*options: str) -> None:
    write_parts()
    for name in ("", *(f"-{part}" for part in range(PARTS))):
        assert run(f"gt{name}.txt", f"det{name}.txt", f"res{name}", *options).exit_code == 0


def document(folder: str, protocol: str = "evaltex") -> dict[str, Any]:
    read: dict[str, Any] = json.loads(Path(folder, f"{protocol}.json").read_text())
    return read


PARTS_RESULTS = [f"res-{part}" for part in range(PARTS)]


def test_parts_with_images_give_the_whole_to_the_last_bit() -> None:
    evaluate_all("-a", "--protocol", "evaltex", "--protocol", "deteval")
    found = run("merge", *PARTS_RESULTS, "merged")
    assert found.exit_code == 0, found.output
    for protocol in ("evaltex", "deteval"):
        whole, merged = document("res", protocol), document("merged", protocol)
        assert [merged[key] for key in ("totals", "scores", "images", "parameters")] == [
            whole[key] for key in ("totals", "scores", "images", "parameters")
        ]
        counts = set(whole["inputs"]["det"]) - {"file", "sha256"}
        assert {key: merged["inputs"]["det"][key] for key in counts} == {
            key: whole["inputs"]["det"][key] for key in counts
        }
        for path in [
            Path(f"{protocol}.txt"),
            *(one.relative_to("res") for one in Path("res").rglob("img_*.txt")),
        ]:
            assert Path("merged", path).read_bytes() == Path("res", path).read_bytes()
    again = run("merge", "merged/evaltex.json", "merged2")
    assert again.exit_code == 0
    assert document("merged2")["totals"] == document("res")["totals"]


def test_parts_without_images_add_up() -> None:
    evaluate_all()
    found = run("merge", *(f"{folder}/evaltex.json" for folder in PARTS_RESULTS), "merged")
    assert found.exit_code == 0, found.output
    assert "sums of floats are of rounded totals" in found.stderr
    whole, merged = document("res"), document("merged")
    assert merged["images"] == []
    for name, value in whole["totals"].items():
        assert merged["totals"][name] == (
            pytest.approx(value, rel=1e-14) if "sum" in name else value
        ) or isinstance(value, float)
    assert merged["scores"]["recall"] == pytest.approx(whole["scores"]["recall"], abs=1e-12)
    assert merged["totals"]["gt_objects"] == whole["totals"]["gt_objects"]


def refusal(*arguments: str) -> str:
    found = run("merge", *arguments, "merged")
    assert found.exit_code == 2, found.output
    assert not Path("merged").exists()
    return found.stderr


def test_what_does_not_go_together_is_refused() -> None:
    evaluate_all("-a")
    assert "'sub/img_0' is in both" in refusal("res-0", "res-1", "res")
    run("gt-1.txt", "det-1.txt", "other", "--set", "det_border=0.05")
    assert "parameter det_border is 0.01 and 0.05" in refusal("res-0", "other")
    run("gt-1.txt", "det-1.txt", "other", "--protocol", "iou")
    assert "not all of the same protocols" in refusal("res-0", "other/iou.json", "res-1")
    text = Path("res-1/evaltex.json").read_text()
    Path("res-1/evaltex.json").write_text(text.replace("|revision:", "|revision:9"))
    assert "revision is " in refusal("res-0", "res-1")
    Path("res-1/evaltex.json").write_text(text.replace("|version:", "|version:9"))
    assert "version is " in refusal("res-0", "res-1")
    assert "version 9" in refusal("res-1")
    Path("res-1/evaltex.json").write_text(text.replace('"detections":', '"detection":'))
    assert "a damaged result" in refusal("res-0", "res-1")
    Path("empty").mkdir()
    assert "no result to merge" in refusal("empty")


def test_the_same_ground_truth_twice_is_refused_without_images_too() -> None:
    evaluate_all()
    shutil.copytree("res-0", "copy")
    assert "is in both" in refusal("res-0", "res-1", "copy/evaltex.json")


@pytest.mark.parametrize("options", [[], ["-a"]], ids=["", "-a"])
def test_the_command_of_the_documentation_may_be_repeated(options: list[str]) -> None:
    """With the pattern `results/*`, which the result's own folder is of from the second time on."""
    write_parts()
    command = "evaltex merge results/* results/all"
    assert command in (Path(__file__).parents[2] / "docs" / "large-runs.md").read_text()
    for part in range(PARTS):
        assert run(f"gt-{part}.txt", f"det-{part}.txt", f"results/{part}", *options).exit_code == 0
    made = []
    for _ in range(3):
        words = [
            str(path)
            for word in command.split()[2:]
            for path in sorted(Path().glob(word)) or [word]
        ]
        found = run("merge", *words)
        assert found.exit_code == 0, found.stderr
        made.append(
            {path: path.read_bytes() for path in Path("results/all").rglob("*") if path.is_file()}
        )
    assert made[0] == made[1] == made[2]
    assert document("results/all")["inputs"]["gt"]["images"] == 30
    hashes = [document(f"results/{part}")["inputs"]["gt"]["sha256"] for part in range(PARTS)]
    assert document("results/all")["merged_from"] == hashes


def kept_though(message: str, *arguments: str) -> None:
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    found = run("merge", *arguments)
    assert found.exit_code == 2, found.output
    assert message in found.stderr
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("options", [[], ["-a"]], ids=["", "-a"])
def test_no_part_is_replaced_or_counted_twice(options: list[str]) -> None:
    evaluate_all(*options)
    Path("linked").symlink_to("res-0")
    for target in ("res-0", "linked"):
        kept_though("is not a merged result", "res-0", "res-1", target)
        kept_though("an input of this command", "res-0", "res-1", target, "--force")
    kept_though("is not a merged result", "res-0", "res-1", "res-2")  # the folder is forgotten
    assert run("merge", "res-0", "res-1", "both").exit_code == 0
    kept_though("is in both", "both", "res-1", "res-2", "all")
    assert run("merge", "both", "res-2", "all").exit_code == 0
    assert len(document("all")["merged_from"]) == PARTS
    kept_though("an input of this command", "res-2", "both", "both")
