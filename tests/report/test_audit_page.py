"""The page of an audit: its data, its crops and its reasons."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import numpy as np
import pytest
from audit_pages import ALL, LABELS, around, audit, one_of_each, square, suspect
from PIL import Image
from report_pages import EXAMPLES, islands

from evaltex_cli.errors import InputError
from evaltex_cli.report import audit_page, crops
from evaltex_cli.report.audit_page import KINDS, write
from evaltex_cli.report.audit_reasons import reasons
from evaltex_cli.report.surroundings import Detection, Surroundings


class TestContent:
    def test_it_has_every_suspect_and_the_patch(self, page: Path) -> None:
        data, suspects = islands(page), one_of_each()
        assert [list(KINDS)[kind] for kind in data["audit"]["kind"]] == [
            one.kind for one in suspects
        ]
        assert data["audit"]["suspicion"] == [one.suspicion for one in suspects]
        assert data["patch"] == json.loads("".join(audit(suspects).patch))
        assert [one["proposed"] for one in data["suspects-0"]] == [
            [
                {
                    "shape": [*each.vertices[0], *each.vertices[1]],
                    "text": each.text,
                    "dontCare": each.dont_care,
                }
                for each in one.proposed
            ]
            for one in suspects
        ]

    def test_a_crop_is_the_picture_around_the_suspect(self, page: Path) -> None:
        url, (x0, y0, x1, y1) = islands(page)["crop-0"]
        assert (x0, y0, x1, y1) == (50 - 28, 60 - 28, 130 + 28, 110 + 28)
        with (
            Image.open(io.BytesIO(bytes_of(url))) as crop,
            Image.open(EXAMPLES / "pictures/street_sign.png") as whole,
        ):
            assert crop.size == (x1 - x0, y1 - y0)
            expected = np.asarray(whole.convert("RGB").crop((x0, y0, x1, y1)), int)
            assert np.abs(np.asarray(crop, int) - expected).mean() < 8

    def test_a_crop_ends_at_the_edge_of_the_picture(self, tmp_path: Path) -> None:
        wide = suspect("missing", (), (square(0, 0),), box=(0, 0, 1e6, 40))
        write(tmp_path / "page.html", audit([wide]), EXAMPLES / "pictures")
        url, place = islands(tmp_path / "page.html")["crop-0"]
        assert place == [0, 0, 400, 180]
        with Image.open(io.BytesIO(bytes_of(url))) as crop:
            assert crop.size == (400, 180)

    def test_same_input_same_bytes(self, page: Path, tmp_path: Path) -> None:
        suspects = one_of_each()
        write(
            tmp_path / "again.html",
            audit(suspects, list(map(around, suspects))),
            EXAMPLES / "pictures",
        )
        assert (tmp_path / "again.html").read_bytes() == page.read_bytes()

    def test_pictures_that_cannot_be_read_are_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "street_sign.png").write_bytes(b"no picture")
        made = write(tmp_path / "page.html", audit(one_of_each()), tmp_path)
        assert (made.suspects, made.crops) == (8, 0)

    def test_too_large_pictures_are_left_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(crops, "MOST_PIXELS", 100)
        made = write(tmp_path / "page.html", audit(one_of_each()), EXAMPLES / "pictures")
        assert made.crops == 0

    def test_the_most_suspicious_have_crops(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(audit_page, "MOST_CROPS", 3)
        write(tmp_path / "page.html", audit(one_of_each()), EXAMPLES / "pictures")
        assert [name for name in islands(tmp_path / "page.html") if name.startswith("crop")] == [
            "crop-0",
            "crop-1",
            "crop-2",
        ]

    def test_a_folder_of_other_pictures_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="holds no picture of any image"):
            write(tmp_path / "page.html", audit(one_of_each()), tmp_path)


def bytes_of(url: str) -> bytes:
    return base64.b64decode(url.removeprefix("data:image/jpeg;base64,"))


def test_reasons_say_who_agrees_and_how_well() -> None:
    a, b = square(60, 70, "ab"), square(60, 80, "ab")
    moved = suspect("misplaced", (a,), (b,), detectors=LABELS[:2])
    half = Detection("second", ((60, 80), (100, 90)))
    nearby = Surroundings(
        (), (Detection("first", b.vertices), half, Detection("third", b.vertices))
    )
    ((text, evidence),) = reasons([moved], [nearby], ALL)
    assert text == (
        "2 of 3 detectors agree with each other better than with this object. What they find overlaps"
        " the proposal by 0.75 (mean IoU), the object as it is by 0.42."
    )
    assert evidence == [0, 1]  # of the detectors that agree, what is on the object
    ((text, evidence),) = reasons([moved], [Surroundings()], ALL)
    assert text == "2 of 3 detectors agree with each other better than with this object."
    assert evidence == []
