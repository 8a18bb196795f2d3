"""Suspects of an audit, of which tests write a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.audit.audit import Audit
from evaltex_cli.audit.patches import AuditedObject, Kind, Patch
from evaltex_cli.audit.places import Scene
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.formats.base import TextObject
from evaltex_cli.formats.columns import objects_of
from evaltex_cli.report import audit_page

LABELS = ("first", "second", "third")


def square(x: float, y: float, text: str = "", dont_care: bool = False) -> AuditedObject:
    """A box of 40 by 20."""
    return AuditedObject(((x, y), (x + 40, y + 20)), text, dont_care)


def suspect(
    kind: Kind, now: Sequence[AuditedObject], proposed: Sequence[AuditedObject], **given: Any
) -> Suspect:
    values: dict[str, Any] = {
        "image": "street_sign",
        "objects": tuple(range(1, len(now) + 1)),
        "suspicion": 0.9,
        "box": (50, 60, 130, 110),
        "detectors": LABELS,
    } | given
    # The scene below has a detection of each detector, in order.
    values["agreeing"] = frozenset(range(len(values["detectors"])))
    return Suspect(kind=kind, current=tuple(now), proposed=tuple(proposed), **values)


def one_of_each() -> list[Suspect]:
    """A suspect of each kind, each about other objects."""
    a, b, both = square(60, 70, "ab"), square(100, 70, "cd"), square(60, 70, "abcd")
    cases: dict[Kind, Any] = {
        "missing": ((), (a,)),
        "unfound": ((a,), (square(60, 70, "ab", True),)),
        "misplaced": ((a,), (square(60, 80, "ab"),)),
        "merged": ((both,), (a, b)),
        "split": ((a, b), (both,)),
        "dont-care": ((square(60, 70, "ab", True),), (a,)),
        "text": ((square(60, 70, "abXd"),), (both,)),
        "duplicate": ((a, a), (a,)),
    }
    return [
        suspect(
            kind,
            *case,
            suspicion=(90 - k) / 100,
            objects=tuple(10 * k + number for number in range(len(case[0]))),
            detectors=() if kind in ("unfound", "duplicate") else LABELS[:2],
        )
        for k, (kind, case) in enumerate(cases.items())
    ]


def write(
    file: Path,
    suspects: Sequence[Suspect],
    pictures: Path | None = None,
    labels: Sequence[str] = LABELS,
    text: str = "near",
) -> int:
    """Write a page: near each suspect is an object, and a detection of each detector."""
    names = list(dict.fromkeys(["street_sign", *(one.image for one in suspects)]))
    one = [TextObject([75, 100, 115, 120], text, id=99)]
    found = [TextObject([60 + k, 70, 100, 90], text, confidence=0.5) for k in range(len(labels))]
    detector = np.tile(np.arange(len(labels)), len(names))
    scene = Scene(names, objects_of([one] * len(names)), objects_of([found] * len(names)), detector)
    audited = Audit(
        detectors=list(labels),
        independent=list(labels),
        readers=list(labels),
        copies={},
        suspicion=0.5,
        suspects=list(suspects),
        what_if={},
        warnings=[],
        scene=scene,
    )
    patch = Patch("0" * 64, suspects)
    return audit_page.write(file, "gt.txt", audited, patch, pictures)
