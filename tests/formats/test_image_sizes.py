"""``--images``: the sizes of pictures, where the format states none."""

from __future__ import annotations

import json
import threading
import warnings
from pathlib import Path

import pytest
from command_line import run
from limits import HANG_SECONDS
from PIL import Image
from written_files import zipped

from evaltex_cli import InputError, evaluate
from evaltex_cli.old_formats.decoders import unlimited_and_silent

WORDS = {"img_1": "10,10,60,30,one", "img_2": "5,5,25,15,two", "img_3": "0,0,9,9,three"}
SIZES = {"img_1": (200, 100), "img_2": (60, 400)}  # width, height; img_3 has no picture


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for side, prefix in (("gt", "gt_"), ("det", "res_")):
        files = {f"{prefix}{name}.txt": f"{line}\n" for name, line in WORDS.items()}
        zipped(tmp_path / f"{side}.zip", files)
    (tmp_path / "pictures").mkdir()
    for name, size in SIZES.items():
        Image.new("L", size).save(tmp_path / "pictures" / f"{name}.jpg")
    return tmp_path


def test_a_converted_file_states_them() -> None:
    found = run("convert", "gt.zip", "gt.txt", "--kind", "gt", "--images", "pictures")
    assert (
        "note: 1 images of unknown size" in found.stderr
        or "note: 1 image of unknown size" in found.stderr
    )
    lines = Path("gt.txt").read_text(encoding="utf-8").splitlines()
    assert [lines[lines.index(name) + 1] for name in WORDS] == ["100,200", "400,60", "9,9"]
    run("convert", "gt.zip", "gt.json", "--kind", "gt", "--images", "pictures")
    images = json.loads(Path("gt.json").read_text(encoding="utf-8"))["images"]
    assert [(image["width"], image["height"]) for image in images] == [
        (200, 100),
        (60, 400),
        (9, 9),
    ]


def test_a_stated_size_stays() -> None:
    Path("gt.txt").write_text('img_1\n333,444\n1,1,"one",f,10,10,50,20\n', encoding="utf-8")
    run("convert", "gt.txt", "gt.json", "--kind", "gt", "--images", "pictures")
    assert json.loads(Path("gt.json").read_text(encoding="utf-8"))["images"][0]["width"] == 444


def test_they_decide_the_scale_of_objects() -> None:
    """Shorter side of the word over longer side of the picture: 20/200, 10/400, 9/100."""
    parameters = ("--protocol", "cleval", "--set", "cleval.scale_bins=0,0.05,1")
    reported = run("gt.zip", "det.zip", "res", *parameters, "--images", "pictures", status=2).stderr
    assert "image 'img_3' has no height and width" in reported
    assert "give the pictures by --images" in reported
    Image.new("L", (100, 100)).save("pictures/img_3.png")
    totals = []
    for folder, jobs in (("one", "1"), ("two", "2")):
        run("gt.zip", "det.zip", folder, *parameters, "--images", "pictures", "--jobs", jobs)
        totals.append(json.loads(Path(folder, "cleval.json").read_text(encoding="utf-8"))["totals"])
    assert totals[0] == totals[1]
    assert totals[0]["scale_gt_characters"] == [len("two"), len("onethree")]
    assert (
        evaluate("gt.zip", "det.zip", "cleval", images="pictures", scale_bins="0,0.05,1").totals
        == totals[0]
    )


def test_a_missing_folder_is_reported() -> None:
    assert (
        "no such folder" in run("gt.zip", "det.zip", "res", "--images", "nowhere", status=2).stderr
    )
    with pytest.raises(InputError, match="no such folder"):
        evaluate("gt.zip", "det.zip", images="nowhere")


def test_threads_share_the_settings_of_decoders() -> None:
    """The one that ends first leaves them to the other; the last one restores them."""
    limit, filters = Image.MAX_IMAGE_PIXELS, warnings.filters[:]
    has_begun, may_end = threading.Event(), threading.Event()

    def other() -> None:
        with unlimited_and_silent():
            has_begun.set()
            may_end.wait(HANG_SECONDS)

    thread = threading.Thread(target=other)
    with unlimited_and_silent():
        thread.start()
        assert has_begun.wait(HANG_SECONDS)
    assert Image.MAX_IMAGE_PIXELS is None
    may_end.set()
    thread.join(60)
    assert limit == Image.MAX_IMAGE_PIXELS and filters == warnings.filters[:]
