"""Attributes and units of images."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaltex_cli import evaluate
from evaltex_cli.errors import ConfigError, InputError
from evaltex_cli.evaluation import groups


@pytest.mark.parametrize(
    ("name", "document"),
    [
        *(("doc-3", "doc"), ("doc_0003", "doc"), ("doc.p3", "doc"), ("doc/3", "doc")),
        *(("a/doc_page_12.png", "a/doc"), ("2024-report p. 7", "2024-report"), ("img_12", "img")),
        *(("1001", ""), ("cover", "cover"), ("scan 2-1", "scan 2"), ("0001234-12", "0001234")),
    ],
)
def test_document_of_a_page(name: str, document: str) -> None:
    assert groups.document_of(name) == document


def test_pages_are_noticed_and_usual_names_are_not() -> None:
    pages = [f"doc{chr(97 + k)}-{page}" for k in range(6) for page in range(3)]
    assert "18 images look like pages of 6 documents, such as 'doca'" in groups.looks_like_pages(
        pages
    )
    assert not groups.looks_like_pages(pages[:15]) and not groups.looks_like_pages(pages[::2])
    assert not groups.looks_like_pages([f"img_{k}" for k in range(500)])
    assert not groups.looks_like_pages([str(k) for k in range(1001, 1501)])


def test_columns_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "groups.tsv"
    path.write_text("\ufeffimage\tlanguage\tshop\na.jpg\tde\t1\nb\t\t2\nz\tfr\t3\n\n")
    file = groups.read_groups(path)
    names = ["x/a", "b", "c"]
    assert file.values("language", names) == ["de", groups.NONE, groups.NONE]
    assert groups.Units("shop", file).of_images(names) == ["1", "2", groups.NONE]
    one, another = file.warnings(names)
    assert (
        "1 of 3 images is not in it, and has the value (none): 'c'" in one
        and "1 of its names is not among the images: 'z'" in another
    )
    with pytest.raises(ConfigError, match="no column 'shops'"):
        file.values("shops", names)
    with pytest.raises(ConfigError, match="give a file"):
        groups.Units("shop").of_images(names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,language\na,de\n", ":1: no column 'image' in the header, which has 'name'"),
        ("image,language\na,de\n\na,fr\n", ":4: image 'a' again; it stands in line 2 too"),
        ("image,place\na,Paris, France\n", ":2: 3 cells, but the header has 2"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "groups.csv"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        groups.read_groups(path)
    assert message in str(refused.value)


def test_evidence_of_units_is_the_sum_of_their_images() -> None:
    images = {name: [[0, 0, 9, 9]] * k for k, name in enumerate(["b-1", "a-2", "a-1", "c-1"], 1)}
    result = evaluate(images, images, protocol="iou")
    rows = result.rows
    assert rows is not None
    units = groups.Units("page").rows(rows)
    assert units.names == ["a-1", "b-1", "c-1"]
    assert units.tally.gt_objects.tolist() == [5, 1, 4]
    alone = groups.by_unit(rows, list(rows.names))
    assert alone.names == sorted(rows.names)
