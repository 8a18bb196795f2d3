"""Parameters of protocols from `evaltex.ini` and `--set`; defaults, types and
ranges are in the protocols.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, NamedTuple

from evaltex_cli.errors import ConfigError, quote
from evaltex_cli.errors.suggestions import nearest, unknown
from evaltex_cli.protocols import PROTOCOLS, plain
from evaltex_cli.protocols.base import load
from evaltex_cli.protocols.presets import PRESETS, Preset

DEFAULT_SECTION = "evaltex"
_BOOLEANS = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(
    ("false", "no", "off", "0"), False
)


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
    known, values = _fields(protocol), {}
    for setting in settings:
        if setting.protocol == protocol:
            if setting.key not in known:
                owners = [name for name in PROTOCOLS if setting.key in _fields(name)]
                others = f" of {protocol}, but of {', '.join(owners)}" if owners else ""
                raise ConfigError(
                    f"{setting.place}: unknown key {quote(setting.key)}"
                    f"{others or nearest(setting.key, list(known))}; {protocol} knows"
                    f" {', '.join(known)}"
                )
            values[setting.key] = _value(known[setting.key], setting)
    return load(protocol).parameters(**values)


def checked(protocol: str, given: Mapping[str, Any]) -> Any:
    """Return a protocol's parameters from keyword arguments, checked like those of a file; raises
    as `parameters_of`.
    """
    return parameters_of(protocol, settings_of(protocol, given))


def settings_of(protocol: str, given: Mapping[str, Any]) -> list[Setting]:
    """Return keyword arguments as settings of a protocol."""
    return [Setting("parameters", protocol, key, written(value)) for key, value in given.items()]


def _fields(protocol: str) -> dict[str, Field[Any]]:
    return {field.name: field for field in fields(load(protocol).parameters)}


# Presets ------------------------------------------------------------------------------------------


def preset_named(name: str) -> Preset:
    """Return a preset; raises `ConfigError` when there is none of that name."""
    if name not in PRESETS:
        raise ConfigError(unknown("preset", name, list(PRESETS)))
    return PRESETS[name]


def parameters_of_preset(name: str, settings: Sequence[Setting]) -> Any:
    """Return the parameters record of a preset's protocol; settings of other protocols do not
    matter.

    Raises
    ------
    ConfigError
        As `parameters_of`, and for a setting that contradicts the preset.
    """
    preset = preset_named(name)
    expected = checked(preset.protocol, preset.parameters)
    for setting in settings:
        if setting.protocol == preset.protocol:
            value = getattr(expected, setting.key, None)
            if getattr(parameters_of(preset.protocol, [setting]), setting.key) != value:
                raise ConfigError(
                    f"{setting.place}: the preset {name} has {setting.key}={written(value)}; leave"
                    " out one of them"
                )
    return expected


# Files and --set ----------------------------------------------------------------------------------


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
        number = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(
            f"{path}:{number}: byte 0x{error.object[error.start]:02x} is not UTF-8"
        ) from error
    section, is_named = DEFAULT_SECTION, False
    settings: dict[tuple[str, str], Setting] = {}
    for number, raw in enumerate(text.split("\n"), start=1):
        line, place = raw.strip(), f"{path}:{number}"
        if not line or line.startswith(("#", ";")):
            continue
        if line.startswith("[") and line.endswith("]"):
            section, is_named = _section(line[1:-1].strip(), place), True
            continue
        setting = _parsed(line, place, section)
        if not is_named:  # meant for the protocol that is run, whichever it is
            parameters_of(section, [setting])
        first = settings.setdefault((section, setting.key), setting)
        if first is not setting:
            raise ConfigError(
                f"{place}: key {quote(setting.key)} again; it stands at {first.place} too"
            )
    return list(settings.values())


def _parsed(line: str, place: str, section: str) -> Setting:
    key, equals, value = line.partition("=")
    if not equals or not key.strip():
        raise ConfigError(
            f"{place}: {quote(line)}; expected key=value, [protocol], or a comment after # or ;"
        )
    for comment in (" #", " ;", "\t#", "\t;"):
        value = value.partition(comment)[0]
    return Setting(place, section, key.strip(), value.strip())


def parse_set(argument: str, chosen: Sequence[str] = (DEFAULT_SECTION,)) -> Setting:
    """Parse one ``[PROTOCOL.]KEY=VALUE`` of `--set`.

    Parameters
    ----------
    chosen : sequence of str
        The protocols of the run. A key without a protocol belongs to the only one, or to the only
        one that has that key.

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
    if dot:
        return Setting(place, _section(protocol, place), key, value.strip())
    owners = [name for name in chosen if key in _fields(name)]
    if len(owners) > 1:
        named = ", ".join(f"{name}.{key}" for name in owners)
        raise ConfigError(
            f"{place}: several protocols of this run have {quote(key)}; expected one of {named}"
        )
    return Setting(place, owners[0] if owners else chosen[0], key, value.strip())


def refuse_others(settings: Sequence[Setting], chosen: Sequence[str]) -> None:
    """Refuse settings of protocols that are not of the run, which would do nothing."""
    for setting in settings:
        if setting.protocol not in chosen:
            raise ConfigError(
                f"{setting.place}: {setting.protocol} is not a protocol of this run"
                f" ({', '.join(chosen)}); add it by --protocol, or leave --set out"
            )


def _section(name: str, place: str) -> str:
    if plain(name) not in PROTOCOLS:
        hint = nearest(plain(name), list(PROTOCOLS))
        raise ConfigError(
            f"{place}: unknown section [{quote(name)[1:-1]}]{hint}; known: {', '.join(PROTOCOLS)}"
        )
    return plain(name)


# Values -------------------------------------------------------------------------------------------


def _value(field: Field[Any], setting: Setting) -> Any:
    """Return the value that a text means, within the limits of its parameter."""
    text, limits = setting.value, field.metadata
    if "file" in limits:
        try:
            return limits["file"](text)
        except ConfigError as error:
            raise ConfigError(f"{setting.place}: {setting.key}: {error}") from error
    value: Any = text if field.type == "str" else _BOOLEANS.get(text.lower())
    if field.type in ("int", "float"):
        try:
            value = (int if field.type == "int" else float)(text)
        except ValueError:
            value = math.nan
        # Python reads digits of other scripts and 1_000, which are typing errors here.
        is_plain = text.isascii() and "_" not in text and math.isfinite(value)
        least, most = limits.get("min", -math.inf), limits.get("max", math.inf)
        if not is_plain or not least <= value <= most or value >= limits.get("below", math.inf):
            value = None
    if value is None or value not in limits.get("choices", (value,)):
        raise ConfigError(
            f"{setting.place}: {setting.key} is {quote(text)}; expected {allowed(field)}"
        )
    return value


def allowed(field: Field[Any]) -> str:
    """Describe the values a parameter takes, for messages and documentation."""
    limits = field.metadata
    if "file" in limits:
        return "a file or folder"
    if "choices" in limits:
        return "one of " + ", ".join(limits["choices"])
    if str(field.type) == "bool":
        return "true or false"
    kind = "a whole number" if str(field.type) == "int" else "a number"
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
