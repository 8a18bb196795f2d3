"""The examples in the docstrings of what `evaltex_cli` offers are right."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

import evaltex_cli

HOMES = sorted(
    {home for home in evaltex_cli._HOMES.values() if home.startswith(("api.", "evaluation.a"))}
)


@pytest.mark.parametrize("home", [*HOMES, ""])
def test_the_examples_of_a_module(home: str) -> None:
    module = import_module(f"evaltex_cli.{home}".rstrip("."))
    found = doctest.testmod(module, raise_on_error=False)
    assert found.attempted, f"{home} has no example"
    assert not found.failed


def test_everything_public_has_a_docstring() -> None:
    for name in evaltex_cli.__all__:
        assert (getattr(evaltex_cli, name).__doc__ or "").strip() or name == "__version__", name
