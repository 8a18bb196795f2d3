"""Warnings of several protocols, each of them once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from evaltex_cli.evaluation.likely_mistakes import AMOUNTS

_AMOUNT = f"(?:{'|'.join(AMOUNTS)}); "
_IN_FRONT, _IN_COMMAND = "\0", "\1"


def of_protocols(warned: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """Return the warnings of protocols in their order, each once.

    A warning that begins with its protocol's name and a colon, or ends with a command of it,
    names all protocols that give it. One that gives the same reason for few matches repeats
    another, and is left out.
    """
    texts: dict[str, str] = {}
    names: dict[str, dict[str, None]] = {}
    for protocol, given in warned:
        own = re.escape(protocol)
        for text in given:
            general = re.sub(f"^{own}(?=: )", _IN_FRONT, text)
            general = re.sub(f"(?<=--protocol ){own}(?=`$)", _IN_COMMAND, general)
            key = re.sub(_AMOUNT, "", general, count=1)
            texts.setdefault(key, general)
            names.setdefault(key, {})[protocol] = None
    return [
        text.replace(_IN_FRONT, ", ".join(names[key])).replace(_IN_COMMAND, ",".join(names[key]))
        for key, text in texts.items()
    ]


def of_detectors(warned: Iterable[tuple[str, Sequence[tuple[str, Sequence[str]]]]]) -> list[str]:
    """Return what all detectors have in common once, then the rest with the detector's label;
    `warned` are protocols with the label and the warnings of each detector.
    """
    shared: list[tuple[str, list[str]]] = []
    own: dict[str, list[tuple[str, list[str]]]] = {}
    for protocol, labelled in warned:
        of_all = set.intersection(*(set(texts) for _, texts in labelled))
        shared.append((protocol, [text for text in labelled[0][1] if text in of_all]))
        for label, texts in labelled:
            rest = [text for text in texts if text not in of_all]
            own.setdefault(label, []).append((protocol, rest))
    return [
        *of_protocols(shared),
        *(_labelled(label, text) for label, texts in own.items() for text in of_protocols(texts)),
    ]


def _labelled(label: str, text: str) -> str:
    """Return a warning with the label, unless it begins with a path of this name."""
    path = text.partition(": ")[0]
    return text if path.rpartition("/")[2] == label else f"{label}: {text}"
