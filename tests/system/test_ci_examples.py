"""The workflow and the hook of examples/ci, run as they stand."""

import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

CI = Path(__file__).parents[2] / "examples" / "ci"
WORKFLOW = yaml.safe_load((CI / "evaltex.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in WORKFLOW["jobs"]["evaltex"]["steps"] if "run" in step}
HOOK = yaml.safe_load((CI / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0][
    "hooks"
][0]

WORDS = "10,10,110,40,one\n10,60,110,90,two\n10,110,110,140,three\n"
GOOD = "10,10,110,40\n10,60,110,90\n10,110,110,140\n"
WORSE = "10,10,110,40\n10,60,110,90\n"


def pack(path, **texts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in texts.items():
            archive.writestr(f"{name}.txt", text)


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A folder as the workflow finds it, with the scripts of this environment on the path."""
    quality = tmp_path / "quality"
    quality.mkdir()
    pack(quality / "gt.zip", **{f"gt_img_{k}": WORDS for k in range(8)})
    pack(quality / "det.zip", **{f"res_img_{k}": GOOD for k in range(8)})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"])
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    make_baseline = (CI / "evaltex.yml").read_text(encoding="utf-8").split("`")[1]
    assert shell(make_baseline).returncode == 0
    return tmp_path


def shell(command):
    return subprocess.run(
        ["bash", "-eo", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )


def test_steps_are_found():
    assert list(STEPS) == [
        "Install",
        "Score, and fail when it got worse",
        "Compare with the baseline, image by image",
    ]
    assert STEPS["Install"]["run"] == "pip install ./tools/evaltex"


@pytest.mark.parametrize(("detections", "status"), [(GOOD, 0), (WORSE, 1)])
def test_the_workflow(repository, detections, status):
    pack(repository / "quality" / "det.zip", **{f"res_img_{k}": detections for k in range(8)})
    scored = shell(STEPS["Score, and fail when it got worse"]["run"])
    assert scored.returncode == status, scored.stderr
    compared = shell(STEPS["Compare with the baseline, image by image"]["run"])
    assert compared.returncode == 0, compared.stderr
    summary = (repository / "summary.md").read_text(encoding="utf-8")
    assert "| evaltex |" in summary
    assert ("Gate FAILED  hmean:-1pt@95" in summary) == bool(status)
    upload = WORKFLOW["jobs"]["evaltex"]["steps"][-1]["with"]["path"].split()
    assert all((repository / path).exists() for path in upload)


@pytest.mark.parametrize(("detections", "status"), [(GOOD, 0), (WORSE, 1)])
def test_the_hook(repository, detections, status):
    pack(repository / "quality" / "det.zip", **{f"res_img_{k}": detections for k in range(8)})
    done = subprocess.run(shlex.split(HOOK["entry"]), capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert ("Gate FAILED  hmean:-0.5%" in done.stderr) == bool(status)
