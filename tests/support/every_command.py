"""Arguments of every command, by the options that are paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from evaltex_cli.cli import EVALUATE, main
from evaltex_cli.cli.paths import Input, OutputFile, OutputFolder, PictureFolder

GT = 'img_1\n100,200\n1,1,"a",f,10,20,30,40\nimg_2\n50,50\n1,1,"b",f,0,0,10,10\n'
DET = 'img_1\n1,"a",10,20,15,40\nimg_2\n1,"",0,0,10,10\n'
TABLE = "image,x0,y0,x1,y1,confidence\nimg_1,10,20,25,60,0.5\nimg_2,0,0,10,10,0.9\n"
INPUTS: dict[str, list[str]] = {
    "gt": ["gt.txt"],
    "src": ["gt.txt"],
    "det": ["det.txt"],
    "config_path": ["my.ini"],
    "baselines": ["old/evaltex.json"],
    "results": ["old"],
    "paths": ["gt.txt", "det.txt", "det2.txt"],
    "gt_img_dir": ["labels"],
    "det_img_dir": ["labels"],
    "mask_folders": [],
    "images": ["pictures"],
    "lines": ["lines.txt"],
    "only": ["names.txt"],
    "groups": ["groups.csv"],
    "patch": ["changes.json"],
}
"""Values of the parameters that are read, by their names; a new one needs some here."""
OWN_INPUTS = {"sweep": {"det": ["det.csv"], "baselines": ["swept/sweep.json"]}}
"""Those of a command that needs other inputs: a sweep needs confidences."""
WRITTEN = {"res_dir": "evaltex.json", "out_dir": "orig.txt", "masks": "img_1.tif"}
"""A file that a command writes into a folder."""
OUTPUTS = {
    "dst": "new.txt",
    **dict.fromkeys(WRITTEN, "new"),
    "output": "new.out",
    "junit": "new.xml",
    "objects": "new.csv",
    "report": "new.html",
    "patch_file": "new.json",
}
BY = ["--groups", "groups.csv", "--by", "shop"]
OF_LINES = ["--protocol", "evaltex", "--protocol", "tiou"]
MORE: dict[str, list[str]] = {
    EVALUATE: OF_LINES,
    "compare": OF_LINES,
    "diagnose": OF_LINES,
    "sweep": OF_LINES,
    "rank": OF_LINES,
    "audit": OF_LINES,
    "reconcile": ["--recall", "0.5"],
    "convert": ["--kind", "gt"],
    "toys": ["--recipe", "orig"],
}


def tree(folder: Path) -> dict[str, bytes]:
    """Every file with its bytes, links followed."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def command(name: str) -> click.Command:
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


def parameters(name: str, *kinds: type) -> list[click.Parameter]:
    return [param for param in command(name).params if isinstance(param.type, kinds)]


def inputs_of(name: str) -> dict[str, list[str]]:
    return INPUTS | OWN_INPUTS.get(name, {})


def is_argument(param: click.Parameter) -> bool:
    return isinstance(param, click.Argument)


def line(name: str, values: dict[str, Any]) -> list[str]:
    """The arguments of a command with these values of its paths, and with its own of the others."""
    given: list[str] = [] if name == EVALUATE else [name]
    for param in parameters(name, Input, PictureFolder, OutputFile, OutputFolder):
        key = str(param.name)
        known = inputs_of(name)
        value = values.get(key, known[key] if key in known else [OUTPUTS[key]])
        for one in value if isinstance(value, list) else [value]:
            given += [one] if is_argument(param) else [param.opts[0], one]
    return [*given, *MORE.get(name, [])]


SIMPLE = {
    "evaluate": ["gt.txt", "det.txt", "new", "--fail-if", "recall<1e-6", *BY],
    "compare": ["compare", "gt.txt", "det.txt", "det2.txt", "--resamples", "10", *BY],
    "convert": ["convert", "gt.txt", "--kind", "gt"],
    "diagnose": ["diagnose", "gt.txt", "det.txt"],
    "audit": ["audit", "gt.txt", "det.txt", "det2.txt"],
    "rank": ["rank", "gt.txt", "det.txt", "det2.txt", "--resamples", "10"],
    "reconcile": ["reconcile", "gt.txt", "det.txt", "--protocol", "iou", "--recall", "0.5"],
    "sweep": ["sweep", "gt.txt", "det.csv", "--fail-if", "recall<1e-6"],
    "report": ["report", "old"],
    "merge": ["merge", "old", "new"],
    "formats": ["formats"],
    "protocols": ["protocols"],
    "validate": ["validate", "gt.txt", "det.txt"],
}


def simple(name: str, option: click.Parameter, value: str) -> list[str]:
    given = SIMPLE[name]
    return (
        [*given[:2], value, *given[2:]] if is_argument(option) else [*given, option.opts[0], value]
    )
