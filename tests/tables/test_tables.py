"""Tables in all forms."""

from __future__ import annotations

import csv
import io
import json

import pytest

from evaltex_cli.tables import (
    Column,
    Table,
    below,
    in_csv,
    in_html,
    in_latex,
    in_markdown,
    in_text,
    json_document,
    text_width,
)

COLUMNS = [
    Column("detector"),
    Column("hmean", "score"),
    Column("interval", "interval"),
    Column("change", "change"),
    Column("p", "p"),
    Column("images", "number"),
]
ROWS = [
    ["a_long_name_of_a_detector_2024.zip", 0.93124, (0.9, 0.95), 0.02, 0.0001, 3],
    ["b|c", None, None, -0.1, 0.04, 12],
]
TABLE = Table("Ranks on x_y", COLUMNS, ROWS, ["Better than 99% | all."], {(0, 1)})


def test_text_has_numbers_to_the_right_and_whole_names_without_a_terminal() -> None:
    title, *lines, note = in_text([TABLE]).splitlines()
    assert (title, note) == ("Ranks on x_y", "Better than 99% | all.")
    assert [line.split("  ")[-1].split()[-1] for line in lines] == ["images", "3", "12"]
    assert lines[1].startswith("a_long_name_of_a_detector_2024.zip  0.9312  [0.9000, 0.9500]")
    assert lines[2].split() == ["b|c", "–", "–", "-0.1000", "0.0400", "12"]


@pytest.mark.parametrize("width", [80, 60, 40])
def test_text_fits_a_terminal_and_loses_no_column(width: int) -> None:
    text = in_text([TABLE], width)
    assert max(map(text_width, text.splitlines())) <= width
    assert "a_l" in text and "zip" in text and "…" in text
    assert {"0.9312", "+0.0200", "<0.001", "12"} <= set(text.split())


def test_no_change_has_no_sign() -> None:
    rows = [[0.0], [-0.0], [0], [0.00001], [(-0.1, 0.0)]]
    cells = Table("", [Column("change", "change interval")], rows).cells()
    assert cells == [["0.0000"], ["0.0000"], ["0"], ["+0.0000"], ["[-0.1000, 0.0000]"]]


def test_wide_characters_count_twice() -> None:
    rows = [["日本", 1], ["abc", 22]]
    lines = in_text([Table("", [Column("word"), Column("n", "number")], rows)]).splitlines()
    assert lines == ["word   n", "日本   1", "abc   22"]


def test_an_interval_without_a_name_stands_beside_its_score() -> None:
    columns = [Column("name"), Column("recall", "score"), Column("", "interval"), Column("r", "p")]
    rows = [["a", 0.5, (0.25, 1.0), 1.0], ["b", 0.25, None, 0.5], ["c", 1.0, (0.0, 1.0), ""]]
    lines = in_text([Table("", columns, rows)]).splitlines()
    assert lines[0].startswith("name  recall  ")
    assert [line.split() for line in lines[1:3]] == [
        ["a", "0.5000", "[0.250,", "1.000]", "1.0000"],
        ["b", "0.2500", "–", "0.5000"],
    ]
    assert len({text_width(line) for line in lines[:3]}) == 1
    narrow = in_text([Table("", columns, rows)], 30).splitlines()
    assert narrow[4:] == ["", "name       r", "a     1.0000", "b     0.5000", "c"]


def test_notes_are_wrapped_but_for_commands() -> None:
    notes = ["- an item of a list", "a sentence of words", "  a command with words"]
    lines = in_text([Table("", notes=notes)], 12).splitlines()
    assert lines == ["- an item of", "  a list", "a sentence", "of words", notes[2]]


def test_json_has_a_head_and_no_half_characters() -> None:
    document = json.loads(json_document("scores", {"file": "\udcff"}, 2).encode())
    assert (document["schema"], document["kind"], document["file"]) == (2, "scores", "?")


def test_best_is_bold_in_markdown_latex_and_html_and_coloured_on_a_terminal() -> None:
    assert "| **0.9312** |" in in_markdown([TABLE])
    assert r"\textbf{93.1}" in in_latex([TABLE])
    assert '<td class="n"><strong>0.9312</strong></td>' in in_html([TABLE])
    assert "\x1b[32m0.9312\x1b[0m" in in_text([TABLE], None, True)


def test_texts_are_escaped() -> None:
    assert r"| b\|c |" in in_markdown([TABLE])
    assert r"a\_long\_name" in in_latex([TABLE])
    assert r"$<$0.001" in in_latex([TABLE])
    assert r"-10.0 & 0.0400 & 12 \\" in in_latex([TABLE]), "p-values are not per cent"
    assert "&lt;0.001" in in_html([TABLE])
    assert "?[31m" in in_text([Table("", [Column("name")], [["\x1b[31m"]])])


def test_csv_has_raw_values_and_no_formula() -> None:
    heads, first, second = csv.reader(io.StringIO(in_csv(TABLE)))
    assert heads == ["detector", "hmean", "interval_low", "interval_high", "change", "p", "images"]
    assert first[1:] == ["0.93124", "0.9", "0.95", "0.02", "0.0001", "3"]
    assert second[1:4] == ["", "", ""]
    assert in_csv(Table("", [Column("text")], [["=1+1"]])).splitlines()[1] == "'=1+1"


def test_a_table_without_rows_or_columns_is_its_title_and_notes() -> None:
    assert in_text([Table("nothing", notes=["a note"])]) == "nothing\na note\n"
    assert in_text([Table("nothing", [Column("name")])]) == "nothing\nname\n"


def test_rows_below_each_other_have_the_columns_of_both() -> None:
    other = Table("", [Column("detector"), Column("tau", "number")], [["d", 1]])
    both = below([TABLE, other])
    assert both.heads() == [*TABLE.heads(), "tau"]
    assert both.rows[2] == ["d", None, None, None, None, None, 1]


def test_the_first_rows_name_how_many_are_left_out() -> None:
    assert in_text([TABLE.first(1)]).splitlines()[-2:] == ["... and 1 more", TABLE.notes[0]]
    assert TABLE.first(2) is TABLE


def test_a_latex_row_does_not_begin_with_an_argument() -> None:
    """LaTeX takes a star or a bracket after the end of a row for an argument of it."""
    text = in_latex([Table("", [Column("name"), Column("value")], [["[x]", "a|b"], ["*", "c"]])])
    assert "{}[x] & a\\textbar{}b" in text
    assert "{}* & c" in text
