"""The page of an audit: suspects with crops of their pictures, to decide them by keyboard and save
the decisions as a patch.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, repeat
from pathlib import Path
from typing import NamedTuple

from evaltex_cli.audit.patches import AuditedObject
from evaltex_cli.audit.suspects import Suspect
from evaltex_cli.errors import counted
from evaltex_cli.progress import tracked
from evaltex_cli.report import image_json, skeleton
from evaltex_cli.report.audit_reasons import Detectors, reasons
from evaltex_cli.report.crops import Region, crops, region
from evaltex_cli.report.inputs import DECIMALS, pictures_of
from evaltex_cli.report.surroundings import Detection, Surroundings, Vertices
from evaltex_cli.results.text_tables import JsonObject
from evaltex_cli.runtime.outputs import output_file

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
    patch: Iterable[str]
    """The patch file, as JSON in pieces; its entries are those of the suspects, in their order."""
    surroundings: Iterable[Surroundings] = ()
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
    wanted = [] if pictures is None else _wanted(audit.suspects[:MOST_CROPS], pictures)
    with output_file(file) as out:
        out.write(skeleton.head(PARTS))
        out.writelines(skeleton.streamed("audit", _overview(audit)))
        blocks, cut = _blocks(audit), _crops(wanted)
        first = list(islice(cut, 1))
        out.writelines([*islice(blocks, 1), *first])  # shown while the rest is read
        out.write(skeleton.program(PARTS))
        out.writelines(blocks)
        out.writelines(skeleton.streamed("patch", map(_escaped, audit.patch)))
        made = len(first)
        for island in cut:
            out.write(island)
            made += 1
        out.write(skeleton.END)
    return Made(file.stat().st_size, len(audit.suspects), made)


class _Wanted(NamedTuple):
    """A suspect that gets a crop of its picture."""

    number: int
    picture: Path
    region: Region


def _wanted(suspects: Sequence[Suspect], pictures: Path) -> list[_Wanted]:
    """Return the suspects that get a crop."""
    places = [(one.image, region(one.box)) for one in suspects]
    names = list(dict.fromkeys(name for name, _ in places))
    paths = dict(zip(names, pictures_of(pictures, names), strict=True))
    found = ((k, paths[name], place) for k, (name, place) in enumerate(places))
    return [_Wanted(k, path, place) for k, path, place in found if path is not None]


def _crops(wanted: Sequence[_Wanted]) -> Iterator[str]:
    cut = crops([(one.picture, one.region) for one in wanted])
    for at, crop in tracked(cut, "cutting", "pictures", len(wanted)):
        if crop is not None:
            yield skeleton.island(f"crop-{wanted[at].number}", crop)


def _escaped(json: str) -> str:
    """Return JSON without what could end its element; `<` is only in its strings."""
    return json.replace("<", "\\u003c").encode("utf-8", "backslashreplace").decode("utf-8")


def _overview(audit: Audit) -> Iterator[str]:
    """Yield what the page needs of all suspects at once, in pieces."""
    kinds = {kind: k for k, kind in enumerate(KINDS)}
    images: dict[str, int] = {}
    columns = {name: io.StringIO() for name in ("kind", "image", "objects", "suspicion")}
    for k, one in enumerate(audit.suspects):
        values = (
            kinds[one.kind],
            images.setdefault(one.image, len(images)),
            one.objects,
            float(one.suspicion),
        )
        for column, value in zip(columns.values(), values, strict=True):
            column.write(f"{',' if k else ''}{image_json.text(value)}")
    head = {
        "groundTruth": audit.ground_truth,
        "detectors": audit.detectors.labels,
        "independent": audit.detectors.outlines,
        "kinds": list(KINDS.items()),
        "images": list(images),
        "block": BLOCK,
    }
    yield image_json.text(head)[:-1]
    for name, column in columns.items():
        yield from (f',"{name}":[', column.getvalue(), "]")
    yield "}"


def _blocks(audit: Audit) -> Iterator[str]:
    labels = {name: k for k, name in enumerate(audit.detectors.labels)}
    nearby = iter(audit.surroundings or repeat(Surroundings()))
    for part, start in enumerate(range(0, len(audit.suspects), BLOCK)):
        suspects = [*audit.suspects[start : start + BLOCK]]
        around = [*islice(nearby, len(suspects))]
        why = reasons(suspects, around, audit.detectors)
        shown = map(partial(_suspect, labels), suspects, around, why)
        yield skeleton.island(f"suspects-{part}", list(shown))


def _suspect(
    labels: Mapping[str, int],
    suspect: Suspect,
    around: Surroundings,
    why: tuple[str, list[int]],
) -> JsonObject:
    reason, evidence = why
    return {
        "reason": reason,
        "evidence": evidence,
        "region": region(suspect.box),
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
        "confidence": None if one.confidence is None else round(one.confidence, 5),
    }


def _numbers(vertices: Vertices) -> list[float]:
    """Return x and y in turn, rounded."""
    rounded = (round(float(value), DECIMALS) for vertex in vertices for value in vertex)
    return [int(value) if value.is_integer() else value for value in rounded]
