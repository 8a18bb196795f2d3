"""PAGE, ALTO, hOCR and ABBYY's XML: words, lines and regions, pages, and what is said of the rest."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import Read, described, folder, read

from evaltex_cli.formats.base import Head
from evaltex_cli.formats.ocr_xml import HOCR as HOCR_FORMAT

PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Page imageFilename="page_1.tif" imageWidth="640" imageHeight="480"><TableRegion id="t">
    <TextRegion id="r1"><Coords points="0,0 300,0 300,90 0,90"/>
      <TextLine id="l1"><Coords points="0,0 300,0 300,40 0,40"/>
        <Word id="w1"><Coords points="0,0 99.5,0 99.5,40 0,40" conf="0.5"/>
          <Glyph><Coords points="0,0 9,0 9,40"/><TextEquiv><Unicode>T</Unicode></TextEquiv></Glyph>
          <TextEquiv index="1"><Unicode>Tw0</Unicode></TextEquiv>
          <TextEquiv index="0" conf="0.9"><Unicode>Two &amp; &#233;</Unicode></TextEquiv></Word>
        <Word id="w2"><Coords points="110,0 300,0 300,40 110,40"/></Word>
        <TextEquiv><Unicode>Two words</Unicode></TextEquiv></TextLine>
      <TextLine id="l2"><Coords points="0,50 300,50 300,90 0,90"/>
        <Word id="w3"><Coords>
          <Point x="0" y="50"/><Point x="300" y="50"/><Point x="300" y="90"/><Point x="0" y="90"/>
        </Coords><TextEquiv conf="0.25"><Unicode>three</Unicode></TextEquiv></Word></TextLine>
    </TextRegion></TableRegion>
    <ImageRegion id="i"><Coords points="400,0 500,0 500,90"/></ImageRegion>
  </Page></PcGts>
"""
ALTO = """<?xml version="1.0" encoding="UTF-8"?>
<alto xmlns="http://www.loc.gov/standards/alto/ns-v3#"><Description>
  <MeasurementUnit>pixel</MeasurementUnit>
  <OCRProcessing><ocrProcessingStep><processingStepSettings>none</processingStepSettings>
  </ocrProcessingStep></OCRProcessing></Description>
  <Layout><Page ID="p1" WIDTH="640" HEIGHT="480"><PrintSpace><TextBlock ID="b1">
    <TextLine ID="l1" HPOS="0" VPOS="0" WIDTH="300" HEIGHT="40">
      <String ID="s1" HPOS="0" VPOS="0" WIDTH="99.5" HEIGHT="40" CONTENT="Two" WC="0.5"/><SP/>
      <String ID="s2" HPOS="110" VPOS="0" WIDTH="190" HEIGHT="40" CONTENT="words">
        <Shape><Polygon POINTS="110,0 300,0 300,40 110,38.5"/></Shape></String></TextLine>
    <TextLine ID="l2" HPOS="0" VPOS="50" WIDTH="300" HEIGHT="40">
      <String ID="s3" HPOS="0" VPOS="50" WIDTH="300" HEIGHT="40" CONTENT="three" WC="1"/></TextLine>
  </TextBlock></PrintSpace></Page></Layout></alto>
"""
HOCR = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/xhtml1.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title></title><meta charset="utf-8"><br/></head>
<body><!-- <div class="ocr_page"> -->
<div class='ocr_page' id='page_1' title='image "a; 1.png"; bbox 0 0 640 480; ppageno 0'>
 <p class='ocr_par' title="bbox 1 1 2 2"><span class='ocr_caption' title="bbox 0 0 100 60">
  <span class='x ocr_line' title="bbox 1 2 100 20">
   <span class='ocrx_word' title='bbox 1 2 40.5 20; x_wconf 96'><b>A &amp;</b> &eacute;</span>
   <span class="ocr_word" title="x_wconf 0;bbox 50 2 100 20">two</span></span></span>
 <p><span class=ocr_header title='bbox 1 30 90 40'>own
  text</span></div></body></html>
