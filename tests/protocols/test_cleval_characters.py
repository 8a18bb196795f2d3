"""CLEval: which characters of a word are found."""

from __future__ import annotations

import pytest
import reference_cleval
from cleval_inputs import WORD, scored, words
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.protocols.cleval.text import common_length, common_subsequence, texts_of


class TestCharacters:
    """What counts as one character."""

    E_ACUTE, FAMILY = "e\u0301", "👩\u200d👩\u200d👧"

    def test_code_points(self) -> None:
        assert [
            len(t) for t in texts_of(["é", self.E_ACUTE, "한국", "\u1112\u1161\u11ab", self.FAMILY])
        ] == [
            1,
            2,
            2,
            3,
            5,
        ]

    @pytest.mark.parametrize(("form", "same"), [("none", False), ("nfc", True), ("nfkc", True)])
    def test_normalisation(self, form: str, same: bool) -> None:
        assert (
            texts_of(["é"], normalisation=form) == texts_of([self.E_ACUTE], normalisation=form)
        ) is same

    def test_compatibility_characters(self) -> None:
        assert texts_of(["ﬁＡ"], normalisation="nfkc") == ["fiA"]

    def test_case(self) -> None:
        assert texts_of(["Straße"], case_sensitive=False) == ["STRASSE"]
        gt, det = words((WORD, "abcdef")), words((WORD, "ABCdef"))
        assert scored(gt, det)["e2e_recall"] == 3 / 6
        assert scored(gt, det, case_sensitive=False)["e2e_recall"] == 1.0

    @settings(deadline=None, derandomize=True, max_examples=200)
    @given(a=st.text("ab日", max_size=9), b=st.text("ab日", max_size=9))
    def test_common_subsequences_are_those_of_the_table(self, a: str, b: str) -> None:
        assert "".join(common_subsequence(a, b)) == reference_cleval.subsequence(
            a, b, ties_left=True
        )
        assert "".join(common_subsequence(b, a)) == reference_cleval.subsequence(
            a, b, ties_left=False
        )
        assert common_length(a, b) == len(reference_cleval.subsequence(a, b, ties_left=True))
