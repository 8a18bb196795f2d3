"""Compare what two versions of evaltex read and score.

The older version, in an environment of its own, records; the newer one repeats every case:

    OLD/bin/python tests/oracle/oracle.py record FIGURES --data DATA
    NEW/bin/python tests/oracle/oracle.py compare FIGURES [--quick]

FIGURES is a folder outside the repository; DATA has data sets, `figures.json` and `formats/`.
Scores are compared to 1e-9, values of objects to 1e-8. Differences that are meant are the rows of
`tests/golden/differences.tsv`. Each case is a line of JSON: what to call, and what came of it.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import json
import math
import sys
import tempfile
import typing
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

SAMPLES = Path(__file__).parents[1] / "samples"
DIFFERENCES = Path(__file__).parents[1] / "golden" / "differences.tsv"
TOLERANCES = {"objects": 1e-8, "scores": 1e-9, "features": 1e-9}
SCALES = (1.0, 1 / 3, 10.0, 1000.0)
FRACTIONS = ("textract", "chat-boxes", "samples/azure-read", "ccs_docworks", "azure/Invoice")
"""Inputs whose coordinates are fractions of the page."""

Case = dict[str, Any]


# What a version is asked -----------------------------------------------------------------------


LEVELS = {
    "line": "line",
    "para": "paragraph",
    "region": "region",
    "chars": "character",
    "line-words": "line-words",
    "para-words": "paragraph-words",
}
"""The ends of names that the older version has for formats at a level."""


def split_level(name: str | None) -> tuple[str | None, str | None]:
    """Return a format of the older version as format and level."""
    for end in sorted(LEVELS, key=len, reverse=True):
        if name is not None and name.endswith(f"-{end}"):
            return name.removesuffix(f"-{end}"), LEVELS[end]
    return name, None


def objects(case: Case) -> Any:
    """Read an input; return each image's size and objects."""
    from evaltex_cli import formats

    if hasattr(formats, "open_source"):
        return _objects_before(case)
    from evaltex_cli.errors import FaultLog
    from evaltex_cli.formats.options import InputOptions
    from evaltex_cli.formats.reading import read
    from evaltex_cli.formats.sizes import refuse_fractions, with_sizes

    log, side = FaultLog(), case["side"]
    form, level = split_level(case["format"])
    options: Any = {f"{side}_format": form, f"{side}_level": level}
    source = read(Path(case["path"]), side, InputOptions(**options), log)
    with tempfile.TemporaryDirectory() as folder:
        if case["fractions"]:
            source = with_sizes(source, _pictures(source.names, Path(folder)))
    refuse_fractions(source, log)
    log.raise_if_any()
    return {"format": source.format, "images": _images(source.names, source)}


def _objects_before(case: Case) -> Any:
    """Return the same of the version before."""
    from evaltex_cli import formats
    from evaltex_cli.errors import FaultLog

    log = FaultLog()
    source = formats.open_source(Path(case["path"]), case["side"], log, case["format"])
    log.raise_if_any()
    with tempfile.TemporaryDirectory() as folder:
        if case["fractions"]:
            from evaltex_cli.formats.image_sizes import with_sizes

            source = with_sizes(source, _pictures(source.names, Path(folder)))
        images = source.read(np.arange(len(source.names)))
    images.faults.raise_if_any()
    return {"format": source.format, "images": _images(source.names, images)}


def _images(names: Any, read: Any) -> dict[str, Any]:
    offsets = read.objects.offsets.tolist()
    return {
        name: [
            read.sizes[k].tolist(),
            [_object(read.objects, i) for i in range(*offsets[k : k + 2])],
        ]
        for k, name in enumerate(names)
    }


def _pictures(names: Any, folder: Path) -> Path:
    """Write pictures of images, whose size their fractions need."""
    for name in names:
        Image.new("1", (850, 1100)).save(folder / f"{name}.png")
    return folder


