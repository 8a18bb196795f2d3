"""Parameters from file and command line: what is accepted, and what every refusal says."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from evaltex_cli import ConfigError
from evaltex_cli.cli.paths import find_config
from evaltex_cli.protocols import PROTOCOLS, config
from evaltex_cli.protocols.base import load

PACKAGED = Path(__file__).parents[2] / "evaltex.ini"
KNOWN = ", ".join(field.name for field in fields(load("evaltex").parameters))


def parameters(tmp_path: Path, text: str | bytes, protocol: str = "evaltex") -> Any:
    path = tmp_path / "p.ini"
    path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
    return config.parameters_of(protocol, config.read_config(path))


def refusal(tmp_path: Path, text: str | bytes) -> str:
    with pytest.raises(ConfigError) as caught:
        parameters(tmp_path, text)
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_keys_stand_before_any_section_or_in_their_own(tmp_path: Path) -> None:
    default = load("evaltex").parameters()
    assert parameters(tmp_path, "") == default
    assert parameters(tmp_path, "min_area=3\n[evaltex]\nsplit=false\n") == replace(
        default, min_area=3.0, split=False
    )
    assert parameters(tmp_path, "[deteval]\n\n[evaltex]\nmin_area=3") == replace(
        default, min_area=3.0
    )


@pytest.mark.parametrize(
    "text",
    [
        "det_border=0.2",
        "  det_border =  0.2  \r\n",
        "# a comment\n; another\n\ndet_border=0.2 # why\n",
        "det_border=0.2\t; why",
        "[ evaltex ]\ndet_border=0.2",
    ],
)
def test_layout_is_free(tmp_path: Path, text: str) -> None:
    assert parameters(tmp_path, text) == load("evaltex").parameters(det_border=0.2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\ndet_boder=0.1",
            f"p.ini:2: unknown key 'det_boder' (did you mean 'det_border'?); evaltex knows {KNOWN}",
        ),
        (
            "[evaltx]",
            (
                "p.ini:1: unknown section [evaltx] (did you mean 'evaltex'?); known:"
                f" {', '.join(PROTOCOLS)}"
            ),
        ),
        ("det_border=0.5", "p.ini:1: det_border is '0.5'; expected a number from 0 to below 0.5"),
        ("det_border=nan", "p.ini:1: det_border is 'nan'; expected a number from 0 to below 0.5"),
        ("print_level=١", "p.ini:1: print_level is '١'; expected a whole number from 0 to 2"),
        ("min_area=-1", "p.ini:1: min_area is '-1'; expected a number of at least 0"),
        ("region=maybe", "p.ini:1: region is 'maybe'; expected true or false"),
        ("split_function=log", "p.ini:1: split_function is 'log'; expected one of tool, paper"),
        ("a line", "p.ini:1: 'a line'; expected key=value, [protocol], or a comment after # or ;"),
        ("split=true\n[evaltex]\nsplit=no", "p.ini:3: key 'split' again; it stands at p.ini:1 too"),
        (b"# ok\nsplit=\xe9", "p.ini:2: byte 0xe9; expected text in UTF-8: save the file as UTF-8"),
    ],
)
def test_refusals_name_place_key_and_range(tmp_path: Path, text: str | bytes, message: str) -> None:
    assert refusal(tmp_path, text) == message


@pytest.mark.parametrize(
    ("argument", "protocol", "key", "value"),
    [
        ("det_border=0.2", "evaltex", "det_border", "0.2"),
        ("evaltex.det_border=0.2", "evaltex", "det_border", "0.2"),
        (" det_border = 0.2 ", "evaltex", "det_border", "0.2"),
    ],
)
def test_set(argument: str, protocol: str, key: str, value: str) -> None:
    assert config.parse_set(argument) == config.Setting(f"--set {argument}", protocol, key, value)


@pytest.mark.parametrize(
    ("argument", "chosen", "protocol"),
    [
        ("iou=0.7", ["iou"], "iou"),
        ("IoU_CRW.iou=0.7", ["evaltex"], "iou-crw"),
        ("t_r=0.7", ["evaltex", "deteval"], "deteval"),
        ("nothing=1", ["iou", "evaltex"], "iou"),
    ],
)
def test_a_key_is_of_the_only_protocol_that_has_it(
    argument: str, chosen: list[str], protocol: str
) -> None:
    assert config.parse_set(argument, chosen).protocol == protocol


def test_a_key_of_several_protocols_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        config.parse_set("truncate=no", ["evaltex", "iou", "tiou"])
    assert str(caught.value) == (
        "--set truncate=no: several protocols of this run have 'truncate'; expected one of"
        " iou.truncate, tiou.truncate"
    )


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("det_border", "--set det_border: expected [PROTOCOL.]KEY=VALUE, det_border=0.02 say"),
        ("=1", "--set =1: expected [PROTOCOL.]KEY=VALUE, det_border=0.02 say"),
        (
            "evltex.split=no",
            "--set evltex.split=no: unknown section [evltex] (did you mean 'evaltex'?); known: ",
        ),
        (
            "splt=no",
            f"--set splt=no: unknown key 'splt' (did you mean 'split'?); evaltex knows {KNOWN}",
        ),
    ],
)
def test_set_refusals(argument: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.parameters_of("evaltex", [config.parse_set(argument)])
    assert str(caught.value).startswith(message)


def test_later_settings_win() -> None:
    arguments = ["det_border=0.2", "region=no", "evaltex.det_border=0.3"]
    found = config.parameters_of("evaltex", [config.parse_set(argument) for argument in arguments])
    assert found == load("evaltex").parameters(det_border=0.3, region=False)


def test_search_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_config() is None
    (tmp_path / "evaltex.ini").write_text("")
    assert find_config() == Path("evaltex.ini")
    (tmp_path / "evaltex.ini").unlink()
    (tmp_path / "evaltex.ini").mkdir()
    assert find_config() is None


@pytest.mark.parametrize(
    "given", [{"det_border": None}, {"det_border": 0.5}, {"splt": True}, {"print_level": True}]
)
def test_keyword_refusals(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=rf"^parameters: .*{next(iter(given))}"):
        config.checked("evaltex", given)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_packaged_file_holds_every_key_with_its_default(protocol: str) -> None:
    given = [setting for setting in config.read_config(PACKAGED) if setting.protocol == protocol]
    kind = load(protocol).parameters
    outdated = "evaltex.ini is out of date; run python docs/generate.py"
    assert [setting.key for setting in given] == [field.name for field in fields(kind)], outdated
    assert config.parameters_of(protocol, given) == kind()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_parameter_is_described_and_bounded(protocol: str) -> None:
    """What help, messages and checks are made of; the defaults pass their own checks."""
    kind = load(protocol).parameters
    for field in fields(kind):
        assert field.metadata["help"]
        assert field.type in ("bool", "int", "float", "str")
        assert type(field.default).__name__ == field.type
        assert config.allowed(field)
    defaults = {field.name: field.default for field in fields(kind)}
    assert config.checked(protocol, defaults) == kind()


def test_a_section_is_checked_when_its_protocol_is_run(tmp_path: Path) -> None:
    path = tmp_path / "p.ini"
    path.write_text("[deteval]\nno_such=1\n", encoding="utf-8")
    settings = config.read_config(path)
    assert config.parameters_of("evaltex", settings) == config.parameters_of("evaltex", [])
    with pytest.raises(ConfigError, match=r"p\.ini:2: unknown key 'no_such'"):
        config.parameters_of("deteval", settings)


def test_a_key_before_all_sections_is_checked_whichever_protocol_is_run(tmp_path: Path) -> None:
    """Else a key that was meant for the run's protocol does nothing."""
    path = tmp_path / "p.ini"
    path.write_text("iou=0.7\n[iou]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"p\.ini:1: unknown key .iou. of evaltex, but of iou, "):
        config.read_config(path)


def test_a_pyproject_has_a_table(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool.evaltex]\ndet_border = 0.02\n[tool.evaltex.iou]\niou = 0.7\n")
    settings = config.read_config(path)
    assert config.parameters_of("evaltex", settings).det_border == 0.02
    assert config.parameters_of("iou", settings).iou == 0.7
    for text, message in (
        ("[tool.other]\n", r"no table \[tool.evaltex\]"),
        ("[tool.evaltex\n", "is no TOML"),
        ("[tool.evaltex.iuo]\niou = 1\n", "unknown section .iuo. "),
        ("[tool.evaltex]\nborder = 1\n", "unknown key 'border'"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigError, match=message):
            config.read_config(path)
