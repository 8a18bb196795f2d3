"""An audit for reading on a terminal: suspects by kind, the most suspicious, and the ranking with
and without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from evaltex_cli.audit.audit import Audit
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.audit.what_if import WhatIf
from evaltex_cli.errors import counted
from evaltex_cli.protocols.base import load
from evaltex_cli.results.screen import Screen, fitted, joined, shown_score
from evaltex_cli.results.text_tables import printable

LISTED = 20
"""Suspects that are listed."""


def table(audit: Audit, screen: Screen) -> str:
    """Return the tables; no line is longer than the screen, unless a single word is."""
    lines = [*_head(audit, screen), "", *_kinds(audit, screen)]
    if audit.suspects:
        lines += ["", *_suspects(audit.suspects, screen)]
    for protocol, of_one in audit.what_if.items():
        lines += ["", *_what_if(protocol, of_one, screen)]
    if audit.what_if:
        kept = sum(one.suspicion >= audit.suspicion for one in audit.suspects)
        suspects = counted(kept, "{count} suspect[s]")
        note = f"Without: {suspects} of suspicion {audit.suspicion:g} or more, as if don't care."
        lines += [screen.paint(line, "dim") for line in screen.wrapped(note)]
    return joined(lines)


def _head(audit: Audit, screen: Screen) -> Iterator[str]:
    objects = counted(audit.scene.gt.count, "{count} object[s]")
    images = counted(len(audit.scene.names), "{count} image[s]")
    detectors = counted(len(audit.independent), "{count} independent detector[s]")
    yield from screen.wrapped(f"Audit of {objects} in {images} by {detectors}")
    for label, of in audit.copies.items():
        but = ", but for their texts" if label in audit.readers else ""
        text = f"{printable(label)} has almost the outlines of {printable(of)}: they count as one"
        yield from screen.wrapped(text + but, "  ")


def _kinds(audit: Audit, screen: Screen) -> Iterator[str]:
    head, *lines = fitted(audit.shown().rows, screen.columns)
    yield from (screen.paint(head, "bold"), *lines)


def _suspects(suspects: Sequence[Suspect], screen: Screen) -> Iterator[str]:
    rows = [["suspicion", "kind", "image", "objects", "box", "detectors"]]
    for one in suspects[:LISTED]:
        objects = " ".join(map(str, one.objects)) or "-"
        box = " ".join(f"{value:.0f}" for value in one.box)
        image, detectors = printable(one.image), str(len(one.detectors))
        rows.append([f"{one.suspicion:.2f}", one.kind, image, objects, box, detectors])
    head, *lines = fitted(rows, screen.columns, (1, 2, 3, 4))
    yield from (screen.paint(head, "bold"), *lines)
    if len(suspects) > LISTED:
        yield from screen.wrapped(f"... and {len(suspects) - LISTED} more; --format json has all")


def _what_if(protocol: str, of_one: Mapping[str, WhatIf], screen: Screen) -> Iterator[str]:
    score = load(protocol).main_score
    rows = [[protocol, score, "without", "rank", "without"]]
    for label, one in of_one.items():
        scores = shown_score(one.scores[score]), shown_score(one.scores_without[score])
        rows.append([printable(label), *scores, str(one.rank), str(one.rank_without)])
    head, *lines = fitted(rows, screen.columns)
    yield from (screen.paint(head, "bold"), *lines)
