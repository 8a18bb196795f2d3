"""Parameters of protocols from `evaltex.ini` and `--set`; defaults, types and
ranges are in the protocols.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from evaltex_cli.errors import ConfigError, quote
from evaltex_cli.errors.suggestions import nearest, number_meant, unknown
from evaltex_cli.protocols import PROTOCOLS, plain
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.presets import PRESETS, Preset

DEFAULT_SECTION = "evaltex"
_BOOLEANS = {
    "true": True,
    "false": False,
    "yes": True,
    "no": False,
    "on": True,
    "off": False,
    "1": True,
    "0": False,
}


class Setting(NamedTuple):
    """One parameter as the user wrote it; `place` begins the message if it is wrong."""

    place: str
    protocol: str
    key: str
    value: str


def parameters_of(protocol: str, settings: Sequence[Setting]) -> Any:
    """Return a protocol's parameters record; later settings override earlier ones.

    Raises
    ------
    ConfigError
        For an unknown key or a value that is malformed or out of range: place, key, range and
        nearest known key.
    """
    kind = load(protocol).parameters
    known = {field.name: field for field in fields(kind)}
    values: dict[str, Any] = {}
    for setting in settings:
        if setting.protocol == protocol:
            if setting.key not in known:
                owners = [
                    name
                    for name in PROTOCOLS
                    if setting.key in {field.name for field in fields(load(name).parameters)}
                ]
                others = f" of {protocol}, but of {', '.join(owners)}" if owners else ""
                hint = others or nearest(setting.key, list(known))
                raise ConfigError(
                    f"{setting.place}: unknown key {quote(setting.key)}{hint}; {protocol} knows"
                    f" {', '.join(known)}"
                )
            values[setting.key] = _value(known[setting.key], setting)
    return kind(**values)


def checked(protocol: str, given: Mapping[str, Any]) -> Any:
    """Return a protocol's parameters from keyword arguments, checked like those of a file.

    Raises
    ------
    ConfigError
        As `parameters_of`.
    """
    return parameters_of(protocol, settings_of(protocol, given))


def settings_of(protocol: str, given: Mapping[str, Any]) -> list[Setting]:
    """Return keyword arguments as settings of a protocol."""
    return [Setting("parameters", protocol, key, written(value)) for key, value in given.items()]


def preset_named(name: str) -> Preset:
    """Return a preset.

    Raises
    ------
    ConfigError
        When there is none of that name.
    """
    if name not in PRESETS:
        raise ConfigError(unknown("preset", name, list(PRESETS)))
    return PRESETS[name]


def parameters_of_preset(name: str, settings: Sequence[Setting]) -> Any:
    """Return the parameters record of a preset's protocol; settings of other protocols do not
    matter.

    Raises
    ------
    ConfigError
        As `parameters_of`, and for a setting that is not the preset's.
    """
    preset = preset_named(name)
    expected = checked(preset.protocol, preset.parameters)
    for setting in settings:
        if setting.protocol == preset.protocol:
            given = getattr(parameters_of(preset.protocol, [setting]), setting.key)
            value = getattr(expected, setting.key)
            if given != value:
                raise ConfigError(
                    f"{setting.place}: the preset {name} has {setting.key}={written(value)}; leave"
                    " out one of them"
                )
    return expected


def read_config(path: Path) -> list[Setting]:
    """Read an ini file.

    Raises
    ------
    ConfigError
        When it cannot be read, a line is neither ``key=value``, section, comment nor blank, a
        section is no protocol's, a key is given twice in a section, or one before all sections is
        not as it should be in that of `DEFAULT_SECTION`.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror or error}); give a file of parameters, such"
            " as evaltex.ini"
        ) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(
            f"{path}:{line}: byte 0x{error.object[error.start]:02x} is not UTF-8"
        ) from error
    settings = list(_settings(path, text))
    seen: dict[tuple[str, str], Setting] = {}
    for setting in settings:
        first = seen.setdefault((setting.protocol, setting.key), setting)
        if first is not setting:
            raise ConfigError(
                f"{setting.place}: key {quote(setting.key)} again; it stands at {first.place} too"
            )
    return settings


def _settings(path: Path, text: str) -> Iterator[Setting]:
    section, is_named = DEFAULT_SECTION, False
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        place = f"{path}:{number}"
        if not line or line.startswith(("#", ";")):
            continue
        if line.startswith("[") and line.endswith("]"):
            section, is_named = _section(line[1:-1].strip(), place), True
            continue
        key, equals, value = line.partition("=")
        if not equals or not key.strip():
            raise ConfigError(
                f"{place}: {quote(line)}; expected key=value, [protocol], or a comment after # or ;"
            )
        setting = Setting(place, section, key.strip(), _uncommented(value))
        if not is_named:  # meant for the protocol that is run, whichever it is
            parameters_of(section, [setting])
        yield setting


