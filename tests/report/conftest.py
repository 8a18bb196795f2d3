"""Results of the examples, their reports, and a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Chromium, find_chromium
from report_pages import EXAMPLES, HOSTILE, WORDS, evaluated, write


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the words example, by two protocols."""
    folder = tmp_path_factory.mktemp("results") / "words"
    return evaluated(*WORDS, folder, "-a", "--protocol", "evaltex,iou-crw")


@pytest.fixture(scope="session")
def report(words: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the words example, with everything in it."""
    file = tmp_path_factory.mktemp("report") / "report.html"
    gt, det = WORDS
    write(file, [words], gt, [det], pictures=EXAMPLES / "pictures", embed=True)
    return file


@pytest.fixture(scope="session")
def rival(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Another detector on the words example: its detections and its results."""
    folder = tmp_path_factory.mktemp("rival")
    lines = WORDS[1].read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("1,")]
    (folder / "det.txt").write_text("\n".join(kept), encoding="utf-8")
    return folder / "det.txt", evaluated(
        WORDS[0], folder / "det.txt", folder / "rival", "-a", "--protocol", "evaltex,iou-crw"
    )


@pytest.fixture(scope="session")
def two(words: Path, rival: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two detectors."""
    file = tmp_path_factory.mktemp("two") / "report.html"
    write(file, [words, rival[1]], WORDS[0], [WORDS[1], rival[0]])
    return file


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which every name and transcription tries to inject markup."""
    folder = tmp_path_factory.mktemp("hostile")
    name = HOSTILE.replace("/", "")
    gt, det = folder / "gt.txt", folder / "det.txt"
    gt.write_text(
        f'{name}\n100,200\n1,1,"{HOSTILE}",f,10,10,50,20\n2,2,"x",f,10,60,50,20\n', encoding="utf-8"
    )
    det.write_text(f'{name}\n1,"{HOSTILE}",10,10,50,20\n2,"",150,60,20,20\n', encoding="utf-8")
    results = evaluated(gt, det, folder / "results", "-a")
    write(folder / "report.html", [results], gt, [det])
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = find_chromium()
    if program is None:
        pytest.skip("no chromium is installed")
    chromium = Chromium(program, tmp_path_factory.mktemp("profile"))
    yield chromium
    chromium.close()


@pytest.fixture
def tab(browser: Chromium, tmp_path: Path) -> Iterator[Chromium]:
    """The browser, which saves to `tmp_path`; afterwards it must not have complained, nor asked for
    anything but files of this machine.
    """
    browser.emulate(1200, 900)
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    yield browser
    assert browser.complaints == []
    local = ("file:", "data:", "about:", "blob:")
    assert [url for url in browser.requests if not url.startswith(local)] == []
