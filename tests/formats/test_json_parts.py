"""Lists and objects of JSON that stay bytes have the items that Python's parser finds."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaltex_cli.errors import FormatError
from evaltex_cli.formats.documents import json_parts, json_scan, safe_json
from evaltex_cli.formats.documents.json_parts import Item, Keyed, Listed

HARD = 'a,:"\\[]{}é\n'
VALUES = st.recursive(
    st.none() | st.integers(-99, 99) | st.text(alphabet=HARD, max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(HARD, max_size=3), inner),
    max_leaves=15,
)
KEYS = st.text(HARD, max_size=2)


def value(item: Item) -> Any:
    return json.loads(bytes(item))


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=100)
@given(st.lists(VALUES), st.booleans(), st.sampled_from([None, 1]), st.integers(1, 60))
def test_a_list_in_parts(listed: list[Any], is_ascii: bool, indent: int | None, size: int) -> None:
    data = f" {json.dumps(listed, ensure_ascii=is_ascii, indent=indent)}\n".encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_parts, "_STRETCH", size)
        patch.setattr(json_scan, "_CHUNK", size)
        found = Listed(memoryview(data))
        assert [value(item) for item in found] == listed
        assert (len(found), bool(found)) == (len(listed), bool(listed))
        assert [value(found[k]) for k in range(-len(listed), 0)] == listed
        for part in (slice(1, 3), slice(-4, None, 2), slice(None, None, -1)):
            assert [value(item) for item in found[part]] == listed[part]
        with pytest.raises(IndexError):
            found[len(listed)]


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=100)
@given(
    st.lists(st.tuples(KEYS, VALUES)),
    st.booleans(),
    st.sampled_from(["", " ", "\n"]),
    st.integers(1, 60),
)
def test_an_object_in_parts(
    pairs: list[tuple[str, Any]], is_ascii: bool, blank: str, size: int
) -> None:
    texts = [[json.dumps(one, ensure_ascii=is_ascii) for one in pair] for pair in pairs]
    inside = f"{blank},{blank}".join(f"{key}{blank}:{blank}{text}" for key, text in texts)
    data = f"{blank}{{{blank}{inside}{blank}}}{blank}".encode()
    expected = json.loads(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_parts, "_STRETCH", size)
        found = Keyed(memoryview(data))
        assert [(key, value(item)) for key, item in found.items()] == list(expected.items())
        assert list(found) == list(expected)
        assert [value(item) for item in found.values()] == list(expected.values())
        assert (len(found), bool(found)) == (len(expected), bool(expected))
        assert all(value(found[key]) == expected[key] for key in expected)
        assert "another" not in found
        assert found.get("another") is None


def test_few_items_are_a_list_or_an_object_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_json, "FEW_ITEMS", 100)
    monkeypatch.setattr(json_parts, "_FEW", 3)
    opened = [safe_json.parse(json.dumps(["x" * 90] * count).encode()) for count in (3, 4)]
    assert [type(one) for one in opened] == [list, Listed]
    assert all(map(safe_json.is_list, opened))
    keyed = [
        safe_json.parse(json.dumps(dict.fromkeys(map(str, range(count)), "x" * 90)).encode())
        for count in (3, 4)
    ]
    assert [type(one) for one in keyed] == [dict, Keyed]
    assert all(map(safe_json.is_object, keyed))
    assert not any(map(safe_json.is_list, keyed))


def test_keys_that_are_there_again_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_parts, "MOST_AGAIN", 3)
    monkeypatch.setattr(json_parts, "_STRETCH", 1)
    pairs = [f'"{k}":{n}' for n in range(2) for k in range(4)]
    assert dict(islice(Keyed(memoryview(f"{{{','.join(pairs[:7])}}}".encode())).items(), 2))
    with pytest.raises(FormatError, match="more than 3 keys that are there again"):
        Keyed(memoryview(f"{{{','.join(pairs)}}}".encode()))


def test_values_in_their_order_are_found_where_the_last_one_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = json.dumps({str(k): k for k in range(5_000)}).encode()
    monkeypatch.setattr(json_parts, "_STRETCH", 1_000)
    found = Keyed(memoryview(data))
    stretches, made = [], json_parts.Stretch.pairs
    monkeypatch.setattr(json_parts.Stretch, "pairs", lambda one: stretches.append(one) or made(one))
    assert [value(found[str(k)]) for k in range(5_000)] == [*range(5_000)]
    assert 20 < len(stretches) < 100
    assert [value(found[key]) for key in ("4999", "7")] == [4999, 7]
    with pytest.raises(KeyError, match="5000"):
        found["5000"]
