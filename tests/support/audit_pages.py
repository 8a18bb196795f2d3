"""Suspects of an audit, of which tests write a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaltex_cli.audit.patches import AuditedObject, Kind, Patch, in_json
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.report.audit_page import Audit
from evaltex_cli.report.audit_reasons import Detectors
from evaltex_cli.report.surroundings import Detection, Surroundings

LABELS = ("first", "second", "third")
ALL = Detectors(LABELS, 3, 3)


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
    return Suspect(kind, current=tuple(now), proposed=tuple(proposed), **values)


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
            detectors=() if kind in ("unfound", "duplicate") else LABELS,
        )
        for k, (kind, case) in enumerate(cases.items())
    ]


def audit(suspects: Sequence[Suspect], nearby: Sequence[Surroundings] = ()) -> Audit:
    patch = Patch("0" * 64, [one.entry for one in suspects])
    return Audit("gt.txt", ALL, suspects, in_json(patch), nearby)


def around(one: Suspect) -> Surroundings:
    """What is proposed, as every detector has it, and a detection and an object next to it."""
    found = [
        Detection(label, each.vertices, each.text, 0.5) for label in LABELS for each in one.proposed
    ]
    return Surroundings(
        (square(75, 100, "near"),), (*found, Detection("third", square(90, 95).vertices))
    )
