"""The figures that the official programs gave for the scenes of this folder, image by image.

Each JSON file has the figures of one program, and names the program's revision.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from make_more_scenes import write_more_scenes
from make_scenes import KINDS, write_scenes

from evaltex_cli import Evaluation, evaluate, sweep

FOLDER = Path(__file__).parent
SCENES = FOLDER / "scenes"


def golden_runs(having: str) -> list[Any]:
    """Return each program's runs that have figures of a kind, with the program's tolerance."""
    params = []
    for path in sorted(FOLDER.glob("*.json")):
        program = json.loads(path.read_text(encoding="utf-8"))
        for run in program["runs"]:
            settings = "-".join(f"{k}={v}" for k, v in run["options"].get("params", {}).items())
            title = f"{path.stem}-{Path(run['inputs'][0]).stem}-{settings}"
            if having in run:
                params.append(pytest.param(run, program.get("tolerance", 1e-9), id=title))
    return params


@pytest.mark.parametrize(("run", "tolerance"), golden_runs("images"))
def test_scores_are_the_official_ones(
    monkeypatch: pytest.MonkeyPatch, run: dict[str, Any], tolerance: float
) -> None:
    monkeypatch.chdir(FOLDER)
    result = evaluate(*run["inputs"], per_image=True, **run["options"])
    assert isinstance(result, Evaluation) and result.images is not None
    found = {image.name: {**image.totals, **image.scores} for image in result.images}
    expected = {
        image: dict(zip(run["columns"], row, strict=True)) for image, row in run["images"].items()
    }
    assert found.keys() == expected.keys()
    found["the data set"] = {**result.totals, **result.scores}
    differences = [
        f"{image} {name}: {found[image][name]}, the program's {value}"
        for image, official in [("the data set", run["scores"]), *expected.items()]
        for name, value in official.items()
        if value is not None  # the program's note says why it has no figure here
        and found[image][name] != pytest.approx(value, abs=tolerance, rel=0)
    ]
    assert not differences
    if "pairs" in run:
        partners = {
            image.name: [[one.id, partner] for one in image.objects for partner in one.partners]
            for image in result.images
        }
        assert {name: pairs for name, pairs in partners.items() if pairs} == run["pairs"]


@pytest.mark.parametrize(("run", "tolerance"), golden_runs("average_precision"))
def test_average_precision_is_the_official_one(
    monkeypatch: pytest.MonkeyPatch, run: dict[str, Any], tolerance: float
) -> None:
    monkeypatch.chdir(FOLDER)
    found = sweep(*run["inputs"], **run["options"]).average_precision
    for name, value in run["average_precision"].items():
        assert found[name] == pytest.approx(value, abs=tolerance, rel=0)


def test_scenes_are_those_of_the_scripts(tmp_path: Path) -> None:
    for kind in KINDS:
        write_scenes(kind, tmp_path)
    write_more_scenes(tmp_path)
    assert contents(SCENES) == contents(tmp_path)


def contents(folder: Path) -> dict[Path, bytes]:
    """What the files of a folder and the entries of its archives contain."""
    found = {}
    for path in (path for path in folder.rglob("*") if path.is_file()):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    found[path.relative_to(folder) / name] = archive.read(name)
        else:
            found[path.relative_to(folder)] = path.read_bytes()
    return found
