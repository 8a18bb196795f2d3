"""The registry of protocols: every list of them, in help, messages, configuration and tests, comes
from here.

Modules are named, not imported: `evaltex --help` lists protocols without loading numpy.
"""

from __future__ import annotations

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
    "pq": "evaltex_cli.protocols.pq",
}


def plain(name: str) -> str:
    """Return a name, of a protocol or of anything else that users choose by name, in the form that
    registries have.

    >>> plain("IoU_CRW")
    'iou-crw'
    """
    return name.strip().lower().replace("_", "-")
