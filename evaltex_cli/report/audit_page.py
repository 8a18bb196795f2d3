"""The page of an audit: suspects with crops of their pictures, to decide them by keyboard and save
the decisions as a patch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from evaltex_cli.audit.suspects import AuditedObject, Suspect
from evaltex_cli.errors import counted
from evaltex_cli.report import image_json, skeleton
from evaltex_cli.report.audit_reasons import Detectors, reasons
from evaltex_cli.report.crops import Region, crops, region
from evaltex_cli.report.inputs import DECIMALS, pictures_of
from evaltex_cli.report.surroundings import Detection, Surroundings, Vertices
from evaltex_cli.results.text_tables import JsonObject
from evaltex_cli.runtime.atomic_output import written
from evaltex_cli.runtime.progress import tracked

PARTS = skeleton.Parts("evaltex audit", ("report.css", "audit.css"), ("elements.js", "audit.js"))
BLOCK = 50
"""Suspects in one block, which the page parses when one of them is shown."""
MOST_CROPS = 10_000
"""The most suspicious ones; a page of more pictures would be slow to open."""
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


@dataclass(frozen=True, slots=True)
class Audit:
    """What a page shows."""

    ground_truth: str
    """Its name."""
    detectors: Detectors
    suspects: Sequence[Suspect]
    """By falling suspicion."""
    patch: str
    """The patch file, as JSON; its entries are those of the suspects, in their order."""
    surroundings: Sequence[Surroundings] = ()
    """Of each suspect; empty if they are not known."""


@dataclass(frozen=True, slots=True)
class Made:
    """What was written: the file's size, the suspects in it, and how many of them have a crop."""

    bytes: int
    suspects: int
    crops: int

    def __str__(self) -> str:
        suspects = counted(self.suspects, "{count} suspect[s]")
        return f"{self.bytes / 1e6:.1f} MB, {suspects}, {self.crops} with a picture"


def write(file: Path, audit: Audit, pictures: Path | None = None) -> Made:
    """Write the page. Same input, same bytes.

    Parameters
    ----------
    file : Path
        Where to write; what is there stays as it is until all is done.
    pictures : Path, optional
        Folder of the images' pictures. Crops of them become part of the file.

    Raises
    ------
    InputError
        When the folder cannot be read or has a picture of none of the images, or the file cannot be
        written.
    """
    regions = [region(suspect.box) for suspect in audit.suspects]
    wanted = [] if pictures is None else _wanted(audit, regions, pictures)
    with written(file) as out:
        out.write(skeleton.head(PARTS))
        out.write(skeleton.island("audit", _overview(audit)))
        blocks, cut = _blocks(audit, regions), _crops(wanted, regions)
        first = list(islice(cut, 1))
        out.writelines([*islice(blocks, 1), *first])  # shown while the rest is read
        out.write(skeleton.program(PARTS))
        out.writelines(blocks)
        out.write(skeleton.data("patch", _escaped(audit.patch)))
        made = len(first)
        for island in cut:
            out.write(island)
            made += 1
        out.write(skeleton.END)
    return Made(file.stat().st_size, len(audit.suspects), made)


def _wanted(audit: Audit, regions: Sequence[Region], pictures: Path) -> list[tuple[int, Path]]:
    """Return the suspects that get a crop, and the picture of each."""
    names = list(dict.fromkeys(suspect.image for suspect in audit.suspects[:MOST_CROPS]))
    paths = dict(zip(names, pictures_of(pictures, names), strict=True))
    found = ((k, paths[suspect.image]) for k, suspect in enumerate(audit.suspects[:MOST_CROPS]))
    return [(k, path) for k, path in found if path is not None]


def _crops(wanted: Sequence[tuple[int, Path]], regions: Sequence[Region]) -> Iterator[str]:
    cut = crops([(path, regions[k]) for k, path in wanted])
    for at, crop in tracked(cut, "cutting", "pictures", len(wanted)):
        if crop is not None:
            yield skeleton.island(f"crop-{wanted[at][0]}", crop)


def _escaped(json: str) -> str:
    """Return JSON without what could end its element; `<` is only in its strings."""
    return json.replace("<", "\\u003c").encode("utf-8", "backslashreplace").decode("utf-8")


def _overview(audit: Audit) -> JsonObject:
    """What the page needs of all suspects at once."""
    suspects, kinds = audit.suspects, list(KINDS)
    images = {name: k for k, name in enumerate(dict.fromkeys(one.image for one in suspects))}
    return {
        "groundTruth": audit.ground_truth,
        "detectors": audit.detectors.labels,
        "independent": audit.detectors.outlines,
        "kinds": list(KINDS.items()),
        "images": list(images),
        "block": BLOCK,
        "kind": [kinds.index(one.kind) for one in suspects],
        "image": [images[one.image] for one in suspects],
        "objects": [one.objects for one in suspects],
        "suspicion": [image_json.short(float(one.suspicion)) for one in suspects],
    }


def _blocks(audit: Audit, regions: Sequence[Region]) -> Iterator[str]:
    labels = {name: k for k, name in enumerate(audit.detectors.labels)}
    nearby = audit.surroundings or [Surroundings()] * len(regions)
    why = reasons(audit.suspects, nearby, audit.detectors)
    shown = map(partial(_suspect, labels), audit.suspects, nearby, regions, why)
    for part in range(math.ceil(len(regions) / BLOCK)):
        yield skeleton.island(f"suspects-{part}", list(islice(shown, BLOCK)))


def _suspect(
    labels: Mapping[str, int],
    suspect: Suspect,
    around: Surroundings,
    place: Region,
    why: tuple[str, list[int]],
) -> JsonObject:
    reason, evidence = why
    return {
        "reason": reason,
        "evidence": evidence,
        "region": place,
        "by": [labels[name] for name in suspect.detectors],
        "now": [_object(one) for one in suspect.current],
        "proposed": [_object(one) for one in suspect.proposed],
        "near": [_object(one) for one in around.objects],
        "found": [_detection(one, labels) for one in around.detections],
    }


def _object(one: AuditedObject) -> JsonObject:
    return {"shape": _numbers(one.vertices), "text": one.text, "dontCare": one.dont_care}


def _detection(one: Detection, labels: Mapping[str, int]) -> JsonObject:
    return {
        "shape": _numbers(one.vertices),
        "text": one.text,
        "by": labels[one.detector],
        "confidence": image_json.short(one.confidence),
    }


def _numbers(vertices: Vertices) -> list[float]:
    """Return x and y in turn, rounded."""
    rounded = (round(float(value), DECIMALS) for vertex in vertices for value in vertex)
    return [int(value) if value.is_integer() else value for value in rounded]
