"""Files that are no patch, damaged or faulty patches: each is refused, and says where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from patch_files import GT, WORD, entry, patch, write

from evaltex_cli.conversion.patch_reading import read_patch
from evaltex_cli.conversion.patches import AuditedObject, Entry, GroundTruth, Patch, in_json
from evaltex_cli.errors import InputError

DAMAGED = "".join(
    in_json(
        Patch(
            GroundTruth(1, 1, "0" * 64),
            (
                Entry("missing", "img", (), 0.5, (), (AuditedObject(((0, 0), (1, 1)), "é"),)),
                Entry(
                    "unfound", "img", (3,), 1, (AuditedObject(((0, 0), (9, 1), (5, 5))),), (), True
                ),
            ),
            seed=3,
        )
    )
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("gt.txt").write_text(GT)
    return tmp_path


def changed(**more: Any) -> str:
    """The patch with other values in its first entry."""
    document = json.loads(Path("p.json").read_text())
    document["suspects"][0] |= more
    return json.dumps(document)


FAULTY = {
    "": "JSON",
    "{": "JSON",
    "[]": "a list of 0; expected an object",
    '{"kind": "scores"}': "the kind 'scores'; expected a patch as `evaltex audit --patch` writes",
    '{"kind": ["patch"]}': "the kind a list of 1; expected a patch",
    '{"kind": "patch", "schema": 2}': "schema: 2; expected 1",
    '{"kind": "patch", "schema": 1}': "no key 'ground_truth'",
    '{"kind": "patch", "schema": 1, "ground_truth": {"images": 1, "objects": 1}}': "no key 'digest'",
}
FAULTY_ENTRIES: list[tuple[dict[str, Any], str]] = [
    ({"accept": 1}, "suspects[0].accept: 1; expected true or false"),
    ({"accept": "true"}, "suspects[0].accept: 'true'; expected true or false"),
    ({"kind": "lost"}, "suspects[0].kind: 'lost'; expected one of missing, "),
    ({"image": 3}, "suspects[0].image: 3; expected a string"),
    ({"objects": [1, 1], "current": [{"vertices": [[0, 0], [1, 1]], "text": "", "dont_care": False}] * 2}, "an ID twice"),
    ({"objects": []}, "suspects[0].current: 1 objects for 0 IDs"),
    ({"objects": [1e300]}, "suspects[0].objects[0]: 1e+300; expected a whole number"),
    ({"objects": [], "current": [], "proposed": []}, "suspects[0].proposed: nothing"),
    ({"suspicion": 2}, "suspects[0].suspicion: 2; expected a confidence in [0, 1]"),
    ({"suspicion": float("nan")}, "suspects[0].suspicion"),
    ({"proposed": [{"vertices": [[0, 0]], "text": "", "dont_care": False}]}, "suspects[0].proposed[0].vertices: 1 vertices"),
    ({"proposed": [{"vertices": [[0, 0], [1, 1e99], [2, 2]], "text": "", "dont_care": False}]}, "suspects[0].proposed[0].vertices[1][1]: 1e+99"),
    ({"proposed": [{"vertices": [[5, 5], [1, 1]], "text": "", "dont_care": False}]}, "suspects[0].proposed[0].vertices: a second corner"),
    ({"proposed": [{"vertices": [[5, 5], [9, 9]], "text": None, "dont_care": False}]}, "suspects[0].proposed[0].text"),
    ({"proposed": [{"vertices": [[5, 5], [9, 9]], "text": "a\ud800", "dont_care": False}]}, "suspects[0].proposed[0].text: 'a\\ud800', which is no Unicode text"),
    ({"proposed": [{"vertices": [[5, 5], [9, 9]], "text": "", "dont_care": 0}]}, "suspects[0].proposed[0].dont_care: 0"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), FAULTY.items())
def test_what_is_no_patch(text: str, message: str) -> None:
    Path("p.json").write_text(text)
    with pytest.raises(InputError) as raised:
        read_patch(Path("p.json"))
    assert str(raised.value).startswith("p.json:")
    assert message in str(raised.value)
    assert patch().exit_code == 2


@pytest.mark.parametrize(("values", "message"), FAULTY_ENTRIES)
def test_a_faulty_entry_is_named(values: dict[str, Any], message: str) -> None:
    write(entry("img_1", (1,), WORD))
    Path("p.json").write_text(changed(**values))
    with pytest.raises(InputError) as raised:
        read_patch(Path("p.json"))
    assert str(raised.value).startswith("p.json: suspects[0]")
    assert message in str(raised.value)


@pytest.mark.parametrize("key", ["accept", "kind", "image", "objects", "current", "proposed"])
def test_a_key_that_is_not_there_is_named(key: str) -> None:
    write(entry("img_1", (1,), WORD))
    document = json.loads(Path("p.json").read_text())
    del document["suspects"][0][key]
    Path("p.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match=f"no key '{key}'"):
        read_patch(Path("p.json"))


@given(st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(max_size=3)), max_size=4))
@settings(
    derandomize=True,
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_damaged_patches_are_read_or_refused(changes: list[tuple[int, bytes]]) -> None:
    """Whatever is in the file: no other exception, and only what is true is accepted."""
    data = DAMAGED.encode()
    for place, new in changes:
        at = place % len(data)
        data = data[:at] + new + data[at + max(len(new), 1) :]
    Path("damaged.json").write_bytes(data)
    try:
        found = read_patch(Path("damaged.json"))
    except InputError as error:
        assert str(error).startswith("damaged.json")
        return
    assert {one.accept for one in found.entries} <= {True, False}


def test_all_faults_are_reported_at_once() -> None:
    write(entry("img_1", (1,), WORD), entry("img_1", (2,), WORD))
    document = json.loads(Path("p.json").read_text())
    document["suspects"][0]["accept"] = document["suspects"][1]["kind"] = None
    Path("p.json").write_text(json.dumps(document))
    with pytest.raises(InputError) as raised:
        read_patch(Path("p.json"))
    assert "suspects[0].accept" in str(raised.value)
    assert "suspects[1].kind" in str(raised.value)


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_deep_nesting_is_refused(bracket: str) -> None:
    Path("p.json").write_text('{"kind": "patch", "schema": 1, "ground_truth": ' + bracket * 100_000)
    result = patch()
    assert result.exit_code == 2
    assert "p.json" in result.stderr


def test_a_tangled_polygon_is_refused() -> None:
    """As in a ground truth, it would take long to repair."""
    star = tuple((float(k * 7919 % 1009), float(k * 104729 % 1013)) for k in range(300))
    write(entry("img_1", (1,), AuditedObject(star)))
    result = patch()
    assert result.exit_code == 2
    assert "p.json" in result.stderr
