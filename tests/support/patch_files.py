"""A small ground truth, and patches of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from reading import read_or_raise

from evaltex_cli.audit.patches import AuditedObject, Entry, Patch, audited, write_patch
from evaltex_cli.cli import main

GT = (
    'img_1\n100,200\n1,1,"a",f,10,20,30,40\n2,1,"b",f,50,20,30,40\n5,5,"###",t,0,0,5,5\n\n'
    'img_2\n50,50\n1,1,"c",f,0,0,10,0,10.5,10,0,10\n\n'
)
WORD = AuditedObject(((1.0, 2.0), (8.0, 2.0), (8.0, 6.0), (1.0, 6.0)), "word")


def objects_of(path: str) -> dict[str, list[tuple[int, int, AuditedObject]]]:
    """ID, region and the rest of every object, image by image, in their order."""
    source = read_or_raise(Path(path))
    objects = source.objects
    return {
        name: [
            (int(objects.ids[i]), int(objects.regions[i]), audited(objects, i))
            for i in range(objects.offsets[k], objects.offsets[k + 1])
        ]
        for k, name in enumerate(source.names)
    }


def entry(image: str, objects: tuple[int, ...], *proposed: AuditedObject, **more: Any) -> Entry:
    """An accepted entry on objects of the ground truth as it is."""
    now = {number: one for number, _, one in objects_of("gt.txt")[image]}
    kind = more.pop("kind", "misplaced" if objects else "missing")
    current = tuple(now[number] for number in objects)
    return replace(Entry(kind, image, objects, 0.5, current, proposed, True), **more)


def write(*entries: Entry) -> None:
    sha256 = read_or_raise(Path("gt.txt")).sha256
    write_patch(Path("p.json"), Patch(sha256, entries))


def patch(*more: str, gt: str = "gt.txt", to: str = "new.txt") -> Result:
    result = CliRunner().invoke(main, ["convert", gt, to, "--patch", "p.json", "--force", *more])
    assert "internal error" not in result.stderr
    return result
