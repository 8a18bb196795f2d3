"""How numbers are written in messages."""

from __future__ import annotations

import pickle

import pytest

from evaltex_cli.errors import SHOWN_KINDS, FaultLog, FaultsError, counted


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "a: 0 boxes are theirs"), (1, "a: 1 box is its"), (2, "a: 2 boxes are theirs")],
)
def test_one_and_many(count: int, expected: str) -> None:
    assert counted(count, "a: {count} box[es] [is|are] [its|theirs]") == expected


def test_words_of_one_only_and_what_is_no_form() -> None:
    assert [counted(count, "{count} object[s] need[s|]") for count in (1, 2)] == [
        "1 object needs",
        "2 objects need",
    ]
    assert counted(1, "{count} value[s] in [0, 1]") == "1 value in [0, 1]"


def faults_of(log: FaultLog) -> list[str]:
    with pytest.raises(FaultsError) as raised:
        pickle.loads(pickle.dumps(log)).raise_if_any()
    return str(raised.value).split("\n")


def test_equal_faults_once() -> None:
    """They differ in places, numbers, quoted names and suggestions; their
    number is exact.
    """
    log, other = FaultLog(), FaultLog()
    for line in range(1, 21):
        log.add(
            f"{line % 4}.txt",
            line,
            f"{line} number{'s' if line > 1 else ''} at 'a{line}'",
            "4 numbers",
        )
    hints = ("", " (did you mean 'a'?)", "")
    for line in range(3):
        other.add("det", None, f"image 'b{line}', unknown{hints[line]}", "names")
        other.add("0.txt", 8, f"{line}", "a box", where=("images", line, "box"))
    log += other
    assert faults_of(log) == [
        "1.txt:1: 1 number at 'a1'; expected 4 numbers",
        "  20 such faults in 4 files, also at 2.txt:2 and 3.txt:3",
        "det: image 'b0', unknown; expected names",
        "  3 such faults, also 'b1' and 'b2'",
        "0.txt:8: images[0].box: 0; expected a box",
        "  3 such faults, also at 0.txt:8: images[1].box and 0.txt:8: images[2].box",
    ]


def test_faults_of_too_many_kinds() -> None:
    log = FaultLog()
    for kind in "abcdefghijklmnopqrstuvw":
        log.add("gt.txt", 1, kind, "y")
    assert len(log.kinds()) == SHOWN_KINDS + 3
    assert faults_of(log)[-1] == "... and 3 more faults"
