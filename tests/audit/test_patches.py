"""Patches: the file, and the accepted entries applied to a ground truth by `convert`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from reading import read_or_raise

import evaltex_cli
from evaltex_cli.audit.patches import (
    AuditedObject,
    Entry,
    Patch,
    audited,
    in_json,
    read_patch,
    write_patch,
)
from evaltex_cli.cli import main
from evaltex_cli.errors import InputError

GT = (
    'img_1\n100,200\n1,1,"a",f,10,20,30,40\n2,1,"b",f,50,20,30,40\n5,5,"###",t,0,0,5,5\n\n'
    'img_2\n50,50\n1,1,"c",f,0,0,10,0,10.5,10,0,10\n\n'
)
WORD = AuditedObject(((1.0, 2.0), (8.0, 2.0), (8.0, 6.0), (1.0, 6.0)), "word")


def objects_of(path: str) -> dict[str, list[tuple[int, int, AuditedObject]]]:
    """ID, region and the rest of every object, image by image, in their order."""
    source = read_or_raise(Path(path))
    objects = source.objects
    return {
        name: [
            (int(objects.ids[i]), int(objects.regions[i]), audited(objects, i))
            for i in range(objects.offsets[k], objects.offsets[k + 1])
        ]
        for k, name in enumerate(source.names)
    }


def entry(image: str, objects: tuple[int, ...], *proposed: AuditedObject, **more: Any) -> Entry:
    """An accepted entry on objects of the ground truth as it is."""
    now = {number: one for number, _, one in objects_of("gt.txt")[image]}
    values: dict[str, Any] = {
        "accept": True,
        "kind": "misplaced" if objects else "missing",
        "image": image,
        "objects": objects,
        "suspicion": 0.5,
        "current": tuple(now[number] for number in objects),
        "proposed": proposed,
    }
    return Entry(**values | more)


def write(*entries: Entry) -> None:
    sha256 = read_or_raise(Path("gt.txt")).sha256
    write_patch(Path("p.json"), Patch(sha256, entries))


def patch(*more: str, gt: str = "gt.txt", to: str = "new.txt") -> Result:
    result = CliRunner().invoke(main, ["convert", gt, to, "--patch", "p.json", "--force", *more])
    assert "internal error" not in result.stderr
    return result


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("gt.txt").write_text(GT)
    return tmp_path


def test_what_is_written_is_read() -> None:
    entries = [
        entry("img_1", (1, 2), WORD, kind="split"),
        entry("img_1", (), WORD, AuditedObject(((0.5, 0.0), (1.0, 1e-9)), 'ü "q"\n<', True)),
        entry("img_2", (1,), accept=False, suspicion=1 / 3),
    ]
    write(*entries)
    found = read_patch(Path("p.json"))
    assert found.suspects == entries
    assert in_json(found) == Path("p.json").read_text()
    assert all(line.startswith('{"accept": ') for line in in_json(found).splitlines()[1:4])


def test_a_browser_writes_the_same_patch() -> None:
    """Whole numbers lose their point, and all is in other lines."""
    write(entry("img_1", (1,), WORD, accept=False))
    value = json.loads(Path("p.json").read_text(), parse_float=float)
    value["suspects"][0]["accept"] = True
    Path("p.json").write_text(json.dumps(value, indent=2).replace(".0,", ","))
    (one,) = read_patch(Path("p.json")).suspects
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


def test_without_an_accepted_entry() -> None:
    write(entry("img_1", (1,), WORD, accept=False))
    result = patch()
    assert result.exit_code == 0
    assert "note: no entry of the patch is accepted" in result.stderr
    assert Path("new.txt").read_text() == GT


def test_a_patch_of_another_ground_truth_is_refused() -> None:
    write(entry("img_1", (1,), WORD))
    Path("gt.txt").write_text(GT.replace("10,20,30,40", "10,20,30,41"))
    result = patch()
    assert result.exit_code == 2
    assert "p.json: is a patch of another ground truth (SHA-256 " in result.stderr
    assert not Path("new.txt").exists()


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"objects": (9,)}, "objects (9) of image 'img_1' that are not there"),
        ({"objects": (2, 2)}, "objects (2 2) of image 'img_1'"),
        ({"image": "img_9"}, "objects (2) of image 'img_9'"),
        ({"proposed": (AuditedObject(()),)}, "vertices that are no outline"),
        ({"proposed": (AuditedObject(((5, 5), (1, 1))),)}, "vertices that are no outline"),
    ],
)
def test_an_entry_that_was_edited_does_not_fit(changes: dict[str, Any], found: str) -> None:
    write(entry("img_2", (1,), WORD), replace(entry("img_1", (2,), WORD), **changes))
    result = patch()
    assert result.exit_code == 2
    assert f"p.json: suspects[1]: {found}" in result.stderr
    assert not Path("new.txt").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"kind": "patch", "schema": 2, "ground_truth": 1, "suspects": []}',
        '{"kind": "patch", "schema": 1, "ground_truth": "1", "suspects": []}',
        '{"kind": ' + "[" * 100_000,
    ],
)
def test_what_is_no_patch(text: str) -> None:
    Path("p.json").write_text(text)
    result = patch()
    assert result.exit_code == 2 and "p.json: " in result.stderr


def test_two_accepted_entries_on_one_object() -> None:
    both = entry("img_1", (1, 2), WORD, kind="split"), entry("img_1", (2,), WORD)
    write(*both)
    result = patch()
    assert result.exit_code == 2
    expected = "p.json: suspects[1]: accepted, as is suspects[0], which changes the same object"
    assert expected in result.stderr
    write(both[0], replace(both[1], accept=False))
    assert patch().exit_code == 0


def test_only_ground_truth_can_be_patched() -> None:
    write()
    assert "a patch is of ground truth" in patch("--kind", "det").stderr


def test_from_python() -> None:
    write(entry("img_1", (1,), WORD))
    done = evaltex_cli.convert("gt.txt", "new.txt", patch="p.json")
    assert "1 accepted entry of the patch applied" in done.notes
    with pytest.raises(InputError, match="is a patch of another ground truth"):
        evaltex_cli.convert({"img_1": [[10, 20, 40, 60]]}, "new.txt", kind="gt", patch="p.json")
