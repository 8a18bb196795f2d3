"""No input ends in a traceback: the formats' samples with bytes, values or fields changed at random."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import chdir
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaltex_cli.cli import main
from evaltex_cli.errors import EvaltexError, FaultLog
from evaltex_cli.formats import FORMATS, load, reading
from evaltex_cli.formats.base import Side
from evaltex_cli.formats.options import InputOptions
from evaltex_cli.protocols import PROTOCOLS, config

SAMPLES = Path(__file__).parents[1] / "samples"
ANSWERS = sorted({path.name for path in SAMPLES.glob("chat-*")} - {"chat-boxes"})
"""Samples of further forms of models' answers."""
EXAMPLE = Path(__file__).parents[2] / "examples" / "words"
COMMANDS = {
    "evaluate": ["gt", "det", "res", "-a", "--protocol", "all", "--plots", "--report"],
    "validate": ["validate", "gt", "det"],
    "convert": ["convert", "gt", "res", "--kind", "gt", "--to", "evaltex", "--regions", "lines"],
    "diagnose": ["diagnose", "gt", "det"],
}

few = settings(max_examples=10, suppress_health_check=list(HealthCheck))
numbers = ["0", "-1", "12.5", "1e308", "1e-320", "1e400", "nan", "inf", "1_0", "٣", "9" * 400]
words = ["", " ", '"', "###", "t", "\\", "\0", "\x1b[31m", "é", "##::", "img_1", "../x", "\n"]
tokens = st.sampled_from([token.encode() for token in numbers + words])
strange = [None, True, 10**400, 2**63, 1e308, -1.5, [], {}, [[]]]
strange += ["", "###", "../x", "\x1b[31m", "\ud800"]


@st.composite
def changed(draw: st.DrawFn, data: bytes) -> bytes:
    """Bytes of which some are removed and others put in their place."""
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        stop = start + draw(st.integers(0, 12))
        data = data[:start] + draw(tokens | st.binary(max_size=6)) + data[stop:]
    return data


def sample_of(name: str) -> tuple[str, bytes]:
    (path,) = (SAMPLES / name).iterdir()
    return path.name, path.read_bytes()


def read(file: str, data: bytes, name: str) -> None:
    """Read a file by a format, and its folder by content; a message is as good as a result."""
    with TemporaryDirectory() as folder:
        path = Path(folder, file)
        path.write_bytes(data)
        sides: tuple[Side, Side] = ("gt", "det")
        for side, form in product(sides, (name, None)):
            try:
                faults = FaultLog()
                options = InputOptions(**{f"{side}_format": form})
                source = reading.read(path if form else path.parent, side, options, faults)
                assert np.isfinite(source.objects.boxes).all()
                is_ordered = (source.objects.boxes[:, :2] <= source.objects.boxes[:, 2:]).all()
                assert is_ordered or source.reading is not None  # whose order is not known yet
                faults.raise_if_any()
            except EvaltexError as error:
                assert all(line.isprintable() for line in str(error).splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FORMATS, *ANSWERS])
@given(data=st.data())
@few
def test_changed_bytes_of_a_sample(name: str, data: st.DataObject) -> None:
    file, content = sample_of(name)
    read(file, data.draw(changed(content)), name if name in FORMATS else "chat-boxes")


def holders(value: Any) -> Iterator[tuple[Any, Any]]:
    """The objects and lists in a JSON document, with each key or index."""
    listed = enumerate(value) if isinstance(value, list) else ()
    for key, child in value.items() if isinstance(value, dict) else listed:
        yield value, key
        yield from holders(child)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FORMATS if ".json" in load(name).endings])
@given(data=st.data())
@few
def test_a_changed_value_of_a_json_sample(name: str, data: st.DataObject) -> None:
    file, content = sample_of(name)
    document = [json.loads(content)]
    holder, key = data.draw(st.sampled_from(list(holders(document))))
    holder[key] = data.draw(st.sampled_from(strange))
    read(file, json.dumps(document[0]).encode(), name)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@given(data=st.data())
@few
def test_commands_on_changed_files(command: list[str], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        for side in ("gt", "det"):
            Path(side).write_bytes(data.draw(changed((EXAMPLE / f"{side}.txt").read_bytes())))
        result = CliRunner().invoke(main, command)
        assert result.exit_code in (0, 2), result.output
        assert "internal error" not in result.output
        assert result.exit_code == 0 or result.output.strip()
        writes = command[0] not in ("validate", "diagnose")
        assert not writes or (result.exit_code == 0) == Path("res").exists()


@given(data=st.data())
@few
def test_changed_parameter_files(data: st.DataObject) -> None:
    with TemporaryDirectory() as folder, chdir(folder):
        path = Path("evaltex.ini")
        path.write_bytes(data.draw(changed(b"[evaltex]\ndet_border=4\n[deteval]\nt_r=.5\n")))
        try:
            for name in PROTOCOLS:
                config.parameters_of(name, config.read_config(path))
        except EvaltexError as error:
            assert str(error).strip()