def _section(name: str, place: str) -> str:
    if plain(name) not in PROTOCOLS:
        hint = nearest(plain(name), list(PROTOCOLS))
        raise ConfigError(
            f"{place}: unknown section [{quote(name)[1:-1]}]{hint}; known: {', '.join(PROTOCOLS)}"
        )
    return plain(name)


def _uncommented(value: str) -> str:
    for mark in (" #", " ;", "\t#", "\t;"):
        value = value.split(mark, 1)[0]
    return value.strip()


def parse_set(argument: str, chosen: Sequence[str] = (DEFAULT_SECTION,)) -> Setting:
    """Parse one ``[PROTOCOL.]KEY=VALUE`` of `--set`.

    Parameters
    ----------
    chosen : sequence of str
        The protocols of the run. A key without a protocol is of the only one, or of the only one
        that has that key.

    Raises
    ------
    ConfigError
        When it is not of that form, names no known protocol, or may be of several.
    """
    place = f"--set {quote(argument)[1:-1]}"
    name, equals, value = argument.partition("=")
    if not equals or not name.strip():
        raise ConfigError(f"{place}: expected [PROTOCOL.]KEY=VALUE, det_border=0.02 say")
    protocol, dot, key = name.strip().rpartition(".")
    return Setting(
        place, _section(protocol, place) if dot else _owner(key, chosen, place), key, value.strip()
    )


def refuse_others(settings: Sequence[Setting], chosen: Sequence[str]) -> None:
    """Refuse settings of protocols that are not of the run, which would do nothing."""
    for setting in settings:
        if setting.protocol not in chosen:
            raise ConfigError(
                f"{setting.place}: {setting.protocol} is not a protocol of this run"
                f" ({', '.join(chosen)}); add it by --protocol, or leave --set out"
            )


def _owner(key: str, chosen: Sequence[str], place: str) -> str:
    """Return which protocol a key is of; the first if none has it, whose message says so."""
    if len(chosen) == 1:
        return chosen[0]
    owners = [
        name for name in chosen if key in {field.name for field in fields(load(name).parameters)}
    ]
    if len(owners) > 1:
        named = ", ".join(f"{name}.{key}" for name in owners)
        raise ConfigError(
            f"{place}: several protocols of this run have {quote(key)}; expected one of {named}"
        )
    return owners[0] if owners else chosen[0]


def _value(field: Any, setting: Setting) -> Any:
    limits = field.metadata
    if "file" in limits:
        return _file(limits["file"], setting)
    value = _parsed(field.type, setting.value)
    in_range = value is not None and (
        value in limits["choices"]
        if "choices" in limits
        else not isinstance(value, float | int)
        or (
            limits.get("min", -math.inf) <= value <= limits.get("max", math.inf)
            and value < limits.get("below", math.inf)
        )
    )
    if not in_range:
        meant = (
            number_meant(setting.value, limits.get("min"), limits.get("max", limits.get("below")))
            if field.type == "float" and "%" in setting.value
            else None
        )
        advice = "" if meant is None else f"; write {meant:g}"
        raise ConfigError(
            f"{setting.place}: {setting.key} is {quote(setting.value)}; expected"
            f" {allowed(field)}{advice}"
        )
    return value


def _file(read: Callable[[str], str], setting: Setting) -> str:
    try:
        return read(setting.value)
    except ConfigError as error:
        raise ConfigError(f"{setting.place}: {setting.key}: {error}") from error


def _parsed(kind: str, text: str) -> Any:
    """Return the value that a text means, or None."""
    try:
        if kind == "bool":
            return _BOOLEANS.get(text.lower())
        if kind == "int":
            return int(text) if text.isascii() and "_" not in text else None
        if kind == "float":
            value = float(text) if text.isascii() and "_" not in text else math.nan
            return value if math.isfinite(value) else None
    except ValueError:
        return None
    return text


def allowed(field: Any) -> str:
    """Describe the values a parameter takes, for messages and documentation."""
    limits = field.metadata
    if "file" in limits:
        return "a file or folder"
    if "choices" in limits:
        return "one of " + ", ".join(limits["choices"])
    if field.type == "bool":
        return "true or false"
    kind = "a whole number" if field.type == "int" else "a number"
    if "below" in limits:
        return f"{kind} from {limits['min']:g} to below {limits['below']:g}"
    if "max" in limits:
        return f"{kind} from {limits['min']:g} to {limits['max']:g}"
    return f"{kind} of at least {limits['min']:g}" if "min" in limits else kind


def written(value: Any) -> str:
    """Return a parameter's value as a file of parameters has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return (
        repr(float(value)) if isinstance(value, float) else str(value)
    )  # numpy's have a repr of their own
