"""Results that a killed run has moved in part: they are put right, or kept and reported."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from killed_moves import NEW, OLD, KilledAt, settled_by_a_reader, settled_by_a_run, small
from started_runs import leftovers, run, unprivileged

from evaltex_cli.errors import InputError
from evaltex_cli.runtime import atomic_output

pytestmark = pytest.mark.usefixtures("scene")


@pytest.mark.parametrize("settled", [settled_by_a_reader, settled_by_a_run])
def test_kill_between_any_two_renames_is_put_right(
    killed_at: KilledAt, settled: Callable[[], None]
) -> None:
    complete = killed_at(-1)
    assert complete.returncode == 0, complete.stderr
    steps = int(complete.stdout)
    assert steps >= 8  # the list of moves, three results out, three in, the list's end
    assert small() == NEW
    seen = []
    for step in range(steps):
        assert killed_at(step).returncode == -signal.SIGKILL
        settled()
        assert small() in (OLD, NEW), step
        seen.append(small())
    assert seen[0] == OLD
    assert seen[-1] == NEW
    settled_by_a_run()
    assert not leftovers(Path("small"))


def contents() -> list[tuple[str, str]]:
    """Every result with its content, wherever it stands, but for what keeps order."""
    found = [
        path
        for path in Path("small").rglob("*")
        if path.is_file() and path.parent.name != atomic_output.INSIDE
    ]
    return sorted((path.name, path.read_text()) for path in found)


def test_what_cannot_be_put_right_is_reported_and_kept(killed_at: KilledAt) -> None:
    assert killed_at(3).returncode == -signal.SIGKILL
    Path("small/p.txt").mkdir()  # in the way of what comes back
    Path("small/p.txt/x").write_text("")
    before = contents()
    for _ in range(2):
        with pytest.raises(InputError, match=r"small: cannot be written"):
            settled_by_a_reader()
    with (
        pytest.raises(InputError, match=r"small: cannot be written"),
        atomic_output.staged(Path("small"), ["other.txt"]),
    ):
        pytest.fail("results are mixed")
    assert contents() == before


DAMAGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda moves: moves.write_bytes(b""),
    "a part": lambda moves: moves.write_bytes(moves.read_bytes()[:-5]),
    "garbage": lambda moves: moves.write_bytes(b"\xff\x00 garbage"),
    "another kind": lambda moves: moves.write_text('{"leaving": []}'),
    "other kinds": lambda moves: moves.write_text('[[1], {"p.txt": 2}]'),
    "one list": lambda moves: moves.write_text('[["p.txt"]]'),
    "lists of nothing": lambda moves: moves.write_text("[[], []]"),
    "names elsewhere": lambda moves: moves.write_text('[["../mine", ".."], ["../../mine"]]'),
    "a letter of a name": lambda moves: moves.write_text(moves.read_text().replace("p.t", "q.t")),
    "deep": lambda moves: moves.write_text("[" * 100_000),
    "a link": lambda moves: (moves.unlink(), moves.symlink_to("/nowhere")),
    "a folder": lambda moves: (moves.unlink(), moves.mkdir(), (moves / "x").mkdir()),
    "a pipe": lambda moves: (moves.unlink(), os.mkfifo(moves)),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("settled", [settled_by_a_reader, settled_by_a_run])
def test_a_damaged_list_of_moves_costs_no_result(
    killed_at: KilledAt, settled: Callable[[], None], damage: Callable[[Path], object], here: Path
) -> None:
    """After a power failure, say: the results are those of one run, and the folder is usable."""
    (here / "mine").write_text("mine")
    steps, seen = int(killed_at(-1).stdout), []
    for step in range(steps):
        assert killed_at(step).returncode == -signal.SIGKILL
        moves = Path("small", atomic_output.INSIDE, "moves")
        if moves.exists():
            damage(moves)
        settled()
        assert small() in (OLD, NEW), step
        assert not os.path.lexists(moves)
        seen.append(small())
    assert OLD in seen
    assert NEW in seen
    settled_by_a_run()
    assert not leftovers(Path("small"))
    assert (here / "mine").read_text() == "mine"


def test_torn_results_that_may_not_be_put_right_are_refused(killed_at: KilledAt) -> None:
    assert killed_at(3).returncode == -signal.SIGKILL
    Path("small").chmod(0o500)
    try:
        status, stderr = run("report", "small", "report.html", before=unprivileged())
    finally:
        Path("small").chmod(0o700)
    assert status == 2
    assert "small: cannot be written (Permission denied" in stderr
