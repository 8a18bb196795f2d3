"""What a terminal shows: widths, cut names, tables that fit."""

import unicodedata

import pytest

from evaltex_cli.results import screen
from evaltex_cli.results.screen import Screen, aligned, cut, fitted, short_names, width

CJK = "日本語の検出器"
COMBINED = unicodedata.normalize("NFD", "détecteur")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        (CJK, 14),
        (COMBINED, 9),
        ("a\u200bb", 2),
        ("ｱ", 1),
        ("Ａ", 2),
        ("\x1b[31mred\x1b[0m", 3),
        ("", 0),
    ],
)
def test_width(text, columns):
    assert width(text) == columns


@pytest.mark.parametrize(
    "text", ["a" * 50, CJK * 4, COMBINED * 4, "epoch_10" + "x" * 40 + "_best.zip"]
)
@pytest.mark.parametrize("columns", [5, 6, 12, 13, 30])
def test_cut_names_have_both_ends(text, columns):
    short = cut(text, columns)
    assert columns - 2 <= width(short) <= columns
    head, _, tail = short.partition(screen.MORE)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert cut("abc", columns) == "abc"


def test_names_that_are_too_long_are_numbered():
    names = [f"detector-{'x' * 30}-{k}-{'y' * 30}" for k in range(10)]
    short, lines = short_names(names, 14)
    assert len(set(short)) == 10
    assert max(map(width, short)) <= 14
    assert [line.split(" = ")[1] for line in lines] == names
    assert [line.split(" = ")[0] for line in lines] == [name[:2] for name in short]
    assert short_names(["a", "b"], 14) == (["a", "b"], [])
    assert short_names([f"a-detector-{k}.zip" for k in (10, 20)], 12)[0] == [
        "1 a-d…tor-10",
        "2 a-d…tor-20",
    ]
    assert short_names(["a-detector.zip", "a-detector.txt"], 12)[0] == [
        "1 a-d…or.zip",
        "2 a-d…or.txt",
    ]


def test_columns_of_wide_characters_are_aligned():
    lines = list(aligned([["name", "n"], [CJK, "1"], ["abc", "22"]], texts=(0,)))
    assert {width(line) for line in lines} == {18}


def test_columns_beyond_the_screen_come_below():
    rows = [
        ["name", *(f"score_{k}" for k in range(12))],
        ["a", *["0.1234"] * 12],
        ["b", *["0.5"] * 11, ""],
    ]
    lines = list(fitted(rows, 40))
    assert max(map(width, lines)) <= 40
    assert " ".join(lines).split().count("0.1234") == 12
    blocks = "\n".join(lines).split("\n\n")
    assert all(block.startswith("name ") for block in blocks)
    assert (
        sum(block.count("\nb ") for block in blocks) == len(blocks) - 1
    )  # it has nothing in the last one
    assert list(fitted(rows, 400)) == list(aligned(rows, (0,)))


def test_sentences_are_wrapped():
    sentence = f"one two three {'x' * 50} four {CJK} five"
    lines = list(Screen(20).wrapped(sentence, "  "))
    assert " ".join(" ".join(lines).split()) == sentence
    assert all(width(line) <= 20 for line in lines if "x" not in line)
    assert all(line.startswith("  ") for line in lines[1:])


def test_colours_only_where_wanted():
    assert Screen().paint("x", "red") == "x"
    assert Screen(has_color=True).paint("x", "red") == "\x1b[31mx\x1b[0m"
    assert Screen(has_color=True).paint("", "red") == ""


@pytest.mark.parametrize(
    ("interval", "shown"),
    [
        ((0.1, 0.25), "[.1000, .2500]"),
        ((0.99989, 1.0), "[.9999, 1.000]"),
        ((0.0, 0.5), "[.0000, .5000]"),
        (None, "[–]"),
    ],
)
def test_short_intervals(interval, shown):
    assert screen.short_interval(interval) == shown
