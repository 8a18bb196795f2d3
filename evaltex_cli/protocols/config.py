"""Parameters of protocols from `evaltex.ini` and `--set`; the protocols have their ranges."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, NamedTuple

from evaltex_cli.errors import ConfigError, counted, nearest, quote, unknown
from evaltex_cli.protocols import PROTOCOLS, plain
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.presets import PRESETS, Preset
from evaltex_cli.runtime.input_files import read_text

DEFAULT_SECTION = "evaltex"
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True}
_BOOLEANS |= {"false": False, "no": False, "off": False, "0": False}


class Setting(NamedTuple):
    """One parameter as the user wrote it; `place` begins the message if it is wrong."""

    place: str
    protocol: str
    key: str
    value: str


def parameters_of(protocol: str, settings: Sequence[Setting]) -> Any:
    """Return a protocol's parameters record; later settings override earlier ones. Raises
    `ConfigError` for an unknown key, and a value that is malformed or out of range.
    """
    known, values = _fields(protocol), {}
    for setting in settings:
        if setting.protocol != protocol:
            continue
        if setting.key not in known:
            owners = ", ".join(name for name in PROTOCOLS if setting.key in _fields(name))
            others = owners and f" of {protocol}, but of {owners}"
            key = f"{quote(setting.key)}{others or nearest(setting.key, list(known))}"
            expected = f"{protocol} knows {', '.join(known)}"
            raise ConfigError(f"{setting.place}: unknown key {key}; {expected}")
        values[setting.key] = _value(known[setting.key], setting)
    return load(protocol).parameters(**values)


def checked(protocol: str, given: Mapping[str, Any]) -> Any:
    """Return a protocol's parameters from keyword arguments; raises as `parameters_of`."""
    return parameters_of(protocol, settings_of(protocol, given))


def settings_of(
    protocol: str, given: Mapping[str, Any], place: str = "parameters"
) -> list[Setting]:
    """Return keyword arguments, or the values of a table, as settings of a protocol."""
    return [Setting(place, protocol, key, written(value)) for key, value in given.items()]


def _fields(protocol: str) -> dict[str, Field[Any]]:
    return {field.name: field for field in fields(load(protocol).parameters)}


def rules_of_preset(name: str, given: Mapping[str, Any]) -> Preset:
    """Return a preset; raises `ConfigError` when there is none of that name, and for an option of
    reading that is given and contradicts it.
    """
    if name not in PRESETS:
        raise ConfigError(unknown("preset", name, list(PRESETS)))
    rules = PRESETS[name]
    for option, value in {"invalid": rules.invalid, "dont_care": "ignore", **rules.levels}.items():
        if given.get(option) not in (None, value):
            own = f"the preset {name} has {option}={value}"
            raise ConfigError(f"{option}={given[option]}: {own}; leave out one of them")
    return rules


def parameters_by_protocol(
    protocols: Sequence[str], settings: Sequence[Setting], preset: str | None = None
) -> dict[str, Any]:
    """Return protocol -> parameters; those of a preset come before the settings. The preset's own
    protocol is the first. Raises `ConfigError` as `parameters_of`.
    """
    official: list[Setting] = []
    if preset is not None:
        rules = PRESETS[preset]
        protocols = list(dict.fromkeys([rules.protocol, *protocols]))
        official = settings_of(rules.protocol, rules.parameters)
    return {name: parameters_of(name, [*official, *settings]) for name in protocols}


def notes_of_preset(preset: str | None, parameters: Mapping[str, Any]) -> list[str]:
    """Say which scores of a run by a preset are not by its official rules."""
    if preset is None:
        return []
    rules = PRESETS[preset]
    official, notes = checked(rules.protocol, rules.parameters), []
    own = parameters.get(rules.protocol, official)
    changed = [
        f"{field.name}={written(getattr(own, field.name))}"
        for field in fields(own)
        if getattr(own, field.name) != getattr(official, field.name)
    ]
    if changed and rules.is_official:
        by = f"{rules.protocol} with {', '.join(changed)}"
        notes.append(f"{by} changes the preset {preset}: its scores are not the official ones")
    if others := [name for name in parameters if name != rules.protocol]:
        rest = f"{', '.join(others)} [scores|score] the same inputs by [its|their] own parameters"
        notes.append(f"the preset {preset} uses {rules.protocol}; {counted(len(others), rest)}")
    return notes


def read_config(path: Path) -> list[Setting]:
    """Read an ini file; raises `ConfigError` when it cannot be read, for other lines than
    ``key=value``, ``[protocol]`` and comments, a key given twice, and a wrong one before sections.
    """
    text = read_text(path, "give a file such as evaltex.ini")
    if path.suffix == ".toml":
        return _settings_of_toml(path, text)
    section = ""
    settings: dict[tuple[str, str], Setting] = {}
    for number, line in enumerate(map(str.strip, text.split("\n")), start=1):
        place = f"{path}:{number}"
        if line.startswith("[") and line.endswith("]"):
            section = _section(line[1:-1].strip(), place)
        elif line and not line.startswith(("#", ";")):
            key, equals, value = line.partition("=")
            if not equals or not key.strip():
                expected = "key=value, [protocol], or a comment after # or ;"
                raise ConfigError(f"{place}: {quote(line)}; expected {expected}")
            value = re.split(r"[ \t][#;]", value)[0].strip()
            setting = Setting(place, section or DEFAULT_SECTION, key.strip(), value)
            if not section:  # meant for the protocol that is run, whichever it is
                parameters_of(DEFAULT_SECTION, [setting])
            first = settings.setdefault(setting[1:3], setting)
            if first is not setting:
                again = f"{quote(setting.key)} again; it stands at {first.place} too"
                raise ConfigError(f"{place}: key {again}")
    return list(settings.values())


