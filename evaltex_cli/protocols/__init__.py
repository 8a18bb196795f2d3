"""The registry of protocols: every list of them, in help, messages, configuration and tests, comes from here.

Modules are named, not imported: `evaltex --help` lists protocols without loading numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from evaltex_cli.errors import ConfigError, unknown

if TYPE_CHECKING:
    from evaltex_cli.protocols.base import Protocol

PROTOCOLS = {
    "evaltex": "evaltex_cli.protocols.evaltex",
    "deteval": "evaltex_cli.protocols.deteval",
    "icdar2013": "evaltex_cli.protocols.icdar2013",
    "icdar2003": "evaltex_cli.protocols.icdar2003",
    "iou": "evaltex_cli.protocols.iou",
    "iou-crw": "evaltex_cli.protocols.iou_crw",
    "tiou": "evaltex_cli.protocols.tiou",
    "cleval": "evaltex_cli.protocols.cleval",
    "tedeval": "evaltex_cli.protocols.tedeval",
    "popeval": "evaltex_cli.protocols.popeval",
}


def load(name: str) -> Protocol:
    """Return a protocol by name.

    Raises
    ------
    ConfigError
        When the registry has none of that name.
    """
    if name not in PROTOCOLS:
        raise ConfigError(unknown("protocol", name, list(PROTOCOLS)))
    protocol: Protocol = import_module(PROTOCOLS[name]).PROTOCOL
    return protocol
