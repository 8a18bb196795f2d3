"""A killed run goes on where its journal ends."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from box_scenes import outcome, write_boxes
from small_chunks import began

from evaltex_cli.evaluation import batches
from evaltex_cli.runtime import cluster_worker

pytestmark = pytest.mark.usefixtures("here")

KILLED = """
import os, signal
from evaltex_cli.evaluation.resume import JournalFile
add, left = JournalFile.add, [{chunks}]
def mortal(*given):
    add(*given)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
JournalFile.add = mortal
"""
"""Makes a run end itself when its journal has so many chunks."""


@pytest.mark.parametrize("chunks", [0, 3, 15])
def test_a_killed_run_goes_on_to_the_same_bytes(chunks: int) -> None:
    write_boxes(polygons=True, images=500)
    arguments = [
        "gt.txt",
        "det.txt",
        "res",
        "-a",
        "--resume",
        "--quiet",
        "--protocol",
        "cleval",
        "--ci",
    ]
    process = began(*arguments, changed=KILLED.format(chunks=chunks + 1))
    journals = lambda: list(Path().glob(".evaltex-resume-*"))  # noqa: E731
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    lines = journals()[0].read_bytes()
    assert not Path("res").exists()
    second = began(*arguments)
    _, reported = second.communicate()
    assert second.returncode == 0, reported
    assert not journals() and len(lines.split(b"\n")) > chunks
    resumed = {path.name: path.read_bytes() for path in Path("res").rglob("*") if path.is_file()}
    outcome(*arguments)
    assert {
        path.name: path.read_bytes() for path in Path("res").rglob("*") if path.is_file()
    } == resumed


def journal_of_an_unfinished_run(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> Path:
    """A run that is interrupted after three chunks."""
    monkeypatch.setattr(batches, "BATCH_IMAGES", 10)
    measure, calls = batches.measure, []

    def interrupted(*given: object) -> object:
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return measure(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(batches, "measure", interrupted)
    outcome(*arguments, expected=130)
    monkeypatch.setattr(batches, "measure", measure)
    (journal,) = Path().glob(".evaltex-resume-*")
    return journal


def test_what_is_done_is_not_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = [*write_boxes(), "res", "-a", "--resume"]
    journal = journal_of_an_unfinished_run(monkeypatch, arguments)
    assert journal.read_bytes().count(b"\n") == 4
    journal.write_bytes(
        journal.read_bytes() + b'{"chunk": [30, 40], "gt": [1'
    )  # killed within a line
    measure, starts = batches.measure, []

    def counted(*given: object) -> object:
        starts.append(given[-1].names[0])  # type: ignore[attr-defined]
        return measure(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(batches, "measure", counted)
    resumed = outcome(*arguments)
    assert starts == ["deep/2/img_30", "deep/0/img_40", "deep/2/img_50"]
    assert outcome(*arguments[:-1]) == resumed
    assert not journal.exists()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "a sum": lambda line: re.sub(rb'"gt_objects": ([0-9]+)', rb'"gt_objects": 1\1', line),
    "no number": lambda line: re.sub(rb'"dont_care": [0-9]+', b'"dont_care": null', line, count=1),
    "other images": lambda line: re.sub(rb"\[0, 10\]", b"[10, 20]", line),
    "a long number": lambda line: re.sub(rb"\[0, 10\]", b"[" + b"9" * 5000 + b", 10]", line),
    "a hole": lambda line: bytes(len(line) - 1) + b"\n",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_is_damaged_is_done_again(
    damage: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [*write_boxes(), "res", "-a", "--resume"]
    journal = journal_of_an_unfinished_run(monkeypatch, arguments)
    head, first, *rest = journal.read_bytes().splitlines(keepends=True)
    damaged = damage(first)
    assert damaged != first
    journal.write_bytes(b"".join([head, damaged, *rest]))
    resumed = outcome(*arguments)
    written = Path("res/evaltex.json").read_bytes()
    assert outcome(*arguments[:-1]) == resumed
    assert Path("res/evaltex.json").read_bytes() == written


@pytest.mark.parametrize("name", ["code of evaltex", "numpy"])
def test_other_code_does_not_go_on_from_a_journal(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A checkout that has changed is of the same version."""
    arguments = [*write_boxes(), "res", "--resume"]
    journal = journal_of_an_unfinished_run(monkeypatch, arguments)
    versions = {**cluster_worker.versions(), name: "other"}
    monkeypatch.setattr(cluster_worker, "versions", lambda: versions)
    reported = outcome(*arguments, expected=2)["stderr"].decode()
    assert "differs from this one in version;" in reported
    assert journal.exists()


@pytest.mark.parametrize("head", [b"[" * 100_000, b"null", b"\xff", b"9" * 5000])
def test_what_does_not_begin_as_a_journal_is_refused(
    head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [*write_boxes(), "res", "--resume"]
    journal = journal_of_an_unfinished_run(monkeypatch, arguments)
    journal.write_bytes(head + b"\n")
    assert (
        "differs from this one in what it is" in outcome(*arguments, expected=2)["stderr"].decode()
    )


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda arguments: arguments[:-1], "results"),
        (lambda arguments: [*arguments, "--set", "det_border=0.02"], "signatures"),
        (lambda arguments: (Path("det.txt").write_text("") and arguments) or arguments, "det"),
    ],
)
def test_another_run_does_not_go_on_from_a_journal(
    change: Callable[[list[str]], list[str]], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [*write_boxes(), "res", "--resume", "-a"]
    journal = journal_of_an_unfinished_run(monkeypatch, arguments)
    before = journal.read_bytes()
    reported = outcome(*change(arguments), expected=2)["stderr"].decode()
    assert f"differs from this one in {what};" in reported and str(journal) in reported
    assert journal.read_bytes() == before


FORGERIES: dict[str, Callable[[Path], object]] = {
    "of another user": lambda journal: os.chown(journal, 12345, -1),
    "others may write": lambda journal: journal.chmod(0o602),
    "a group may write": lambda journal: journal.chmod(0o620),
    "a link": lambda journal: journal.symlink_to(journal.rename("elsewhere")),
    "linked": lambda journal: Path("elsewhere").hardlink_to(journal),
    "a pipe": lambda journal: (journal.unlink(), os.mkfifo(journal)),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_journal_that_others_may_have_written_is_refused(
    forge: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [*write_boxes(), "res", "--resume"]
    journal = journal_of_an_unfinished_run(monkeypatch, arguments)
    try:
        forge(journal)
    except PermissionError:
        pytest.skip("only root gives files away")
    assert str(journal) in outcome(*arguments, expected=2)["stderr"].decode()
    assert os.path.lexists(journal)
    assert not Path("res").exists()


def test_faults_leave_no_journal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The input must change, so nothing could go on from it."""
    write_boxes()
    with Path("det.txt").open("a") as file:
        file.write("1,x\n")
    monkeypatch.setattr(batches, "BATCH_IMAGES", 10)
    outcome("gt.txt", "det.txt", "res", "--resume", expected=2)
    assert not list(Path().glob(".evaltex-*"))