"""
ABBYY = """<document><page width="640" height="480"><block blockType="Text"><text><par>
<line l="0" t="5" r="90" b="20"><formatting lang="EnglishUnitedStates">
<charParams l="0" t="5" r="9" b="20" charConfidence="90">a</charParams>
<charParams l="10" t="5" r="19" b="21" charConfidence="70">b</charParams>
<charParams l="20" t="5" r="29" b="20" charConfidence="255"> </charParams>
<charParams l="30" t="5" r="39" b="20" charConfidence="255">c</charParams></formatting></line>
</par></text></block></page></document>
"""
WORD_BOXES = [[0, 0, 99.5, 40], [110, 0, 300, 40], [0, 50, 300, 90]]
NAN = float("nan")


def replaced(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def hocr(*words: str) -> str:
    return f"<html><div class='ocr_page' title='bbox 0 0 90 90'>{' '.join(words)}</div></html>"


def read_text(
    tmp_path: Path, text: str | bytes, side: Any = "gt", form: str | None = None, level: Any = None
) -> Read:
    path = tmp_path / "p.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, side, form, level)


def confidences(found: Read) -> Any:
    column = found.objects.confidences
    return None if column is None else pytest.approx(column.tolist(), nan_ok=True)


WORDS = {
    "page": list(zip(WORD_BOXES, ["Two & é", "", "three"], strict=True)),
    "alto": list(zip(WORD_BOXES, ["Two", "words", "three"], strict=True)),
    "hocr": [([1, 2, 40.5, 20], "A & é"), ([50, 2, 100, 20], "two")],
    "abbyy": [([0, 5, 19, 21], "ab"), ([30, 5, 39, 20], "c")],
}
L1, L2 = [0, 0, 300, 40], [0, 50, 300, 90]


@pytest.mark.parametrize(
    ("form", "text", "scores", "lines"),
    [
        ("page", PAGE, [0.5, NAN, 0.25], [(L1, "Two words"), (L2, "")]),
        ("alto", ALTO, [0.5, NAN, 1], [(L1, "Two words"), (L2, "three")]),
        ("alto", ALTO.replace("www.loc.gov/standards/alto/ns-v3#", "schema.ccs-gmbh.com/ALTO"),
         [0.5, NAN, 1], [(L1, "Two words"), (L2, "three")]),
        ("hocr", HOCR, [0.96, 0], [([1, 2, 100, 20], "A & é two"), ([1, 30, 90, 40], "own text")]),
        ("abbyy", ABBYY, [0.8, NAN], [([0, 5, 90, 20], "ab c")]),
    ],
)  # fmt: skip
def test_words_and_lines(
    tmp_path: Path, form: str, text: str, scores: list[float], lines: list[Any]
) -> None:
    words, found = read_text(tmp_path, text), read_text(tmp_path, text, level="line")
    assert (words.source.format, words.source.names, words.faults) == (form, ["p"], [])
    assert words.source.sizes.tolist() == [[480, 640]]
    assert (described(words), confidences(words)) == (WORDS[form], scores)
    assert described(found) == lines
    assert found.objects.confidences is None
    first, second, *others = words.objects.regions.tolist()
    assert first == second and first not in others
    count = len(scores)
    assert read_text(tmp_path, text, "det").objects.regions.tolist() == [*range(1, count + 1)]


def test_regions_shapes_and_variants(tmp_path: Path) -> None:
    assert described(read_text(tmp_path, PAGE, level="region")) == [([0, 0, 300, 90], "")]
    counts = read_text(tmp_path, ALTO).objects.outlines.counts
    assert [bool(count) for count in counts] == [False, True, False]
    variants = "<charRecVariants><charRecVariant>{}</charRecVariant></charRecVariants>"
    character = variants.format("a") + variants.format("o")
    assert read_text(tmp_path, replaced(ABBYY, (">a<", f">{character}<"))).texts == ["ab", "c"]


@pytest.mark.parametrize(("unit", "per_inch"), [("mm10", 254), ("inch1200", 1200)])
@pytest.mark.parametrize("dpi", ["at 300 dpi", "xdpi:300ydpi:300", "", "300 dpi, 200 dpi"])
def test_units_of_alto(tmp_path: Path, unit: str, per_inch: int, dpi: str) -> None:
    """They become pixels, or fractions of the page without one resolution."""
    text = replaced(ALTO, (">pixel<", f">{unit}<"), (">none<", f">{dpi}<"))
    found, are_pixels = read_text(tmp_path, text), len(set(re.findall("[0-9]+", dpi))) == 1
    scale = 300 / per_inch if are_pixels else 1 / np.array([640, 480, 640, 480])
    assert (found.faults, found.source.fractions is None) == ([], are_pixels)
    assert found.objects.boxes.tolist() == pytest.approx(np.array(WORD_BOXES) * scale)
    assert found.source.sizes[0, 0] == pytest.approx(480 * scale if are_pixels else 0)
    faults = read_text(tmp_path, replaced(text, ('WIDTH="640" HEIGHT="480"', ""))).faults
    assert are_pixels or f"'{unit}' without dpi or size of the page" in faults[0]


@pytest.mark.parametrize("encoding", ["", "utf-8-sig", "iso-8859-1"])
def test_hocr_is_in_utf_8_unless_it_says_otherwise(tmp_path: Path, encoding: str) -> None:
    meta = f"<meta charset={encoding}>" if encoding == "iso-8859-1" else ""
    text = meta + hocr("<i class='ocr_word' title='bbox 0 0 9 9'>Müller</i>")
    assert read_text(tmp_path, text.encode(encoding or "utf-8")).texts == ["Müller"]
    (fault,) = read_text(tmp_path, f"{HOCR}Müller".encode("latin-1")).faults
    assert "byte 0xfc; expected text in UTF-8" in fault


@pytest.mark.parametrize(
    ("text", "begin", "end"),
    [
        (ALTO.replace("Two", "two"), "<Page ", "</Layout>"),
        (HOCR, "<div class='ocr_page'", "</body>"),
        (ABBYY, "<page ", "</document>"),
    ],
)
def test_pages_are_images(tmp_path: Path, text: str, begin: str, end: str) -> None:
    page = text[text.index(begin) : text.index(end)]
    second = page.replace("640", "1280").replace("two", "three")
    both = replaced(text, (end, f"<!-- {second} -->{second}{end}"))
    found = read(folder(tmp_path / "in", text, both, suffix=".xml"))
    assert (found.source.names, found.faults) == (["1", "2-1", "2-2"], [])
    assert found.source.sizes.tolist() == [[480, 640], [480, 640], [480, 1280]]
    words = len(found.texts) // 3
    third = [word.replace("two", "three") for word in found.texts[:words]]
    assert found.texts == [*found.texts[:words] * 2, *third]


LINES = replaced(PAGE, ("Word", "Sentence"))
REGIONS = replaced(LINES, ("TextLine", "Other"))


@pytest.mark.parametrize(
    ("text", "level", "first"),
    [
        (LINES, "line", [0, 0, 300, 40]),
        (replaced(LINES, ("UTF-8", "UTF-16")).encode("utf-16"), "line", [0, 0, 300, 40]),
        (replaced(ALTO, ("String", "Strings")), "line", [0, 0, 300, 40]),
        (hocr("<p class=ocr_line title='bbox 1 2 3 4'>a</p>"), "line", [1, 2, 3, 4]),
    ],
)
def test_the_next_level_is_read_where_no_file_has_words(
    tmp_path: Path, text: str | bytes, level: str, first: list[float]
) -> None:
    found = read_text(tmp_path, text)
    assert (found.source.level, found.faults) == (level, [])
    assert found.objects.boxes[0].tolist() == first
    said = f"no file has words, so {level}s are read (--gt-level names another level)"
    assert found.warnings == [said]


def test_the_level_is_that_of_the_whole_input(tmp_path: Path) -> None:
    path = folder(tmp_path / "gt", REGIONS, LINES, LINES, suffix=".xml")
    found = read(path)
    assert np.diff(found.objects.offsets).tolist() == [0, 2, 2]
    assert found.warnings == [
        "1 region without lines was left out (--gt-level region reads regions)",
        "no file has words, so lines are read (--gt-level names another level)",
    ]
    (path / "4.xml").write_text(PAGE)
    found = read(path)
    assert np.diff(found.objects.offsets).tolist() == [0, 0, 0, 3]
    assert sorted(found.warnings) == [
        "1 region without words was left out (--gt-level region reads regions)",
        "4 lines without words were left out (--gt-level line reads lines)",
    ]


PAGE_LINE = "<TextLine><Coords points='0,0 9,0 9,9'/><TextEquiv><Unicode>{}</Unicode></TextEquiv></TextLine>"
ABBYY_LINE = '<line l="1" t="1" r="2" b="2"><formatting>a</formatting></line>'
HOCR_WORD = "<i class='ocrx_word' title='bbox 0 0 9 9'>{}</i>"


@pytest.mark.parametrize("content", ["one line", "one"])
def test_alto_whose_words_have_the_box_of_their_line(tmp_path: Path, content: str) -> None:
    """As eScriptorium writes lines: a String for all of it, or for each word."""
    place = 'HPOS="10" VPOS="{0}" WIDTH="90" HEIGHT="20"'
    string = f'<String {place} CONTENT="{content}"/>'
    lines = [f"<TextLine {place}>{string * (1 + ('line' not in content))}</TextLine>"] * 2
    lines += [f'<TextLine {place}><String {place} CONTENT="12"/></TextLine>']
    page = "<alto><MeasurementUnit>pixel</MeasurementUnit><Page>{}</Page></alto>"
    text, one = (page.format("".join(some).format(15)) for some in (lines, lines[2:]))
    found = read_text(tmp_path, text)
    assert (found.source.level, found.objects.count, found.texts[-1]) == ("line", 3, "12")
    assert found.warnings == [
        "1 page has words that all have the box of their line",
        "no file has words, so lines are read (--gt-level names another level)",
    ]
    several = read(folder(tmp_path / "many", text, one, suffix=".xml"))
    assert np.diff(several.objects.offsets).tolist() == [3, 1]
    mixed = read(folder(tmp_path / "gt", text, ALTO, suffix=".xml"))
    assert (mixed.source.level, np.diff(mixed.objects.offsets).tolist()) == ("word", [1, 3])
    assert mixed.warnings == [LINES_LEFT]


LINE_LEFT = "1 line without words was left out (--gt-level line reads lines)"
LINES_LEFT = LINE_LEFT.replace("1 line", "2 lines").replace("was", "were")
WORD_POINTS = "110,0 300,0 300,40 110,40"
ALTO_PLACE = 'HPOS="0" VPOS="50" WIDTH="300" HEIGHT="40"'
HOCR_NOWHERE = hocr(HOCR_WORD, "<i class='ocrx_word'>b</i>")
HOCR_LINE = f"<p class='ocr_line' title='bbox 0 0 9 9'>{HOCR_WORD.format('a')}</p>"


@pytest.mark.parametrize(
    ("text", "old", "new", "level", "objects", "left_out"),
    [
        (PAGE, "</TextRegion>", f"{PAGE_LINE.format('a') * 2}</TextRegion>", "word", 3, LINES_LEFT),
        (PAGE, WORD_POINTS, "", "word", 2, "1 word without coordinates was left out"),
        (ALTO, f'{ALTO_PLACE} CONTENT="three"', "", "word", 2, "1 word without coordinates was left out"),
        (ALTO, 'three" WC="1"', 'three of them"', "word", 2, LINE_LEFT),
        (ALTO, "three", "  ", "line", 1, "1 line of blanks alone was left out"),
        (HOCR, "own", "the own", "word", 2, LINE_LEFT),
        (hocr(HOCR_LINE * 2), ">a<", "><em> </em><", "line", 0, "2 lines of blanks alone were left out"),
        (HOCR_NOWHERE, ">b<", ">c<", "word", 1, "1 word without coordinates was left out"),
        (ABBYY, "</par>", f"{ABBYY_LINE}</par>", "word", 2, LINE_LEFT),
    ],
)  # fmt: skip
def test_what_is_left_out_is_counted(
    tmp_path: Path, text: str, old: str, new: str, level: str, objects: int, left_out: str
) -> None:
    found = read_text(tmp_path, replaced(text, (old, new)), level=level)
    assert (found.objects.count, found.faults) == (objects, [])
    assert found.warnings == [left_out] * bool(left_out)


PERCENT = "its confidences are percent, up to 96; they were divided by 100"


@pytest.mark.parametrize(
    ("text", "old", "new", "values", "warning"),
    [
        (PAGE, 'conf="0.25"', 'conf="96"', [0.005, NAN, 0.96], PERCENT),
        (ALTO, "<MeasurementUnit>pixel</MeasurementUnit>", "", [0.5, NAN, 1],
         "1 file without MeasurementUnit is taken for pixels"),
        (PAGE, 'imageWidth="640" imageHeight="480"', 'imageWidth=""', [0.5, NAN, 0.25], ""),
    ],
)  # fmt: skip
def test_confidences_in_percent_and_what_may_be_missing(
    tmp_path: Path, text: str, old: str, new: str, values: list[float], warning: str
) -> None:
    found = read_text(tmp_path, replaced(text, (old, new)), "det")
    assert (found.faults, confidences(found)) == ([], values)
    assert found.warnings == [warning] * bool(warning)
    assert found.source.sizes.tolist() == [[0, 0] if 'WIDTH=""' in new.upper() else [480, 640]]


HOCR_ONE = "<p class='ocr_page'>\n<i class='ocrx_word' title='bbox 1 2 3 4; x_wconf 9'>a</i>"


@pytest.mark.parametrize(
    ("form", "text", "old", "new", "message"),
    [
        ("page", PAGE, WORD_POINTS, "110,0 300,0", "10: 2 vertices; expected three or more"),
        ("page", PAGE, '<Point x="0" y="50"/>', '<Point x="0"/>', "14: Point without y"),
        ("alto", PAGE, "640", "640", "2: root 'PcGts'; expected root alto"),
        ("alto", ALTO, '"s3" HPOS="0"', '"s3"', "12: String without HPOS; expected a number"),
        ("alto", ALTO, 'WIDTH="300" HEIGHT="40" C', 'WIDTH="-3" HEIGHT="40" C', "12: width -3, h"),
        ("hocr", HOCR_ONE, " 3 4;", " 0 4;", "2: a box from 1, 2 to 0, 4; expected x0 <= x1"),
        ("hocr", HOCR, "</body></html>", "", "no </html>; expected a whole document"),
    ],
)
def test_faults_name_line_and_expectation(
    tmp_path: Path, form: str, text: str, old: str, new: str, message: str
) -> None:
    fault, *hint = read_text(tmp_path, replaced(text, (old, new)), "gt", form).faults
    line = f"{tmp_path / 'p.xml'}:" if message[0].isdigit() else ""
    assert fault.startswith(line + message)
    assert len(hint) == ("; expected root" in message)
    assert all("content of the format " in one for one in hint)


@pytest.mark.parametrize(
    ("doctype", "entity"),
    [
        ('[<!ENTITY a SYSTEM "file:///etc/passwd">]', "&a;"),
        ('[<!ENTITY a "aa"><!ENTITY b "&a;&a;">]', ""),
        ('SYSTEM "http://localhost/x.dtd"', "&uuml;"),
    ],
)
def test_entities_of_a_document_type_are_refused(tmp_path: Path, doctype: str, entity: str) -> None:
    """lxml would leave them out of the texts; a document type without any is read."""
    text = replaced(PAGE, ("<PcGts", f"<!DOCTYPE PcGts {doctype}><PcGts"))
    (fault,) = read_text(tmp_path, replaced(text, ("three", f"three{entity}"))).faults
    assert "entities of a document type" in fault or "references external entity 'a'" in fault
    found = read_text(tmp_path, replaced(text, (doctype, 'SYSTEM "x.dtd"')))
    assert (found.faults, found.texts[-1]) == ([], "three")


def test_what_is_not_hocr() -> None:
    for text in ("<p class='ocr'>a</p>", "of <i class='ocrx_word'>a</i>", "[1]", ""):
        assert HOCR_FORMAT.recognised_by(Head("a.html", text.encode())) == ""