def _object(read: Any, i: int) -> list[Any]:
    ring = read.outlines.ring(i)
    points = (ring if len(ring) else read.boxes[i]).ravel().tolist()
    confidence = None if read.confidences is None else float(read.confidences[i])
    if confidence is not None and math.isnan(confidence):
        confidence = None
    dont_care, identity, region = bool(read.dont_care[i]), int(read.ids[i]), int(read.regions[i])
    return [points, read.texts[i], dont_care, confidence, identity, region]


def scores(case: Case) -> Any:
    """Evaluate; return each protocol's scores of the data set and of every image."""
    from evaltex_cli import evaluate

    options = {key: case[key] for key in ("params", "preset") if key in case}
    options |= {"lines": case["gt_lines"]} if "gt_lines" in case else {}
    protocols = case["protocols"]
    if "preset" in case:
        result = {case["preset"]: evaluate(case["gt"], case["det"], per_image=True, **options)}
    elif "params" in case:
        (name,) = protocols
        result = {name: evaluate(case["gt"], case["det"], name, per_image=True, **options)}
    else:
        result = dict(evaluate(case["gt"], case["det"], protocols, per_image=True, **options))
    return {
        name: {"scores": one.scores, "images": {image.name: image.scores for image in one.images}}
        for name, one in result.items()
    }


def features(case: Case) -> Any:
    """Return the dictionary of a feature's result."""
    import evaltex_cli

    function = getattr(evaltex_cli, case["feature"])
    return function(case["gt"], case["det"], case["protocols"]).to_dict()


ASKED: dict[str, Callable[[Case], Any]] = {
    "objects": objects,
    "scores": scores,
    "features": features,
}


