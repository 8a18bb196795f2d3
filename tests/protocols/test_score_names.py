"""Names of scores: all spellings of the F-score are one, for every protocol."""

import pytest

from evaltex_cli import Accumulator, ConfigError
from evaltex_cli.protocols import PROTOCOLS, score_names
from evaltex_cli.protocols.base import load

SPELLINGS = ["f1", "F1", "f-1", "f1-score", "F_Score", "f score", "f-measure", "hmean", "h-mean"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_spelling_is_the_protocols_own_f_score(protocol: str) -> None:
    scores = Accumulator(protocol).compute().scores
    own = next(name for name in load(protocol).headline if score_names.same(name) == "hmean")
    for typed in SPELLINGS:
        assert score_names.resolve(typed, score_names.scalars(scores)) == own


@pytest.mark.parametrize(
    ("protocol", "typed", "name"),
    [
        ("evaltex", "f1_no_split", "fscore_no_split"),
        ("evaltex", "emd_hmean", "emd_fscore"),
        ("cleval", "e2e-f1", "e2e_hmean"),
        ("deteval", "f1_overall", "hmean_overall"),
        ("evaltex", " Recall ", "recall"),
        ("evaltex", "Recall-No-Split", "recall_no_split"),
    ],
)
def test_spellings_within_longer_names(protocol: str, typed: str, name: str) -> None:
    assert score_names.resolve(typed, list(Accumulator(protocol).compute().scores)) == name


@pytest.mark.parametrize(
    ("typed", "hint"), [("fscor", "did you mean 'fscore'"), ("f2", "expected one of recall, ")]
)
def test_an_unknown_name_lists_those_there_are(typed: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        score_names.resolve(typed, score_names.scalars(Accumulator("evaltex").compute().scores))


def test_no_protocol_has_two_scores_of_one_name() -> None:
    for protocol in PROTOCOLS:
        names = [score_names.same(name) for name in Accumulator(protocol).compute().scores]
        assert len(set(names)) == len(names)