def _settings_of_toml(path: Path, text: str) -> list[Setting]:
    """Return the settings in the table ``tool.evaltex`` of a pyproject.toml: keys, and a table for
    each protocol.
    """
    import tomllib  # which runs without such a file do without

    try:
        table = tomllib.loads(text)["tool"]["evaltex"]
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is no TOML: {error}") from error
    except (KeyError, TypeError) as error:
        raise ConfigError(f"{path}: no table [tool.evaltex]; give it one") from error
    settings, place = [], f"{path}: [tool.evaltex]"
    for key, value in table.items():
        if isinstance(value, dict):
            protocol = _section(key, place)
            settings += settings_of(protocol, value, f"{path}: [tool.evaltex.{key}]")
        else:
            settings += settings_of(DEFAULT_SECTION, {key: value}, place)
            parameters_of(DEFAULT_SECTION, settings[-1:])
    return settings


def parse_set(argument: str, chosen: Sequence[str] = (DEFAULT_SECTION,)) -> Setting:
    """Parse one ``[PROTOCOL.]KEY=VALUE`` of `--set`; a key without a protocol belongs to the only
    one that is `chosen`, or that has it. Raises `ConfigError` where that is not so.
    """
    place = f"--set {quote(argument)[1:-1]}"
    name, equals, value = map(str.strip, argument.partition("="))
    if not equals or not name:
        raise ConfigError(f"{place}: expected [PROTOCOL.]KEY=VALUE, det_border=0.02 say")
    protocol, dot, key = name.rpartition(".")
    owners = [_section(protocol, place)] if dot else [one for one in chosen if key in _fields(one)]
    if len(owners) > 1:
        named = ", ".join(f"{owner}.{key}" for owner in owners)
        several = f"several protocols of this run have {quote(key)}"
        raise ConfigError(f"{place}: {several}; expected one of {named}")
    return Setting(place, (owners or chosen)[0], key, value)


def refuse_others(settings: Sequence[Setting], chosen: Sequence[str]) -> None:
    """Refuse settings of protocols that are not of the run, which would do nothing."""
    for setting in settings:
        if setting.protocol not in chosen:
            why = f"{setting.protocol} is not a protocol of this run ({', '.join(chosen)})"
            raise ConfigError(f"{setting.place}: {why}; add the protocol, or leave this out")


def _section(name: str, place: str) -> str:
    if plain(name) not in PROTOCOLS:
        hint = nearest(plain(name), list(PROTOCOLS))
        section = f"[{quote(name)[1:-1]}]{hint}"
        raise ConfigError(f"{place}: unknown section {section}; known: {', '.join(PROTOCOLS)}")
    return plain(name)


def _value(field: Field[Any], setting: Setting) -> Any:
    """Return the value that a text means, within the limits of its parameter."""
    text, limits, place = setting.value, field.metadata, f"{setting.place}: {setting.key}"
    read = limits.get("file") or {"int": int, "float": float}.get(str(field.type), str)
    refusal = ConfigError(f"{place} is {quote(text)}; expected {allowed(field)}")
    try:
        value: Any = _BOOLEANS[text.lower()] if field.type == "bool" else read(text)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from error
    except (KeyError, ValueError):
        raise refusal from None
    is_allowed = value in limits.get("choices", (value,))
    if field.type in ("int", "float"):
        least, most = limits.get("min", -math.inf), limits.get("max", math.inf)
        # Python reads digits of other scripts and 1_000, which are typing errors here.
        is_plain = text.isascii() and "_" not in text and math.isfinite(value)
        is_allowed = is_plain and least <= value <= most and value < limits.get("below", math.inf)
    if not is_allowed:
        raise refusal
    return value


def allowed(field: Field[Any]) -> str:
    """Describe the values a parameter takes, for messages and documentation."""
    limits = field.metadata
    if "file" in limits:
        return "a file or folder"
    if "choices" in limits:
        return "one of " + ", ".join(limits["choices"])
    kinds = {"bool": "true or false", "int": "a whole number"}
    kind = kinds.get(str(field.type), "a number")
    if "below" in limits:
        return f"{kind} from {limits['min']:g} to below {limits['below']:g}"
    if "max" in limits:
        return f"{kind} from {limits['min']:g} to {limits['max']:g}"
    return f"{kind} of at least {limits['min']:g}" if "min" in limits else kind


def written(value: Any) -> str:
    """Return a parameter's value as a file of parameters has it."""
    if isinstance(value, float):
        return repr(float(value))  # numpy's have a repr of their own
    return str(value).lower() if str(value) in ("True", "False") else str(value)
