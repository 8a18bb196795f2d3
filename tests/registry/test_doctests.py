"""Every protocol's file begins with an example, and the example is right."""

from __future__ import annotations

import doctest
import sys

import pytest

from evaltex_cli.protocols import PROTOCOLS
from evaltex_cli.protocols.base import load


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_example_of_a_protocol(protocol: str) -> None:
    load(protocol)
    found = doctest.testmod(sys.modules[PROTOCOLS[protocol]], raise_on_error=False)
    assert found.attempted >= 3, f"{PROTOCOLS[protocol]} has no example in its docstring"
    assert not found.failed