def answer(case: Case) -> Any:
    """Return what came of a case; of an error only its kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return json.loads(json.dumps(ASKED[case["ask"]](case), allow_nan=True))
        except Exception as error:
            return {"error": type(error).__name__, "message": str(error)[:200]}


# Cases -----------------------------------------------------------------------------------------


def cases(figures: Path, data: Path) -> Iterator[Case]:
    """Yield all cases; scenes are written first."""
    for path in sorted(SAMPLES.glob("*/*")):
        for side in ("gt", "det"):
            yield _read(path, side, None)
    facts = json.loads((data / "formats" / "facts.json").read_text())
    for fact in facts:
        yield _read(data / "formats" / fact["path"], fact["side"], None)
    for name in ("icdar2013", "icdar2015", "totaltext", "ctw1500"):
        for path in sorted((data / name).rglob("*.zip")):
            yield _read(path, "gt" if path.name.startswith("gt") else "det", None)
    yield from _official(data)
    yield from _parameters(data)
    yield from _scenes(figures / "scenes")
    yield from _confident(figures / "confident")
    yield from _features(data)


def _read(path: Path, side: str, form: str | None) -> Case:
    case = {"ask": "objects", "path": str(path), "side": side, "format": form, "quick": True}
    return case | {"fractions": any(name in str(path) for name in FRACTIONS)}


def _official(data: Path) -> Iterator[Case]:
    """Every run of `figures.json`, and all protocols on each pair of its inputs."""
    pairs = []
    for inputs, runs in json.loads((data / "figures.json").read_text()).items():
        gt, _, det = (part.strip() for part in inputs.partition("|"))
        if "|" in det or not (data / gt).exists():
            continue
        pairs.append((gt, det))
        for title in runs:
            name, *settings = title.split(" ")
            params = dict(setting.split("=") for setting in settings if "=" in setting)
            if "word+line" not in settings:
                yield _scores(data / gt, data / det, [name], params=params, quick=not params)
    pairs += [("ctw1500/gt.zip", f"ctw1500/{path.name}") for path in _detectors(data)]
    quick = {"icdar2015/pixellink.zip", "totaltext/baseline.zip", "ctw1500/DRRG.zip"}
    for gt, det in dict.fromkeys(pairs):
        yield _scores(data / gt, data / det, "all", quick=det in quick)
    yield _scores(
        data / "icdar2015/gt.zip",
        data / "icdar2015/pixellink.zip",
        ["tiou"],
        gt_lines=str(data / "icdar2015/gt_textline.zip"),
    )


def _detectors(data: Path) -> list[Path]:
    return [path for path in sorted((data / "ctw1500").glob("*.zip")) if path.name != "gt.zip"]


def _scores(gt: Path, det: Path, protocols: Any, quick: bool = True, **options: Any) -> Case:
    if not options.get("params", True):
        del options["params"]
    case = {"ask": "scores", "gt": str(gt), "det": str(det), "protocols": protocols}
    return case | {"quick": quick} | options


def _parameters(data: Path) -> Iterator[Case]:
    """Each parameter of each protocol at other values than its default, and each preset."""
    from evaltex_cli.protocols import PROTOCOLS
    from evaltex_cli.protocols.base import load
    from evaltex_cli.protocols.presets import PRESETS

    inputs = [
        ("icdar2013/gt.zip", "icdar2013/overlap/e2e_mix.zip"),
        ("totaltext/gt.zip", "totaltext/baseline.zip"),
    ]
    for name in PROTOCOLS:
        kinds = typing.get_type_hints(load(name).parameters)
        for field in fields(load(name).parameters):
            for value in _values(field, kinds[field.name]):
                for k, (gt, det) in enumerate(inputs):
                    params = {field.name: value}
                    yield _scores(data / gt, data / det, [name], params=params, quick=k == 0)
    for preset in PRESETS:
        for gt, det in inputs:
            yield _scores(data / gt, data / det, None, quick=False, preset=preset)


def _values(field: Any, kind: type) -> list[Any]:
    meta = field.metadata
    choices = meta.get("choices") or ((True, False) if kind is bool else ())
    if choices:
        return [value for value in choices if value != field.default]
    if kind is str:
        return []
    low, high = meta.get("min"), meta.get("max")
    tried = [field.default * 0.7, field.default * 1.3, low, high]
    tried = [int(v) if kind is int else float(v) for v in tried if v is not None]
    return [
        value
        for value in dict.fromkeys(tried)
        if value != field.default
        and math.isfinite(value)
        and (low is None or value >= low)
        and (high is None or value <= high)
    ]


def _scenes(folder: Path) -> Iterator[Case]:
    """150 random scenes in four scales."""
    rng = np.random.default_rng(20261127)
    for number in range(150):
        scene = _scene(rng, ("boxes", "quads", "polygons")[number % 3])
        for k, scale in enumerate(SCALES):
            paths = []
            for side in ("gt", "det"):
                paths.append(folder / f"{number:03}-{k}-{side}.txt")
                paths[-1].parent.mkdir(parents=True, exist_ok=True)
                paths[-1].write_text(_text(scene, side, scale))
            yield _scores(*paths, "all", quick=number < 30 and k < 2)


def _confident(folder: Path) -> Iterator[Case]:
    """Boxes with confidences, some of them equal: sweeps, and matching by confidence."""
    rng = np.random.default_rng(7)
    images = [image for _ in range(8) for image in _scene(rng, "boxes")]
    for k, sides in enumerate(images):
        for side, objects in zip(("gt", "res"), sides, strict=True):
            lines = []
            for (x, y, w, h), text, dont_care in objects:
                numbers = [x, y, x + w, y + h]
                if side == "res":
                    numbers.append(round(rng.random(), 2))
                shown = "###" if dont_care else text
                lines.append(",".join([*(f"{v:g}" for v in numbers), shown]))
            path = folder / side / f"{side}_img_{k}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines))
    gt, det = folder / "gt", folder / "res"
    yield _scores(gt, det, "all")
    for name in ("iou", "iou-crw", "tiou", "cleval", "tedeval"):
        yield _scores(gt, det, [name], params={"order": "confidence"})
    sweep = {"ask": "features", "feature": "sweep", "gt": str(gt), "det": str(det), "quick": True}
    yield sweep | {"protocols": "all"}


def _scene(rng: np.random.Generator, kind: str) -> list[Any]:
    words = ["Aa", "open", "Café", "12:30", "no-one", "EXIT", "exit", "two words", "x"]
    images = []
    for _ in range(4):
        gt, det = [], []
        for _ in range(int(rng.integers(0, 9))):
            x, y = rng.integers(10, 500, 2)
            w, h = rng.integers(8, 160), rng.integers(8, 40)
            text = words[rng.integers(len(words))]
            gt.append((_outline(rng, kind, x, y, w, h), text, rng.random() < 0.15))
            what = rng.random()
            pieces = [(x, y, w, h)]
            if what < 0.15:
                pieces = []
            elif what < 0.3:
                pieces = [(x, y, w / 2, h), (x + w / 2, y, w / 2, h)]
            elif what < 0.4:
                pieces *= 2
            for px, py, pw, ph in pieces:
                moved = rng.integers(-4, 5, 4) if rng.random() < 0.7 else np.zeros(4)
                box = px + moved[0], py + moved[1], max(pw + moved[2], 3), max(ph + moved[3], 3)
                read = text if rng.random() < 0.6 else words[rng.integers(len(words))]
                det.append((_outline(rng, kind, *box), read, False))
        if len(gt) > 2 and rng.random() < 0.5:
            det.append((_outline(rng, kind, 10, 10, 500, 300), "merged", False))
        images.append((gt, det))
    return images


def _outline(rng: np.random.Generator, kind: str, x: float, y: float, w: float, h: float) -> Any:
    if kind == "boxes":
        return np.array([x, y, w, h], float)
    steps = 2 if kind == "quads" else int(rng.integers(3, 7))
    along = np.linspace(0, 1, steps)
    bend = 0 if kind == "quads" else rng.uniform(-0.6, 0.6) * h
    top = np.stack([x + along * w, y + bend * np.sin(np.pi * along)], 1)
    ring = np.concatenate([top, top[::-1] + np.array([0, h])])
    angle = rng.uniform(-0.5, 0.5)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    centre = ring.mean(0)
    return np.round((ring - centre) @ turn.T + centre).ravel()


def _text(scene: list[Any], side: str, scale: float) -> str:
    lines = []
    for k, (gt, det) in enumerate(scene):
        lines.append(f"img_{k}")
        if side == "gt":
            lines.append(f"{int(1000 * max(scale, 1))},{int(1000 * max(scale, 1))}")
        for n, (outline, text, dont_care) in enumerate(gt if side == "gt" else det, 1):
            numbers = ",".join(repr(float(v)) for v in outline * scale)
            start = f'{n},{n},"{text}",{"t" if dont_care else "f"}' if side == "gt" else None
            lines.append(f"{start or f'{n},{chr(34)}{text}{chr(34)}'},{numbers}")
        lines.append("")
    return "\n".join(lines)


def _features(data: Path) -> Iterator[Case]:
    detectors = {path.stem: str(path) for path in _detectors(data)}
    gt, det = str(data / "icdar2015/gt.zip"), str(data / "icdar2015/pixellink.zip")
    curved = str(data / "ctw1500/gt.zip")
    shared = {"ask": "features", "protocols": ["evaltex", "iou", "cleval"]}
    yield shared | {"feature": "diagnose", "gt": gt, "det": det, "quick": True}
    yield shared | {"feature": "diagnose", "gt": curved, "det": detectors["DRRG"], "quick": False}
    yield shared | {"feature": "compare", "gt": curved, "det": detectors, "quick": True}
    yield shared | {"feature": "rank", "gt": curved, "det": detectors, "quick": False}


# Comparing -------------------------------------------------------------------------------------


def differences(old: Any, new: Any, tolerance: float, where: str = "") -> Iterator[str]:
    """Yield where two answers differ; keys that only one of them has are not compared."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() & new.keys():
            yield from differences(old[key], new[key], tolerance, f"{where}/{key}")
        if where.endswith("/images") and old.keys() != new.keys():
            yield f"{where}: other images"
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{where}: {len(old)} -> {len(new)}"
        else:
            for k, (a, b) in enumerate(zip(old, new, strict=True)):
                yield from differences(a, b, tolerance, f"{where}[{k}]")
    elif isinstance(old, int | float) and isinstance(new, int | float):
        if abs(old - new) > tolerance * max(1.0, abs(old)):
            yield f"{where}: {old} -> {new}"
    elif old != new and not where.endswith(("/message", "/version", "/signature", "/schema")):
        yield f"{where}: {old!r} -> {new!r}"


