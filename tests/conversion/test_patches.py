"""Patches: the file, and the accepted entries applied to a ground truth by `convert`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from patch_files import GT, WORD, entry, objects_of, patch, write
from PIL import Image

import evaltex_cli
from evaltex_cli import formats
from evaltex_cli.audit.patches import patch_of
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.cli import main
from evaltex_cli.conversion.patch_reading import read_patch
from evaltex_cli.conversion.patches import AuditedObject, Entry, Patch, in_json, write_patch
from evaltex_cli.conversion.patching import identify
from evaltex_cli.errors import FaultLog, InputError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("gt.txt").write_text(GT)
    return tmp_path


def test_what_is_written_is_read() -> None:
    entries = (
        entry("img_1", (1, 2), WORD, kind="split"),
        entry("img_1", (), WORD, AuditedObject(((0.5, 0.0), (1.0, 1e-9)), 'ü "q"\n<', True)),
        entry("img_2", (1,), accept=False, fault="moved", suspicion=1 / 3),
    )
    write(*entries)
    found = read_patch(Path("p.json"))
    assert found.entries == entries
    assert "".join(in_json(found)) == Path("p.json").read_text()
    assert all(
        line.startswith('{"accept": ') for line in "".join(in_json(found)).splitlines()[7:10]
    )


def test_a_browser_writes_the_same_patch() -> None:
    """Whole numbers lose their point, and all is in other lines."""
    write(entry("img_1", (1,), WORD, accept=False))
    value = json.loads(Path("p.json").read_text(), parse_float=float)
    value["suspects"][0]["accept"] = True
    Path("p.json").write_text(json.dumps(value, indent=2).replace(".0,", ","))
    (one,) = read_patch(Path("p.json")).entries
    assert one == entry("img_1", (1,), WORD)


def test_objects_are_replaced_removed_and_added() -> None:
    """What replaces objects comes in the place of the first, with their IDs and regions."""
    box = AuditedObject(((1.0, 1.0), (9.0, 9.0)), "new")
    write(
        entry("img_1", (2,), WORD, box, kind="merged"),
        entry("img_1", (), box),
        entry("img_1", (5,), kind="unfound"),
        entry("img_2", (1,), WORD),
    )
    result = patch()
    assert result.exit_code == 0
    assert "note: 4 accepted entries of the patch applied" in result.stderr
    before, found = objects_of("gt.txt"), objects_of("new.txt")
    assert found["img_1"] == [before["img_1"][0], (2, 1, WORD), (6, 1, box), (7, 7, box)]
    assert found["img_2"] == [(1, 1, WORD)]


def test_nothing_changes_but_what_is_accepted() -> None:
    write(entry("img_1", (1,), WORD, accept=False), entry("img_1", (2,)))
    result = patch()
    assert "note: 1 accepted entry of the patch applied" in result.stderr
    assert "note: 1 entry of the patch is not accepted" in result.stderr
    assert Path("new.txt").read_text() == GT.replace('2,1,"b",f,50,20,30,40\n', "")


def test_of_some_images_only() -> None:
    """The patch is of all images, and applied first; only their entries are counted."""
    Path("names.txt").write_text("img_2\n")
    write(entry("img_1", (2,)), entry("img_1", (1,), accept=False), entry("img_2", (1,), WORD))
    result = patch("--only", "names.txt")
    assert "note: 1 accepted entry of the patch applied" in result.stderr
    assert "not accepted" not in result.stderr
    assert "new.txt: 1 image, 1 object" in result.stdout
    assert objects_of("new.txt") == {"img_2": [(1, 1, WORD)]}


def test_of_images_without_an_accepted_entry() -> None:
    Path("names.txt").write_text("img_2\n")
    write(entry("img_1", (2,)), entry("img_2", (1,), WORD, accept=False))
    stderr = " ".join(patch("--only", "names.txt").stderr.split())
    assert "no accepted entry of the patch is of the images that are written" in stderr
    assert "1 entry of the patch is not accepted" in stderr


def test_without_an_accepted_entry() -> None:
    write(entry("img_1", (1,), WORD, accept=False))
    result = patch()
    assert result.exit_code == 0
    assert "note: no entry of the patch is accepted" in result.stderr
    assert result.stderr.count("note:") == 1
    assert Path("new.txt").read_text() == GT


@pytest.mark.parametrize(
    "target", ["coco.json", "quads.zip", "boxes.zip:icdar2013", "csv.csv", "tool.xml:cvat"]
)
def test_the_same_ground_truth_in_another_format(target: str) -> None:
    """Formats number objects differently; boxes, corners and the order of images do not matter."""
    Path("gt.txt").write_text(GT.replace("10.5,10", "10,10"))
    write(entry("img_1", (5,)), entry("img_2", (1,), WORD), entry("img_1", (2,), WORD))
    name, _, to = target.partition(":")
    made = CliRunner().invoke(main, ["convert", "gt.txt", name, *(["--to", to] if to else [])])
    assert made.exit_code == 0
    result = patch(gt=name)
    assert result.exit_code == 0, result.stderr
    now = {image: [one for *_, one in of] for image, of in objects_of("new.txt").items()}
    assert now["img_2"] == [WORD]
    assert now["img_1"][1:] == [WORD]


@pytest.mark.parametrize("kind", ["another object", "another name", "one more"])
def test_a_patch_of_another_ground_truth_is_refused(kind: str) -> None:
    write(entry("img_2", (), WORD), entry("img_1", (1,), WORD, accept=False))
    changes = {
        "another object": ("10,20,30,40", "10,20,30,41"),
        "another name": ("img_2", "img_3"),
        "one more": ('2,1,"b"', '3,1,"x",f,7,7,7,7\n2,1,"b"'),
    }
    Path("gt.txt").write_text(GT.replace(*changes[kind]))
    result = patch()
    assert result.exit_code == 2
    assert "p.json: is a patch of another ground truth, of 2 images and 4 objects" in result.stderr
    assert not Path("new.txt").exists()


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('2,1,"b",f,50,20,30,40\n', "", "object 2 of image 'img_1', which is not there"),
        ('"b",f,50,20,30,40', '"b",f,50,20,30,41', "object 2 of image 'img_1' with other vertices"),
        ('"b"', '"B"', "object 2 of image 'img_1' with the text 'B'; expected the text 'b'"),
        ('"b",f', '"b",t', "object 2 of image 'img_1', which is don't care"),
        ("img_1", "img_9", "image 'img_1', which the ground truth does not have"),
    ],
)
def test_an_entry_that_no_longer_fits(old: str, new: str, found: str) -> None:
    """It is named by file and place."""
    write(entry("img_2", (1,), WORD), entry("img_1", (2,), WORD))
    Path("gt.txt").write_text(GT.replace(old, new))
    result = patch()
    assert result.exit_code == 2
    assert f"p.json: suspects[1]: {found}" in result.stderr
    assert not Path("new.txt").exists()


def test_an_entry_that_was_edited_does_not_fit() -> None:
    write(replace(entry("img_1", (2,), WORD), current=(WORD,)))
    result = patch()
    assert result.exit_code == 2
    assert "p.json: suspects[0]: object 2 of image 'img_1'" in result.stderr
    assert "another ground truth" not in result.stderr


def test_two_accepted_entries_on_one_object() -> None:
    both = entry("img_1", (1, 2), WORD, kind="split"), entry("img_1", (2,), WORD)
    write(*both)
    result = patch()
    assert result.exit_code == 2
    expected = "p.json: suspects[1]: accepted, as is suspects[0], which changes the same object 2"
    assert expected in result.stderr
    write(both[0], replace(both[1], accept=False))
    assert patch().exit_code == 0


def test_two_accepted_entries_that_add_one_object() -> None:
    twice = entry("img_1", (), WORD), entry("img_1", (), WORD)
    write(*twice, entry("img_2", (), WORD))
    result = patch()
    assert result.exit_code == 2
    expected = (
        "p.json: suspects[1]: accepted, as is suspects[0], which adds the same object to image"
    )
    assert expected in result.stderr
    write(twice[0], replace(twice[1], accept=False), entry("img_2", (), WORD))
    assert patch().exit_code == 0


def test_only_ground_truth_of_outlines_can_be_patched() -> None:
    write()
    assert "p.json: is of ground truth" in patch("--kind", "det").stderr
    folder = Path("seg")
    folder.mkdir()
    (folder / "img_1_GT.txt").write_text('255 0 0 2 2 0 0 4 4 "a"\n')
    pixels = np.zeros((9, 9, 3), np.uint8)
    pixels[:5, :5, 0] = 255
    Image.fromarray(pixels).save(folder / "img_1_GT.bmp")
    result = patch("--from", "icdar2013-seg", gt="seg")
    assert result.exit_code == 2
    assert "seg: masks cannot be patched" in result.stderr


def test_from_python() -> None:
    """A path, objects in memory, and masks, which are refused."""
    write(entry("img_1", (1,), WORD))
    done = evaltex_cli.convert("gt.txt", "new.txt", patch="p.json")
    assert "1 accepted entry of the patch applied" in done.notes
    given = {"img": [[10.0, 20.0, 40.0, 60.0]]}
    evaltex_cli.convert(given, "one.txt", kind="gt")
    truth = identify(formats.open_source(Path("one.txt"), "gt", FaultLog()))
    now = AuditedObject(((10.0, 20.0), (40.0, 60.0)))
    write_patch(
        Path("p.json"), Patch(truth, (Entry("misplaced", "img", (1,), 1, (now,), (WORD,), True),))
    )
    evaltex_cli.convert(given, "new.txt", kind="gt", patch="p.json")
    assert objects_of("new.txt")["img"] == [(1, 1, WORD)]
    masks = np.zeros((1, 60, 60), bool)
    masks[0, 20:50, 10:40] = True
    with pytest.raises(InputError, match="masks cannot be patched"):
        evaltex_cli.convert({"img": masks}, "new.txt", kind="gt", patch="p.json")


def test_masks_are_drawn_of_the_changed_objects() -> None:
    box = AuditedObject(((0.0, 0.0), (2.0, 2.0)))
    write(entry("img_2", (1,), box))
    assert patch("--masks", "masks").exit_code == 0
    with Image.open("masks/img_2.tif") as picture:
        assert np.argwhere(np.array(picture)).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_many_images_in_several_processes() -> None:
    """Blocks of images, of which each has its own changes."""
    text = "".join(f'img_{k}\n9,9\n1,1,"{k}",f,0,0,5,5\n\n' for k in range(2500))
    Path("gt.txt").write_text(text)
    write(*(entry(f"img_{k}", (1,), WORD) for k in (0, 1023, 1024, 2499)))
    assert patch().exit_code == 0
    alone = Path("new.txt").read_bytes()
    assert patch("--jobs", "2").exit_code == 0
    assert Path("new.txt").read_bytes() == alone
    changed = [name for name, (one,) in objects_of("new.txt").items() if one[2] == WORD]
    assert changed == ["img_0", "img_1023", "img_1024", "img_2499"]


def test_a_suspect_is_an_entry_that_is_not_accepted() -> None:
    wanted = entry("img_1", (1,), WORD, accept=False)
    suspect = Suspect(
        *("misplaced", "img_1", (1,), 0.5, (0, 0, 9, 9), ("a", "b")),
        current=wanted.current,
        proposed=wanted.proposed,
    )
    truth = identify(formats.open_source(Path("gt.txt"), "gt", FaultLog()))
    made = patch_of(truth, [suspect])
    assert (made.ground_truth, [*made.entries]) == (truth, [wanted])
