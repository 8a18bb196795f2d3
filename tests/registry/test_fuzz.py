"""No input ends in a traceback: the stored corpus of the fuzz targets, and documents with one value
changed.

`fuzz/README.md` says how to run the targets for longer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from evaltex_cli.formats import FORMATS, load
from fuzz.__main__ import mutated, mutations
from fuzz.targets import SEPARATOR, TARGETS, corpus

few = settings(
    deadline=None, derandomize=True, max_examples=25, suppress_health_check=list(HealthCheck)
)
JSON_TARGETS = [f"format-{name}" for name in FORMATS if load(name).ending == ".json"]
LINES = [
    "ltrb",
    "quad",
    "polygon",
    "mlt",
    "rctw",
    "ctw1500",
    "ctw1500-offsets",
    "popeval",
    "msra-td500",
    "evaltex",
]

numbers = st.sampled_from(
    [
        "0",
        "1",
        "-1",
        "12.5",
        "1e308",
        "-1e308",
        "1e-320",
        "1e400",
        "nan",
        "inf",
        "1_0",
        "٣",
        "9" * 400,
        "0x1",
        "1e12",
    ]
)
words = st.sampled_from(
    ["", " ", '"', '"a"', "###", "Latin", "t", "f", "\\", "\0", "\x1b[31m", "é", "##::", "img_1"]
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([10**400, -(10**18), 2**63, 1e308, "###", "../x", "\ud800", "\x1b[31m"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.fixture(autouse=True)
def no_debug_output(monkeypatch: pytest.MonkeyPatch) -> None:
    """An internal error stays one message, as users have it."""
    monkeypatch.delenv("EVALTEX_DEBUG", raising=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_every_target_reads_its_corpus_without_an_internal_error(name: str) -> None:
    stored = corpus(name)
    assert stored, f"fuzz/corpus/{name} is empty"
    for path, data in stored.items():
        assert len(data) <= 1 << 16
        try:
            TARGETS[name](data)
        except BaseException as error:
            error.add_note(f"on {path}")
            raise


@pytest.mark.few_fast(20)
@pytest.mark.parametrize("name", TARGETS)
def test_mutations_of_the_corpus(name: str) -> None:
    import random

    rng = random.Random(name)
    stored = list(corpus(name).values())
    most = few.max_examples  # fewer in the fast run, as of every property
    for _ in range(most // 3 if SEPARATOR in stored[0] else most):
        data = mutated(rng.choice(stored), stored, rng)
        try:
            TARGETS[name](data)
        except BaseException as error:
            error.add_note(f"on {data!r}")
            raise


def test_the_seed_decides_which_mutations_come() -> None:
    """So that CI finds the same in the same repository."""
    first, again, other = (list(islice(mutations("config", seed), 20)) for seed in (1, 1, 2))
    assert first == again != other


def seeds(name: str) -> list[bytes]:
    """What is well-formed of a corpus."""
    return [data for path, data in corpus(name).items() if path.startswith("seed-")]


def paths(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield here
    children = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, child in children:
        yield from paths(child, (*here, key))


def with_value(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = document.copy()
    copy[path[0]] = with_value(document[path[0]], path[1:], value)
    return copy


@pytest.mark.few_fast(6)
@pytest.mark.parametrize("name", JSON_TARGETS)
@given(data=st.data())
@few
def test_json_with_one_value_changed(name: str, data: st.DataObject) -> None:
    document = json.loads(data.draw(st.sampled_from(seeds(name))))
    path = data.draw(st.sampled_from(list(paths(document))))
    changed = with_value(document, path, data.draw(values))
    TARGETS[name](json.dumps(changed).encode("utf-8", "surrogatepass"))


def test_every_json_format_is_among_them() -> None:
    assert len(JSON_TARGETS) >= 10


@pytest.mark.few_fast(4)
@pytest.mark.parametrize("name", LINES)
@given(
    lines=st.lists(st.lists(numbers | words, max_size=12), max_size=4),
    by=st.sampled_from([",", " ", ", "]),
)
@few
def test_lines_of_any_fields(name: str, lines: list[list[str]], by: str) -> None:
    text = "\n".join(by.join(fields) for fields in lines)
    TARGETS[f"format-{name}"](text.encode())


@given(
    lines=st.lists(
        st.tuples(
            st.sampled_from(["det_border", "t_r", "region", "[evaltex]", "[deteval]", "x", ""]),
            numbers | words,
        )
    )
)
@few
def test_any_parameter_file(lines: list[tuple[str, str]]) -> None:
    TARGETS["config"]("\n".join("=".join(line) for line in lines).encode())
