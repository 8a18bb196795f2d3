"""hOCR, Tesseract's TSV and ABBYY's XML: what is read, pages, and places of faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reading import described, folder, read
from written_files import written

from evaltex_cli.old_formats.engines.html_tags import Tag, decoded, events
from evaltex_cli.validation.validation import validate

HOCR = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"
    "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title></title><meta charset="utf-8"><br/></head>
<body><!-- <div class="ocr_page"> -->
<div class='ocr_page' id='page_1' title='image "a; bbox 1 2 3 4.png"; bbox 0 0 640 480; ppageno 0'>
 <p class='ocr_par' title="bbox 1 1 2 2">
  <span class='ocr_caption' title="bbox 0 0 100 60"><span class='x ocr_line' title="bbox 1 2 100 20; baseline 0 -5">
   <span class='ocrx_word' title='bbox 1 2 40.5 20; x_wconf 96'><strong>A &amp;</strong> &eacute;</span>
   <span class="ocrx_word" title="x_wconf 0;bbox 50 2 100 20">two</span></span></span>
 <p><span class=ocr_header title='bbox 1 30 90 40'>own
  text</span>
</div></body></html>
"""
HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n"
TSV = HEAD + (
    "1\t1\t0\t0\t0\t0\t0\t0\t640\t480\t-1\t\n"
    "4\t1\t1\t1\t1\t0\t10\t10\t90\t20\t-1\t\n"
    "5\t1\t1\t1\t1\t1\t10\t10\t40\t20\t96.5\tone\n"
    "5\t1\t1\t1\t1\t2\t60\t10\t40\t20\t-1\ttwo\n"
    "4\t1\t1\t1\t2\t0\t0\t90\t600\t3\t-1\t\n"
    "5\t1\t1\t1\t2\t1\t0\t90\t600\t3\t95\t \n"
    "1\t2\t0\t0\t0\t0\t0\t0\t320\t240\t-1\n"
    '5\t2\t1\t1\t1\t1\t1\t2\t3\t4\t50\t"\n'
)


def test_words_and_lines_of_hocr(tmp_path: Path) -> None:
    path = written(tmp_path / "scan.html", HOCR)
    words, lines = read(path, "gt"), read(path, "gt", "hocr-line")
    assert (words.source.format, list(words.source.names), words.faults) == ("hocr", ["scan"], [])
    assert words.images.sizes.tolist() == [[480, 640]]
    assert described(words) == [([1, 2, 40.5, 20], "A & é"), ([50, 2, 100, 20], "two")]
    assert words.objects.confidences is not None
    assert words.objects.confidences.tolist() == [0.96, 0]
    assert words.objects.regions[0] == words.objects.regions[1]
    assert described(lines) == [([1, 2, 100, 20], "A & é two"), ([1, 30, 90, 40], "own text")]


def test_pages_of_hocr_are_images(tmp_path: Path) -> None:
    page = (
        "<div class='ocr_page' title='bbox 0 0 9 {0}'><span class='ocrx_word' title='bbox 0 0 1"
        " {0}'>w</span></div>"
    )
    both = f"<html>{page.format(7)}{page.format(8)}</html>"
    found = read(folder(tmp_path / "in", both, page.format(5), suffix=".hocr"))
    assert list(found.source.names) == ["1-1", "1-2", "2"]
    assert found.images.sizes.tolist() == [[7, 9], [8, 9], [5, 9]]
    assert found.objects.boxes[:, 3].tolist() == [7, 8, 5]


def test_hocr_without_words_is_read_by_lines(tmp_path: Path) -> None:
    lines = read(
        written(
            tmp_path / "a.hocr",
            "<div class='ocr_page'><span class=ocr_line title='bbox 1 2 3 4'>a</span></div>",
        )
    )
    assert (lines.source.format, described(lines)) == ("hocr-line", [([1, 2, 3, 4], "a")])
    assert "no file has words, so lines are read" in lines.source.warnings[0]


