"""Tables with a header: columns by their usual names or by a mapping, and what all rows decide."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from reading import Read, read

from evaltex_cli import evaluate
from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.evaluation.inputs import options_of
from evaltex_cli.formats.base import Side
from evaltex_cli.formats.sizes import with_sizes


def table(tmp_path: Path, text: str, side: Side = "gt", ending: str = ".csv") -> Read:
    path = tmp_path / f"words{ending}"
    path.write_text(text, encoding="utf-8")
    return read(path, side)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("Image_Name;Left;Top;Right;Bottom\na;1;2;5;9\n", [1, 2, 5, 9]),
        ("x0,y0,x1,y1,file\n1,2,5,9,a\n", [1, 2, 5, 9]),
        ("\ufefffilename,width,height,xmin,ymin,xmax,ymax\r\na,640,480,1,2,5,9\r\n", [1, 2, 5, 9]),
        ('file,polygon\na,"[[1, 2], [5, 2], [5, 9]]"\n', [1, 2, 5, 9]),
        ("image,box\na,\"{'x1': 1.0, 'y1': 2.0, 'x2': 5, 'y2': 9}\"\n", [1, 2, 5, 9]),
        ('path,bbox\n/x/a.png,"[np.int32(1), np.int32(2), 5, 9]"\n', [1, 2, 5, 9]),
        ("ImageID,XMin,XMax,YMin,YMax\na,1,5,2,9\n", [1, 2, 5, 9]),
        ("image;xmin;xmax;ymin;ymax\na;0,5;3,5;1,25;2\n", [0.5, 1.25, 3.5, 2.0]),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_usual_names_of_columns(tmp_path: Path, text: str, box: list[float], ending: str) -> None:
    found = table(tmp_path, text, ending=ending)
    assert (found.source.format, list(found.source.names), found.faults) == ("table", ["a"], [])
    assert found.objects.boxes.tolist() == [box]


def test_all_that_a_row_has(tmp_path: Path) -> None:
    text = (
        "file,xmin,ymin,xmax,ymax,text,ignore,score,image_width,image_height,Class\n"
        'b.jpg,1,2,5,9,"a ""quoted"", text",0,0.5,640,480,logo\n'
        "a.jpg,1,2,5,9,###,,0.75,,,text\n"
        "\n"
        "b.jpg,1,2,5,9,two,True,,640,480,text\n"
        "c.jpg,,,,,,,,100,50\n"
    )
    found = table(tmp_path, text)
    assert (list(found.source.names), found.faults) == (["b.jpg", "a.jpg", "c.jpg"], [])
    assert found.objects.offsets.tolist() == [0, 2, 3, 3]
    assert found.texts == ['a "quoted", text', "two", "###"]
    assert found.objects.labels is not None
    assert list(found.objects.labels) == ["logo", "text", "text"]
    assert found.objects.dont_care.tolist() == [False, True, True]
    assert found.source.sizes.tolist() == [[480, 640], [0, 0], [50, 100]]
    det = table(tmp_path, text, "det").objects
    assert det.confidences is not None and det.confidences[[0, 2]].tolist() == [0.5, 0.75]
    assert not det.dont_care.any()


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("a,5,2,1,9", ":2: a box from 5, 2 to 1, 9"),
        ("a,1,2,5,9,0,more", ":2: 7 cells; expected 6 at most"),
        ("a", ""),
    ],
)
def test_the_places_of_faults(tmp_path: Path, row: str, fault: str) -> None:
    found = table(tmp_path, f"file,xmin,ymin,xmax,ymax,ignore\n{row}\na,1,2,5,9\n")
    assert (found.objects.count, [fault in one for one in found.faults]) == (
        1,
        [True] * bool(fault),
    )


def test_a_quote_that_begins_a_text_takes_no_rows(tmp_path: Path) -> None:
    rows = 'a,1,2,5,9,x\na,1,2,5,9,"b\na,1,2,5,9,c\n'
    for ending in ("", 'a,1,2,5,9,"d\n'):
        found = table(tmp_path, f"file,xmin,ymin,xmax,ymax,text\n{rows}{ending}")
        assert ["with each quote in text twice" in fault for fault in found.faults] == [True]


def test_fractions_and_percent(tmp_path: Path) -> None:
    text = "file,xmin,ymin,xmax,ymax,conf\nimg_1,0.125,0.25,0.5,1,87.5\n"
    found = table(tmp_path, text, "det")
    assert [note.removeprefix(f"{found.source.path}: ") for note in found.source.warnings] == [
        "all coordinates are in [0, 1]: they are read as fractions of the page",
        "its confidences are percent, up to 87.5; they were divided by 100",
    ]
    assert found.source.fractions is not None and found.source.fractions.tolist() == [True]
    Image.new("1", (200, 100)).save(tmp_path / "img_1.png")
    sized = with_sizes(found.source, tmp_path)
    assert (sized.objects.boxes.tolist(), sized.fractions) == ([[25, 25, 100, 100]], None)
    sized = table(tmp_path, "file,xmin,ymin,xmax,ymax,width,height\na,0.125,0.25,0.5,1,200,100\n")
    assert sized.objects.boxes.tolist() == [[25, 25, 100, 100]] and sized.faults == []


@pytest.mark.parametrize("text", ["1,2,3,4\n5,6,7,8\n", "", "{}"])
def test_other_files_are_no_tables(tmp_path: Path, text: str) -> None:
    try:
        assert table(tmp_path, text, "det").source.format != "table"
    except InputError as error:
        assert str(tmp_path) in str(error)


def test_a_table_without_coordinates_is_told_what_is_missing(tmp_path: Path) -> None:
    """It was taken for EvaLTex's text."""
    (fault,) = table(tmp_path, "file,PredictionString\nx,0.9 1 2 5 9\n").faults
    assert "no columns of coordinates in the header, which has 'file', 'PredictionString'" in fault
    assert "name others by --columns" in fault


