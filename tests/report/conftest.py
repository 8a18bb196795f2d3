"""Results of the examples, their reports, the page of an audit, and a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from audit_pages import around, audit, one_of_each
from chromium import Chromium, find_chromium
from click.testing import CliRunner
from report_pages import EXAMPLES, HOSTILE, evaluated, sources, write

from evaltex_cli.cli import main
from evaltex_cli.report import audit_page, make, read


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the words example, by two protocols."""
    folder = tmp_path_factory.mktemp("results") / "words"
    example = EXAMPLES / "words"
    return evaluated(
        example / "gt.txt",
        example / "det.txt",
        folder,
        "-a",
        "--protocol",
        "evaltex",
        "--protocol",
        "icdar2013",
    )


@pytest.fixture(scope="session")
def report(words: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the words example, with everything in it."""
    file = tmp_path_factory.mktemp("report") / "report.html"
    write(file, [words], **sources("words"), pictures=EXAMPLES / "pictures", embed=True)
    return file


@pytest.fixture(scope="session")
def rival(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Another detector on the words example: its detections and its results."""
    folder = tmp_path_factory.mktemp("rival")
    lines = (EXAMPLES / "words" / "det.txt").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if not line.startswith("1,")]
    (folder / "det.txt").write_text("\n".join(kept), encoding="utf-8")
    evaluated(EXAMPLES / "words" / "gt.txt", folder / "det.txt", folder / "rival", "-a")
    return folder / "det.txt", folder / "rival"


@pytest.fixture(scope="session")
def masks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of label pictures."""
    folder = tmp_path_factory.mktemp("masks")
    example = EXAMPLES / "masks" / "words"
    gt, det = example / "gt.txt", example / "det.txt"
    done = CliRunner().invoke(
        main,
        [*map(str, (gt, det, folder / "res", example / "gt", example / "det")), "-a", "--quiet"],
    )
    assert done.exit_code == 0, done.output
    write(folder / "report.html", [folder / "res"], gt=gt, det=[det])
    return folder / "report.html"


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of which every name and transcription tries to inject markup."""
    folder = tmp_path_factory.mktemp("hostile")
    name = HOSTILE.replace("/", "")
    gt, det = folder / "gt.txt", folder / "det.txt"
    gt.write_text(
        f'{name}\n100,200\n1,1,"{HOSTILE}",f,10,10,50,20\n2,2,"x",f,10,60,50,20\n', encoding="utf-8"
    )
    det.write_text(f'{name}\n1,"{HOSTILE}",10,10,50,20\n2,"",150,60,20,20\n', encoding="utf-8")
    results = evaluated(gt, det, folder / "results", "-a")
    make(folder / "report.html", read([results], [HOSTILE], gt, [det]).with_losses())
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    program = find_chromium()
    if program is None:
        pytest.skip("no chromium is installed")
    chromium = Chromium(program, tmp_path_factory.mktemp("profile"))
    chromium.emulate(1200, 900)
    yield chromium
    chromium.close()


@pytest.fixture
def tab(browser: Chromium) -> Iterator[Chromium]:
    """The browser; afterwards it must not have complained, nor asked for
    anything but files of this machine.
    """
    browser.emulate(1200, 900)
    yield browser
    browser.call("Page.navigate", url="about:blank")
    assert browser.complaints == []
    foreign = [url for url in browser.requests if not url.startswith(("file:", "data:", "about:"))]
    assert foreign == []


@pytest.fixture(scope="session")
def many(words: Path, rival: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five detectors."""
    file = tmp_path_factory.mktemp("many") / "report.html"
    write(
        file,
        [words, *[rival[1]] * 4],
        gt=EXAMPLES / "words" / "gt.txt",
        det=[sources("words")["det"][0], *[rival[0]] * 4],
    )
    return file


@pytest.fixture(scope="session")
def two(words: Path, rival: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("two") / "report.html"
    example = sources("words")
    write(file, [words, rival[1]], gt=example["gt"], det=[*example["det"], rival[0]])
    return file


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an audit: a suspect of each kind, with pictures."""
    file = tmp_path_factory.mktemp("audit") / "audit.html"
    suspects = one_of_each()
    nearby = list(map(around, suspects))
    audit_page.write(file, audit(suspects, nearby), EXAMPLES / "pictures")
    return file