def test_a_word_outside_of_lines_is_read(tmp_path: Path) -> None:
    word = "<span class='ocrx_word' title='bbox 1 2 3 4'>a</span>"
    assert (
        described(read(written(tmp_path / "a.hocr", f"{word}<div class='ocr_page'>{word}</div>")))
        == [([1, 2, 3, 4], "a")] * 2
    )


@pytest.mark.parametrize(
    ("html", "line", "message"),
    [
        (
            "<body>\n <div class='ocr_page'><p></span></div></body>",
            2,
            "'</span>'; expected '</div>', to close",
        ),
        ("<body>\n</div class='ocr_page'>", 2, "'</div>'; expected an element that it closes"),
        ("<body>\n<div class='ocr_page'>\n", 2, "'<div>' without end"),
        ("<p class='ocr_page'>\n <span class='ocrx_word title=\n", 2, "which has no end"),
        ("<p class='ocr_page'>\n<!-- ...", 2, "'<!--' without end"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]>\n<p class='ocr_page'>", 1, "an entity declaration"),
        (
            "<p class='ocr_page'>\n<i class='ocrx_word'>a</i>",
            2,
            "i of class 'ocrx_word' without bbox",
        ),
        (
            "<p class='ocr_page'>\n<i class='ocrx_word' title='bbox 1 2 3'>a</i>",
            2,
            "bbox of 3 numbers",
        ),
        (
            "<p class='ocr_page'>\n<i class='ocrx_word' title='bbox 1 2 3 nan'>a</i>",
            2,
            "bbox 'nan'",
        ),
        (
            "<p class='ocr_page'>\n<i class='ocrx_word' title='bbox 3 2 1 4'>a</i>",
            2,
            "bbox 3 2 1 4",
        ),
        (
            "<p class='ocr_page'>\n<i class='ocrx_word' title='bbox 1 2 3 4; x_wconf 101'>a</i>",
            2,
            "x_wconf 101",
        ),
        (
            "<p class='ocr_page'>\n<i class='ocrx_word' title='bbox 1 2 3 4; x_wconf'>a</i>",
            2,
            "x_wconf ''",
        ),
        (
            (
                "<p class='ocr_page' title='bbox 1 2 3'>\n<i class='ocrx_word' title='bbox 1 2 3"
                " 4'>a</i>"
            ),
            1,
            "bbox of 3",
        ),
    ],
)
def test_broken_hocr_is_reported_with_its_place(
    tmp_path: Path, html: str, line: int, message: str
) -> None:
    path = written(tmp_path / "a.hocr", html)
    (problem,) = [one for one in validate(path).problems if one.level == "error"]
    assert (problem.file, problem.line) == (str(path), line)
    assert message in f"{problem.found}; {problem.advice}"


def test_html_needs_no_end_where_html_needs_none() -> None:
    text = b"<ul><li>1<li>2</ul><script>if (a<b) </p></SCRIPT><img><p/>a < b<![CDATA[<]]><td>"
    found = [event.name if isinstance(event, Tag) else event for event in events(decoded(text))]
    listed = ["ul", "li", "1", "li", "2", None, None, None, "script", None, "img", None, "p", None]
    assert found == [*listed, "a ", "< b", "<", "td", None]


