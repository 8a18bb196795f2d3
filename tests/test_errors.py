"""How numbers are told in messages."""

from __future__ import annotations

import pytest

from evaltex_cli.errors import FaultLog, InputError, counted


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "a: 0 boxes are theirs"), (1, "a: 1 box is its"), (2, "a: 2 boxes are theirs")]
)
def test_one_and_many(count: int, expected: str) -> None:
    assert counted(count, "a: {count} box[es] [is|are] [its|theirs]") == expected


def test_words_of_one_only_and_what_is_no_form() -> None:
    assert [counted(count, "{count} object[s] need[s|]") for count in (1, 2)] == ["1 object needs", "2 objects need"]
    assert counted(1, "{count} value[s] in [0, 1]") == "1 value in [0, 1]"


def test_one_fault_too_many() -> None:
    faults = FaultLog()
    for line in range(21):
        faults.add("gt.txt", line, "x", "y")
    with pytest.raises(InputError, match=r"\n\.\.\. and 1 more fault$"):
        faults.raise_if_any()


@pytest.mark.parametrize(("most", "shown"), [(20, 20), (1000, 60)])
def test_how_many_faults_a_log_keeps(most: int, shown: int) -> None:
    log, other = FaultLog(most), FaultLog(most)
    for line in range(30):
        log.add("gt.txt", line, "x", "y")
        other.add("det.txt", line, "x", "y")
    log.extend(other)
    assert (log.count, len(log.shown)) == (60, shown)