def test_columns_are_mapped(tmp_path: Path) -> None:
    gt, det = tmp_path / "gt.csv", tmp_path / "det.csv"
    gt.write_text("page no,a,b,c,d,kind\nx,1,2,5,9,word\n")
    det.write_text("file,xmin,ymin,xmax,ymax\nx,1,2,5,9\n")
    columns = "image=page no,x0=a,y0=b,x1=c,y1=d,label=kind"
    found = evaluate(gt, det, "iou", columns=columns)
    assert found.scores["hmean"] == 1
    assert f"|columns:{columns}|" in found.signature
    assert options_of(found.signature).columns == columns
    labels = read(gt, columns=columns).objects.labels
    assert labels is not None and list(labels) == ["word"]
    missing = "no column 'z' in the header, which has 'page no', 'a', 'b', 'c', 'd', 'kind'"
    with pytest.raises(InputError, match=missing):
        evaluate(gt, det, "iou", columns="image=page no,x0=z")
    other = tmp_path / "other.txt"
    other.write_text('x\n9,9\n1,1,"",f,1,2,3,4\n')
    with pytest.raises(ConfigError, match="no input has a format that uses it"):
        evaluate(other, other, "iou", columns="image=z")


def test_a_table_without_images_is_of_one_image_and_says_so(tmp_path: Path) -> None:
    found = table(tmp_path, "NAME_ID,x,y,w,h\na,1,2,3,4\nb,1,2,3,5\n").source
    said = f"{found.path}: no column has a usual name of images, so all rows are of one image"
    assert (found.names, found.warnings) == (["words"], (said,))


def test_json_in_one_line_is_no_table(tmp_path: Path) -> None:
    keys = '"x":1},{"y":2},{"width":3},{"height":4'
    with pytest.raises(InputError, match="JSON of no known layout"):
        table(tmp_path, f'{{"a":[{{{keys}}}],"x":1,"y":2,"width":3,"height":4}}', ending=".json")


def test_a_column_of_boxes_has_their_corners(tmp_path: Path) -> None:
    found = table(tmp_path, 'image,bbox,text\na,"[1, 2, 5, 9]",x\nb,"[3, 4, 3, 4]",y\n')
    assert (found.objects.boxes.tolist(), found.faults) == ([[1, 2, 5, 9], [3, 4, 3, 4]], [])
    (warning,) = found.source.warnings
    assert warning.endswith("column 'bbox' is read as x0, y0, x1, y1")


def test_a_column_of_boxes_with_sizes_is_refused(tmp_path: Path) -> None:
    found = table(tmp_path, 'image,bbox,text\na,"[10, 20, 5, 9]",x\n')
    assert len(found.faults) == 1
    assert "'bbox' 10, 20, 5, 9; expected x0, y0, x1, y1 in one column" in str(found.faults[0])