def test_words_and_lines_of_tesseract(tmp_path: Path) -> None:
    path = written(tmp_path / "scan.tsv", TSV)
    words, lines = read(path, "gt"), read(path, "gt", "tesseract-tsv-line")
    assert (words.source.format, list(words.source.names)) == (
        "tesseract-tsv",
        ["scan-1", "scan-2"],
    )
    assert words.images.sizes.tolist() == [[480, 640], [240, 320]]
    assert described(words) == [
        ([10, 10, 50, 30], "one"),
        ([60, 10, 100, 30], "two"),
        ([1, 2, 4, 6], '"'),
    ]
    assert words.objects.confidences is not None
    np.testing.assert_array_equal(words.objects.confidences, [0.965, np.nan, 0.5])
    assert words.objects.regions.tolist() == [1, 1, 1]
    assert described(lines) == [([10, 10, 100, 30], "one two")]
    assert words.source.warnings == (f"{path}: 1 word without text was left out",)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("5\t1\t1\t1\t1\t1\t10\t10\t40\t20\t96", "10 cells"),
        ("5\t1\t1\t1\t1\t1\t10\tten\t40\t20\t96\ta", "top 'ten'"),
        ("5\t1\t1\t1\t1\t1\t10\t10\t-40\t20\t96\ta", "width -40"),
        ("5\t1\t1\t1\t1\t1\t10\t10\t40\t20\t196\ta", "conf 196"),
    ],
)
def test_faulty_rows_of_tesseract(tmp_path: Path, row: str, message: str) -> None:
    if "cells" in message:
        row = row.rpartition("\t")[0]
    path = written(tmp_path / "a.tsv", f"{HEAD}{row}\n5\t1\t1\t1\t1\t1\t1\t1\t4\t2\t96\tgood\n")
    (problem,) = [one for one in validate(path).problems if one.level == "error"]
    assert (problem.line, message in problem.found) == (2, True)


def test_a_table_is_no_text_of_evaltex(tmp_path: Path) -> None:
    assert read(written(tmp_path / "a.txt", TSV)).source.format == "tesseract-tsv"


def abbyy(*characters: tuple[str, int, int], line: str = 'l="0" t="5" r="90" b="20"') -> str:
    made = "".join(
        (
            f'<charParams l="{10 * k}" t="5" r="{10 * k + 9}" b="{bottom}"'
            f' charConfidence="{percent}">{c}</charParams>'
        )
        for k, (c, bottom, percent) in enumerate(characters)
    )
    page = f'<page width="640" height="480"><block blockType="Text"><text><par><line {line}>'
    return (
        f"{page}<formatting"
        f" lang='EnglishUnitedStates'>\n{made}</formatting></line></par></text></block></page>"
    )


def test_words_and_lines_of_abbyy(tmp_path: Path) -> None:
    text = abbyy(("a", 20, 90), ("b", 21, 70), (" ", 20, 255), ("c", 20, 255))
    path = written(tmp_path / "scan.xml", f"<document>{text}{abbyy()}</document>")
    words, lines = read(path, "gt"), read(path, "gt", "abbyy-line")
    assert (words.source.format, list(words.source.names)) == ("abbyy", ["scan-1", "scan-2"])
    assert described(words) == [([0, 5, 19, 21], "ab"), ([30, 5, 39, 20], "c")]
    assert words.objects.confidences is not None
    np.testing.assert_array_equal(words.objects.confidences, [0.8, np.nan])
    assert words.objects.regions.tolist() == [1, 1]
    assert words.images.sizes.tolist() == [[480, 640]] * 2
    assert described(lines) == [([0, 5, 90, 20], "ab c"), ([0, 5, 90, 20], "")]


def test_abbyy_without_characters_is_read_by_lines(tmp_path: Path) -> None:
    text = abbyy().replace("\n", "two  words")
    lines = read(written(tmp_path / "scan.xml", f"<document>{text}</document>"))
    assert (lines.source.format, described(lines)) == (
        "abbyy-line",
        [([0, 5, 90, 20], "two words")],
    )
    variants = "<charRecVariants><charRecVariant>a</charRecVariant><charRecVariant>o</charRecVariant></charRecVariants>"
    with_variants = read(
        written(tmp_path / "b.xml", f"<document>{abbyy((variants, 20, 9))}</document>")
    )
    assert with_variants.texts == ["a"]


def test_faults_of_abbyy(tmp_path: Path) -> None:
    path = written(tmp_path / "scan.xml", f"<document>{abbyy(('a', 4, 90))}</document>")
    (problem,) = [one for one in validate(path).problems if one.level == "error"]
    assert (problem.line, "l, t, r, b 0, 5, 9, 4" in problem.found) == (2, True)
    (fault,) = read(written(tmp_path / "a.xml", "<document blockType='a'/>")).faults
    assert "no page element; expected one or more" in fault
