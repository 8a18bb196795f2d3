"""An audit as JSON, CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from evaltex_cli.audit.audit import Audit
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.results import markup
from evaltex_cli.results.text_tables import JsonObject, json_document

HEAD = ("kind", "image", "objects", "suspicion", "x0", "y0", "x1", "y1", "detectors", "text")


def document(audit: Audit) -> str:
    """Return everything as JSON."""
    return json_document(
        "audit",
        {
            "images": len(audit.scene.names),
            "objects": audit.scene.gt.count,
            "independent_detectors": len(audit.independent),
            "detectors": audit.detectors,
            "independent": audit.independent,
            "readers": audit.readers,
            "copies": audit.copies,
            "suspicion": audit.suspicion,
            "suspects": [_suspect(one) for one in audit.suspects],
            "what_if": {
                protocol: {label: asdict(one) for label, one in of_one.items()}
                for protocol, of_one in audit.what_if.items()
            },
            "warnings": audit.warnings,
        },
    )


def _suspect(one: Suspect) -> JsonObject:
    """Return a suspect; `object` is the first that it is about, and vertices and text are those
    that are proposed first.
    """
    proposed = one.proposed[0] if one.proposed else None
    return {
        "kind": one.kind,
        "image": one.image,
        "object": one.objects[0] if one.objects else None,
        "objects": list(one.objects),
        "suspicion": one.suspicion,
        "box": list(one.box),
        "vertices": [list(point) for point in proposed.vertices] if proposed else None,
        "text": proposed.text if proposed else None,
        "detectors": list(one.detectors),
        "current": [asdict(each) for each in one.current],
        "proposed": [asdict(each) for each in one.proposed],
    }


def rows(audit: Audit) -> Iterator[Sequence[markup.Cell]]:
    """Yield a head and one row per suspect; IDs, labels and texts are separated by blanks."""
    yield HEAD
    for one in audit.suspects:
        objects = " ".join(map(str, one.objects))
        texts = " ".join(each.text for each in one.proposed)
        labels = " ".join(one.detectors)
        yield [one.kind, one.image, objects, one.suspicion, *one.box, labels, texts]


FORMATS: dict[str, Callable[[Audit], str]] = {
    "json": document,
    **markup.forms_of("audit", rows),
}
