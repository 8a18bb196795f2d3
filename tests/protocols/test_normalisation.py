"""Texts whose Unicode forms differ are the same text where a protocol normalises them."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from evaltex_cli import Accumulator, image_objects

WORD = [[0, 0, 100, 20]]
TEXTS = {
    "the same": ("Müller", "Müller"),
    "composed": (unicodedata.normalize("NFC", "Müller"), unicodedata.normalize("NFD", "Müller")),
    "compatible": ("Ａbc", "Abc"),
}


def hmean(protocol: str, pair: tuple[str, str], score: str = "hmean", **parameters: Any) -> float:
    accumulator = Accumulator(protocol, **parameters)
    gt, det = (image_objects(WORD, texts=[text]) for text in pair)
    accumulator.update(gt, det)
    value = accumulator.compute().scores[score]
    assert value is not None
    return value


@pytest.mark.parametrize(
    ("protocol", "parameters", "score"),
    [
        ("iou-crw", {}, "hmean"),
        ("iou-crw", {"strip": "both"}, "hmean"),
        ("popeval", {}, "hmean"),
        ("pq", {"text": True}, "pq"),
        ("cleval", {}, "e2e_hmean"),
    ],
)
def test_which_texts_are_the_same_in_which_form(
    protocol: str, parameters: dict[str, Any], score: str
) -> None:
    for form, same in (
        ("none", ["the same"]),
        ("nfc", ["the same", "composed"]),
        ("nfkc", ["the same", "composed", "compatible"]),
    ):
        own = parameters | {"normalisation": form}
        assert [k for k, v in TEXTS.items() if hmean(protocol, v, score, **own) == 1] == same
    usual = hmean(protocol, TEXTS["composed"], score, **parameters)
    assert (usual == 1) is (protocol != "cleval")


def test_tedeval_counts_the_characters_of_the_form() -> None:
    """The detection has the second half of the box: of two characters one, of three one."""
    for form, recall in (("none", 1 / 3), ("nfc", 1 / 2)):
        accumulator = Accumulator("tedeval", normalisation=form, t_r=0.3)
        text = unicodedata.normalize("NFD", "aé")
        accumulator.update(image_objects(WORD, texts=[text]), [[51, 0, 100, 20]])
        assert accumulator.compute().scores["recall"] == pytest.approx(recall)


def test_lexicons_get_the_form_of_the_texts(tmp_path: Any) -> None:
    lexicon = tmp_path / "words.txt"
    lexicon.write_text(unicodedata.normalize("NFD", "Müller\n"), encoding="utf-8")
    given = {"lexicon": str(lexicon), "lexicon_edits": 0}
    pair = ("Müller", "Müller")
    assert hmean("iou-crw", pair, **given) == 1
    assert hmean("iou-crw", pair, **given, normalisation="none") == 0
