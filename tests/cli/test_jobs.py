"""`--jobs` of the commands that read and write files: the same bytes for any
number of processes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from evaltex_cli.cli import main
from evaltex_cli.runtime import workers

IMAGES = 30


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evaltex_cli.evaluation.evaluate.BATCH_OBJECTS", 4)
    gt = [
        f'img_{k}\n100,200\n1,1,"a{k}",f,{k},20,30,40\n2,2,"###",t,90,20,30,40\n'
        for k in range(IMAGES)
    ]
    det = [f'img_{k}\n1,"a{k}",{k + 1},20,15,40\n2,"b",{k + 15},20,15,40\n' for k in range(IMAGES)]
    Path("gt.txt").write_text("".join(gt))
    Path("det.txt").write_text("".join(det))
    Path("bad.txt").write_text(
        "".join(det).replace("img_7\n1,", "img_7\nx,").replace("img_21\n1,", "img_21\ny,")
    )
    run("convert gt.txt pages.zip --to page --kind gt")
    run("gt.txt det.txt res -a --protocol iou,evaltex")


def run(line: str, status: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(main, line.split())
    assert result.exit_code == status, result.output
    return result.stdout, result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("convert pages.zip new.txt --kind gt", "new.txt"),
        ("convert det.txt new.json --kind det --min-confidence 0.5", "new.json"),
        ("report res --gt gt.txt --det det.txt --output page.html", "page.html"),
        ("validate pages.zip det.txt --output found.txt", "found.txt"),
    ],
)
def test_the_same_bytes(line: str, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written, worked = [], []
    processes = workers.processes
    monkeypatch.setattr(
        workers, "processes", lambda jobs: (worked.append(jobs), processes(jobs))[1]
    )
    for jobs in ("1", "2"):
        said = run(f"{line} --jobs {jobs}")
        written.append((said, Path(file).read_bytes()))
        Path(file).unlink()
    assert written[0] == written[1]
    assert worked == [1, 2]


@pytest.mark.parametrize("line", ["convert bad.txt new.json --kind det", "validate gt.txt bad.txt"])
def test_the_same_faults(line: str) -> None:
    said = run(f"{line} --jobs 1", status=2)
    assert run(f"{line} --jobs 2", status=2) == said
    assert all(place in "".join(said) for place in ("bad.txt:23", "bad.txt:65"))
