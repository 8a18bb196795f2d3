"""CLEval: which characters of a word are found."""

from __future__ import annotations

import pytest
import reference_cleval
from cleval_inputs import HALVES, WORD, scored, word, words
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.errors import ConfigError
from evaltex_cli.protocols.cleval.text import common_length, common_subsequence, texts_of


class TestCharacters:
    """What counts as one character."""

    E_ACUTE, DEVANAGARI, FAMILY = (
        "e\u0301",
        "\u0928\u092e\u0938\u094d\u0924\u0947",
        "👩\u200d👩\u200d👧",
    )

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

    def test_grapheme_clusters(self) -> None:
        """A letter with its mark, a Hangul syllable in jamo, a family and a
        flag are one character each.
        """
        pytest.importorskip("regex", reason="the optional package regex is not installed")
        samples = [
            "ab",
            self.E_ACUTE,
            "\u1112\u1161\u11ab",
            "한국",
            self.FAMILY,
            "🇰🇷🇫🇷",
            "👍🏽",
            "\r\n",
            "",
        ]
        assert [len(t) for t in texts_of(samples, "grapheme")] == [2, 1, 1, 2, 1, 2, 1, 1, 0]
        assert texts_of([self.DEVANAGARI], "grapheme")[0][:2] == ("\u0928", "\u092e")
        assert len(texts_of([self.DEVANAGARI], "grapheme")[0]) < len(self.DEVANAGARI)

    def test_grapheme_clusters_in_scores(self) -> None:
        """Three clusters of which the second is wrong: 2 of 3, whatever its code points."""
        pytest.importorskip("regex", reason="the optional package regex is not installed")
        gt = words((WORD, f"a{self.E_ACUTE}{self.FAMILY}"))
        det = words((HALVES[0], "ae"), (HALVES[1], self.FAMILY))
        scores = scored(gt, det, character="grapheme", recall_granularity_penalty=0.0)
        assert (scores["recall"], scores["e2e_recall"], scores["e2e_precision"]) == (
            1.0,
            2 / 3,
            2 / 3,
        )

    def test_names_the_missing_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "regex", None)
        with pytest.raises(ConfigError, match="needs the package regex"):
            scored(word(*WORD), word(*WORD), character="grapheme")

    @pytest.mark.parametrize(("form", "same"), [("none", False), ("NFC", True), ("NFKC", True)])
    def test_normalisation(self, form: str, same: bool) -> None:
        assert (
            texts_of(["é"], normalisation=form) == texts_of([self.E_ACUTE], normalisation=form)
        ) is same

    def test_compatibility_characters(self) -> None:
        assert texts_of(["ﬁＡ"], normalisation="NFKC") == ["fiA"]

    def test_case(self) -> None:
        """ß becomes SS in upper case, and ss folded; K of the Kelvin sign is
        a k only when folded.
        """
        assert texts_of(["Straße"], case_sensitive=False) == ["STRASSE"]
        assert texts_of(["Straße\u212a"], case_sensitive=False, case_mapping="fold") == ["strassek"]
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
        assert common_subsequence(tuple(a), list(b)) == common_subsequence(a, b)
