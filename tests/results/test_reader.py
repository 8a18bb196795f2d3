"""Results that were damaged, by hand or on the way: a message, never an internal error."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from evaltex_cli import InputError
from evaltex_cli.cli import main
from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.results import reader

WORDS = Path(__file__).parents[2] / "examples" / "icdar"
OTHERS: list[Any] = [
    None,
    True,
    "",
    "x",
    -1,
    0,
    3,
    0.5,
    1e308,
    [],
    [1],
    [None],
    ["x"],
    [[]],
    {},
    {"x": 1},
]
MUTATIONS = 25
"""Of each protocol's result."""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    options = ["-a", "--ci", "--resamples", "5", "--protocol", "all", "--quiet"]
    for name in ("one", "two"):
        arguments = [str(WORDS / "gt.zip"), str(WORDS / "det.zip"), str(folder / name), *options]
        found = CliRunner().invoke(main, arguments)
        assert found.exit_code == 0, found.output
    return folder


def places(value: Any, way: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every value of a document; of long lists, to the first two
    elements and the last.
    """
    yield way
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*way, key))
    elif isinstance(value, list):
        for k in sorted({*range(min(2, len(value))), len(value) - 1} - {-1}):
            yield from places(value[k], (*way, k))


def mutated(document: dict[str, Any], rng: random.Random) -> tuple[str, dict[str, Any]]:
    """One value left out or replaced by another."""
    *way, last = rng.choice([way for way in places(document) if way])
    found = copy.deepcopy(document)
    holder: Any = found
    for step in way:
        holder = holder[step]
    if rng.random() < 0.3:
        del holder[last]
        return f"without {(*way, last)}", found
    holder[last] = rng.choice(OTHERS)
    return f"{(*way, last)} = {holder[last]!r}", found


def test_what_was_written_is_whole(results: Path) -> None:
    for name in PROTOCOLS:
        assert reader.read(results / "one" / f"{name}.json").protocol == name


MESSAGES = [
    (("signature",), 1, "signature is 1, expected a text"),
    (("inputs", "gt", "images"), -1, "inputs.gt.images is -1, expected a number of things"),
    (("inputs", "det"), [], "inputs.det is a list, expected an object"),
    (("totals", "coverage_bins", 3), "x", "totals.coverage_bins[3] is 'x', expected a number"),
    (("intervals", "recall"), [0.5], "intervals.recall is a list, expected two numbers"),
    (("merged_from",), [], "merged_from is a list, expected at least one text"),
    (("images", 0, "objects", 0, "id"), None, "images[0].objects[0].id is null, expected an ID"),
    (
        ("images", 0, "totals", "coverage"),
        [],
        "images[0].totals is an object, expected one like the data set's",
    ),
    (
        ("images", 0, "name"),
        "a\ud800",
        "images[0].name is 'a\\ud800', expected a name in Unicode",
    ),
    (
        ("totals", "coverage"),
        9.5,
        "scores, which are not those of the totals; totals, which are not those of the images",
    ),
    (("scores", "hmean"), 0.5, "scores are not those of evaltex"),
    (("scores", "recall"), 0.125, "scores, which are not those of the totals"),
    (
        ("images", 1, "scores", "recall"),
        0.125,
        "recall of 'lane', which is not that of the image's totals",
    ),
    (("inputs", "gt", "images"), 3, "4 images, expected 3 or none"),
    (("images", 1, "name"), "crossing", "image 'crossing' is there 2 times"),
    (
        ("images", 0, "objects", 1, "id"),
        1,
        "images[0].objects is a list, expected one with each ID once",
    ),
    (
        ("images", 0, "objects", 1, "detections"),
        [77],
        "images[0].objects is a list, expected one with partners that are in the image",
    ),
]


@pytest.mark.parametrize(
    ("way", "value", "message"), MESSAGES, ids=[message for *_, message in MESSAGES]
)
def test_a_message_has_the_file_the_place_and_what_was_expected(
    results: Path, way: tuple[str | int, ...], value: Any, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "evaltex.json"
    document = json.loads((results / "one" / "evaltex.json").read_text(encoding="utf-8"))
    holder: Any = document
    for step in way[:-1]:
        holder = holder[step]
    holder[way[-1]] = value
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        reader.read(path)
    assert str(raised.value) == f"{path}: is a damaged result ({message}); make it again"


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_damage_is_an_internal_error(results: Path, protocol: str, tmp_path: Path) -> None:
    rng = random.Random(protocol)
    good = results / "two" / f"{protocol}.json"
    document = json.loads((results / "one" / f"{protocol}.json").read_text(encoding="utf-8"))
    bad = tmp_path / f"{protocol}.json"
    inputs = [str(WORDS / "gt.zip"), str(WORDS / "det.zip")]
    for _ in range(MUTATIONS):
        what, changed = mutated(document, rng)
        bad.write_text(json.dumps(changed), encoding="utf-8")
        for arguments in (
            ["compare", str(good), str(bad), "--resamples", "3"],
            ["merge", str(bad), str(tmp_path / "merged")],
            ["report", str(bad), "--output", str(tmp_path / "page.html")],
            [
                *inputs,
                str(tmp_path / "res"),
                "--protocol",
                protocol,
                "--baseline",
                str(bad),
                "--fail-if",
                "recall:-1%",
            ],
        ):
            found = CliRunner().invoke(main, arguments)
            assert found.exit_code in (0, 1, 2), (what, arguments[0], found.exception)
            assert "internal error" not in found.output, (what, arguments[0], found.output)