def intended() -> list[tuple[str, str]]:
    """The pairs of input and protocol whose difference is meant."""
    if not DIFFERENCES.exists():
        return []
    with DIFFERENCES.open(newline="") as file:
        rows = csv.DictReader((line for line in file if line[0] != "#"), delimiter="\t")
        return [(row["input"], row["protocol"]) for row in rows]


def title(case: Case) -> str:
    """A line that names a case."""
    names = [str(case[key]) for key in ("path", "gt", "det", "feature", "side") if key in case]
    rest = {key: case[key] for key in ("format", "protocols", "params", "preset") if case.get(key)}
    return f"{case['ask']} {' '.join(name[-60:] for name in names)} {rest or ''}"


def record(args: argparse.Namespace) -> int:
    args.figures.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    with (args.figures / "answers.jsonl").open("w") as file:
        for case in cases(args.figures, args.data):
            case["answer"] = answer(case)
            counts[case["ask"] + (" refused" if "error" in case["answer"] else "")] += 1
            file.write(json.dumps(case) + "\n")
    print(dict(counts))
    return 0


def compare(args: argparse.Namespace) -> int:
    import evaltex_cli

    print("with", inspect.getfile(evaltex_cli))
    meant, failed, done = intended(), 0, Counter()
    with (args.figures / "answers.jsonl").open() as file:
        for line in file:
            case = json.loads(line)
            if (args.quick and not case["quick"]) or args.ask not in (None, case["ask"]):
                continue
            if args.protocol and "error" not in case["answer"]:
                some = {name: one for name, one in case["answer"].items() if name in args.protocol}
                case |= {"protocols": list(some), "answer": some}
            if args.protocol and not set(case.get("protocols") or ()) & {*args.protocol}:
                continue
            if "format" in case["answer"]:
                case["answer"]["format"], _ = split_level(case["answer"]["format"])
            new = answer(case)
            is_refusal = "error" in case["answer"], "error" in new
            found = list(differences(case["answer"], new, TOLERANCES[case["ask"]]))
            if is_refusal[0] != is_refusal[1]:
                found = [f"{case['answer'].get('message', 'read')} -> {new.get('message', 'read')}"]
            name = title(case)
            done["same" if not found else "different"] += 1
            if found and any(a in name and b in name + str(found) for a, b in meant):
                done["of these meant"] += 1
            elif found:
                failed += 1
                print(f"{name}\n    {len(found)}: {'; '.join(found[:3])[:400]}")
    print(dict(done))
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("record")
    one.set_defaults(run=record)
    one.add_argument("--data", type=Path, required=True)
    two = commands.add_parser("compare")
    two.set_defaults(run=compare)
    two.add_argument("--quick", action="store_true")
    two.add_argument("--ask", choices=list(ASKED))
    two.add_argument("--protocol", action="append", help="only these protocols")
    for command in (one, two):
        command.add_argument("figures", type=Path)
    args = parser.parse_args()
    return args.run(args)  # type: ignore[no-any-return]


if __name__ == "__main__":
    sys.exit(main())
