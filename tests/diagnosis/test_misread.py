"""What is misread most often: pairs, alignments, and where it is shown."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import reference_texts as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli import diagnose
from evaltex_cli.diagnosis.misread import MOST_LISTED, Misreading, edits, most_frequent

texts = st.text("abß ", max_size=7)
GT = {
    "1": "0,0,99,20,Hotel\n200,0,299,20,SALE\n400,0,499,20,###\n600,0,699,20,Bar\n",
    "2": "0,0,99,20,Hotel\n200,0,299,20,missed\n",
}
DET = {
    "1": "0,0,99,20,H0tel\n200,0,299,20,5ALES\n400,0,499,20,x\n600,0,699,20,BAR\n",
    "2": "0,0,99,20,H0tel\n900,0,999,20,false\n",
}


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    for side, files in (("gt", GT), ("res", DET)):
        (tmp_path / side).mkdir()
        for name, content in files.items():
            (tmp_path / side / f"{side}_{name}.txt").write_text(content)
    return tmp_path / "gt", tmp_path / "res"


@settings(deadline=None, derandomize=True, max_examples=200)
@given(texts, texts)
def test_edits_are_the_fewest_and_lead_from_one_text_to_the_other(expected: str, read: str) -> None:
    found = list(edits(expected, read))
    assert len(found) == reference.distance(expected, read)
    assert all(one != other for one, other in found)
    of_expected, of_read = (
        Counter("".join(one for one, _ in found)),
        Counter("".join(other for _, other in found)),
    )
    assert Counter(expected) - of_expected == Counter(read) - of_read


def test_words_and_characters_are_counted_over_all_images(sides: tuple[Path, Path]) -> None:
    """Pairs alone, without don't care, missed and false ones, and the one
    that is right but for its capitals.
    """
    found = diagnose(*sides, "iou-crw").misread
    assert found is not None
    assert found.pairs == 3
    assert found.words == [Misreading("Hotel", "H0tel", 2), Misreading("SALE", "5ALES", 1)]
    assert found.characters == [
        Misreading("O", "0", 2),
        Misreading("", "S", 1),
        Misreading("S", "5", 1),
    ]
    assert diagnose(*sides, "iou").misread is None


def test_texts_are_in_the_form_that_the_protocol_compares(tmp_path: Path) -> None:
    """An accent of its own is no character that was misread."""
    for side, text in (("gt", "Mu\u0308ller"), ("res", "M\u00fcler")):
        (tmp_path / side).mkdir()
        (tmp_path / side / f"{side}_1.txt").write_text(f"0,0,99,20,{text}\n", encoding="utf-8")
    found = diagnose(tmp_path / "gt", tmp_path / "res", protocol="iou-crw").misread
    assert found is not None
    assert found.words == [Misreading("Müller", "Müler", 1)]
    assert found.characters == [Misreading("L", "", 1)]


def test_the_most_frequent_are_listed_and_ties_are_sorted() -> None:
    found = most_frequent(
        Counter({(chr(200 + k), "x"): 1 for k in range(50)} | {("often", "oftem"): 3})
    )
    assert found.pairs == 53
    assert len(found.words) == len(found.characters) == MOST_LISTED
    assert [one.expected for one in found.words[:3]] == ["often", chr(200), chr(201)]
    long = most_frequent(Counter({("a" * 101, "b"): 1}))
    assert (long.pairs, len(long.words), long.characters) == (1, 1, [])
