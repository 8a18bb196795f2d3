"""`evaltex rank`: what is stored of an evaluation, when it is taken again, and when it is not trusted."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rank_inputs import of_board, run, write_side

from evaltex_cli.ranking import measuring
from evaltex_cli.runtime import cluster_worker


def test_only_what_is_new_is_evaluated(folder: Path, evaluations: list[str]) -> None:
    first = run("board.toml", "--format", "json").stdout
    assert len(evaluations) == 6
    evaluations.clear()
    assert run("board.toml", "--format", "json").stdout == first
    assert evaluations == []
    with pytest.MonkeyPatch.context() as patch:  # a checkout that changes keeps its version
        versions = {**cluster_worker.versions(), "code of evaltex": "other"}
        patch.setattr(cluster_worker, "versions", lambda: versions)
        assert run("board.toml", "--format", "json").stdout == first
    assert len(evaluations) == 6
    evaluations.clear()
    write_side(folder / "poor-two.txt", 5, 0.6, is_gt=False)
    assert run("board.toml", "--format", "json").stdout != first
    assert evaluations == ["poor-two.txt"]
    evaluations.clear()
    run("board.toml", "--protocol", "iou", "--seed", "3")
    assert evaluations == [], "subsets are drawn again from the stored evidence"
    run("board.toml", "--protocol", "tiou,iou")
    assert len(evaluations) == 6


@pytest.mark.parametrize(
    "damage", ["empty", "cut", "foreign", "link", "others", "names", "flags", "renamed"]
)
def test_a_file_of_the_cache_that_cannot_be_trusted_is_measured_again(
    folder: Path, evaluations: list[str], damage: str
) -> None:
    first = run("board.toml", "--format", "json", "--protocol", "iou").stdout
    evaluations.clear()
    path, other, *_ = sorted((folder / ".evaltex-cache").glob("*.npz"))
    if damage == "flags":  # of the first entry: packed by what nobody knows, with a password
        data = path.read_bytes()
        at = data.index(b"PK\x01\x02")
        path.write_bytes(data[: at + 8] + b"\x01\x00\x63" + data[at + 11 :])
    elif damage == "renamed":
        path.write_bytes(other.read_bytes())
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-300])
    elif damage == "foreign":
        np.savez(path, other=np.arange(3))
    elif damage == "link":
        path.rename(path.with_suffix(".moved"))
        path.symlink_to(path.with_suffix(".moved"))
    elif damage == "others":
        path.chmod(0o666)
    else:
        with np.load(path) as stored:
            arrays = dict(stored)
        about = json.loads(arrays["about"].tobytes())
        about["names"] = about["names"][1:]
        arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
        np.savez(path, **arrays)
        path.chmod(0o600)
    assert run("board.toml", "--format", "json", "--protocol", "iou").stdout == first
    assert len(evaluations) == 1


def test_evidence_of_an_input_that_changes_is_not_stored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, evaluated = Path("gt-one.txt").read_text(), measuring.evaluate_inputs

    def change_and_evaluate(*given: Any, **options: Any) -> Any:
        found = list(evaluated(*given, **options))
        Path("gt-one.txt").write_text(before.replace(",200,40", ",100,40"))
        return found

    monkeypatch.setattr(measuring, "evaluate_inputs", change_and_evaluate)
    arguments = ("gt-one.txt", "good-one.txt", "poor-one.txt", "--cache", "stored")
    assert "changed while it was read" in run(*arguments, status=2).stderr
    assert not list(Path().glob("stored/*"))


def test_evidence_of_an_input_that_changes_and_changes_back_is_not_stored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, evaluated = Path("gt-one.txt"), measuring.evaluated
    before, status = file.read_text(), file.stat()

    def changed_and_back(*given: Any) -> Any:
        file.write_text(before)
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
        return evaluated(*given)

    monkeypatch.setattr(measuring, "evaluated", changed_and_back)
    arguments = ("gt-one.txt", "good-one.txt", "poor-one.txt", "--cache", "stored")
    assert "gt-one.txt: changed while it was read" in run(*arguments, status=2).stderr
    assert not list(Path().glob("stored/*"))


def test_what_a_killed_ranking_was_writing_is_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("board.toml", "--protocol", "iou")
    place = folder / ".evaltex-cache"
    kept = sorted(place.iterdir())
    (place / "notes").write_text("mine")
    script = (
        "import os, sys, numpy\n"
        "from evaltex_cli.cli import main\n"
        "numpy.savez = lambda file, **_: (file.write(b'half'), file.flush(), os.kill(os.getpid(), 9))\n"
        "main(['rank', 'board.toml', '--protocol', 'evaltex'])\n"
    )
    killed = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
    assert killed.returncode == -9, killed.stderr
    (left,) = place.glob(".evaltex-new-*")
    with left.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as a ranking that is writing it
        run("board.toml", "--protocol", "iou")
        assert left.exists()
    run("board.toml", "--protocol", "iou")
    assert sorted(place.iterdir()) == sorted([*kept, place / "notes"])


def test_evidence_that_somebody_removes_while_it_is_written_is_not_missed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = np.savez

    def written_and_removed(file: Any, **arrays: Any) -> None:
        written(file, **arrays)
        Path(file.name if isinstance(file.name, str) else f"/proc/self/fd/{file.name}").resolve(
            strict=True
        ).unlink()

    monkeypatch.setattr(np, "savez", written_and_removed)
    run("board.toml", "--protocol", "iou")
    assert not list((folder / ".evaltex-cache").iterdir())


def test_a_pipe_is_not_read_for_the_cache(folder: Path) -> None:
    """Nobody writes into it, so who opened it would wait for ever."""
    Path("gt-one.txt").unlink()
    os.mkfifo("gt-one.txt")
    assert "gt-one.txt: is a device or pipe; give a file" in run("board.toml", status=2).stderr
    for name in ("gt", "one", "two"):
        Path(name).mkdir()
        for k in range(3):
            Path(name, f"img_{k}.txt").write_text("0,0,9,0,9,9,0,9,a\n")
        os.mkfifo(Path(name, "pipe.txt"))
    run("gt", "one", "two", "--cache", "stored", "--protocol", "iou")
    assert len(list(Path("stored").iterdir())) == 1, "both detectors found the same"


def test_a_folder_of_pictures_may_contain_the_cache(folder: Path, evaluations: list[str]) -> None:
    """What is stored there is none of the pictures."""
    Path("missing.png").symlink_to("nowhere.png")
    for dataset in ("one", "two"):
        text = Path("board.toml").read_text()
        head = f"[datasets.{dataset}]\n"
        Path("board.toml").write_text(text.replace(head, f'{head}images = "."\n'))
    first = run("board.toml", "--format", "json", "--output", "ranking.json")
    assert first.exit_code == 0
    assert len(evaluations) == 6
    Path("ranking.json").unlink()
    of_board()
    assert len(evaluations) == 6
    refused = run("board.toml", "--cache", "stored", status=2)  # it would change the folder
    assert "stored: is in ., an input of this command" in refused.stderr
