"""The page of an audit: suspects with crops of their pictures, to decide them by keyboard and save
the decisions as a patch.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaltex_cli.audit.audit import Audit
from evaltex_cli.audit.patches import Patch, audited, in_json
from evaltex_cli.audit.places import Scene
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.errors import counted
from evaltex_cli.records import Objects
from evaltex_cli.report.pictures import Region, crop, decoded, pictures_of, region
from evaltex_cli.results.page import page
from evaltex_cli.runtime.outputs import write_file
from evaltex_cli.runtime.progress import phase
from evaltex_cli.tables.record import plain

MOST_CROPS = 2000
"""The most suspicious ones; a page with more pictures would be slow to open."""
KINDS = {
    "missing": "Missing object",
    "unfound": "Unfound object",
    "misplaced": "Misplaced object",
    "merged": "Merged objects",
    "split": "Split object",
    "dont-care": "Don't care",
    "text": "Transcription",
    "duplicate": "Duplicate objects",
}
"""Kind of suspect -> its heading."""


def write(file: Path, name: str, found: Audit, patch: Patch, pictures: Path | None = None) -> int:
    """Write the page, and return how many suspects have a crop; same input, same bytes.

    `name` is the ground truth's. The patch has the suspects' entries, in their order. Crops of
    `pictures`, a folder of the images' pictures, become part of the file.

    Raises `InputError` when the folder cannot be read or has a picture of none of the images, or
    the file cannot be written.
    """
    cut = {} if pictures is None else _crops(found.suspects[:MOST_CROPS], pictures)
    image = {name: k for k, name in enumerate(found.scene.names)}
    evidence = [
        {
            "reason": reason(one, found),
            "region": region(one.box),
            "crop": cut.get(k),
            "by": one.detectors,
            "near": _near(found.scene, image[one.image], one),
            "found": _detections(found, image[one.image], one),
        }
        for k, one in enumerate(found.suspects)
    ]
    text = page(
        "report/audit.html",
        "audit",
        f"Audit of {name}",
        styles=["report/report.css", "report/audit.css"],
        scripts=["report/elements.js", "report/audit.js"] if found.suspects else [],
        found=found,
        kinds={kind: KINDS[kind] for kind in KINDS if kind in {one.kind for one in found.suspects}},
        data={"kinds": KINDS, "evidence": evidence, "patch": json.loads(in_json(patch))},
    )
    write_file(file, text)
    return len(cut)


def _crops(suspects: Sequence[Suspect], pictures: Path) -> dict[int, tuple[str, Region]]:
    """Return the crops of suspects, by their numbers; each picture is decoded once."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for k, one in enumerate(suspects):
        numbers[one.image].append(k)
    paths = pictures_of(pictures, list(numbers))
    found = {}
    with phase("cutting", "pictures", len(paths)) as advance:
        for path, own in zip(paths, numbers.values(), strict=True):
            picture = None if path is None else decoded(path)
            for k in own if picture else ():
                if picture and (cut := crop(picture, region(suspects[k].box))):
                    found[k] = cut
            advance(1)
    return found


def reason(suspect: Suspect, found: Audit) -> str:
    """Return why a place is suspect: how many of the detectors agree on what, and how well."""
    detectors = found.readers if suspect.kind == "text" else found.independent
    who = f"{len(suspect.detectors)} of {counted(len(detectors), '{count} detector[s]')}"
    objects = counted(len(suspect.current), "{count} object[s]")
    texts = counted(len(suspect.proposed), "{count} text[s]")
    several = f"{who} agree on {texts} where the ground truth has {objects}."
    cares = not all(one.dont_care for one in suspect.current)
    sentence = {
        "missing": f"{who} agree on text where the ground truth has no object.",
        "unfound": "No detector finds this object, while they find objects like it.",
        "misplaced": f"{who} agree with each other better than with this object.",
        "merged": several,
        "split": several,
        "dont-care": "This object counts, but it is like those that are don't care."
        if cares
        else f"{who} agree on this object, which is don't care.",
        "text": f"{who} agree on another transcription.",
        "duplicate": f"The ground truth has {objects} in one place.",
    }[suspect.kind]
    if suspect.iou:
        sentence += f" The mean IoU of their outlines is {suspect.iou:.2f}."
    return sentence


def _near(scene: Scene, image: int, suspect: Suspect) -> list[dict[str, Any]]:
    """Return the objects around a suspect other than its own."""
    rows = _touching(scene.gt, image, region(suspect.box))
    others = [row for row in rows if scene.gt.ids[row] not in suspect.objects]
    return [plain(audited(scene.gt, row)) for row in others]


def _detections(found: Audit, image: int, suspect: Suspect) -> list[dict[str, Any]]:
    """Return all detectors' detections around a suspect, and whether they agree on it."""
    scene, detections = found.scene, []
    for row in _touching(scene.det, image, region(suspect.box)):
        values = scene.det.confidences
        value = math.nan if values is None else float(values[row])
        detections.append(
            {
                **plain(audited(scene.det, row)),
                "by": found.detectors[scene.detector[row]],
                "agrees": row in suspect.agreeing,
                "confidence": round(value, 5) if math.isfinite(value) else None,
            }
        )
    return detections


def _touching(objects: Objects, image: int, box: Region) -> list[int]:
    """Return the rows of an image's objects that share some of a box."""
    start, stop = objects.offsets[image : image + 2].tolist()
    x0, y0, x1, y1 = objects.boxes[start:stop].T
    meets = (x0 < box[2]) & (x1 > box[0]) & (y0 < box[3]) & (y1 > box[1])
    rows: list[int] = (start + np.flatnonzero(meets)).tolist()
    return rows
